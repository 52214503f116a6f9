// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The statistics of class k: all rows as if of another class, plus the rows of class k with the
// missing weight. Their noise is smaller, so that nothing is subtracted.
#include "solver/dirichlet_posterior.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/finite.h"
#include "linalg/blas.h"
#include "solver/block_statistics.h"
#include "solver/ridge_factor.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

constexpr int64_t kSolvedRows = 64;  // per block of a triangular solve

/// The same rows with target `value` and weights times `factor`.
RowStatistics weighed(const RowStatistics& rows, double factor, double value, Context& context) {
  RowStatistics result = rows.clone(context);
  const RowStatistics::Parts parts = result.parts();
  parts.weight *= factor;
  for (int64_t k = 0; k < rows.features() * rows.features(); ++k) parts.gram.data[k] *= factor;
  for (double& sum : parts.sum_features) sum *= factor;
  parts.origin_outputs[0] = value;  // all targets are 0 about it
  return result;
}

int64_t class_of(MatrixView<const double> Y, int64_t i) {
  return std::max_element(Y.row(i), Y.row(i) + Y.cols) - Y.row(i);
}

/// Gathers the rows of one class in a block.
void add_class(const WideBlock& block, int64_t k, RowStatistics& to, Context& context) {
  std::vector<int64_t> rows;
  std::vector<double> weights;
  for (int64_t i = 0; i < block.Z.rows; ++i) {
    if (class_of(block.Y, i) != k) continue;
    rows.push_back(i);
    weights.push_back(block.weight(i));
  }
  if (rows.empty()) return;
  const Matrix<double> Z(std::ssize(rows), block.Z.cols, context, "rows of a class");
  const Matrix<double> zeros(Z.rows(), 1);
  zeros.fill(0);
  for (int64_t i = 0; i < Z.rows(); ++i)
    std::copy_n(block.Z.row(rows[i]), Z.cols(), Z.view().row(i));
  to.add(Z.view(), zeros.view(), context, weights);
}

}  // namespace

DirichletTarget dirichlet_target(double alpha, bool own) {
  const double shape = alpha + (own ? 1 : 0), variance = std::log1p(1 / shape);
  return {std::log(shape) - variance / 2, variance};
}

ClassSums::ClassSums(const BlockSource& rows, Context& context) {
  require(!rows.kernel_columns(), MERCER_UNSUPPORTED,
          "classes by Gaussian processes of the kernel itself (map exact), expected a map of "
          "features");
  for (int64_t k = 0; k < rows.outputs(); ++k) of_class_.emplace_back(rows.features(), 1, context);
  for_each_wide(rows, context, [&](const WideBlock& block) {
    for (int64_t k = 0; k < classes(); ++k) add_class(block, k, of_class_[k], context);
  });
  for (RowStatistics& one : of_class_) {
    one.release_scratch();
    one = take_reduced(rows, std::move(one));
    require_finite_features(one);
  }
}

double ClassSums::weight() const noexcept {
  double sum = 0;
  for (const RowStatistics& one : of_class_) sum += one.weight();
  return sum;
}

RowStatistics ClassSums::of_process(int64_t k, double alpha, Context& context) const {
  const DirichletTarget own = dirichlet_target(alpha, true), other = dirichlet_target(alpha, false);
  RowStatistics all(features(), 1, context);
  for (const RowStatistics& one : of_class_)
    if (one.weight() > 0) all.merge(weighed(one, 1 / other.variance, other.value, context));
  const RowStatistics& of_own = of_class_[k];
  const double more = 1 / own.variance - 1 / other.variance;
  const double value = (own.value / own.variance - other.value / other.variance) / more;
  if (of_own.weight() > 0) all.merge(weighed(of_own, more, value, context));
  return all;
}

DirichletPosterior::DirichletPosterior(const ClassSums& sums, double alpha, double lambda,
                                       bool center, Context& context)
    : features_(sums.features()) {
  for (int64_t k = 0; k < sums.classes(); ++k) {
    RowStatistics rows = sums.of_process(k, alpha, context);
    const double weight = rows.weight();
    RidgeFactor factor(std::move(rows), center, lambda * sums.weight() / weight, context);
    Weights weights = factor.weights(context);
    Process process{Matrix<double>(features_, features_, context, "posteriors of classes"),
                    factor.means().row.features, std::move(weights.w), weights.intercept[0],
                    center ? 1 / weight : 0};
    for (int64_t i = 0; i < features_; ++i)
      std::copy_n(factor.factor().row(i), i + 1, process.factor.view().row(i));
    of_class_.push_back(std::move(process));
  }
}

void DirichletPosterior::moments(MatrixView<const double> Z, MatrixView<double> mean,
                                 MatrixView<double> variance) const {
  for (int64_t first = 0; first < Z.rows; first += kSolvedRows) {
    const int64_t rows = std::min(kSolvedRows, Z.rows - first);
    const Matrix<double> V(features_, rows);
    for (int64_t k = 0; k < classes(); ++k) {
      const Process& process = of_class_[k];
      for (int64_t i = 0; i < rows; ++i) {
        double f = process.intercept;
        const double* z = Z.row(first + i);
        for (int64_t j = 0; j < features_; ++j) {
          f += z[j] * process.w(j, 0);
          V(j, i) = z[j] - process.mean[j];
        }
        mean(first + i, k) = f;
        variance(first + i, k) = process.share;
      }
      linalg::triangular_solve(process.factor.view(), V.view());
      for (int64_t j = 0; j < features_; ++j)
        for (int64_t i = 0; i < rows; ++i) variance(first + i, k) += V(j, i) * V(j, i);
    }
  }
}

// For each class: L by rows, the features' means, coefficients, intercept and its variance.
std::vector<double> DirichletPosterior::numbers() const {
  std::vector<double> all;
  for (const Process& one : of_class_) {
    for (int64_t i = 0; i < features_; ++i)
      all.insert(all.end(), one.factor.view().row(i), one.factor.view().row(i) + i + 1);
    all.insert(all.end(), one.mean.begin(), one.mean.end());
    all.insert(all.end(), one.w.data(), one.w.data() + features_);
    all.insert(all.end(), {one.intercept, one.share});
  }
  return all;
}

DirichletPosterior::DirichletPosterior(std::span<const double> numbers, int64_t features,
                                       int64_t classes)
    : features_(features) {
  const double each = static_cast<double>(features) * (static_cast<double>(features) + 5) / 2 + 2;
  require(static_cast<double>(numbers.size()) == each * static_cast<double>(classes) &&
              std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }),
          MERCER_INVALID_ARGUMENT,
          "posteriors of classes have %zu numbers, expected %.0f finite ones", numbers.size(),
          each * static_cast<double>(classes));
  const double* from = numbers.data();
  const auto next = [&](int64_t count, double* to) {
    std::copy_n(from, count, to);
    from += count;
  };
  for (int64_t k = 0; k < classes; ++k) {
    Process one{Matrix<double>(features, features), std::vector<double>(features),
                Matrix<double>(features, 1)};
    for (int64_t i = 0; i < features; ++i) {
      next(i + 1, one.factor.view().row(i));
      require(one.factor(i, i) > 0, MERCER_INVALID_ARGUMENT,
              "posteriors of classes: a pivot of %g, expected one above 0", one.factor(i, i));
    }
    next(features, one.mean.data());
    next(features, one.w.data());
    next(1, &one.intercept);
    next(1, &one.share);
    of_class_.push_back(std::move(one));
  }
}

}  // namespace mercer::solver
