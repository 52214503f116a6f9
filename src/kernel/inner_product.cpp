// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The kernels polynomial, dot_product, exponential and bilinear, functions of inner products, anova,
// of the products of entries, and arc_cosine, sign and optical, of norms and the angle.
#include "kernel/inner_product.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "kernel/entry.h"
#include "kernel/jet.h"

namespace mercer::kernel {
namespace {

// k(x, y) = variance (gamma x'y + offset)^degree. No spectral law: its maps are
// sketches, and for degree 1 without offset, which is the plain inner product, the linear map.

/// a_n = variance binomial(p, n) gamma^n offset^(p - n).
class BinomialSeries final : public PowerSeries {
 public:
  BinomialSeries(const InnerPower& power, double variance) : power_(power), variance_(variance) {}
  double coefficient(int64_t n) const noexcept override {
    if (n < 0 || n > power_.degree) return 0;
    const auto rest = static_cast<double>(power_.degree - n);
    double a = variance_ * std::pow(power_.offset, rest);
    for (double i = 1; i <= static_cast<double>(n); ++i) a *= power_.gamma * ((rest + i) / i);
    return a;
  }
  std::optional<int64_t> degree() const noexcept override { return power_.degree; }

 private:
  InnerPower power_;
  double variance_;
};

class Polynomial final : public InnerProductKernel<Polynomial> {
 public:
  explicit Polynomial(const Parameters& canonical)
      : InnerProductKernel(canonical),
        power_{canonical.integer("degree"), canonical.number("gamma"), canonical.number("offset")},
        series_(power_, variance()) {
    traits_.inner_power = power_;
  }
  const PowerSeries* series() const noexcept override { return &series_; }

  // A power of an integral exponent takes a negative base, too.
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() * std::pow(power_.gamma * inner_product(d, x, y) + power_.offset,
                                 static_cast<double>(power_.degree));
  }
  double input_factor(int64_t) const noexcept { return power_.gamma; }
  // Derivatives of the power of gamma s + offset; gamma is the factor of every input.
  void slopes(int64_t d, const double* x, const double* y, int64_t count,
              double* f) const noexcept {
    const double base = power_.gamma * inner_product(d, x, y) + power_.offset;
    double falling = variance();  // degree!/(degree - n)!, 0 beyond the degree
    for (int64_t n = 0; n < count; ++n) {
      const int64_t rest = power_.degree - n;
      f[n] = rest < 0 ? 0 : falling * std::pow(base, static_cast<double>(rest));
      falling *= static_cast<double>(rest);
    }
  }

 private:
  InnerPower power_;
  BinomialSeries series_;
};

// k(x, y) = sum_n a_n (x'y)^n with the caller's coefficients: positive definite in every dimension
// iff all a_n >= 0 (Schoenberg 1942; Kar, Karnick, "Random feature maps for dot product kernels",
// AISTATS 2012).
class CoefficientSeries final : public PowerSeries {
 public:
  CoefficientSeries(std::vector<double> coefficients, double variance)
      : coefficients_(std::move(coefficients)), variance_(variance) {
    while (coefficients_.size() > 1 && coefficients_.back() == 0) coefficients_.pop_back();
  }
  double coefficient(int64_t n) const noexcept override {
    return n < 0 || n >= std::ssize(coefficients_) ? 0 : variance_ * coefficients_[n];
  }
  std::optional<int64_t> degree() const noexcept override { return std::ssize(coefficients_) - 1; }

  // The sum at x'y = s, without the variance (Horner).
  double sum(double s) const noexcept { return slope(s, 0); }
  // Its derivative of order n.
  double slope(double s, size_t n) const noexcept {
    double value = 0;
    for (size_t m = coefficients_.size(); m-- > n;) {
      double a = coefficients_[m];
      for (size_t i = 0; i < n; ++i) a *= static_cast<double>(m - i);
      value = value * s + a;
    }
    return value;
  }

 private:
  std::vector<double> coefficients_;
  double variance_;
};

class DotProduct final : public InnerProductKernel<DotProduct> {
 public:
  explicit DotProduct(const Parameters& canonical)
      : InnerProductKernel(canonical), series_(canonical.numbers("coefficients"), variance()) {
    const std::vector<double> given = canonical.numbers("coefficients");
    require(std::ssize(given) <= kMostPower + 1, MERCER_INVALID_ARGUMENT,
            "coefficients = a list of %zu numbers, expected at most %ld", given.size(),
            kMostPower + 1);
  }
  const PowerSeries* series() const noexcept override { return &series_; }

