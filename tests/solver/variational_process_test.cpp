// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variational posteriors of binary classes against quadrature, and steps that never fall.
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "solver/latent_processes.h"
#include "solver/loss_fit.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/matrix_source.h"

namespace variational_process_test {
using namespace mercer;
using solver::LatentProcess;
using solver::LogisticNormal;
using solver::VariationalProcess;

double softplus(double f) { return std::max(f, 0.0) + std::log1p(std::exp(-std::abs(f))); }

/// The integral of body over mean +- 12 deviations, times the normal density.
template <class Body>
double expected(double mean, double variance, const Body& body) {
  constexpr int kSteps = 40000;
  const double deviation = std::sqrt(variance), h = 24.0 / kSteps;
  double sum = 0;
  for (int k = 0; k <= kSteps; ++k) {
    const double x = -12 + k * h;
    sum += h * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi) * body(mean + deviation * x);
  }
  return sum;
}

struct Classes {
  Matrix<double> Z, Y;
  std::vector<double> weights;
  Context context;
  /// y = 1 with probability sigma(slope z_0 - .3).
  Classes(int64_t n, int64_t D, double slope, uint64_t seed)
      : Z(test::random_matrix(n, D, seed)), Y(n, 2) {
    const Matrix<double> u = test::random_matrix(n, 1, seed + 1);
    for (int64_t i = 0; i < n; ++i) {
      Y(i, 1) = (u(i, 0) + 1) / 2 < 1 / (1 + std::exp(0.3 - slope * Z(i, 0))) ? 1 : 0;
      Y(i, 0) = 1 - Y(i, 1);
    }
  }
  test::MatrixSource source() const { return {Z.view(), Y.view(), 17, false, weights}; }
  double log_likelihood(double w, double b) const {
    double sum = 0;
    for (int64_t i = 0; i < Z.rows(); ++i) {
      const double f = w * Z(i, 0) + b;
      sum += Y(i, 1) * f - softplus(f);
    }
    return sum;
  }
};

VariationalProcess ascended(const solver::BlockSource& rows, bool center, double precision,
                            Context& context, double tolerance = 1e-12,
                            std::vector<int64_t> watched = {}) {
  VariationalProcess process(rows, 1, center, std::move(watched));
  process.ascend(precision, tolerance, context);
  return process;
}

TEST_CASE("svgp: expectations of the logistic function are those of quadrature") {
  for (const double mean : {-30.0, -2.0, 0.0, 0.7, 9.0})
    for (const double variance : {1e-8, 0.3, 4.0, 150.0}) {
      CAPTURE(mean, variance);
      const LogisticNormal e = solver::logistic_normal(mean, variance);
      const auto sigma = [](double f) { return 1 / (1 + std::exp(-f)); };
      CHECK(std::abs(e.softplus - expected(mean, variance, softplus)) < 1e-5);
      CHECK(std::abs(e.mean - expected(mean, variance, sigma)) < 1e-7);
      CHECK(std::abs(e.slope - expected(mean, variance,
                                        [&](double f) { return sigma(f) * sigma(-f); })) < 1e-7);
      const double h = 1e-4 * (1 + variance);
      const double by_variance = (solver::logistic_normal(mean, variance + h).softplus -
                                  solver::logistic_normal(mean, variance).softplus) /
                                 h;
      CHECK(by_variance == Approx(e.slope / 2).epsilon(1e-3).margin(1e-9));
    }
}

TEST_CASE("svgp: the posterior of one weight has the largest ELBO, below the evidence") {
  Classes rows(40, 1, 3, 5);
  const double precision = 0.4;
  const auto source = rows.source();
  const VariationalProcess found = ascended(source, false, precision, rows.context);
  const double m = found.process().w(0, 0), v = std::pow(found.process().factor(0, 0), -2);
  const auto elbo = [&](double mean, double variance) {
    double sum = (1 + std::log(precision * variance) - precision * (mean * mean + variance)) / 2;
    for (int64_t i = 0; i < 40; ++i) {
      const double z = rows.Z(i, 0);
      sum += rows.Y(i, 1) * z * mean - expected(z * mean, z * z * variance, softplus);
    }
    return sum;
  };
  const double largest = elbo(m, v);
  CHECK(found.elbo() == Approx(largest).margin(40 * 1e-5));
  // The ELBO is even about its largest value: steps of 5 % move it alike on both sides.
  for (const auto& [mean, variance] : {std::pair{0.05 * m, 1.0}, std::pair{0.0, 1.05}}) {
    const double up = elbo(m + mean, v * variance), down = elbo(m - mean, v / variance);
    CHECK(up < largest);
    CHECK(down < largest);
    CHECK(std::abs(up - down) < 0.15 * (2 * largest - up - down));
  }
  const double most = rows.log_likelihood(m, 0);
  const double evidence = most + std::log(expected(0, 1 / precision, [&](double w) {
                            return std::exp(rows.log_likelihood(w, 0) - most);
                          }));
  CHECK(found.elbo() < evidence + 40 * 1e-5);
  CHECK(found.elbo() > evidence - 0.05);
}

