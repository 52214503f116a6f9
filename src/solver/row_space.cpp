// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/row_space.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/numbers.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

constexpr const char* kSpan = "coordinates of rows";
constexpr int64_t kBlockRows = 512;

/// Coordinates of rows, shared with subsets of them.
struct Kept {
  Matrix<double> C, Y;
  std::vector<double> weights, classes, groups;
  bool complete = true;
};

class Coordinates final : public BlockSource {
 public:
  Coordinates(std::shared_ptr<const Kept> kept, ChosenRows set)
      : kept_(std::move(kept)), set_(std::move(set)) {}

  int64_t features() const override { return kept_->C.cols(); }
  int64_t outputs() const override { return kept_->Y.cols(); }
  int64_t rows() const override { return set_.count; }
  int64_t block_rows() const override { return std::min(kBlockRows, rows()); }
  bool is_complete() const override { return kept_->complete; }
  std::vector<double> classes() const override { return chosen(kept_->classes); }
  std::vector<double> groups() const override { return chosen(kept_->groups); }
  std::unique_ptr<BlockSource> subset(RowSet rows) const override {
    return std::make_unique<Coordinates>(kept_, set_.choose(rows));
  }

  void for_each(Context& context, const Body& body) const override {
    const Matrix<double> Z(block_rows(), features(), context, kSpan);
    const Matrix<double> Y(block_rows(), outputs(), context, kSpan);
    const std::vector<double> weights = chosen(kept_->weights);
    for (int64_t first = 0; first < rows(); first += block_rows()) {
      context.checkpoint();
      const int64_t count = std::min(block_rows(), rows() - first);
      for (int64_t i = 0; i < count; ++i) {
        std::copy_n(kept_->C.view().row(set_[first + i]), features(), Z.view().row(i));
        std::copy_n(kept_->Y.view().row(set_[first + i]), outputs(), Y.view().row(i));
      }
      FeatureBlock block{
          first, {}, Z.view().block_rows(0, count), Y.view().block_rows(0, count), {}};
      if (!weights.empty()) block.weights = std::span(weights).subspan(first, count);
      body(block);
    }
  }

 private:
  std::vector<double> chosen(const std::vector<double>& all) const {
    std::vector<double> some;
    for (int64_t i = 0; i < set_.count && !all.empty(); ++i) some.push_back(all[set_[i]]);
    return some;
  }

  std::shared_ptr<const Kept> kept_;
  ChosenRows set_;
};

/// ZZ'; also copies targets and weights.
Matrix<double> gram_of(const BlockSource& rows, Kept& kept, Context& context) {
  const int64_t n = rows.rows();
  kept.Y = Matrix<double>(n, rows.outputs(), context, kSpan);
  const Matrix<double> Z(n, rows.features(), context, kSpan);
  for_each_wide(rows, context, [&](const WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i) {
      std::copy_n(block.Z.row(i), block.Z.cols, Z.view().row(block.first + i));
      std::copy_n(block.Y.row(i), block.Y.cols, kept.Y.view().row(block.first + i));
    }
    kept.weights.insert(kept.weights.end(), block.weights.begin(), block.weights.end());
  });
  Matrix<double> K(n, n, context, kSpan);
  linalg::multiply(1.0, Transpose::no, Z.view(), Transpose::yes, Z.view(), 0.0, K.view());
  return K;
}

}  // namespace

bool RowSpace::pays(const BlockSource& rows, const Context& context) {
  const int64_t n = rows.rows(), D = rows.features();
  if (n == 0 || n > D / 2 || rows.reduction() != nullptr || rows.kernel_columns()) return false;
  const int64_t numbers =
      checked_add(checked_multiply(n, D, kSpan), checked_multiply(3 * n, n, kSpan), kSpan);
  return context.has_room(checked_multiply(8, numbers, kSpan));
}

RowSpace::RowSpace(const BlockSource& rows, Context& context) : rows_(rows) {
  if (!pays(rows, context)) return;
  auto kept = std::make_shared<Kept>();
  kept->classes = rows.classes();
  kept->groups = rows.groups();
  kept->complete = rows.is_complete();
  const Matrix<double> Q = gram_of(rows, *kept, context);  // row k becomes eigenvector k
  const int64_t n = rows.rows();
  const double squares = std::inner_product(Q.data(), Q.data() + n * n, Q.data(), 0.0);
  if (!std::isfinite(squares)) return;  // fits of the features say what is wrong with them
  std::vector<double> values(n);
  linalg::symmetric_eigen(Q.view(), values, context);
  const double least = static_cast<double>(n) * kEpsilon * std::max(values.back(), 0.0);
  const auto r = std::ranges::count_if(values, [&](double s) { return s > least; });
  if (r == 0) return;
  kept->C = Matrix<double>(n, r, context, kSpan);
  dual_ = Matrix<double>(n, r, context, kSpan);
  for (int64_t k = 0; k < r; ++k) {
    const double root = std::sqrt(values[n - r + k]);
    for (int64_t i = 0; i < n; ++i) {
      kept->C(i, k) = Q(n - r + k, i) * root;
      dual_(i, k) = Q(n - r + k, i) / root;
    }
  }
  reduced_ = std::make_unique<Coordinates>(std::move(kept), ChosenRows(n));
}

Matrix<double> RowSpace::lifted(MatrixView<const double> u, Context& context) const {
  const Matrix<double> A(rows_.rows(), u.cols, context, kSpan);
  linalg::multiply(1.0, Transpose::no, dual_.view(), Transpose::no, u, 0.0, A.view());
  Matrix<double> w(rows_.features(), u.cols, context, kSpan);
  w.fill(0);
  for_each_wide(rows_, context, [&](const WideBlock& block) {
    const auto part = A.view().block_rows(block.first, block.first + block.Z.rows);
    linalg::multiply(1.0, Transpose::yes, block.Z, Transpose::no, part, 1.0, w.view());
  });
  return w;
}

Weights RowSpace::weights(Weights u, Context& context) const {
  if (reduces()) u.w = lifted(u.w.view(), context);
  return u;
}

Matrix<double> RowSpace::basis(Context& context) const {
  const Matrix<double> one(dual_.cols(), dual_.cols(), context, kSpan);
  one.fill(0);
  for (int64_t k = 0; k < one.rows(); ++k) one(k, k) = 1;
  return lifted(one.view(), context);
}

}  // namespace mercer::solver
