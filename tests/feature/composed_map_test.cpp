// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of sums and products of kernels against the maps of their parts, each with its own seed:
// columns, variances, derivatives, numbers, and what is refused.
// How features are allotted to parts, and the sizes that parts permit.
#include "feature/composed_map.h"

#include <ctime>

#include "feature/derivatives.h"
#include "feature/map_entry.h"
#include "io/container.h"
#include "random/stream.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/map_calls.h"
#include "support/refusal.h"

namespace composed_map_test {
using namespace mercer;
using namespace mercer::test;
using Complex = std::complex<double>;
using feature::allot, feature::PartSize;

const std::string kGaussian = R"({"kernel":"gaussian","lengthscale":0.8,"variance":2})";
const std::string kCauchy = R"({"kernel":"cauchy","lengthscale":1.5})";
const std::string kSquare = R"({"kernel":"polynomial","offset":0.5})";
const std::string kSubsets = R"({"kernel":"anova","subsets":"all"})";
const std::string kLinear = R"({"kernel":"polynomial","degree":1})";

std::string spec_of(const std::string& rule, const std::string& kernels, const std::string& maps,
                    int64_t D, int64_t d = 3, double variance = 1) {
  return R"({"map":")" + rule + R"(","kernel":{"kernel":")" + rule + R"(","parts":[)" + kernels +
         R"(],"variance":)" + std::to_string(variance) + R"(},"inputs":)" + std::to_string(d) +
         R"(,"features":)" + std::to_string(D) + R"(,"seed":7)" +
         (maps.empty() ? "" : R"(,"parts":[)" + maps + "]") + "}";
}

std::unique_ptr<FeatureMap> made(const std::string& spec) { return spec::map_from_spec(spec); }

// The map of part i, on its own: `map` is {"map":...} without what the whole says.
std::unique_ptr<FeatureMap> part(size_t i, const std::string& map, const std::string& kernel,
                                 int64_t D, int64_t d = 3) {
  Parameters given = spec::parse_object(map);
  given.set("kernel", std::make_shared<const Parameters>(spec::parse_object(kernel)));
  given.set("inputs", d);
  given.set("features", D);
  given.set("seed", random::child_seed(7, 1, i));
  return feature::make_map(feature::canonical_map(given, "", feature::Data::refused));
}

// Column j of a part as complex numbers.
Complex column(const FeatureMap& map, const Matrix<double>& Z, int64_t i, int64_t j) {
  if (map.is_complex()) return {Z(i, 2 * j), Z(i, 2 * j + 1)};
  if (map.column_form() == feature::ColumnForm::halves)
    return {Z(i, j), Z(i, map.features() / 2 + j)};
  return Z(i, j);
}

template <class... Part>
std::string refused(mercer_status status, const std::string& spec, const Part&... parts) {
  return refusal_fault(
      status, [&] { made(spec); }, parts...);
}

TEST_CASE("sum: the columns of the parts side by side, variances added") {
  const std::string fourier = R"({"map":"fourier","form":"phase"})",
                    sketch = R"({"map":"product_sketch"})";
  const auto map = made(spec_of("sum", kGaussian + "," + kSquare, fourier + "," + sketch, 21));
  const auto first = part(0, fourier, kGaussian, 11), second = part(1, sketch, kSquare, 10);
  const Matrix<double> X = random_matrix(40, 3, 3);
  const Matrix<double> Z = features_of(*map, X), A = features_of(*first, X),
                       B = features_of(*second, X);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = 0; j < 21; ++j) wrong += Z(i, j) != (j < 11 ? A(i, j) : B(i, j - 11));
  CHECK(wrong == 0);
  CHECK(variance_of(*map, X) == variance_of(*first, X) + variance_of(*second, X));
  CHECK(variance_of(*map, X, true) == variance_of(*map, X));
}

