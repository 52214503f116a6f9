// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernel PCA against one-sided Jacobi rotations (Hestenes 1958) of centred features and of centred
// kernel matrices.
#include "io/object_file.h"
#include "model/rows/median_lengthscale.h"
#include "model/rows/row_sets.h"
#include "model_problem.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/fit.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace kernel_pca_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

constexpr int64_t kInputs = 3;
const std::string kKernel = R"("kernel":{"kernel":"gaussian","lengthscale":1.3})";
const std::string kPlain = R"("precision":"f64","prepare":{"standardize":false})";

Model fitted(const std::string& keys, const Rows& X, std::span<const double> weights = {}) {
  Context context;
  return test::fit(spec::fit_plan(R"({"model":"kernel_pca",)" + keys + "}"), nullptr, X, {},
                   weights, context);
}
Matrix<double> preimages_of(const Model& model, const Rows& X) {
  Matrix<double> out(X.rows(), X.cols());
  Context context;
  preimages(model, X, context, out.view());
  return out;
}

/// A V with orthogonal columns, the longest first: V diag(s^2) V' = A'A.
struct Rotated {
  Matrix<double> AV, V;
  double square(int64_t j) const {
    double sum = 0;
    for (int64_t i = 0; i < AV.rows(); ++i) sum += AV(i, j) * AV(i, j);
    return sum;
  }
};
void rotate(Matrix<double>& A, int64_t p, int64_t q, double c, double s) {
  for (int64_t i = 0; i < A.rows(); ++i) {
    const double x = A(i, p), y = A(i, q);
    A(i, p) = c * x - s * y;
    A(i, q) = s * x + c * y;
  }
}
Rotated jacobi(const Matrix<double>& A) {
  const int64_t n = A.cols();
  Rotated r{copy(A.view()), filled(n, n, [](int64_t i, int64_t j) { return i == j; })};
  for (int sweep = 0; sweep < 30; ++sweep)
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        double both = 0;
        for (int64_t i = 0; i < A.rows(); ++i) both += r.AV(i, p) * r.AV(i, q);
        const double a = r.square(p), b = r.square(q);
        // The longer one stays in front.
        if (a >= b && std::abs(both) <= 1e-16 * std::sqrt(a * b)) continue;
        const double angle = std::atan2(2 * both, a - b) / 2;
        rotate(r.AV, p, q, std::cos(angle), -std::sin(angle));
        rotate(r.V, p, q, std::cos(angle), -std::sin(angle));
      }
  return r;
}

Matrix<double> centred(Matrix<double> A) {
  for (int64_t j = 0; j < A.cols(); ++j) {
    double mean = 0;
    for (int64_t i = 0; i < A.rows(); ++i) mean += A(i, j) / static_cast<double>(A.rows());
    for (int64_t i = 0; i < A.rows(); ++i) A(i, j) -= mean;
  }
  return A;
}

/// Largest difference of the first k columns, each up to its sign.
double apart(const Matrix<double>& A, const Matrix<double>& B, int64_t k) {
  double worst = 0;
  for (int64_t j = 0; j < k; ++j) {
    double same = 0, opposite = 0;
    for (int64_t i = 0; i < A.rows(); ++i) {
      same = std::max(same, std::abs(A(i, j) - B(i, j)));
      opposite = std::max(opposite, std::abs(A(i, j) + B(i, j)));
    }
    worst = std::max(worst, std::min(same, opposite));
  }
  return worst;
}

TEST_CASE("kernel_pca: components of a finite map are the right singular vectors of its features") {
  // 24 features of 90 rows by sums, of 20 by the rows' Gram matrix.
  for (const int64_t n : {90, 20}) {
    const Matrix<double> X = random_matrix(n, kInputs, 5);
    const Model model =
        fitted(R"("components":6,"map":{)" + kKernel + R"(,"features":24},)" + kPlain, X.view());
    const Matrix<double> Z = plain_features(*model.map, X.view(), model.preparation);
    const Rotated svd = jacobi(centred(copy(Z.view())));
    CHECK(apart(predictions(model, X.view()), svd.AV, 6) <= 1e-10);
    CHECK(apart(linear_weights(model).w, svd.V, 6) <= 1e-10);
    double total = 0;
    for (int64_t j = 0; j < 24; ++j) total += svd.square(j) / static_cast<double>(n);
    CHECK(model.report.components.total == Approx(total).epsilon(1e-12));
    for (int64_t j = 0; j < 6; ++j) {
      CHECK(model.report.components.variances[j] ==
            Approx(svd.square(j) / static_cast<double>(n)).epsilon(1e-10));
      double largest = 0;
      for (int64_t i = 0; i < 24; ++i) {
        const double w = linear_weights(model).w(i, j);
        if (std::abs(w) > std::abs(largest)) largest = w;
      }
      CHECK(largest > 0);
    }
  }
}

