// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Directions and Haar's orthogonal matrices.
#include <boost/math/special_functions/beta.hpp>

#include "base/aligned.h"
#include "projection/dense.h"
#include "samplers.h"
#include "support/catch.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace orthogonal_test {
using namespace mercer::random;
using mercer::projection::fill_haar_orthogonal;
using namespace mercer::test;
using namespace mercer;

TEST_CASE("direction: unit length, coordinates of the sphere's law, signs even") {
  constexpr size_t kDimensions[] = {2, 3, 10, 33};
  constexpr size_t kCount = 50000;
  constexpr double kComparisons = 4.0 * std::size(kDimensions);
  for (const size_t d : kDimensions) {
    INFO("d = " << d);
    Cursor cursor(test_stream(30));
    std::vector<double> first, last, product, signs, v(d);
    double worst = 0.0;
    for (size_t i = 0; i < kCount; ++i) {
      direction(cursor, v);
      double square = 0.0;
      for (const double x : v) square += x * x;
      worst = std::max(worst, std::abs(square - 1.0));
      first.push_back(v[0] * v[0]);
      last.push_back(v[d - 1] * v[d - 1]);
      product.push_back(v[0] * v[d - 1]);
      signs.push_back(v[0] < 0 ? -1.0 : 1.0);
    }
    // Each of d squares, d sums, the root and the quotient rounds once: 2 (d + 2) eps / 2, squared
    // again.
    CHECK(worst < 2.0 * static_cast<double>(d + 4) * 0x1p-52);
    const auto law = [d](double x) {
      return boost::math::ibeta(0.5, 0.5 * static_cast<double>(d - 1), x);
    };
    CHECK(ks_distance(first, law) < ks_threshold(kCount, kFailure, kComparisons));
    CHECK(ks_distance(last, law) < ks_threshold(kCount, kFailure, kComparisons));
    const double z = z_threshold(kFailure, kComparisons);
    CHECK(std::abs(studentised_z_score(product, 0.0)) < z);
    CHECK(std::abs(mean_z_score(signs, 0.0, 1.0)) < z);
  }
}

TEST_CASE("direction: d = 1 is a sign, d = 0 nothing; blocks are consumed by size") {
  Cursor cursor(test_stream(31));
  int plus = 0, minus = 0;
  for (int i = 0; i < 100; ++i) {
    double x = 0.0;
    direction(cursor, {&x, 1});
    plus += x == 1.0;
    minus += x == -1.0;
  }
  CHECK(plus + minus == 100);
  CHECK(plus > 0);
  CHECK(minus > 0);
  CHECK(cursor.position() == 100);
  direction(cursor, {});
  CHECK(cursor.position() == 100);
  std::vector<double> v(5);
  direction(cursor, v);
  CHECK(cursor.position() == 103);
}

Matrix<double> haar(const Stream& stream, int64_t d, int threads = 1) {
  Context context;
  context.threads = threads;
  Matrix<double> Q(d, d);
  fill_haar_orthogonal(stream, context, Q.view());
  return Q;
}

double worst_of_gram(const Matrix<double>& Q) {
  double worst = 0.0;
  for (int64_t i = 0; i < Q.rows(); ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double sum = i == j ? -1.0 : 0.0;
      for (int64_t k = 0; k < Q.cols(); ++k) sum += Q(i, k) * Q(j, k);
      if (!(std::abs(sum) <= worst)) worst = std::abs(sum);
    }
  }
  return worst;
}

/// The definition: H_0 ... H_{d-2} diag(signs) with the same normals, one reflection at a time.
Matrix<double> reflections_one_by_one(const Stream& stream, int64_t d) {
  Matrix<double> Q(d, d);
  Q.fill(0.0);
  for (int64_t k = d - 1; k >= 0; --k) {
    std::vector<double> v(d - k);
    fill_normal(stream, static_cast<uint64_t>(k * d + k), v);
    Q(k, k) = v[0] < 0 ? -1.0 : 1.0;
    if (k == d - 1) continue;
    Q(k, k) = -Q(k, k);
    double square = 0.0;
    for (const double x : v) square += x * x;
    v[0] += std::copysign(std::sqrt(square), v[0]);
    double length = 0.0;
    for (const double x : v) length += x * x;
    for (int64_t j = k; j < d; ++j) {
      double along = 0.0;
      for (int64_t i = k; i < d; ++i) along += v[i - k] * Q(i, j);
      for (int64_t i = k; i < d; ++i) Q(i, j) -= 2.0 * along / length * v[i - k];
    }
  }
  return Q;
}

double determinant(Matrix<double> A) {
  double product = 1.0;
  for (int64_t k = 0; k < A.rows(); ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < A.rows(); ++i) {
      if (std::abs(A(i, k)) > std::abs(A(pivot, k))) pivot = i;
    }
    if (pivot != k) product = -product;
    for (int64_t j = 0; j < A.cols(); ++j) std::swap(A(k, j), A(pivot, j));
    product *= A(k, k);
    for (int64_t i = k + 1; i < A.rows(); ++i) {
      const double factor = A(i, k) / A(k, k);
      for (int64_t j = k; j < A.cols(); ++j) A(i, j) -= factor * A(k, j);
    }
  }
  return product;
}

TEST_CASE("haar: Q'Q = I to 10 d eps") {
  // d reflections, each orthogonal to a few eps per column (Higham 2002, lemma 19.3): the worst
  // entry of Q'Q - I is below c d eps; rounding averages out, so that c = 10 is far above any
  // correct code and far below a wrong tau.
  for (const int64_t d : {1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 100, 255}) {
    INFO("d = " << d);
    CHECK(worst_of_gram(haar(test_stream(50), d)) < 10.0 * static_cast<double>(d) * 0x1p-52);
  }
}