TEST_CASE("sum: exact polynomials are the monomials of a truncated exponential") {
  // Cotter, Keshet, Srebro 2011: sum over n of (x'y)^n / n!.
  std::string kernels = R"({"kernel":"polynomial","degree":1,"offset":1})", maps;
  double variance = 1;
  for (const int n : {2, 3, 4}) {
    char kernel[128];
    variance /= n;
    std::snprintf(kernel, sizeof kernel,
                  R"(,{"kernel":"polynomial","degree":%d,"offset":0,"variance":%.17g})", n,
                  variance);
    kernels += kernel;
  }
  for (int n = 0; n < 4; ++n)
    maps += (n > 0 ? "," : "") + std::string(R"({"map":"exact_polynomial"})");
  const auto map = made(spec_of("sum", kernels, maps, 4 + 6 + 10 + 15));
  const Matrix<double> X = random_matrix(12, 3, 5), Z = features_of(*map, X);
  for (int64_t i = 0; i < 12; ++i)
    for (int64_t j = 0; j < 12; ++j) {
      double product = 0, found = 0;
      for (int64_t k = 0; k < 3; ++k) product += X(i, k) * X(j, k);
      for (int64_t k = 0; k < Z.cols(); ++k) found += Z(i, k) * Z(j, k);
      const double expected =
          1 + product * (1 + product / 2 * (1 + product / 3 * (1 + product / 4)));
      CHECK(found == Approx(expected).epsilon(1e-12));
    }
}

TEST_CASE("sum: the whole's variance is every part's, biases add up") {
  const std::string kernels =
      R"({"kernel":"intersection","variance":0.5},{"kernel":"additive_chi2"})";
  const auto map = made(spec_of("sum", kernels, "", 18, 3, 4));
  const Matrix<double> X = filled(2, 3, [](int64_t i, int64_t k) {
    return 0.2 + static_cast<double>(i) + 0.3 * static_cast<double>(k);
  });
  const Matrix<double> Z = features_of(*map, X);
  double estimate = 0, bias = 0;
  for (int64_t j = 0; j < 18; ++j) estimate += Z(0, j) * Z(1, j);
  map->bias(X.view().block_rows(0, 1), X.view().block_rows(1, 2), {&bias, 1});
  CHECK(std::fabs(bias) > 1e-3);
  CHECK(estimate - bias ==
        Approx(map->kernel().value(3, X.view().row(0), X.view().row(1))).epsilon(1e-13));
}

TEST_CASE("product: columns are multiplied, halves and complex ones as complex numbers") {
  struct Case {
    const char* maps[3];
    int64_t features[3];
    bool complex = false;
    bool halves = false;
  };
  const std::string kernels[] = {kGaussian, kCauchy, kSquare};
  const Case cases[] = {
      {{R"({"map":"fourier","form":"phase"})", R"({"map":"fourier","form":"phase"})",
        R"({"map":"tensor_srht","field":"real"})"},
       {20, 20, 20}},
      {{R"({"map":"fourier"})", R"({"map":"fourier","projection":"sobol"})",
        R"({"map":"product_sketch"})"},
       {20, 20, 10},
       false,
       true},
      {{R"({"map":"fourier","form":"phase"})", R"({"map":"fourier"})",
        R"({"map":"product_sketch","field":"complex_to_real"})"},
       {10, 20, 20},
       false,
       true},
      {{R"({"map":"fourier","form":"phase"})", R"({"map":"fourier","form":"complex"})",
        R"({"map":"product_sketch","field":"complex"})"},
       {20, 20, 20},
       true,
       false}};
  const Matrix<double> X = random_matrix(150, 3, 4);
  for (const Case& c : cases) {
    const auto map = made(spec_of("product", kGaussian + "," + kCauchy + "," + kSquare,
                                  std::string(c.maps[0]) + "," + c.maps[1] + "," + c.maps[2], 20));
    INFO(c.maps[0] << c.maps[1] << c.maps[2]);
    REQUIRE(map->is_complex() == c.complex);
    const Matrix<double> Z = features_of(*map, X);
    const int64_t F = c.halves ? 10 : 20;
    Matrix<double> own[3];
    std::unique_ptr<FeatureMap> parts[3];
    for (size_t p = 0; p < 3; ++p) {
      parts[p] = part(p, c.maps[p], kernels[p], c.features[p]);
      own[p] = features_of(*parts[p], X);
    }
    double worst = 0;
    for (int64_t i = 0; i < X.rows(); ++i) {
      for (int64_t j = 0; j < F; ++j) {
        Complex expected = static_cast<double>(F);
        for (size_t p = 0; p < 3; ++p) expected *= column(*parts[p], own[p], i, j);
        worst = std::max(
            worst, std::abs(column(*map, Z, i, j) - expected) / (1e-300 + std::abs(expected)));
      }
    }
    CHECK(worst <= 1e-14);
  }
}

