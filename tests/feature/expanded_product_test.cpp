// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products of sums: the features of the sum of products that they are, means and variances over
// seeds and over all signs, and what specs say and refuse of them.
#include "feature/derivatives.h"
#include "feature/map_entry.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/partial_map.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace expanded_product_test {
using namespace mercer;
using namespace mercer::test;

const std::string kBell = R"({"kernel":"gaussian","lengthscale":0.9})",
                  kCity = R"({"kernel":"laplacian","lengthscale":1.3,"variance":0.5})",
                  kSquare = R"({"kernel":"polynomial","gamma":0.7,"offset":0.5})",
                  kSubsets = R"({"kernel":"anova","subsets":"all"})",
                  kLine = R"({"kernel":"polynomial","degree":1})";

std::string kernel_of(const std::string& rule, const std::string& parts, double variance = 1) {
  return R"({"kernel":")" + rule + R"(","parts":[)" + parts + R"(],"variance":)" +
         std::to_string(variance) + "}";
}

std::string sum(const std::string& parts, double variance = 1) {
  return kernel_of("sum", parts, variance);
}
std::string product(const std::string& parts, double variance = 1) {
  return kernel_of("product", parts, variance);
}

std::string spec_of(const std::string& kernel, int64_t D, uint64_t seed = 1, int64_t d = 2,
                    const std::string& maps = "") {
  return R"({"kernel":)" + kernel + R"(,"inputs":)" + std::to_string(d) + R"(,"features":)" +
         std::to_string(D) + R"(,"seed":)" + std::to_string(seed) +
         (maps.empty() ? "" : R"(,"map":"product","parts":[)" + maps + "]") + "}";
}

std::unique_ptr<FeatureMap> made(const std::string& spec) { return spec::map_from_spec(spec); }

double estimate(const FeatureMap& map, const Matrix<double>& X) {
  const Matrix<double> Z = features_of(map, X);
  double sum = 0;  // of a complex map the real part
  for (int64_t j = 0; j < map.row_length(); ++j) sum += Z(0, j) * Z(1, j);
  return sum;
}

double value_of(const FeatureMap& map, const Matrix<double>& X) {
  return map.kernel().value(X.cols(), X.view().row(0), X.view().row(1));
}

TEST_CASE("product of sums: the default maps estimate the kernel, at every depth") {
  const std::string both = sum(kBell + "," + kCity);
  const std::string kernels[] = {
      product(both + "," + kSquare, 1.4), product(both + "," + sum(kSquare + "," + kBell, 0.6)),
      product(kSquare + "," + sum(kBell + "," + product(both + "," + kCity), 0.7)),
      sum(kBell + "," + product(kSquare + "," + both)),
      product(kBell + "," + product(both + "," + kSquare))};
  const Matrix<double> X = random_matrix(2, 2, 4);
  constexpr uint64_t kSeeds = 60;
  const double z = z_threshold(kFailure, 2 * std::size(kernels));
  for (const std::string& kernel : kernels) {
    INFO(kernel);
    std::vector<double> estimates;
    double value = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto map = made(spec_of(kernel, 120, seed));
      value = value_of(*map, X);
      estimates.push_back(estimate(*map, X));
    }
    CHECK(std::fabs(studentised_z_score(estimates, value)) <= z);
  }
}

// One input: (1 + s x)(1 + s y) of the subsets and x y of the line, which has no randomness.
TEST_CASE("product of sums: mean and variance over all signs") {
  const std::string rademacher = R"({"map":"linear","projection":"rademacher"})";
  const auto map = made(
      spec_of(product(sum(kSubsets + "," + kLine, 0.5) + "," + kSubsets, 3), 4, 1, 1,
              R"({"map":"sum","parts":[{"map":"anova"},)" + rademacher + R"(]},{"map":"anova"})"));
  const double x = 0.7, y = -0.4;
  const Matrix<double> X = filled(2, 1, [=](int64_t i, int64_t) { return i == 0 ? x : y; });
  // Two columns each of subsets times subsets, and of line times subsets.
  const auto subsets = [=](double s) { return (1 + s * x) * (1 + s * y); };
  double mean = 0, square[2] = {0, 0}, means[2] = {0, 0};
  for (const double s : {-1.0, 1.0}) {
    for (const double t : {-1.0, 1.0}) {
      const double a[2] = {1.5 * subsets(s) * subsets(t), 1.5 * x * y * subsets(t)};
      for (int i = 0; i < 2; ++i) {
        means[i] += a[i] / 4;
        square[i] += a[i] * a[i] / 4;
      }
    }
  }
  mean = means[0] + means[1];
  const double variance =
      (square[0] - means[0] * means[0]) / 2 + (square[1] - means[1] * means[1]) / 2;
  CHECK(value_of(*map, X) == Approx(mean).epsilon(1e-13));
  CHECK(variance_of(*map, X) == Approx(variance).epsilon(1e-12));
}

