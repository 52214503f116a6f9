// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/questions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "bound/bound.h"
#include "mercer/base.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_coding.h"
#include "model/prepare/row_summary.h"
#include "model/rows/median_lengthscale.h"
#include "model/rows/row_sets.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "statistic/kernel_error.h"
#include "statistic/self_test.h"

namespace mercer::spec {
namespace {

void set_bounds(Parameters& answer, const std::string& key, const statistic::Bounds& bounds) {
  const auto set = [&](const std::string& name, double value) {
    answer.set(name, std::isfinite(value) ? Value(value) : Value());
  };
  set(key + "_low", bounds.low);
  set(key + "_high", bounds.high);
}

}  // namespace

std::vector<Field> certificate_fields() {
  Field level =
      number_field("level", 0.95, 0.5, 1, "the probability with which each interval holds");
  level.most_open = true;
  return {std::move(level),
          integer_field("rows", int64_t{256}, 16, 4096, "rows that are drawn; all of fewer"),
          {.key = "seed", .type = FieldType::seed, .fallback = uint64_t{0}, .help = "of the rows"}};
}

std::string certify(std::string_view json, const feature::FeatureMap& map,
                    MatrixView<const double> X, Context& context) {
  Parameters asked =
      check_fields(open_envelope(parse_object(json), "").body, certificate_fields(), "");
  const statistic::KernelCertificate found = statistic::certify(
      map, X, {1 - asked.number("level"), asked.integer("rows"), asked.seed("seed")}, context);
  asked.set("exact", found.exact);
  asked.set("frobenius", found.relative);
  set_bounds(asked, "frobenius", found.frobenius);
  set_bounds(asked, "spectral", found.spectral);
  set_bounds(asked, "relative_spectral", found.relative_spectral);
  return print_versioned(asked);
}

// {"kernel": {...}, "error": e or "features": D, ...}: which map of a kernel suits rows.

namespace {

constexpr int64_t kMostTried = 16384;  // features, unless asked for
enum class RowScaling { given, standardized };
constexpr const char* kTakenWords[] = {"given", "standardized"};
constexpr Choice<RowScaling> kRowScaling{
    "taken", kTakenWords,
    "rows: as they are, or by mean and deviation as fits take them, the kernel's lengthscale then, "
    "where its spec names none, their median distance"};
constexpr double kShares[] = {0.05, 0.25, 0.5, 0.75, 0.95};

/// Quantiles of k between different rows: all near 0 or all near its largest value say that the
/// lengthscale is far off.
std::vector<double> kernel_quantiles(const kernel::Kernel& kernel, MatrixView<const double> X,
                                     Context& context) {
  const Matrix<double> K(X.rows, X.rows, context, "kernel values of a sample");
  kernel::gram(kernel, X, X, context, K.view());
  std::vector<double> values;
  for (int64_t i = 0; i < X.rows; ++i)
    for (int64_t j = i + 1; j < X.rows; ++j) values.push_back(K(i, j));
  std::ranges::sort(values);
  std::vector<double> quantiles;
  for (const double share : kShares)
    if (!values.empty())
      quantiles.push_back(
          values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))]);
  return quantiles;
}

/// At most `most` rows, evenly spaced.
Matrix<double> sample_of(MatrixView<const double> X, int64_t most, Context& context) {
  const int64_t count = std::min(X.rows, most);
  Matrix<double> sample(count, X.cols, context, "a sample of rows");
  for (int64_t k = 0; k < count; ++k)
    std::copy_n(X.row(k * X.rows / count), X.cols, sample.view().row(k));
  return sample;
}

/// As fits take them.
Matrix<double> standardized(const Parameters& asked, MatrixView<const double> X, Context& context) {
  const model::PreparationOptions standard;
  const auto kernel = kernel::make_kernel(asked.object("kernel"));
  const model::RowSummary summary(standard, model::within(model::domain_of(*kernel), standard, X),
                                  asked.seed("seed"), X,
                                  MatrixView<const double>(nullptr, X.rows, 0), {}, context);
  const model::Preparation by = summary.preparation();
  Matrix<double> rows(X.rows, X.cols, context, "standardised rows");
  for (int64_t i = 0; i < X.rows; ++i) model::prepare_row(by, X, i, rows.view().row(i));
  return rows;
}

/// For a kernel that has a lengthscale.
void take_median_distance(Parameters& asked, MatrixView<const double> X, Context& context) {
  Parameters kernel = asked.object("kernel");
  if (kernel.find("lengthscale") == nullptr) return;
  kernel.set("lengthscale", model::median_lengthscale({}, X, model::all_rows(X.rows),
                                                      asked.seed("seed"), context));
  asked.set("kernel", std::make_shared<const Parameters>(std::move(kernel)));
}