TEST_CASE("product: of Gaussians it has the variances of the Gaussian that they are") {
  // 1/l^2 of the product is the sum of theirs.
  const std::string kernels =
      kGaussian + R"(,{"kernel":"gaussian","lengthscale":1.2,"variance":0.5})";
  const std::string whole = R"({"kernel":"gaussian","lengthscale":)" +
                            print_object({{"l", 1 / std::sqrt(1 / 0.64 + 1 / 1.44)}}).substr(5);
  const Matrix<double> X = random_matrix(2, 3, 5);
  for (const std::string form : {"pair", "complex"}) {
    const std::string fourier = R"({"map":"fourier","form":")" + form + R"("})";
    const auto map = made(spec_of("product", kernels, fourier + "," + fourier, 40));
    const auto other = part(0, fourier, whole, 40);
    CHECK(map->kernel().value(3, X.view().row(0), X.view().row(1)) ==
          Approx(other->kernel().value(3, X.view().row(0), X.view().row(1))).epsilon(1e-13));
    for (const bool pseudo : {false, true})
      CHECK(variance_of(*map, X, pseudo) == Approx(variance_of(*other, X, pseudo)).epsilon(1e-11));
  }
}

TEST_CASE("product: the variance is that over all signs") {
  const auto map =
      made(spec_of("product", kSubsets + "," + kLinear,
                   R"({"map":"anova"},{"map":"linear","projection":"rademacher"})", 5, 2, 1.5));
  const Matrix<double> X = random_matrix(2, 2, 6);
  double mean = 0, square = 0;
  for (int signs = 0; signs < 16; ++signs) {
    const auto w = [signs](int k) { return (signs >> k & 1) != 0 ? 1.0 : -1.0; };
    double a = 1.5;
    for (int64_t i = 0; i < 2; ++i)
      a *= (1 + w(0) * X(i, 0)) * (1 + w(1) * X(i, 1)) * (w(2) * X(i, 0) + w(3) * X(i, 1));
    mean += a / 16;
    square += a * a / 16;
  }
  CHECK(map->kernel().value(2, X.view().row(0), X.view().row(1)) == Approx(mean).epsilon(1e-13));
  CHECK(variance_of(*map, X) == Approx((square - mean * mean) / 5).epsilon(1e-12));
}

TEST_CASE("composed maps nest, and print what they are made of") {
  const std::string inner = R"({"kernel":"product","parts":[)" + kCauchy + "," + kLinear + "]}";
  const auto map = made(spec_of("sum", kGaussian + "," + inner, "", 22));
  const std::string text = spec::to_spec(*map);
  CHECK(text.find(R"("parts":[{"map":"fourier","projection":"dense","form":"pair")") !=
        std::string::npos);
  CHECK(text.find(R"({"map":"product","parts":[{"map":"fourier")") != std::string::npos);
  const auto again = made(text);
  CHECK(spec::to_spec(*again) == text);
  const Matrix<double> X = random_matrix(5, 3, 7);
  CHECK(equal_bytes(features_of(*again, X), features_of(*map, X)));
}

