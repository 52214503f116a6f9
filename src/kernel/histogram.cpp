// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of rows without negative entries: additive_chi2, hellinger, intersection and
// jensen_shannon, whose maps sample their spectra; exponential_chi2 and tanimoto;
// exponential_semigroup and reciprocal_semigroup.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <span>

#include "base/numbers.h"
#include "kernel/entry.h"
#include "kernel/jet.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

// Kernels of rows without negative entries that are a function of a sum or product over the
// coordinates: k(x, y) = variance * finish(join_j term(x_j, y_j)); NaN where an entry is negative.

// Derived offers  double term(x, y) const  for x, y >= 0, symmetric, and, unless it is the joined
// value itself,  double finish(joined) const.
template <class Derived, class Join>
class HalfLineKernel : public Kernel {
 public:
  double value(int64_t d, const double* x, const double* y) const noexcept final {
    return variance() * static_cast<const Derived&>(*this).finish(joined(d, x, y));
  }
  double finish(double joined) const noexcept { return joined; }

 protected:
  double joined(int64_t d, const double* x, const double* y) const noexcept {
    const auto& self = static_cast<const Derived&>(*this);
    return lane_fold<Join>(
        d, [&](int64_t j) { return x[j] >= 0 && y[j] >= 0 ? self.term(x[j], y[j]) : kNaN; });
  }
  explicit HalfLineKernel(const Parameters& canonical) : Kernel(canonical) {
    traits_.input_bound = {0, false};
  }
};

// Additive homogeneous kernels k(x, y) = variance sum_j term(x_j, y_j) of rows without negative
// entries, and the spectra that their maps sample (Vedaldi, Zisserman 2012), the same bits on every
// machine.

// sech(pi l) = 2 e / (1 + e^2), e = exp(-pi |l|).
double sech_pi(double l) noexcept {
  constexpr double kPi = 3.14159265358979323846;
  const double e = random::portable_exp(-kPi * std::fabs(l));
  return 2 * e / (1 + e * e);
}

// A density with unbounded support. `periods`: the best ones of the first orders; beyond, they are
// extrapolated by a power of the order, which they nearly follow by then.
class SampledSpectrum final : public HomogeneousSpectrum {
 public:
  SampledSpectrum(double (*density)(double) noexcept, std::span<const double> periods, double power)
      : density_(density), periods_(periods), power_(power) {}
  double density(double l) const noexcept override { return density_(l); }
  double best_period(int64_t order) const noexcept override {
    const int64_t last = std::ssize(periods_) - 1;
    if (order <= last) return periods_[order];
    const double beyond = static_cast<double>(order) / static_cast<double>(last);
    return periods_[last] * random::portable_pow(beyond, -power_);
  }
  int64_t most_order() const noexcept override { return 1000; }

 private:
  double (*density_)(double) noexcept;
  std::span<const double> periods_;
  double power_;
};

// Term offers  static double of(x, y)  for x, y >= 0, symmetric, and  static spectrum(); if it is
// smooth,  static double derivative(a, b, x, y), of order a in x and b in y, a + b > 0.
template <class Term>
class HomogeneousKernel final : public HalfLineKernel<HomogeneousKernel<Term>, Sum> {
 public:
  explicit HomogeneousKernel(const Parameters& canonical)
      : HalfLineKernel<HomogeneousKernel<Term>, Sum>(canonical) {
    this->traits_.homogeneous = &spectrum_;
  }
  static double term(double x, double y) noexcept { return Term::of(x, y); }

  int64_t most_derivatives() const noexcept override {
    return kIsSmooth ? 2 * kMostDerivatives : 0;
  }
  // A term has one input, so other derivatives are 0.
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    if constexpr (!kIsSmooth) {
      return Kernel::differential(p, q);
    } else {
      return make_differential([this, p, q](int64_t d, const double* x, const double* y) {
        if (p.empty() && q.empty()) return this->value(d, x, y);
        int64_t inputs = 0;
        double last = 0;
        for_each_input(p, q, [&](int64_t k, int64_t a, int64_t b) noexcept {
          last = slope(a, b, x[k], y[k]);
          ++inputs;
        });
        return outside(d, x, y) + (inputs > 1 ? 0 : this->variance() * last);
      });
    }
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    if constexpr (!kIsSmooth) {
      Kernel::add_gradient(factor, d, x, y, out);
    } else {
      const double none = outside(d, x, y);
      for (int64_t k = 0; k < d; ++k)
        out[k] += factor * this->variance() * slope(1, 0, x[k], y[k]) + none;
    }
  }
  // A term with one input 0 is 0 whatever the other input.
  static double slope(int64_t a, int64_t b, double x, double y) noexcept {
    if ((b == 0 && y == 0) || (a == 0 && x == 0)) return 0;
    return Term::derivative(a, b, x, y);
  }

 private:
  static constexpr bool kIsSmooth = requires { Term::derivative(0, 0, 0.0, 0.0); };

  // 0, or NaN outside the kernel's domain.
  static double outside(int64_t d, const double* x, const double* y) noexcept {
    const auto within = [](double number) { return number >= 0; };
    return std::all_of(x, x + d, within) && std::all_of(y, y + d, within) ? 0 : kNaN;
  }

  decltype(Term::spectrum()) spectrum_ = Term::spectrum();
};

