// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The polynomial kernel of the sphere: waves against Bessel functions, the fit against the
// conditions of its optimum, draws against its characteristic function, rows that are refused.
#include "kernel/sphere_polynomial.h"

#include "base/context.h"
#include "kernel/kernel.h"
#include "random/sampler_table.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/statistic.h"

namespace sphere_polynomial_test {
using namespace mercer;
using namespace mercer::test;

std::unique_ptr<kernel::Kernel> made(int64_t degree, double a, bool unit_rows = false) {
  return kernel::make_kernel({{"kernel", "sphere_polynomial"},
                              {"degree", degree},
                              {"a", a},
                              {"unit_rows", unit_rows},
                              {"variance", 1.5}});
}

/// Two rows of norm 1 at the distance t.
Matrix<double> at_distance(double t, int64_t d) {
  Matrix<double> X(2, d);
  X.fill(0);
  X(0, 0) = 1;
  X(1, 0) = 1 - t * t / 2;
  X(1, d - 1) = std::sqrt(std::max(0.0, 1 - X(1, 0) * X(1, 0)));
  return X;
}

double at(const kernel::Kernel& kernel, const Matrix<double>& X, double multiple = 1) {
  const MatrixView<double> rows = X.view();
  return multiple == 1 ? kernel.value(X.cols(), rows.row(0), rows.row(1))
                       : kernel.value_at_multiple(multiple, X.cols(), rows.row(0), rows.row(1));
}

TEST_CASE("sphere_polynomial: waves are Bessel functions") {
  for (const int64_t m : {2, 16, 64, 128}) {
    const kernel::RadialWave wave(m, 12);
    double worst = 0;
    for (double u = 0.05; u <= 12; u += 0.05) {
      const double half = 0.5 * static_cast<double>(m), r = u * std::sqrt(2 * half);
      const double bessel = std::exp(std::lgamma(half) + (half - 1) * std::log(2 / r)) *
                            std::cyl_bessel_j(half - 1, r);
      worst = std::max(worst, std::fabs(wave(u) - bessel));
    }
    INFO("m = " << m);
    CHECK(wave(0) == Approx(1).epsilon(1e-14));
    CHECK(worst <= 1e-10);  // the standard library's Bessel functions are no better
  }
  CHECK(kernel::RadialWave(kernel::kNormalWaves, 12)(1.5) ==
        Approx(std::exp(-1.125)).epsilon(1e-14));
}

// The error is convex in the distribution of the norm: it is least where no norm, mixed in, would
// lower it: int (k^ - k)(Lambda(s t) - k^(t)) dt >= 0 for every s. Midpoints, and norms between
// those of the fit's own grid.
TEST_CASE("sphere_polynomial: no distribution of norms is closer") {
  for (const int64_t m : {int64_t{16}, int64_t{64}, kernel::kNormalWaves}) {
    for (const int64_t degree : {1, 3, 10, 20}) {
      const double a = 3, most = 3 * std::sqrt(2.0 * static_cast<double>(degree)) / a;
      const kernel::RadialFit fit = kernel::fit_sphere_polynomial(degree, a, m);
      const kernel::WaveMixture& mixture = fit.mixture;
      const kernel::RadialWave wave(m, 2 * most);
      constexpr int kPoints = 1000;
      std::vector<double> error(kPoints), own(kPoints, 0.0);
      double squares = 0;
      for (int j = 0; j < kPoints; ++j) {
        const double t = 2 * (j + 0.5) / kPoints;
        for (size_t i = 0; i < mixture.scales.size(); ++i)
          own[j] += mixture.weights[i] * wave(mixture.scales[i] * t);
        error[j] = own[j] - std::pow(1 - t * t / (a * a), static_cast<double>(degree));
        squares += error[j] * error[j] / kPoints;
      }
      INFO("m = " << m << ", degree " << degree);
      CHECK(std::sqrt(squares) == Approx(fit.rms_error).epsilon(1e-3));
      for (double s = 0; s <= most; s += most / 301) {
        double slope = 0;
        for (int j = 0; j < kPoints; ++j)
          slope += error[j] * (wave(s * 2 * (j + 0.5) / kPoints) - own[j]) / kPoints;
        // The square is at most that much above its least: the spacing of the grid leaves the first
        // part, rounding the second.
        CHECK(-slope <= 0.1 * squares + 1e-13);
      }
    }
  }
}

// A change alarm: the same with gcc and clang, with and without optimisation and FMA.
TEST_CASE("sphere_polynomial: the fit has the same bytes everywhere") {
  std::vector<double> all;
  for (const double a : {2.0, 4.0})
    for (const int64_t degree : {3, 10, 20})
      for (const int64_t m : {int64_t{16}, int64_t{64}, kernel::kNormalWaves}) {
        const kernel::RadialFit fit = kernel::fit_sphere_polynomial(degree, a, m);
        all.insert(all.end(), fit.mixture.scales.begin(), fit.mixture.scales.end());
        all.insert(all.end(), fit.mixture.weights.begin(), fit.mixture.weights.end());
        all.push_back(fit.largest_error);
        all.push_back(fit.rms_error);
      }
  CHECK(mercer::random::fnv1a(all) == 0x27540342c64b551du);
}

TEST_CASE("sphere_polynomial: the stand-in says its bias") {
  struct Case {
    int64_t d, degree;
    double a, most;
  };
  // What no distribution can be better than, from a second program (numpy, Bessel functions).
  for (const Case& c : {Case{16, 20, 2, 6e-6}, Case{64, 20, 2, 2.6e-3}, Case{1000, 20, 2, 7e-3},
                        Case{5, 10, 4, 2e-4}, Case{128, 3, 2, 0.05}, Case{300, 7, 4, 0.021}}) {
    const auto kernel = made(c.degree, c.a);
    const std::optional<kernel::StandIn> stand_in = kernel->stand_in(c.d);
    REQUIRE(stand_in);
    double largest = 0, squares = 0;
    constexpr int kPoints = 1000;
    for (int j = 0; j < kPoints; ++j) {
      const Matrix<double> X = at_distance(2 * (j + 0.5) / kPoints, c.d);
      const double error = at(*stand_in->kernel, X) - at(*kernel, X);
      largest = std::max(largest, std::fabs(error));
      squares += error * error / kPoints;
    }
    INFO("d = " << c.d << ", degree " << c.degree << ", a = " << c.a);
    CHECK(largest == Approx(stand_in->largest_bias).epsilon(0.03));
    CHECK(std::sqrt(squares) == Approx(stand_in->rms_bias).epsilon(0.01));
    CHECK(stand_in->largest_bias <= 1.5 * c.most);
    CHECK(stand_in->kernel->value_at_zero() == 1.5);
    CHECK(at(*stand_in->kernel, at_distance(1, c.d), 0) == Approx(1.5).epsilon(1e-13));
  }
}

// E cos(omega'tau) = k^(tau), with the variance (1 + k^(2 tau) - 2 k^(tau)^2)/2 of one cosine; the
// norm of a draw has the distribution of radius().
TEST_CASE("sphere_polynomial: draws have the stand-in as their mean, radii are their norms") {
  constexpr int kDraws = 20000;
  const std::initializer_list<int64_t> dimensions = {2, 5, 16, 17, 100, 129};
  const double threshold = z_threshold(kFailure, static_cast<double>(dimensions.size()));
  const double distance =
      2 * ks_threshold(kDraws, kFailure, static_cast<double>(dimensions.size()));
  for (const int64_t d : dimensions) {
    const auto stand_in = made(7, 2)->stand_in(d)->kernel;
    const random::Law& law = *stand_in->spectral_law();
    const Matrix<double> X = at_distance(0.9, d);
    std::vector<double> omega(d), norms(kDraws), radii(kDraws);
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      law.draw({2026, random::Tag::frequency, static_cast<uint64_t>(i)}, omega);
      radii[i] = law.radius({2027, random::Tag::radius, static_cast<uint64_t>(i)}, d);
      double angle = 0, squares = 0;
      for (int64_t k = 0; k < d; ++k) {
        angle += omega[k] * (X(0, k) - X(1, k));
        squares += omega[k] * omega[k];
      }
      norms[i] = std::sqrt(squares);
      sum += std::cos(angle);
    }
    const double k = at(*stand_in, X) / 1.5, twice = at(*stand_in, X, 2) / 1.5;
    INFO("d = " << d);
    CHECK(std::fabs(sum / kDraws - k) <=
          threshold * std::sqrt((1 + twice - 2 * k * k) / 2 / kDraws));
    // In dimension 16 norms have few values, which rounding spreads in the samples' own ways.
    if (d != 16) CHECK(two_sample_distance(norms, radii) <= distance);
  }
}

