// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products with Z'WZ, Z'WY and scores on a grid by Fourier transforms against those of the features.
#include "feature/grid_gram.h"

#include <cmath>

#include "feature/map_entry.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/map_calls.h"

namespace grid_gram_test {
using namespace mercer;

std::unique_ptr<feature::FeatureMap> grid_map(int64_t d, int64_t D, const char* kernel) {
  const std::string text =
      R"({"map":"fourier","projection":"grid","diameter":2,"kernel":{"variance":3,)" +
      std::string(kernel) + R"(},"inputs":)" + std::to_string(d) + R"(,"features":)" +
      std::to_string(D) + "}";
  return feature::make_map(
      feature::canonical_map(spec::parse_object(text), "", feature::Data::refused));
}

struct Products {
  Matrix<double> gram, cross;  // Z'WZ V and Z'WY
  std::vector<double> sums, diagonal;
  Matrix<double> block;  // of the first frequencies
};

constexpr int64_t kBlock = 3;

Products by_transforms(const feature::FeatureMap& map, const Matrix<double>& X,
                       const Matrix<double>& Y, std::span<const double> weights,
                       const Matrix<double>& V, int threads) {
  Context context;
  context.threads = threads;
  const feature::FrequencyGrid& grid = *map.grid();
  const double at_zero = map.kernel().value_at_zero();
  feature::GridRows rows(grid, at_zero, Y.cols(), context);
  for (int64_t first = 0; first < X.rows(); first += 100) {
    const int64_t end = std::min(X.rows(), first + 100);
    rows.add(X.view().block_rows(first, end), Y.view().block_rows(first, end),
             weights.empty() ? weights : weights.subspan(first, end - first), context);
  }
  const int64_t D = map.features();
  Products all{Matrix<double>(D, V.cols()),
               Matrix<double>(D, Y.cols()),
               std::vector<double>(D),
               {},
               Matrix<double>(2 * kBlock, 2 * kBlock)};
  rows.finish(context, all.cross.view(), all.sums);
  const feature::SumTable table = rows.whole(context);
  const feature::GridGram gram(grid, at_zero, table, context);
  gram.apply(V.view(), context, all.gram.view());
  all.diagonal = feature::grid_gram_diagonal(grid, at_zero, table);
  all.block.fill(0);
  feature::add_grid_gram(grid, at_zero, table, kBlock, context, all.block.view());
  return all;
}

TEST_CASE("products with Z'Z on a grid are those of the features", "[nufft]") {
  struct Case {
    int64_t d, D;
    const char* kernel;
  };
  const Case cases[] = {{1, 46, R"("kernel":"gaussian","lengthscale":0.2)"},
                        {1, 300, R"("kernel":"matern","nu":1.5,"lengthscale":0.4)"},
                        {2, 400, R"("kernel":"matern","nu":1.5,"lengthscale":[0.3,1.1])"},
                        {2, 6, R"("kernel":"gaussian","lengthscale":3)"},
                        {3, 600, R"("kernel":"gaussian","lengthscale":0.6)"}};
  for (const Case& one : cases) {
    INFO("d = " << one.d << ", D = " << one.D);
    const auto map = grid_map(one.d, one.D, one.kernel);
    const int64_t n = 300, D = map->features();
    const Matrix<double> X = test::random_matrix(n, one.d, 3), Y = test::random_matrix(n, 2, 4),
                         V = test::random_matrix(D, 2, 5), Z = test::features_of(*map, X);
    std::vector<double> weights;
    for (int64_t i = 0; i < n; ++i) weights.push_back(0.25 * static_cast<double>(i % 5));
    const Products found = by_transforms(*map, X, Y, weights, V, 1);
    const Matrix<double> scaled =
        test::filled(n, D, [&](int64_t i, int64_t j) { return weights[i] * Z(i, j); });
    const Matrix<double> exact = test::product(test::transposed(scaled.view()).view(),
                                               test::product(Z.view(), V.view()).view());
    const Matrix<double> cross = test::product(test::transposed(scaled.view()).view(), Y.view());
    double size = 0, worst = 0, beside = 0;
    for (int64_t j = 0; j < D; ++j) {
      double sum = 0, square = 0;
      for (int64_t i = 0; i < n; ++i) {
        sum += scaled(i, j);
        square += scaled(i, j) * Z(i, j);
      }
      beside =
          std::max({beside, std::fabs(found.sums[j] - sum), std::fabs(found.diagonal[j] - square)});
      for (int64_t k = 0; k < 2; ++k) {
        size = std::max(size, std::fabs(exact(j, k)));
        worst = std::max(worst, std::fabs(found.gram(j, k) - exact(j, k)));
        beside = std::max(beside, std::fabs(found.cross(j, k) - cross(j, k)));
      }
    }
    CHECK(worst <= 1e-10 * size);
    CHECK(beside <= 1e-10);
    const int64_t F = D / 2;
    for (int64_t a = 0; a < 2 * kBlock; ++a)
      for (int64_t b = 0; b <= a; ++b) {
        double sum = 0;
        const auto column = [&](int64_t c) { return c < kBlock ? c : F + c - kBlock; };
        for (int64_t i = 0; i < n; ++i) sum += scaled(i, column(a)) * Z(i, column(b));
        CHECK(std::fabs(found.block(a, b) - sum) <= 1e-10);
      }
    const Products again = by_transforms(*map, X, Y, weights, V, 2);
    CHECK(test::equal_bytes(found.gram, again.gram));
    CHECK(test::equal_bytes(found.cross, again.cross));
    CHECK(found.sums == again.sums);
  }
}

TEST_CASE("scores on a grid by transforms are those of the features", "[nufft]") {
  for (const int64_t d : {1, 2, 3}) {
    const auto map = grid_map(d, 500, R"("kernel":"matern","nu":2.5,"lengthscale":0.5)");
    const Matrix<double> X = test::random_matrix(130, d, 3), W = test::random_matrix(500, 2, 4);
    const Matrix<double> exact = test::product(test::features_of(*map, X).view(), W.view());
    Context context;
    const feature::GridScores scores(*map->grid(), map->kernel().value_at_zero(), W.view(),
                                     context);
    Matrix<double> out(130, 2), part(30, 2);
    scores.multiply(X.view(), context, out.view());
    scores.multiply(X.view().block_rows(50, 80), context, part.view());
    for (int64_t i = 0; i < 130; ++i)
      for (int64_t o = 0; o < 2; ++o) {
        CHECK(std::fabs(out(i, o) - exact(i, o)) <= 1e-10);
        if (i >= 50 && i < 80) CHECK(part(i - 50, o) == out(i, o));
      }
  }
}

}  // namespace grid_gram_test
