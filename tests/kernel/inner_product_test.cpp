// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of inner products: polynomial, bilinear, arc-cosine and sign.
// Power series of kernels, and their derivatives as coefficients of Taylor series.
#include "kernel/inner_product.h"

#include "kernel/entry.h"
#include "kernel/kernel.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/making_cost.h"
#include "support/refusal.h"

namespace mercer::test::inner_product_test {
using kernel::make_kernel;

TEST_CASE("polynomial: symmetric, scaled by variance, negative bases, degree 1 is x'y") {
  const Matrix<double> X = random_matrix(30, 13, 5);
  const auto linear = kernel::make_polynomial(1, 1, 0, 1);
  const auto cubic = kernel::make_polynomial(3, 0.5, 0.25, 1);
  const auto loud = kernel::make_polynomial(3, 0.5, 0.25, 2.5);
  int64_t wrong = 0, negative = 0;
  double worst = 0;
  for (int64_t i = 0; i + 1 < 30; ++i) {
    const double* x = X.view().row(i);
    const double* y = X.view().row(i + 1);
    long double s = 0, magnitude = 0;
    for (int64_t k = 0; k < 13; ++k) {
      s += static_cast<long double>(x[k]) * y[k];
      magnitude += std::fabs(static_cast<long double>(x[k]) * y[k]);
    }
    // A sum of 13 products in any order: 14 u sum |x y| (Higham 2002, eq. 3.5).
    const double error =
        static_cast<double>(std::fabs(linear->value(13, x, y) - s) / (14 * 0x1p-53L * magnitude));
    worst = std::max(worst, error);
    wrong += cubic->value(13, x, y) != cubic->value(13, y, x);
    wrong += loud->value(13, x, y) != 2.5 * cubic->value(13, x, y);
    negative += cubic->value(13, x, y) < 0;
  }
  CHECK(worst <= 1);
  CHECK(wrong == 0);
  CHECK(negative > 0);
}

TEST_CASE("polynomial: what its maker refuses") {
  const auto refuses = [](int64_t degree, double gamma, double offset, double variance,
                          const char* part) {
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, kernel::make_polynomial(degree, gamma, offset, variance),
                  part);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  refuses(0, 1, 0, 1, "degree = 0, expected an integer >= 1 and <= 1024");
  refuses(1025, 1, 0, 1, "degree = 1025");
  for (const double bad : {0.0, -1.0, infinity, std::nan("")}) {
    refuses(2, bad, 0, 1, "gamma = ");
    refuses(2, 1, 0, bad, "variance = ");
  }
  for (const double bad : {-0.5, infinity, std::nan("")}) refuses(2, 1, bad, 1, "offset = ");
}

TEST_CASE("polynomial: the series adds up to the kernel, its properties say the rest") {
  const auto kernel = kernel::make_polynomial(5, 0.5, 1.5, 2);
  const kernel::PowerSeries* series = kernel->series();
  REQUIRE(series != nullptr);
  REQUIRE(series->degree() == 5);
  CHECK(series->coefficient(-1) == 0);
  CHECK(series->coefficient(6) == 0);
  for (const double s : {-2.0, -0.3, 0.0, 0.7, 3.0}) {
    double sum = 0, magnitude = 0;
    for (int64_t n = 0; n <= 5; ++n) {
      CHECK(series->coefficient(n) > 0);
      sum += series->coefficient(n) * std::pow(s, static_cast<double>(n));
      magnitude += series->coefficient(n) * std::pow(std::fabs(s), static_cast<double>(n));
    }
    const double x[] = {s}, y[] = {1};
    // Six terms of at most 20 roundings each, and those of the kernel.
    CHECK(std::fabs(sum - kernel->value(1, x, y)) <= 40 * 0x1p-53 * magnitude);
  }
  // Without offset one power is left: 2 * 0.5^5.
  const auto plain = kernel::make_polynomial(5, 0.5, 0, 2);
  for (int64_t n = 0; n < 5; ++n) CHECK(plain->series()->coefficient(n) == 0);
  CHECK(plain->series()->coefficient(5) == 0.0625);
  REQUIRE(kernel->traits().inner_power.has_value());
  CHECK(kernel->traits().inner_power->degree == 5);
  CHECK(kernel->traits().left_inputs == 0);
  CHECK(kernel::make_laplacian({1}, 1)->series() == nullptr);
  CHECK_FALSE(kernel::make_gaussian({1}, 1)->traits().inner_power.has_value());
  CHECK(kernel::make_bilinear(3, 1)->traits().left_inputs == 3);
  CHECK(kernel::make_bilinear(3, 1)->traits().inner_power->degree == 2);
  CHECK(kernel::make_bilinear(3, 1)->series() == nullptr);
}

TEST_CASE("bilinear: the product of the inner products of two parts") {
  const int64_t d = 13;
  const Matrix<double> X = random_matrix(30, d, 5);
  int64_t wrong = 0, negative = 0;
  double worst = 0;
  for (int64_t left = 1; left < d; ++left) {
    const auto unit = kernel::make_bilinear(left, 1);
    const auto loud = kernel::make_bilinear(left, 2.5);
    for (int64_t i = 0; i + 1 < 30; ++i) {
      const double* x = X.view().row(i);
      const double* y = X.view().row(i + 1);
      long double sum[2] = {0, 0}, magnitude[2] = {0, 0};
      for (int64_t k = 0; k < d; ++k) {
        const long double product = static_cast<long double>(x[k]) * y[k];
        sum[k >= left] += product;
        magnitude[k >= left] += std::fabs(product);
      }
      // Two sums of 13 products at most and one product of them: 2 * 14 + 1 roundings of |x1|'|y1|
      // |x2|'|y2| (Higham 2002, eq. 3.5).
      const long double bound = 30 * 0x1p-53L * magnitude[0] * magnitude[1];
      const double value = unit->value(d, x, y);
      worst = std::max(worst, static_cast<double>(std::fabs(value - sum[0] * sum[1]) / bound));
      wrong += value != unit->value(d, y, x);
      wrong += loud->value(d, x, y) != 2.5 * value;
      negative += value < 0;
    }
  }
  CHECK(worst <= 1);
  CHECK(wrong == 0);
  CHECK(negative > 0);
}

TEST_CASE("bilinear: equal parts give the polynomial of degree 2") {
  const int64_t d = 5;
  const Matrix<double> X = random_matrix(2, d, 9);
  Matrix<double> twice(2, 2 * d);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t k = 0; k < 2 * d; ++k) twice(i, k) = X(i, k % d);
  }
  CHECK(kernel::make_bilinear(d, 3)->value(2 * d, twice.view().row(0), twice.view().row(1)) ==
        Approx(kernel::make_polynomial(2, 1, 0, 3)->value(d, X.view().row(0), X.view().row(1)))
            .epsilon(1e-14));
}

