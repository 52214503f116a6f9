// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Nystroem features against what they are: the kernel on the landmarks, the projection on their
// span elsewhere.
#include "feature/derivatives.h"
#include "kernel/cases.h"
#include "linalg/blas.h"
#include "sketch_cases.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/reference_matrix.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/worst.h"

namespace mercer::test::nystroem_test {
namespace {

using feature::FeatureMap;

Parameters spec_of(const kernel::Kernel& kernel, int64_t d, int64_t D) {
  return {{"map", "nystroem"},
          {"kernel", std::make_shared<const Parameters>(kernel.parameters())},
          {"inputs", d},
          {"features", D},
          {"seed", uint64_t{3}}};
}

std::unique_ptr<FeatureMap> fitted(const Parameters& given, const Rows& rows) {
  Context context;
  return feature::make_map(feature::canonical_map(given, "", feature::Data::refused),
                           {.rows = &rows, .context = &context});
}

Matrix<double> features_of(const FeatureMap& map, const Rows& X) {
  Context context;
  Matrix<double> Z(X.rows(), map.features());
  map.apply(X, {0, map.features()}, context, Z.view());
  return Z;
}

// max |Z Z' - K| over max |K|.
double error(const kernel::Kernel& kernel, const Matrix<double>& Z, const Matrix<double>& X) {
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < X.rows(); ++i) {
    for (int64_t j = 0; j < X.rows(); ++j) {
      double estimate = 0;
      for (int64_t c = 0; c < Z.cols(); ++c) estimate += Z(i, c) * Z(j, c);
      const double k = kernel.value(X.cols(), X.view().row(i), X.view().row(j));
      worst = std::max(worst, std::fabs(estimate - k));
      largest = std::max(largest, std::fabs(k));
    }
  }
  return worst / largest;
}

}  // namespace

TEST_CASE("nystroem: the kernel itself where every row is a landmark") {
  std::vector<KernelCase> cases = kernel_cases(1.3, 2.0);
  cases.push_back({"polynomial", kernel::make_polynomial(3, 0.5, 1, 2)});
  cases.push_back({"bilinear", kernel::make_bilinear(2, 1.5)});
  for (const KernelCase& one : cases) {
    const Matrix<double> X = inputs_for(*one.kernel, 40, 4, 1.0, 9);
    const auto map = fitted(spec_of(*one.kernel, 4, 40), X.view());
    INFO(one.label << ", rank " << map->parameters().integer("rank"));
    // Z Z' drops eigenvalues of at most 1e-12 of the largest, which is at most 40 times the
    // largest entry; rounding of K, 40 eps of its norm, is magnified once by the inverse root.
    CHECK(error(*one.kernel, features_of(*map, X.view()), X) < 1e-8);
  }
}

TEST_CASE("nystroem: K_xl K_ll^-1 K_ly elsewhere, exact on its landmarks alone") {
  const auto kernel = kernel::make_laplacian({2.0}, 1.5);
  const int64_t n = 60, d = 3, D = 17;
  const Matrix<double> X = random_matrix(n, d, 4);
  const auto map = fitted(spec_of(*kernel, d, D), X.view());
  CHECK(map->features() == D);
  CHECK(map->parameters().integer("rank") == D);
  const auto arrays = map->numbers();
  const auto& landmarks = find_doubles(arrays, "landmarks", std::array<int64_t, 2>{D, d});
  const MatrixView<const double> L{landmarks.data(), D, d, d};
  Context context;
  Matrix<double> K(D, D), cross(D, n);
  kernel::gram(*kernel, L, L, context, K.view());
  kernel::gram(*kernel, L, X.view(), context, cross.view());
  REQUIRE(linalg::cholesky(K.view()) == 0);
  linalg::triangular_solve(K.view(), cross.view());  // columns: L^-1 k(x)
  const Matrix<double> Z = features_of(*map, X.view());
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double expected = 0, estimate = 0;
      for (int64_t c = 0; c < D; ++c) {
        expected += cross(c, i) * cross(c, j);
        estimate += Z(i, c) * Z(j, c);
      }
      worst = std::max(worst, std::fabs(estimate - expected));
    }
  }
  CHECK(worst < 1e-12 * 1.5 * 17 * 17);  // condition below 1e3, D roundings in each of D terms
  // Every landmark is a row, and none twice.
  for (int64_t l = 0; l < D; ++l) {
    int64_t found = 0;
    for (int64_t i = 0; i < n; ++i) {
      found += std::memcmp(L.row(l), X.view().row(i), sizeof(double) * d) == 0;
    }
    CHECK(found == 1);
  }
}

