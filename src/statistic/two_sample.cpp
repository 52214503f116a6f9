// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Permuting groups instead of rows keeps the level exactly and nearly all power (Domingo-Enrich,
// Dwivedi, Mackey 2023, "Compress then test"). The partition is drawn row by row: a group is taken
// in proportion to the room that is left in it.
#include "statistic/two_sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "feature/feature_operator.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::statistic {
namespace {

constexpr int64_t kMostGroups = 512;
constexpr int64_t kLeastGroups = 64;  // of the smaller sample, if it has so many rows
constexpr int64_t kColumnsTogether = 128;
constexpr int64_t kLanes = 8;

/// sums += z, and |z|^2. Several sums for SIMD lanes.
template <class T>
double add_row(const T* z, int64_t count, double* sums) noexcept {
  double norms[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) {
      const auto value = static_cast<double>(z[j + k]);
      sums[j + k] += value;
      norms[k] += value * value;
    }
  }
  for (; j < count; ++j) {
    const auto value = static_cast<double>(z[j]);
    sums[j] += value;
    norms[0] += value * value;
  }
  return std::accumulate(norms, norms + kLanes, 0.0);
}

/// Adds blocks of rows to their groups; threads share the columns.
template <class T>
void add_block(MatrixView<const T> Z, const std::vector<int64_t>& groups, MatrixView<double> sums,
               MatrixView<double> norms, Context& context) {
  const auto body = [&](int64_t chunk, int) noexcept {
    const int64_t j0 = chunk * kColumnsTogether, count = std::min(Z.cols - j0, kColumnsTogether);
    for (int64_t i = 0; i < Z.rows; ++i)
      norms(groups[i], chunk) += add_row(Z.row(i) + j0, count, sums.row(groups[i]) + j0);
  };
  parallel_for(context, norms.cols, body, 0);
}

/// Groups first, first + 1, ...: sums less their mean, over the root of a group's size, so that
/// their covariance is that of rows.
Matrix<double> centred(const GroupSums& from, int64_t first, int64_t count, Context& context) {
  const int64_t D = from.features();
  Matrix<double> out(count, D, context, "centred sums of groups");
  std::vector<double> mean(D);
  for (int64_t g = 0; g < count; ++g) {
    for (int64_t j = 0; j < D; ++j) mean[j] += from.sums(first + g, j) / static_cast<double>(count);
    context.checkpoint();
  }
  const double scale = 1 / std::sqrt(static_cast<double>(from.grouping.size));
  for (int64_t g = 0; g < count; ++g) {
    for (int64_t j = 0; j < D; ++j) out(g, j) = scale * (from.sums(first + g, j) - mean[j]);
    context.checkpoint();
  }
  return out;
}

/// A op(B).
Matrix<double> product(const Matrix<double>& A, linalg::Transpose op, const Matrix<double>& B,
                       Context& context) {
  Matrix<double> out(A.rows(), op == linalg::kPlain ? B.cols() : B.rows(), context,
                     "products of groups");
  out.fill(0);
  add_product(A.view(), op, B.view(), out.view(), context);
  return out;
}

/// sum_ij A_ij B_ij.
double inner(const Matrix<double>& A, const Matrix<double>& B) {
  return std::inner_product(A.data(), A.data() + A.rows() * A.cols(), B.data(), 0.0);
}

}  // namespace

std::pair<Grouping, Grouping> exchangeable_groups(int64_t m, int64_t n) {
  const int64_t fewer = std::min(m, n), more = std::max(m, n);
  const int64_t size =
      std::max<int64_t>(1, std::min(ceil_divide(m + n, kMostGroups), fewer / kLeastGroups));
  const Grouping small{size, std::min(fewer / size, kMostGroups / 2)};
  const Grouping large{size, std::min(more / size, kMostGroups - small.count)};
  return m <= n ? std::pair{small, large} : std::pair{large, small};
}

