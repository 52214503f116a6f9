// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/origin.h"

#include <algorithm>
#include <functional>

#include "linalg/blas.h"

namespace mercer::solver {
namespace {

using Row = std::vector<double>;

// Squared distance of mean and origin in deviations: up to here centring loses at most four digits.
constexpr double kFar = 1e4;

MatrixView<const double> as_row(const Row& row) {
  return {row.data(), 1, static_cast<int64_t>(row.size())};
}

Row divided(std::span<const double> sums, double n) {
  Row mean(sums.size(), 0.0);
  if (n > 0) std::ranges::transform(sums, mean.begin(), [n](double sum) { return sum / n; });
  return mean;
}

Row sum_of(std::span<const double> a, std::span<const double> b) {
  Row sum(a.size());
  std::ranges::transform(a, b, sum.begin(), std::plus<>());
  return sum;
}

/// weight m m', the contribution of a mean m to second moments.
void add_share_of_mean(double weight, const MeanRow& mean, const RowStatistics::Parts& parts) {
  linalg::rank_update(weight, as_row(mean.features), parts.gram);
  if (mean.outputs.empty()) return;
  linalg::multiply(weight, linalg::Transpose::yes, as_row(mean.features), linalg::Transpose::no,
                   as_row(mean.outputs), 1.0, parts.cross);
  for (std::size_t j = 0; j < mean.outputs.size(); ++j)
    parts.sum_squared_outputs[j] += weight * mean.outputs[j] * mean.outputs[j];
}

/// mean + (from - to), the difference of origins first: it is small and exact.
Row moved(const Row& mean, std::span<const double> from, std::span<const double> to) {
  Row result(mean.size());
  for (std::size_t j = 0; j < result.size(); ++j) result[j] = mean[j] + (from[j] - to[j]);
  return result;
}

}  // namespace

MeanRow mean_about_origin(const RowStatistics& statistics) {
  const double n = statistics.weight();
  return {divided(statistics.sum_features(), n), divided(statistics.sum_outputs(), n)};
}

MeanRow mean_of(const RowStatistics& statistics) {
  const MeanRow mean = mean_about_origin(statistics);
  return {sum_of(statistics.origin_features(), mean.features),
          sum_of(statistics.origin_outputs(), mean.outputs)};
}

void move_origin(RowStatistics& statistics, const MeanRow& origin) {
  const RowStatistics::Parts parts = statistics.parts();
  const double n = parts.weight;
  const MeanRow before = mean_about_origin(statistics);
  const MeanRow after{moved(before.features, parts.origin_features, origin.features),
                      moved(before.outputs, parts.origin_outputs, origin.outputs)};
  add_share_of_mean(-n, before, parts);
  add_share_of_mean(n, after, parts);
  std::ranges::transform(after.features, parts.sum_features.begin(),
                         [n](double mean) { return n * mean; });
  std::ranges::transform(after.outputs, parts.sum_outputs.begin(),
                         [n](double mean) { return n * mean; });
  std::ranges::copy(origin.features, parts.origin_features.begin());
  std::ranges::copy(origin.outputs, parts.origin_outputs.begin());
}

void add_about_origin(double sign, const RowStatistics& other, const RowStatistics::Parts& to) {
  for (int64_t i = 0; i < to.gram.rows; ++i) {
    const auto length = static_cast<std::size_t>(i + 1);
    add_scaled(sign, {other.gram().row(i), length}, {to.gram.row(i), length});
    const auto outputs = static_cast<std::size_t>(to.cross.cols);
    add_scaled(sign, {other.cross().row(i), outputs}, {to.cross.row(i), outputs});
  }
  add_scaled(sign, other.sum_squared_outputs(), to.sum_squared_outputs);
  to.rows += sign > 0 ? other.rows() : -other.rows();
  to.weight += sign * other.weight();
  if (std::ranges::equal(other.origin_features(), to.origin_features) &&
      std::ranges::equal(other.origin_outputs(), to.origin_outputs)) {
    add_scaled(sign, other.sum_features(), to.sum_features);
    add_scaled(sign, other.sum_outputs(), to.sum_outputs);
    return;
  }
  const double weight = sign * other.weight();
  const MeanRow before = mean_about_origin(other);
  const MeanRow after{moved(before.features, other.origin_features(), to.origin_features),
                      moved(before.outputs, other.origin_outputs(), to.origin_outputs)};
  add_share_of_mean(-weight, before, to);
  add_share_of_mean(weight, after, to);
  add_scaled(weight, after.features, to.sum_features);
  add_scaled(weight, after.outputs, to.sum_outputs);
}

bool origin_is_far(const RowStatistics& statistics) {
  const MeanRow mean = mean_about_origin(statistics);
  const double n = statistics.weight();
  const auto far = [n](double shift, double squares) {
    return shift * shift > kFar * (squares / n - shift * shift);
  };
  for (int64_t j = 0; j < statistics.features(); ++j)
    if (far(mean.features[j], statistics.gram()(j, j))) return true;
  for (std::size_t j = 0; j < mean.outputs.size(); ++j)
    if (far(mean.outputs[j], statistics.sum_squared_outputs()[j])) return true;
  return false;
}

}  // namespace mercer::solver