TEST_CASE("bilinear: what it refuses") {
  const auto refused = [](mercer_status status, int64_t left, double variance, int64_t d,
                          const char* part) {
    return refusal_fault(
        status, [&] { kernel::make_bilinear(left, variance)->check_dimension(d); }, part);
  };
  CHECK(refused(MERCER_INVALID_ARGUMENT, 0, 1, 1,
                "left = 0, expected an integer >= 1 and <= 2147483646") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, -4, 1, 1, "left = -4") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, 2147483647, 1, 1, "left = 2147483647") == "");
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CHECK(refused(MERCER_INVALID_ARGUMENT, 1, bad, 2, "variance = ") == "");
  }
  CHECK(refused(MERCER_INVALID_ARGUMENT, 1, 1, 0, "d = 0") == "");
  CHECK(refused(MERCER_DIMENSION_MISMATCH, 3, 1, 3, "d = 3, expected more than the 3 inputs") ==
        "");
  CHECK(refused(MERCER_DIMENSION_MISMATCH, 3, 1, 1, "d = 1") == "");
  CHECK_NOTHROW(kernel::make_bilinear(3, 1)->check_dimension(4));
  // Through a Gram matrix.
  const Matrix<double> X = random_matrix(2, 3, 1);
  Matrix<double> K(2, 2);
  Context context;
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                kernel::gram(*kernel::make_bilinear(3, 1), X.view(), X.view(), context, K.view()),
                "d = 3");
}

