// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Chooses the threshold for bits on held-out rows. Half of a sample, in random order so that the
// order of the rows does not matter, is fitted by kernel ridge regression with the exact kernel of
// the bits, so that no draw matters; the other half is predicted. The criterion is the squared
// error, each target in units of its variance. Candidates are at most 15 entries of the fitted
// rows, evenly spaced among the different values from the least on, each with its best
// regularisation. (Likeness of the kernel of the bits to that of the rows, which would need no
// targets, is no criterion: on 500 images of Fashion-MNIST it chooses 0.64, accuracy 0.63, where
// the threshold 0 has 0.80.)
#include "feature/bit_threshold.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "feature/landmarks.h"
#include "linalg/blas.h"
#include "random/distributions.h"

namespace mercer::feature {
namespace {

constexpr int64_t kMostRows = 1024;
constexpr int64_t kLeastRows = 4;
constexpr int64_t kMostCandidates = 15;
constexpr const char* kRows = "rows that a threshold is learnt from";
constexpr const char* kRegression = "a regression on rows shown as bits";
constexpr double kShifts[] = {1e-4, 1e-3, 1e-2, 1e-1, 1};  // times the mean of the diagonal

struct Half {
  Matrix<double> X;
  Matrix<double> Y;
};

/// Rows first, first + 2, ... of a sample.
Matrix<double> every_other(const Matrix<double>& sample, int64_t first, Context& context) {
  Matrix<double> half((sample.rows() - first + 1) / 2, sample.cols(), context, kRows);
  for (int64_t i = 0; i < half.rows(); ++i)
    std::copy_n(sample.view().row(first + 2 * i), half.cols(), half.view().row(i));
  return half;
}

/// Targets of the chosen rows, centred and scaled by their own mean and deviation.
Matrix<double> standardised(MatrixView<const double> targets, std::span<const int64_t> chosen,
                            Context& context) {
  Matrix<double> Y(std::ssize(chosen), targets.cols, context, kRows);
  const auto n = static_cast<double>(chosen.size());
  bool any_differ = false;
  for (int64_t k = 0; k < Y.cols(); ++k) {
    double mean = 0, squares = 0;
    bool differ = false;
    for (int64_t i = 0; i < Y.rows(); ++i) {
      Y(i, k) = targets(chosen[i], k);
      require(std::isfinite(Y(i, k)), MERCER_INVALID_ARGUMENT,
              "targets(%ld, %ld) = %g, expected finite numbers", chosen[i], k, Y(i, k));
      mean += Y(i, k) / n;
      differ = differ || Y(i, k) != Y(0, k);
    }
    for (int64_t i = 0; i < Y.rows(); ++i) squares += (Y(i, k) - mean) * (Y(i, k) - mean) / n;
    const double scale = differ && squares > 0 ? 1 / std::sqrt(squares) : 0;
    for (int64_t i = 0; i < Y.rows(); ++i) Y(i, k) = (Y(i, k) - mean) * scale;
    any_differ = any_differ || scale > 0;
  }
  require(any_differ, MERCER_INVALID_ARGUMENT,
          "threshold_from = targets: all targets are equal, expected different ones");
  return Y;
}

/// In random order: rows may come sorted, or class by class in turn.
std::vector<int64_t> sampled_rows(int64_t rows, uint64_t seed) {
  std::vector<int64_t> chosen(std::min(rows, kMostRows));
  random::Cursor cursor(random::Stream(seed, random::Tag::sample, 0));
  random::sample_without_replacement(cursor, rows, chosen);
  return chosen;
}

/// The largest entry is no candidate: all bits would be 0.
std::vector<double> candidates_of(const Matrix<double>& rows, Context& context) {
  const AlignedBuffer<double> entries(rows.rows() * rows.cols(), context, kRows);
  std::copy_n(rows.data(), entries.size(), entries.begin());
  std::sort(entries.begin(), entries.end());
  const int64_t different = std::unique(entries.begin(), entries.end()) - entries.begin() - 1;
  require(different > 0, MERCER_INVALID_ARGUMENT,
          "threshold_from = targets: all inputs are equal, expected different ones");
  const int64_t count = std::min(different, kMostCandidates);
  std::vector<double> candidates;
  for (int64_t c = 0; c < count; ++c) candidates.push_back(entries[c * different / count]);
  return candidates;
}

Matrix<double> bits_of(const Matrix<double>& X, double threshold, Context& context) {
  Matrix<double> bits(X.rows(), X.cols(), context, kRows);
  for (int64_t k = 0; k < X.rows() * X.cols(); ++k)
    bits.data()[k] = shown_bit(X.data()[k], threshold);
  return bits;
}

/// K: Gram matrix of the fitted rows; across: held-out rows (rows) with fitted rows.
double held_out_error(const Matrix<double>& K, const Matrix<double>& across, double shift,
                      const Half& fitted, const Half& held_out, Context& context) {
  Matrix<double> L(K.rows(), K.rows(), context, kRegression),
      alpha(K.rows(), fitted.Y.cols(), context, kRegression);
  std::copy_n(K.data(), K.rows() * K.rows(), L.data());
  std::copy_n(fitted.Y.data(), alpha.rows() * alpha.cols(), alpha.data());
  for (int64_t i = 0; i < L.rows(); ++i) L(i, i) += shift;
  if (linalg::cholesky(L.view()) != 0) return kInfinity;
  linalg::cholesky_solve(L.view(), alpha.view());
  Matrix<double> residual(held_out.Y.rows(), held_out.Y.cols(), context, kRegression);
  std::copy_n(held_out.Y.data(), residual.rows() * residual.cols(), residual.data());
  linalg::multiply(-1, linalg::Transpose::no, across.view(), linalg::Transpose::no, alpha.view(), 1,
                   residual.view());
  double squares = 0;
  for (int64_t k = 0; k < residual.rows() * residual.cols(); ++k)
    squares += residual.data()[k] * residual.data()[k];
  return squares;
}

/// The error with the best regularisation.
double error_at(double threshold, const kernel::Kernel& kernel, const Half& fitted,
                const Half& held_out, Context& context) {
  const Matrix<double> near = bits_of(fitted.X, threshold, context),
                       far = bits_of(held_out.X, threshold, context);
  Matrix<double> K(near.rows(), near.rows(), context, "the kernel of rows shown as bits"),
      across(far.rows(), near.rows(), context, "the kernel of rows shown as bits");
  kernel::gram(kernel, near.view(), near.view(), context, K.view());
  kernel::gram(kernel, far.view(), near.view(), context, across.view());
  double trace = 0;
  for (int64_t i = 0; i < K.rows(); ++i) trace += K(i, i) / static_cast<double>(K.rows());
  double least = kInfinity;
  for (const double shift : kShifts)
    least = std::min(least, held_out_error(K, across, shift * trace, fitted, held_out, context));
  return least;
}

}  // namespace

double shown_bit(double x, double threshold) noexcept {
  return std::isfinite(x) ? static_cast<double>(x > threshold) : kNaN;
}

double learn_bit_threshold(const kernel::Kernel& kernel, const Rows& rows,
                           MatrixView<const double> targets, uint64_t seed, Context& context) {
  require(rows.rows() >= kLeastRows, MERCER_INVALID_ARGUMENT,
          "threshold_from = targets: %ld rows, expected at least %ld", rows.rows(), kLeastRows);
  const std::vector<int64_t> chosen = sampled_rows(rows.rows(), seed);
  const Matrix<double> X = copied_rows(kernel, rows, chosen, context);
  const Matrix<double> Y = standardised(targets, chosen, context);
  const Half fitted{every_other(X, 0, context), every_other(Y, 0, context)},
      held_out{every_other(X, 1, context), every_other(Y, 1, context)};
  double best = 0, least = kInfinity;
  const std::vector<double> candidates = candidates_of(fitted.X, context);
  Stage stage(context, std::ssize(candidates));
  for (const double threshold : candidates) {
    stage.share(1);
    const double error = error_at(threshold, kernel, fitted, held_out, context);
    if (error < least) {
      least = error;
      best = threshold;
    }
    stage.advance(1);
  }
  require(
      std::isfinite(least), MERCER_INVALID_ARGUMENT,
      "threshold_from = targets: the error on held-out rows is finite at no threshold, expected a "
      "kernel whose values of rows of 0 and 1 are finite");
  return best;
}

}  // namespace mercer::feature