TEST_CASE("sum: parts made from rows learn from them, and their numbers make them again") {
  const std::string spec =
      spec_of("sum", kGaussian + "," + kCauchy, R"({"map":"nystroem"},{"map":"fourier"})", 18);
  CHECK(refused(MERCER_UNSUPPORTED, spec, "map sum is made from rows") == "");
  const Matrix<double> X = random_matrix(30, 3, 8);
  Context context;
  const Rows rows = X.view();
  const auto map = spec::map_fitted_to_spec(spec, {.kernel = nullptr, .rows = &rows}, context);
  const std::string text = spec::to_spec(*map);
  CHECK(text.ends_with(R"("needs":"data"})"));
  std::vector<NumberArray> numbers = io::decode(io::encode(map->numbers()));
  REQUIRE(numbers.size() == 3);
  CHECK(numbers[0].name == "aa_landmarks");
  const auto again = spec::map_from_spec_and_numbers(text, numbers);
  CHECK(spec::to_spec(*again) == text);
  CHECK(equal_bytes(features_of(*again, X), features_of(*map, X)));
  numbers[2].name = "ac_rank";
  CHECK_REFUSED(MERCER_CORRUPT_FILE, spec::map_from_spec_and_numbers(text, numbers), "parts[0]",
                "rank");
  numbers[2].name = "aa_rank";
  numbers.push_back({"rank", {1}, std::vector<int64_t>{1}});
  CHECK_REFUSED(MERCER_CORRUPT_FILE, spec::map_from_spec_and_numbers(text, numbers),
                "1 arrays of numbers belong to no part");
}

TEST_CASE("sum: derivatives of other shapes than the map's are refused") {
  const auto map = made(spec_of("sum", kGaussian + "," + kCauchy, "", 8));
  REQUIRE(map->derivatives() != nullptr);
  const Matrix<double> X = random_matrix(4, 3, 9), wide = random_matrix(4, 9, 2);
  const Matrix<double> out(4, 3), blocks(4, 16);
  Context context;
  const MatrixView<const double> x = X.view();
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                derivatives_of(*map).pull_back(x, wide.view(), context, out.view()),
                "its vectors 4 x 9, out 4 x 3, expected as many rows each, 3 inputs, 8 numbers");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                derivatives_of(*map).differentiate({feature::Derivative::Kind::gradient}, x,
                                                   context, blocks.view()),
                "out 4 x 16, expected as many rows each, 3 inputs, 3 numbers of a vector and 24");
}

TEST_CASE("product: derivatives that a part does not have are refused") {
  using Kind = feature::Derivative::Kind;
  const auto map = made(spec_of("product", kGaussian + R"(,{"kernel":"arc_cosine"})",
                                R"({"map":"fourier"},{"map":"arc_cosine"})", 64, 2));
  CHECK(derivatives_of(*map).most_order() == 1);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                differentiated(*map, {Kind::hessian_diagonal}, random_matrix(3, 2, 1)),
                "order 2 of map product", "expected up to 1");
  const auto smooth = made(spec_of("product", kGaussian + "," + kSquare,
                                   R"({"map":"fourier"},{"map":"product_sketch"})", 64, 16));
  kernel::MultiIndex many;
  for (int64_t k = 0; k < 11; ++k) many.push_back({k, 1});
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                differentiated(*smooth, {Kind::partials, {many}}, random_matrix(3, 16, 1)),
                "order 11", "1024");
}