namespace {

constexpr double kPi = 3.14159265358979323846;

std::unique_ptr<kernel::Kernel> arc_cosine(int64_t order) {
  return kernel::make_kernel({{"kernel", "arc_cosine"}, {"order", order}});
}
std::unique_ptr<kernel::Kernel> sign() { return kernel::make_kernel({{"kernel", "sign"}}); }

// 2 E[(w'x)_+^n (w'y)_+^n] of unit vectors: in their plane w has a uniform direction and a radius
// of E r^{2n} = 2^n n!; both are positive on an arc of pi - theta. Simpson's rule, 2,000 pieces.
double integrated(int n, double theta) {
  constexpr int kPieces = 2000;
  const double begin = theta - kPi / 2, step = (kPi - theta) / kPieces;
  double sum = 0, radius = 1;
  for (int k = 0; k <= kPieces; ++k) {
    const double a = begin + k * step;
    const double weight = k == 0 || k == kPieces ? 1 : k % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(std::cos(a) * std::cos(a - theta), n);
  }
  for (int k = 1; k <= n; ++k) radius *= 2 * k;
  return 2 * radius * sum * step / 3 / (2 * kPi);
}

}  // namespace

TEST_CASE("arc-cosine moments are those of the positive parts of normals") {
  for (const double theta : {1e-3, 0.1, 0.9, kPi / 2, 2.2, 3.0}) {
    for (const int n : {0, 1, 2, 4}) {
      INFO("order " << n << ", angle " << theta);
      const double expected = integrated(n, theta);
      CHECK(kernel::arc_cosine_moment(n, {1, 1, theta, kPi - theta}) ==
            Approx(expected).epsilon(1e-11).margin(1e-13));
      CHECK(kernel::arc_cosine_moment(n, {0.5, 3, theta, kPi - theta}) ==
            Approx(std::pow(1.5, n) * expected).epsilon(1e-11).margin(1e-13));
    }
    CHECK(std::isnan(kernel::arc_cosine_moment(3, {1, 1, theta, kPi - theta})));
  }
}

// y = x turned by a small angle, or its opposite: what acos(x'y) cannot see.
TEST_CASE("angles keep their digits at 0 and pi") {
  for (const double angle : {1e-12, 1e-9, 1e-5, 0.3}) {
    const double x[] = {3, 0, 0, 4}, along[] = {0.6, 0, 0, 0.8}, across[] = {-0.8, 0, 0, 0.6};
    double y[4], back[4];
    for (int k = 0; k < 4; ++k) {
      y[k] = 7 * (std::cos(angle) * along[k] + std::sin(angle) * across[k]);
      back[k] = -y[k];
    }
    const kernel::Angle near = kernel::angle_between(4, x, y);
    const kernel::Angle far = kernel::angle_between(4, x, back);
    CHECK(near.x == Approx(5).epsilon(1e-15));
    CHECK(near.y == Approx(7).epsilon(1e-15));
    // Rounding of y moves the angle by up to 2 eps.
    CHECK(near.theta == Approx(angle).epsilon(1e-14).margin(1e-15));
    CHECK(near.rest == Approx(kPi - angle).epsilon(1e-15));
    CHECK(far.rest == Approx(angle).epsilon(1e-14).margin(1e-15));
    CHECK(far.theta == Approx(kPi - angle).epsilon(1e-15));
  }
  const Matrix<double> X = random_matrix(20, 11, 4);
  for (int64_t i = 0; i + 1 < 20; ++i) {
    const auto same = kernel::angle_between(11, X.view().row(i), X.view().row(i));
    CHECK((same.theta == 0 && same.rest == Approx(kPi).epsilon(1e-15)));
    const auto one = kernel::angle_between(11, X.view().row(i), X.view().row(i + 1));
    const auto other = kernel::angle_between(11, X.view().row(i + 1), X.view().row(i));
    CHECK((one.theta == other.theta && one.rest == other.rest));
  }
}