  // A row with NaN or Inf gives NaN, also for a constant kernel.
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    const double s = inner_product(d, x, y);
    return variance() * (s != s ? s : series_.sum(s));
  }
  double input_factor(int64_t) const noexcept { return 1; }
  void slopes(int64_t d, const double* x, const double* y, int64_t count,
              double* f) const noexcept {
    const double s = inner_product(d, x, y);
    for (int64_t n = 0; n < count; ++n)
      f[n] = variance() * (s != s ? s : series_.slope(s, static_cast<size_t>(n)));
  }

 private:
  CoefficientSeries series_;
};

// k(x, y) = exp(x'y / l^2): the softmax kernel of attention (Choromanski et al., "Rethinking
// attention with performers", ICLR 2021), and the Gaussian without its radial factors.
class Exponential final : public InnerProductKernel<Exponential> {
 public:
  explicit Exponential(const Parameters& canonical)
      : InnerProductKernel(canonical), series_(variance(), 0) {
    for (const double l : lengthscale()) inverse_.push_back(1 / l);
  }
  const PowerSeries* series() const noexcept override { return &series_; }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() * std::exp(exponent(d, x, y));
  }
  double log_size(int64_t d, const double* x, const double* y) const noexcept override {
    return std::log(variance()) + exponent(d, x, y);
  }
  double input_factor(int64_t k) const noexcept {
    const double inverse = inverse_[inverse_.size() > 1 ? static_cast<size_t>(k) : 0];
    return inverse * inverse;
  }
  void slopes(int64_t d, const double* x, const double* y, int64_t count,
              double* f) const noexcept {
    std::fill_n(f, count, value(d, x, y));
  }

 private:
  double exponent(int64_t d, const double* x, const double* y) const noexcept {
    const double* const inverse = inverse_.data();
    const int64_t step = inverse_.size() > 1 ? 1 : 0;
    return lane_fold<Sum>(d, [=](int64_t j) noexcept {
      return (x[j] * inverse[step * j]) * (y[j] * inverse[step * j]);
    });
  }

  ExponentialSeries series_;
  std::vector<double> inverse_;  // 1/lengthscale
};

// k(x, y) = variance (x1'y1)(x2'y2) on rows x = [x1 | x2]: what compact bilinear pooling estimates
// (Gao, Beijbom, Zhang, Darrell 2016; with two inputs Fukui et al. 2016). No
// spectral law: its maps are sketches whose two factors read one part each.

// A row has 2^31 - 1 inputs at most, one of them right.
constexpr double kMostLeft = 2147483646;

class Bilinear final : public Kernel {
 public:
  explicit Bilinear(const Parameters& canonical)
      : Kernel(canonical), left_(canonical.integer("left")) {
    traits_.left_inputs = left_;
    traits_.inner_power = {2, 1, 0};
  }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() *
           (inner_product(left_, x, y) * inner_product(d - left_, x + left_, y + left_));
  }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  // The product of the derivatives of two factors that share no input.
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    return make_differential([this, p, q](int64_t d, const double* x, const double* y) {
      int64_t inputs[2] = {};
      double slopes[2] = {};  // of x1'y1 and x2'y2
      for_each_input(p, q, [&](int64_t k, int64_t a, int64_t b) noexcept {
        const size_t part = k >= left_;
        const double alone = (a == 0 ? x[k] : 1) * (b == 0 ? y[k] : 1);
        slopes[part] = ++inputs[part] > 1 || a > 1 || b > 1 ? 0 : alone;
      });
      if (inputs[0] == 0) slopes[0] = inner_product(left_, x, y);
      if (inputs[1] == 0) slopes[1] = inner_product(d - left_, x + left_, y + left_);
      return variance() * (slopes[0] * slopes[1]);
    });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const double one = factor * variance() * inner_product(d - left_, x + left_, y + left_);
    const double two = factor * variance() * inner_product(left_, x, y);
    for (int64_t k = 0; k < d; ++k) out[k] += (k < left_ ? one : two) * y[k];
  }

 private:
  int64_t left_;
};

