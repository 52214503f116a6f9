// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cholesky with complete pivoting (Higham, "Accuracy and Stability of Numerical Algorithms", 2002,
// section 10.3) instead of an eigendecomposition: any root serves, and this one takes additions,
// multiplications, divisions and square roots in a fixed order, so that coefficients learnt on one
// machine mean the same on another. What is left out is positive semi-definite, and its trace is
// known as it goes.
#include "kernel/output_root.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace mercer::kernel {
namespace {

constexpr double kSymmetry = 1e-12;
// Rounding in Gamma's entries makes remaining diagonal entries as negative as this.
constexpr double kRounding = 1e-10;

double largest_of(MatrixView<const double> gamma) {
  double largest = 0;
  for (int64_t i = 0; i < gamma.rows; ++i) {
    for (int64_t j = 0; j < gamma.cols; ++j) {
      require(std::isfinite(gamma(i, j)), MERCER_INVALID_ARGUMENT,
              "gamma[%ld, %ld] = %g, expected a finite number", i, j, gamma(i, j));
      largest = std::max(largest, std::fabs(gamma(i, j)));
    }
  }
  require(largest > 0, MERCER_INVALID_ARGUMENT, "gamma is 0, expected another matrix");
  for (int64_t i = 0; i < gamma.rows; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      require(std::fabs(gamma(i, j) - gamma(j, i)) <= kSymmetry * largest, MERCER_INVALID_ARGUMENT,
              "gamma[%ld, %ld] = %.17g and gamma[%ld, %ld] = %.17g, expected a symmetric matrix", i,
              j, gamma(i, j), j, i, gamma(j, i));
    }
  }
  return largest;
}

/// For a positive semi-definite matrix, pivots of rounding's size leave only rounding.
void check_rest(MatrixView<const double> rest, double largest) {
  for (int64_t i = 0; i < rest.rows; ++i) {
    require(rest(i, i) >= -kRounding * largest, MERCER_NOT_POSITIVE_DEFINITE,
            "gamma is not positive semi-definite: a diagonal entry of what pivots leave is %g",
            rest(i, i));
    for (int64_t j = 0; j < i; ++j) {
      require(std::fabs(rest(i, j)) <= kRounding * largest, MERCER_NOT_POSITIVE_DEFINITE,
              "gamma is not positive semi-definite: pivots leave %g between outputs %ld and %ld",
              rest(i, j), i, j);
    }
  }
}

/// The trace over its largest entry, so that it does not overflow.
double trace_of(MatrixView<const double> rest, double most) {
  double sum = 0;
  for (int64_t i = 0; i < rest.rows; ++i) sum += std::max(rest(i, i), 0.0) / most;
  return sum;
}

}  // namespace

int64_t outputs_of(std::span<const double> gamma) {
  auto p = static_cast<int64_t>(std::sqrt(static_cast<double>(gamma.size())));
  while (p * p < std::ssize(gamma)) ++p;
  require(p >= 1 && p * p == std::ssize(gamma), MERCER_INVALID_ARGUMENT,
          "gamma has %zu numbers, expected those of a square matrix, row by row", gamma.size());
  return p;
}

OutputRoot output_root(MatrixView<const double> gamma, double cutoff) {
  const double largest = largest_of(gamma);
  const int64_t p = gamma.rows;
  Matrix<double> rest(p, p);
  double most = 0;
  for (int64_t i = 0; i < p; ++i) {
    // Halves are summed, since a sum of entries may overflow.
    for (int64_t j = 0; j < p; ++j) rest(i, j) = 0.5 * gamma(i, j) + 0.5 * gamma(j, i);
    most = std::max(most, rest(i, i));
  }
  const double trace = trace_of(rest.view(), most);
  // Pivots below the cutoff are taken, too, for only then it shows whether Gamma is indefinite.
  std::vector<double> columns;  // those kept, one after the other
  std::vector<double> b(p);
  OutputRoot root;
  bool keeping = true;
  for (int64_t step = 0; step < p; ++step) {
    int64_t pivot = 0;
    for (int64_t i = 1; i < p; ++i)
      if (rest(i, i) > rest(pivot, pivot)) pivot = i;
    const double value = rest(pivot, pivot);
    if (!(value > kSymmetry * most)) break;
    keeping = step == 0 || (keeping && value > cutoff * most);
    for (int64_t i = 0; i < p; ++i) b[i] = rest(i, pivot) / std::sqrt(value);
    if (keeping) columns.insert(columns.end(), b.begin(), b.end());
    for (int64_t i = 0; i < p; ++i)
      for (int64_t j = 0; j < p; ++j) rest(i, j) -= b[i] * b[j];
    for (int64_t i = 0; i < p; ++i) rest(i, pivot) = rest(pivot, i) = 0;
    if (keeping) root.dropped = trace_of(rest.view(), most) / trace;
  }
  check_rest(rest.view(), largest);
  const int64_t rank = std::ssize(columns) / p;
  require(rank > 0, MERCER_INVALID_ARGUMENT,
          "gamma's largest entry is %g, too small for a root: expected larger numbers", largest);
  root.B = Matrix<double>(p, rank);
  for (int64_t i = 0; i < p; ++i)
    for (int64_t c = 0; c < rank; ++c) root.B(i, c) = columns[c * p + i];
  return root;
}

}  // namespace mercer::kernel