TEST_CASE("nystroem: equal rows lower the rank and leave the kernel exact") {
  const auto kernel = kernel::make_gaussian({1.0}, 1);
  Matrix<double> X = random_matrix(24, 5, 6);
  for (int64_t i = 12; i < 24; ++i) std::copy_n(X.view().row(i - 12), 5, X.view().row(i));
  const auto map = fitted(spec_of(*kernel, 5, 24), X.view());
  CHECK(map->parameters().integer("rank") == 12);
  CHECK(error(*kernel, features_of(*map, X.view()), X) < 1e-10);
}

// A root of norm 10 leaves float arithmetic its accuracy, one of 1e4 does not.
TEST_CASE("nystroem: float rows to rounding, NaN stays in its row") {
  const auto [lengthscale, tolerance] = GENERATE(std::pair{0.5, 1e-5}, std::pair{20.0, 0.0});
  const auto kernel = kernel::make_gaussian({lengthscale}, 1);
  const Matrix<double> X = random_matrix(20, 3, 5);
  const auto map = fitted(spec_of(*kernel, 3, 10), X.view());
  Matrix<float> x(20, 3), z(20, 10);
  for (int64_t i = 0; i < 60; ++i) x.data()[i] = static_cast<float>(X.data()[i]);
  Matrix<double> wide(20, 3);
  for (int64_t i = 0; i < 60; ++i) wide.data()[i] = x.data()[i];
  Context context;
  map->apply(MatrixView<const float>(x.view()), {0, 10}, context, z.view());
  const Matrix<double> Z = features_of(*map, wide.view());
  int64_t wrong = 0;
  for (int64_t i = 0; i < 200; ++i)
    wrong += !(std::fabs(z.data()[i] - static_cast<float>(Z.data()[i])) <= tolerance);
  CHECK(wrong == 0);
  wide(7, 1) = std::nan("");
  const Matrix<double> spoilt = features_of(*map, wide.view());
  for (int64_t i = 0; i < 20; ++i) CHECK(std::isnan(spoilt(i, 0)) == (i == 7));
}

// Far from the origin floats lose what the kernel sees before it is subtracted: computed in double.
TEST_CASE("nystroem: far landmarks are as accurate as near ones for float rows") {
  const auto kernel = kernel::make_gaussian({0.5}, 1);
  for (const double offset : {0.0, 30.0, 3000.0}) {
    CAPTURE(offset);
    const Matrix<float> x(20, 3), z(20, 10);
    const Matrix<double> near = random_matrix(20, 3, 5), X(20, 3);
    for (int64_t i = 0; i < 60; ++i) {
      x.data()[i] = static_cast<float>(near.data()[i] + offset);
      X.data()[i] = x.data()[i];
    }
    const auto map = fitted(spec_of(*kernel, 3, 10), X.view());
    Context context;
    map->apply(MatrixView<const float>(x.view()), {0, 10}, context, z.view());
    const Matrix<double> Z = features_of(*map, X.view());
    double worst = 0;
    for (int64_t i = 0; i < 200; ++i)
      keep_worst(worst, std::fabs(static_cast<double>(z.data()[i]) - Z.data()[i]));
    CHECK(worst <= 1e-5);
    CHECK(largest(Z.view()) > 0.5);
  }
}

