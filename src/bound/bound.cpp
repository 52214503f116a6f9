// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "bound/bound.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"

namespace mercer::bound {
namespace {

constexpr double kMostFrequencies = 9007199254740992;  // 2^53

}  // namespace

Field bound_name_field() { return name_field("bound", bound_table(), "which bound"); }

std::span<const BoundEntry> bound_table() {
  static const BoundEntry kTable[] = {uniform_bound_entry(),      expected_bound_entry(),
                                      derivative_bound_entry(),   sketch_bound_entry(),
                                      decomposable_bound_entry(), bounded_features_entry(),
                                      unbounded_features_entry(), ridge_bound_entry(),
                                      excess_risk_bound_entry(),  kernel_pca_bound_entry()};
  return kTable;
}

std::vector<Field> bound_fields(const BoundEntry& entry) {
  std::vector<Field> fields = {bound_name_field()};
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  return fields;
}

Field bound_kernel_field(const char* help) {
  return {.key = "kernel",
          .type = FieldType::kernel,
          .fallback = kOptional,
          .help = help,
          .canonical = kernel::canonical_kernel};
}

Field optional_above_zero(const char* key, const char* help) {
  return number_above_field(key, kOptional, 0, kUnbounded, help);
}

std::vector<Field> bound_size_fields() {
  return {count_field("inputs", {}, 1e6, "d"),
          count_field("frequencies", kOptional, kMostFrequencies,
                      "F, independent frequencies; absent: the least number, answered")};
}

std::unique_ptr<kernel::Kernel> bound_kernel(const Parameters& asked) {
  return kernel::make_kernel(asked.object("kernel"));
}

bool is_first_given(const Parameters& asked, const char* first, const char* second) {
  const bool has_first = asked.find(first) != nullptr, has_second = asked.find(second) != nullptr;
  require(has_first != has_second, MERCER_INVALID_ARGUMENT,
          "%s \"%s\" %s \"%s\", expected one of the two", has_first ? "both" : "neither", first,
          has_first ? "and" : "nor", second);
  return has_first;
}

void set_answer(Parameters& asked, const char* key, double value) {
  require(std::isfinite(value), MERCER_INVALID_ARGUMENT,
          "%s is not finite, expected numbers that leave it finite", key);
  asked.set(key, value);
}

// Bounds of the error of kernel values. "uniform": Fourier features over a set, for every spectral
// distribution with a second moment (Sriperumbudur, Szabo 2015, theorem 1). "expected": the mean of
// the largest error there, for both forms of features, and what lies above it (as Sutherland,
// Schneider 2015, sections 2.3 and 2.4; see below). "sketch": products of
// Rademacher projections at two rows (Wacker, Kanagawa, Filippone 2022; theorem 3.4.1 of Wacker's
// thesis).

namespace {

constexpr double kMostFeatures = 9007199254740992;  // 2^53

/// E ||omega||^2 = -Laplacian k(0) / k(0).
double second_moment(const kernel::Kernel& kernel, int64_t d) {
  require(
      kernel.outputs(d) == 1 && kernel.is_shift_invariant() && kernel.most_derivatives() >= 2,
      MERCER_UNSUPPORTED,
      "kernel %s has no second spectral moment, expected a shift-invariant kernel of one output "
      "with two derivatives, or \"second_moment\" in its place",
      std::string(kernel.name()).c_str());
  const std::vector<double> origin(d, 0.0);
  const auto of_input = [&](int64_t k) {
    return -kernel.derivative({{k, 2}}, d, origin.data(), origin.data()) / kernel.value_at_zero();
  };
  if (kernel.ignores_common_zeros()) return static_cast<double>(d) * of_input(0);
  double sum = 0;
  for (int64_t k = 0; k < d; ++k) sum += of_input(k);
  return sum;
}

/// h(d, |S|, sigma) of the theorem, which holds in every unit of length.
double complexity(int64_t d, double diameter, double sigma) {
  const double reach = std::log1p(2 * diameter);
  return std::sqrt(2 * static_cast<double>(d)) *
         (32 * std::sqrt(reach) + 32 * std::sqrt(std::log1p(sigma)) + 16 / std::sqrt(reach));
}

/// The least over units, by golden sections of the unit's logarithm about the one in which the two
/// lengths are equal.
double least_complexity(int64_t d, double diameter, double sigma) {
  constexpr double kGolden = 0.6180339887498949, kWide = 12;
  const double middle = (std::log(sigma) - std::log(diameter)) / 2;
  const auto at = [&](double log_unit) {
    return complexity(d, diameter * std::exp(log_unit), sigma * std::exp(-log_unit));
  };
  double low = middle - kWide, high = middle + kWide;
  while (high - low > 1e-9) {
    const double width = kGolden * (high - low), left = high - width, right = low + width;
    (at(left) < at(right) ? high : low) = at(left) < at(right) ? right : left;
  }
  return at((low + high) / 2);
}

/// k(0). Answers "second_moment" of a kernel.
double take_moment(Parameters& asked) {
  if (!is_first_given(asked, "kernel", "second_moment")) return 1;
  const auto kernel = bound_kernel(asked);
  set_answer(asked, "second_moment", second_moment(*kernel, asked.integer("inputs")));
  return kernel->value_at_zero();
}

/// Answers "frequencies", the given ones or the least with sum / sqrt(F) <= epsilon, and returns
/// their root.
double take_frequencies(Parameters& asked, double sum) {
  int64_t F = 0;
  if (is_first_given(asked, "frequencies", "epsilon")) {
    F = asked.integer("frequencies");
  } else {
    const double epsilon = asked.number("epsilon");
    F = least_where(
        [&](int64_t count) { return sum / std::sqrt(static_cast<double>(count)) <= epsilon; },
        "epsilon", epsilon);
  }
  asked.set("frequencies", F);
  return std::sqrt(static_cast<double>(F));
}

Parameters answer_uniform(Parameters asked) {
  const double variance = take_moment(asked), sigma = std::sqrt(asked.number("second_moment"));
  const double h = least_complexity(asked.integer("inputs"), asked.number("diameter"), sigma);
  const double sum = variance * (h + std::sqrt(-2 * std::log(asked.number("delta"))));
  const double root = take_frequencies(asked, sum);
  set_answer(asked, "epsilon", sum / root);
  return asked;
}

// E sup |X_t| over a ball of radius l, X_t = sum_i e_i a_i(t) / F with random signs e_i, functions
// |a_i| <= 1 and |a_i(t) - a_i(s)| <= ||omega_i|| |t - s|: a chain of nets of radii r_j = r q^j, of
// at most N_j = (1 + 2 l / r_j)^d points each, and E max of N sub-Gaussian variables and their
// negatives at most sqrt(2 log(2 N)) times their deviation. sqrt F times the bound is
//   s_0 + sigma sum_j r_j s_{j + 1},  s_j = sqrt(2 log(2 N_j)),
// s_0 being for the first net; or, a_i - a_i(0) in place of a_i, the root of E X_0^2 and
// sigma l s_0. Sutherland and Schneider take Dudley's integral of E max ||omega_i|| and the
// kernel's Lipschitz constant L, 24 c sqrt(d) l (E max ||omega|| + L)/sqrt(2 F), c = 0.964, which
// grows with the diameter: the chain, its r and q chosen, is a fifteenth of it where l sigma is 1.
double chain(int64_t d, double l, double sigma, double at_centre) {
  constexpr double kRounding = 1e-17;
  const auto of_net = [&](double r) {
    const double log = l / r < 1e16 ? std::log1p(2 * l / r) : std::log(2 * l) - std::log(r);
    return std::sqrt(2 * (std::log(2.0) + static_cast<double>(d) * log));
  };
  double least = kInfinity;
  for (double r = l; r > 1e-3 * std::min(l, 1 / sigma); r *= 0.84)
    for (double q = 0.5; q > 1e-3; q *= 0.7) {
      double sum = std::min(of_net(r), at_centre + sigma * l * of_net(r)), link = kInfinity;
      for (double radius = r; link > kRounding * sum && sum < least; radius *= q)
        sum += link = sigma * radius * of_net(radius * q);
      least = std::min(least, sum);
    }
  return least;
}

// Of form pair the error at tau = x - y is the mean of cos omega'tau - k, 0 at tau = 0, in a ball
// of radius |S|: twice the chain, by symmetrisation. Of form phase it is that and the mean of
// cos(omega'(x + y) + 2 b), which has random signs already, x + y less twice the centre of a ball
// about S within sqrt 2 |S| (Jung 1901). One frequency changes the largest error by at most 2 k(0)/F,
// of form phase 4 k(0)/F (McDiarmid 1989).
Parameters answer_expected(Parameters asked) {
  const int64_t d = asked.integer("inputs");
  const bool phases = asked.text("form") == "phase";
  const double variance = take_moment(asked), sigma = std::sqrt(asked.number("second_moment"));
  const double diameter = asked.number("diameter");
  double mean = 2 * chain(d, diameter, sigma, 0);
  if (phases) mean += chain(d, std::sqrt(2.0) * diameter, sigma, std::sqrt(0.5));
  const bool above = asked.find("delta") != nullptr;
  const double beyond =
      above ? (phases ? 2 : 1) * std::sqrt(-2 * std::log(asked.number("delta"))) : 0;
  const double root = take_frequencies(asked, variance * (mean + beyond));
  set_answer(asked, "expected", variance * mean / root);
  if (above) set_answer(asked, "epsilon", variance * (mean + beyond) / root);
  return asked;
}

/// Of two rows: log(||x|| ||y||), log(||x||_1 ||y||_1), and over ||x||^2 ||y||^2 the square of x'y
/// and the sum of squares of its terms.
struct PairOfRows {
  double log_norms = 0, log_sums = 0, square = 0, diagonal = 0;
};

PairOfRows pair_of(const std::vector<double>& x, const std::vector<double>& y) {
  require(x.size() == y.size(), MERCER_DIMENSION_MISMATCH,
          "x has %zu numbers and y %zu, expected as many", x.size(), y.size());
  const auto largest = [](const char* name, const std::vector<double>& row) {
    double most = 0;
    for (const double one : row) most = std::max(most, std::fabs(one));
    require(most > 0, MERCER_INVALID_ARGUMENT,
            "%s is zero in every input, expected a row with one other than 0", name);
    return most;
  };
  const double of_x = largest("x", x), of_y = largest("y", y);
  double xx = 0, yy = 0, sum_x = 0, sum_y = 0, xy = 0, diagonal = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    const double a = x[k] / of_x, b = y[k] / of_y;
    xx += a * a, yy += b * b, xy += a * b, diagonal += a * b * a * b;
    sum_x += std::fabs(a), sum_y += std::fabs(b);
  }
  const double scale = std::log(of_x) + std::log(of_y);
  return {scale + (std::log(xx) + std::log(yy)) / 2, scale + std::log(sum_x) + std::log(sum_y),
          xy * xy / (xx * yy), diagonal / (xx * yy)};
}

Parameters answer_sketch(Parameters asked) {
  const PairOfRows pair = pair_of(asked.numbers("x"), asked.numbers("y"));
  const auto p = static_cast<double>(asked.integer("degree"));
  const double epsilon = asked.number("epsilon");
  // (2 q - 1)^2 + 1, q the share of the real part: 1 of real signs, 1/2 of complex ones.
  const double factor = asked.text("field") == "complex" ? 1 : 2;
  const double spread = 1 + factor * (pair.square - pair.diagonal);
  const double sigma2 = std::max(std::pow(spread, p) - std::pow(pair.square, p), 0.0);
  const double each = 2 * (2 / (3 * epsilon) + sigma2 / (epsilon * epsilon));
  double D = 0;
  if (is_first_given(asked, "features", "delta")) {
    D = static_cast<double>(asked.integer("features"));
  } else {
    D = std::max(1.0, std::ceil(each * std::log(2 / asked.number("delta"))));
    require(D <= kMostFeatures, MERCER_UNSUPPORTED,
            "epsilon = %g needs more than 2^53 features by the bound", epsilon);
  }
  asked.set("features", static_cast<int64_t>(D));
  asked.set("delta", std::min(1.0, 2 * std::exp(-D / each)));
  set_answer(asked, "sigma2", sigma2);
  set_answer(asked, "error", std::exp(std::log(epsilon) + p * pair.log_sums));
  return asked;
}

Field row_field(const char* key) {
  return {.key = key, .type = FieldType::numbers, .fallback = {}, .help = "a row of d numbers"};
}
Field probability(Value fallback, const char* help) {
  return {.key = "delta",
          .type = FieldType::number,
          .fallback = std::move(fallback),
          .least = 0,
          .most = 1,
          .least_open = true,
          .help = help};
}

/// Of bounds over a set.
std::vector<Field> set_fields() {
  std::vector<Field> fields = {
      bound_kernel_field("shift-invariant, with two derivatives; or second_moment instead")};
  for (Field& field : bound_size_fields()) fields.push_back(std::move(field));
  fields.push_back(optional_above_zero("second_moment", "E ||omega||^2 of a kernel with k(0) = 1"));
  fields.push_back(
      required(optional_above_zero("diameter", "the largest distance of two inputs in the set")));
  return fields;
}

}  // namespace

