// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The profiled marginal likelihood against the n x n formula, its derivatives against finite
// differences, for more rows than features and fewer.
#include "solver/profiled_likelihood.h"

#include "linalg/blas.h"
#include "solver/dual_system.h"
#include "solver/primal_system.h"
#include "support/dense.h"
#include "support/refusal.h"
#include "support/worst.h"

namespace profiled_likelihood_test {
using namespace mercer;
using solver::ProfiledLikelihood;

using Weights = std::vector<double>;

double weight_of(const Weights& weights, int64_t i) { return weights.empty() ? 1.0 : weights[i]; }

/// Less the weighted mean row, times the roots of the weights, whose mean is 1.
Matrix<double> centred(MatrixView<const double> A, const Weights& weights) {
  Matrix<double> result = test::copy(A);
  for (int64_t j = 0; j < A.cols; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < A.rows; ++i) sum += weight_of(weights, i) * A(i, j);
    for (int64_t i = 0; i < A.rows; ++i) {
      result(i, j) -= sum / static_cast<double>(A.rows);
      result(i, j) *= std::sqrt(weight_of(weights, i));
    }
  }
  return result;
}

/// Of mean 1.
Weights some_weights(int64_t n) {
  Weights weights;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    weights.push_back(0.2 + static_cast<double>((7 * i) % 5));
    sum += weights.back();
  }
  for (double& weight : weights) weight *= static_cast<double>(n) / sum;
  return weights;
}

/// By K itself. It has the eigenvector of ones (of the roots of weights), with the eigenvalue s:
/// what centring takes away.
double plain_value(MatrixView<const double> Z, MatrixView<const double> Y, double lambda,
                   const Weights& weights) {
  const int64_t n = Z.rows;
  const double s = static_cast<double>(n) * lambda, freedom = static_cast<double>(n - 1);
  const Matrix<double> Zc = centred(Z, weights), Yc = centred(Y, weights);
  const Matrix<double> K = test::product(Zc.view(), test::transposed(Zc.view()).view());
  for (int64_t i = 0; i < n; ++i) K(i, i) += s;
  REQUIRE(linalg::cholesky(K.view()) == 0);
  const Matrix<double> alpha = test::copy(Yc.view());
  linalg::cholesky_solve(K.view(), alpha.view());
  double value = -std::log(s) / (2 * freedom);
  for (int64_t i = 0; i < n; ++i) value += std::log(K(i, i)) / freedom;
  for (int64_t o = 0; o < Y.cols; ++o) {
    double q = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) {
      q += Yc(i, o) * alpha(i, o);
      squares += Yc(i, o) * Yc(i, o) / static_cast<double>(n);
    }
    value += std::log(q / squares) / (2 * static_cast<double>(Y.cols));
  }
  return value;
}

double value_at(MatrixView<const double> Z, MatrixView<const double> Y, double lambda,
                const Weights& weights = {}) {
  Context context;
  ProfiledLikelihood likelihood(Y, Z.cols, context, weights);
  const Matrix<double> own = test::copy(Z);
  return likelihood.at(own.view(), lambda).value;
}

struct Shape {
  int64_t n, D, outputs;
};
constexpr Shape kShapes[] = {{30, 7, 1}, {30, 7, 3}, {9, 20, 2}, {2, 3, 1}};

TEST_CASE("profiled likelihood: the value of the n x n formula") {
  for (const Shape& shape : kShapes) {
    for (const double lambda : {1e-1, 1e-3, 1e-6}) {
      CAPTURE(shape.n, shape.D, lambda);
      const auto Z = test::random_matrix(shape.n, shape.D, 1);
      const auto Y = test::random_matrix(shape.n, shape.outputs, 2);
      // K's condition is 1e7 at most.
      for (const Weights& weights : {Weights(), some_weights(shape.n)}) {
        const double plain = plain_value(Z.view(), Y.view(), lambda, weights);
        CHECK(std::fabs(value_at(Z.view(), Y.view(), lambda, weights) - plain) <=
              1e-8 * std::max(1.0, std::fabs(plain)));
        if (weights.empty()) continue;
        Weights twice = weights;  // ratios alone count
        for (double& weight : twice) weight *= 2;
        CHECK(std::fabs(value_at(Z.view(), Y.view(), lambda, twice) - plain) <=
              1e-8 * std::max(1.0, std::fabs(plain)));
      }
    }
  }
}

TEST_CASE("evidence: paths of lambda differ by what the n x n formula does") {
  Context context;
  for (const Shape& shape : kShapes)
    for (const bool weighs : {false, true}) {
      const Weights weights = weighs ? some_weights(shape.n) : Weights();
      const auto Z = test::random_matrix(shape.n, shape.D, 1);
      const auto Y = test::random_matrix(shape.n, shape.outputs, 2);
      solver::RowStatistics statistics(shape.D, shape.outputs);
      statistics.add(Z.view(), Y.view(), context, weights);
      const solver::PrimalSystem path(std::move(statistics), true, context);
      solver::DualSystem dual(test::copy(Z.view()), test::copy(Y.view()), weights, true, context);
      dual.decompose(context);
      const auto mean = [&](const std::vector<double>& each) {
        return std::accumulate(each.begin(), each.end(), 0.0) / static_cast<double>(each.size());
      };
      for (const double lambda : {1e-1, 1e-3}) {
        const double noise = 0.2;
        ProfiledLikelihood known(Y.view(), shape.D, context, weights, {.noise = noise});
        const Matrix<double> own = test::copy(Z.view());
        const double value = known.at(own.view(), lambda).value;
        CHECK(mean(path.evidence(lambda, noise)) == Approx(value).epsilon(1e-8));
        CHECK(mean(dual.evidence(lambda, noise)) == Approx(value).epsilon(1e-8));
      }
      for (const double lambda : {1e-3, 1e-6}) {
        CAPTURE(shape.n, shape.D, lambda, weighs);
        const double plain = plain_value(Z.view(), Y.view(), lambda, weights) -
                             plain_value(Z.view(), Y.view(), 0.1, weights);
        CHECK(std::fabs(mean(path.evidence(lambda)) - mean(path.evidence(0.1)) - plain) <= 1e-7);
        CHECK(std::fabs(mean(dual.evidence(lambda)) - mean(dual.evidence(0.1)) - plain) <= 1e-7);
      }
    }
}