GroupDraw::GroupDraw(int64_t rows, const Grouping& grouping, const random::Stream& stream)
    : cursor_(stream), left_(rows), tree_(grouping.count + 2) {
  const auto size = static_cast<int64_t>(tree_.size());
  for (int64_t k = 1; k < size; ++k) {
    tree_[k] += k <= grouping.count ? grouping.size : rows - grouping.size * grouping.count;
    if (const int64_t up = k + (k & -k); up < size) tree_[up] += tree_[k];
  }
}

int64_t GroupDraw::next() {
  auto place = static_cast<int64_t>(random::uniform_below(cursor_, static_cast<uint64_t>(left_--)));
  const auto size = static_cast<int64_t>(tree_.size());
  int64_t group = 0;  // those before have no room for it
  for (auto step = static_cast<int64_t>(std::bit_floor(tree_.size() - 1)); step > 0; step /= 2) {
    if (group + step >= size || tree_[group + step] > place) continue;
    group += step;
    place -= tree_[group];
  }
  for (int64_t k = group + 1; k < size; k += k & -k) --tree_[k];
  return group;
}

std::vector<double> GroupSums::total(Context& context) const {
  std::vector<double> all(sums.cols());
  for (int64_t g = 0; g < sums.rows(); ++g) {
    context.checkpoint();
    for (int64_t j = 0; j < sums.cols(); ++j) all[j] += sums(g, j);
  }
  return all;
}

GroupSums empty_sums(int64_t rows, const Grouping& grouping, int64_t features, Context& context) {
  GroupSums out{rows, grouping,
                Matrix<double>(grouping.count + 1, features + 1, context, "sums of groups")};
  out.sums.fill(0);
  return out;
}

void add_rows(const feature::FeatureMap& map, const Rows& X, GroupDraw draw, GroupSums& to,
              Context& context) {
  const int64_t D = map.features(), groups = to.sums.rows();
  const Matrix<double> norms(groups, ceil_divide(D, kColumnsTogether), context, "squared norms");
  norms.fill(0);
  std::vector<int64_t> drawn;
  X.visit([&](const auto& rows) {
    feature::for_each_block(map, rows, context, [&](int64_t, auto Z) {
      drawn.resize(Z.rows);
      for (int64_t& group : drawn) group = draw.next();
      add_block(Z, drawn, to.sums.view(), norms.view(), context);
    });
  });
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t c = 0; c < norms.cols(); ++c) to.sums(g, D) += norms(g, c);
}

void add_product(MatrixView<const double> A, linalg::Transpose op, MatrixView<const double> B,
                 MatrixView<double> C, Context& context) {
  constexpr int64_t kTile = 512;  // 512^3 multiplications take 10 to 40 ms
  const auto end_of = [](int64_t first, int64_t count) { return std::min(first + kTile, count); };
  for (int64_t k = 0; k < A.cols; k += kTile) {
    const int64_t inner_end = end_of(k, A.cols);
    for (int64_t i = 0; i < C.rows; i += kTile) {
      const int64_t end = end_of(i, C.rows);
      const auto a = A.block_rows(i, end).block_cols(k, inner_end);
      for (int64_t j = 0; j < C.cols; j += kTile) {
        const int64_t last = end_of(j, C.cols);
        const auto b = op == linalg::kPlain ? B.block_rows(k, inner_end).block_cols(j, last)
                                            : B.block_rows(j, last).block_cols(k, inner_end);
        linalg::multiply(1.0, linalg::kPlain, a, op, b, 1.0,
                         C.block_rows(i, end).block_cols(j, last));
        context.checkpoint();
      }
    }
  }
}