TEST_CASE("product of sums: columns, derivatives and specs are those of the sum of products") {
  const std::string
      map_of_sum = R"({"map":"sum","shares":[2,1],"parts":[{"map":"fourier"},{"map":"fourier"}]})",
      sketch = R"({"map":"product_sketch","field":"complex_to_real"})";
  const auto map = made(spec_of(product(sum(kBell + "," + kCity, 0.5) + "," + kSquare, 1.5), 30, 9,
                                2, map_of_sum + "," + sketch));
  const std::string apart = R"({"map":"fourier"},)" + sketch;
  const auto other =
      made(R"({"map":"sum","shares":[2,1],"inputs":2,"features":30,"seed":9,"kernel":)" +
           sum(product(kBell + "," + kSquare, 0.75) + "," + product(kCity + "," + kSquare, 0.75)) +
           R"(,"parts":[{"map":"product","parts":[)" + apart + R"(]},{"map":"product","parts":[)" +
           apart + "]}]}");
  const Matrix<double> X = random_matrix(7, 2, 2), G = random_matrix(7, 30, 3);
  CHECK(equal_bytes(features_of(*map, X), features_of(*other, X)));
  CHECK(derivatives_of(*map).most_order() == derivatives_of(*other).most_order());
  Context context;
  const Matrix<double> back(7, 2), back_other(7, 2);
  derivatives_of(*map).pull_back(X.view(), G.view(), context, back.view());
  derivatives_of(*other).pull_back(X.view(), G.view(), context, back_other.view());
  CHECK(equal_bytes(back, back_other));
  const Matrix<double> some(7, 11);
  map->apply(Rows(X.view()), {5, 16}, context, some.view());
  const Matrix<double> all = features_of(*map, X);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t j = 0; j < 11; ++j) wrong += some(i, j) != all(i, 5 + j);
  CHECK(wrong == 0);
  const std::string text = spec::to_spec(*map);
  CHECK(text.starts_with(R"({"mercer":1,"map":"product","kernel":{"kernel":"product")"));
  CHECK(text.find(R"("shares":[2,1])") != std::string::npos);
  const auto again = made(text);
  CHECK(spec::to_spec(*again) == text);
  CHECK(equal_bytes(features_of(*again, X), all));
}

TEST_CASE("product of sums: searches scale all lengthscales, and choose projections inside") {
  const std::string kernel = product(sum(kBell + "," + kCity) + "," + kSquare);
  const auto maker = test::map_maker(R"({"kernel":)" + kernel + "}", 2, 5);
  const auto map = maker->make(0.5, 33);
  CHECK(map->features() == 32);
  const std::string text = spec::to_spec(*map);
  CHECK(text.find(R"("lengthscale":0.45)") != std::string::npos);
  CHECK(text.find(R"("lengthscale":0.65)") != std::string::npos);
  CHECK(text.find(R"({"map":"sum","parts":[{"map":"fourier","projection":"sobol")") !=
        std::string::npos);
  CHECK(spec::to_spec(*made(text)) == text);
}

TEST_CASE("product of sums: sizes that can be, and what is refused") {
  const std::string kernel = product(sum(kBell + "," + kCity) + "," + kSquare);
  for (const int64_t D : {2, 3, 5})
    CHECK_REFUSED(
        MERCER_INVALID_ARGUMENT, made(spec_of(kernel, D)),
        "product of sums, made as the sum of 2 products: features = " + std::to_string(D));
  Parameters spec =
      feature::canonical_map(spec::parse_object(spec_of(kernel, 4)), "", feature::Data::refused);
  const feature::MapSizes sizes = feature::map_sizes(spec, 100);
  CHECK(sizes.least == 4);
  CHECK(sizes.step == 2);
  CHECK(feature::features_near(spec, 17) == 16);
  std::string nine;
  for (int i = 0; i < 9; ++i) nine += (i == 0 ? "" : ",") + kBell;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, made(spec_of(product(sum(nine) + "," + sum(nine)), 1000)),
                "multiplied out, the sums inside are 81 products and more, expected at most 64");
  CHECK_REFUSED(
      MERCER_UNSUPPORTED,
      made(spec_of(product(sum(kBell + R"(,{"kernel":"additive_chi2"})") + "," + kSquare), 100)),
      "made as the sum of 2 products: parts[1]: parts[0]: no column of this map additive");
}

}  // namespace expanded_product_test