TEST_CASE("profiled likelihood: derivatives in features and log lambda") {
  constexpr double step = 1e-5;
  for (const bool weighs : {false, true})
    for (const Shape& shape : kShapes) {
      CAPTURE(shape.n, shape.D, weighs);
      const Weights weights = weighs ? some_weights(shape.n) : Weights();
      const double lambda = 1e-2;
      const auto Z = test::random_matrix(shape.n, shape.D, 1);
      const auto Y = test::random_matrix(shape.n, shape.outputs, 2);
      Context context;
      ProfiledLikelihood likelihood(Y.view(), shape.D, context, weights);
      const Matrix<double> own = test::copy(Z.view());
      const auto point = likelihood.at(own.view(), lambda);
      const double rise = value_at(Z.view(), Y.view(), lambda * std::exp(step), weights) -
                          value_at(Z.view(), Y.view(), lambda * std::exp(-step), weights);
      CHECK(std::fabs(point.slope - rise / (2 * step)) <= 1e-6);
      double worst = 0;
      for (int64_t k = 0; k < shape.n * shape.D; ++k) {
        const auto moved = [&](double by) {
          const Matrix<double> other = test::copy(Z.view());
          other.data()[k] += by;
          return value_at(other.view(), Y.view(), lambda, weights);
        };
        const double slope = (moved(step) - moved(-step)) / (2 * step);
        test::keep_worst(worst, std::fabs(point.by_Z.data[k] - slope));
      }
      CHECK(worst <= 1e-6);
    }
}

TEST_CASE("profiled likelihood: constant outputs are passed over, units of outputs do not matter") {
  const auto Z = test::random_matrix(20, 5, 1), y = test::random_matrix(20, 1, 2);
  Matrix<double> Y(20, 3);
  for (int64_t i = 0; i < 20; ++i) {
    Y(i, 0) = 1e9;
    Y(i, 1) = 1e6 + 1e3 * y(i, 0);
    Y(i, 2) = 0;
  }
  CHECK(std::fabs(value_at(Z.view(), Y.view(), 1e-3) - value_at(Z.view(), y.view(), 1e-3)) <= 1e-9);
  Context context;
  CHECK(ProfiledLikelihood(Y.view(), 5, context).outputs() == 1);
  Y.fill(3);
  CHECK(ProfiledLikelihood(Y.view(), 5, context).outputs() == 0);
}

TEST_CASE("profiled likelihood: features that are not finite have no value, memory is charged") {
  const auto Z = test::random_matrix(20, 5, 1), Y = test::random_matrix(20, 1, 2);
  Z(3, 2) = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(value_at(Z.view(), Y.view(), 1e-3)));
  Context tight;
  tight.memory_cap = 20 * 5 * 8;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, ProfiledLikelihood(Y.view(), 5, tight),
                "marginal likelihood");
}

// Features and their Gram matrix are one model: dL/dZ = 2 (dL/dK) Z, and dL/dK does not see what is
// added to all of K.
TEST_CASE("profiled likelihood: by the Gram matrix as by features") {
  Context context;
  for (const Shape& shape : kShapes)
    for (const Weights& weights : {Weights(), some_weights(shape.n)}) {
      CAPTURE(shape.n, shape.D, weights.empty());
      const auto Z = test::random_matrix(shape.n, shape.D, 21);
      const auto Y = test::random_matrix(shape.n, shape.outputs, 22);
      const Matrix<double> K = test::product(Z.view(), test::transposed(Z.view()).view());
      ProfiledLikelihood features(Y.view(), shape.D, context, weights);
      ProfiledLikelihood gram(Y.view(), 0, context, weights);
      const Matrix<double> own = test::copy(Z.view());
      const auto by_features = features.at(own.view(), 1e-3);
      const auto by_gram = gram.at_gram(K.view(), 1e-3);
      CHECK(std::fabs(by_gram.value - by_features.value) < 1e-9);
      CHECK(std::fabs(by_gram.slope - by_features.slope) < 1e-8);
      const Matrix<double> by_K = test::copy(MatrixView<const double>(by_gram.by_Z));
      test::mirror_lower(by_K.view());
      const Matrix<double> pulled = test::product(by_K.view(), Z.view());
      double sum = 0;
      for (int64_t i = 0; i < shape.n; ++i) {
        for (int64_t j = 0; j < shape.n; ++j) sum += by_K(i, j);
        for (int64_t j = 0; j < shape.D; ++j)
          CHECK(std::fabs(2 * pulled(i, j) - by_features.by_Z(i, j)) < 1e-7);
      }
      CHECK(std::fabs(sum) < 1e-7);
    }
}

}  // namespace profiled_likelihood_test