// tr C_x C_y is the sum of the squared products of both samples' rows, and tr C C C a sum of
// products along a cycle of three.
CovarianceTraces covariance_traces(const GroupSums& x, const GroupSums& y, Context& context) {
  if (x.grouping.count < y.grouping.count) return covariance_traces(y, x, context);
  const int64_t of_x = x.grouping.count, of_y = y.grouping.count, half = of_x / 2;
  CovarianceTraces out{kNaN, kNaN};
  if (of_y < 2) return out;
  const auto degrees = [](int64_t groups) { return static_cast<double>(groups - 1); };
  const Matrix<double> all = centred(x, 0, of_x, context), other = centred(y, 0, of_y, context);
  const Matrix<double> K = product(all, linalg::kTransposed, other, context);
  out.second = inner(K, K) / (degrees(of_x) * degrees(of_y));
  if (half < 2) return out;
  const Matrix<double> a = centred(x, 0, half, context), b = centred(x, half, of_x - half, context);
  const Matrix<double> path =
      product(product(a, linalg::kTransposed, other, context), linalg::kPlain,
              product(other, linalg::kTransposed, b, context), context);
  out.third = inner(path, product(a, linalg::kTransposed, b, context)) /
              (degrees(half) * degrees(of_y) * degrees(of_x - half));
  return out;
}

// With S the sum of features and Q that of their squared norms, mmd2 = (|S_x|^2 - Q_x) / (m (m -
// 1)) + (|S_y|^2 - Q_y) / (n (n - 1)) - 2 S_x'S_y / (m n). Its variance is that of the projections
// on the difference of means, 4 (var_x / m + var_y / n), which estimates with that difference's
// noise twice the variance v that it has without one; the sum of both is what is left less v.

namespace {

constexpr int64_t kRelabellingsTogether = 16;
constexpr double kLeastSkewness = 1e-4;

/// The mean of z_i'z_j over pairs in a sample.
double within(double squared_sum, double norms, int64_t rows) {
  const auto n = static_cast<double>(rows);
  return rows == 1 ? norms : (squared_sum - norms) / (n * (n - 1));
}

/// x, y: D sums and the sum of squared norms.
struct Pieces {
  double xx = 0, yy = 0, xy = 0, x_norms = 0, y_norms = 0;
  double mmd2(int64_t m, int64_t n) const {
    const double pairs = static_cast<double>(m) * static_cast<double>(n);
    return within(xx, x_norms, m) + within(yy, y_norms, n) - 2 * xy / pairs;
  }
};

/// The terms of a sample x and of the rest of all rows.
Pieces pieces(const double* x, const double* all, int64_t D) noexcept {
  Pieces out;
  for (int64_t j = 0; j < D; ++j) {
    const double y = all[j] - x[j];
    out.xx += x[j] * x[j];
    out.yy += y * y;
    out.xy += x[j] * y;
  }
  out.x_norms = x[D];
  out.y_norms = all[D] - x[D];
  return out;
}

std::vector<double> sum_of(std::vector<double> a, const std::vector<double>& b) {
  for (size_t j = 0; j < a.size(); ++j) a[j] += b[j];
  return a;
}

/// The variance over rows of z'direction, from groups.
double projected_variance(const GroupSums& sums, const std::vector<double>& direction,
                          Context& context) {
  const int64_t groups = sums.grouping.count;
  if (groups < 2) return kNaN;
  std::vector<double> projected(groups);
  for (int64_t g = 0; g < groups; ++g) {
    context.checkpoint();
    projected[g] =
        std::inner_product(direction.begin(), direction.end(), sums.sums.view().row(g), 0.0);
  }
  const double mean =
      std::accumulate(projected.begin(), projected.end(), 0.0) / static_cast<double>(groups);
  double squares = 0;
  for (const double value : projected) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(groups - 1) / static_cast<double>(sums.grouping.size);
}

/// Standard error, deviations and p_limit. Without a difference mmd2 tends to (1/m + 1/n) sum_i
/// lambda_i (z_i^2 - 1), lambda the eigenvalues of the covariance.
void set_errors(const GroupSums& x, const GroupSums& y, Context& context, TwoSample& out) {
  const auto m = static_cast<double>(x.rows), n = static_cast<double>(y.rows);
  const CovarianceTraces traces = covariance_traces(x, y, context);
  const double pairs =
      2 / (m * std::max(m - 1, 1.0)) + 2 / (n * std::max(n - 1, 1.0)) + 4 / (m * n);
  const double null = pairs * traces.second, rate = 1 / m + 1 / n;
  const std::vector<double> difference = mean_difference(x, y, context);
  const double projected = 4 * (projected_variance(x, difference, context) / m +
                                projected_variance(y, difference, context) / n);
  out.standard_error = std::isnan(null) ? kNaN : std::sqrt(std::max(projected - null, null));
  const double rounding = out.permuted.rounding;
  const bool spread = std::sqrt(null) > rounding, differ = out.mmd2 > rounding;
  if (std::isnan(null) || (differ && !spread)) out.p_limit = kNaN;
  if (!spread) {  // all rows are equal, or those of a sample, which alone say nothing of the limit
    if (differ) out.deviations = out.mmd2 / rounding;
    return;
  }
  out.deviations = out.mmd2 / std::sqrt(null);
  if (std::min(x.rows, y.rows) < kLeastRowsOfLimit) {
    out.p_limit = kNaN;
    return;
  }
  const double skewness = 8 * traces.third * std::pow(rate, 3) / std::pow(null, 1.5);
  out.p_limit = gamma_tail(out.deviations, std::max(skewness, kLeastSkewness));
}

/// m n / N^2 mmd2 over the mean squared distance of features from their mean.
double effect_of(double mmd2, int64_t m, int64_t n, const std::vector<double>& all) {
  const int64_t D = std::ssize(all) - 1;
  const auto total = static_cast<double>(m + n);
  const double norm = std::inner_product(all.begin(), all.begin() + D, all.begin(), 0.0);
  const double variance = all[D] / total - norm / (total * total);
  if (!(variance > kLostInSums * all[D] / total)) return 0;
  return static_cast<double>(m) * static_cast<double>(n) / (total * total) * mmd2 / variance;
}

/// The k entries of largest value first, ties by the smaller row.
void keep_largest(std::vector<std::pair<double, int64_t>>& found, int64_t k) {
  const auto most = std::min<int64_t>(k, std::ssize(found));
  std::partial_sort(found.begin(), found.begin() + most, found.end(), [](auto& a, auto& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  });
  found.resize(most);
}

}  // namespace