TEST_CASE("what composed maps refuse") {
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, no = MERCER_UNSUPPORTED;
  const std::string two = kGaussian + "," + kSquare, pair = R"({"map":"fourier"})",
                    phase = R"({"map":"fourier","form":"phase"})",
                    complex = R"({"map":"fourier","form":"complex"})",
                    sketch = R"({"map":"product_sketch"})";
  CHECK(refused(no, R"({"map":"sum","kernel":{"kernel":"gaussian"},"inputs":3,"features":8})",
                "kernel gaussian is not a sum of kernels, expected sum") == "");
  CHECK(refused(invalid, spec_of("sum", two, pair + "," + sketch + "," + sketch, 8),
                "parts = a list of 3 maps, expected 2") == "");
  CHECK(refused(invalid, spec_of("sum", two, pair, 8), "parts = a list of 1 objects") == "");
  CHECK(refused(invalid, spec_of("sum", two, pair + R"(,{"map":"linear","seed":3})", 8),
                "unknown key \"parts[1].seed\"") == "");
  CHECK(refused(no, spec_of("sum", two, sketch + "," + pair, 8),
                "parts[0]: kernel gaussian has no polynomial sketch") == "");
  CHECK(refused(no, spec_of("sum", two, complex + "," + sketch, 8),
                "parts[1] has real columns and parts[0] complex ones") == "");
  CHECK(refused(invalid, spec_of("sum", kGaussian + "," + kCauchy, "", 9),
                "features = 9, expected 1 less") == "");
  CHECK(refused(invalid, spec_of("sum", two, pair + "," + sketch, 2), "expected at least 3") == "");
  CHECK(
      refused(invalid,
              spec_of("sum", two,
                      R"({"map":"fourier","projection":"sorf","whole_blocks":true},)" + sketch, 50),
              "parts[0]: map fourier has 32 features") == "");
  CHECK(refused(
            no,
            spec_of("product", two, R"({"map":"fourier","projection":"quadrature"},)" + sketch, 8),
            "parts[0]: no column of this map fourier estimates the kernel alone") == "");
  CHECK(refused(no,
                spec_of("product", two,
                        complex + R"(,{"map":"product_sketch","field":"complex_to_real"})", 8),
                "parts[1] has columns in halves", "complex columns") == "");
  CHECK(refused(invalid, spec_of("product", two, pair + "," + sketch, 9), "parts[0]: features = 9",
                "even") == "");
  CHECK(refused(MERCER_DIMENSION_MISMATCH,
                spec_of("sum", kCauchy + R"(,{"kernel":"gaussian","lengthscale":[1,2]})", "", 8),
                "parts[1]: lengthscale holds 2") == "");
  CHECK(refused(no, spec_of("product", kGaussian + R"(,{"kernel":"additive_chi2"})", "", 8),
                "parts[1]: no column of this map additive estimates the kernel alone") == "");
  CHECK(refused(invalid,
                R"({"map":"sum","kernel":{"kernel":"sum","variance":1e200,"parts":[)" + kGaussian +
                    R"(,{"kernel":"cauchy","variance":1e200}]},"inputs":3,"features":8})",
                "parts[1]: variance = 1e+200 times the 1e+200 of the whole is inf") == "");
  CHECK(
      refused(no,
              spec_of("sum", kGaussian + R"(,{"kernel":"optical"})",
                      pair + R"(,{"map":"optical","input_bits":1,"threshold_from":"targets"})", 8),
              "parts[1]: map optical is to learn from targets") == "");
  CHECK(refused(invalid,
                spec_of("product", R"({"kernel":"exponential"},)" + kGaussian,
                        R"({"map":"positive","form":"hyperbolic"},)" + pair, 6),
                "features = 6, expected a multiple of 4", "parts[0]", "3 columns each") == "");
  const auto positive = made(spec_of("product", kGaussian + "," + kGaussian,
                                     phase + R"(,{"map":"positive","form":"hyperbolic"})", 8));
  const Matrix<double> X = random_matrix(2, 3, 1);
  CHECK_REFUSED(no, variance_of(*positive, X), "columns of map positive depend");
}

TEST_CASE("allotment: all of the features, in steps, each part near its share") {
  for (int64_t total = 12; total < 200; ++total) {
    const std::vector<PartSize> sizes = {{1, 2, 2}, {1, 5, 0}, {0.25, 1, 1}, {2.5, 2, 2}};
    const std::vector<int64_t> features = allot(total, sizes);
    CHECK(std::accumulate(features.begin(), features.end(), int64_t{0}) == total);
    CHECK(features[1] == 5);
    for (const size_t i : {0, 2, 3}) {
      CHECK(features[i] % sizes[i].step == 0);
      CHECK(features[i] >= sizes[i].step);
      // Of the rest, 10 less than the total, a part gets its share down to a step, then at most
      // what such roundings leave: 2 + 1 + 2, or less than a step for each.
      const double ideal = static_cast<double>(total - 10) * sizes[i].share / 3.75;
      const double own = static_cast<double>(features[i] - sizes[i].least);
      CHECK(own > ideal - static_cast<double>(sizes[i].step));
      CHECK(own < ideal + 5);
    }
  }
  CHECK(allot(16, {{1, 2, 2}, {1, 2, 2}}) == std::vector<int64_t>{8, 8});
  CHECK(allot(2048, {{1, 2, 2}, {1, 2, 2}, {1, 2, 2}}) == std::vector<int64_t>{684, 682, 682});
  // A least number that is no multiple of the step: that of a sum with a part of three columns.
  CHECK(allot(13, {{1, 5, 2}, {1, 2, 2}}) == std::vector<int64_t>{9, 4});
  CHECK(allot(9, {{1, 4, 0}, {1, 5, 0}}) == std::vector<int64_t>{4, 5});
}