TEST_CASE("kernel_pca: the maps exact and nystroem of all rows are exact kernel PCA") {
  constexpr int64_t n = 40, m = 9, k = 5;
  const Matrix<double> X = random_matrix(n, kInputs, 7), T = random_matrix(m, kInputs, 8);
  const auto value = [](const double* x, const double* y) {
    double sum = 0;
    for (int64_t c = 0; c < kInputs; ++c) sum += (x[c] - y[c]) * (x[c] - y[c]);
    return std::exp(-sum / (2 * 1.3 * 1.3));
  };
  const auto kernel = [&](const Matrix<double>& A) {
    return filled(A.rows(), n,
                  [&](int64_t i, int64_t j) { return value(A.view().row(i), X.view().row(j)); });
  };
  const Matrix<double> K = kernel(X), K_new = kernel(T);
  std::vector<double> mean(n, 0.0);
  double all = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) mean[i] += K(i, j) / n, all += K(i, j) / n / n;
  const Matrix<double> centre =
      filled(n, n, [&](int64_t i, int64_t j) { return K(i, j) - mean[i] - mean[j] + all; });
  // Of centred K = U diag(s) U' its columns' lengths are s, and k_c(x)'u/sqrt(s) the scores.
  const Rotated eigen = jacobi(centre);
  const Matrix<double> scores = filled(m, k, [&](int64_t i, int64_t j) {
    double row_mean = 0, sum = 0;
    for (int64_t l = 0; l < n; ++l) row_mean += K_new(i, l) / n;
    for (int64_t l = 0; l < n; ++l) sum += (K_new(i, l) - row_mean - mean[l] + all) * eigen.V(l, j);
    return sum / std::sqrt(std::sqrt(eigen.square(j)));
  });
  for (const std::string map :
       {R"("map":"exact",)", R"("map":"nystroem","landmarks":"supplied","features":40,)"}) {
    INFO(map);
    const Model model = fitted(R"("components":5,"map":{)" + map + kKernel +
                                   R"(},"precision":"f64","prepare":{"standardize":false,)"
                                   R"("extrapolation":"free"})",
                               X.view());
    // The root of a nystroem map's K drops what is below rounding of its largest eigenvalue.
    CHECK(apart(predictions(model, T.view()), scores, k) <= 1e-7);
    for (int64_t j = 0; j < k; ++j)
      CHECK(model.report.components.variances[j] ==
            Approx(std::sqrt(eigen.square(j)) / n).epsilon(1e-8));
  }
  // Eigenvalues move by no more than the matrix: |K~ - K| / n <= max |k~ - k|, which for 8192
  // features, 780 pairs and failure 1e-6 is below sqrt(2 log(2 x 780 x 1e6) / 4096) < 0.11, and in
  // root mean square below 0.012.
  const Model random =
      fitted(R"("components":5,"map":{)" + kKernel + R"(,"features":8192},)" + kPlain, X.view());
  for (int64_t j = 0; j < k; ++j)
    CHECK(std::abs(random.report.components.variances[j] - std::sqrt(eigen.square(j)) / n) <= 0.02);
}

TEST_CASE("kernel_pca: scores of the rows have mean 0, and their variances are the eigenvalues") {
  const Matrix<double> X = random_matrix(200, kInputs, 9);
  const Model model = fitted(R"("map":{"features":64},"precision":"f64")", X.view());
  const Matrix<double> T = predictions(model, X.view());
  const Components& components = model.report.components;
  double explained = 0;
  for (int64_t j = 0; j < T.cols(); ++j) {
    double mean = 0, square = 0, with_first = 0;
    for (int64_t i = 0; i < 200; ++i) {
      mean += T(i, j) / 200;
      square += T(i, j) * T(i, j) / 200;
      with_first += T(i, j) * T(i, 0) / 200;
    }
    CHECK(std::abs(mean) <= 1e-12);
    CHECK(square == Approx(components.variances[j]).epsilon(1e-9));
    CHECK((j == 0 || std::abs(with_first) <= 1e-12));
    CHECK((j + 1 == T.cols()) == (explained + square >= 0.95 * components.total));
    explained += square;
  }
  CHECK(explained <= components.total);
}

