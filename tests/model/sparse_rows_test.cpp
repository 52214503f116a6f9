// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sparse rows in fits, searches and predictions: what the dense rows they stand for give, without
// being made dense; hashed, they keep squared norms.
#include "feature/linear.h"
#include "model/prepare/preparation.h"
#include "model/prepare/row_coding.h"
#include "model/rows/median_lengthscale.h"
#include "model_problem.h"
#include "prepared_by.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace sparse_rows_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

constexpr int64_t kRows = 240, kInputs = 12;

struct SparseProblem {
  SparseRows<double> X = sparse_rows<double>(kRows, kInputs, 6, 11);
  Matrix<double> dense = X.dense();
  Matrix<double> Y{kRows, 1};
  SparseProblem() {
    for (int64_t i = 0; i < kRows; ++i)
      Y(i, 0) = std::sin(dense(i, 0) + dense(i, 3)) + 0.3 * dense(i, 7);
  }
};

FitOptions options_of(Selection selection, bool standardize) {
  FitOptions options;
  options.select.selection = selection;
  options.prepare.standardize = standardize;
  options.estimate.precision = feature::Precision::f64;
  options.select.lambda = 1e-4;
  return options;
}

TEST_CASE("sparse rows fit and predict as the dense rows they stand for") {
  const SparseProblem problem;
  Context context;
  for (const Selection selection : {Selection::fixed, Selection::held_out, Selection::folds,
                                    Selection::gcv, Selection::leave_one_out}) {
    for (const int64_t D : {64, 512}) {  // primal, dual
      const auto map = gaussian_map(kInputs, D, 2.0);
      const FitOptions options = options_of(selection, false);
      const Model sparse = fit(map, options, problem.X.view(), problem.Y.view(), context);
      const Model dense = fit(map, options, problem.dense.view(), problem.Y.view(), context);
      CAPTURE(D);
      CHECK(sparse.fit.select.lambda == dense.fit.select.lambda);
      const auto expected = predictions(dense, problem.dense.view());
      // lambda 1e-12 of the path's end amplifies rounding to about 1e-4 at most.
      CHECK(largest_difference(predictions(sparse, problem.X.view()), expected) < 1e-4);
      CHECK(largest_difference(predictions(dense, problem.X.view()), expected) < 1e-4);
    }
  }
}

TEST_CASE("sparse rows are scaled by the size of what they list, and not centred") {
  const SparseProblem problem;
  Context context;
  const auto map = gaussian_map(kInputs, 64, 4.0);
  const FitOptions options = options_of(Selection::fixed, true);
  const Model sparse = fit(map, options, problem.X.view(), problem.Y.view(), context);
  CHECK(!sparse.preparation.centers());
  Matrix<double> scaled = copy(problem.dense.view());
  for (int64_t j = 0; j < kInputs; ++j) {
    double mean = 0, squares = 0, listed = 0;
    for (int64_t i = 0; i < kRows; ++i) mean += problem.dense(i, j) / kRows;
    for (int64_t i = 0; i < kRows; ++i) {
      if (problem.dense(i, j) == 0) continue;
      squares += std::pow(problem.dense(i, j) - mean, 2);
      listed += 1;
    }
    const double scale = std::sqrt(squares / listed);
    CHECK(std::abs(sparse.preparation.scale[j] / scale - 1) < 1e-13);
    for (int64_t i = 0; i < kRows; ++i) scaled(i, j) /= scale;
  }
  const Model plain =
      fit(map, options_of(Selection::fixed, false), scaled.view(), problem.Y.view(), context);
  const auto expected = predictions(plain, scaled.view());
  CHECK(largest_difference(predictions(sparse, problem.X.view()), expected) < 1e-8);
  CHECK(largest_difference(predictions(sparse, problem.dense.view()), expected) < 1e-8);
}

TEST_CASE("rare columns do not outweigh all others") {
  // The class is in 4 columns that every row lists one of; 40 more are listed by 2 rows each.
  constexpr int64_t n = 200, d = 44;
  SparseRows<double> X;
  X.cols = d;
  Matrix<double> labels(n, 1);
  for (int64_t i = 0; i < n; ++i) {
    X.add(i % 4, 1.0 + 0.1 * static_cast<double>(i % 7));
    if (i < 80) X.add(4 + i / 2, 1.0 + 0.1 * static_cast<double>(i % 3));
    X.end_row();
    labels(i, 0) = i % 4 < 2 ? 1 : 0;
  }
  const Preparation found = fit_standardizer(X.view());
  for (size_t j = 4; j < d; ++j) CHECK((found.scale[j] > 0.9 && found.scale[j] < 1.3));
}

TEST_CASE("a search on sparse rows learns what one on dense rows does") {
  const SparseProblem problem;
  Context context;
  SearchOptions options;
  options.features = 64;
  const Model sparse =
      search(OneLengthscale{kInputs}, options, problem.X.view(), problem.Y.view(), context);
  double squares = 0, total = 0;
  const auto scores = predictions(sparse, problem.X.view());
  for (int64_t i = 0; i < kRows; ++i) {
    squares += std::pow(scores(i, 0) - problem.Y(i, 0), 2);
    total += std::pow(problem.Y(i, 0), 2);
  }
  CHECK(squares < 0.05 * total);
}