// The reference numbers are of the symmetric root; every root has their inner products.
TEST_CASE("nystroem: the reference numbers") {
  REQUIRE(oracle("transforms")["maps"].size() == 2);
  for (const Reference& entry : oracle("transforms")["maps"]) {
    const Matrix<double> X = reference_matrix(entry["X"]), L = reference_matrix(entry["landmarks"]),
                         expected = reference_matrix(entry["nystrom_gaussian_ell1"]);
    const auto kernel = kernel::make_gaussian({1.0}, 1);
    Parameters spec = spec_of(*kernel, X.cols(), L.rows());
    spec.set("landmarks", std::string("supplied"));
    const Matrix<double> Z = features_of(*fitted(spec, L.view()), X.view());
    double worst = 0;
    for (int64_t i = 0; i < X.rows(); ++i) {
      for (int64_t j = 0; j < X.rows(); ++j) {
        double difference = 0;
        for (int64_t c = 0; c < L.rows(); ++c)
          difference += Z(i, c) * Z(j, c) - expected(i, c) * expected(j, c);
        keep_worst(worst, std::fabs(difference));
      }
    }
    CHECK(worst <= 1e-12);
  }
}

TEST_CASE("nystroem: the root is lower trapezoidal; any root of a file is used as it is") {
  const auto kernel = kernel::make_gaussian({1.0, 0.5, 2.0}, 1.4);
  const int64_t D = 37;
  const Matrix<double> X = random_matrix(50, 3, 5);
  const auto map = fitted(spec_of(*kernel, 3, D), X.view());
  std::vector<NumberArray> arrays = map->numbers();
  const std::vector<double> root = find_doubles(arrays, "root", std::array<int64_t, 2>{D, D});
  int64_t above = 0;
  for (int64_t l = 0; l < D; ++l)
    for (int64_t j = l + 1; j < D; ++j) above += root[l * D + j] != 0;
  CHECK(above == 0);
  const Matrix<double> B = random_matrix(D, D, 6);
  for (NumberArray& array : arrays) {
    if (array.name == "root")
      array = {"root", {D, D}, std::vector<double>(B.data(), B.data() + D * D)};
  }
  const auto other = feature::make_map(map->parameters(), {.numbers = arrays});
  const auto& L = find_doubles(arrays, "landmarks", std::array<int64_t, 2>{D, 3});
  const Matrix<double> Z = features_of(*other, X.view());
  double worst = 0;
  for (int64_t i = 0; i < 50; ++i) {
    for (int64_t j = 0; j < D; ++j) {
      double expected = 0;
      for (int64_t l = 0; l < D; ++l)
        expected += kernel->value(3, X.view().row(i), L.data() + 3 * l) * B(l, j);
      worst = std::max(worst, std::fabs(Z(i, j) - expected));
    }
  }
  CHECK(worst <= 1e-13);
}

TEST_CASE("nystroem: what it refuses") {
  const auto kernel = kernel::make_gaussian({1.5}, 1);
  Matrix<double> X = random_matrix(20, 3, 5);
  const Parameters spec = spec_of(*kernel, 3, 10);
  const auto refused = [&](mercer_status status, const Parameters& given, const Rows& rows,
                           const char* part) {
    return refusal_fault(
        status, [&] { fitted(given, rows); }, part);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(refused(invalid, spec_of(*kernel, 3, 21), X.view(), "features = 21") == "");
  CHECK(refused(MERCER_DIMENSION_MISMATCH, spec_of(*kernel, 4, 10), X.view(), "inputs = 4") == "");
  Parameters ranked = spec;
  ranked.set("rank", int64_t{5});
  CHECK(refused(invalid, ranked, X.view(), "rank = 5") == "");
  Parameters chosen = spec;
  chosen.set("landmarks", "centroids");
  CHECK(refused(invalid, chosen, X.view(), "landmarks = \"centroids\"") == "");
  chosen.set("landmarks", "supplied");
  CHECK(refused(invalid, chosen, X.view(), "features = 10, expected 20") == "");
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                feature::make_map(feature::canonical_map(spec, "", feature::Data::refused)),
                "nystroem is made from rows");
  CHECK_REFUSED(MERCER_UNSUPPORTED, Context context; const Rows rows(X.view());
                const MatrixView<const double> y(X.data(), 20, 1, 3);
                feature::make_map(feature::canonical_map(spec, "", feature::Data::refused),
                                  {.rows = &rows, .targets = &y, .context = &context}),
                "does not learn from targets");
  const auto bilinear = kernel::make_bilinear(3, 1);
  CHECK(refused(MERCER_DIMENSION_MISMATCH, spec_of(*bilinear, 3, 10), X.view(), "left part") == "");
  X.fill(std::nan(""));
  CHECK(refused(invalid, spec, X.view(), "expected finite numbers") == "");
  X.fill(0);
  const auto flat = kernel::make_polynomial(2, 1, 0, 1);
  CHECK(refused(invalid, spec_of(*flat, 3, 10), X.view(), "largest eigenvalue") == "");
}

