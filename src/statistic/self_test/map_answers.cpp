// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features differ between SIMD targets by rounding, so that no hash of them is the same everywhere:
// sums with random weights are, to a tolerance, and any other sign, order or frequency changes them.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "projection/projection.h"
#include "random/distributions.h"
#include "statistic/self_test/known_answers.h"
#include "statistic/self_test/self_test.h"

namespace mercer::statistic {
namespace {

constexpr int64_t kTestInputs = 8, kTestRows = 12, kTestFeatures = 64;
constexpr double kAllowedSum = 1e-9;  // rounding is below 1e-12
constexpr double kAllowedSingle = 1e-3;
constexpr double kAllowedDeviations = 6;  // two-sided normal probability 2e-9

struct Asked {
  const feature::MapEntry& entry;
  Parameters kernel;
  std::string projection;
};

/// Positive rows of norm 1: every map's default kernel takes them. Without libm, so the same bytes.
Matrix<double> test_rows() {
  Matrix<double> X(kTestRows, kTestInputs);
  random::fill_uniform({1, random::Tag::generated, 0}, 0,
                       {X.data(), size_t(kTestRows * kTestInputs)});
  for (int64_t i = 0; i < kTestRows; ++i) {
    double squares = 0;
    for (int64_t j = 0; j < kTestInputs; ++j) squares += X(i, j) * X(i, j);
    for (int64_t j = 0; j < kTestInputs; ++j) X(i, j) /= std::sqrt(squares);
  }
  return X;
}

std::unique_ptr<feature::FeatureMap> made(const Asked& asked, uint64_t seed, const Rows& rows,
                                          Context& context) {
  const feature::MapEntry& entry = asked.entry;
  Parameters given{{"map", std::string(entry.name)},
                   {"kernel", std::make_shared<const Parameters>(asked.kernel)},
                   {"inputs", kTestInputs},
                   {"features", kTestFeatures},
                   {"seed", seed}};
  if (!asked.projection.empty()) given.set("projection", asked.projection);
  Parameters canonical = feature::canonical_map(given, "", feature::Data::refused);
  const feature::MapSizes sizes = feature::map_sizes(canonical, kTestRows);
  const int64_t most = std::max(std::min(sizes.most, kTestFeatures) - sizes.least, int64_t{0});
  canonical.set("features", sizes.least + (sizes.step == 0 ? 0 : most / sizes.step * sizes.step));
  feature::MapData data{.context = &context};
  if (feature::needs_rows(canonical)) data.rows = &rows;
  return feature::make_map(canonical, data);
}

template <class T>
Matrix<double> features_in(const feature::FeatureMap& map, MatrixView<const double> X,
                           Context& context) {
  Matrix<T> rows(X.rows, X.cols), Z(X.rows * map.outputs(), map.row_length());
  for (int64_t i = 0; i < X.rows; ++i) std::copy_n(X.row(i), X.cols, rows.view().row(i));
  map.apply(Rows(MatrixView<const T>(rows.view())), {0, map.features()}, context, Z.view());
  Matrix<double> out(Z.rows(), Z.cols());
  std::copy_n(Z.data(), Z.rows() * Z.cols(), out.data());
  return out;
}

/// Re z(x) z(y)^H of rows i and j.
double estimate(const Matrix<double>& Z, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < Z.cols(); ++k) sum += Z(i, k) * Z(j, k);
  return sum;
}

double weighted_sum(const Matrix<double>& Z) {
  std::vector<double> weights(static_cast<size_t>(Z.rows() * Z.cols()));
  random::fill_uniform({2, random::Tag::generated, 0}, 0, weights);
  double sum = 0;
  for (size_t k = 0; k < weights.size(); ++k) sum += (weights[k] - 0.5) * Z.data()[k];
  return sum;
}

/// Rotations of the features, in which libraries of linear algebra differ, leave these alone.
Matrix<double> estimates(const Matrix<double>& Z) {
  Matrix<double> K(Z.rows(), Z.rows());
  for (int64_t i = 0; i < Z.rows(); ++i)
    for (int64_t j = 0; j < Z.rows(); ++j) K(i, j) = estimate(Z, i, j);
  return K;
}

double largest_difference(const Matrix<double>& A, const Matrix<double>& B) {
  double largest = 0;
  for (int64_t k = 0; k < A.rows() * A.cols(); ++k)
    largest = std::max(largest, std::abs(A.data()[k] - B.data()[k]));
  return largest;
}

/// Of the mean estimate at the first two rows; none for maps without moments in closed form.
std::optional<double> deviations(const Asked& asked, uint64_t seeds, MatrixView<const double> X,
                                 Context& context) {
  const MatrixView<const double> pair = X.block_rows(0, 2);
  double mean = 0, expected = 0, variance = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto map = made(asked, seed, X, context);
    if (map->outputs() != 1) return {};
    try {
      const feature::Moments& moments = map->moments();
      const double* const x = pair.row(0);
      const double* const y = pair.row(1);
      double found = moments.variance_at(x, y);
      if (map->is_complex()) found = (found + moments.pseudo_variance_at(x, y)) / 2;
      variance += found;
      expected += map->estimated_kernel(x, y) + moments.bias_at(x, y);
    } catch (const Error& error) {
      if (error.status() != MERCER_UNSUPPORTED) throw;
      return {};
    }
    mean += estimate(features_in<double>(*map, pair, context), 0, 1);
  }
  return std::abs(mean - expected) / std::sqrt(variance + 1e-20 * expected * expected);
}