// k(x, y) = sum over S, |S| = degree, of prod_{j in S} x_j y_j (Stitson et al. 1999), by the
// recursion e_t += e_{t-1} x_j y_j of elementary symmetric polynomials; or over all S: prod_j (1 +
// x_j y_j).
constexpr int64_t kMostSubset = 16;

enum class Subsets { of_degree, all };
constexpr const char* kSubsetWords[] = {"of_degree", "all"};
constexpr Choice<Subsets> kSubsets{
    "subsets", kSubsetWords, "all: of every size, the empty one included; degree is then left out"};

class Anova final : public Kernel {
 public:
  explicit Anova(const Parameters& canonical)
      : Kernel(canonical),
        degree_(kSubsets.read(canonical) == Subsets::all ? 0 : canonical.integer("degree")) {
    require(degree_ > 0 || canonical.integer("degree") == 2, MERCER_INVALID_ARGUMENT,
            "degree = %ld, expected it left out: subsets = all has every degree",
            canonical.integer("degree"));
    traits_.subset_degree = degree_;
    traits_.least_inputs = std::max<int64_t>(degree_, 1);
  }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() *
           (degree_ > 0 ? symmetric(d, x, y)
                        : lane_fold<Product>(d, [x, y](int64_t j) { return 1 + x[j] * y[j]; }));
  }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  // Linear in every input of x and of y: only subsets with all inputs of p and q remain, with one
  // factor for each of these.
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    return make_differential([this, p, q](int64_t d, const double* x, const double* y) {
      double factor = variance();
      int64_t j = 0;
      Sums sums{degree_};
      for_each_input(p, q, [&](int64_t k, int64_t a, int64_t b) noexcept {
        if (a > 1 || b > 1) factor = 0;
        if (b == 0) factor *= y[k];
        if (a == 0) factor *= x[k];
        for (; j < k; ++j) sums.join(x[j] * y[j]);
        ++j;
        if (!sums.take_one()) factor = 0;
      });
      for (; j < d && factor != 0; ++j) sums.join(x[j] * y[j]);
      return factor == 0 ? 0 : factor * sums.e[sums.degree];
    });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    Sums sums{degree_};
    sums.take_one();
    leave_one_out(
        0, d, sums, [=](Sums& own, int64_t j) noexcept { own.join(x[j] * y[j]); },
        [&](int64_t k, const Sums& own) noexcept {
          out[k] += factor * variance() * y[k] * own.e[own.degree];
        });
  }

 private:
  /// Sums over subsets of the inputs so far, by size; with degree 0 over all subsets.
  struct Sums {
    int64_t degree;
    bool all = degree == 0;
    double e[kMostSubset + 1] = {1};

    void join(double product) noexcept {
      for (int64_t t = degree; t > 0; --t) e[t] += e[t - 1] * product;
      if (all) e[0] *= 1 + product;
    }
    /// Requires one input in every subset; false if no subset is left.
    bool take_one() noexcept {
      if (all) return true;
      return --degree >= 0;
    }
  };

  double symmetric(int64_t d, const double* x, const double* y) const noexcept {
    Sums sums{degree_};
    for (int64_t j = 0; j < d; ++j) sums.join(x[j] * y[j]);
    return sums.e[degree_];
  }

  int64_t degree_;  // 0: all
};

// k_n(x, y) = ||x||^n ||y||^n J_n(theta) / pi, the kernel of a layer of neurons (w'x)_+^n with
// normal weights (Cho, Saul, "Kernel methods for deep learning", NIPS 2009, eq. 1 to 6). No paper
// gives J_4: it is their recursion J_n = (-1)^n sin^{2n+1} (1/sin d/dtheta)^n ((pi - theta)/sin)
// carried on, and the variance of order 2 needs it.

// tan(theta / 2) = ||u - v|| / ||u + v|| for unit vectors u and v (Kahan, "How futile are mindless
// assessments of roundoff", 2006, section 12).

// ||x|| = unit * root. The unit is 1 where squares neither overflow nor vanish.
struct Norm {
  double unit;
  double root;
  double value() const noexcept { return unit * root; }
};