// Whichever rows are chosen: four landmarks of 400 rows leave the bad one out as a rule.
TEST_CASE("nystroem: every row is looked at, dense or sparse") {
  const auto additive = kernel::make_kernel({{"kernel", "additive_chi2"}});
  const Matrix<double> X = test::filled(
      400, 3, [](int64_t i, int64_t k) { return 0.1 * static_cast<double>((7 * i + k) % 30); });
  for (const char* landmarks : {"uniform", "kmeans", "farthest", "leverage", "rpcholesky"}) {
    INFO(landmarks);
    Parameters spec = spec_of(*additive, 3, 4);
    spec.set("landmarks", landmarks);
    CHECK(fitted(spec, X.view())->features() == 4);
    const auto fault = [&](const Rows& rows, const auto&... parts) {
      return refusal_fault(
          MERCER_INVALID_ARGUMENT, [&] { fitted(spec, rows); }, parts...);
    };
    const Matrix<double> bad = copy(X.view());
    bad(150, 2) = -2;
    SparseRows<double> sparse;
    sparse.cols = 3;
    for (int64_t i = 0; i < 400; ++i) {
      for (int64_t k = 0; k < 3; ++k) {
        sparse.add(k, bad(i, k) - 1);  // a column named twice is its sum
        sparse.add(k, 1);
      }
      sparse.end_row();
    }
    for (const Rows& rows : {Rows(bad.view()), Rows(sparse.view())})
      CHECK(fault(rows, "row 150, column 2", "-2", ">= 0", "additive_chi2") == "");
    bad(150, 2) = std::nan("");
    CHECK(fault(bad.view(), "row 150, column 2", "nan", "finite") == "");
  }
}

TEST_CASE("nystroem: landmarks of sparse rows stay sparse, features are those of dense ones") {
  const int64_t n = 70, d = 200, D = 25;
  const auto X = sparse_rows<double, int64_t>(n, d, 20, 4);
  const Matrix<double> dense = X.dense();
  const std::shared_ptr<const kernel::Kernel> kernels[] = {kernel::make_gaussian({2.0}, 1.5),
                                                           kernel::make_matern(1.5, {3.0}, 1)};
  for (const auto& kernel : kernels) {
    for (const char* const choice : {"uniform", "supplied", "farthest"}) {
      INFO(choice);
      Parameters spec = spec_of(*kernel, d, std::string(choice) == "supplied" ? n : D);
      spec.set("landmarks", choice);
      spec.set("cutoff", 1e-6);  // of the empty rows, which are equal
      const auto sparse = fitted(spec, X.view()), other = fitted(spec, dense.view());
      const auto arrays = sparse->numbers();
      CHECK(arrays.front().name == "landmark_offsets");
      const auto again = feature::make_map(sparse->parameters(), {.numbers = arrays});
      const Matrix<double> Z = features_of(*sparse, X.view());
      CHECK(worst_difference(features_of(*again, X.view()), Z) == 0);
      CHECK(worst_difference(features_of(*sparse, dense.view()), Z) < 1e-9);
      // The roots of two maps may differ by signs of rounding: their kernels do not.
      const Matrix<double> of_dense = features_of(*other, dense.view());
      double worst = 0;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double a = 0, b = 0;
          for (int64_t c = 0; c < Z.cols(); ++c) {
            a += Z(i, c) * Z(j, c);
            b += of_dense(i, c) * of_dense(j, c);
          }
          worst = std::max(worst, std::fabs(a - b));
        }
      }
      CHECK(worst < 1e-8);
      // Derivatives make them dense.
      Context context;
      const Matrix<double> G = random_matrix(n, Z.cols(), 8);
      Matrix<double> slopes(n, d), expected(n, d);
      derivatives_of(*sparse).pull_back(dense.view(), G.view(), context, slopes.view());
      derivatives_of(*again).pull_back(dense.view(), G.view(), context, expected.view());
      CHECK(worst_difference(slopes, expected) == 0);
      for (int64_t k = 0; k < d; ++k) CHECK(std::isfinite(slopes(0, k)));
    }
  }
}

