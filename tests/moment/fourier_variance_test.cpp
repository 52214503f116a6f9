// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "moment/fourier_variance.h"

#include <cmath>
#include <complex>
#include <vector>

#include "kernel/kernel.h"
#include "random/distributions.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "support/statistic.h"

namespace mercer::test {
namespace {

// The oracle's kernels by name (its parameters: ell, nu, alpha).
std::unique_ptr<kernel::Kernel> kernel_of(const Reference& entry) {
  const std::string name = entry.at("kernel");
  const Reference& p = entry.at("params");
  const double l = p.at("ell");
  if (name == "gaussian") return kernel::make_gaussian({l}, 1);
  if (name == "laplacian") return kernel::make_laplacian({l}, 1);
  if (name == "cauchy") return kernel::make_cauchy({l}, 1);
  if (name == "matern") return kernel::make_matern(p.at("nu"), {l}, 1);
  if (name == "rational_quadratic") return kernel::make_rational_quadratic(p.at("alpha"), {l}, 1);
  throw std::runtime_error("unknown kernel " + name);
}

moment::StationaryValues values_of(const kernel::Kernel& k, const std::vector<double>& x,
                                   const std::vector<double>& y) {
  const auto d = static_cast<int64_t>(x.size());
  return {k.value_at_multiple(0, d, x.data(), y.data()),
          k.value_at_multiple(1, d, x.data(), y.data()),
          k.value_at_multiple(2, d, x.data(), y.data())};
}

}  // namespace

TEST_CASE("variances of the Fourier forms equal the reference numbers", "[moment]") {
  const Reference variances = oracle("variances");
  REQUIRE(variances.at("rff").size() == 10);
  for (const auto& entry : variances.at("rff")) {
    const auto k = values_of(*kernel_of(entry), entry.at("x"), entry.at("y"));
    const auto expected = [&](const char* key) {
      return Approx(entry.at(key).get<double>()).epsilon(1e-12).margin(1e-15);
    };
    INFO(entry.at("kernel"));
    CHECK(moment::fourier_pair_variance(k, 1) == expected("pair_times_D"));
    CHECK(moment::fourier_phase_variance(k, 1) == expected("phase_times_D"));
    CHECK(moment::fourier_complex_pseudo_variance(k, 1) == expected("complex_pseudo_times_D"));
    CHECK(moment::fourier_complex_real_variance(k, 1) == expected("complex_real_part_times_D"));
    CHECK(moment::fourier_pair_variance(k, 8) == moment::fourier_pair_variance(k, 1) / 8);
  }
}

// k(0)^2 - k^2 and its like are rounding where x is y, or nearly.
TEST_CASE("variances of the Fourier forms are not below 0 at rows that are close", "[moment]") {
  const auto kernel = kernel::make_matern(3.3, {1.0}, 1.3);
  random::Cursor cursor(random::Stream(1, random::Tag::sample, 0));
  int64_t below = 0, zero = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<double> x(3), y(3);
    for (size_t k = 0; k < 3; ++k) {
      x[k] = random::normal(cursor);
      y[k] = x[k] * (1 + (i % 2) * 1e-8 * random::normal(cursor));
    }
    const auto k = values_of(*kernel, x, y);
    for (const auto variance : {moment::fourier_pair_variance, moment::fourier_phase_variance,
                                moment::fourier_complex_real_variance}) {
      below += !(variance(k, 4) >= 0);
      zero += variance(k, 4) == 0;
    }
  }
  CHECK(below == 0);
  CHECK(zero > 0);
  // Values of a kernel that rounding takes above that at 0.
  CHECK(moment::fourier_pair_variance({1, 1 + 1e-15, 1}, 1) == 0);
  for (const auto variance : {moment::fourier_pair_variance, moment::fourier_phase_variance})
    CHECK(std::isnan(variance({1, std::nan(""), 1}, 1)));
}

// One frequency of each form, amplitude k(0) = 2.5: the estimates are k(0) cos(w t), 2 k(0) cos(a +
// b) cos(b) with a = w t, and k(0) exp(i w t). Squared deviations from k(tau) are averaged; they
// are bounded, so their mean is normal in the limit and the z-score uses the sample's own spread.
TEST_CASE("variances with an amplitude are those of simulated features", "[moment]") {
  const auto kernel = kernel::make_matern(1.5, {0.8}, 2.5);
  const std::vector<double> x = {0.4};
  const std::vector<double> y = {-0.3};
  const moment::StationaryValues k = values_of(*kernel, x, y);
  const double tau = (x[0] - y[0]) / 0.8;
  const uint64_t draws = 100000;
  std::vector<double> pair, phase, real, pseudo;
  for (uint64_t i = 0; i < draws; ++i) {
    double omega = 0;
    kernel->spectral_law()->draw(random::Stream(1, random::Tag::frequency, i),
                                 std::span<double>(&omega, 1));
    const double b =
        2 * std::acos(-1.0) * random::uniform(random::Stream(1, random::Tag::phase, 0).block(i));
    const double p = 2.5 * std::cos(omega * tau) - k.once;
    const double q = 5 * std::cos(omega * tau + b) * std::cos(b) - k.once;
    const std::complex<double> c = std::polar(2.5, omega * tau) - k.once;
    pair.push_back(p * p);
    phase.push_back(q * q);
    real.push_back(c.real() * c.real());
    pseudo.push_back((c * c).real());
  }
  const double threshold = z_threshold(kFailure, 4);
  CHECK(std::fabs(studentised_z_score(pair, moment::fourier_pair_variance(k, 2))) <= threshold);
  CHECK(std::fabs(studentised_z_score(phase, moment::fourier_phase_variance(k, 1))) <= threshold);
  CHECK(std::fabs(studentised_z_score(real, moment::fourier_complex_real_variance(k, 1))) <=
        threshold);
  CHECK(std::fabs(studentised_z_score(pseudo, moment::fourier_complex_pseudo_variance(k, 1))) <=
        threshold);
}

}  // namespace mercer::test