// The entry of such a kernel.
template <class Term>
KernelEntry homogeneous_entry(const char* name, const char* help) {
  return entry_of<HomogeneousKernel<Term>>(name, help, {}, "additive");
}

// k(x, y) = sum_j 2 x_j y_j / (x_j + y_j): sqrt(x y) sech(t / 2) of t = log x - log y in each
// coordinate, whose spectrum is sech(pi l) (Vedaldi, Zisserman 2012, table 1).

// For orders 0 to 12, the periods that minimise the largest error over t, relative to the mean of x
// and y.
constexpr double kChi2Periods[] = {0.8284, 0.5840, 0.4981, 0.4496, 0.4102, 0.3790, 0.3536,
                                   0.3328, 0.3152, 0.3000, 0.2869, 0.2753, 0.2651};

struct HarmonicMean {
  static SampledSpectrum spectrum() { return {sech_pi, kChi2Periods, 0.5}; }
  // Ordered so that it neither overflows nor loses digits.
  static double of(double x, double y) noexcept {
    const double least = std::min(x, y), most = std::max(x, y);
    return most == 0 ? 0 : 2 * least / (1 + least / most);
  }
  // Leibniz' rule of 2 x y times 1/s, s = x + y, leaves, for n = a + b > 1,
  //   2 (-1)^n (n - 2)! / s^{n - 1} (2ab uv - b(b - 1) u^2 - a(a - 1) v^2), u = x/s, v = y/s.
  static double derivative(int64_t a, int64_t b, double x, double y) noexcept {
    const int64_t n = a + b;
    const double most = std::max(x, y), least = std::min(x, y);
    const double large = 1 / (1 + least / most), small = least / most * large;
    const double u = x > y ? large : small, v = x > y ? small : large;
    if (n == 1) return 2 * (a == 1 ? v * v : u * u);
    const auto s = static_cast<double>(a), t = static_cast<double>(b);
    double product = -2 * (2 * s * t * u * v - t * (t - 1) * u * u - s * (s - 1) * v * v);
    for (int64_t i = 1; i < n; ++i)
      product *= -static_cast<double>(std::max<int64_t>(i - 1, 1)) / (x + y);
    return product;
  }
};

// k(x, y) = sum_j sqrt(x_j y_j), the Bhattacharyya coefficient: the inner product of the roots.

// The whole spectrum is at 0.
class Spectrum final : public HomogeneousSpectrum {
 public:
  double density(double l) const noexcept override { return l == 0 ? 1 : 0; }
  double best_period(int64_t) const noexcept override { return 1; }
  int64_t most_order() const noexcept override { return 0; }
};

struct Roots {
  static Spectrum spectrum() { return {}; }
  static double of(double x, double y) noexcept { return std::sqrt(x) * std::sqrt(y); }
  // Infinite at x = 0 < y, as is the derivative itself.
  static double derivative(int64_t a, int64_t b, double x, double y) noexcept {
    return of_root(a, x) * of_root(b, y);
  }

 private:
  static double of_root(int64_t order, double x) noexcept {
    if (order == 0) return std::sqrt(x);
    double product = 0.5 / std::sqrt(x);
    for (int64_t i = 1; i < order; ++i) product *= (0.5 - static_cast<double>(i)) / x;
    return product;
  }
};

// k(x, y) = sum_j min(x_j, y_j): sqrt(x y) exp(-|t| / 2) of t = log x - log y in each coordinate,
// whose spectrum is (2 / pi) / (1 + 4 l^2) (Vedaldi, Zisserman 2012, table 1).

// For orders 0 to 12, the periods that minimise the largest error over t, relative to the mean of x
// and y.
constexpr double kIntersectionPeriods[] = {1.1781, 0.9404, 0.8440, 0.7884, 0.7507, 0.7228, 0.7009,
                                           0.6831, 0.6682, 0.6554, 0.6443, 0.6345, 0.6257};