TEST_CASE("arc-cosine and sign: what a row is with itself, its opposite and zeros") {
  const double x[] = {0.5, -1.5, 2}, minus[] = {-0.5, 1.5, -2}, zero[] = {0, 0, 0};
  const double squared = 0.25 + 2.25 + 4;
  for (const int64_t order : {0, 1, 2}) {
    const auto k = arc_cosine(order);
    CHECK(k->value(3, x, x) == Approx(std::pow(squared, order) * (order == 2 ? 3 : 1)));
    CHECK(k->value(3, x, minus) == Approx(0).margin(1e-15));
    CHECK(k->value(3, x, zero) == 0);
    CHECK(k->value(3, zero, zero) == 0);
  }
  CHECK(sign()->value(3, x, x) == Approx(1).epsilon(1e-15));
  CHECK(sign()->value(3, x, minus) == Approx(-1).epsilon(1e-15));
  CHECK(sign()->value(3, x, zero) == 0);
  CHECK(sign()->value(3, zero, zero) == Approx(1).epsilon(1e-15));
}

TEST_CASE("optical: what exponents 2 and 4 are by hand, what is refused") {
  const auto optical = [](int64_t exponent) {
    return kernel::make_kernel({{"kernel", "optical"}, {"exponent", exponent}, {"variance", 2.0}});
  };
  const double x[] = {1, 2, -1}, y[] = {0.5, 1, 3};
  const double s = -0.5, N = 6 * 10.25;
  CHECK(optical(2)->value(3, x, y) == Approx(2 * (N + s * s)).epsilon(1e-14));
  CHECK(optical(4)->value(3, x, y) ==
        Approx(2 * 4 * (N * N + 4 * N * s * s + s * s * s * s)).epsilon(1e-14));
  CHECK(optical(4)->value(3, x, y) == optical(4)->value(3, y, x));
  const double zero[] = {0, 0, 0};
  CHECK(optical(6)->value(3, x, zero) == 0);
  const auto real = [](int64_t exponent) {
    return kernel::make_kernel(
        {{"kernel", "optical"}, {"exponent", exponent}, {"entries", "real"}, {"variance", 2.0}});
  };
  CHECK(real(2)->value(3, x, y) == Approx(2 * (N + 2 * s * s)).epsilon(1e-14));
  CHECK(real(4)->value(3, x, y) ==
        Approx(2 * (9 * N * N + 72 * N * s * s + 24 * s * s * s * s)).epsilon(1e-14));
  // x = y: E g^{2m} |x|^{2m} = (2m - 1)!! |x|^{2m}.
  CHECK(real(6)->value(3, x, x) == Approx(2 * 10395 * std::pow(6.0, 6)).epsilon(1e-13));
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, optical(3), "exponent = 3, expected an even");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, optical(18), "exponent = 18");
}

TEST_CASE("arc-cosine and sign: the ends of doubles, and what is no number") {
  for (const double size : {1e-300, 1e-160, 1e160, 1e300}) {
    const double x[] = {size, 0}, y[] = {size, size};
    CHECK(sign()->value(2, x, y) == Approx(0.5).epsilon(1e-14));
    CHECK(arc_cosine(0)->value(2, x, y) == Approx(0.75).epsilon(1e-14));
  }
  const double good[] = {1, 2};
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const double x[] = {bad, 1}, zero[] = {0, 0};
    for (const double* const other : {good, x, zero}) {
      CHECK(std::isnan(sign()->value(2, x, other)));
      for (const int64_t order : {0, 1, 2})
        CHECK(std::isnan(arc_cosine(order)->value(2, x, other)));
    }
  }
}

namespace {

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
    R"({"kernel":"skewed_chi2","c":[0.5,1.5,0.25,2],"variance":1.2})",
    R"({"kernel":"generalized_gaussian_spectrum","order":1,"lengthscale":[0.7,1,2,1.5]})",
    R"({"kernel":"generalized_gaussian_spectrum","order":2,"lengthscale":0.5,"variance":2})",
    R"({"kernel":"generalized_gaussian_spectrum","order":3,"lengthscale":0.8})",
    R"({"kernel":"anova","degree":3,"variance":1.2})",
    R"({"kernel":"anova","subsets":"all","variance":0.7})",
    R"({"kernel":"bilinear","left":2,"variance":1.7})",
    R"({"kernel":"optical","variance":0.9})",
    R"({"kernel":"optical","exponent":6})",
    R"({"kernel":"optical","exponent":4,"entries":"real"})",
    R"({"kernel":"exponential_chi2","gamma":0.8,"variance":1.3})",
    R"({"kernel":"periodic","period":[3,2.5,4,6],"width":0.9,"variance":1.4})"};

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

}  // namespace mercer::test::inner_product_test