Norm norm_of(int64_t d, const double* x) noexcept {
  const double squares = inner_product(d, x, x);
  if (squares > 1e-200 && squares < 1e200) return {1, std::sqrt(squares)};
  double largest = 0;
  for (int64_t j = 0; j < d; ++j) {
    if (!std::isfinite(x[j])) return {1, kNaN};
    largest = std::max(largest, std::fabs(x[j]));
  }
  if (largest == 0) return {1, 0};
  double scaled = 0;
  for (int64_t j = 0; j < d; ++j) scaled += (x[j] / largest) * (x[j] / largest);
  return {largest, std::sqrt(scaled)};
}

constexpr double kMostOrder = 2;

// J_n(pi - rest): near pi it is O(rest^{2n+1}), and the terms cancel.
double angular(int n, double theta, double rest) noexcept {
  const double s = std::sin(std::fmin(theta, rest)),
               c = theta < rest ? std::cos(theta) : -std::cos(rest);
  const double cc = c * c;
  switch (n) {
    case 0:
      return rest;
    case 1:
      return s + rest * c;
    case 2:
      return 3 * s * c + rest * (1 + 2 * cc);
    case 4:
      return 5 * s * c * (11 + 10 * cc) + rest * (9 + cc * (72 + 24 * cc));
    default:
      return kNaN;
  }
}

class ArcCosine final : public Kernel {
 public:
  explicit ArcCosine(const Parameters& canonical)
      : Kernel(canonical), order_(canonical.integer("order")) {
    traits_.activation = {Activation::Function::positive_power, order_};
  }
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() * arc_cosine_moment(static_cast<int>(order_), angle_between(d, x, y));
  }

 private:
  int64_t order_;
};

// k(x, y) = E sign(w'x) sign(w'y) = 1 - 2 theta/pi, w ~ N(0, I) (Goemans, Williamson 1995, lemma
// 3.2; Charikar 2002), sign(0) = 1: rows of zeros have 0 with others, 1 with each other.
class Sign final : public Kernel {
 public:
  explicit Sign(const Parameters& canonical) : Kernel(canonical) {
    traits_.activation = {Activation::Function::sign, 0};
  }
  // theta + rest = pi.
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    const Angle angle = angle_between(d, x, y);
    return variance() * ((angle.rest - angle.theta) * kInversePi);
  }
};

// k_m(x, y) = E |u'x|^m |u'y|^m for complex normal u, m = 2s: what a camera sees behind a
// scattering medium, for m = 2 (Saade et al., "Random projections through multiple optical
// scattering", ICASSP 2016; Ohana et al., "Kernel computations from large-scale random features
// obtained by optical processing units", ICASSP 2020, theorem 2). m = 2: ||x||^2 ||y||^2 + (x'y)^2.
// Of real u, whose tails are those of their bound, k_2 = ||x||^2 ||y||^2 + 2 (x'y)^2: E u^m v^m of
// normal u, v of covariance rho is sum_k k! (C(m, k) (m - k - 1)!!)^2 rho^k over even m - k.
constexpr double kMostExponent = 16;

constexpr const char* kEntryWords[] = {"complex", "real"};
constexpr Choice<OpticalEntries> kEntries{"entries", kEntryWords,
                                          "of u; real: one projection a row instead of two"};

/// The moment is leading_moment times the sum over j of moment_share dot^{2 (s - j)} N^j: C(s, j)^2,
/// of real entries the product over i < j of (s - i) (2 s - 2 i - 1) / (2 (i + 1)^2).
double moment_share(OpticalEntries entries, int64_t s, int64_t j) noexcept {
  double choose = 1, share = 1;
  for (int64_t i = 0; i < j; ++i) {
    const auto rest = static_cast<double>(s - i), next = static_cast<double>(i + 1);
    choose *= rest / next;
    share *= rest * (2 * rest - 1) / (2 * next * next);
  }
  return entries == OpticalEntries::real ? share : choose * choose;
}
/// s!^2, of real entries (2 s)!.
double leading_moment(OpticalEntries entries, int64_t s) noexcept {
  const bool real = entries == OpticalEntries::real;
  double factorial = 1;
  for (int64_t i = 2; i <= (real ? 2 * s : s); ++i) factorial *= static_cast<double>(i);
  return real ? factorial : factorial * factorial;
}