double intersection_density(double l) noexcept {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  return kTwoOverPi / (1 + 4 * l * l);
}

struct Minimum {
  static SampledSpectrum spectrum() { return {intersection_density, kIntersectionPeriods, 0.15}; }
  // No derivative: the kink at x = y is where landmarks meet themselves.
  static double of(double x, double y) noexcept { return std::min(x, y); }
};

// k(x, y) = sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), whose spectrum is
// (2 / log 4) sech(pi l) / (1 + 4 l^2) (Vedaldi, Zisserman 2012, table 1).
constexpr double kInverseLog4 = 0.72134752044448170368;  // 1 / (2 log 2)

// For orders 0 to 12, the periods that minimise the largest error over t, relative to the mean of x
// and y.
constexpr double kShannonPeriods[] = {0.6172, 0.4355, 0.3603, 0.3209, 0.2970, 0.2777, 0.2618,
                                      0.2486, 0.2373, 0.2275, 0.2190, 0.2114, 0.2046};

double shannon_density(double l) noexcept {
  return 2 * kInverseLog4 * sech_pi(l) / (1 + 4 * l * l);
}

// log(1 + y/x), also where the quotient overflows.
double log_share(double x, double y) noexcept {
  const double quotient = y / x;
  return std::isinf(quotient) ? std::log(y) - std::log(x) : std::log1p(quotient);
}
// x log(1 + y/x), 0 at x = 0.
double share(double x, double y) noexcept { return x == 0 ? 0 : x * log_share(x, y); }

struct Shares {
  static SampledSpectrum spectrum() { return {shannon_density, kShannonPeriods, 0.5}; }
  static double of(double x, double y) noexcept {
    return kInverseLog4 * (share(x, y) + share(y, x));
  }
  // Derivatives of (x + y) log(x + y) - x log x - y log y: in x alone log((x + y)/x), then
  // differences of powers of 1/(x + y) and 1/x; in both, powers of 1/(x + y). Infinite at x = 0 <
  // y, as is the derivative itself.
  static double derivative(int64_t a, int64_t b, double x, double y) noexcept {
    if (a == 0) return derivative(b, a, y, x);
    const int64_t m = a + b - 1;
    if (m == 0) return kInverseLog4 * log_share(x, y);
    double product = m % 2 == 0 ? -kInverseLog4 : kInverseLog4;  // (m - 1)! over x^m or (x + y)^m
    for (int64_t i = 1; i <= m; ++i)
      product *= static_cast<double>(std::max<int64_t>(i - 1, 1)) / (b == 0 ? x : x + y);
    return b == 0 ? product * std::expm1(-static_cast<double>(m) * log_share(x, y)) : product;
  }
};

// k(x, y) = exp(-gamma sum_j (x_j - y_j)^2 / (x_j + y_j)) (Zhang, Marszalek, Lazebnik, Schmid 2007):
// a term is x_j + y_j less twice their harmonic mean.
class ExponentialChi2 final : public HalfLineKernel<ExponentialChi2, Sum> {
 public:
  explicit ExponentialChi2(const Parameters& canonical)
      : HalfLineKernel(canonical), gamma_(canonical.number("gamma")) {}
  double term(double x, double y) const noexcept {
    const double least = std::min(x, y), most = std::max(x, y);
    return most == 0 ? 0 : (most - least) * ((1 - least / most) / (1 + least / most));
  }
  double finish(double distance) const noexcept { return std::exp(-gamma_ * distance); }
  double log_size(int64_t d, const double* x, const double* y) const noexcept override {
    return std::log(variance()) - gamma_ * joined(d, x, y);
  }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    return make_differential([this, p, q](int64_t d, const double* x, const double* y) {
      double product = value(d, x, y);
      for_each_input(p, q, [&](int64_t k, int64_t a, int64_t b) noexcept {
        if (product != 0)
          product *= exponential_slope(
              a, b, [&](int64_t m, int64_t n) { return slope(m, n, x[k], y[k]); });
      });
      return product;
    });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const double k = factor * value(d, x, y);
    for (int64_t j = 0; j < d; ++j)
      if (k != 0) out[j] += k * slope(1, 0, x[j], y[j]);
  }

 private:
  /// Of the exponent, of order a in x and b in y.
  double slope(int64_t a, int64_t b, double x, double y) const noexcept {
    return gamma_ * (2 * HomogeneousKernel<HarmonicMean>::slope(a, b, x, y) - (a + b == 1 ? 1 : 0));
  }

  double gamma_;
};

