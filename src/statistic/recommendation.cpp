// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Most errors fall as D^-1/2, and those of series and grids faster, so the least number of features
// is guessed by that law and then enclosed by bisection. Maps with columns that depend on each
// other err less than their closed form, which is that of independent columns (Moments::is_exact):
// they are drawn, and their error is measured.
#include "statistic/recommendation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "statistic/kernel_error.h"

namespace mercer::statistic {
namespace {

constexpr size_t kVaried = 2;               // choices of an entry
constexpr int64_t kEnclosed = 50;           // bisection ends at D/50
constexpr double kBelow = 0.97;             // of a number that is enough: is it the least?
constexpr int64_t kTimedNumbers = 1 << 22;  // features computed to measure the time
constexpr int64_t kMostTimedRows = 1024;
constexpr int kTimings = 3, kPasses = 4;  // over all maps: others may use the machine for a while
constexpr uint64_t kDraws = 3;            // behind a measured error
constexpr int kMeasured = 6;              // numbers of features
constexpr double kSlowRow = 1e-3;         // seconds

/// The parameters with every combination of the values of an entry's first choices.
std::vector<Parameters> variants(const feature::MapEntry& entry, const Parameters& given) {
  std::vector<Parameters> all = {given};
  size_t varied = 0;
  for (const Field& field : entry.fields) {
    if (field.type != FieldType::text || field.choices.size() < 2 || varied == kVaried) continue;
    ++varied;
    std::vector<Parameters> more;
    for (const Parameters& one : all) {
      for (const char* const choice : field.choices) {
        more.push_back(one);
        more.back().set(field.key, std::string(choice));
      }
    }
    all = std::move(more);
  }
  return all;
}

bool is_refusal(const Error& error) {
  const int status = error.status();
  return status == MERCER_INVALID_ARGUMENT || status == MERCER_UNSUPPORTED ||
         status == MERCER_DIMENSION_MISMATCH || status == MERCER_OUT_OF_MEMORY;
}

/// One variant of a map: makes it with so many features and predicts its error.
class Candidate {
 public:
  Candidate(const Parameters& given, MatrixView<const double> X, Context& context)
      : asked_(feature::canonical_map(given, "", feature::Data::refused)),
        sizes_(feature::map_sizes(asked_, X.rows)),
        X_(X),
        rows_(X),
        context_(context) {}

  /// The variant with the largest possible number of features up to `features`, and its error. None
  /// for a variant that does not exist for this kernel, has no closed form, or is complex.
  std::optional<Suggestion> at(int64_t features) const {
    std::optional<Suggestion> one = expected(features);
    if (one && !one->map->moments().is_exact()) one->error = measured(*one);
    return one;
  }

  /// The variant with about the least number of features whose error is at most `error`; with
  /// `most` features if none reaches it.
  std::optional<Suggestion> least(double error, int64_t most) const {
    std::optional<Suggestion> best = least_expected(error, most);
    if (!best || best->map->moments().is_exact()) return best;
    return least_measured(error, most, best->map->features());
  }

 private:
  /// The error by the closed form.
  std::optional<Suggestion> expected(int64_t features) const {
    context_.checkpoint();
    if (features < sizes_.least) return {};
    const int64_t steps =
        sizes_.step == 0 ? 0 : (std::min(features, sizes_.most) - sizes_.least) / sizes_.step;
    Parameters asked = asked_;
    asked.set("features", sizes_.least + steps * sizes_.step);
    try {
      const feature::MapData data{.rows = &rows_, .context = &context_};
      std::shared_ptr<const feature::FeatureMap> map = feature::make_map(asked, data);
      if (map->is_complex() || map->has_kernel_columns() || map->field() != nullptr ||
          map->features() == 0)  // a random series may have drawn degrees of no weight alone
        return {};
      const double error = predicted_error(*map, X_, context_);
      return Suggestion{std::move(asked), std::move(map), error};
    } catch (const Error& error) {
      if (!is_refusal(error)) throw;
      return {};
    }
  }

  /// The root mean square of the errors of some draws.
  double measured(const Suggestion& one) const {
    double sum = 0;
    Parameters asked = one.asked;
    for (uint64_t draw = 0; draw < kDraws; ++draw) {
      context_.checkpoint();
      asked.set("seed", one.asked.seed("seed") + draw);
      const feature::MapData data{.rows = &rows_, .context = &context_};
      sum += std::pow(measured_error(*feature::make_map(asked, data), rows_, context_), 2);
    }
    return std::sqrt(sum / kDraws);
  }

