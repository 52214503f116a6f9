// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The posterior against tests/oracle/gp.json, to 1e-9 of the largest number compared, and its draws
// against its own moments.
#include "solver/posterior.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "linalg/blas.h"
#include "solver/block_statistics.h"
#include "solver/profiled_likelihood.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/matrix_source.h"
#include "support/reference.h"

namespace posterior_test {
using namespace mercer;
using solver::Posterior;
using solver::Weights;

std::vector<double> numbers(const test::Reference& list) {
  std::vector<double> all;
  for (std::size_t i = 0; i < list.size(); ++i) all.push_back(list[i].get<double>());
  return all;
}

/// F^{-1/2} [cos(X W) | sin(X W)], row k of W0 divided by ell_k.
Matrix<double> features_of(const test::Reference& X, const test::Reference& W0,
                           const std::vector<double>& ell) {
  const auto F = static_cast<int64_t>(W0[0].size());
  Matrix<double> Z(static_cast<int64_t>(X.size()), 2 * F);
  for (std::size_t i = 0; i < X.size(); ++i)
    for (int64_t j = 0; j < F; ++j) {
      double angle = 0;
      for (std::size_t k = 0; k < ell.size(); ++k)
        angle += X[i][k].get<double>() * W0[k][j].get<double>() / ell[k];
      const double scale = 1 / std::sqrt(static_cast<double>(F));
      Z(static_cast<int64_t>(i), j) = scale * std::cos(angle);
      Z(static_cast<int64_t>(i), F + j) = scale * std::sin(angle);
    }
  return Z;
}

/// A Gaussian process of two outputs, some targets unknown where there are gaps.
struct Process {
  Matrix<double> Z = test::random_matrix(30, 6, 5), Y = test::random_matrix(30, 2, 6);
  Context context;
  Posterior posterior;
  explicit Process(bool gaps) : posterior(of(gaps)) {}

 private:
  Posterior of(bool gaps) {
    for (int64_t i = 0; gaps && i < 30; i += 4) Y(i, 1) = std::nan("");
    const test::MatrixSource rows(Z.view(), Y.view(), 7, false);
    const solver::RidgeProblem problem;
    const Weights mean = gaps ? make_coupled_system(rows, problem, context)->solve(0.1, context)
                              : solver::ridge_dual(Z.view(), Y.view(), true, 0.1, context);
    return Posterior(rows, problem, 0.1, mean, 0, context);
  }
};

/// The reference's rows, of noise variances: weights of mean 1, where a row of weight 1 has the noise
/// `unit`, and n lambda is that over the amplitude's square.
struct Observed {
  const test::Reference& one;
  std::vector<double> y = numbers(one["y"]), weights;
  double unit = 0, amplitude = one.contains("amplitude") ? one["amplitude"].get<double>() : 1,
         lambda = 0, log_weights = 0;
  explicit Observed(const test::Reference& reference) : one(reference) {
    for (const double variance : numbers(one["noise_variance"])) weights.push_back(1 / variance);
    const auto n = static_cast<double>(y.size());
    unit = n / std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) log_weights += std::log(weight *= unit);
    lambda = unit / (amplitude * amplitude * n);
  }
  MatrixView<const double> Y() const { return {y.data(), static_cast<int64_t>(y.size()), 1}; }
};

struct Predicted {
  Matrix<double> mean, variance, joint;
  double noise;
};

Predicted predicted(const Observed& rows, MatrixView<const double> Z, MatrixView<const double> T) {
  Context context;
  const test::MatrixSource source(Z, rows.Y(), 4, false, rows.weights);
  solver::RowStatistics statistics(Z.cols, 1);
  statistics.add(Z, rows.Y(), context, rows.weights);
  const Weights mean = solver::ridge_cholesky(std::move(statistics), false, rows.lambda, context);
  const Posterior posterior(source, {.center = false}, rows.lambda, mean, rows.unit, context);
  Predicted result{test::product(T, mean.w.view()), Matrix<double>(T.rows, 1),
                   Matrix<double>(T.rows, T.rows), posterior.noise(0)};
  posterior.joint_covariance(T, context, result.joint.view());
  posterior.variance(T, context, result.variance.view());
  return result;
}

