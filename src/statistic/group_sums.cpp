// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Permuting groups instead of rows keeps the level exactly and nearly all power (Domingo-Enrich,
// Dwivedi, Mackey 2023, "Compress then test"). The partition is drawn row by row: a group is taken
// in proportion to the room that is left in it.
#include "statistic/group_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/numbers.h"
#include "base/parallel.h"
#include "feature/feature_products.h"

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

// tr C_x C_y is the sum of the squared products of both, and so on round three of them.
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

}  // namespace mercer::statistic