TEST_CASE("nystroem: sparse landmarks of a file are judged") {
  const auto X = sparse_rows<float>(30, 200, 20, 4);
  const auto kernel = kernel::make_gaussian({2.0}, 1);
  Parameters spec = spec_of(*kernel, 200, 5);
  const auto map = fitted(spec, X.view());
  const auto refused = [&](size_t array, size_t place, int64_t value, const char* part) {
    std::vector<NumberArray> arrays = map->numbers();
    std::get<std::vector<int64_t>>(arrays[array].values)[place] = value;
    return refusal_fault(
        MERCER_CORRUPT_FILE, [&] { feature::make_map(map->parameters(), {.numbers = arrays}); },
        part);
  };
  CHECK(refused(0, 5, 1000000, "landmark_offsets") == "");
  CHECK(refused(0, 0, -1, "landmark_offsets") == "");
  CHECK(refused(1, 0, 200, "landmark_columns hold 200") == "");
  CHECK(refused(1, 0, -1, "landmark_columns hold -1") == "");
}

/// sum_l A(i, l) B(l, j).
Matrix<double> product_of(const Matrix<double>& A, MatrixView<const double> B) {
  Matrix<double> C(A.rows(), B.cols);
  linalg::multiply(1, linalg::Transpose::no, A.view(), linalg::Transpose::no, B, 0, C.view());
  return C;
}

double difference(const Matrix<double>& A, const Matrix<double>& B) {
  double worst = 0;
  for (int64_t k = 0; k < A.rows() * A.cols(); ++k)
    keep_worst(worst, std::fabs(A.data()[k] - B.data()[k]));
  return worst;
}

/// Of each row the values of the features and of their derivatives up to the order, in that of the
/// map's columns: n B x D.
Matrix<double> functionals_of(const FeatureMap& map, const Matrix<double>& X,
                              const std::vector<kernel::MultiIndex>& all) {
  Context context;
  const auto B = static_cast<int64_t>(all.size()), D = map.features();
  Matrix<double> blocks(X.rows(), B * D);
  feature::derivatives_of(map).differentiate({feature::Derivative::Kind::partials, all},
                                             MatrixView<const double>(X.view()), context,
                                             blocks.view());
  return filled(X.rows() * B, D,
                [&](int64_t i, int64_t j) { return blocks(i / B, i % B * D + j); });
}