TEST_CASE("kernel_pca: the order of rows moves nothing but rounding") {
  for (const int64_t n : {90, 20}) {
    const Matrix<double> X = random_matrix(n, kInputs, 12);
    std::vector<double> weights, moved_weights;
    Matrix<double> moved(n, kInputs);
    for (int64_t i = 0; i < n; ++i) weights.push_back(0.5 + static_cast<double>(i % 4));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = (7 * i + 5) % n;
      std::copy_n(X.view().row(from), kInputs, moved.view().row(i));
      moved_weights.push_back(weights[static_cast<size_t>(from)]);
    }
    for (const char* const map : {R"({"features":24})", R"({"map":"exact"})"})
      for (const char* const precision : {"f64", "f32"})
        for (const bool weighed : {false, true}) {
          CAPTURE(n, map, precision, weighed);
          const std::string keys = R"("components":4,"preimages":true,"lambda":0.01,"map":)" +
                                   std::string(map) + R"(,"precision":")" + precision + "\"";
          const auto with = [&](const std::vector<double>& own) {
            return weighed ? std::span<const double>(own) : std::span<const double>();
          };
          const Model one = fitted(keys, X.view(), with(weights)),
                      other = fitted(keys, moved.view(), with(moved_weights));
          // Components of f32 features: the square root of their rounding, over gaps of variances.
          const double most = std::string(precision) == "f64" ? 1e-10 : 1e-4;
          CHECK(largest_difference(predictions(one, X.view()), predictions(other, X.view())) <
                most);
          CHECK(largest_difference(preimages_of(one, X.view()), preimages_of(other, X.view())) <
                most);
        }
  }
}

TEST_CASE("kernel_pca: without a lengthscale it is the rows' median distance") {
  const Matrix<double> X = random_matrix(60, kInputs, 10);
  const std::string rest = R"("map":{"kernel":{"kernel":"laplacian"},"features":16})";
  const Model open = fitted(rest, X.view());
  Context context;
  const double median =
      median_lengthscale<double>(open.preparation, X.view(), all_rows(60), 0, context);
  CHECK(open.map->kernel().parameters().numbers("lengthscale").front() ==
        Approx(median).epsilon(1e-12));
  CHECK(fitted(R"("lengthscale":2.5,)" + rest, X.view())
            .map->kernel()
            .parameters()
            .numbers("lengthscale")
            .front() == 2.5);
}

TEST_CASE(
    "kernel_pca: a row of weight 2 is two rows, one of weight 0 none; sparse rows are dense") {
  const Matrix<double> X = random_matrix(50, kInputs, 11);
  std::vector<int64_t> rows;
  std::vector<double> weights;
  for (int64_t i = 0; i < 50; ++i) {
    weights.push_back(static_cast<double>(i % 3));
    for (int64_t copies = 0; copies < i % 3; ++copies) rows.push_back(i);
  }
  for (const std::string map :
       {R"("map":{"features":20},"lengthscale":1)", R"("map":{"features":100},"lengthscale":1)",
        R"("map":"exact","lengthscale":1)"}) {
    INFO(map);
    const std::string keys = R"("components":4,"preimages":true,)" + map + "," + kPlain;
    const Model weighed = fitted(keys, X.view(), weights);
    const Model twice = fitted(keys, rows_of(X, rows).view());
    CHECK(largest_difference(predictions(weighed, X.view()), predictions(twice, X.view())) <= 1e-9);
    CHECK(largest_difference(preimages_of(weighed, X.view()), preimages_of(twice, X.view())) <=
          1e-9);
    CHECK(weighed.report.components.total == Approx(twice.report.components.total));
  }
  SparseRows<double> sparse;
  sparse.cols = kInputs;
  for (int64_t i = 0; i < 50; ++i, sparse.end_row())
    for (int64_t j = i % 2; j < kInputs; ++j) sparse.add(j, X(i, j));
  const Matrix<double> dense = sparse.dense();
  const std::string keys =
      R"("components":4,"preimages":true,"map":{"features":20},"lengthscale":1,)" + kPlain;
  const Model of_sparse = fitted(keys, sparse.view()), of_dense = fitted(keys, dense.view());
  CHECK(largest_difference(predictions(of_sparse, sparse.view()),
                           predictions(of_dense, dense.view())) <= 1e-12);
  CHECK(largest_difference(preimages_of(of_sparse, sparse.view()),
                           preimages_of(of_dense, dense.view())) <= 1e-12);
}