// k(x, y) = sum_j min(x_j, y_j) / sum_j max(x_j, y_j), 1 of two rows of zeros: of rows of 0 and 1 the
// share of what both have in what either has (Jaccard 1901; Tanimoto 1958). Positive definite
// (Ralaivola, Swamidass, Saigo, Baldi 2005).
class Tanimoto final : public Kernel {
 public:
  explicit Tanimoto(const Parameters& canonical) : Kernel(canonical) {
    traits_.input_bound = {0, false};
    traits_.is_tanimoto = true;
  }
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    double least = joined<Least>(1, d, x, y), most = joined<Most>(1, d, x, y);
    if (std::isinf(most)) {
      constexpr double kUnit = 0x1p-60;
      least = joined<Least>(kUnit, d, x, y), most = joined<Most>(kUnit, d, x, y);
    }
    return variance() * (most == 0 ? 1 : least / most);
  }

 private:
  struct Least {
    static double of(double x, double y) noexcept { return std::min(x, y); }
  };
  struct Most {
    static double of(double x, double y) noexcept { return std::max(x, y); }
  };
  template <class Which>
  static double joined(double unit, int64_t d, const double* x, const double* y) noexcept {
    return lane_fold<Sum>(
        d, [=](int64_t j) { return x[j] >= 0 && y[j] >= 0 ? unit * Which::of(x[j], y[j]) : kNaN; });
  }
};

// Kernels E exp(-omega'(x + y)) of rows without negative entries, omega with independent, equal
// coordinates >= 0.

// Draws scale times the numbers of kFill; kQuantile makes such a number from a uniform one.
template <auto kFill, auto kQuantile>
class LaplaceLaw final : public random::Law {
 public:
  explicit LaplaceLaw(double scale) : scale_(scale) {}
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    kFill(stream, 0, omega);
    for (double& w : omega) w = finite(w);
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return false; }  // not symmetric about 0
  // One component: the coordinates are independent in any case.
  bool is_mixture() const noexcept override { return true; }
  double mixing(double u) const noexcept override { return u; }
  double quantile_given(double /*m*/, int64_t /*k*/, double u) const noexcept override {
    return finite(kQuantile(u));
  }

 private:
  // Heavy tails stay finite as floats: 0 times infinity would be NaN. An entry this large takes a
  // kernel value of 0 from any input above 1e-34.
  double finite(double w) const noexcept {
    constexpr double kMost = 1e37;
    return std::min(scale_ * w, kMost);
  }
  double scale_;
};

