// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Landmarks: different rows for every choice, each choice what it says, and what it is for: rows
// that cluster.
#include "feature/landmarks.h"

#include "linalg/blas.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::feature;
using namespace mercer::test;

namespace {

// 380 rows close together, and 20 alone.
Matrix<double> clustered(uint64_t seed) {
  Matrix<double> X = random_matrix(400, 3, seed);
  for (int64_t i = 0; i < 400; ++i)
    for (int64_t k = 0; k < 3; ++k) X(i, k) *= i % 20 == 7 ? 6 : 0.3;
  return X;
}

// trace(K - K_xl K_ll^-1 K_lx) / trace(K): what the landmarks miss.
double missed(const kernel::Kernel& kernel, const Matrix<double>& X, const Matrix<double>& L) {
  Context context;
  Matrix<double> K(L.rows(), L.rows()), B(L.rows(), X.rows());
  kernel::gram(kernel, L.view(), L.view(), context, K.view());
  kernel::gram(kernel, L.view(), X.view(), context, B.view());
  for (int64_t l = 0; l < L.rows(); ++l) K(l, l) += 1e-12;
  REQUIRE(linalg::cholesky(K.view()) == 0);
  linalg::triangular_solve(K.view(), B.view());
  double explained = 0;
  for (int64_t i = 0; i < B.rows() * B.cols(); ++i) explained += B.data()[i] * B.data()[i];
  return 1 - explained / (kernel.variance() * static_cast<double>(X.rows()));
}

Matrix<double> chosen(const char* choice, const kernel::Kernel& kernel, const Matrix<double>& X,
                      int64_t D, uint64_t seed, int threads = 1) {
  Context context;
  context.threads = threads;
  return feature::copied_rows(
      kernel, X.view(), choose_landmarks(choice, kernel, X.view(), D, seed, context), context);
}

}  // namespace

TEST_CASE("landmarks: every choice takes different rows, of one seed the same for any threads",
          "[nystroem]") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.7);
  const Matrix<double> X = clustered(3);
  for (const char* const choice : {"uniform", "kmeans", "farthest", "leverage"}) {
    INFO(choice);
    const Matrix<double> L = chosen(choice, *kernel, X, 30, 5);
    std::set<int64_t> rows;
    for (int64_t l = 0; l < 30; ++l)
      for (int64_t i = 0; i < 400; ++i)
        if (std::equal(L.view().row(l), L.view().row(l) + 3, X.view().row(i))) rows.insert(i);
    CHECK(rows.size() == 30);
    const auto same = [&](const Matrix<double>& other) {
      return std::equal(L.data(), L.data() + 90, other.data());
    };
    CHECK(same(chosen(choice, *kernel, X, 30, 5, 7)));
    CHECK_FALSE(same(chosen(choice, *kernel, X, 30, 6)));
    // All of them, where there are no more.
    CHECK(chosen(choice, *kernel, X, 400, 5).rows() == 400);
  }
}

TEST_CASE("landmarks: rows that cluster are covered better than by uniform ones", "[nystroem]") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.7);
  double uniform = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Matrix<double> X = clustered(seed);
    uniform += missed(*kernel, X, chosen("uniform", *kernel, X, 30, seed)) / 8;
  }
  CHECK(uniform > 0.02);
  for (const char* const choice : {"kmeans", "farthest", "leverage"}) {
    double mean = 0;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const Matrix<double> X = clustered(seed);
      mean += missed(*kernel, X, chosen(choice, *kernel, X, 30, seed)) / 8;
    }
    INFO(choice << " misses " << mean << ", uniform " << uniform);
    CHECK(mean < 0.6 * uniform);
  }
}

TEST_CASE("landmarks: the farthest are a greedy cover", "[nystroem]") {
  const auto kernel = kernel::make_gaussian({2.0}, 1.0);
  const Matrix<double> X = random_matrix(120, 2, 9), L = chosen("farthest", *kernel, X, 15, 1);
  const auto distance = [&](const double* x, const double* y) {
    return 2 - 2 * kernel->value(2, x, y);
  };
  double cover = 0, apart = 4;
  for (int64_t i = 0; i < 120; ++i) {
    double nearest = 4;
    for (int64_t l = 0; l < 15; ++l)
      nearest = std::min(nearest, distance(X.view().row(i), L.view().row(l)));
    cover = std::max(cover, nearest);
  }
  for (int64_t l = 0; l < 15; ++l)
    for (int64_t m = 0; m < l; ++m)
      apart = std::min(apart, distance(L.view().row(l), L.view().row(m)));
  CHECK(apart >= cover);  // no row left is farther from all than two landmarks are
}

TEST_CASE("landmarks: equal rows, supplied rows, rows outside the domain", "[nystroem]") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  Matrix<double> X = random_matrix(40, 2, 1);
  for (int64_t i = 4; i < 40; ++i) std::copy_n(X.view().row(i % 4), 2, X.view().row(i));
  for (const char* const choice : {"kmeans", "farthest", "leverage"})
    CHECK(chosen(choice, *kernel, X, 10, 2).rows() == 10);
  const Matrix<double> all = chosen("supplied", *kernel, X, 40, 0);
  CHECK(std::equal(X.data(), X.data() + 80, all.data()));
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, chosen("supplied", *kernel, X, 10, 0), "features = 10",
                "40");
  const auto cubic = kernel::make_kernel({{"kernel", "polynomial"}, {"degree", int64_t{3}}});
  X.fill(0.5);
  X(17, 1) = 1e200;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, chosen("supplied", *cubic, X, 40, 0), "row 17",
                "polynomial", "overflow");
}