Matrix<double> relabellings(const Grouping& x, const Grouping& y, int64_t permutations,
                            uint64_t seed, Context& context) {
  const int64_t groups = x.count + y.count;
  Matrix<double> first(permutations + 1, groups, context, "relabellings");
  std::vector<int64_t> order(groups);
  for (int64_t b = 0; b <= permutations; ++b) {
    if (b % kRelabellingsTogether == 0) context.checkpoint();
    std::fill_n(first.view().row(b), groups, 0.0);
    random::Cursor cursor(random::Stream(seed, random::Tag::permutation, static_cast<uint64_t>(b)));
    if (b == 0)
      std::iota(order.begin(), order.end(), int64_t{0});
    else
      random::permutation(cursor, order);
    for (int64_t g = 0; g < x.count; ++g) first(b, order[g]) = 1;
  }
  return first;
}

TwoSample compare_samples(const GroupSums& x, const GroupSums& y,
                          MatrixView<const double> relabelled, Context& context) {
  const int64_t D = x.features(), of_x = x.grouping.count, of_y = y.grouping.count;
  const Matrix<double> sums(relabelled.rows, D + 1, context, "sums of relabelled samples");
  for (int64_t b = 0; b < relabelled.rows; ++b) {  // rows in no group stay where they are
    if (b % kRelabellingsTogether == 0) context.checkpoint();
    std::copy_n(x.sums.view().row(of_x), D + 1, sums.view().row(b));
  }
  const auto add = [&](const GroupSums& from, int64_t first, int64_t count) {
    add_product(relabelled.block_cols(first, first + count), linalg::kPlain,
                from.sums.view().block_rows(0, count), sums.view(), context);
  };
  add(x, 0, of_x);
  add(y, of_x, of_y);
  const std::vector<double> all = sum_of(x.total(context), y.total(context));
  TwoSample out;
  out.permuted.values.resize(relabelled.rows);
  parallel_for(
      context, ceil_divide(relabelled.rows, kRelabellingsTogether),
      [&](int64_t chunk, int) noexcept {
        const int64_t b0 = chunk * kRelabellingsTogether;
        for (int64_t b = b0; b < std::min(relabelled.rows, b0 + kRelabellingsTogether); ++b)
          out.permuted.values[b] = pieces(sums.view().row(b), all.data(), D).mmd2(x.rows, y.rows);
      });
  out.permuted.rounding = kLostInSums * all[D] / static_cast<double>(x.rows + y.rows);
  out.mmd2 = out.permuted.values.front();
  set_errors(x, y, context, out);
  out.effect = effect_of(out.mmd2, x.rows, y.rows, all);
  return out;
}