ObjectList listed(const std::vector<statistic::Suggestion>& found, int64_t most, bool all_reach) {
  ObjectList maps;
  for (const statistic::Suggestion& one : found) {
    if (std::ssize(maps) == most) break;
    const Parameters made = one.map->parameters();
    const bool remakes = made.find("needs") == nullptr;  // else it is made from rows again
    Parameters entry{{"map", std::make_shared<const Parameters>(remakes ? made : one.asked)},
                     {"error", one.error}};
    if (std::isfinite(one.seconds)) entry.set("seconds", one.seconds);
    if (!all_reach) entry.set("reached", one.reached);
    maps.push_back(std::make_shared<const Parameters>(std::move(entry)));
  }
  return maps;
}

}  // namespace

std::vector<Field> recommend_fields() {
  return {
      {.key = "kernel",
       .type = FieldType::kernel,
       .fallback = {},
       .help = "the kernel to approximate",
       .canonical = kernel::canonical_kernel},
      number_above_field("error", kOptional, 0, 1,
                         "sqrt(E ||K^ - K||_F^2) / ||K||_F, to be reached with few features; "
                         "absent: the least with `features`"),
      count_field("features", kOptional, feature::kMostFeatures,
                  "D; with an error the most, by default 16384"),
      choice_field("by", "time", {"time", "features"}, "the order of maps that reach the error"),
      kRowScaling.field(),
      integer_field("rows", 150, 2, 5000, "at most so many rows, evenly spaced, are looked at"),
      integer_field("count", 8, 1, 1000, "at most so many maps are listed"),
      {.key = "seed", .type = FieldType::seed, .fallback = uint64_t{0}, .help = "of the maps"}};
}

Recommendation recommend(std::string_view json, MatrixView<const double> X, Context& context) {
  const Parameters given = open_envelope(parse_object(json), "").body;
  Parameters asked = check_fields(given, recommend_fields(), "");
  statistic::Aim aim;
  const bool reach = asked.find("error") != nullptr;
  if (reach) aim.error = asked.number("error");
  require(reach || asked.find("features") != nullptr, MERCER_INVALID_ARGUMENT,
          "neither \"error\" nor \"features\", expected one of the two");
  if (asked.find("features") == nullptr) asked.set("features", kMostTried);
  aim.features = asked.integer("features");
  aim.by_features = asked.text("by") == "features";
  Matrix<double> standard;
  if (kRowScaling.read(asked) == RowScaling::standardized) {
    standard = standardized(asked, X, context);
    if (given.object("kernel").find("lengthscale") == nullptr)
      take_median_distance(asked, standard.view(), context);
    X = standard.view();
  }
  const Matrix<double> sample = sample_of(X, asked.integer("rows"), context);
  auto found =
      statistic::recommend(asked.object("kernel"), aim, asked.seed("seed"), sample.view(), context);
  const auto kernel = kernel::make_kernel(asked.object("kernel"));
  asked.set("kernel_quantiles", kernel_quantiles(*kernel, sample.view(), context));
  asked.set("maps", listed(found, asked.integer("count"), !reach));
  return {std::move(found.front().map), print_versioned(asked)};
}

namespace {

constexpr uint64_t kSeeds = 128;

}  // namespace

std::string self_test(Context& context) {
  Stage stage(context, 3);
  ObjectList samplers = statistic::sampler_answers();
  const Parameters rates = stage.part(1, [&] { return statistic::rates_found(context); });
  ObjectList maps = stage.part(2, [&] { return statistic::map_answers(kSeeds, context); });
  const bool passed = statistic::all_passed(samplers) && statistic::all_passed(maps);
  Parameters report{{"passed", passed}, {"version", std::string(mercer_version())}};
  for (const Parameters& part : {statistic::machine_found(context), rates})
    for (const auto& [key, value] : part.entries()) report.set(key, value);
  report.set("samplers", std::move(samplers));
  report.set("maps", std::move(maps));
  return print_versioned(report);
}

std::string answer_bound(std::string_view json) {
  const Parameters given = open_envelope(parse_object(json), "").body;
  const bound::BoundEntry& entry =
      named_entry(given, bound::bound_name_field(), bound::bound_table(), "");
  return print_versioned(entry.answer(check_fields(given, bound::bound_fields(entry), "")));
}

}  // namespace mercer::spec