// With F the functionals of the features at rows, F F' is what the kernel's own derivatives in both
// arguments leave by projection on those of the landmarks: all of them at the landmarks.
TEST_CASE("nystroem of an order: derivatives of the kernel at the landmarks, in both arguments") {
  const std::vector<std::pair<int64_t, std::vector<kernel::MultiIndex>>> orders = {
      {1, {{}, {{0, 1}}, {{1, 1}}}},
      {2, {{}, {{0, 1}}, {{1, 1}}, {{0, 2}}, {{0, 1}, {1, 1}}, {{1, 2}}}}};
  const Matrix<double> X = random_matrix(9, 2, 4);
  for (const char* text :
       {R"({"kernel":"gaussian","lengthscale":[0.9,1.4],"variance":1.7})",
        R"({"kernel":"matern","nu":4.5,"lengthscale":1.1})",
        R"({"kernel":"product","parts":[{"kernel":"gaussian"},{"kernel":"exponential"}]})"})
    for (const auto& [order, all] : orders) {
      INFO(text << order);
      const auto kernel = kernel::make_kernel(spec::parse_object(text));
      const auto B = static_cast<int64_t>(all.size());
      Parameters spec = spec_of(*kernel, 2, 9 * B);
      spec.set("order", order), spec.set("landmarks", "supplied"), spec.set("cutoff", 1e-14);
      const auto map = fitted(spec, X.view());
      CHECK(map->parameters().integer("order") == order);
      const Matrix<double> F = functionals_of(*map, X, all),
                           found = product(F.view(), transposed(F.view()).view());
      const auto K = filled(9 * B, 9 * B, [&](int64_t i, int64_t j) {
        return kernel->differential(all[i % B], all[j % B])
            ->at(2, X.view().row(i / B), X.view().row(j / B));
      });
      CHECK(test::difference(found.view(), K.view(), 1e-7 * largest(K.view())) == "");
      // Values are their derivatives of order 0; in single precision, too.
      const Matrix<double> Z = features_of(*map, X.view());
      for (int64_t i = 0; i < 9; ++i)
        for (int64_t j = 0; j < Z.cols(); ++j) CHECK(Z(i, j) == F(i * B, j));
      CHECK_REFUSED(MERCER_UNSUPPORTED, feature::log_parameter_count(*map), "lengthscale");
      const auto back = feature::make_map(map->parameters(), {.numbers = map->numbers()});
      CHECK(test::difference(features_of(*back, X.view()).view(), Z.view(), 0) == "");
    }
}

TEST_CASE("nystroem of an order: what it refuses") {
  const Matrix<double> X = random_matrix(9, 2, 4);
  const auto refused = [&](mercer_status status, const char* kernel, int64_t order, int64_t D,
                           const auto&... words) {
    Parameters spec = spec_of(*kernel::make_kernel(spec::parse_object(kernel)), 2, D);
    spec.set("order", order);
    CHECK_REFUSED(status, fitted(spec, X.view()), words...);
  };
  const char* const gaussian = R"({"kernel":"gaussian"})";
  refused(MERCER_UNSUPPORTED, R"({"kernel":"matern","nu":1.5})", 2, 6, "order = 2", "matern",
          "at most 1");
  refused(MERCER_UNSUPPORTED, R"({"kernel":"laplacian"})", 1, 3, "laplacian", "at most 0");
  refused(MERCER_INVALID_ARGUMENT, gaussian, 1, 7, "features = 7", "multiple of 3");
  refused(MERCER_INVALID_ARGUMENT, gaussian, 1, 30, "features = 30", "at most 27");
  refused(MERCER_INVALID_ARGUMENT, gaussian, 5, 6, "order = 5");
  Parameters wide = spec_of(*kernel::make_kernel(spec::parse_object(gaussian)), 60000, 3);
  wide.set("order", int64_t{3});
  CHECK_REFUSED(MERCER_UNSUPPORTED, fitted(wide, random_matrix(1, 60000, 1).view()), "order = 3",
                "65536");
}

