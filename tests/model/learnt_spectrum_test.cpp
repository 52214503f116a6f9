// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Learnt frequencies and weights: gradients against differences, what is gained on signals with a
// spectrum of their own, and that noise teaches nothing.
#include "model/search/learnt_spectrum.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "feature/fourier.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "solver/profiled_likelihood.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"

namespace learnt_spectrum_test {
using namespace mercer;
using namespace mercer::model;

std::vector<double> normals(int64_t n, uint64_t seed) {
  std::vector<double> z(n);
  random::fill_normal({seed, random::Tag::generated, 1}, 0, z);
  return z;
}

std::unique_ptr<feature::FeatureMap> drawn(double lengthscale, int64_t d, int64_t D) {
  return feature::make_fourier(*kernel::make_gaussian({lengthscale}, 1), d, D, {});
}

/// The first rows learn, the next judge, the last are new and without noise.
struct Signal {
  static constexpr int64_t kFirst = 160, kAll = 200, kNew = 400;
  Matrix<double> X{kNew, 1}, Y{kNew, 1};
  template <class F>
  Signal(const F& f, double noise, uint64_t seed) {
    const Matrix<double> U = test::random_matrix(kNew, 1, seed);
    const std::vector<double> e = normals(kNew, seed);
    for (int64_t i = 0; i < kNew; ++i) {
      X(i, 0) = 1.7 * U(i, 0);  // about standardised
      Y(i, 0) = f(X(i, 0)) + (i < kAll ? noise * e[i] : 0);
    }
  }
  SpectrumRows rows() const {
    return {X.view().block_rows(0, kAll), Y.view().block_rows(0, kAll), {}, kFirst};
  }
};

/// Mean squared error of ridge on new rows over their variance.
double error_of(const feature::FeatureMap& map, const Signal& signal, double lambda) {
  const int64_t n = Signal::kAll, D = map.features();
  Context context;
  const Matrix<double> Z(Signal::kNew, D), A(D, D), w(D, 1), fitted(Signal::kNew, 1);
  map.apply(MatrixView<const double>(signal.X.view()), {0, D}, context, Z.view());
  linalg::subtract_from_rows(linalg::column_means(Z.view().block_rows(0, n)), Z.view());
  Matrix<double> y = test::copy(MatrixView<const double>(signal.Y.view()));
  linalg::subtract_from_rows(linalg::column_means(y.view().block_rows(0, n)), y.view());
  const MatrixView<const double> seen = Z.view().block_rows(0, n);
  A.fill(0);
  linalg::rank_update(1, seen, A.view());
  for (int64_t j = 0; j < D; ++j) A(j, j) += static_cast<double>(n) * lambda;
  linalg::multiply(1, linalg::kTransposed, seen, linalg::kPlain, y.view().block_rows(0, n), 0,
                   w.view());
  REQUIRE(linalg::cholesky(A.view()) == 0);
  linalg::cholesky_solve(A.view(), w.view());
  linalg::multiply(1, linalg::kPlain, Z.view(), linalg::kPlain, w.view(), 0, fitted.view());
  double error = 0, variance = 0;
  for (int64_t i = n; i < Signal::kNew; ++i) {
    error += (fitted(i, 0) - y(i, 0)) * (fitted(i, 0) - y(i, 0));
    variance += y(i, 0) * y(i, 0);
  }
  return error / variance;
}

struct Fit {
  double evidence = -kInfinity;  // log marginal likelihood of all rows that may be seen, in nats
  double lambda = 0;
  double error = kInfinity;
};

Fit fit_of(const feature::FeatureMap& map, const Signal& signal) {
  const int64_t n = Signal::kAll, D = map.features();
  Context context;
  Fit best;
  for (double lambda = 1e-7; lambda < 10; lambda *= 2) {
    const Matrix<double> Z(n, D);
    map.apply(signal.rows().X, {0, D}, context, Z.view());
    solver::ProfiledLikelihood f(signal.rows().Y, D, context);
    const double evidence = -f.freedom() * f.at(Z.view(), lambda).value;
    if (evidence > best.evidence) best = {evidence, lambda};
  }
  best.error = error_of(map, signal, best.lambda);
  return best;
}

/// Of the Gaussian kernel's own D features at their most likely lengthscale.
std::pair<std::unique_ptr<feature::FeatureMap>, Fit> gaussian_fit(const Signal& signal, int64_t D) {
  std::pair<std::unique_ptr<feature::FeatureMap>, Fit> best;
  for (double lengthscale = 0.02; lengthscale < 3; lengthscale *= 1.25) {
    auto map = drawn(lengthscale, 1, D);
    const Fit fit = fit_of(*map, signal);
    if (fit.evidence > best.second.evidence) best = {std::move(map), fit};
  }
  return best;
}

void check_gain(const Signal& signal, int64_t D, double nats, double error) {
  const auto [map, before] = gaussian_fit(signal, D);
  Context context;
  const LearntSpectrum learnt =
      learn_spectrum(*map, *map, signal.rows(), {.lambda = before.lambda}, context);
  REQUIRE(learnt.map != nullptr);
  CHECK(learnt.gain > 3);
  CHECK(learnt.map->features() == D);
  const Fit after = fit_of(*learnt.map, signal);
  CHECK(after.evidence > before.evidence + nats);
  CHECK(after.error < error * before.error);
}

TEST_CASE("learnt spectrum: slopes of the evidence in frequencies and weights are differences") {
  const int64_t n = 30, d = 3;
  const Matrix<double> X = test::random_matrix(n, d, 1), Y = test::random_matrix(n, 2, 2);
  std::vector<double> weights(n);
  for (int64_t i = 0; i < n; ++i) weights[i] = 1 + 0.1 * static_cast<double>(i % 5);
  Context context;
  for (const int64_t F : {5, 20}) {  // fewer and more features than rows
    for (const double noise : {0.0, 0.3}) {
      CAPTURE(F, noise);
      const auto kernel = kernel::make_gaussian({1.0}, 1.7);
      TrainedFrequencies features(*kernel, F, X.view(), context);
      EvidenceObjective objective(features, Y.view(), weights, noise, context);
      const auto map = feature::make_fourier(*kernel, d, 2 * F, {});
      std::vector<double> theta = spectrum_of(*map, context);
      for (int64_t j = 0; j < F; ++j) theta[F * d + j] += 0.1 * static_cast<double>(j);
      theta.push_back(EvidenceObjective::phi_of(0.01));
      std::vector<double> slope(theta.size()), unused(theta.size());
      objective(theta, slope);
      for (size_t k = 0; k < theta.size(); ++k) {
        const double h = 1e-5, at = theta[k];
        theta[k] = at + h;
        const double above = objective(theta, unused);
        theta[k] = at - h;
        const double below = objective(theta, unused);
        theta[k] = at;
        CHECK(slope[k] == Approx((above - below) / (2 * h)).epsilon(1e-6).margin(1e-6));
      }
    }
  }
}

TEST_CASE("learnt spectrum: it starts from the map that was drawn") {
  for (const char* projection : {"dense", "sobol", "quadrature"}) {
    CAPTURE(projection);
    feature::FourierOptions options;
    options.projection = projection;
    const int64_t d = projection == std::string("quadrature") ? 1 : 3;
    const auto map = feature::make_fourier(*kernel::make_gaussian({1.5}, 2.0), d, 12, options);
    REQUIRE(has_spectrum(*map));
    const Matrix<double> X = test::random_matrix(7, d, 3), Z(7, 12), same(7, 12);
    Context context;
    map->apply(MatrixView<const double>(X.view()), {0, 12}, context, Z.view());
    TrainedFrequencies features(map->kernel(), 6, X.view(), context);
    features.apply(spectrum_of(*map, context), context, same.view());
    for (int64_t k = 0; k < 7 * 12; ++k) CHECK(same.data()[k] == Approx(Z.data()[k]).margin(1e-12));
  }
  CHECK_FALSE(has_spectrum(*feature::make_fourier(*kernel::make_gaussian({1.0}, 1), 2, 8,
                                                  {{}, feature::FourierForm::phase})));
}

TEST_CASE("learnt spectrum: of a sum of sinusoids it finds what the Gaussian kernel cannot") {
  const Signal signal(
      [](double x) {
        return std::sin(5 * x) + 0.7 * std::cos(17 * x + 1) + 0.5 * std::sin(29 * x + 2);
      },
      0.1, 5);
  check_gain(signal, 64, 100, 0.2);
}

TEST_CASE("learnt spectrum: of a band of frequencies the Gaussian kernel knows the width alone") {
  const std::vector<double> a = normals(24, 9);
  const Signal signal(
      [&](double x) {
        double sum = 0;
        for (int j = 0; j < 12; ++j)
          sum += a[2 * j] * std::cos((20 + j) * x) + a[2 * j + 1] * std::sin((20 + j) * x);
        return sum / 3.5;
      },
      0.1, 6);
  check_gain(signal, 32, 100, 0.4);
}

TEST_CASE("learnt spectrum: noise teaches nothing") {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const Signal signal([](double) { return 0.0; }, 1, seed);
    const auto [map, before] = gaussian_fit(signal, 64);
    Context context;
    const LearntSpectrum learnt =
        learn_spectrum(*map, *map, signal.rows(), {.lambda = before.lambda}, context);
    CHECK(learnt.map == nullptr);
  }
}

}  // namespace learnt_spectrum_test