BoundEntry uniform_bound_entry() {
  std::vector<Field> fields = set_fields();
  fields.push_back(probability({}, "the bound fails with this probability at most"));
  fields.push_back(optional_above_zero(
      "epsilon", "the bound asked for; answered: the one with these frequencies"));
  return {"uniform", "|phi(x)'phi(y) - k(x, y)| over a set, for Fourier features of any kernel",
          std::move(fields), answer_uniform};
}

BoundEntry expected_bound_entry() {
  std::vector<Field> fields = set_fields();
  fields.push_back(choice_field("form", "pair", {"pair", "phase"}, "of the Fourier features"));
  fields.push_back(probability(
      kOptional, "of a larger error than the answered epsilon; absent: the mean alone"));
  fields.push_back(optional_above_zero(
      "epsilon", "the bound asked for; answered beside delta: the one with these frequencies"));
  return {"expected",
          "the mean of the largest |phi(x)'phi(y) - k(x, y)| over a set, for Fourier features",
          std::move(fields), answer_expected};
}

BoundEntry sketch_bound_entry() {
  return {"sketch",
          "|phi(x)'phi(y) - (x'y)^p| at two rows, for products of p Rademacher projections",
          {row_field("x"), row_field("y"), count_field("degree", {}, 1000, "p"),
           choice_field("field", "real", {"real", "complex"}, "of the signs"),
           count_field("features", kOptional, kMostFeatures,
                       "D, complex ones for complex signs; absent: the least number, answered"),
           required(optional_above_zero("epsilon", "the error over ||x||_1^p ||y||_1^p")),
           probability(kOptional,
                       "probability of a larger error: the given limit; answered: its bound with "
                       "these features, at most 1")},
          answer_sketch};
}

