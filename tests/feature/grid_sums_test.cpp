// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums over rows on a grid against products of the features themselves.
#include "feature/grid_sums.h"

#include <cmath>
#include <limits>

#include "feature/map_entry.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/map_calls.h"

using namespace mercer;

namespace {

std::unique_ptr<feature::FeatureMap> grid_map(int64_t d, int64_t D,
                                              const std::string& lengthscale) {
  const std::string text =
      R"({"map":"fourier","projection":"grid","diameter":2,"kernel":{"kernel":"gaussian",)"
      R"("variance":3,"lengthscale":)" +
      lengthscale + R"(},"inputs":)" + std::to_string(d) + R"(,"features":)" + std::to_string(D) +
      "}";
  return feature::make_map(
      feature::canonical_map(spec::parse_object(text), "", feature::Data::refused));
}

struct Sums {
  Matrix<double> gram, cross;
  std::vector<double> features;
  Sums(int64_t D, int64_t m) : gram(D, D), cross(D, m), features(D, 0.0) {
    gram.fill(0);
    cross.fill(0);
  }
};

Sums by_grid(const feature::FeatureMap& map, const Matrix<double>& X, const Matrix<double>& Y,
             std::span<const double> weights, int threads) {
  Context context;
  context.threads = threads;
  Sums sums(map.features(), Y.cols());
  feature::GridSums grid(*map.grid(), map.kernel().value_at_zero(), Y.cols(), context);
  grid.add(X.view(), Y.view(), weights, context);
  grid.add_to(context, sums.gram.view(), sums.cross.view(), sums.features);
  return sums;
}

Sums by_features(const feature::FeatureMap& map, const Matrix<double>& X, const Matrix<double>& Y,
                 std::span<const double> weights) {
  const Matrix<double> Z = test::features_of(map, X);
  Sums sums(Z.cols(), Y.cols());
  for (int64_t i = 0; i < Z.rows(); ++i)
    for (int64_t a = 0; a < Z.cols(); ++a) {
      const double z = (weights.empty() ? 1 : weights[i]) * Z(i, a);
      sums.features[a] += z;
      for (int64_t b = 0; b <= a; ++b) sums.gram(a, b) += z * Z(i, b);
      for (int64_t o = 0; o < Y.cols(); ++o) sums.cross(a, o) += z * Y(i, o);
    }
  return sums;
}

/// The largest difference, of the lower triangle alone.
double difference(const Sums& a, const Sums& b) {
  double worst = 0;
  const auto see = [&](double x, double y) { worst = std::max(worst, std::fabs(x - y)); };
  for (int64_t i = 0; i < a.gram.rows(); ++i) {
    for (int64_t j = 0; j <= i; ++j) see(a.gram(i, j), b.gram(i, j));
    for (int64_t o = 0; o < a.cross.cols(); ++o) see(a.cross(i, o), b.cross(i, o));
    see(a.features[i], b.features[i]);
  }
  return worst;
}

}  // namespace

TEST_CASE("sums on a grid are those of the features") {
  struct Case {
    int64_t d, D, n;
    const char* lengthscale;
  };
  const Case cases[] = {{1, 46, 2100, "0.2"},      {1, 2, 5, "3"},     {2, 200, 1030, "0.3"},
                        {2, 90, 300, "[0.2,1.5]"}, {3, 130, 400, "1"}, {4, 60, 100, "2"}};
  for (const Case& one : cases) {
    const auto map = grid_map(one.d, one.D, one.lengthscale);
    const Matrix<double> X = test::random_matrix(one.n, one.d, 3);
    for (const int64_t outputs : {0, 2}) {
      const Matrix<double> Y = test::random_matrix(one.n, outputs, 4);
      std::vector<double> weights;
      for (int64_t i = 0; i < one.n && outputs == 2; ++i)
        weights.push_back(i % 5 == 0 ? 0 : 0.5 + 0.01 * static_cast<double>(i % 7));
      INFO("d = " << one.d << ", D = " << one.D << ", outputs = " << outputs);
      const Sums exact = by_features(*map, X, Y, weights);
      const Sums sums = by_grid(*map, X, Y, weights, 1);
      CHECK(difference(sums, exact) <= 1e-12 * static_cast<double>(one.n));
      CHECK(difference(sums, by_grid(*map, X, Y, weights, 3)) == 0);
    }
  }
}

TEST_CASE("sums on a grid: a row that is not finite shows in every sum of squares") {
  const auto map = grid_map(2, 60, "0.5");
  Matrix<double> X = test::random_matrix(20, 2, 3);
  X(7, 1) = std::numeric_limits<double>::quiet_NaN();
  const Sums sums = by_grid(*map, X, Matrix<double>(20, 0), {}, 1);
  for (int64_t a = 0; a < 60; ++a) CHECK(std::isnan(sums.gram(a, a)));
}

TEST_CASE("sums on a grid pay where it is wide in few inputs") {
  CHECK(feature::GridSums::pays(*grid_map(2, 840, "0.2")->grid()));
  CHECK(feature::GridSums::pays(*grid_map(3, 1000, "0.7")->grid()));
  CHECK(!feature::GridSums::pays(*grid_map(3, 60, "1")->grid()));
  CHECK(!feature::GridSums::pays(*grid_map(8, 400, "3")->grid()));
}