void check_moments(const Predicted& found, const test::Reference& expected) {
  const int64_t n = found.mean.rows();
  for (int64_t i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    CHECK(found.mean(i, 0) == Approx(expected["mean"][row].get<double>()).epsilon(1e-9));
    CHECK(found.variance(i, 0) ==
          Approx(expected["latent_variance"][row].get<double>()).epsilon(1e-9));
    for (int64_t j = 0; j < n; ++j)
      CHECK(
          found.joint(i, j) ==
          Approx(expected["latent_covariance"][row][j].get<double>()).epsilon(1e-8).margin(1e-12));
  }
}

/// Features whose inner products are the Gaussian kernel's values at all rows: a root of K.
Matrix<double> exact_features(const test::Reference& one) {
  std::vector<std::vector<double>> X;
  for (const char* part : {"X", "X_test"})
    for (const test::Reference& row : one[part]) X.push_back(numbers(row));
  const std::vector<double> ell = numbers(one["ell"]);
  const auto n = static_cast<int64_t>(X.size());
  Matrix<double> K(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double squares = 0;
      for (std::size_t k = 0; k < ell.size(); ++k)
        squares += std::pow((X[i][k] - X[j][k]) / ell[k], 2);
      K(i, j) = std::exp(-squares / 2);
    }
  REQUIRE(linalg::cholesky(K.view()) == 0);
  for (int64_t i = 0; i < n; ++i) std::fill_n(K.view().row(i) + i + 1, n - i - 1, 0.0);
  return K;
}

/// The log marginal likelihood, at lambda and noise times e^h.
double evidence(const Observed& rows, MatrixView<const double> Z, double by_lambda = 0,
                double by_noise = 0, solver::ProfiledLikelihood::Point* point = nullptr,
                Matrix<double>* by_Z = nullptr) {
  Context context;
  solver::ProfiledLikelihood f(rows.Y(), Z.cols, context, rows.weights,
                               {.center = false, .noise = rows.unit * std::exp(by_noise)});
  const Matrix<double> own = test::copy(Z);
  const auto at = f.at(own.view(), rows.lambda * std::exp(by_lambda));
  if (point != nullptr) *point = at;
  if (by_Z != nullptr) *by_Z = test::copy(MatrixView<const double>(at.by_Z));
  return rows.log_weights / 2 - f.freedom() * at.value;
}

TEST_CASE("posterior: mean, variance and joint covariance of the reference, features and exact") {
  for (const test::Reference& one : test::oracle("gp")["cases"]) {
    const Observed rows(one);
    const Matrix<double> Z = features_of(one["X"], one["W0"], numbers(one["ell"]));
    const Matrix<double> T = features_of(one["X_test"], one["W0"], numbers(one["ell"]));
    const Matrix<double> all = exact_features(one);
    const int64_t n = Z.rows(), m = T.rows();
    const Predicted found = predicted(rows, Z.view(), T.view());
    const Predicted exact =
        predicted(rows, all.view().block_rows(0, n), all.view().block_rows(n, n + m));
    check_moments(found, one["features"]);
    check_moments(exact, one["exact"]);
    CHECK(found.noise == Approx(rows.unit));
    double kl = 0, nll = 0;
    const double noise = one["kl"]["noise_added"].get<double>();
    const std::vector<double> y = numbers(one["mnll"]["y_test"]);
    for (int64_t i = 0; i < m; ++i) {
      const double own = found.variance(i, 0) + noise, ratio = (exact.variance(i, 0) + noise) / own;
      const double apart = found.mean(i, 0) - exact.mean(i, 0);
      const double error = y[i] - found.mean(i, 0);
      kl += (ratio - std::log(ratio) - 1 + apart * apart / own) / 2;
      nll += (std::log(2 * std::numbers::pi * own) + error * error / own) / 2;
    }
    CHECK(kl == Approx(one["kl"]["value"].get<double>()).epsilon(1e-8));
    CHECK(nll / static_cast<double>(m) == Approx(one["mnll"]["value"].get<double>()).epsilon(1e-8));
  }
}

