// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of kernels of powers, roots and products: as the coefficients of Taylor series, which
// give the kernel elsewhere; in closed form at 0; at the edge of the domain.
#include "spec/json.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/making_cost.h"
#include "support/refusal.h"

namespace mercer::test {
namespace {

using kernel::MultiIndex;
using Row = std::vector<double>;

constexpr const char* kSmooth[] = {
    R"({"kernel":"additive_chi2","variance":1.4})",
    R"({"kernel":"jensen_shannon","variance":1.1})",
    R"({"kernel":"hellinger","variance":1.6})",
    R"({"kernel":"exponential_semigroup","beta":0.7,"variance":1.3})",
    R"({"kernel":"reciprocal_semigroup","lambda":1.7,"variance":0.9})",
    R"({"kernel":"skewed_chi2","c":0.5,"variance":1.2})",
    R"({"kernel":"generalized_gaussian_spectrum","order":1,"lengthscale":[0.7,1,2,1.5]})",
    R"({"kernel":"generalized_gaussian_spectrum","order":2,"lengthscale":0.5,"variance":2})",
    R"({"kernel":"generalized_gaussian_spectrum","order":3,"lengthscale":0.8})",
    R"({"kernel":"anova","degree":3,"variance":1.2})",
    R"({"kernel":"anova","subsets":"all","variance":0.7})",
    R"({"kernel":"bilinear","left":2,"variance":1.7})",
    R"({"kernel":"optical","variance":0.9})",
    R"({"kernel":"optical","exponent":6})"};

std::unique_ptr<kernel::Kernel> made(const std::string& spec) {
  return kernel::make_kernel(spec::parse_object(spec));
}
double at(const kernel::Kernel& kernel, const MultiIndex& p, const MultiIndex& q, const Row& x,
          const Row& y) {
  return kernel.differential(p, q)->at(std::ssize(x), x.data(), y.data());
}
MultiIndex power(int64_t input, int64_t order) {
  return order > 0 ? MultiIndex{{input, order}} : MultiIndex{};
}

/// Of the series in input i of x, by h, and input j of y, by g, to order 20 in each, against the
/// kernel there, or 1 if it is smaller.
double series_error(const kernel::Kernel& kernel, Row x, Row y, size_t i, size_t j, double h,
                    double g) {
  constexpr int64_t most = 20;
  double sum = 0, in_h = 1;
  for (int64_t a = 0; a <= most; ++a) {
    double term = in_h;
    for (int64_t b = 0; b <= (g == 0 ? 0 : most); ++b) {
      sum += term *
             at(kernel, power(static_cast<int64_t>(i), a), power(static_cast<int64_t>(j), b), x, y);
      term *= g / static_cast<double>(b + 1);
    }
    in_h *= h / static_cast<double>(a + 1);
  }
  x[i] += h;
  y[j] += g;
  const double expected = kernel.value(std::ssize(x), x.data(), y.data());
  return std::fabs(sum - expected) / std::max(1.0, std::fabs(expected));
}

}  // namespace

TEST_CASE("kernel derivatives are the coefficients of its Taylor series", "[kernel]") {
  const Row x{0.8, 1.3, 0.6, 0.9}, y{1.1, 0.7, 1.2, 0.5};
  for (const char* const spec : kSmooth) {
    INFO(spec);
    const auto kernel = made(spec);
    REQUIRE(kernel->most_derivatives() == 64);
    // A fifth of the distance to where roots end: (1/5)^20 = 1e-14.
    CHECK(series_error(*kernel, x, y, 1, 1, 0.2, -0.1) <= 1e-12);
    CHECK(series_error(*kernel, x, y, 2, 0, -0.1, 0.2) <= 1e-12);
    CHECK(series_error(*kernel, x, y, 0, 1, 0.1, 0.1) <= 1e-12);
    // Two inputs at once, against those of one: d/dx_3 by a difference quotient of order 4.
    const double step = 1e-3, slope = at(*kernel, {{1, 2}, {3, 1}}, {{0, 1}, {3, 1}}, x, y);
    const auto moved = [&](double by) {
      Row u = x;
      u[3] += by;
      return at(*kernel, {{1, 2}}, {{0, 1}, {3, 1}}, u, y);
    };
    const double quotient =
        (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
    CHECK(std::fabs(slope - quotient) <= 1e-8 * std::max(1.0, std::fabs(slope)));
    Row gradient(4, 0.5);
    kernel->add_gradient(3, 4, x.data(), y.data(), gradient.data());
    for (int64_t k = 0; k < 4; ++k)
      CHECK(gradient[static_cast<size_t>(k)] ==
            Approx(0.5 + 3 * at(*kernel, {{k, 1}}, {}, x, y)).epsilon(1e-13));
  }
}

TEST_CASE("kernel derivatives: a power series in ten variables costs about a millisecond",
          "[kernel]") {
  const Row x{0.8, 1.3, 0.6, 0.9, -0.4}, y{1.1, 0.7, 1.2, 0.5, 0.3};
  const MultiIndex all{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}};
  const MultiIndex but_last(all.begin(), all.end() - 1);
  for (const char* const spec :
       {R"({"kernel":"optical","exponent":16,"variance":1e-12})",
        R"({"kernel":"product","parts":[{"kernel":"gaussian"},{"kernel":"polynomial"}]})"}) {
    INFO(spec);
    const auto kernel = made(spec);
    const auto derivative = kernel->differential(all, all),
               lower = kernel->differential(but_last, all);
    const double start = thread_seconds();
    const double value = derivative->at(5, x.data(), y.data());
    CHECK(thread_seconds() - start < 0.05);
    const auto moved = [&](double by) {
      Row u = x;
      u[4] += by;
      return lower->at(5, u.data(), y.data());
    };
    const double step = 1e-3;
    const double quotient =
        (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
    CHECK(value == Approx(quotient).epsilon(1e-8));
  }
}

TEST_CASE("kernel derivatives: series of a spectrum that nearly ends", "[kernel]") {
  const auto kernel = kernel::make_generalized_gaussian_spectrum(16, {0.2}, 1);
  CHECK(series_error(*kernel, {0.8, 1.3}, {1.1, -0.7}, 1, 0, 0.2, 0) <= 1e-12);
}

TEST_CASE("kernel derivatives: even powers in the spectrum have its moments at 0", "[kernel]") {
  // (-1)^m E w^2m = (-1)^m Gamma((2m + 1)/2q)/Gamma(1/2q), divided by l^2m; odd ones are 0.
  for (const int64_t q : {1, 2, 3, 7, 16}) {
    const double l = 1.25, two_q = 2 * static_cast<double>(q);
    const auto kernel = kernel::make_generalized_gaussian_spectrum(q, {l}, 2);
    const Row zero{0.3, -0.2};
    for (const int64_t m : {1, 2, 3, 7, 16, 32}) {
      const double moment =
          std::exp(std::lgamma((2 * static_cast<double>(m) + 1) / two_q) - std::lgamma(1 / two_q));
      const double expected =
          2 * (m % 2 == 0 ? 1 : -1) * moment / std::pow(l, 2 * static_cast<double>(m));
      INFO("q = " << q << ", m = " << m);
      CHECK(at(*kernel, power(0, m), power(0, m), zero, zero) ==
            Approx(m % 2 == 0 ? expected : -expected).epsilon(1e-11));
      CHECK(std::fabs(at(*kernel, power(1, 2 * m - 1), {}, zero, zero)) <=
            1e-13 * std::fabs(expected));
    }
  }
}

TEST_CASE("kernel derivatives: at the edge of the domain, and outside", "[kernel]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Row x{0, 0, 1}, y{0, 2, 0};
  const auto chi2 = made(kSmooth[0]), shannon = made(kSmooth[1]), hellinger = made(kSmooth[2]);
  // Beside a 0 the term is 0 all along; beside another number only roots and logarithms end.
  for (const auto* kernel : {chi2.get(), shannon.get(), hellinger.get()}) {
    for (const int64_t k : {0, 2})
      for (const int64_t n : {1, 2, 5}) CHECK(at(*kernel, {{k, n}}, {}, x, y) == 0);
    CHECK(at(*kernel, {{1, 1}, {2, 1}}, {}, x, y) == 0);
  }
  CHECK(at(*chi2, {{1, 1}}, {}, x, y) == Approx(1.4 * 2).epsilon(1e-14));
  CHECK(at(*chi2, {{1, 2}}, {}, x, y) == Approx(-1.4 * 4 / 2).epsilon(1e-14));
  for (const auto* kernel : {shannon.get(), hellinger.get()}) {
    CHECK(at(*kernel, {{1, 1}}, {}, x, y) == infinity);
    CHECK(at(*kernel, {{1, 2}}, {}, x, y) == -infinity);
  }
  CHECK(at(*made(kSmooth[3]), {{0, 1}}, {}, x, y) == -infinity);
  CHECK(at(*made(kSmooth[4]), {{0, 1}}, {}, x, y) ==
        Approx(-made(kSmooth[4])->value(3, x.data(), y.data()) / 1.7).epsilon(1e-14));
  for (size_t k = 0; k < 6; ++k) {
    const auto kernel = made(kSmooth[k]);
    INFO(kSmooth[k]);
    for (const bool first : {true, false}) {
      Row u{1, 1, 1}, v{1, 1, 1}, gradient(3, 0.0);
      (first ? u : v)[2] = -0.6;
      CHECK(std::isnan(at(*kernel, {{0, 1}}, {}, u, v)));
      CHECK(std::isnan(at(*kernel, {{0, 1}, {1, 1}}, {}, u, v)));
      kernel->add_gradient(1, 3, u.data(), v.data(), gradient.data());
      for (const double slope : gradient) CHECK(std::isnan(slope));
    }
  }
  // A kink where rows agree, as landmarks do with themselves.
  Context context;
  const Matrix<double> X = filled(2, 3, [](int64_t, int64_t) { return 1.0; }), K(2, 2);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                kernel::derivative_gram(*made(R"({"kernel":"intersection"})"), {{0, 1}}, {},
                                        X.view(), X.view(), context, K.view()),
                "kernel intersection has no derivatives");
}

}  // namespace mercer::test