TEST_CASE("allotment: totals that cannot be are refused") {
  const auto refused = [](int64_t total, const std::vector<PartSize>& sizes, const char* says) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { allot(total, sizes); }, says);
  };
  CHECK(refused(2, {{1, 2, 2}, {1, 1, 1}}, "features = 2, expected at least 3") == "");
  CHECK(refused(7, {{1, 2, 2}, {1, 2, 2}}, "features = 7, expected 1 less") == "");
  CHECK(refused(8, {{1, 4, 0}, {1, 5, 0}}, "features = 8, expected 9: the inputs") == "");
  CHECK(refused(8, {{1e308, 1, 1}, {1e308, 1, 1}}, "shares add up to inf") == "");
}

const std::string kUnitGaussian = R"({"kernel":"gaussian"})",
                  kDot = R"({"kernel":"dot_product","coefficients":[1,1]})";

std::string sum(const std::string& kernels) {
  return R"({"kernel":"sum","parts":[)" + kernels + "]}";
}

Parameters canonical(const std::string& kernel, const std::string& map = R"("map":"sum")",
                     int64_t D = 1, int64_t d = 3) {
  Parameters given = spec::parse_object("{" + map + R"(,"kernel":)" + kernel + "}");
  given.set("inputs", d);
  given.set("features", D);
  return feature::canonical_map(given, "", feature::Data::refused);
}

// Two of the same at each of `depth` levels.
std::string tree(int depth) {
  std::string kernel = kUnitGaussian;
  for (int i = 0; i < depth; ++i) {
    const std::string part = kernel;
    kernel = sum(part + "," + part);
  }
  return kernel;
}

// One part more at each of `depth` levels.
std::string chain(int depth) {
  std::string kernel = kUnitGaussian;
  for (int i = 0; i < depth; ++i) kernel = sum(kUnitGaussian + "," + kernel);
  return kernel;
}

std::unique_ptr<FeatureMap> fitted(const std::string& kernel, const std::string& map, int64_t D,
                                   const Matrix<double>& X) {
  Context context;
  const std::string spec = "{" + map + R"(,"kernel":)" + kernel + R"(,"inputs":)" +
                           std::to_string(X.cols()) + R"(,"features":)" + std::to_string(D) + "}";
  const Rows rows = X.view();
  return spec::map_fitted_to_spec(spec, {.kernel = nullptr, .rows = &rows}, context);
}

void check_round_trip(const FeatureMap& map, const Matrix<double>& X) {
  const std::vector<NumberArray> numbers = io::decode(io::encode(map.numbers()));
  const auto again = spec::map_from_spec_and_numbers(spec::to_spec(map), numbers);
  CHECK(equal_bytes(features_of(*again, X), features_of(map, X)));
}

TEST_CASE("sums: the nearest number of features that the parts permit") {
  const std::string fixed = R"({"kernel":"polynomial","degree":1})",
                    inner =
                        R"({"map":"sum","parts":[{"map":"exact_polynomial"},{"map":"fourier"}]})";
  const Parameters cases[] = {
      canonical(sum(kUnitGaussian + R"(,{"kernel":"additive_chi2"})")),
      canonical(sum(sum(fixed + "," + kUnitGaussian) + "," + kUnitGaussian),
                R"("map":"sum","parts":[)" + inner + R"(,{"map":"fourier"}])"),
      canonical(sum(kUnitGaussian + "," + kUnitGaussian + "," + kUnitGaussian)),
      canonical(sum(kUnitGaussian + R"(,{"kernel":"product","parts":[)" + kUnitGaussian + "," +
                    kUnitGaussian + "]}"))};
  for (const Parameters& spec : cases) {
    INFO(print_object(spec));
    const feature::MapSizes sizes = feature::map_sizes(spec, feature::kMostFeatures);
    REQUIRE(sizes.step == 2);
    for (int64_t wanted = 1; wanted < 70; ++wanted) {
      const int64_t D = feature::features_near(spec, wanted);
      CHECK((D == sizes.least || (D <= wanted && wanted < D + 2)));
      Parameters whole = spec;
      whole.set("features", D);
      CHECK(feature::make_map(whole)->features() == D);
    }
    Parameters odd = spec;
    odd.set("features", sizes.least + 3);
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, feature::make_map(odd), "1 less");
  }
}

