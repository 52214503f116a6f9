// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = sum_q w_q exp(-1/2 sum_j tau_j^2 v_qj) cos(mu_q'tau) (Wilson, Adams, "Gaussian process
// kernels for pattern discovery and extrapolation", ICML 2013, eq. 12, mu in radians where they
// have 2 pi mu): the spectrum is a mixture of N(mu_q, diag v_q) with weights w_q / sum w, made
// symmetric by a random sign of omega, without which the variances of the features and the complex
// form would not hold. k(0) = sum w.
#include <algorithm>
#include <cmath>
#include <complex>
#include <span>
#include <utility>

#include "base/error.h"
#include "kernel/entry.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

constexpr double kMost = 1e300;  // sums of weights stay finite
constexpr int64_t kMostComponents = 1024;

/// Row q of one parameter: a number for every input, or one for each.
struct Numbers {
  NumberLists rows;

  int64_t inputs() const noexcept { return std::ssize(rows.front()); }
  double at(size_t q, int64_t j) const noexcept {
    const std::vector<double>& row = rows[q];
    return row[row.size() > 1 ? static_cast<size_t>(j) : 0];
  }
};

struct Mixture {
  std::vector<double> weights;
  std::vector<double> upto;  // w_0, w_0 + w_1, ...
  Numbers means;
  Numbers deviations;

  double total() const noexcept { return upto.back(); }
};

Mixture mixture_of(const Parameters& canonical) {
  Mixture mixture{canonical.numbers("weights"), {}, {}, {}};
  double sum = 0;
  for (const double weight : mixture.weights) mixture.upto.push_back(sum += weight);
  mixture.means.rows = canonical.number_lists("means");
  mixture.deviations.rows = canonical.number_lists("variances");
  for (std::vector<double>& row : mixture.deviations.rows) {
    for (double& number : row) number = std::sqrt(number);
  }
  return mixture;
}

void check(const Mixture& mixture) {
  const int64_t count = std::ssize(mixture.weights);
  require(count <= kMostComponents, MERCER_INVALID_ARGUMENT,
          "weights = a list of %ld numbers, expected at most %ld", count, kMostComponents);
  const auto check_count = [&](const char* key, const Numbers& numbers) {
    require(std::ssize(numbers.rows) == count, MERCER_INVALID_ARGUMENT,
            "%s holds %zu components, expected %ld, as many as weights", key, numbers.rows.size(),
            count);
  };
  check_count("means", mixture.means);
  check_count("variances", mixture.deviations);
  const int64_t a = mixture.means.inputs(), b = mixture.deviations.inputs();
  require(a == b || a == 1 || b == 1, MERCER_INVALID_ARGUMENT,
          "variances holds lists of %ld numbers, expected %ld, as in means, or one number for "
          "each component",
          b, a);
}

class MixtureLaw final : public random::Law {
 public:
  explicit MixtureLaw(Mixture mixture) : mixture_(std::move(mixture)) { check(mixture_); }
  const Mixture& mixture() const noexcept { return mixture_; }

  // The first block selects component and sign, the others are the normals.
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    const random::Words words = stream.block(0);
    const size_t q = component(random::uniform(words));
    const double sign = random::second_uniform(words) < 0.5 ? -1 : 1;
    random::fill_normal(stream, 2, omega);
    for (size_t j = 0; j < omega.size(); ++j)
      omega[j] = sign * at(q, static_cast<int64_t>(j), omega[j]);
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return false; }
  bool is_mixture() const noexcept override { return true; }

  /// 1 + the component, with the sign of omega: each has its half of (0, 1).
  double mixing(double u) const noexcept override {
    const bool below = u < 0.5;
    const double m = 1 + static_cast<double>(component(below ? 2 * u : 2 * u - 1));
    return below ? -m : m;
  }
  double quantile_given(double m, int64_t k, double u) const noexcept override {
    const auto q = static_cast<size_t>(std::fabs(m)) - 1;
    const double omega = at(q, k, random::normal_quantile(u));
    return m < 0 ? -omega : omega;
  }

 private:
  size_t component(double u) const noexcept {
    size_t q = 0;
    while (q + 1 < mixture_.upto.size() && u * mixture_.total() >= mixture_.upto[q]) ++q;
    return q;
  }
  double at(size_t q, int64_t j, double z) const noexcept {
    return mixture_.means.at(q, j) + mixture_.deviations.at(q, j) * z;
  }

  Mixture mixture_;
};