const KnownAnswer* known(const Asked& asked) {
  for (const KnownAnswer& one : kKnownAnswers)
    if (asked.entry.name == std::string_view(one.map) &&
        asked.kernel.text("kernel") == one.kernel && asked.projection == one.projection)
      return &one;
  return nullptr;
}

Parameters answer(const Asked& asked, uint64_t seeds, const Matrix<double>& X, Context& context) {
  const auto map = made(asked, 0, X.view(), context);
  Matrix<double> Z = features_in<double>(*map, X.view(), context),
                 single = features_in<float>(*map, X.view(), context);
  if (asked.entry.needs_rows) {
    Z = estimates(Z);
    single = estimates(single);
  }
  const KnownAnswer* const right = known(asked);
  const double sum = weighted_sum(Z), rounding = largest_difference(Z, single);
  const double difference = right == nullptr ? kInfinity : std::abs(sum - right->sum);
  const std::optional<double> apart = deviations(asked, seeds, X.view(), context);
  Parameters out{{"sum", sum}, {"difference", difference}, {"single", rounding}};
  if (apart) out.set("deviations", *apart);
  out.set("passed", difference <= kAllowedSum && rounding <= kAllowedSingle &&
                        apart.value_or(0) <= kAllowedDeviations);
  return out;
}

/// A part that this build is without is "refused", and neither passes nor fails.
Parameters described(const Asked& asked, uint64_t seeds, const Matrix<double>& X,
                     Context& context) {
  context.checkpoint();
  Parameters out{{"map", std::string(asked.entry.name)}, {"kernel", asked.kernel.text("kernel")}};
  if (!asked.projection.empty()) out.set("projection", asked.projection);
  try {
    const Parameters found = answer(asked, seeds, X, context);
    for (const auto& [key, value] : found.entries()) out.set(key, value);
  } catch (const Error& error) {
    if (error.status() != MERCER_UNSUPPORTED) throw;
    out.set("refused", std::string(error.what()));
  }
  return out;
}

/// Every map, every kernel that needs no parameters by its default map, every projection.
std::vector<Asked> all_asked() {
  std::vector<Asked> all;
  for (const feature::MapEntry& entry : feature::map_table())
    all.push_back({entry, entry.default_kernel, ""});
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    const feature::MapEntry& map = feature::map_entry({{"map", std::string(entry.default_map)}});
    const bool complete = std::ranges::none_of(entry.fields, [](const Field& field) {
      return std::holds_alternative<std::monostate>(field.fallback);
    });
    if (complete && map.default_kernel.text("kernel") != entry.name)
      all.push_back({map, feature::kernel_named(entry.name), ""});
  }
  const feature::MapEntry& fourier = feature::map_entry({{"map", std::string("fourier")}});
  for (const projection::ProjectionEntry* entry : projection::projection_table())
    all.push_back({fourier, fourier.default_kernel, entry->name});
  return all;
}

}  // namespace

ObjectList map_answers(uint64_t seeds, Context& context) {
  const Matrix<double> X = test_rows();
  const std::vector<Asked> all = all_asked();
  Stage stage(context, std::ssize(all));
  ObjectList answers;
  for (const Asked& asked : all) {
    answers.push_back(std::make_shared<const Parameters>(described(asked, seeds, X, context)));
    stage.advance(1);
  }
  return answers;
}

}  // namespace mercer::statistic