// How many random features learn as well as the kernel itself. "ridge": Rudi, Rosasco 2017,
// theorems 1 to 3, and the condition on F_inf in their proof. "excess_risk": their theorem 7 with
// its constants. "kernel_pca": Sriperumbudur, Sterge 2018; Ullah, Mianjy, Marinov, Arora 2018.

namespace {

constexpr double kMostRows = 9007199254740992;  // 2^53

/// What the proof asks for, with F = F_inf(lambda), N = N(lambda) and t = log(12 kappa^2/(lambda
/// delta)). For the empirical operator M >= (4 + 18 F) t. For r > 1/2 also the bias of M features,
/// at most lambda^{1/2} a^{2r - 1} b^{2 - 2r} times a constant, has to be at most lambda^r, where by
/// Bernstein's inequality a = ||(L + lambda)^{-1/2} (L - L_M)|| is of order (2 kappa^2 N t/M)^{1/2}
/// and b, with the root on both sides, of order (2 F t/M)^{1/2}: M >= c t X,
///   X = kappa^{2(2r - 1)} lambda^{1 - 2r} N^{2r - 1} F^{2 - 2r},
/// with c = 6.3 where M >= 18 F t makes the terms of second order small. At r = 1/2 X is F, so that
/// 18, which is more, serves both.
double asked_for(double r, double lambda, double kappa, double F, double N, double delta) {
  const double grown = std::pow(kappa * kappa * N / lambda, 2 * r - 1) * std::pow(F, 2 - 2 * r);
  return (4 + 18 * std::max(F, grown)) * std::log(12 * kappa * kappa / (lambda * delta));
}

/// The exponent of n in the number of features.
double features_exponent(double r, double gamma, double alpha) {
  return (alpha + (2 * r - 1) * (1 + gamma - alpha)) / (2 * r + gamma);
}

/// A number of features, or of landmarks.
void set_count(Parameters& asked, const char* key, double count) {
  require(count <= kMostRows, MERCER_UNSUPPORTED, "%s would be %g, expected at most 2^53", key,
          count);
  asked.set(key, static_cast<int64_t>(std::ceil(count)));
}

/// The share of N(lambda) by which N_M(lambda), the effective dimension of M features, is off
/// (proposition 10), where M is at least (4 + 18 F) log(12 kappa^2/(lambda delta)).
double change_of_dimension(double M, double F, double N, double delta) {
  const double q = 4 * F * std::log(6 / delta) / (3 * M);
  return q / N + std::sqrt(1.5 * q / N) +
         1.5 * std::pow(3 * q / std::sqrt(N) + std::sqrt(3 * q), 2);
}

void require_exponents(double gamma, double alpha) {
  require(alpha >= gamma, MERCER_INVALID_ARGUMENT, "alpha = %g, expected at least gamma, %g", alpha,
          gamma);
}

Parameters answer_ridge(Parameters asked) {
  const auto n = static_cast<double>(asked.integer("rows"));
  const double r = asked.number("r"), gamma = asked.number("gamma"), alpha = asked.number("alpha");
  require_exponents(gamma, alpha);
  const double lambda = std::pow(n, -1 / (2 * r + gamma));
  const double exponent = features_exponent(r, gamma, alpha);
  const bool known = asked.find("maximum_dimension") != nullptr;
  require(known == (asked.find("delta") != nullptr), MERCER_INVALID_ARGUMENT,
          "key \"delta\" %s \"maximum_dimension\", expected both or neither",
          known ? "is missing beside" : "without");
  const bool has_effective = asked.find("effective_dimension") != nullptr;
  require(known || !has_effective, MERCER_INVALID_ARGUMENT,
          "key \"effective_dimension\" without \"maximum_dimension\", expected both");
  if (known) {
    const double most = asked.number("maximum_dimension");
    const double effective = has_effective ? asked.number("effective_dimension") : most;
    require(
        effective <= most, MERCER_INVALID_ARGUMENT,
        "effective_dimension = %g, expected at most maximum_dimension, %g: it is a mean of what "
        "that is the largest of",
        effective, most);
    const double delta = asked.number("delta");
    set_count(asked, "frequencies",
              asked_for(r, lambda, asked.number("kappa"), most, effective, delta));
    if (has_effective)
      set_answer(asked, "dimension_change",
                 change_of_dimension(static_cast<double>(asked.integer("frequencies")), most,
                                     effective, delta));
  } else {
    set_count(asked, "frequencies", asked.number("constant") * std::pow(n, exponent) * std::log(n));
  }
  const double landmarks = asked.number("constant") * std::log(n);
  set_count(asked, "landmarks", landmarks / lambda);
  set_count(asked, "leverage_landmarks", landmarks * std::pow(lambda, -gamma));
  set_answer(asked, "lambda", lambda);
  set_answer(asked, "exponent", exponent);
  set_answer(asked, "rate", -2 * r / (2 * r + gamma));
  return asked;
}

/// The key's number; where absent, `always`, which holds with the exponent 1 alone.
double factor_of(const Parameters& asked, const char* key, const char* exponent, double always) {
  if (asked.find(key) != nullptr) return asked.number(key);
  require(asked.number(exponent) == 1, MERCER_INVALID_ARGUMENT,
          "key \"%s\" is missing beside %s = %g, expected it, or %s = 1", key, exponent,
          asked.number(exponent), exponent);
  return always;
}

// Theorem 7, for |y| <= b, which is its assumption 4 with sigma = B = 2 b. Its c0 has F nowhere else
// than beside Q, and is less than its own proof asks for where F is far above kappa^2: frequencies
// are the larger of both. In expectation the excess risk has what remains with probability delta
// added, at most (b + sup |f^|)^2, |f^| <= kappa ||w|| <= kappa b/(2 sqrt lambda).
struct Risk {
  double n, r, gamma, alpha, kappa, largest, b, R, delta, Q, F;
  double square = kappa * kappa, lambda = std::pow(n, -1 / (2 * r + gamma));

