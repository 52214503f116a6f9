// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The rule and its sums against differences written out.
#include "model/select/paired_choice.h"

#include "support/catch.h"
#include "support/dense.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

/// Losses about `level` whose differences are small: rows x 3.
Matrix<double> losses_near(double level, int64_t rows) {
  Matrix<double> losses = random_matrix(rows, 3, 51);
  for (int64_t i = 0; i < rows; ++i) {
    const double shared = level * (2 + losses(i, 0));
    for (int64_t k = 0; k < 3; ++k) losses(i, k) = shared + 1e-3 * level * losses(i, k);
  }
  return losses;
}

double weight_of(int64_t i) { return static_cast<double>(i % 4); }

PairedLosses sums_of(const Matrix<double>& losses, int64_t first, int64_t last) {
  PairedLosses sums(losses.cols());
  for (int64_t i = first; i < last; ++i) sums.add(losses.view().row(i), weight_of(i));
  return sums;
}

/// Errors of a difference by the sandwich, from the differences themselves.
double plain_error(const Matrix<double>& losses, int64_t a, int64_t b) {
  double n = 0, weight = 0, mean = 0, squares = 0;
  for (int64_t i = 0; i < losses.rows(); ++i) {
    n += weight_of(i) > 0;
    weight += weight_of(i);
    mean += weight_of(i) * (losses(i, a) - losses(i, b));
  }
  mean /= weight;
  for (int64_t i = 0; i < losses.rows(); ++i) {
    const double d = weight_of(i) * (losses(i, a) - losses(i, b) - mean);
    squares += d * d;
  }
  return std::sqrt(squares * n / (n - 1)) / weight;
}

}  // namespace

TEST_CASE("errors of differences come out of the sums, far from zero too", "[model]") {
  for (const double level : {1.0, 1e6}) {
    const Matrix<double> losses = losses_near(level, 200);
    const PairedLosses sums = sums_of(losses, 0, 200);
    for (int64_t a = 0; a < 3; ++a) {
      CHECK(sums.error_of_difference(a, a) <= 1e-9 * level);
      for (int64_t b = 0; b < a; ++b) {
        CHECK(sums.error_of_difference(a, b) == Approx(plain_error(losses, a, b)).epsilon(1e-6));
        CHECK(sums.error_of_difference(b, a) == sums.error_of_difference(a, b));
      }
    }
  }
}

TEST_CASE("of candidates that cannot be told from the best the simplest is taken", "[model]") {
  // Candidate 1 is the best; 0 is worse by one standard error and a little less, 2 by far.
  const int64_t n = 101;
  PairedLosses sums(3), apart(3);
  for (int64_t i = 0; i < n; ++i) {
    const double noise = i == 0 ? 0.0 : (i % 2 == 0 ? 1.0 : -1.0);  // its error: sqrt(1/n)
    const double error = std::sqrt(1.0 / static_cast<double>(n));
    const double near[] = {2 + noise + 0.99 * error, 2, 9},
                 far[] = {2 + noise + 1.01 * error, 2, 9};
    sums.add(near);
    apart.add(far);
  }
  CHECK(sums.error_of_difference(0, 1) == Approx(std::sqrt(1.0 / n)).epsilon(1e-12));
  CHECK(least_loss(sums) == 1);
  CHECK(paired_choice(sums, std::vector<double>{5, 6, 1}) == 0);
  CHECK(paired_choice(sums, std::vector<double>{7, 6, 1}) == 1);
  CHECK(paired_choice(apart, std::vector<double>{5, 6, 1}) == 1);
}

TEST_CASE("a loss that one row makes huge is not taken for near", "[model]") {
  // The error of the difference is that of the one row, and as large as the excess.
  PairedLosses sums(2);
  for (int i = 0; i < 200; ++i) {
    const double losses[] = {i == 5 ? 1e6 : 0.01, 0.01};
    sums.add(losses);
  }
  CHECK(sums.mean(0) - sums.mean(1) <= sums.error_of_difference(0, 1));
  CHECK(paired_choice(sums, std::vector<double>{1, 2}) == 1);
}

TEST_CASE("losses that are not finite never win", "[model]") {
  PairedLosses sums(3);
  const double losses[] = {INFINITY, NAN, 3};
  for (int i = 0; i < 4; ++i) sums.add(losses);
  CHECK(least_loss(sums) == 2);
  CHECK(paired_choice(sums, std::vector<double>{1, 2, 3}) == 2);
  PairedLosses none(2);
  for (int i = 0; i < 4; ++i) none.add(losses);
  CHECK(paired_choice(none, std::vector<double>{1, 2}) == 0);
}