TEST_CASE("sphere_polynomial: derivatives are difference quotients") {
  const auto kernel = made(4, 2.5);
  const Matrix<double> X = at_distance(0.7, 3);
  const double* const y = X.view().row(1);
  const auto value = [&](double dx, double dz) {
    const double moved[] = {X(0, 0) + dx, X(0, 1), X(0, 2) + dz};
    return kernel->value(3, moved, y);
  };
  const double h = 1e-4;
  std::vector<double> gradient(3, 0.0);
  kernel->add_gradient(1, 3, X.view().row(0), y, gradient.data());
  CHECK(gradient[0] == Approx((value(h, 0) - value(-h, 0)) / (2 * h)).epsilon(1e-6));
  const double mixed = (value(h, h) - value(h, -h) - value(-h, h) + value(-h, -h)) / (4 * h * h);
  CHECK(kernel->derivative({{0, 1}, {2, 1}}, 3, X.view().row(0), y) == Approx(mixed).epsilon(1e-5));
  CHECK(made(4, 2.5, true)->most_derivatives() == 0);
}

// At a = sqrt(2) it is (x'y)^degree, whose sign changes where t > a for odd degrees.
TEST_CASE("sphere_polynomial: points of the sphere may be farther apart than a") {
  const double a = std::sqrt(2.0);
  for (const int64_t degree : {2, 3, 8}) {
    const auto kernel = made(degree, a);
    const kernel::RadialFit fit = kernel::fit_sphere_polynomial(degree, a, 16);
    const auto stand_in = kernel->stand_in(16);
    REQUIRE(stand_in);
    double worst = 0;
    for (double t = 0; t <= 2; t += 0.004) {
      const Matrix<double> X = at_distance(t, 16);
      const double power = 1.5 * std::pow(1 - t * t / 2, static_cast<double>(degree));
      CHECK(at(*kernel, X) == Approx(power).margin(1e-13));
      worst = std::max(worst, std::fabs(at(*stand_in->kernel, X) - power));
    }
    INFO("degree " << degree);
    CHECK(worst <= 1.5 * fit.largest_error * 1.05);
    CHECK(worst >= 1.5 * fit.largest_error * 0.9);
  }
}