  explicit Risk(const Parameters& asked)
      : n(static_cast<double>(asked.integer("rows"))),
        r(asked.number("r")),
        gamma(asked.number("gamma")),
        alpha(asked.number("alpha")),
        kappa(asked.number("kappa")),
        largest(asked.number("largest_eigenvalue")),
        b(asked.number("target")),
        R(asked.number("norm")),
        delta(asked.number("delta")),
        Q(factor_of(asked, "effective_constant", "gamma", kappa)),
        F(factor_of(asked, "maximum_constant", "alpha", kappa * kappa)) {
    require_exponents(gamma, alpha);
    require(2 * r + gamma > 1, MERCER_UNSUPPORTED,
            "r = %g and gamma = %g, expected 2 r + gamma > 1", r, gamma);
    require(largest <= square, MERCER_INVALID_ARGUMENT,
            "largest_eigenvalue = %g, expected at most kappa^2, %g", largest, square);
  }

  double c0() const {
    const double of_source = std::pow(Q, 2 * r - 1) * std::pow(F, 2 - 2 * r);
    return 9 * (3 + 4 * square + 4 * square / largest + square / 4 * of_source);
  }
  double c1() const {
    const double largest_error = 2 * b + 2 * kappa * R,
                 deviation = 2 * b + 2 * kappa * std::sqrt(R);
    return 64 * std::pow(largest_error * kappa + deviation * Q + R, 2);
  }
  double n0() const {
    const double p = 1 / (2 * r + gamma - 1);
    const double log = std::log(556 * square * kappa * std::sqrt(p) / delta);
    return std::max(std::pow(2 / largest, (p + 1) / p), std::pow(264 * square * p * log, 1 + p));
  }
  double frequencies() const {
    const double printed = c0() * std::pow(n, features_exponent(r, gamma, alpha)) *
                           std::log(108 * square / (lambda * delta));
    return std::max(printed, asked_for(r, lambda, kappa, F * std::pow(lambda, -alpha),
                                       Q * Q * std::pow(lambda, -gamma), delta / 9));
  }
  double excess() const {
    return c1() * std::pow(std::log(18 / delta), 2) * std::pow(lambda, 2 * r);
  }
  double at_worst() const { return std::pow(b + kappa * b / (2 * std::sqrt(lambda)), 2); }
};

Parameters answer_excess_risk(Parameters asked) {
  const Risk of(asked);
  set_count(asked, "frequencies", of.frequencies());
  set_answer(asked, "lambda", of.lambda);
  set_answer(asked, "c0", of.c0());
  set_answer(asked, "c1", of.c1());
  set_answer(asked, "n0", of.n0());
  set_answer(asked, "excess_risk", of.excess());
  set_answer(asked, "expected", of.excess() + of.delta * of.at_worst());
  asked.set("holds", of.n >= of.n0());
  return asked;
}

constexpr const char* kDecays[] = {"polynomial", "exponential"};
constexpr const char* kAlgorithms[] = {"whole", "oja"};

Parameters answer_kernel_pca(Parameters asked) {
  const bool polynomial = asked.text("decay") == kDecays[0];
  const bool streams = asked.text("algorithm") == kAlgorithms[1];
  require(!streams || !polynomial, MERCER_UNSUPPORTED,
          "algorithm = \"oja\" beside decay = \"polynomial\", expected decay = \"exponential\"");
  const double exponent = polynomial ? 2.0 / 3 : 0.5;
  const auto n = static_cast<double>(asked.integer("rows"));
  set_count(asked, "frequencies",
            asked.number("constant") * std::pow(n, exponent) * (streams ? std::log(n) : 1));
  set_answer(asked, "exponent", exponent);
  return asked;
}

}  // namespace