  /// Starts from a guess: each next number is by the law where that lies between too few and
  /// enough, and half-way otherwise.
  std::optional<Suggestion> least_measured(double error, int64_t most, int64_t first) const {
    std::optional<Suggestion> best, last;
    int64_t low = sizes_.least - 1, high = most + 1;
    for (int step = 0; step < kMeasured && low < first && first < high; ++step) {
      last = at(first);
      if (!last) break;
      const int64_t features = last->map->features();
      last->reached = last->error <= error;
      if (last->reached) best = last;
      (last->reached ? high : low) = features;
      const double part = last->error / error;
      const double next = std::ceil(static_cast<double>(features) * part * part);
      const auto halfway = std::sqrt(static_cast<double>(low) * static_cast<double>(high));
      const bool between = next > static_cast<double>(low) && next < static_cast<double>(high);
      first = static_cast<int64_t>(between ? next : best ? halfway : static_cast<double>(most));
      if (high - first < std::max<int64_t>(sizes_.step, high / kEnclosed)) break;
    }
    return best ? best : last;
  }

  std::optional<Suggestion> least_expected(double error, int64_t most) const {
    std::optional<Suggestion> best = expected(most);
    if (!best || best->error > error) return best;
    int64_t low = sizes_.least - sizes_.step, high = best->map->features();
    double guess = std::ceil(static_cast<double>(high) * best->error * best->error / error / error);
    while (high - low > std::max<int64_t>(sizes_.step, high / kEnclosed)) {
      const int64_t tried =
          std::max(low + sizes_.step, std::min(static_cast<int64_t>(guess), high - sizes_.step));
      std::optional<Suggestion> fewer = expected(tried);
      if (fewer && fewer->error <= error && fewer->map->features() < high) {
        high = fewer->map->features();
        best = std::move(fewer);
      } else {
        low = tried;
      }
      guess = low < sizes_.least ? kBelow * static_cast<double>(high)
                                 : std::sqrt(static_cast<double>(low) * static_cast<double>(high));
    }
    best->reached = true;
    return best;
  }

  Parameters asked_;
  feature::MapSizes sizes_;
  MatrixView<const double> X_;
  Rows rows_;
  Context& context_;
};

/// The least of some timings of a block of rows, which are those of X over and over; of one row if
/// that takes long.
double seconds_per_row(const feature::FeatureMap& map, MatrixView<const double> X,
                       Context& context) {
  const int64_t n = std::clamp<int64_t>(kTimedNumbers / map.row_length(), 1, kMostTimedRows);
  const Matrix<float> rows(n, X.cols, context, "rows to time a map on"),
      Z(n, map.row_length(), context, "features to time a map on");
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < X.cols; ++j) rows.view()(i, j) = static_cast<float>(X(i % X.rows, j));
  map.prepare(feature::Precision::f32, context);
  const auto seconds_of = [&](int64_t count) {
    const auto started = std::chrono::steady_clock::now();
    map.apply(MatrixView<const float>(rows.view().block_rows(0, count)), {0, map.features()},
              context, Z.view().block_rows(0, count));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
    return taken.count() / static_cast<double>(count);
  };
  double least = seconds_of(1);
  if (least > kSlowRow) return least;
  for (int t = 0; t < kTimings; ++t) least = std::min(least, seconds_of(n));
  return least;
}

std::optional<Suggestion> suggestion(const Parameters& given, const Aim& aim,
                                     MatrixView<const double> X, Context& context) {
  try {
    const Candidate candidate(given, X, context);
    return aim.error > 0 ? candidate.least(aim.error, aim.features) : candidate.at(aim.features);
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return {};
  }
}

void order(std::vector<Suggestion>& found, const Aim& aim) {
  const auto rank = [&](const Suggestion& one) {
    const double error = one.reached ? 0 : one.error;
    const auto features = static_cast<double>(one.map->features());
    return aim.by_features ? std::tuple(error, features, 0.0)  // the same at every call
                           : std::tuple(error, one.seconds, features);
  };
  std::ranges::stable_sort(found, [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

}  // namespace

std::vector<Suggestion> recommend(const Parameters& kernel, const Aim& aim, uint64_t seed,
                                  MatrixView<const double> X, Context& context) {
  std::vector<Suggestion> found;
  const auto table = feature::map_table();
  Stage stage(context, std::ssize(table));
  for (const feature::MapEntry& entry : table) {
    stage.share(1);
    const Parameters given{{"map", std::string(entry.name)},
                           {"kernel", std::make_shared<const Parameters>(kernel)},
                           {"inputs", X.cols},
                           {"features", aim.features},
                           {"seed", seed}};
    for (const Parameters& variant : variants(entry, given))
      if (auto one = suggestion(variant, aim, X, context)) found.push_back(*std::move(one));
    stage.advance(1);
  }
  require(!found.empty(), MERCER_INVALID_ARGUMENT,
          "no map of kernel %s has a predicted error on these %ld rows, expected a kernel of one "
          "output, and finite rows in its domain whose kernel does not overflow",
          kernel.text("kernel").c_str(), X.rows);
  const bool reach = std::ranges::any_of(found, &Suggestion::reached);
  for (int pass = 0; pass < kPasses; ++pass)
    for (Suggestion& one : found)
      if (!reach || one.reached)
        one.seconds = std::fmin(one.seconds, seconds_per_row(*one.map, X, context));
  order(found, aim);
  return found;
}

}  // namespace mercer::statistic