TEST_CASE("svgp: with an intercept the ELBO stays below the evidence of a flat prior") {
  Classes rows(30, 1, 2, 8);
  const double precision = 0.3, most = rows.log_likelihood(0, 0);
  const auto source = rows.source();
  const VariationalProcess found = ascended(source, true, precision, rows.context);
  double integral = 0;
  constexpr double kStep = 0.05;
  for (double b = -15; b <= 15; b += kStep)
    for (double w = -15; w <= 15; w += kStep)
      integral += kStep * kStep * std::sqrt(precision / (2 * std::numbers::pi)) *
                  std::exp(rows.log_likelihood(w, b) - most - precision * w * w / 2);
  const double evidence = most + std::log(integral);
  CHECK(found.elbo() < evidence + 30 * 1e-5);
  CHECK(found.elbo() > evidence - 0.1);
}

TEST_CASE("svgp: no step lowers the ELBO, of classes that part and of priors that are wide") {
  for (const double slope : {2.0, 1000.0})
    for (const double precision : {10.0, 0.1, 1e-3, 1e-5}) {
      CAPTURE(slope, precision);
      Classes rows(150, 12, slope, 21);
      const auto source = rows.source();
      const VariationalProcess found = ascended(source, true, precision, rows.context, 1e-8);
      // Of a tolerance that every gain is below, ascend makes one step.
      VariationalProcess by_steps(source, 1, true);
      by_steps.ascend(precision, HUGE_VAL, rows.context);
      for (int step = 0; step < 100; ++step) {
        const double before = by_steps.elbo();
        by_steps.ascend(precision, HUGE_VAL, rows.context);
        CHECK(by_steps.elbo() >= before - 1e-11 * std::abs(before));
      }
      // A start elsewhere ends at the same place: the ELBO has one maximum.
      VariationalProcess from_wide(source, 1, true);
      from_wide.ascend(precision * 30, 1e-8, rows.context);
      from_wide.ascend(precision, 1e-8, rows.context);
      CHECK(from_wide.elbo() ==
            Approx(found.elbo()).margin(150 * (precision < 1e-4 ? 1e-3 : 1e-6)));
    }
}

TEST_CASE("svgp: a process of the rows' span is that of the features, there and beside it") {
  Classes rows(15, 40, 3, 61);
  const Matrix<double> fresh = test::random_matrix(9, 40, 5);
  for (const bool center : {false, true})
    for (const double precision : {3.0, 0.01}) {
      CAPTURE(center, precision);
      const auto source = rows.source();
      const solver::RowSpace space(source, rows.context);
      REQUIRE(space.reduces());
      const VariationalProcess whole = ascended(source, center, precision, rows.context),
                               part = ascended(space.rows(), center, precision, rows.context);
      CHECK(part.elbo() == Approx(whole.elbo()).margin(1e-7));
      const LatentProcess lifted =
          solver::lifted(part.process(), space.basis(rows.context).view(), rows.context);
      const Matrix<double>* const both[] = {&rows.Z, &fresh};
      for (const auto* Z : both) {
        const int64_t n = Z->rows();
        Matrix<double> f(n, 1), v(n, 1), f_whole(n, 1), v_whole(n, 1);
        lifted.moments(Z->view(), f.view(), v.view());
        whole.process().moments(Z->view(), f_whole.view(), v_whole.view());
        for (int64_t i = 0; i < n; ++i) {
          CHECK(f(i, 0) == Approx(f_whole(i, 0)).margin(1e-4));
          CHECK(v(i, 0) == Approx(v_whole(i, 0)).epsilon(1e-4));
        }
      }
    }
}

TEST_CASE("svgp: a row of weight 2 is two rows") {
  Classes once(60, 4, 3, 31), twice(90, 4, 3, 31);
  for (int64_t i = 0; i < 60; ++i) once.weights.push_back(i < 30 ? 2 : 1);
  for (int64_t i = 0; i < 90; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      twice.Z(i, j) = once.Z(i % 60, j);
      if (j < 2) twice.Y(i, j) = once.Y(i % 60, j);
    }
  const auto a = once.source(), b = twice.source();
  const VariationalProcess one = ascended(a, true, 2, once.context),
                           two = ascended(b, true, 2, once.context);
  CHECK(one.elbo() == Approx(two.elbo()).epsilon(1e-9));
  for (int64_t j = 0; j < 4; ++j)
    CHECK(one.process().w(j, 0) == Approx(two.process().w(j, 0)).epsilon(1e-4));
}