BoundEntry kernel_pca_bound_entry() {
  return {"kernel_pca",
          "the number of random features on which kernel PCA is as good as with the kernel",
          {integer_field("rows", {}, 2, kMostRows, "n"),
           choice_field("decay", "polynomial", {std::begin(kDecays), std::end(kDecays)},
                        "how the kernel operator's eigenvalues fall"),
           choice_field("algorithm", "whole", {std::begin(kAlgorithms), std::end(kAlgorithms)},
                        "of all rows at once, or Oja's updates row by row"),
           number_above_field("constant", 1, 0, kUnbounded, "c in c n^exponent features")},
          answer_kernel_pca};
}

BoundEntry excess_risk_bound_entry() {
  Field delta = number_above_field("delta", 0.05, 0, 1, "it fails with this probability");
  return {
      "excess_risk",
      "the risk of ridge regression on random features above the kernel's best, in numbers",
      {integer_field("rows", {}, 2, kMostRows, "n"),
       required(optional_above_zero("target", "b: |y| <= b")),
       required(optional_above_zero("largest_eigenvalue", "of the kernel's operator L")),
       number_field("norm", 1, 1, kUnbounded,
                    "R: f = L^r g with |g| <= R; of r = 1/2 the norm of f in the kernel's space"),
       number_field("kappa", 1, 1, kUnbounded, "largest |psi|"),
       number_field("r", 0.5, 0.5, 1, "the source condition: smoothness of the target"),
       number_field("gamma", 1, 0, 1, "N(lambda) <= Q^2 lambda^-gamma"),
       optional_above_zero("effective_constant",
                           "Q; absent with gamma = 1 alone, where kappa serves"),
       number_field("alpha", 1, 0, 1, "F_inf(lambda) <= F lambda^-alpha"),
       optional_above_zero("maximum_constant",
                           "F; absent with alpha = 1 alone, where kappa^2 serves"),
       std::move(delta)},
      answer_excess_risk};
}

BoundEntry ridge_bound_entry() {
  Field delta = number_above_field("delta", kOptional, 0, 1, "it fails with this probability");
  return {"ridge",
          "the number of random features on which ridge regression learns at the kernel's own rate",
          {integer_field("rows", {}, 2, kMostRows, "n"),
           number_field("r", 0.5, 0.5, 1, "the source condition: smoothness of the target"),
           number_field("gamma", 1, 0, 1, "N(lambda) grows as lambda^-gamma"),
           number_field("alpha", 1, 0, 1, "F_inf(lambda) grows as lambda^-alpha; 1: always holds"),
           number_above_field("constant", 1, 0, kUnbounded, "c in c n^exponent log n features"),
           number_above_field("maximum_dimension", kOptional, 0, kUnbounded,
                              "F_inf(lambda), for what the proof asks for"),
           number_above_field("effective_dimension", kOptional, 0, kUnbounded,
                              "N(lambda), which counts where r > 1/2; absent: F_inf(lambda)"),
           std::move(delta),
           number_field("kappa", 1, 1, kUnbounded, "largest |psi|, beside maximum_dimension")},
          answer_ridge};
}

}  // namespace mercer::bound