TEST_CASE("sphere_polynomial: rows of another norm are refused, or divided by it") {
  const auto kernel = made(5, 2), scaling = made(5, 2, true);
  Matrix<double> X(3, 2), K(3, 3), scaled(3, 3);
  const double numbers[] = {0.6, 0.8, 1, 0, 3, 4};
  std::copy_n(numbers, 6, X.data());
  Context context;
  const auto gram = [&](const kernel::Kernel& of, const Rows& rows, const Rows& others) {
    kernel::gram(of, rows, others, context, K.view().block_rows(0, rows.rows()));
  };
  const MatrixView<const double> all = X.view();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, gram(*kernel, all, all), "X: row 2", "norm 5",
                "expected 1", "unit_rows");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, gram(*kernel, all.block_rows(0, 2), all), "Y: row 2");
  SparseRows<float> sparse;
  sparse.cols = 2;
  sparse.add(0, 0.5), sparse.add(0, 0.5), sparse.end_row();
  sparse.add(1, 0.5), sparse.end_row();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                kernel::gram(*kernel, sparse.view(), sparse.view(), context,
                             K.view().block_rows(0, 2).block_cols(0, 2)),
                "row 1", "norm 0.5");
  gram(*scaling, all, all);
  X(2, 0) = 0.6, X(2, 1) = 0.8;
  kernel::gram(*kernel, all, all, context, scaled.view());
  for (int i = 0; i < 9; ++i) CHECK(K.data()[i] == Approx(scaled.data()[i]).epsilon(1e-14));
  X(2, 1) = std::nan("");
  gram(*kernel, all, all);
  CHECK(std::isnan(K(2, 0)));
  CHECK(K(1, 0) == scaled(1, 0));
  const double zeros[] = {0, 0};
  CHECK(std::isnan(scaling->value(2, zeros, X.view().row(0))));
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, made(5, 1.41), "a = 1.41");
}

}  // namespace sphere_polynomial_test