TEST_CASE("exact: derivatives are the kernel's at the rows, and nystroem's before its root") {
  const int64_t L = 11, n = 40, d = 3;
  const Matrix<double> rows = random_matrix(L, d, 1), X = random_matrix(n, d, 2),
                       V = random_matrix(n, d, 3), G = random_matrix(n, L, 4);
  Context context;
  for (const char* const json :
       {R"({"kernel":"gaussian","lengthscale":[0.6,0.9,1.5],"variance":1.5})",
        R"({"kernel":"matern","nu":1.5})", R"({"kernel":"polynomial","degree":4})",
        R"({"kernel":"metric","matrix":[[1,0.5,0],[0,1,-0.3]],"of":{"kernel":"gaussian"}})",
        R"({"kernel":"sum","parts":[{"kernel":"gaussian"},{"kernel":"cauchy"}]})"}) {
    INFO(json);
    const auto kernel = kernel::make_kernel(spec::parse_object(json));
    Parameters spec = spec_of(*kernel, d, L);
    spec.set("map", std::string("exact"));
    const auto exact = fitted(spec, rows.view());
    const auto K = [&](const kernel::MultiIndex& p) {
      Matrix<double> values(n, L);
      kernel::derivative_gram(*kernel, p, {}, X.view(), rows.view(), context, values.view());
      return values;
    };
    const std::vector<Matrix<double>> slopes = [&] {
      std::vector<Matrix<double>> all;
      for (int64_t k = 0; k < d; ++k) all.push_back(K({{k, 1}}));
      return all;
    }();
    const kernel::MultiIndex mixed = {{0, 1}, {2, 1}};
    const auto gradient = differentiated(*exact, {feature::Derivative::Kind::gradient}, X);
    const auto partials =
        differentiated(*exact, {feature::Derivative::Kind::partials, {{}, mixed}}, X);
    const auto along = pushed(*exact, X, V), back = pulled(*exact, X, G);
    const Matrix<double> crossed = K(mixed), values = K({});
    double worst = 0, largest_slope = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t l = 0; l < L; ++l) {
        double sum = 0;
        for (int64_t k = 0; k < d; ++k) {
          sum += slopes[k](i, l) * V(i, k);
          keep_worst(worst, std::fabs(gradient(i, k * L + l) - slopes[k](i, l)));
          keep_worst(largest_slope, std::fabs(slopes[k](i, l)));
        }
        keep_worst(worst, std::fabs(along(i, l) - sum));
        keep_worst(worst, std::fabs(partials(i, l) - values(i, l)));
        keep_worst(worst, std::fabs(partials(i, L + l) - crossed(i, l)));
      }
      for (int64_t k = 0; k < d; ++k) {
        double sum = 0;
        for (int64_t l = 0; l < L; ++l) sum += slopes[k](i, l) * G(i, l);
        keep_worst(worst, std::fabs(back(i, k) - sum));
      }
    }
    CHECK(worst < 1e-12 * std::max(1.0, largest_slope));
    Parameters rooted = spec_of(*kernel, d, L);
    rooted.set("landmarks", std::string("supplied"));
    const auto nystroem = fitted(rooted, rows.view());
    const auto numbers = nystroem->numbers();
    const auto root = std::ranges::find(numbers, "root", &NumberArray::name);
    const MatrixView<const double> B(std::get<std::vector<double>>(root->values).data(), L, L);
    CHECK(difference(product_of(along, B), pushed(*nystroem, X, V)) <
          1e-8 * largest(pushed(*nystroem, X, V).view()));
  }
}

TEST_CASE("exact: derivatives at sparse rows that it keeps, and of kernels without") {
  const auto stored = sparse_rows<double>(9, 4, 3, 4);
  const Matrix<double> rows = stored.dense(), X = random_matrix(6, 4, 2),
                       V = random_matrix(6, 4, 3);
  const auto kernel = kernel::make_gaussian({0.8}, 1.0);
  Parameters spec = spec_of(*kernel, 4, 9);
  spec.set("map", std::string("exact"));
  const auto dense = fitted(spec, rows.view()), sparse = fitted(spec, stored.view());
  CHECK(difference(pushed(*dense, X, V), pushed(*sparse, X, V)) == 0);
  for (const char* const name : {"laplacian", "tanimoto"}) {
    const auto rough = kernel::make_kernel({{"kernel", std::string(name)}});
    Parameters own = spec_of(*rough, 4, 9);
    own.set("map", std::string("exact"));
    const Matrix<double> positive =
        filled(9, 4, [&](int64_t i, int64_t k) { return std::fabs(rows(i, k)) + 1; });
    CHECK_REFUSED(MERCER_UNSUPPORTED, pushed(*fitted(own, positive.view()), X, V), "exact", name);
  }
}

}  // namespace mercer::test::nystroem_test
