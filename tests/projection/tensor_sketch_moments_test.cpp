// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Mean and variance of the kernel estimate <S(x), S(y)> of a TensorSketch with fully independent h
// and s: over every possible h and s exactly, and over seeds.
//
// With N = |x|^2 |y|^2, s = x'y, Q = sum x_k^2 y_k^2 and m buckets: the estimate is the mean over
// frequencies t of a product over factors, and a factor's second moment at t and t' is s^2 + (N -
// Q) [t = t'] + (s^2 - Q) [t = -t' mod m], the last term for real signs only (for complex ones it
// is the pseudo-moment's). e = gcd(2, m) frequencies are their own negatives.
#include "projection/tensor_sketch.h"
#include "projection/tensor_sketch_rows.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/statistic.h"

using namespace mercer;
using namespace mercer::projection;
using Estimate = std::complex<double>;

namespace {

struct Moments {
  double mean;
  double variance;  // E |estimate - mean|^2
  double pseudo;    // E (estimate - mean)^2
};

Moments closed_form(const Matrix<double>& X, bool complex, double m, int p) {
  double xx = 0, yy = 0, s = 0, Q = 0;
  for (int64_t k = 0; k < X.cols(); ++k) {
    xx += X(0, k) * X(0, k), yy += X(1, k) * X(1, k), s += X(0, k) * X(1, k);
    Q += std::pow(X(0, k) * X(1, k), 2);
  }
  const double N = xx * yy, t = std::pow(s, 2 * p);
  const double one = std::pow(N + s * s - Q, p), two = std::pow(2 * s * s - Q, p);
  if (complex) return {std::pow(s, p), (one - t) / m, (two - t) / m};
  const double e = std::fmod(m, 2) == 0 ? 2 : 1;
  const double both = std::pow(N + 2 * s * s - 2 * Q, p);
  const double variance = ((m - e) * (one + two - 2 * t) + e * (both - t)) / (m * m);
  return {std::pow(s, p), variance, variance};
}

Estimate estimate(const Multilinear& sketch, const Matrix<double>& X) {
  const FactorRows<double> factor = {{X.view(), {}}, nullptr};
  auto Z = test::sketched<double>(
      sketch, 2, std::vector<FactorRows<double>>(sketch.shape().factors.size(), factor));
  Estimate sum = 0;
  for (int64_t j = 0; j < sketch.columns(); ++j) {
    const Estimate a(Z.re(0, j), sketch.is_complex() ? Z.im(0, j) : 0.0);
    const Estimate b(Z.re(1, j), sketch.is_complex() ? Z.im(1, j) : 0.0);
    sum += a * std::conj(b);
  }
  return sum;
}

SketchShape sketch_shape(bool complex, int64_t d, int64_t m, int p, uint64_t seed) {
  return {sketch_kind("tensor_sketch"), complex,
          std::vector<FactorShape>(static_cast<size_t>(p), FactorShape{d}), m, seed};
}

// Two factors of two coordinates: (m * units)^4 sketches.
void check_every_hash(bool complex, int64_t m) {
  Matrix<double> X(2, 2);
  X(0, 0) = 0.75, X(0, 1) = -1.25, X(1, 0) = 1.5, X(1, 1) = 0.5;
  const Moments expected = closed_form(X, complex, static_cast<double>(m), 2);
  const SketchShape shape = sketch_shape(complex, 2, m, 2, 0);
  const int64_t slots = complex ? 2 * m : m, states = 2 * slots;
  const int64_t all = states * states * states * states;
  Estimate mean = 0, pseudo = 0;
  double variance = 0;
  for (int64_t code = 0; code < all; ++code) {
    std::vector<TensorHash> hashes(2);
    int64_t rest = code;
    for (int c = 0; c < 4; ++c, rest /= states) {
      hashes[static_cast<size_t>(c / 2)].slots.push_back(static_cast<uint32_t>(rest % slots));
      hashes[static_cast<size_t>(c / 2)].signs.push_back(rest % states < slots ? 1 : -1);
    }
    const Estimate value = estimate(*make_tensor_sketch(shape, std::move(hashes)), X);
    const Estimate error = value - expected.mean;
    mean += value, variance += std::norm(error), pseudo += error * error;
  }
  const double count = static_cast<double>(all);
  CAPTURE(complex, m);
  // Estimates below 100 in magnitude, squares below 10^4, errors of 1e-14 each.
  CHECK(std::abs(mean / count - expected.mean) <= 1e-11);
  CHECK(std::fabs(variance / count - expected.variance) <= 1e-9);
  CHECK(std::abs(pseudo / count - expected.pseudo) <= 1e-9);
}

// Five z-scores per call.
void check_seeds(bool complex, int64_t m, int p, uint64_t seeds) {
  const Matrix<double> X = test::random_matrix(2, 4, 21);
  const Moments expected = closed_form(X, complex, static_cast<double>(m), p);
  std::vector<double> re, im, square, pseudo_re, pseudo_im;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const Estimate value =
        estimate(*make_tensor_sketch(sketch_shape(complex, 4, m, p, seed)), X) - expected.mean;
    re.push_back(value.real()), im.push_back(value.imag());
    square.push_back(std::norm(value));
    pseudo_re.push_back((value * value).real()), pseudo_im.push_back((value * value).imag());
  }
  const double z = test::z_threshold(test::kFailure, 4 * 5);
  CAPTURE(complex, m, p);
  CHECK(std::fabs(test::studentised_z_score(re, 0)) <= z);
  CHECK(std::fabs(test::studentised_z_score(square, expected.variance)) <= z);
  if (!complex) return;
  CHECK(std::fabs(test::studentised_z_score(im, 0)) <= z);
  CHECK(std::fabs(test::studentised_z_score(pseudo_re, expected.pseudo)) <= z);
  CHECK(std::fabs(test::studentised_z_score(pseudo_im, 0)) <= z);
}

}  // namespace

TEST_CASE("tensor sketch: mean and variance over every hash are the closed form") {
  for (const int64_t m : {1, 2, 3, 4, 5}) check_every_hash(false, m);
  for (const int64_t m : {1, 2}) check_every_hash(true, m);
}

TEST_CASE("tensor sketch: mean and variance over seeds") {
  constexpr uint64_t kSeeds = 40000;
  check_seeds(false, 8, 3, kSeeds);
  check_seeds(false, 7, 3, kSeeds);
  check_seeds(true, 8, 3, kSeeds);
  check_seeds(true, 7, 2, kSeeds);
}
