// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The independence criterion against its formula in kernel matrices, and its levels.
#include "statistic/independence.h"

#include "random/distributions.h"
#include "support/dense.h"
#include "support/made_map.h"
#include "support/statistic.h"

namespace independence_test {
using namespace mercer;
using namespace mercer::statistic;

std::unique_ptr<feature::FeatureMap> gaussian_map(int64_t d, int64_t D, uint64_t seed) {
  return test::made_map("fourier", {{"kernel", "gaussian"}}, d, D, seed);
}

Matrix<double> gram(const feature::FeatureMap& map, const Matrix<double>& X) {
  Context context;
  const Matrix<double> Z(X.rows(), map.features());
  map.apply(Rows(X.view()), {0, map.features()}, context, Z.view());
  return test::product(Z.view(), test::transposed(Z.view()).view());
}

/// Song et al. 2012, equation 5, term by term over pairs, triples and quadruples of rows.
double by_formula(Matrix<double> K, Matrix<double> L) {
  const int64_t n = K.rows();
  for (int64_t i = 0; i < n; ++i) K(i, i) = L(i, i) = 0;
  double trace = 0, k = 0, l = 0, path = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      trace += K(i, j) * L(j, i);
      k += K(i, j);
      l += L(i, j);
      for (int64_t m = 0; m < n; ++m) path += K(i, j) * L(j, m);
    }
  const auto r = static_cast<double>(n);
  return (trace + k * l / ((r - 1) * (r - 2)) - 2 * path / (r - 2)) / (r * (r - 3));
}

Independence of(const Matrix<double>& X, const Matrix<double>& Y, int64_t permutations,
                uint64_t seed, int64_t D = 24) {
  Context context;
  const auto x = gaussian_map(X.cols(), D, 1), y = gaussian_map(Y.cols(), D + 8, 2);
  const Rows left = X.view(), right = Y.view();
  return independence({*x, left}, {*y, right}, permutations, seed, context);
}

TEST_CASE("hsic is that of the features' kernel matrices, of the rows and of permuted ones") {
  const Matrix<double> X = test::random_matrix(25, 2, 1), Y = test::random_matrix(25, 3, 2);
  const auto x = gaussian_map(2, 24, 1), y = gaussian_map(3, 32, 2);
  const Independence found = of(X, Y, 3, 9);
  CHECK(found.hsic == Approx(by_formula(gram(*x, X), gram(*y, Y))));
  std::vector<int64_t> order(25);
  for (int64_t b = 1; b <= 3; ++b) {
    random::Cursor cursor(random::Stream(9, random::Tag::permutation, static_cast<uint64_t>(b)));
    random::permutation(cursor, order);
    const auto permuted = test::filled(25, 3, [&](int64_t i, int64_t j) { return Y(order[i], j); });
    CHECK(found.permuted.values[b] == Approx(by_formula(gram(*x, X), gram(*y, permuted))));
  }
  CHECK(found.permuted.values[0] == found.hsic);
  // More rows than fit a block, with and without the rows kept.
  const Matrix<double> U = test::random_matrix(1500, 2, 3), V = test::random_matrix(1500, 3, 4);
  CHECK(of(U, V, 0, 1).hsic == of(U, V, 1, 1).hsic);
  // Of three rows the biased one, which is not negative.
  CHECK(of(test::random_matrix(3, 2, 1), test::random_matrix(3, 3, 2), 5, 1).hsic > 0);
}

TEST_CASE("hsic: both p-values keep their level, agree, and see what covariances do not") {
  constexpr int kTrials = 400;
  int by_permutation = 0, by_limit = 0;
  double bias = 0, squares = 0;
  for (uint64_t t = 0; t < kTrials; ++t) {
    const Independence found = of(test::random_matrix(150, 2, 2 * t + 10),
                                  test::random_matrix(150, 1, 2 * t + 11), 39, t, 16);
    by_permutation += p_value(found.permuted) <= 0.1 ? 1 : 0;
    by_limit += found.p_limit <= 0.1 ? 1 : 0;
    bias += found.hsic / kTrials;
    squares += found.hsic * found.hsic / kTrials;
  }
  const double deviation = std::sqrt(kTrials * 0.09);
  CHECK(std::abs(by_permutation - 0.1 * kTrials) < test::z_threshold() * deviation);
  CHECK(std::abs(by_limit - 0.1 * kTrials) < test::z_threshold() * deviation + 0.02 * kTrials);
  CHECK(std::abs(bias) < test::z_threshold() * std::sqrt(squares / kTrials));
  Matrix<double> X = test::random_matrix(150, 2, 1), Y(150, 1);
  for (int64_t i = 0; i < 150; ++i) Y(i, 0) = X(i, 1) * X(i, 1);
  const Independence seen = of(X, Y, 99, 1);
  CHECK((p_value(seen.permuted) == 0.01 && seen.p_limit < 1e-4));
  CHECK((seen.effect > 0.05 && seen.effect < 1));
  CHECK(of(X, X, 0, 1).effect > 0.5);
}

TEST_CASE("hsic of a constant side says that nothing depends on it") {
  const Matrix<double> X = test::random_matrix(40, 2, 1);
  Matrix<double> Y(40, 1);
  Y.fill(3);
  const Independence found = of(X, Y, 19, 1);
  CHECK(std::abs(found.hsic) < 1e-12);
  CHECK((found.effect == 0 && found.p_limit == 1 && p_value(found.permuted) == 1));
  for (const int64_t n : {1, 2}) {
    const Independence few = of(test::random_matrix(n, 2, 1), test::random_matrix(n, 1, 2), 19, 1);
    CHECK((std::isfinite(few.hsic) && p_value(few.permuted) > 0.4));
  }
}

}  // namespace independence_test