BlockMean compare_blocks(const GroupSums& x, const GroupSums& y, Context& context) {
  const int64_t blocks = std::min(x.grouping.count, y.grouping.count), D = x.features();
  std::vector<double> values(blocks), both(D + 1);
  for (int64_t g = 0; g < blocks; ++g) {
    context.checkpoint();
    const double* const a = x.sums.view().row(g);
    std::transform(a, a + D + 1, y.sums.view().row(g), both.begin(), std::plus<>());
    values[g] = pieces(a, both.data(), D).mmd2(x.grouping.size, y.grouping.size);
  }
  const auto count = static_cast<double>(blocks);
  BlockMean out{std::accumulate(values.begin(), values.end(), 0.0) / count};
  if (blocks < 2) return out;
  double squares = 0, cubes = 0;
  for (const double value : values) {
    squares += std::pow(value - out.mmd2, 2);
    cubes += std::pow(value - out.mmd2, 3);
  }
  out.standard_error = std::sqrt(squares / (count * (count - 1)));
  if (!(out.standard_error > 0)) {  // equal in all blocks
    if (!(out.mmd2 > kLostInSums)) out.p_value = 1;
    return out;
  }
  const double t = out.mmd2 / out.standard_error;
  const double skew = cubes / count / std::pow(squares / count, 1.5) / std::sqrt(count) / 3;
  out.p_value = normal_tail(t + skew * t * t + skew * skew * t * t * t / 3 + skew / 2);
  return out;
}

std::vector<double> mean_difference(const GroupSums& x, const GroupSums& y, Context& context) {
  std::vector<double> difference = x.total(context);
  const std::vector<double> other = y.total(context);
  difference.pop_back();
  for (size_t j = 0; j < difference.size(); ++j)
    difference[j] =
        difference[j] / static_cast<double>(x.rows) - other[j] / static_cast<double>(y.rows);
  return difference;
}

Witness witnesses(const feature::FeatureMap& map, const Rows& X,
                  const std::vector<double>& difference, int64_t count, double sign,
                  Context& context) {
  std::vector<std::pair<double, int64_t>> found;
  X.visit([&](const auto& rows) {
    feature::for_each_block(map, rows, context, [&](int64_t first, auto Z) {
      for (int64_t i = 0; i < Z.rows; ++i)
        found.emplace_back(
            sign * std::inner_product(difference.begin(), difference.end(), Z.row(i), 0.0),
            first + i);
      if (std::ssize(found) >= 2 * count) keep_largest(found, count);
    });
  });
  keep_largest(found, count);
  Witness out;
  for (const auto& [value, row] : found) {
    out.rows.push_back(static_cast<double>(row));
    out.values.push_back(sign * value);
  }
  return out;
}

// Means and deviations are over all values, the observed one included: so they do not tell it
// apart, and the largest of standardised statistics is as exchangeable as each of them (Westfall,
// Young 1993). What differs by rounding counts as equal, which can only raise p.