// Jets of x'y, ||x||^2 and ||y||^2, which are of degree 2 and so have few coefficients, then of the
// polynomial of these by Horner's rule.
class OpticalDifferential final : public Differential {
 public:
  OpticalDifferential(OpticalEntries entries, int64_t s, double variance, const MultiIndex& p,
                      const MultiIndex& q)
      : jet_(joint_index(p, q)),
        entries_(entries),
        s_(s),
        factor_(variance * leading_moment(entries, s) * jet_.factorial) {}

  double at(int64_t d, const double* x, const double* y) const noexcept override {
    double dot[Jet::kMost] = {inner_product(d, x, y)};
    double xx[Jet::kMost] = {inner_product(d, x, x)}, yy[Jet::kMost] = {inner_product(d, y, y)};
    for (size_t v = 0; v < jet_.p.size(); ++v) {
      const bool is_second = jet_.p[v].input >= kOfSecond;
      const int64_t k = jet_.p[v].input - (is_second ? kOfSecond : 0);
      dot[jet_.steps[v]] = is_second ? x[k] : y[k];
      for (size_t u = 0; u < v; ++u)
        if (jet_.p[u].input + kOfSecond == jet_.p[v].input) dot[jet_.steps[u] + jet_.steps[v]] = 1;
      double* const norm = is_second ? yy : xx;
      norm[jet_.steps[v]] = 2 * (is_second ? y : x)[k];
      if (jet_.p[v].order > 1) norm[2 * jet_.steps[v]] = 1;
    }
    double power[Jet::kMost] = {1}, sum[Jet::kMost] = {1};
    for (int64_t j = 1; j <= s_; ++j) {
      jet_.multiply(sum, dot);
      jet_.multiply(sum, dot);
      jet_.multiply(power, xx);
      jet_.multiply(power, yy);
      const double share = moment_share(entries_, s_, j);
      for (int64_t c = 0; c < jet_.count; ++c) sum[c] += share * power[c];
    }
    return factor_ * sum[jet_.count - 1];
  }

 private:
  Jet jet_;
  OpticalEntries entries_;
  int64_t s_;
  double factor_;
};

class Optical final : public Kernel {
 public:
  explicit Optical(const Parameters& canonical)
      : Kernel(canonical),
        entries_(kEntries.read(canonical)),
        exponent_(canonical.integer("exponent")) {
    require(exponent_ % 2 == 0, MERCER_INVALID_ARGUMENT,
            "exponent = %ld, expected an even integer from 2 to %g", exponent_, kMostExponent);
    traits_.activation = {entries_ == OpticalEntries::real ? Activation::Function::real_modulus
                                                           : Activation::Function::complex_modulus,
                          exponent_};
  }
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    const double N = inner_product(d, x, x) * inner_product(d, y, y);
    return variance() * optical_moment(entries_, exponent_ / 2, inner_product(d, x, y), N);
  }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    return std::make_unique<const OpticalDifferential>(entries_, exponent_ / 2, variance(), p, q);
  }
  // Slopes in dot and in ||x||^2 of the sum over j of moment_share dot^{2 (s - j)} N^j.
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const int64_t s = exponent_ / 2;
    const double dot = inner_product(d, x, y), yy = inner_product(d, y, y);
    const double N = inner_product(d, x, x) * yy;
    double in_dot = 0, in_N = 0;
    for (int64_t j = 0; j <= s; ++j) {
      const double c = moment_share(entries_, s, j);
      const auto rest = static_cast<double>(s - j), own = static_cast<double>(j);
      if (j < s) in_dot += c * 2 * rest * std::pow(dot, 2 * rest - 1) * std::pow(N, own);
      if (j > 0) in_N += c * own * std::pow(dot, 2 * rest) * std::pow(N, own - 1);
    }
    const double by = factor * variance() * leading_moment(entries_, s);
    for (int64_t k = 0; k < d; ++k) out[k] += by * (in_dot * y[k] + 2 * in_N * yy * x[k]);
  }

 private:
  OpticalEntries entries_;
  int64_t exponent_;
};

}  // namespace

KernelEntry polynomial_entry() {
  return entry_of<Polynomial>(
      "polynomial", "(gamma x'y + offset)^degree",
      {count_field("degree", int64_t{2}, kMostPower, "the power"),
       positive_field("gamma", 1.0, "factor of x'y"),
       number_field("offset", 0.0, 0, std::numeric_limits<double>::max(), "added to gamma x'y")},
      "tensor_srht");
}