// A product of functions g of x_j + y_j, each a Laplace transform, smooth above 0. Derived also
// offers  double relative_slope(n, s) const, g^(n)(s)/g(s).
template <class Derived, class Join, auto kFill, auto kQuantile>
class SemigroupKernel : public HalfLineKernel<Derived, Join> {
 public:
  int64_t most_derivatives() const noexcept final { return 2 * kMostDerivatives; }
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const final {
    return make_differential(
        [this, order = sum_of(p, q)](int64_t d, const double* x, const double* y) {
          double product = this->value(d, x, y);
          for (const PartialFactor& one : order)
            product = times_slope(product, one.order, x[one.input] + y[one.input]);
          return product;
        });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept final {
    const double k = factor * this->value(d, x, y);
    for (int64_t j = 0; j < d; ++j) out[j] += times_slope(k, 1, x[j] + y[j]);
  }

 protected:
  SemigroupKernel(const Parameters& canonical, double scale)
      : HalfLineKernel<Derived, Join>(canonical), law_(scale) {
    this->traits_.laplace_law = &law_;
  }

 private:
  // 0 where the kernel vanishes.
  double times_slope(double k, int64_t n, double s) const noexcept {
    return k == 0 ? 0 : k * static_cast<const Derived&>(*this).relative_slope(n, s);
  }

  LaplaceLaw<kFill, kQuantile> law_;
};

// The entry of such a kernel with one parameter, whose square and inverse are normal numbers.
template <class Kind>
KernelEntry semigroup_entry(const char* name, const char* help, const char* key,
                            const char* key_help) {
  return entry_of<Kind>(name, help, {number_field(key, 1.0, 1e-100, 1e100, key_help)}, "laplace");
}

// k(x, y) = exp(-beta sum_j sqrt(x_j + y_j)) (Yang, Sindhwani, Fan, Avron, Mahoney 2014, random
// Laplace features): E exp(-omega'(x + y)) with independent Levy coordinates of scale beta^2 / 2.

/// The distribution function 2 (1 - Phi(x^{-1/2})) inverted: 1/z^2 with Phi(z) = u/2.
double levy_quantile(double u) noexcept {
  const double z = random::normal_quantile(u / 2);
  return 1 / (z * z);
}

class ExponentialSemigroup final
    : public SemigroupKernel<ExponentialSemigroup, Sum, random::fill_levy, levy_quantile> {
 public:
  explicit ExponentialSemigroup(const Parameters& canonical)
      : ExponentialSemigroup(canonical, canonical.number("beta")) {}
  double term(double x, double y) const noexcept { return std::sqrt(x + y); }
  double finish(double roots) const noexcept { return std::exp(-beta_ * roots); }
  // 4 s g'' + 2 g' = beta^2 g, so 4 s g^(n+2) = beta^2 g^(n) - (4 n + 2) g^(n+1), whose terms have
  // one sign. Infinite at 0, as the derivative is.
  double relative_slope(int64_t n, double s) const noexcept {
    double before = 1, now = -0.5 * beta_ / std::sqrt(s);
    for (int64_t m = 0; m + 1 < n; ++m) {
      const double next = (beta_ * beta_ * before - static_cast<double>(4 * m + 2) * now) / (4 * s);
      before = now;
      now = next;
    }
    return now;
  }

 private:
  ExponentialSemigroup(const Parameters& canonical, double beta)
      : SemigroupKernel(canonical, 0.5 * beta * beta), beta_(beta) {}
  double beta_;
};

// k(x, y) = prod_j lambda / (x_j + y_j + lambda) (Yang, Sindhwani, Fan, Avron, Mahoney 2014, random
// Laplace features): E exp(-omega'(x + y)) with independent exponential coordinates of that rate.

/// Quantile at 1 - u, which is uniform as well and keeps the digits of small u.
double exponential_quantile(double u) noexcept { return -random::portable_log(u); }

class ReciprocalSemigroup final
    : public SemigroupKernel<ReciprocalSemigroup, Product, random::fill_exponential,
                             exponential_quantile> {
 public:
  explicit ReciprocalSemigroup(const Parameters& canonical)
      : SemigroupKernel(canonical, 1 / canonical.number("lambda")),
        inverse_(1 / canonical.number("lambda")) {}
  // The product of the denominators: where it overflows the kernel is below 1e-308.
  double term(double x, double y) const noexcept { return 1 + (x + y) * inverse_; }
  double finish(double denominator) const noexcept { return 1 / denominator; }
  double relative_slope(int64_t n, double s) const noexcept {
    double product = 1;
    for (int64_t m = 1; m <= n; ++m)
      product *= -static_cast<double>(m) * inverse_ / (1 + s * inverse_);
    return product;
  }

 private:
  double inverse_;
};

}  // namespace

KernelEntry additive_chi2_entry() {
  return homogeneous_entry<HarmonicMean>("additive_chi2",
                                         "sum_j 2 x_j y_j / (x_j + y_j), inputs >= 0");
}

KernelEntry hellinger_entry() {
  return homogeneous_entry<Roots>("hellinger", "sum_j sqrt(x_j y_j), inputs >= 0");
}

KernelEntry intersection_entry() {
  return homogeneous_entry<Minimum>("intersection", "sum_j min(x_j, y_j), inputs >= 0");
}

KernelEntry jensen_shannon_entry() {
  return homogeneous_entry<Shares>(
      "jensen_shannon",
      "sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), inputs >= 0");
}

KernelEntry exponential_chi2_entry() {
  return entry_of<ExponentialChi2>(
      "exponential_chi2", "exp(-gamma sum_j (x_j - y_j)^2 / (x_j + y_j)), inputs >= 0",
      {positive_field("gamma", 1.0, "decay: of the distance")}, "nystroem");
}

KernelEntry tanimoto_entry() {
  return entry_of<Tanimoto>(
      "tanimoto", "sum_j min(x_j, y_j) / sum_j max(x_j, y_j), 1 of rows of zeros; inputs >= 0", {},
      "nystroem");
}

KernelEntry exponential_semigroup_entry() {
  return semigroup_entry<ExponentialSemigroup>("exponential_semigroup",
                                               "exp(-beta sum_j sqrt(x_j + y_j)), inputs >= 0",
                                               "beta", "decay: of the roots of sums of inputs");
}

KernelEntry reciprocal_semigroup_entry() {
  return semigroup_entry<ReciprocalSemigroup>(
      "reciprocal_semigroup", "prod_j lambda / (x_j + y_j + lambda), inputs >= 0", "lambda",
      "the sum of two inputs that halves the kernel");
}

}  // namespace mercer::kernel