namespace {

constexpr double kEqual = 1e-9;         // standard deviations
constexpr double kMostCombined = 0.99;  // p = 1 would outweigh any other
constexpr int kFractionTerms = 500;
constexpr double kNearlyNormal = 1e3;  // shapes beyond

std::vector<double> all_standardised(const PermutationValues& statistic) {
  std::vector<double> out = statistic.values;
  const auto count = static_cast<double>(out.size());
  double mean = 0, squares = 0;
  for (const double value : out) mean += value / count;
  for (const double value : out) squares += (value - mean) * (value - mean) / count;
  const double deviation = std::sqrt(squares);
  for (double& value : out)
    value = deviation > statistic.rounding ? (value - mean) / deviation : 0.0;
  return out;
}

double share_at_least_first(const std::vector<double>& values) {
  const auto reach =
      std::ranges::count_if(values, [&](double value) { return value >= values.front() - kEqual; });
  return static_cast<double>(reach) / static_cast<double>(values.size());
}

/// P(G > x) for G of shape a; x > a + 1: the continued fraction, from its end (Abramowitz, Stegun
/// 6.5.31).
double upper_gamma(double a, double x) {
  const double log_factor = a * std::log(x) - x;
  if (x <= a + 1)
    return 1 - random::lower_gamma_series(a, x) * std::exp(log_factor - log_gamma(a + 1));
  double fraction = 0;
  for (int k = kFractionTerms; k >= 1; --k) fraction = (k - a) / (1 + k / (x + fraction));
  return std::exp(log_factor - log_gamma(a)) / (x + fraction);
}

}  // namespace

double p_value(const PermutationValues& statistic) {
  return share_at_least_first(all_standardised(statistic));
}

double p_value_of_largest(std::span<const PermutationValues> statistics) {
  std::vector<double> largest(statistics.front().values.size(), -kInfinity);
  for (const PermutationValues& one : statistics) {
    const std::vector<double> values = all_standardised(one);
    for (size_t b = 0; b < largest.size(); ++b) largest[b] = std::max(largest[b], values[b]);
  }
  return share_at_least_first(largest);
}

double combined_p_value(std::span<const double> p_values) {
  double sum = 0;
  for (const double p : p_values)
    sum += std::tan((0.5 - std::min(p, kMostCombined)) * std::numbers::pi);
  return 0.5 - std::atan(sum / static_cast<double>(p_values.size())) / std::numbers::pi;
}

double normal_tail(double z) { return std::erfc(z / std::numbers::sqrt2) / 2; }

double gamma_tail(double z, double skewness) {
  const double shape = 4 / (skewness * skewness), x = shape + z * std::sqrt(shape);
  if (x <= 0) return 1;
  if (shape < kNearlyNormal) return upper_gamma(shape, x);
  const double ninth = 1 / (9 * shape);  // Wilson, Hilferty 1931
  return normal_tail((std::cbrt(x / shape) - 1 + ninth) / std::sqrt(ninth));
}