TEST_CASE("kernel_pca: pre-images are ridge from the components to the inputs") {
  const Matrix<double> X = random_matrix(80, kInputs, 12), T = random_matrix(6, kInputs, 13);
  const std::string prepare = R"(,"precision":"f64","prepare":{"extrapolation":"free"})";
  for (const double lambda : {0.0, 0.01}) {
    const Model model = fitted(R"("components":5,"preimages":true,"lambda":)" +
                                   std::to_string(lambda) + R"(,"map":{"features":40})" + prepare,
                               X.view());
    const auto& [mean, scale, fill, flagged, curves, targets, norm, hashing] = model.preparation;
    const Matrix<double> prepared = filled(
        80, kInputs,
        [&, &m = mean, &s = scale](int64_t i, int64_t j) { return (X(i, j) - m[j]) / s[j]; });
    Matrix<double> expected = plain_ridge(predictions(model, X.view()), prepared, 80 * lambda,
                                          predictions(model, T.view()));
    model.preparation.restore_inputs(expected.view());
    CHECK(largest_difference(preimages_of(model, T.view()), expected) <= 1e-10);
  }
  // All components of a linear map lose nothing, and curves of inputs are undone.
  const Matrix<double> skewed =
      filled(80, kInputs, [&](int64_t i, int64_t j) { return std::exp(4 * X(i, j)); });
  const Model whole =
      fitted(R"("components":3,"preimages":true,"map":{"map":"linear"},"precision":"f64",)"
             R"("prepare":{"transform":"log"})",
             skewed.view());
  CHECK_FALSE(whole.preparation.curves.empty());
  CHECK(largest_difference(preimages_of(whole, skewed.view()), skewed) <= 1e-10);
}

TEST_CASE("kernel_pca: what it refuses") {
  const Matrix<double> X = random_matrix(10, kInputs, 14);
  const auto refuse = [&](mercer_status status, const std::string& keys, const char* part,
                          MatrixView<const double> rows) {
    INFO(keys);
    CHECK_REFUSED(status, fitted(keys, rows), part);
  };
  const std::string few = R"(,"map":{"features":6})";
  for (const char* keys :
       {R"("search":true)", R"("ard":"on")", R"("assess":true)", R"("most_features":64)",
        R"("select":{"by":"gcv"})", R"("prepare":{"transform":"auto"})",
        R"("task":"classification")", R"("classes":2)", R"("ordered":true)",
        R"("outputs":"covariance")", R"("prepare":{"target_transform":"log"})",
        R"("preimages":true,"prepare":{"unit_rows":true})",
        R"("preimages":true,"prepare":{"missing":"flag"})",
        R"("map":{"kernel":{"kernel":"curl_free"}})"})
    refuse(MERCER_UNSUPPORTED, std::string(keys), "expected", X.view());
  refuse(MERCER_INVALID_ARGUMENT, R"("components":7)" + few, "components = 7, expected at most 6",
         X.view());
  refuse(MERCER_INVALID_ARGUMENT, R"("components":10,"map":{"features":64})",
         "components = 10, expected at most 9", X.view());
  refuse(MERCER_INVALID_ARGUMENT, R"("components":10,"map":"exact")",
         "components = 10, expected at most 9", X.view());
  refuse(MERCER_INVALID_ARGUMENT, R"("lambda":0.1)" + few, "lambda = 0.1", X.view());
  refuse(MERCER_INVALID_ARGUMENT, R"("components":0)" + few, "components = 0", X.view());
  refuse(MERCER_INVALID_ARGUMENT, R"("components":1)" + few, "2", X.view().block_rows(0, 1));
  const Matrix<double> constant = filled(10, kInputs, [](int64_t, int64_t j) { return 0.1 + j; });
  for (const char* map :
       {R"("map":{"features":6})", R"("map":{"features":64})", R"("map":"exact")"})
    for (const char* precision : {"f32", "f64"})
      refuse(MERCER_INVALID_ARGUMENT,
             std::string(map) + R"(,"precision":")" + precision +
                 R"(","prepare":{"standardize":false})",
             "equal but for rounding", constant.view());
  Context context;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                test::fit(spec::fit_plan(R"({"model":"kernel_pca"})"), nullptr, X.view(), X.view(),
                          {}, context),
                "Y.d = 3, expected 0");
  const std::vector<double> groups(10, 1.0);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                test::fit(spec::fit_plan(R"({"model":"kernel_pca"})"), nullptr, X.view(), {}, {},
                          context, groups),
                "groups");
}

}  // namespace kernel_pca_test
