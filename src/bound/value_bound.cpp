// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Bounds of the error of kernel values. "uniform": Fourier features over a set, for every spectral
// distribution with a second moment (Sriperumbudur, Szabo 2015, theorem 1). "expected": the mean of
// the largest error there, for both forms of features, and what lies above it (as Sutherland,
// Schneider 2015, sections 2.3 and 2.4; see below). "sketch": products of
// Rademacher projections at two rows (Wacker, Kanagawa, Filippone 2022; theorem 3.4.1 of Wacker's
// thesis).
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "bound/bound.h"

namespace mercer::bound {
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

}  // namespace mercer::bound