TEST_CASE("haar: panels equal reflections one by one") {
  for (const int64_t d : {2, 7, 32, 70, 129}) {
    const Matrix<double> fast = haar(test_stream(51), d),
                         slow = reflections_one_by_one(test_stream(51), d);
    double worst = 0.0;
    for (int64_t i = 0; i < d * d; ++i) {
      const double error = std::abs(fast.data()[i] - slow.data()[i]);
      if (!(error <= worst)) worst = error;
    }
    INFO("d = " << d);
    CHECK(worst <
          10.0 * static_cast<double>(d) * 0x1p-52);  // two routes, each within the bound above
  }
}

TEST_CASE("haar: the same bytes for 1, 2 and 7 threads and any leading dimension") {
  constexpr int64_t d = 200, ld = 211;
  const Matrix<double> Q = haar(test_stream(52), d);
  for (const int threads : {2, 7}) {
    const Matrix<double> other = haar(test_stream(52), d, threads);
    CHECK(std::equal(Q.data(), Q.data() + d * d, other.data()));
  }
  std::vector<double> padded(d * ld, -7.0);
  Context context;
  fill_haar_orthogonal(test_stream(52), context, {padded.data(), d, d, ld});
  int wrong = 0;
  for (int64_t i = 0; i < d; ++i) {
    for (int64_t j = 0; j < ld; ++j) wrong += padded[i * ld + j] != (j < d ? Q(i, j) : -7.0);
  }
  CHECK(wrong == 0);
}

TEST_CASE("haar: entries, traces and products have Haar's moments") {
  // Squared entries are Beta(1/2, (d-1)/2). E tr Q = 0, E (tr Q)^2 = E tr Q^2 = 1 (Diaconis,
  // Shahshahani 1994), and E q11 q22 q12 q21 = -1 / (d (d-1) (d+2)). Without the signs of R's
  // diagonal, corner and trace are one-sided.
  constexpr double kComparisons = 2 * 7;
  for (const int64_t d : {3, 40}) {
    const int draws = d == 3 ? 20000 : 3000;
    std::vector<double> first, last, corner, trace, trace_square, square_trace, product;
    for (int draw = 0; draw < draws; ++draw) {
      const Matrix<double> Q = haar(test_stream(1000 + static_cast<uint64_t>(draw)), d);
      double sum = 0.0, squares = 0.0;
      for (int64_t i = 0; i < d; ++i) {
        sum += Q(i, i);
        for (int64_t j = 0; j < d; ++j) squares += Q(i, j) * Q(j, i);
      }
      first.push_back(Q(0, 0) * Q(0, 0));
      last.push_back(Q(d - 1, d - 1) * Q(d - 1, d - 1));
      corner.push_back(Q(0, 0));
      trace.push_back(sum);
      trace_square.push_back(sum * sum);
      square_trace.push_back(squares);
      product.push_back(Q(0, 0) * Q(1, 1) * Q(0, 1) * Q(1, 0));
    }
    INFO("d = " << d);
    const double size = static_cast<double>(d);
    const auto law = [size](double x) { return boost::math::ibeta(0.5, 0.5 * (size - 1), x); };
    CHECK(ks_distance(first, law) < ks_threshold(first.size(), kFailure, kComparisons));
    CHECK(ks_distance(last, law) < ks_threshold(last.size(), kFailure, kComparisons));
    const double z = z_threshold(kFailure, kComparisons);
    CHECK(std::abs(studentised_z_score(corner, 0)) < z);
    CHECK(std::abs(studentised_z_score(trace, 0)) < z);
    CHECK(std::abs(studentised_z_score(trace_square, 1)) < z);
    CHECK(std::abs(studentised_z_score(square_trace, 1)) < z);
    CHECK(std::abs(studentised_z_score(product, -1 / (size * (size - 1) * (size + 2)))) < z);
  }
}

TEST_CASE("haar: both determinants occur equally often, d = 1 included") {
  constexpr int kDraws = 2000;
  for (const int64_t d : {1, 2, 5}) {
    std::vector<double> signs;
    double worst = 0.0;
    for (uint64_t draw = 0; draw < kDraws; ++draw) {
      signs.push_back(determinant(haar(test_stream(50000 + draw), d)));
      worst = std::max(worst, std::abs(std::abs(signs.back()) - 1.0));
    }
    INFO("d = " << d);
    CHECK(worst < 100.0 * 0x1p-52);
    CHECK(std::abs(mean_z_score(signs, 0, 1)) < z_threshold(kFailure, 3));
  }
}

TEST_CASE("haar: not square, too little memory, cancelled") {
  Matrix<double> Q(300, 300);
  Context context;
  const auto fill = [&] { fill_haar_orthogonal(test_stream(53), context, Q.view()); };
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                fill_haar_orthogonal(test_stream(53), context, Q.view().block_rows(0, 299)),
                "299 x 300, expected a square matrix");
  context.memory_cap = 1000;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, fill(), "memory_cap = 1000 bytes", "orthogonal");
  context.memory_cap = 0;
  int64_t calls = 0;
  context.user = &calls;
  context.progress = [](void* user, int64_t done, int64_t total) -> int32_t {
    ++*static_cast<int64_t*>(user);
    return 2 * done > total ? 1 : 0;
  };
  CHECK_REFUSED(MERCER_CANCELLED, fill(), "cancelled");
  CHECK(calls > 1);
  Context other;
  CHECK_NOTHROW(
      fill_haar_orthogonal(test_stream(53), other, Q.view().block_rows(0, 0).block_cols(0, 0)));
}

}  // namespace orthogonal_test