TEST_CASE("sums: no part made from rows takes more features than rows") {
  const std::string pair = sum(kUnitGaussian + "," + kDot), deep = sum(kUnitGaussian + "," + pair);
  // The half of 602 would be 301; steps of 2 leave the Fourier part 302.
  CHECK(feature::most_features(canonical(pair), 300) == 602);
  const Matrix<double> X = random_matrix(300, 3, 1);
  for (const std::string& kernel : {pair, deep}) {
    const int64_t most = feature::most_features(canonical(kernel), 300);
    CHECK(most < 1300);
    const auto map = fitted(kernel, R"("map":"sum")", most, X);
    CHECK(map->features() == most);
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fitted(kernel, R"("map":"sum")", most + 2, X),
                  "expected at most 300, the number of rows");
  }
  CHECK(feature::most_features(canonical(sum(kUnitGaussian + "," + kUnitGaussian)), 300) ==
        feature::kMostFeatures);
}

TEST_CASE("sums: default parts are in the spec, at every depth, and say what is made from rows") {
  CHECK(feature::needs_rows(canonical(sum(kUnitGaussian + "," + kDot))));
  CHECK(feature::needs_rows(canonical(sum(kUnitGaussian + "," + sum(kUnitGaussian + "," + kDot)))));
  CHECK(feature::needs_rows(canonical(sum(kUnitGaussian + "," + sum(kUnitGaussian + "," + kDot)),
                                      R"("map":"sum","parts":[{"map":"fourier"},{"map":"sum"}])")));
  CHECK_FALSE(feature::needs_rows(canonical(sum(kUnitGaussian + "," + kUnitGaussian))));
  const Parameters whole =
      canonical(sum(kUnitGaussian + "," + kDot), R"("map":"sum","shares":[1,2])");
  CHECK(whole.entries()[whole.entries().size() - 2].first == "parts");
  CHECK(whole.objects("parts")[1]->text("map") == "nystroem");
}

double processor_seconds(const std::function<void()>& work) {
  const std::clock_t started = std::clock();
  work();
  return static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
}

TEST_CASE("composed maps: the time of nested parts is no power of their depth") {
  const auto make = [](int depth) {
    const auto map = feature::make_map(canonical(tree(depth), R"("map":"sum")", 1024));
    CHECK(map->features() == 1024);
  };
  // A ratio, so that it holds under sanitizers: nine levels have four times the parts of seven, and
  // took sixteen times as long when a level more was four times.
  const double seven = processor_seconds([&] {
    for (int i = 0; i < 4; ++i) make(7);
  });
  CHECK(processor_seconds([&] { make(9); }) < 2.5 * seven);
  for (const int depth : {11, 12})
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                  feature::make_map(canonical(tree(depth), R"("map":"sum")", 8192)),
                  "parts in all, expected at most 1024");
}

TEST_CASE("sums: what can be made comes back from its numbers, of many parts and of deep ones") {
  const Matrix<double> X = random_matrix(12, 2, 2);
  std::string kernels = kDot;
  for (int i = 1; i < 64; ++i) kernels += "," + kDot;
  const auto wide = fitted(sum(kernels), R"("map":"sum")", 128, X);
  CHECK(wide->numbers().size() == 3 * 64);
  check_round_trip(*wide, X);
  std::string nested = kDot;
  for (int i = 0; i < 13; ++i) nested = sum(kUnitGaussian + "," + nested);
  const auto deep = fitted(nested, R"("map":"sum")", 27, X);  // 2 of every Fourier part, 1 landmark
  CHECK(deep->numbers().front().name == "ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_landmarks");
  check_round_trip(*deep, X);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                feature::make_map(canonical(chain(14), R"("map":"sum")", 64)),
                "nested 14 deep, expected at most 13");
}

}  // namespace composed_map_test
