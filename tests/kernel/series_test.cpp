// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Power series of kernels, and their derivatives as coefficients of Taylor series.
#include "kernel/entry.h"
#include "kernel/kernel.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/making_cost.h"
#include "support/refusal.h"

namespace mercer::test::series_test {
namespace {

using kernel::make_kernel;

// Terms of rows of norm below 3: 60 are enough for every series here.
double summed(const kernel::Kernel& k, int64_t d, const double* x, const double* y) {
  std::vector<double> u(x, x + d), v(y, y + d);
  for (int64_t j = 0; j < d && !k.lengthscale().empty(); ++j) {
    const size_t at = k.lengthscale().size() > 1 ? static_cast<size_t>(j) : 0;
    u[j] /= k.lengthscale()[at];
    v[j] /= k.lengthscale()[at];
  }
  const double s = kernel::inner_product(d, u.data(), v.data());
  double sum = 0;
  for (int64_t n = 0; n < 60; ++n)
    sum += k.series()->coefficient(n) * std::pow(s, static_cast<double>(n));
  return sum * std::exp(-k.series()->radial() / 2 *
                        (kernel::inner_product(d, u.data(), u.data()) +
                         kernel::inner_product(d, v.data(), v.data())));
}

}  // namespace

TEST_CASE("series: the sum is the kernel") {
  const std::vector<double> scales = {0.8, 1.5, 2, 1, 1.2};
  std::vector<std::unique_ptr<kernel::Kernel>> kernels;
  kernels.push_back(make_kernel({{"kernel", "exponential"}, {"variance", 1.7}}));
  kernels.push_back(make_kernel({{"kernel", "exponential"}, {"lengthscale", scales}}));
  kernels.push_back(make_kernel({{"kernel", "gaussian"}, {"lengthscale", scales}}));
  kernels.push_back(make_kernel({{"kernel", "gaussian"}, {"lengthscale", 1.4}, {"variance", 0.3}}));
  kernels.push_back(
      make_kernel({{"kernel", "polynomial"}, {"degree", int64_t{5}}, {"offset", 0.7}}));
  kernels.push_back(make_kernel({{"kernel", "dot_product"},
                                 {"coefficients", std::vector<double>{0.5, 0, 2, 0.25}},
                                 {"variance", 1.5}}));
  const auto part = [](const Parameters& own) { return std::make_shared<const Parameters>(own); };
  const auto flat = part({{"kernel", "polynomial"}, {"degree", int64_t{2}}, {"offset", 0.5}});
  const auto wide = part({{"kernel", "exponential"}, {"lengthscale", 1.6}, {"variance", 0.7}});
  const auto bell = part({{"kernel", "gaussian"}, {"lengthscale", 1.8}});
  const auto both = part({{"kernel", "sum"}, {"parts", ObjectList{flat, wide}}, {"variance", 1.3}});
  for (const ObjectList& parts : {ObjectList{flat, wide}, ObjectList{flat, flat},
                                  ObjectList{wide, wide, flat}, ObjectList{both, wide}}) {
    for (const char* rule : {"sum", "product"})
      kernels.push_back(make_kernel({{"kernel", rule}, {"parts", parts}, {"variance", 0.4}}));
  }
  kernels.push_back(make_kernel({{"kernel", "product"}, {"parts", ObjectList{bell, both, bell}}}));
  kernels.push_back(make_kernel({{"kernel", "sum"}, {"parts", ObjectList{bell, bell}}}));
  const Matrix<double> X = random_matrix(20, 5, 3);
  for (const auto& k : kernels) {
    INFO(k->name());
    REQUIRE(k->series() != nullptr);
    for (int64_t i = 0; i + 1 < 20; ++i) {
      const double *const x = X.view().row(i), *const y = X.view().row(i + 1);
      // Alternating sums of terms of size exp(|s|), |s| < 5.
      CHECK(k->value(5, x, y) == Approx(summed(*k, 5, x, y)).epsilon(1e-12).margin(1e-13));
    }
    CHECK(k->series()->coefficient(-1) == 0);
  }
  CHECK(make_kernel({{"kernel", "laplacian"}})->series() == nullptr);
}

TEST_CASE("series: coefficients, degrees, radial factors") {
  const auto exponential = make_kernel({{"kernel", "exponential"}, {"variance", 3.0}});
  CHECK(exponential->series()->is_exponential());
  CHECK(exponential->series()->radial() == 0);
  CHECK(!exponential->series()->degree());
  CHECK(exponential->series()->coefficient(4) == Approx(3.0 / 24).epsilon(1e-15));
  CHECK(exponential->series()->coefficient(100000) == 0);
  CHECK(make_kernel({{"kernel", "gaussian"}})->series()->radial() == 1);
  const auto listed = [](std::vector<double> a) {
    return make_kernel({{"kernel", "dot_product"}, {"coefficients", std::move(a)}});
  };
  CHECK(listed({1, 2, 0, 3, 0, 0})->series()->degree() == 3);
  CHECK(listed({1, 2, 0, 3, 0, 0})->series()->coefficient(3) == 3);
  CHECK(listed({1, 2, 0, 3, 0, 0})->series()->coefficient(6) == 0);
  CHECK(listed({0, 0})->series()->degree() == 0);
  CHECK(!listed({1})->series()->is_exponential());
  const double x[] = {2, 1}, bad[] = {std::nan(""), 1};
  CHECK(listed({5})->value(2, x, x) == 5);
  CHECK(std::isnan(listed({5})->value(2, x, bad)));
  CHECK_NOTHROW(listed(std::vector<double>(1025, 1.0)));
}

TEST_CASE("series: of sums and products, degrees and what has none") {
  const auto part = [](const Parameters& own) { return std::make_shared<const Parameters>(own); };
  const auto made = [](const char* rule, const ObjectList& parts) {
    return make_kernel({{"kernel", rule}, {"parts", parts}});
  };
  const auto cube = part({{"kernel", "polynomial"}, {"degree", int64_t{3}}, {"offset", 1.0}});
  const auto high = part({{"kernel", "polynomial"}, {"degree", int64_t{600}}});
  const auto bell = part({{"kernel", "gaussian"}}), plain = part({{"kernel", "exponential"}});
  const auto each =
      part({{"kernel", "gaussian"}, {"lengthscale", std::vector<double>{1, 2, 3, 4, 5}}});
  CHECK(made("sum", {cube, cube})->series()->degree() == 3);
  CHECK(made("product", {cube, cube})->series()->degree() == 6);
  CHECK(made("product", {cube, cube})->series()->coefficient(3) == Approx(20).epsilon(1e-14));
  CHECK(!made("product", {cube, plain})->series()->degree());
  CHECK(made("product", {bell, bell, cube})->series()->radial() == 2);
  CHECK(made("product", {bell, plain})->series()->coefficient(3) == Approx(8.0 / 6).epsilon(1e-14));
  CHECK(made("sum", {bell, plain})->series() == nullptr);  // of other radial factors
  CHECK(made("product", {each, plain})->series() == nullptr);
  CHECK(made("product", {high, high})->series() == nullptr);
  CHECK(made("sum", {plain, part({{"kernel", "laplacian"}})})->series() == nullptr);
  CHECK(made("product", {plain, part({{"kernel", "exponential"}, {"lengthscale", 1e-200}})})
            ->series() == nullptr);
}

TEST_CASE("series: lists that are no series are refused") {
  const auto refused = [](std::vector<double> a, const char* part) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT,
        [&] {
          make_kernel({{"kernel", "dot_product"}, {"coefficients", a}});
        },
        part);
  };
  CHECK(refused({}, "coefficients = a list of 0 numbers") == "");
  CHECK(refused({1, -0.5}, "coefficients[1] = -0.5") == "");
  CHECK(refused({std::nan("")}, "coefficients[0] = nan") == "");
  CHECK(refused(std::vector<double>(1026, 1.0), "a list of 1026 numbers, expected at most 1025") ==
        "");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_kernel({{"kernel", "dot_product"}}),
                "\"coefficients\" is missing");
}

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

TEST_CASE("kernel derivatives are the coefficients of its Taylor series") {
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
      CHECK(gradient[k] == Approx(0.5 + 3 * at(*kernel, {{k, 1}}, {}, x, y)).epsilon(1e-13));
  }
}

TEST_CASE("kernel derivatives: a power series in ten variables costs about a millisecond") {
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

TEST_CASE("kernel derivatives: series of a spectrum that nearly ends") {
  const auto kernel = kernel::make_generalized_gaussian_spectrum(16, {0.2}, 1);
  CHECK(series_error(*kernel, {0.8, 1.3}, {1.1, -0.7}, 1, 0, 0.2, 0) <= 1e-12);
}

TEST_CASE("kernel derivatives: even powers in the spectrum have its moments at 0") {
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

TEST_CASE("kernel derivatives: at the edge of the domain, and outside") {
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

}  // namespace mercer::test::series_test
