// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels that are power series of the inner product: the sum of the series is the kernel.
#include "kernel/inner_product.h"
#include "kernel/kernel.h"
#include "support/dense.h"
#include "support/refusal.h"

namespace mercer::test {
namespace {

using kernel::make_kernel;

// Terms of rows of norm below 3: 60 are enough for every series here.
double summed(const kernel::Kernel& k, int64_t d, const double* x, const double* y) {
  std::vector<double> u(x, x + d), v(y, y + d);
  for (int64_t j = 0; j < d && !k.lengthscale().empty(); ++j) {
    const size_t at = k.lengthscale().size() > 1 ? static_cast<size_t>(j) : 0;
    u[static_cast<size_t>(j)] /= k.lengthscale()[at];
    v[static_cast<size_t>(j)] /= k.lengthscale()[at];
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

TEST_CASE("series: the sum is the kernel", "[kernel]") {
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

TEST_CASE("series: coefficients, degrees, radial factors", "[kernel]") {
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

TEST_CASE("series: of sums and products, degrees and what has none", "[kernel]") {
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

TEST_CASE("series: lists that are no series are refused", "[kernel]") {
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

}  // namespace mercer::test