TEST_CASE("posterior: evidence of the reference and its derivatives, features and exact") {
  for (const test::Reference& one : test::oracle("gp")["cases"]) {
    const Observed rows(one);
    const Matrix<double> Z = features_of(one["X"], one["W0"], numbers(one["ell"]));
    const Matrix<double> all = exact_features(one);
    CHECK(evidence(rows, all.view().block_rows(0, Z.rows())) ==
          Approx(one["exact"]["lml"].get<double>()).epsilon(1e-9));
    solver::ProfiledLikelihood::Point point{};
    Matrix<double> by_Z;
    const test::Reference& expected = one["features"];
    CHECK(evidence(rows, Z.view(), 0, 0, &point, &by_Z) ==
          Approx(expected["lml"].get<double>()).epsilon(1e-9));
    const auto n = static_cast<double>(Z.rows());
    // The noise given, lambda is 1 over the amplitude's square; at a given amplitude both rise.
    CHECK(2 * n * point.slope ==
          Approx(expected["grad_log_amplitude"].get<double>()).epsilon(1e-8));
    const double step = 1e-5;
    CHECK((evidence(rows, Z.view(), 2 * step, 2 * step) -
           evidence(rows, Z.view(), -2 * step, -2 * step)) /
              (2 * step) ==
          Approx(expected["grad_log_noise_std"].get<double>()).epsilon(1e-6));
    for (std::size_t k = 0; k < one["ell"].size(); ++k) {
      const auto moved = [&](double by) {
        std::vector<double> ell = numbers(one["ell"]);
        ell[k] *= std::exp(by);
        return features_of(one["X"], one["W0"], ell);
      };
      const Matrix<double> above = moved(step), below = moved(-step);
      double slope = 0;
      for (int64_t i = 0; i < Z.rows() * Z.cols(); ++i)
        slope -= n * by_Z.data()[i] * (above.data()[i] - below.data()[i]) / (2 * step);
      CHECK(slope == Approx(expected["grad_log_ell"][k].get<double>()).epsilon(1e-6));
    }
  }
}

TEST_CASE("posterior: complex features by real parts, as the reference has them") {
  const test::Reference& one = test::oracle("gp")["complex"][0];
  const auto features = [&](const test::Reference& Phi) {
    const test::Reference &re = Phi["re"], &im = Phi["im"];
    Matrix<double> Z(static_cast<int64_t>(re.size()), 2 * static_cast<int64_t>(re[0].size()));
    for (int64_t i = 0; i < Z.rows(); ++i)
      for (int64_t j = 0; j < Z.cols(); ++j)
        Z(i, j) = (j % 2 == 0 ? re : im)[i][j / 2].get<double>();
    return Z;
  };
  const Matrix<double> Z = features(one["Phi"]), T = features(one["Phi_test"]);
  const Observed rows(one);
  Context context;
  const test::MatrixSource source(Z.view(), rows.Y(), 3, false, rows.weights, nullptr, true);
  solver::RowStatistics sums(Z.cols(), 1);
  solver::add_blocks(source, sums, context);
  const Weights mean = ridge_cholesky(sums.clone(context), false, rows.lambda, context);
  const Posterior posterior(source, {.center = false}, rows.lambda, mean, rows.unit, context,
                            std::move(sums));
  Matrix<double> variance(T.rows(), 1);
  posterior.variance(T.view(), context, variance.view());
  const Matrix<double> found = test::product(T.view(), mean.w.view());
  for (int64_t i = 0; i < T.rows(); ++i) {
    CHECK(found(i, 0) == Approx(one["mean"][i].get<double>()).epsilon(1e-9));
    CHECK(variance(i, 0) == Approx(one["latent_variance"][i].get<double>()).epsilon(1e-9));
  }
}

TEST_CASE("posterior: one code path for variances, and numbers that are read back") {
  for (const bool gaps : {false, true}) {
    Process process(gaps);
    const auto Z = process.Z.view().block_rows(0, 5);
    const Posterior again(process.posterior.numbers(), 6, 2, process.context);
    Matrix<double> C(5, 4), V(5, 2), J(5, 20);
    process.posterior.covariance(Z, process.context, C.view());
    again.variance(Z, process.context, V.view());
    process.posterior.joint_covariance(Z, process.context, J.view());
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t k = 0; k < 2; ++k) {
        CHECK(V(i, k) == Approx(C(i, 3 * k)));
        CHECK(V(i, k) > 0);
        for (int64_t l = 0; l < 2; ++l)
          CHECK(J(i, (i * 2 + k) * 2 + l) == Approx(C(i, k * 2 + l)).margin(1e-12));
      }
    const double share = process.posterior.share_of_prior(Z, process.context);
    CHECK((share > 0 && share < 1));
  }
}

