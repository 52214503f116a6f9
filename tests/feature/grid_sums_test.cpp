// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums over rows on a grid, and products with weights, against those of the features themselves.
#include "feature/grid_sums.h"

#include <cmath>
#include <limits>
#include <tuple>

#include "feature/feature_operator.h"
#include "feature/map_entry.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/map_calls.h"

namespace grid_sums_test {
using namespace mercer;

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

template <class T>
Matrix<T> products(const feature::FeatureMap& map, MatrixView<const T> X,
                   const Matrix<double>& theta, int threads) {
  Context context;
  context.threads = threads;
  Matrix<T> out(X.rows, theta.cols());
  feature::multiply(map, X, theta.view(), feature::FieldKind::value, context, out.view());
  return out;
}

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

TEST_CASE("sums on a grid: of many outputs, in smaller blocks") {
  const auto map = grid_map(3, 500, "0.7");
  const Matrix<double> X = test::random_matrix(400, 3, 3), Y = test::random_matrix(400, 120, 4);
  CHECK(difference(by_grid(*map, X, Y, {}, 2), by_features(*map, X, Y, {})) <= 1e-10);
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

TEST_CASE("products on a grid are those of the features") {
  for (const auto& [d, D, columns] :
       {std::tuple<int64_t, int64_t, int64_t>{1, 46, 2}, {2, 200, 1}, {2, 840, 3}, {3, 500, 2}}) {
    const auto map = grid_map(d, D, d == 2 ? "[0.3,0.4]" : "0.5");
    INFO("d = " << d << ", D = " << D);
    CHECK(feature::GridProducts::pays(*map->grid(), columns));
    const Matrix<double> X = test::random_matrix(300, d, 3),
                         theta = test::random_matrix(D, columns, 4);
    const Matrix<double> Z = test::features_of(*map, X);
    const Matrix<double> out = products<double>(*map, X.view(), theta, 1);
    const Matrix<float> X32 = test::converted<float>(X);
    const Matrix<float> out32 = products<float>(*map, X32.view(), theta, 1);
    double worst = 0, worst32 = 0;
    for (int64_t i = 0; i < X.rows(); ++i)
      for (int64_t o = 0; o < columns; ++o) {
        double sum = 0;
        for (int64_t j = 0; j < D; ++j) sum += Z(i, j) * theta(j, o);
        worst = std::max(worst, std::fabs(out(i, o) - sum));
        worst32 = std::max(worst32, std::fabs(static_cast<double>(out32(i, o)) - sum));
      }
    CHECK(worst <= 1e-11);
    CHECK(worst32 <= 3e-5);
    CHECK(test::equal_bytes(out, products<double>(*map, X.view(), theta, 3)));
    const Matrix<double> part = products<double>(*map, X.view().block_rows(5, 44), theta, 2);
    for (int64_t i = 0; i < part.rows(); ++i)
      for (int64_t o = 0; o < columns; ++o) CHECK(part(i, o) == out(5 + i, o));
  }
}

TEST_CASE("products on a grid: NaN stays in its row") {
  const auto map = grid_map(2, 200, "0.3");
  const Matrix<double> theta = test::random_matrix(200, 1, 4);
  Matrix<double> X = test::random_matrix(40, 2, 3);
  X(7, 0) = std::numeric_limits<double>::quiet_NaN();
  X(9, 1) = std::numeric_limits<double>::infinity();
  const Matrix<double> out = products<double>(*map, X.view(), theta, 2);
  for (int64_t i = 0; i < 40; ++i) CHECK(std::isnan(out(i, 0)) == (i == 7 || i == 9));
  // A box is twice a ball.
  CHECK(!feature::GridProducts::pays(*grid_map(3, 1000, "0.5")->grid(), 100));
}

}  // namespace grid_sums_test
