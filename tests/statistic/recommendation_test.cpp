// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Recommended maps against the predicted errors of maps made by hand, and against what they miss.
#include "statistic/recommendation.h"

#include <set>
#include <string>

#include "feature/feature_map.h"
#include "statistic/kernel_error.h"
#include "support/dense.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace recommendation_test {
using namespace mercer;
using namespace mercer::statistic;

const Parameters kCubic{{"kernel", "polynomial"}, {"degree", int64_t{3}}, {"offset", 1.0}};
const Parameters kGaussian{{"kernel", "gaussian"}, {"lengthscale", 2.0}};

std::vector<Suggestion> recommended(const Parameters& kernel, const Aim& aim,
                                    const Matrix<double>& X) {
  Context context;
  return recommend(feature::canonical_map({{"map", "exact"},
                                           {"kernel", std::make_shared<const Parameters>(kernel)},
                                           {"inputs", X.cols()},
                                           {"features", X.rows()}},
                                          "", feature::Data::refused)
                       .object("kernel"),
                   aim, 7, X.view(), context);
}

/// The error of the map with so many features: predicted, or that of three draws.
double error_with(const Suggestion& one, int64_t features, const Matrix<double>& X) {
  Context context;
  Parameters asked = one.asked;
  asked.set("features", features);
  const Rows rows = X.view();
  const auto made = [&](uint64_t draw) {
    asked.set("seed", one.asked.seed("seed") + draw);
    return feature::make_map(asked, {.rows = &rows, .context = &context});
  };
  if (made(0)->moments().is_exact()) return predicted_error(*made(0), X.view(), context);
  double sum = 0;
  for (uint64_t draw : {0, 1, 2}) sum += std::pow(measured_error(*made(draw), rows, context), 2);
  return std::sqrt(sum / 3);
}

TEST_CASE("recommended for so many features: the least predicted error first") {
  const Matrix<double> X = test::random_matrix(40, 8, 3);
  for (const Parameters& kernel : {kCubic, kGaussian}) {
    const auto found = recommended(kernel, {.features = 100}, X);
    std::set<std::string> maps;
    for (size_t k = 0; k < found.size(); ++k) {
      maps.emplace(found[k].map->name());
      CHECK(found[k].map->features() <= 100);
      CHECK(found[k].error == error_with(found[k], found[k].map->features(), X));
      if (k > 0) CHECK(found[k].error >= found[k - 1].error);
    }
    CHECK(maps.contains("maclaurin"));
    CHECK(maps.contains(kernel.text("kernel") == "gaussian" ? "fourier" : "tensor_srht"));
    CHECK(maps.size() >= 3);
  }
}

TEST_CASE("recommended for an error: hardly fewer features reach it") {
  const Matrix<double> X = test::random_matrix(40, 8, 3);
  constexpr double kError = 0.1;
  int checked = 0;
  for (const Parameters& kernel : {kCubic, kGaussian}) {
    const auto found =
        recommended(kernel, {.error = kError, .features = 4000, .by_features = true}, X);
    REQUIRE(found.front().reached);
    for (size_t k = 0; k < found.size() && found[k].reached; ++k) {
      const int64_t D = found[k].map->features();
      CHECK(found[k].error <= kError);
      if (k > 0) CHECK(D >= found[k - 1].map->features());
      // Inner sketches of trees have sizes of their own: their error is no smooth function of D; few
      // draws of positive features say little, their squares have heavy tails.
      const bool smooth = !std::set<std::string_view>{"exact_polynomial", "craft",
                                                      "hierarchical_sketch", "positive"}
                               .contains(found[k].map->name());
      if (D < 60 || !smooth) continue;
      INFO(found[k].map->name() << " " << D);
      // Draws are tried at few numbers, and not all blocks are complete.
      const int64_t fewer = found[k].map->moments().is_exact() ? D - D / 40 : D * 3 / 5;
      CHECK(error_with(found[k], fewer / 2 * 2 - 2, X) > kError);
      ++checked;
    }
  }
  CHECK(checked > 20);
}

TEST_CASE("a recommended map misses what was predicted") {
  const Matrix<double> X = test::random_matrix(60, 8, 5);
  const auto found = recommended(kGaussian, {.error = 0.05, .features = 10000}, X);
  Context context;
  for (const Suggestion& one : found)
    if (one.reached) CHECK(measured_error(*one.map, X.view(), context) < 1.5 * one.error);
}

TEST_CASE("all monomials are recommended where they are few") {
  const Matrix<double> X = test::random_matrix(12, 5, 3);  // 56 of degree 3
  const auto found = recommended(kCubic, {.features = 56}, X);
  CHECK(found.front().map->name() == "exact_polynomial");
  CHECK(found.front().error == 0);
  for (const Suggestion& one : recommended(kCubic, {.features = 55}, X))
    CHECK(one.map->name() != "exact_polynomial");
}

TEST_CASE("recommendations: what is refused") {
  Matrix<double> X = test::random_matrix(12, 5, 3);
  const Parameters field{{"kernel", "curl_free"},
                         {"scalar", std::make_shared<const Parameters>(kGaussian)}};
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, recommended(field, {.features = 64}, X), "curl_free");
  X(3, 2) = std::nan("");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, recommended(kCubic, {.features = 64}, X), "finite");
}

TEST_CASE("recommendations of a steep kernel: series without columns are left out") {
  Parameters steep = kCubic;
  steep.set("degree", int64_t{100});
  steep.set("offset", 0.0);
  const Matrix<double> X = test::random_matrix(6, 7, 3);
  const auto found = recommended(steep, {.error = 0.02, .features = 300}, X);
  CHECK_FALSE(found.empty());
  for (const Suggestion& one : found) CHECK(one.map->features() <= 300);
}

}  // namespace recommendation_test
