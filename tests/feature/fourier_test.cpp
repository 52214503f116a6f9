// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random Fourier features with given ingredients against the reference numbers; errors; supplied
// frequencies.
#include "feature/fourier.h"

#include "feature/map_entry.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/reference_matrix.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace fourier_test {
using namespace mercer;
using namespace mercer::feature;
using test::features_of, test::Reference, test::reference_matrix;

std::string message_of(const std::function<void()>& call, mercer_status status) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.status() == status);
    return error.what();
  }
  FAIL("no error");
  return "";
}

FourierOptions with_form(FourierForm form) {
  FourierOptions options;
  options.form = form;
  return options;
}

TEST_CASE("fourier: given frequencies give the reference features") {
  // Angles are below 30, one rounding of the frequency and d of the sum: 30 * 6 * 2^-53 + 2^-52 <
  // 2e-14.
  REQUIRE(test::oracle("transforms")["maps"].size() == 2);
  for (const Reference& entry : test::oracle("transforms")["maps"]) {
    const Matrix<double> X = reference_matrix(entry["X"]);
    const Matrix<double> W = test::transposed(reference_matrix(entry["W"]).view());
    const auto gaussian = kernel::make_gaussian({1.0}, 1.0);
    const auto pair = make_fourier_supplied(*gaussian, W.view(), {}, with_form(FourierForm::pair));
    CHECK(test::worst_difference(features_of(*pair, X), reference_matrix(entry["pair"])) <= 2e-14);
    const auto complex =
        make_fourier_supplied(*gaussian, W.view(), {}, with_form(FourierForm::complex));
    const Matrix<double> Z = features_of(*complex, X);
    const Matrix<double> re = reference_matrix(entry["complex"]["re"]),
                         im = reference_matrix(entry["complex"]["im"]);
    double worst = 0;
    for (int64_t i = 0; i < re.rows(); ++i) {
      for (int64_t j = 0; j < re.cols(); ++j) {
        worst = std::max(
            {worst, std::fabs(Z(i, 2 * j) - re(i, j)), std::fabs(Z(i, 2 * j + 1) - im(i, j))});
      }
    }
    CHECK(worst <= 2e-14);
    const auto skewed = kernel::make_skewed_chi2(0.5, 1.0);
    const auto warped = make_fourier_supplied(*skewed, W.view(), {}, with_form(FourierForm::pair));
    CHECK(test::worst_difference(features_of(*warped, reference_matrix(entry["X_positive"])),
                                 reference_matrix(entry["skewed_chi2_pair_c0.5"])) <= 2e-14);
  }
}

TEST_CASE("fourier: variances equal the reference numbers") {
  for (const Reference& entry : test::oracle("variances")["rff"]) {
    const std::string name = entry["kernel"];
    const Reference& p = entry["params"];
    const double ell = p["ell"];
    const auto kernel = name == "gaussian"    ? kernel::make_gaussian({ell}, 1.0)
                        : name == "laplacian" ? kernel::make_laplacian({ell}, 1.0)
                        : name == "cauchy"    ? kernel::make_cauchy({ell}, 1.0)
                        : name == "matern"
                            ? kernel::make_matern(p["nu"], {ell}, 1.0)
                            : kernel::make_rational_quadratic(p["alpha"], {ell}, 1.0);
    const Matrix<double> x = reference_matrix(Reference::row(entry["x"])),
                         y = reference_matrix(Reference::row(entry["y"]));
    const auto value = [&](FourierForm form, bool pseudo) {
      const auto map = make_fourier(*kernel, x.cols(), 10, with_form(form));
      double out = 0;
      if (pseudo) map->pseudo_variance(x.view(), y.view(), std::span(&out, 1));
      if (!pseudo) map->variance(x.view(), y.view(), std::span(&out, 1));
      return out * 10;
    };
    CAPTURE(name, ell);
    CHECK(value(FourierForm::pair, false) == Approx(double(entry["pair_times_D"])).epsilon(1e-12));
    CHECK(value(FourierForm::phase, false) ==
          Approx(double(entry["phase_times_D"])).epsilon(1e-12));
    CHECK(value(FourierForm::complex, false) ==
          Approx(double(entry["complex_real_part_times_D"])).epsilon(1e-12));
    // k(2 tau) - k(tau)^2 is 0 for the Laplacian: both terms are at most 1, known to a few eps.
    CHECK(value(FourierForm::complex, true) ==
          Approx(double(entry["complex_pseudo_times_D"])).epsilon(1e-12).margin(1e-14));
  }
}