KernelEntry dot_product_entry() {
  return entry_of<DotProduct>("dot_product", "sum_n a_n (x'y)^n, a_n >= 0",
                              {{.key = "coefficients",
                                .type = FieldType::numbers,
                                .fallback = {},
                                .least = 0,
                                .most = std::numeric_limits<double>::max(),
                                .help = "a_0, a_1, ...: at most 1025 numbers"}},
                              "nystroem");
}

KernelEntry exponential_entry() {
  return entry_of<Exponential>("exponential", "exp(x'y / l^2)", {lengthscale_field()}, "positive");
}

KernelEntry bilinear_entry() {
  return entry_of<Bilinear>("bilinear", "(x1'y1) (x2'y2) of rows [x1 | x2]",
                            {count_field("left", {}, kMostLeft, "inputs of x1; x2 has the others")},
                            "tensor_srht");
}

KernelEntry anova_entry() {
  return entry_of<Anova>(
      "anova",
      "sum over subsets S of `degree` inputs of prod_{j in S} x_j y_j; all: prod_j (1 + x_j y_j)",
      {count_field("degree", int64_t{2}, kMostSubset, "inputs in a subset"), kSubsets.field()},
      "anova");
}

Angle angle_between(int64_t d, const double* x, const double* y) noexcept {
  constexpr double kRight = 1.5707963267948966192;  // pi/2
  const Norm a = norm_of(d, x), b = norm_of(d, y);
  if (std::isnan(a.root) || std::isnan(b.root)) return {kNaN, kNaN, kNaN, kNaN};
  if (a.root == 0 && b.root == 0) return {0, 0, 0, 2 * kRight};
  if (a.root == 0 || b.root == 0) return {a.value(), b.value(), kRight, kRight};
  const double p = 1 / a.root, q = 1 / b.root;
  const double sine = std::sqrt(lane_fold<Sum>(d, [=](int64_t j) noexcept {
    const double apart = x[j] / a.unit * p - y[j] / b.unit * q;
    return apart * apart;
  }));
  const double cosine = std::sqrt(lane_fold<Sum>(d, [=](int64_t j) noexcept {
    const double along = x[j] / a.unit * p + y[j] / b.unit * q;
    return along * along;
  }));
  return {a.value(), b.value(), 2 * std::atan2(sine, cosine), 2 * std::atan2(cosine, sine)};
}

double arc_cosine_moment(int n, const Angle& angle) noexcept {
  if (angle.has_zeros()) return 0;
  const double J = angular(n, angle.theta, angle.rest);
  // Negative only by cancellation.
  return std::pow(angle.x * angle.y, n) * (J < 0 ? 0 : J) * kInversePi;
}

KernelEntry arc_cosine_entry() {
  return entry_of<ArcCosine>(
      "arc_cosine", "||x||^n ||y||^n J_n(angle)/pi, n = order: 2 E (w'x)_+^n (w'y)_+^n of normal w",
      {integer_field("order", int64_t{1}, 0, kMostOrder,
                     "power n of the neurons: 0 steps, 1 ramps, 2 squared ramps")},
      "arc_cosine");
}

KernelEntry sign_entry() {
  return entry_of<Sign>("sign", "1 - 2 angle/pi: E sign(w'x) sign(w'y) of normal w", {}, "sign");
}

// No term is negative.
double optical_moment(OpticalEntries entries, int64_t s, double dot, double N) noexcept {
  const double square = dot * dot;
  double sum = 0, power = 1;
  for (int64_t j = 0; j <= s; ++j) {
    sum += moment_share(entries, s, j) * std::pow(square, static_cast<double>(s - j)) * power;
    power *= N;
  }
  return leading_moment(entries, s) * sum;
}

KernelEntry optical_entry() {
  return entry_of<Optical>(
      "optical",
      "E |u'x|^m |u'y|^m, m = exponent, of complex normal u; m = 2: ||x||^2 ||y||^2 + (x'y)^2",
      {integer_field("exponent", int64_t{2}, 2, kMostExponent, "m, even; 2: what a camera sees"),
       kEntries.field()},
      "optical");
}

}  // namespace mercer::kernel