TEST_CASE("svgp: steps on batches end near those on all rows") {
  Classes rows(4000, 10, 3, 41);
  const auto source = rows.source();
  const VariationalProcess whole = ascended(source, true, 4, rows.context, 1e-8);
  VariationalProcess parts(source, 1, true);
  parts.follow(4, {400, 3, 7}, rows.context);
  CHECK(parts.elbo() <= whole.elbo() + 1e-3);
  CHECK(parts.elbo() > whole.elbo() - 1);  // nats, of 4,000 rows
  VariationalProcess again(source, 1, true);
  again.follow(4, {400, 3, 7}, rows.context);
  CHECK(again.elbo() == parts.elbo());
}

TEST_CASE("svgp: a row left out is predicted as by the fit without it") {
  Classes rows(60, 3, 4, 51);
  const auto source = rows.source();
  std::vector<int64_t> every(60);
  std::iota(every.begin(), every.end(), 0);
  const VariationalProcess all = ascended(source, true, 0.5, rows.context, 1e-12, every);
  std::vector<double> mean, variance;
  all.left_out(source, rows.context,
               [&](int64_t, double m, double v) { mean.push_back(m), variance.push_back(v); });
  double apart = 0, moved = 0, wider = 0;
  for (int64_t i = 0; i < 60; i += 7) {
    std::vector<int64_t> others;
    for (int64_t k = 0; k < 60; ++k)
      if (k != i) others.push_back(k);
    const auto some = source.subset(others);
    const VariationalProcess without = ascended(*some, true, 0.5, rows.context);
    Matrix<double> f(1, 1), v(1, 1), f_all(1, 1), v_all(1, 1);
    const auto z = MatrixView<const double>(rows.Z.view()).block_rows(i, i + 1);
    without.process().moments(z, f.view(), v.view());
    all.process().moments(z, f_all.view(), v_all.view());
    apart += std::abs(mean[i] - f(0, 0));
    moved += std::abs(f_all(0, 0) - f(0, 0));
    wider += v(0, 0) - v_all(0, 0);
    CHECK(std::abs(variance[i] - v(0, 0)) < 0.3 * v(0, 0));
  }
  CHECK(apart < 0.3 * moved);
  CHECK(wider > 0);
}

/// The largest ELBO with one number of Z changed, or another precision.
double largest(Classes& rows, double precision, int64_t at, double by) {
  rows.Z.data()[at] += by;
  const auto source = rows.source();
  const double elbo = ascended(source, true, precision, rows.context, 1e-13).elbo();
  rows.Z.data()[at] -= by;
  return elbo;
}

// At q of the largest ELBO its derivative by anything else is that with q held fixed.
TEST_CASE("svgp: derivatives of the ELBO by features and precision are those of differences") {
  Classes rows(60, 5, 3, 71);
  for (int64_t i = 0; i < 60; ++i) rows.weights.push_back(i % 3 == 0 ? 2 : 0.5);
  constexpr double kPrecision = 0.7, kStep = 1e-3;
  const auto source = rows.source();
  const VariationalProcess found = ascended(source, true, kPrecision, rows.context, 1e-13);
  const double by_log = (largest(rows, kPrecision * std::exp(kStep), 0, 0) -
                         largest(rows, kPrecision * std::exp(-kStep), 0, 0)) /
                        (2 * kStep);
  CHECK(found.slope(kPrecision, rows.context) == Approx(by_log).epsilon(1e-3).margin(1e-4));
  Matrix<double> G(60, 5);
  G.fill(1);
  found.pull_back(rows.context, G.view());
  for (const int64_t at : {0, 7, 123, 201, 299}) {
    const double slope =
        (largest(rows, kPrecision, at, kStep) - largest(rows, kPrecision, at, -kStep)) /
        (2 * kStep);
    CAPTURE(at);
    CHECK(G.data()[at] - 1 == Approx(slope).epsilon(1e-3).margin(2e-4));
  }
}

TEST_CASE("svgp: sites of rows give their q back, and begin one of other features") {
  Classes rows(80, 6, 3, 81);
  std::vector<int64_t> every(80);
  std::iota(every.begin(), every.end(), 0);
  const auto source = rows.source();
  const VariationalProcess found = ascended(source, true, 0.5, rows.context, 1e-12, every);
  VariationalProcess again(source, 1, true, every);
  again.begin(found.sites(), rows.context);
  again.ascend(0.5, HUGE_VAL, rows.context);
  CHECK(again.elbo() == Approx(found.elbo()).margin(1e-8));
  for (int64_t i = 0; i < 480; ++i) rows.Z.data()[i] *= 1.5;
  const auto other = rows.source();
  VariationalProcess moved(other, 1, true, every);
  moved.begin(found.sites(), rows.context);
  moved.ascend(0.5, 1e-12, rows.context);
  CHECK(moved.elbo() == Approx(ascended(other, true, 0.5, rows.context).elbo()).margin(1e-7));
}

}  // namespace variational_process_test