TEST_CASE("fourier: weights of supplied frequencies give the weighted sum of cosines") {
  Matrix<double> W(3, 2);
  for (int64_t i = 0; i < 6; ++i) W.data()[i] = 0.3 * static_cast<double>(i) - 0.7;
  const std::vector<double> weights = {0.5, 0.0, 1.75};
  const auto kernel = kernel::make_gaussian({1.0}, 2.0);
  const auto map = make_fourier_supplied(*kernel, W.view(), weights, FourierOptions{});
  Matrix<double> X(2, 2);
  X(0, 0) = 0.4, X(0, 1) = -1.0, X(1, 0) = 2.2, X(1, 1) = 0.1;
  const Matrix<double> Z = features_of(*map, X);
  double estimate = 0, expected = 0;
  for (int64_t j = 0; j < 6; ++j) estimate += Z(0, j) * Z(1, j);
  for (int64_t j = 0; j < 3; ++j) {
    const double angle = W(j, 0) * (X(0, 0) - X(1, 0)) + W(j, 1) * (X(0, 1) - X(1, 1));
    expected += 2.0 * weights[j] * std::cos(angle);
  }
  CHECK(estimate == Approx(expected).epsilon(1e-14));
  // numbers() and the table make the same map again.
  const std::vector<NumberArray> numbers = map->numbers();
  const Parameters parameters = map->parameters();
  CHECK(parameters.text("needs") == "data");
  const auto again = feature::make_map(parameters, {.numbers = numbers});
  CHECK(test::worst_difference(Z, features_of(*again, X)) == 0);
  // So do the numbers without names of older files.
  std::vector<double> flat(W.data(), W.data() + 6);
  flat.insert(flat.end(), weights.begin(), weights.end());
  const std::vector<NumberArray> unnamed = {{"", {9}, flat}};
  const auto older = feature::make_map(parameters, {.numbers = unnamed});
  CHECK(test::worst_difference(Z, features_of(*older, X)) == 0);
  double out = 0;
  CHECK(
      message_of([&] { map->variance(X.view(), X.view(), std::span(&out, 1)); }, MERCER_UNSUPPORTED)
          .find("supplied") != std::string::npos);
}

TEST_CASE("fourier: the ARD lengthscale divides its own coordinate") {
  const auto ard = kernel::make_gaussian({0.5, 2.0, 4.0}, 1.0);
  const auto unit = kernel::make_gaussian({1.0}, 1.0);
  Matrix<double> X(3, 3), scaled(3, 3);
  const double lengthscale[] = {0.5, 2.0, 4.0};
  for (int64_t i = 0; i < 9; ++i) {
    X.data()[i] = std::sin(static_cast<double>(i));
    scaled.data()[i] = X.data()[i] / lengthscale[i % 3];
  }
  // Lengthscales that are powers of two scale without rounding: the same bits.
  CHECK(test::worst_difference(features_of(*make_fourier(*ard, 3, 64, {}), X),
                               features_of(*make_fourier(*unit, 3, 64, {}), scaled)) == 0);
}

TEST_CASE("fourier: errors name argument, value and expectation") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const auto ard = kernel::make_gaussian({1.0, 2.0}, 1.0);
  CHECK(message_of([&] { make_fourier(*kernel, 3, 7, {}); }, MERCER_INVALID_ARGUMENT)
            .find("features = 7") == 0);
  CHECK(message_of([&] { make_fourier(*kernel, 3, 0, {}); }, MERCER_INVALID_ARGUMENT)
            .find("features = 0") == 0);
  CHECK(message_of([&] { make_fourier(*kernel, 0, 8, {}); }, MERCER_INVALID_ARGUMENT)
            .find("inputs = 0") == 0);
  CHECK(message_of([&] { make_fourier(*kernel, 3, -2, {}); }, MERCER_INVALID_ARGUMENT)
            .find("features = -2") == 0);
  message_of([&] { make_fourier(*ard, 3, 8, {}); }, MERCER_DIMENSION_MISMATCH);
  message_of([&] { make_fourier(*kernel, int64_t{1} << 40, int64_t{1} << 40, {}); },
             MERCER_INVALID_ARGUMENT);
  FourierOptions unknown;
  unknown.projection = "supplied";
  message_of([&] { make_fourier(*kernel, 3, 8, unknown); }, MERCER_UNSUPPORTED);
  Matrix<double> W(2, 2);
  W.fill(1.0);
  const std::vector<double> negative = {1.0, -0.5};
  CHECK(message_of([&] { make_fourier_supplied(*kernel, W.view(), negative, {}); },
                   MERCER_INVALID_ARGUMENT)
            .find("weights[1] = -0.5") == 0);
  W(1, 0) = NAN;
  CHECK(
      message_of([&] { make_fourier_supplied(*kernel, W.view(), {}, {}); }, MERCER_INVALID_ARGUMENT)
          .find("frequencies[1, 0]") == 0);
}

TEST_CASE("fourier: a memory cap that packing cannot meet fails up front and can be retried") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const auto map = make_fourier(*kernel, 100, 4096, {});
  Matrix<float> X(2, 100), Z(2, 4096);
  X.fill(1);
  Context capped;
  capped.memory_cap = 1000;
  const std::string message = message_of(
      [&] {
        map->apply(MatrixView<const float>(X.view()), {0, 4096}, capped, Z.view());
      },
      MERCER_OUT_OF_MEMORY);
  CHECK(message.find("memory_cap = 1000") == 0);
  Context free;
  map->apply(MatrixView<const float>(X.view()), {0, 4096}, free, Z.view());
  CHECK(std::isfinite(Z(1, 4095)));
}

TEST_CASE("fourier: a memory cap that dense tiles of sparse rows exceed is said before any work") {
  const auto map = make_fourier(*kernel::make_skewed_chi2(1.5, 1.0), 30, 66, {});
  const auto rows = test::sparse_rows<float>(200, 30, 8, 21);
  Matrix<float> Z(200, 66);
  Context context;
  context.memory_cap = 1000;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY,
                test::Input<float>(rows.view()).apply(*map, {0, 66}, context, Z.view()),
                "memory_cap = 1000", "24000");
}

}  // namespace fourier_test
