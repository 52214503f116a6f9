// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The grid of frequencies: the error against the kernel is below the bound that the map says, which
// is small where few columns suffice; one grid from a diameter, a step, rows or a printed spec.
#include "feature/frequency_grid.h"

#include <cmath>
#include <random>

#include "feature/fourier.h"
#include "feature/map_entry.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/map_calls.h"
#include "support/refusal.h"

namespace frequency_grid_test {
using namespace mercer;

std::unique_ptr<feature::FeatureMap> map_of(const std::string& kernel, int64_t d, int64_t D,
                                            const std::string& more, const Rows* rows = nullptr) {
  const std::string text = R"({"map":"fourier","projection":"grid","kernel":{"kernel":)" + kernel +
                           R"(},"inputs":)" + std::to_string(d) + R"(,"features":)" +
                           std::to_string(D) + more + "}";
  Context context;
  return feature::make_map(
      feature::canonical_map(spec::parse_object(text), "", feature::Data::refused),
      {.rows = rows, .context = &context});
}

double bound_of(const feature::FeatureMap& map) { return map.parameters().number("error_bound"); }

/// Corners and random points of a box of these sides.
Matrix<double> points(const std::vector<double>& sides) {
  const auto d = static_cast<int64_t>(sides.size());
  std::mt19937_64 words(3);
  Matrix<double> X(60, d);
  for (int64_t i = 0; i < X.rows(); ++i)
    for (int64_t k = 0; k < d; ++k) {
      const double u = static_cast<double>(words() >> 11) * 0x1p-53;
      X(i, k) = sides[k] * (i < 8 ? static_cast<double>(i >> k & 1) : u);
    }
  return X;
}

/// The largest |k~ - k|/k(0) over pairs of these rows, and the root of its mean square.
struct Errors {
  double largest = 0, usual = 0;
};
Errors errors_of(const feature::FeatureMap& map, const Matrix<double>& X) {
  const kernel::Kernel& kernel = map.kernel();
  const Matrix<double> Z = test::features_of(map, X);
  Errors errors;
  for (int64_t i = 0; i < X.rows(); ++i)
    for (int64_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (int64_t c = 0; c < Z.cols(); ++c) sum += Z(i, c) * Z(j, c);
      const double exact = kernel.value(X.cols(), X.view().row(i), X.view().row(j));
      const double error = std::fabs(sum - exact) / kernel.value_at_zero();
      errors.largest = std::max(errors.largest, error);
      errors.usual += error * error;
    }
  const auto n = static_cast<double>(X.rows());
  errors.usual = std::sqrt(errors.usual / (n * (n + 1) / 2));
  return errors;
}
double error_of(const feature::FeatureMap& map, const Matrix<double>& X) {
  return errors_of(map, X).largest;
}

// The last number is the bound asked for: a wrong density, or one that is not normalised, misses it.
TEST_CASE("grid: the error is below its bound, which is small") {
  struct Case {
    const char* kernel;
    int64_t d, D;
    double most;
  };
  const Case cases[] = {
      {R"("gaussian","lengthscale":0.1)", 1, 46, 2e-12},
      {R"("gaussian","lengthscale":0.1)", 2, 288, 3.6e-4},
      {R"("gaussian","lengthscale":0.1,"variance":3)", 2, 840, 1e-8},
      {R"("gaussian","lengthscale":0.3)", 3, 344, 5.5e-3},
      {R"("matern","nu":2.5,"lengthscale":0.5)", 1, 400, 1e-8},
      {R"("matern","nu":2.5,"lengthscale":0.5)", 2, 1000, 3e-4},
      {R"("matern","nu":1.5)", 3, 2000, 0.05},
      {R"("matern","nu":3.2)", 3, 1000, 8e-3},
      {R"("matern","nu":0.5)", 1, 2000, 0.02},
      {R"("laplacian","lengthscale":2)", 2, 2000, 0.1},
      {R"("cauchy")", 1, 1000, 1e-3},
      {R"("cauchy")", 2, 2000, 0.02},
      {R"("rational_quadratic","alpha":2)", 1, 1000, 1e-6},
      {R"("rational_quadratic","alpha":2)", 2, 1000, 2e-3},
      {R"("rational_quadratic","alpha":1)", 3, 4000, 0.2},
      {R"("rational_quadratic","alpha":700)", 2, 200, 1e-6},
      {R"("sum","parts":[{"kernel":"gaussian","variance":2},{"kernel":"matern","nu":4}])", 2, 500,
       3e-5},
  };
  for (const Case& one : cases) {
    const auto map = map_of(one.kernel, one.d, one.D, R"(,"diameter":1)");
    INFO(one.kernel << ", d = " << one.d << ", D = " << one.D << ": bound " << bound_of(*map));
    CHECK(bound_of(*map) <= one.most);
    CHECK(error_of(*map, points(std::vector<double>(one.d, 1.0))) <= bound_of(*map) + 1e-13);
  }
}

// Random frequencies: 6e-2, 3e-2 and 5e-2.
TEST_CASE("grid: the error of most pairs is far below the bound") {
  struct Case {
    int64_t d, D;
    const char* lengthscale;
    double usual;
  };
  for (const Case& one :
       {Case{2, 288, "0.1", 5e-5}, Case{2, 840, "0.1", 2.7e-9}, Case{3, 344, "0.3", 8e-4}}) {
    const auto map = map_of(std::string(R"("gaussian","lengthscale":)") + one.lengthscale, one.d,
                            one.D, R"(,"diameter":1)");
    INFO("d = " << one.d << ", D = " << one.D);
    CHECK(errors_of(*map, points(std::vector<double>(one.d, 1.0))).usual <= one.usual);
  }
}

TEST_CASE("grid: a tolerance takes no more columns than its bound needs") {
  const std::string gaussian = R"("gaussian","lengthscale":0.2)";
  for (const double tolerance : {0.3, 1e-2, 1e-6}) {
    const auto map =
        map_of(gaussian, 2, 2000, R"(,"diameter":1,"tolerance":)" + std::to_string(tolerance));
    const int64_t D = map->features();
    INFO("tolerance = " << tolerance << ", D = " << D);
    CHECK(bound_of(*map) <= tolerance);
    CHECK(D < 400);
    CHECK(bound_of(*map_of(gaussian, 2, D - 2, R"(,"diameter":1)")) > tolerance);
    CHECK(map->parameters().integer("features") == D);
    CHECK(map->parameters().find("tolerance") == nullptr);  // the step says it
    CHECK(spec::to_spec(*map) == spec::to_spec(*map_of(gaussian, 2, D, R"(,"diameter":1)")));
  }
  // Out of reach: all of them.
  CHECK(map_of(gaussian, 2, 20, R"(,"diameter":1,"tolerance":1e-6)")->features() == 20);
}

TEST_CASE("grid: inputs with diameters and lengthscales of their own") {
  const auto map =
      map_of(R"("gaussian","lengthscale":[2,0.1,0.5])", 3, 700, R"(,"diameter":[10,0.2,1])");
  CHECK(bound_of(*map) <= 3e-4);
  CHECK(error_of(*map, points({10, 0.2, 1})) <= bound_of(*map) + 1e-13);
  // The bound is of this box alone.
  CHECK(error_of(*map, points({40, 0.8, 4})) > 0.1);
}

TEST_CASE("grid: what the bound adds up is needed") {
  // Aliasing and truncation in turn, by a step that is too large or too small.
  for (const double step : {5.2, 1.0}) {
    const auto map = map_of(R"("gaussian","lengthscale":0.1)", 1, 12,
                            R"(,"diameter":1,"step":)" + std::to_string(step));
    const double error = error_of(*map, points({1}));
    CHECK(error <= bound_of(*map) + 1e-13);
    CHECK(error >= 0.3 * bound_of(*map));
  }
}

TEST_CASE("grid: nothing is drawn, and bias() is what there is") {
  const auto map = map_of(R"("matern")", 2, 60, R"(,"diameter":1,"seed":5)");
  const Matrix<double> X = points({1, 1});
  CHECK(test::equal_bytes(test::features_of(*map, X),
                          test::features_of(*map_of(R"("matern")", 2, 60, R"(,"diameter":1)"), X)));
  CHECK(test::variance_of(*map, X) == 0);
  const MatrixView<const double> x = X.view().block_rows(0, 1), y = X.view().block_rows(9, 10);
  const Matrix<double> Z = test::features_of(*map, X);
  double estimate = 0, bias = NAN;
  for (int64_t c = 0; c < Z.cols(); ++c) estimate += Z(0, c) * Z(9, c);
  map->bias(x, y, {&bias, 1});
  CHECK(std::fabs(estimate - map->kernel().value(2, x.row(0), y.row(0)) - bias) <= 1e-13);
  CHECK(std::fabs(bias) > 1e-4);
}

TEST_CASE("grid: a spec says the grid that rows gave") {
  const Matrix<double> X = points({0.8, 3});
  const Rows rows = X.view();
  const auto map = map_of(R"("gaussian")", 2, 50, "", &rows);
  const Parameters said = map->parameters();
  CHECK(said.numbers("diameter") == std::vector<double>{0.8, 3});
  CHECK(said.find("needs") == nullptr);
  const std::string text = spec::to_spec(*map);
  const auto again = spec::map_from_spec(text);
  CHECK(spec::to_spec(*again) == text);
  CHECK(test::equal_bytes(test::features_of(*again, X), test::features_of(*map, X)));
  const auto given = map_of(R"("gaussian")", 2, 50, R"(,"diameter":[0.8,3])");
  CHECK(spec::to_spec(*given) == text);
  // Without a diameter no bound is known.
  const auto bare = map_of(R"("gaussian")", 2, 50, R"(,"step":[1.1,0.9])");
  CHECK(bare->parameters().find("error_bound") == nullptr);
  CHECK(spec::to_spec(*spec::map_from_spec(spec::to_spec(*bare))) == spec::to_spec(*bare));
}

TEST_CASE("grid: sparse rows have a zero in every input") {
  const int64_t offsets[] = {0, 2, 3};
  const int64_t columns[] = {0, 1, 1};
  const double values[] = {3, -1, -4};
  const Rows rows{CsrView<double>{2, 2, offsets, columns, values}};
  Context context;
  CHECK(feature::diameters(rows, context) == std::vector<double>{3, 4});
}

TEST_CASE("grid: for outputs joined by a matrix, not for fields") {
  const auto joined =
      map_of(R"("decomposable","gamma":[[2,0.5],[0.5,1]])", 2, 200, R"(,"diameter":1)");
  CHECK(joined->outputs() == 2);
  CHECK(joined->scalar().grid() != nullptr);
  CHECK_REFUSED(MERCER_UNSUPPORTED, map_of(R"("curl_free")", 2, 200, R"(,"diameter":1)"),
                "the columns of projection grid have weights");
}

TEST_CASE("grid: what is refused") {
  const auto refused = [](const std::string& kernel, const std::string& more, const char* part,
                          mercer_status status) {
    return test::refusal_fault(
        status, [&] { map_of(kernel, 2, 64, more); }, part);
  };
  const std::string gaussian = R"("gaussian")", one = R"(,"diameter":1)";
  const mercer_status no = MERCER_UNSUPPORTED;
  CHECK(refused(gaussian, "", "made from rows", no) == "");
  CHECK_REFUSED(
      no,
      feature::make_fourier_on_grid(*kernel::make_kernel({{"kernel", "gaussian"}}), 2, 64, {}, {}),
      "made from rows");
  CHECK(refused(R"("generalized_gaussian_spectrum")", one, "projection = grid of kernel", no) ==
        "");
  CHECK(refused(R"("spectral_mixture","weights":[1],"means":[2],"variances":[1])", one,
                "projection = grid of kernel spectral_mixture", no) == "");
  CHECK(refused(R"("polynomial")", one, "not shift-invariant", no) == "");
  CHECK(refused(gaussian, one + R"(,"form":"phase")", "form = phase of projection = grid", no) ==
        "");
  CHECK(refused(gaussian, one + R"(,"radius":"fixed")", "radius", no) == "");
  CHECK(refused(gaussian, one + R"(,"whole_blocks":true)", "whole_blocks", no) == "");
  CHECK(refused(gaussian, R"(,"diameter":[1,2,3])", "diameter holds 3 numbers",
                MERCER_DIMENSION_MISMATCH) == "");
  CHECK(refused(gaussian, R"(,"diameter":-1)", "diameter = -1", MERCER_INVALID_ARGUMENT) == "");
  CHECK(refused(gaussian, one + R"(,"step":1,"tolerance":0.1)", "tolerance is given",
                MERCER_INVALID_ARGUMENT) == "");
  CHECK_REFUSED(
      MERCER_INVALID_ARGUMENT,
      feature::make_map(feature::canonical_map(
          spec::parse_object(R"({"map":"fourier","projection":"sobol","inputs":2,)"
                             R"("features":8,"diameter":1,"kernel":{"kernel":"gaussian"}})"),
          "", feature::Data::refused)),
      "diameter is given, expected it left out without projection = grid");
  CHECK(refused(gaussian, R"(,"step":0)", "step = 0", MERCER_INVALID_ARGUMENT) == "");
  CHECK(refused(gaussian, R"(,"step":1e300)", "a smaller step", MERCER_INVALID_ARGUMENT) == "");
  CHECK_REFUSED(no, map_of(gaussian, 2, 1 << 22, one), "expected at most 1048576");
  CHECK_REFUSED(no, map_of(gaussian, 64, 1 << 18, one), "expected at most 65536");
  CHECK_REFUSED(no, map_of(gaussian, 65, 2, one), "inputs = 65");
  CHECK(map_of(gaussian, 64, 8, one)->features() == 8);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, map_of(gaussian, 2, 63, one), "even number");
  const Matrix<double> X = points({1, 1});
  const Rows rows = X.view();
  CHECK_REFUSED(no, map_of(gaussian, 2, 64, R"(,"weights":"leverage")", &rows),
                "whose columns have weights");
}

}  // namespace frequency_grid_test
