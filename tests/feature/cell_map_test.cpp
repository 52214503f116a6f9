// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of random cells, random_binning and weighted_minhash: mean and variance for one column a draw
// and many, entries and their products against the features themselves. The contract has the rest.
#include "feature/feature_map.h"
#include "feature/feature_operator.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/sparse.h"
#include "support/statistic.h"

namespace cell_map_test {
using namespace mercer;
using namespace mercer::test;

constexpr const char* kMaps[] = {"random_binning", "weighted_minhash"};

std::unique_ptr<FeatureMap> made(const std::string& map, int64_t d, int64_t draws, int64_t bins,
                                 uint64_t seed) {
  std::vector<double> l(d);
  for (int64_t j = 0; j < d; ++j) l[j] = 1 + 0.5 * static_cast<double>(j);
  Parameters kernel{{"kernel", "laplacian"}, {"lengthscale", l}, {"variance", 1.3}};
  if (map == "weighted_minhash") kernel = {{"kernel", "tanimoto"}, {"variance", 1.3}};
  return made_map(map.c_str(), kernel, d, draws * bins, seed, {{"bins", bins}});
}

/// A third of them 0, none negative for weighted_minhash.
template <class T>
Matrix<T> rows(const std::string& map, int64_t n, int64_t d) {
  Matrix<T> X(n, d);
  for (int64_t i = 0; i < n * d; ++i) {
    const double number = i % 3 == 1 ? 0 : std::sin(1.7 * static_cast<double>(i));
    X.data()[i] = static_cast<T>(map == "weighted_minhash" ? std::fabs(number) : number);
  }
  return X;
}

/// The estimate of k(x, y), times draws over variance: the draws that agree, with those that meet in a
/// column.
double agreement(const FeatureMap& map, const Matrix<double>& X) {
  const Matrix<double> Z = features_of(map, X);
  double sum = 0;
  for (int64_t j = 0; j < Z.cols(); ++j) sum += Z(0, j) * Z(1, j);
  return sum;
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

// The estimate of one draw is 1.3 times 1, -1 or 0: counts, with their closed-form variance.
TEST_CASE("cells: means and variances, whatever the bins") {
  constexpr int kSeeds = 20000;
  const std::initializer_list<int64_t> widths = {1, 2, 3, 64};
  const double threshold = z_threshold(kFailure, 4.0 * static_cast<double>(widths.size()));
  for (const std::string map_name : kMaps) {
    const Matrix<double> X = rows<double>(map_name, 2, 5);
    for (const int64_t bins : widths) {
      std::vector<double> sample(kSeeds), squares(kSeeds);
      double k = 0, variance = 0;
      for (int seed = 0; seed < kSeeds; ++seed) {
        const auto map = made(map_name, 5, 2, bins, static_cast<uint64_t>(seed));
        k = map->estimated_kernel(X.view().row(0), X.view().row(1));
        variance = variance_of(*map, X);
        sample[seed] = agreement(*map, X);
        squares[seed] = (sample[seed] - k) * (sample[seed] - k);
      }
      const double share = k / 1.3;
      INFO(map_name << ", bins = " << bins << ", k = " << k);
      CHECK((share > 0.1 && share < 0.9));
      CHECK(variance ==
            Approx(1.3 * 1.3 * (1 - share) * (share + 1.0 / static_cast<double>(bins)) / 2));
      CHECK(std::fabs(studentised_z_score(sample, k)) <= threshold);
      CHECK(std::fabs(studentised_z_score(squares, variance)) <= threshold);
    }
  }
}

TEST_CASE("cells: a row has one entry of one size in each draw") {
  const std::string name = GENERATE(as<std::string>{}, kMaps[0], kMaps[1]);
  const auto map = made(name, 4, 7, 5, 3);
  const Matrix<double> X = rows<double>(name, 30, 4), Z = features_of(*map, X);
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

TEST_CASE("cells: products from the entries are those of the features") {
  const std::string name = GENERATE(as<std::string>{}, kMaps[0], kMaps[1]);
  const auto map = made(name, 4, 40, 6, 3);
  const Matrix<double> X = rows<double>(name, 70, 4);
  check_products(*map, X.view(), features_of(*map, X));
  const Matrix<float> single = rows<float>(name, 70, 4);
  check_products(*map, single.view(), features_of(*map, single));
  SparseRows<double> sparse = sparse_rows<double>(50, 4, 3, 5);
  if (name == "weighted_minhash")
    for (double& value : sparse.values) value = std::fabs(value);
  check_products(*map, sparse.view(), features_of(*map, sparse.dense()));
}

TEST_CASE("cells: NaN stays in its row of a product, and reaches every sum") {
  const std::string name = GENERATE(as<std::string>{}, kMaps[0], kMaps[1]);
  const auto map = made(name, 4, 8, 6, 3);
  Matrix<double> X = rows<double>(name, 3, 4);
  X(1, 2) = name == "weighted_minhash" ? -1e-300 : std::nan("");  // outside the domain
  Matrix<double> theta(48, 1), Y(3, 1), out(3, 1);
  theta.fill(1), Y.fill(1);
  Context context;
  feature::multiply(*map, X.view(), theta.view(), feature::FieldKind::value, context, out.view());
  CHECK(std::isnan(out(1, 0)));
  CHECK((std::isfinite(out(0, 0)) && std::isfinite(out(2, 0))));
  feature::adjoint(*map, X.view(), MatrixView<const double>(Y.view()), context, theta.view());
  for (int64_t j = 0; j < 48; ++j) CHECK(std::isnan(theta(j, 0)));
}

TEST_CASE("cells: other kernels and part of a draw are refused") {
  CHECK(refused_map("weighted_minhash", {{"kernel", "intersection"}}, "intersection",
                    "weighted minhash", "tanimoto") == "");
  CHECK(refused_map("random_binning", {{"kernel", "gaussian"}}, "gaussian", "random binning",
                    "laplacian") == "");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                made_map("random_binning", {{"kernel", "laplacian"}}, 4, 33, 0, {}),
                "features = 33", "multiple of 32");
}

TEST_CASE("random_binning: rows far from the origin share bins as others do") {
  // Rows 1/2 or more apart, the finest that doubles of this size can tell; at the last all but one
  // are different bins, which meet in a column with the sign of a coin.
  constexpr int64_t kGrids = 20000;
  const double deviations = z_threshold(kFailure, 9);
  const auto map = made("random_binning", 1, kGrids, 4, 3);
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

TEST_CASE("weighted_minhash: sizes do not matter, nor how often rows of zeros meet") {
  const auto map = made("weighted_minhash", 4, 500, 1 << 20, 3);
  // Rows of the same shares have the kernel of any of their multiples, of 300 and 1e-300, too.
  const double deviations = z_threshold(kFailure, 6), shares[] = {0.5, 3, 0, 1.25},
               others[] = {1.5, 2, 4, 0};
  for (const double unit : {1e-300, 1e-10, 1.0, 7.3, 1e200, 1e300}) {
    Matrix<double> X(4, 4);
    for (int64_t j = 0; j < 4; ++j)
      X(0, j) = unit * shares[j], X(1, j) = unit * others[j], X(2, j) = X(3, j) = 0;
    Context context;
    Matrix<int64_t> columns(4, 500);
    Matrix<double> values(4, 500);
    map->sparse_features()->find_entries(X.view(), context, columns.view(), values.view());
    const auto met = [&](int64_t a, int64_t b) {
      int64_t count = 0;
      for (int64_t g = 0; g < 500; ++g)
        count += columns(a, g) == columns(b, g) && values(a, g) == values(b, g);
      return static_cast<double>(count) / 500;
    };
    const double T = 2.5 / 9.75;
    INFO("unit " << unit);
    CHECK(std::fabs(met(0, 1) - T) <= deviations * std::sqrt(T * (1 - T) / 500));
    CHECK(met(2, 3) == 1);
    CHECK(met(0, 2) <= 0.01);
  }
}

}  // namespace cell_map_test
