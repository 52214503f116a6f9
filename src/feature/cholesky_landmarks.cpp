// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Landmarks by randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber 2023): each is drawn with a
// probability proportional to what is left of k(x, x) after projection on those before. In blocks
// (Epperly, Tropp, Webber 2024, algorithms 2 and 4): indices are drawn by what was left before the
// block, then one after the other accepted with the ratio of what is left now, which has the same
// distribution and needs products of matrices alone.
#include <algorithm>
#include <cmath>

#include "feature/landmarks.h"
#include "linalg/blas.h"
#include "random/distributions.h"

namespace mercer::feature {
namespace {

constexpr int64_t kDrawn = 128;     // at a time
constexpr double kNothing = 1e-13;  // of k(x, x): what is left is rounding
constexpr const char* kPivots = "the factor of randomly pivoted Cholesky";

class PivotedCholesky {
 public:
  PivotedCholesky(const LandmarkPool& pool, int64_t D)
      : pool_(pool), F_(D, pool.rows.rows, pool.context, kPivots) {
    for (int64_t i = 0; i < pool.rows.rows; ++i) {
      const double* const x = pool.rows.row(i);
      own_.push_back(pool.kernel.value(pool.rows.cols, x, x));
    }
    left_ = own_;
  }
  const std::vector<int64_t>& pivots() const noexcept { return pivots_; }

  /// False if nothing is left to draw by.
  bool extend(random::Cursor& cursor) {
    const std::vector<int64_t> rows = drawn(cursor);
    if (rows.empty()) return false;
    const Matrix<double> H = residual_gram(rows);
    const std::vector<int64_t> accepted = accept(rows, H, cursor);
    append(accepted);
    return true;
  }

 private:
  int64_t count() const noexcept { return std::ssize(pivots_); }

  std::vector<int64_t> drawn(random::Cursor& cursor) const {
    std::vector<double> sums;
    double total = 0;
    for (const double left : left_) sums.push_back(total += left);
    std::vector<int64_t> rows;
    for (int64_t b = 0; b < kDrawn && total > 0; ++b) {
      const double u = random::uniform(cursor.next()) * total;
      const auto at = std::ranges::upper_bound(sums, u) - sums.begin();
      if (at < std::ssize(left_) && left_[at] > 0) rows.push_back(at);
    }
    return rows;
  }

  /// K - F'F between those rows.
  Matrix<double> residual_gram(const std::vector<int64_t>& rows) const {
    const Matrix<double> X = gathered(rows), f = columns_of(rows);
    Matrix<double> H(X.rows(), X.rows(), pool_.context, kPivots);
    kernel::gram(pool_.kernel, X.view(), X.view(), pool_.context, H.view());
    linalg::multiply(-1.0, linalg::Transpose::yes, f.view(), linalg::Transpose::no, f.view(), 1.0,
                     H.view());
    return H;
  }

  /// Eliminates accepted rows from a copy of H.
  std::vector<int64_t> accept(const std::vector<int64_t>& rows, const Matrix<double>& H,
                              random::Cursor& cursor) {
    const int64_t b = H.rows();
    std::vector<int64_t> accepted;
    for (int64_t i = 0; i < b && count() + std::ssize(accepted) < F_.rows(); ++i) {
      const int64_t row = rows[i];
      const bool keeps = random::uniform(cursor.next()) * left_[row] < H(i, i);
      if (H(i, i) <= kNothing * own_[row]) {
        left_[row] = 0;
      } else if (keeps) {
        accepted.push_back(row);
        for (int64_t j = i + 1; j < b; ++j)
          for (int64_t k = i + 1; k < b; ++k) H(j, k) -= H(j, i) / H(i, i) * H(i, k);
      }
    }
    return accepted;
  }

  /// Their rows of F, and what is left.
  void append(std::vector<int64_t> rows) {
    const auto b = static_cast<int64_t>(rows.size());
    if (b == 0) return;
    const Matrix<double> X = gathered(rows), f = columns_of(rows), L = residual_gram(rows);
    const MatrixView<double> G = F_.view().block_rows(count(), count() + b);
    kernel::gram(pool_.kernel, X.view(), pool_.rows, pool_.context, G);
    linalg::multiply(-1.0, linalg::Transpose::yes, f.view(), linalg::Transpose::no,
                     F_.view().block_rows(0, count()), 1.0, G);
    if (const int64_t pivot = linalg::cholesky(L.view()); pivot > 0) {  // by rounding
      left_[rows[pivot - 1]] = 0;
      rows.resize(pivot - 1);
      return append(std::move(rows));
    }
    linalg::triangular_solve(L.view(), G);
    for (size_t j = 0; j < left_.size(); ++j) {
      for (int64_t k = 0; k < b; ++k)
        left_[j] -= G(k, static_cast<int64_t>(j)) * G(k, static_cast<int64_t>(j));
      if (left_[j] <= kNothing * own_[j]) left_[j] = 0;
    }
    for (const int64_t row : rows) left_[row] = 0;
    pivots_.insert(pivots_.end(), rows.begin(), rows.end());
  }

  Matrix<double> gathered(const std::vector<int64_t>& rows) const {
    Matrix<double> X(std::ssize(rows), pool_.rows.cols, pool_.context, kPivots);
    for (int64_t i = 0; i < X.rows(); ++i)
      std::copy_n(pool_.rows.row(rows[i]), X.cols(), X.view().row(i));
    return X;
  }
  Matrix<double> columns_of(const std::vector<int64_t>& rows) const {
    Matrix<double> f(count(), std::ssize(rows), pool_.context, kPivots);
    for (int64_t k = 0; k < f.rows(); ++k)
      for (int64_t i = 0; i < f.cols(); ++i) f(k, i) = F_(k, rows[i]);
    return f;
  }

  const LandmarkPool& pool_;
  Matrix<double> F_;  // pivots x rows: K ~ F'F
  std::vector<double> own_, left_;
  std::vector<int64_t> pivots_;
};

}  // namespace

std::vector<int64_t> cholesky_landmarks(const LandmarkPool& pool, int64_t D) {
  random::Cursor cursor(random::Stream(pool.seed, random::Tag::sample, 1));
  PivotedCholesky factor(pool, D);
  Stage stage(pool.context, D);
  for (bool more = true; more && std::ssize(factor.pivots()) < D;) {
    const int64_t before = std::ssize(factor.pivots());
    more = factor.extend(cursor);
    stage.advance(std::ssize(factor.pivots()) - before);
    pool.context.checkpoint();
  }
  std::vector<int64_t> chosen = factor.pivots();
  std::vector<bool> taken(pool.rows.rows, false);
  for (const int64_t row : chosen) taken[row] = true;
  // The others are combinations of those.
  for (int64_t i = 0; std::ssize(chosen) < D; ++i)
    if (!taken[i]) chosen.push_back(i);
  return chosen;
}

}  // namespace mercer::feature