class SpectralMixture final : public Kernel {
 public:
  explicit SpectralMixture(const Parameters& canonical)
      : Kernel(canonical), law_(mixture_of(canonical)) {
    require(std::isfinite(value_at_zero()), MERCER_INVALID_ARGUMENT,
            "variance = %g, expected its product with the sum of weights, %g, to be finite",
            variance(), law_.mixture().total());
    const int64_t most =
        std::max(law_.mixture().means.inputs(), law_.mixture().deviations.inputs());
    if (most > 1) traits_.only_inputs = most;
  }
  const random::Law* spectral_law() const noexcept override { return &law_; }
  double value_at_zero() const noexcept override { return variance() * law_.mixture().total(); }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return value_at_multiple(1, d, x, y);
  }
  double value_at_multiple(double multiple, int64_t d, const double* x,
                           const double* y) const noexcept override {
    const Mixture& mixture = law_.mixture();
    double sum = 0;
    for (size_t q = 0; q < mixture.weights.size(); ++q) {
      const Wave wave = wave_of(q, multiple, d, x, y);
      // Far out, where the angle may overflow, a component is 0.
      const double cosine = wave.decay == 0 ? 1 : std::cos(wave.angle);
      sum += mixture.weights[q] * wave.decay * cosine;
    }
    return variance() * sum;
  }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  // A component is the real part of exp(g), g = sum_k i mu_k t_k - v_k t_k^2/2, whose derivatives
  // in t_k are polynomials times itself: h_0 = 1, h_{n+1} = (i mu_k - v_k t_k) h_n - n v_k h_{n-1}.
  double derivative(const MultiIndex& order, int64_t d, const double* x,
                    const double* y) const noexcept override {
    const Mixture& mixture = law_.mixture();
    double sum = 0;
    for (size_t q = 0; q < mixture.weights.size(); ++q) {
      const Wave wave = wave_of(q, 1, d, x, y);
      if (wave.decay == 0) continue;
      // Not std::polar, which is not for a size of NaN.
      std::complex<double> product(wave.decay * std::cos(wave.angle),
                                   wave.decay * std::sin(wave.angle));
      for (const PartialFactor& one : order) {
        const int64_t k = one.input;
        const double deviation = mixture.deviations.at(q, k), v = deviation * deviation;
        const std::complex<double> slope(-v * (x[k] - y[k]), mixture.means.at(q, k));
        std::complex<double> before = 0, now = 1;
        for (int64_t n = 0; n < one.order; ++n) {
          const std::complex<double> next = slope * now - static_cast<double>(n) * v * before;
          before = now;
          now = next;
        }
        product *= now;
      }
      sum += mixture.weights[q] * product.real();
    }
    return variance() * sum;
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const Mixture& mixture = law_.mixture();
    for (size_t q = 0; q < mixture.weights.size(); ++q) {
      const Wave wave = wave_of(q, 1, d, x, y);
      if (wave.decay == 0) continue;
      const double size = factor * variance() * mixture.weights[q] * wave.decay;
      const double cosine = size * std::cos(wave.angle), sine = size * std::sin(wave.angle);
      for (int64_t k = 0; k < d; ++k) {
        const double deviation = mixture.deviations.at(q, k);
        out[k] -= deviation * deviation * (x[k] - y[k]) * cosine + mixture.means.at(q, k) * sine;
      }
    }
  }

 private:
  struct Wave {
    double decay;
    double angle;
  };
  Wave wave_of(size_t q, double multiple, int64_t d, const double* x,
               const double* y) const noexcept {
    const Mixture& mixture = law_.mixture();
    const auto along = [&](const Numbers& numbers, int64_t j) {
      return multiple * (x[j] - y[j]) * numbers.at(q, j);
    };
    const double squares = lane_fold<Sum>(d, [&](int64_t j) {
      const double t = along(mixture.deviations, j);
      return t * t;
    });
    const double angle = lane_fold<Sum>(d, [&](int64_t j) { return along(mixture.means, j); });
    return {std::exp(-0.5 * squares), angle};
  }

  MixtureLaw law_;
};

Field numbers_field(const char* key, FieldType type, double least, const char* help) {
  return {.key = key,
          .type = type,
          .fallback = {},
          .least = least,
          .most = kMost,
          .least_open = type == FieldType::numbers,
          .help = help};
}

}  // namespace

KernelEntry spectral_mixture_entry() {
  return entry_of<SpectralMixture>(
      "spectral_mixture", "sum_q w_q exp(-1/2 sum_j v_qj tau_j^2) cos(mu_q'tau)",
      {numbers_field("weights", FieldType::numbers, 0, "w_q: at most 1024 numbers"),
       numbers_field("means", FieldType::numbers_or_lists, -kMost,
                     "mu_q, angular frequencies: a list of d numbers for each component, or one "
                     "number, which is that of every input"),
       numbers_field("variances", FieldType::numbers_or_lists, 0, "v_q >= 0 of omega: likewise")});
}

}  // namespace mercer::kernel
