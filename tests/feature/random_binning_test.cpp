// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random binning: mean and variance for one column a grid and many, entries and their products
// against the features themselves. The contract has the rest.
#include "feature/feature_map.h"
#include "feature/feature_operator.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/sparse.h"
#include "support/statistic.h"

namespace random_binning_test {
using namespace mercer;
using namespace mercer::test;

std::unique_ptr<FeatureMap> made(int64_t d, int64_t grids, int64_t bins, uint64_t seed) {
  std::vector<double> l(d);
  for (int64_t j = 0; j < d; ++j) l[j] = 1 + 0.5 * static_cast<double>(j);
  const Parameters kernel{{"kernel", "laplacian"}, {"lengthscale", l}, {"variance", 1.3}};
  return made_map("random_binning", kernel, d, grids * bins, seed, {{"bins", bins}});
}

template <class T>
Matrix<T> rows(int64_t n, int64_t d) {
  Matrix<T> X(n, d);
  for (int64_t i = 0; i < n * d; ++i)
    X.data()[i] = static_cast<T>(std::sin(1.7 * static_cast<double>(i)));
  return X;
}

template <class T>
void check_products(const FeatureMap& map, const Rows& X, const Matrix<T>& Z) {
  const int64_t n = Z.rows(), D = Z.cols(), m = 3;
  Matrix<double> theta(D, m), sums(D, m);
  Matrix<T> Y(n, m), out(n, m);
  for (int64_t i = 0; i < D * m; ++i) theta.data()[i] = std::cos(static_cast<double>(i));
  for (int64_t i = 0; i < n * m; ++i)
    Y.data()[i] = static_cast<T>(std::cos(0.3 * static_cast<double>(i)));
  Context context;
  feature::multiply(map, X, theta.view(), feature::FieldKind::value, context, out.view());
  feature::adjoint(map, X, MatrixView<const T>(Y.view()), context, sums.view());
  for (int64_t k = 0; k < m; ++k) {
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < D; ++j) sum += Z(i, j) * theta(j, k);
      CHECK(out(i, k) == Approx(sum).margin(sizeof(T) == 4 ? 1e-5 : 1e-13));
    }
    for (int64_t j = 0; j < D; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(Z(i, j)) * Y(i, k);
      CHECK(sums(j, k) == Approx(sum).margin(sizeof(T) == 4 ? 1e-5 : 1e-13));
    }
  }
}

// The estimate of one grid is 1.3 times 1, -1 or 0: counts, with their closed-form variance.
TEST_CASE("random_binning: means and variances, whatever the bins") {
  constexpr int kSeeds = 20000;
  const std::initializer_list<int64_t> widths = {1, 2, 3, 64};
  const double threshold = z_threshold(kFailure, 2.0 * static_cast<double>(widths.size()));
  const Matrix<double> X = rows<double>(2, 3);
  for (const int64_t bins : widths) {
    std::vector<double> sample(kSeeds), squares(kSeeds);
    double k = 0, variance = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const auto map = made(3, 2, bins, static_cast<uint64_t>(seed));
      const Matrix<double> Z = features_of(*map, X);
      k = map->estimated_kernel(X.view().row(0), X.view().row(1));
      variance = variance_of(*map, X);
      for (int64_t j = 0; j < Z.cols(); ++j) sample[seed] += Z(0, j) * Z(1, j);
      squares[seed] = (sample[seed] - k) * (sample[seed] - k);
    }
    const double share = k / 1.3;
    INFO("bins = " << bins);
    CHECK(variance ==
          Approx(1.3 * 1.3 * (1 - share) * (share + 1.0 / static_cast<double>(bins)) / 2));
    CHECK(std::fabs(studentised_z_score(sample, k)) <= threshold);
    CHECK(std::fabs(studentised_z_score(squares, variance)) <= threshold);
  }
}