TEST_CASE("the lengthscale of sparse rows is the median distance of the dense ones") {
  const auto X = sparse_rows<float>(300, 40, 12, 5);
  const Matrix<float> dense = X.dense();
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < X.rows(); ++i) rows.push_back(i);
  Context context;
  const Preparation preparation = fit_standardizer(X.view());
  const double sparse = median_lengthscale(preparation, X.view(), rows, 1, context);
  const double all =
      median_lengthscale(preparation, MatrixView<const float>(dense.view()), rows, 1, context);
  // The same pairs of the same rows; sums in another order.
  CHECK(sparse == Approx(all).epsilon(1e-6));
}

TEST_CASE("a million columns are never made dense") {
  constexpr int64_t d = 1000000, n = 400;
  const auto X = sparse_rows<float>(n, d, 20, 3);
  Matrix<double> Y(n, 1);
  for (int64_t i = 0; i < n; ++i) Y(i, 0) = static_cast<double>(i % 7);
  Context context;
  context.memory_cap = 64 << 20;  // a dense block of the least number of rows takes 1 GB
  feature::LinearOptions count_sketch;
  count_sketch.projection = feature::LinearProjection::countsketch;
  const std::shared_ptr<const feature::FeatureMap> map =
      feature::make_linear(*kernel::make_polynomial(1, 1.0, 0.0, 1.0), d, 32, count_sketch);
  const Model model = fit(map, options_of(Selection::gcv, true), X.view(), Y.view(), context);
  Matrix<double> scores(n, 1);
  predict(model, X.view(), context, scores.view());
  CHECK(std::isfinite(scores(n - 1, 0)));
}

TEST_CASE("held-out rows of a wide sparse search are scored in its own blocks") {
  // Dense rows as wide would come 256 at a time; these come 4,096 at a time.
  constexpr int64_t d = 20000, n = 900;
  const auto X = sparse_rows<float>(n, d, 8, 6);
  Matrix<double> Y(n, 1);
  for (int64_t i = 0; i < n; ++i)
    Y(i, 0) = X.offsets[i + 1] > X.offsets[i] ? X.values[X.offsets[i]] : 0.0;
  SearchOptions options;
  options.features = 32;
  options.held_out_fraction = 0.5;
  Context context;
  const Model model = search(OneLengthscale{d}, options, X.view(), Y.view(), context);
  CHECK(model.rows == n);
  for (const PathPoint& point : model.path) CHECK(std::isfinite(point.score));
}

TEST_CASE("hashed rows keep squared norms: mean and variance of the closed form") {
  // |Sx|^2 = |x|^2 + 2 sum_{j<k} s_j s_k [h_j = h_k] x_j x_k: unbiased, its variance
  // 2 (|x|^4 - sum_j x_j^4) / m for pairwise independent signs and buckets.
  constexpr int64_t kCount = 30, kBuckets = 64, kSeeds = 4000;
  std::vector<double> x;
  double squares = 0, fourth = 0;
  for (int64_t j = 0; j < kCount; ++j) {
    x.push_back(1 + 0.1 * static_cast<double>(j % 7));
    squares += x.back() * x.back();
    fourth += std::pow(x.back(), 4);
  }
  const double variance = 2 * (squares * squares - fourth) / kBuckets;
  double sum = 0, spread = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const FeatureHash hashing{100000, kBuckets, seed};
    std::vector<double> to(kBuckets, 0.0);
    for (int64_t j = 0; j < kCount; ++j) {
      const FeatureHash::Place place = hashing.of(977 * j);
      REQUIRE((place.bucket >= 0 && place.bucket < kBuckets));
      to[place.bucket] += place.sign * x[j];
    }
    double norm = 0;
    for (const double t : to) norm += t * t;
    sum += norm - squares;
    spread += (norm - squares) * (norm - squares);
  }
  // Six standard errors; the fourth moment of the deviation is taken for 15 times variance^2 at
  // most (30 rows share 64 buckets).
  CHECK(std::abs(sum / kSeeds) < 6 * std::sqrt(variance / kSeeds));
  CHECK(std::abs(spread / kSeeds - variance) < 6 * variance * std::sqrt(14.0 / kSeeds));
}

TEST_CASE("hashed rows are the same sparse and dense, in units of norms, too") {
  const auto rows = sparse_rows<double>(40, 50, 6, 7);
  for (const double norm : {0.0, 1.0}) {
    Preparation by{std::vector<double>(50, 0.0), std::vector<double>(50, 2.0)};
    by.row_norm = norm;
    by.hashing = {50, 16, 3};
    CHECK(by.prepared(50) == 16);
    CHECK(by.inputs_of(16) == 50);
    std::vector<double> sums(50, 0.0);
    for (int64_t i = 0; i < 40; ++i) {
      std::vector<double> dense(50, 0.0), listed(16, 0.0), from_dense(16), from_sparse(16);
      add_row(rows.view(), i, dense.data());
      const MatrixView<const double> one{dense.data(), 1, 50, 50};
      for_each_prepared(by, rows.view(), i, sums.data(),
                        [&](int64_t j, double t) { listed[j] += t; });
      prepare_row(by, one, 0, sums.data(), from_dense.data());
      prepare_row(by, rows.view(), i, sums.data(), from_sparse.data());
      for (size_t j = 0; j < 16; ++j) {
        CHECK(std::abs(listed[j] - from_dense[j]) < 1e-14);
        CHECK(std::abs(from_sparse[j] - from_dense[j]) < 1e-14);
      }
    }
  }
}

}  // namespace sparse_rows_test
