// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How features are allotted to parts, and the sizes that parts permit.
#include <ctime>

#include "feature/composed_map.h"
#include "feature/map_entry.h"
#include "io/container.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/refusal.h"

namespace part_sizes_test {
using namespace mercer;
using namespace mercer::test;
using feature::allot, feature::PartSize;

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

const std::string kGaussian = R"({"kernel":"gaussian"})",
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
  std::string kernel = kGaussian;
  for (int i = 0; i < depth; ++i) {
    const std::string part = kernel;
    kernel = sum(part + "," + part);
  }
  return kernel;
}

// One part more at each of `depth` levels.
std::string chain(int depth) {
  std::string kernel = kGaussian;
  for (int i = 0; i < depth; ++i) kernel = sum(kGaussian + "," + kernel);
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
      canonical(sum(kGaussian + R"(,{"kernel":"additive_chi2"})")),
      canonical(sum(sum(fixed + "," + kGaussian) + "," + kGaussian),
                R"("map":"sum","parts":[)" + inner + R"(,{"map":"fourier"}])"),
      canonical(sum(kGaussian + "," + kGaussian + "," + kGaussian)),
      canonical(sum(kGaussian + R"(,{"kernel":"product","parts":[)" + kGaussian + "," + kGaussian +
                    "]}"))};
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
  const std::string pair = sum(kGaussian + "," + kDot), deep = sum(kGaussian + "," + pair);
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
  CHECK(feature::most_features(canonical(sum(kGaussian + "," + kGaussian)), 300) ==
        feature::kMostFeatures);
}

TEST_CASE("sums: default parts are in the spec, at every depth, and say what is made from rows") {
  CHECK(feature::needs_rows(canonical(sum(kGaussian + "," + kDot))));
  CHECK(feature::needs_rows(canonical(sum(kGaussian + "," + sum(kGaussian + "," + kDot)))));
  CHECK(feature::needs_rows(canonical(sum(kGaussian + "," + sum(kGaussian + "," + kDot)),
                                      R"("map":"sum","parts":[{"map":"fourier"},{"map":"sum"}])")));
  CHECK_FALSE(feature::needs_rows(canonical(sum(kGaussian + "," + kGaussian))));
  const Parameters whole = canonical(sum(kGaussian + "," + kDot), R"("map":"sum","shares":[1,2])");
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
  for (int i = 0; i < 13; ++i) nested = sum(kGaussian + "," + nested);
  const auto deep = fitted(nested, R"("map":"sum")", 27, X);  // 2 of every Fourier part, 1 landmark
  CHECK(deep->numbers().front().name == "ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_landmarks");
  check_round_trip(*deep, X);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                feature::make_map(canonical(chain(14), R"("map":"sum")", 64)),
                "nested 14 deep, expected at most 13");
}

}  // namespace part_sizes_test