TEST_CASE("random_binning: a row has one entry of one size in each grid") {
  const auto map = made(4, 7, 5, 3);
  const Matrix<double> X = rows<double>(30, 4), Z = features_of(*map, X);
  const feature::SparseFeatures* const sparse = map->sparse_features();
  REQUIRE(sparse != nullptr);
  REQUIRE(sparse->entries() == 7);
  Matrix<int64_t> columns(30, 7);
  Matrix<double> values(30, 7);
  Context context;
  sparse->find_entries(X.view(), context, columns.view(), values.view());
  for (int64_t i = 0; i < 30; ++i) {
    Matrix<double> expected(1, 35);
    expected.fill(0);
    for (int64_t e = 0; e < 7; ++e) {
      CHECK(columns(i, e) / 5 == e);
      CHECK(std::fabs(values(i, e)) == Approx(std::sqrt(1.3 / 7)).epsilon(1e-15));
      expected(0, columns(i, e)) = values(i, e);
    }
    for (int64_t j = 0; j < 35; ++j) CHECK(Z(i, j) == expected(0, j));
  }
}

TEST_CASE("random_binning: products from the entries are those of the features") {
  const auto map = made(4, 40, 6, 3);
  const Matrix<double> X = rows<double>(70, 4);
  check_products(*map, X.view(), features_of(*map, X));
  const Matrix<float> single = rows<float>(70, 4);
  check_products(*map, single.view(), features_of(*map, single));
  const SparseRows<double> sparse = sparse_rows<double>(50, 4, 3, 5);
  check_products(*map, sparse.view(), features_of(*map, sparse.dense()));
}

TEST_CASE("random_binning: NaN stays in its row of a product, and reaches every sum") {
  const auto map = made(4, 8, 6, 3);
  Matrix<double> X = rows<double>(3, 4);
  X(1, 2) = std::nan("");
  Matrix<double> theta(48, 1), Y(3, 1), out(3, 1);
  theta.fill(1), Y.fill(1);
  Context context;
  feature::multiply(*map, X.view(), theta.view(), feature::FieldKind::value, context, out.view());
  CHECK(std::isnan(out(1, 0)));
  CHECK((std::isfinite(out(0, 0)) && std::isfinite(out(2, 0))));
  feature::adjoint(*map, X.view(), MatrixView<const double>(Y.view()), context, theta.view());
  for (int64_t j = 0; j < 48; ++j) CHECK(std::isnan(theta(j, 0)));
}

TEST_CASE("random_binning: other kernels and part of a grid are refused") {
  CHECK(refused_map("random_binning", {{"kernel", "gaussian"}}, "gaussian", "random binning",
                    "laplacian") == "");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                made_map("random_binning", {{"kernel", "laplacian"}}, 4, 33, 0, {}),
                "features = 33", "multiple of bins = 32");
}

TEST_CASE("random_binning: rows far from the origin share bins as others do") {
  // Rows 1/2 or more apart, the finest that doubles of this size can tell; at the last all but one
  // are different bins, which meet in a column with the sign of a coin.
  constexpr int64_t kGrids = 20000;
  const double deviations = z_threshold(kFailure, 9);
  const auto map = made(1, kGrids, 4, 3);
  for (const double at : {0x1p40, 0x1.4p51, 0x1.8p51, 1e300}) {
    CAPTURE(at);
    Matrix<double> X(3, 1);
    X(0, 0) = at;
    X(1, 0) = at == 1e300 ? std::nextafter(at, kInfinity) : at + 0.5;
    X(2, 0) = at == 1e300 ? std::nextafter(X(1, 0), kInfinity) : at + 1;
    const Matrix<double> Z = features_of(*map, X);
    for (int64_t i = 0; i < 3; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < Z.cols(); ++j) sum += Z(0, j) * Z(i, j);
      const double k = map->estimated_kernel(X.view().row(0), X.view().row(i));
      double variance = 0;
      map->variance(X.view().block_rows(0, 1), X.view().block_rows(i, i + 1), {&variance, 1});
      CHECK(std::fabs(sum - k) <= deviations * std::sqrt(variance) + 1e-12);
    }
  }
}

}  // namespace random_binning_test