TEST_CASE("posterior: noise of outputs apart, of gaps, of weights, of a fit through its rows") {
  Context context;
  const Matrix<double> Z = test::random_matrix(60, 4, 11), Y = test::random_matrix(60, 2, 12);
  std::vector<double> weights;
  for (int64_t i = 0; i < 60; ++i) {
    weights.push_back(i % 2 == 0 ? 0.5 : 1.5);
    Y(i, 0) /= std::sqrt(weights.back());
    Y(i, 1) *= 1000 / std::sqrt(weights.back());
  }
  const auto noise = [&](const Matrix<double>& targets, double lambda) {
    const test::MatrixSource rows(Z.view(), targets.view(), 9, false, weights);
    const Weights mean = make_coupled_system(rows, {}, context)->solve(lambda, context);
    const Posterior posterior(rows, {}, lambda, mean, 0, context);
    return std::vector<double>{posterior.noise(0), posterior.noise(1)};
  };
  const std::vector<double> whole = noise(Y, 1e-3);
  // Uniform numbers of variance 1/3, whose estimate of 55 degrees is within four of its errors.
  CHECK(whole[0] == Approx(1 / 3.0).epsilon(4 * std::sqrt(0.8 / 55)));
  CHECK(whole[1] == Approx(1e6 / 3.0).epsilon(4 * std::sqrt(0.8 / 55)));
  const Matrix<double> gaps = test::copy(Y.view());
  for (int64_t i = 1; i < 20; i += 2) gaps(i, 1) = std::nan("");  // heavy rows
  const std::vector<double> some = noise(gaps, 1e-3);
  CHECK(some[0] == Approx(whole[0]).epsilon(0.02));
  CHECK(some[1] == Approx(1e6 / 3.0).epsilon(4 * std::sqrt(0.8 / 45)));
  // Two rows, through both of which a line passes: y'K^{-1}y n lambda of a prior of slopes.
  const Matrix<double> two(2, 1), ends(2, 1);
  two(0, 0) = ends(0, 0) = 0;
  two(1, 0) = ends(1, 0) = 1;
  for (const double lambda : {1e-6, 1e-9, 1e-12}) {
    const test::MatrixSource rows(two.view(), ends.view(), 2, false);
    const Weights mean = solver::ridge_dual(two.view(), ends.view(), true, lambda, context);
    CHECK(Posterior(rows, {}, lambda, mean, 0, context).noise(0) ==
          Approx(2 * lambda).epsilon(1e-3));
  }
}

TEST_CASE("posterior: numbers that are none are refused") {
  Process process(false);
  std::vector<double> numbers = process.posterior.numbers();
  numbers[numbers.size() / 2] = std::nan("");
  CHECK_THROWS_AS(Posterior(numbers, 6, 2, process.context), Error);
}