namespace {

constexpr int64_t kMostRows = 500;
constexpr int64_t kLeastRows = 50;
constexpr int64_t kMostNumbers = int64_t{1} << 22;
constexpr double kLeastDeviation = 1e-280;  // lengthscales are some of them, at least 1e-300

void copy_row(const Rows& X, int64_t i, double* out) {
  X.visit([&](const auto& rows) {
    std::fill_n(out, rows.cols, 0.0);
    for_each_stored(rows, i, [&](int64_t j, auto value) { out[j] += value; });
  });
}

Matrix<double> drawn_rows(std::span<const Rows> samples, uint64_t seed, Context& context) {
  int64_t total = 0;
  for (const Rows& X : samples) total += X.rows();
  const int64_t d = samples.front().cols();
  const int64_t affordable = std::max(kLeastRows, kMostNumbers / std::max<int64_t>(d, 1));
  std::vector<int64_t> drawn(std::min({total, kMostRows, affordable}));
  random::Cursor cursor(random::Stream(seed, random::Tag::sample, 0));
  random::sample_without_replacement(cursor, total, drawn);
  Matrix<double> out(std::ssize(drawn), d, context, "a sample of rows");
  for (size_t k = 0; k < drawn.size(); ++k) {
    size_t at = 0;
    while (drawn[k] >= samples[at].rows()) drawn[k] -= samples[at++].rows();
    copy_row(samples[at], drawn[k], out.view().row(static_cast<int64_t>(k)));
  }
  return out;
}

/// A power of two, which is exact, about the range of column j; 1 for a constant.
double unit_of(MatrixView<const double> X, int64_t j) {
  double least = kInfinity, most = -kInfinity;
  for (int64_t i = 0; i < X.rows; ++i) {
    least = std::min(least, X(i, j));
    most = std::max(most, X(i, j));
  }
  return most > least ? std::ldexp(1.0, std::ilogb(most - least)) : 1;
}

/// Divides columns by their standard deviations, whose squares may be below all numbers.
std::vector<double> scale_columns(MatrixView<double> X) {
  std::vector<double> scales(X.cols, 1.0);
  for (int64_t j = 0; j < X.cols; ++j) {
    const double unit = unit_of(X, j);
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < X.rows; ++i) mean += X(i, j) / static_cast<double>(X.rows);
    for (int64_t i = 0; i < X.rows; ++i) {
      const double apart = (X(i, j) - mean) / unit;
      squares += apart * apart;
    }
    if (squares > 0 && !column_is_constant(X, j))
      scales[j] = unit * std::sqrt(squares / static_cast<double>(X.rows));
    require(scales[j] >= kLeastDeviation, MERCER_INVALID_ARGUMENT, at_column(j),
            "rows has the deviation %g, expected at least %g or a constant", scales[j],
            kLeastDeviation);
    for (int64_t i = 0; i < X.rows; ++i) X(i, j) /= scales[j];
  }
  return scales;
}

/// Divides all columns by one unit, that of the widest.
double scale_together(MatrixView<double> X) {
  double unit = 0;
  for (int64_t j = 0; j < X.cols; ++j)
    if (!column_is_constant(X, j)) unit = std::max(unit, unit_of(X, j));
  if (unit == 0) return 1;
  for (int64_t i = 0; i < X.rows; ++i)
    for (int64_t j = 0; j < X.cols; ++j) X(i, j) /= unit;
  return unit;
}

/// The median distance over pairs of rows that are not equal.
template <class Term>
double median_sum(MatrixView<const double> X, Context& context, const Term& term) {
  const int64_t n = X.rows;
  std::vector<double> sums(n * (n - 1) / 2);
  parallel_for(
      context, n,
      [&](int64_t i, int) noexcept {
        double* out = sums.data() + i * (2 * n - i - 1) / 2;
        for (int64_t j = i + 1; j < n; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < X.cols; ++k) sum += term(X(i, k) - X(j, k));
          *out++ = sum;
        }
      },
      0);
  std::erase(sums, 0.0);
  if (sums.empty()) return 1;
  const auto middle = sums.begin() + std::ssize(sums) / 2;
  std::nth_element(sums.begin(), middle, sums.end());
  return *middle;
}

}  // namespace

Scales pooled_scales(std::span<const Rows> samples, bool by_column, uint64_t seed,
                     Context& context) {
  const Matrix<double> sample = drawn_rows(samples, seed, context);
  Scales out;
  out.columns = by_column ? scale_columns(sample.view()) : std::vector<double>(sample.cols(), 1.0);
  const double unit = scale_together(sample.view());
  out.euclidean =
      unit * std::sqrt(median_sum(sample.view(), context, [](double t) { return t * t; }));
  out.absolute = unit * median_sum(sample.view(), context, [](double t) { return std::fabs(t); });
  return out;
}

}  // namespace mercer::statistic