TEST_CASE("posterior: of few rows it has the numbers that they have, and comes back from either") {
  Context context;
  const Matrix<double> Z = test::random_matrix(20, 90, 31), Y = test::random_matrix(20, 2, 32);
  const test::MatrixSource rows(Z.view(), Y.view(), 7, false);
  const Weights mean = solver::ridge_dual(Z.view(), Y.view(), true, 1e-3, context);
  const Posterior posterior(rows, {}, 1e-3, mean, 0, context);
  const std::vector<double> few = posterior.numbers();
  const int64_t beside = 3 + 2 * 90 + 3 * 2;
  CHECK(std::ssize(few) == beside + 90 * 19);  // rows about their mean span 19 dimensions
  const Posterior again(few, 90, 2, context);
  CHECK(again.numbers() == few);
  // As it was written before: the factor of H + n lambda I by rows.
  std::vector<double> whole(few.begin(), few.begin() + beside);
  const MatrixView<const double> U(few.data() + beside, 90, 19);
  Matrix<double> A(90, 90);
  for (int64_t i = 0; i < 90; ++i)
    for (int64_t j = 0; j < 90; ++j) {
      A(i, j) = i == j ? 20 * 1e-3 : 0;
      for (int64_t k = 0; k < 19; ++k) A(i, j) += U(i, k) * U(j, k);
    }
  REQUIRE(linalg::cholesky(A.view()) == 0);
  for (int64_t i = 0; i < 90; ++i)
    whole.insert(whole.end(), A.view().row(i), A.view().row(i) + i + 1);
  const Posterior old(whole, 90, 2, context);
  CHECK(old.numbers() == whole);
  // K(x, y) - k'(K + n lambda I)^{-1} k of the rows' own kernel, about their means.
  const Matrix<double> X = test::random_matrix(5, 90, 33), C = test::copy(Z.view());
  const Matrix<double> P = test::copy(X.view());
  for (int64_t c = 0; c < 90; ++c) {
    double own = 0;
    for (int64_t i = 0; i < 20; ++i) own += Z(i, c) / 20;
    for (int64_t i = 0; i < 20; ++i) C(i, c) -= own;
    for (int64_t i = 0; i < 5; ++i) P(i, c) -= own;
  }
  const Matrix<double> K(20, 20), k(20, 5);
  linalg::multiply(1.0, linalg::Transpose::no, C.view(), linalg::Transpose::yes, C.view(), 0.0,
                   K.view());
  linalg::multiply(1.0, linalg::Transpose::no, C.view(), linalg::Transpose::yes, P.view(), 0.0,
                   k.view());
  for (int64_t i = 0; i < 20; ++i) K(i, i) += 20 * 1e-3;
  REQUIRE(linalg::cholesky(K.view()) == 0);
  linalg::triangular_solve(K.view(), k.view());
  for (const Posterior* const one : {&posterior, &again, &old}) {
    const Matrix<double> variance(5, 2);
    one->variance(X.view(), context, variance.view());
    for (int64_t i = 0; i < 5; ++i) {
      double left = 0;
      for (int64_t c = 0; c < 90; ++c) left += P(i, c) * P(i, c);
      for (int64_t j = 0; j < 20; ++j) left -= k(j, i) * k(j, i);
      const double wanted = one->noise(0) * (left / (20 * 1e-3) + 1.0 / 20);
      CHECK(variance(i, 0) == Approx(wanted).epsilon(1e-9));
    }
  }
}

TEST_CASE("posterior: draws are functions with its mean and covariance") {
  constexpr int64_t kDraws = 10000;
  for (const bool gaps : {false, true}) {
    Process process(gaps);
    const auto Z = process.Z.view().block_rows(0, 3);
    const Weights drawn = process.posterior.draw(7, kDraws, process.context);
    const Weights few = process.posterior.draw(7, 2, process.context);
    Matrix<double> f = test::product(Z, drawn.w.view());
    Matrix<double> J(3, 12);
    process.posterior.joint_covariance(Z, process.context, J.view());
    for (int64_t a = 0; a < 4; ++a) {
      CHECK(few.intercept[a] == Approx(drawn.intercept[a]).margin(1e-12));
      for (int64_t c = 0; c < 6; ++c) CHECK(few.w(c, a) == Approx(drawn.w(c, a)).margin(1e-12));
    }
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t a = 0; a < 2 * kDraws; ++a) f(i, a) += drawn.intercept[a];
    // 6 means and 36 covariances, each 5 of its errors: probability 2e-5 for both.
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t k = 0; k < 2; ++k) {
        double mean = 0;
        for (int64_t s = 0; s < kDraws; ++s) mean += f(i, 2 * s + k) / kDraws;
        const double own = J(i, (i * 2 + k) * 2 + k);
        CHECK(std::abs(mean) < 5 * std::sqrt(own / kDraws));
        for (int64_t j = 0; j < 3; ++j)
          for (int64_t l = 0; l < 2; ++l) {
            double product = 0;
            for (int64_t s = 0; s < kDraws; ++s)
              product += f(i, 2 * s + k) * f(j, 2 * s + l) / kDraws;
            const double expected = J(i, (j * 2 + k) * 2 + l), other = J(j, (j * 2 + l) * 2 + l);
            CHECK(std::abs(product - expected) <
                  5 * std::sqrt((own * other + expected * expected) / kDraws));
          }
      }
  }
}

}  // namespace posterior_test
