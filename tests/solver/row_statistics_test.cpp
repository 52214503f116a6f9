// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Statistics of rows: plain sums, in double and in single precision.
#include "solver/row_statistics.h"

#include "ridge_problem.h"
#include "solver/block_statistics.h"
#include "support/catch.h"
#include "support/last_progress.h"
#include "support/refusal.h"

namespace row_statistics_test {
using namespace mercer;
using solver::RowStatistics, test::random_matrix;

constexpr double kEps = std::numeric_limits<double>::epsilon();

Matrix<double> column(const std::vector<double>& v) {
  Matrix<double> result(static_cast<int64_t>(v.size()), 1);
  std::copy(v.begin(), v.end(), result.data());
  return result;
}

/// Everything that statistics hold about zero, one below another.
std::vector<Matrix<double>> plain_sums(const RowStatistics& statistics) {
  Matrix<double> gram(statistics.features(), statistics.features());
  Matrix<double> cross(statistics.features(), statistics.outputs());
  solver::write_plain_gram(statistics, gram.view());
  solver::write_plain_cross(statistics, cross.view());
  std::vector<Matrix<double>> all;
  all.push_back(std::move(gram));
  all.push_back(std::move(cross));
  all.push_back(column(solver::plain_sum_features(statistics)));
  all.push_back(column(solver::plain_sum_outputs(statistics)));
  all.push_back(column(solver::plain_sum_squared_outputs(statistics)));
  return all;
}

/// Entries below `size`: n terms about an origin, moved to zero, are within a few n(n+2) u size^2
/// of exact in any order; twice that for two routes.
std::string differ(const RowStatistics& a, const RowStatistics& b, double terms, double size = 1) {
  const double bound = 4 * terms * (terms + 4) * kEps * size * size;
  if (a.rows() != b.rows()) return "rows";
  const auto left = plain_sums(a), right = plain_sums(b);
  std::string result;
  for (std::size_t i = 0; i < left.size(); ++i)
    result += test::difference(left[i].view(), right[i].view(), bound);
  return result;
}

template <class T>
RowStatistics plain(MatrixView<T> Z, MatrixView<const double> Y) {
  RowStatistics statistics(Z.cols, Y.cols);
  const RowStatistics::Parts parts = statistics.parts();
  parts.rows = Z.rows;
  for (int64_t i = 0; i < Z.rows; ++i) {
    for (int64_t j = 0; j < Z.cols; ++j) {
      for (int64_t k = 0; k <= j; ++k)
        parts.gram(j, k) += static_cast<double>(Z(i, j)) * static_cast<double>(Z(i, k));
      for (int64_t k = 0; k < Y.cols; ++k)
        parts.cross(j, k) += static_cast<double>(Z(i, j)) * Y(i, k);
      parts.sum_features[j] += static_cast<double>(Z(i, j));
    }
    for (int64_t k = 0; k < Y.cols; ++k) {
      parts.sum_outputs[k] += Y(i, k);
      parts.sum_squared_outputs[k] += Y(i, k) * Y(i, k);
    }
  }
  return statistics;
}

TEST_CASE("statistics of a block are plain sums, in f32 and f64, for every shape") {
  const int64_t n = GENERATE(0, 1, 5, 100), D = GENERATE(1, 2, 33), m = GENERATE(0, 1, 3);
  Context context;
  const Matrix<float> padded = random_matrix<float>(n, D + 5, 1);
  const MatrixView<const float> narrow = padded.view().block_cols(2, D + 2);
  const Matrix<double> wide = test::copy(narrow), Y = random_matrix(n, m, 2);
  RowStatistics from_f32(D, m), from_f64(D, m);
  from_f32.add(narrow, Y.view(), context);
  from_f64.add(MatrixView<const double>(wide.view()), Y.view(), context);
  const RowStatistics expected = plain(wide.view(), Y.view());
  CAPTURE(n, D, m);
  CHECK(differ(from_f32, expected, static_cast<double>(n)) == "");
  CHECK(differ(from_f64, expected, static_cast<double>(n)) == "");
  if (m == 0) {
    RowStatistics without_y(D, 0);
    without_y.add(narrow, {}, context);
    CHECK(differ(without_y, expected, static_cast<double>(n)) == "");
  }
}

TEST_CASE("blocks longer than the scratch, and many columns, are split without a seam") {
  const int64_t n = RowStatistics::kRowBlock + GENERATE(-1, 0, 1, 1500), D = GENERATE(3, 520);
  Context context;
  // A row that is missed or counted twice shows as a whole number.
  Matrix<float> Z(n, D);
  Matrix<double> Y(n, 2);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < D; ++j) Z(i, j) = static_cast<float>((i * 7 + j * 3) % 11 - 5);
    for (int64_t j = 0; j < 2; ++j) Y(i, j) = static_cast<double>((i * 5 + j) % 13 - 6);
  }
  RowStatistics statistics(D, 2);
  statistics.add(MatrixView<const float>(Z.view()), Y.view(), context);
  CHECK(differ(statistics, plain(Z.view(), Y.view()), static_cast<double>(n), 6) == "");
}

TEST_CASE("the number of threads does not change the sums of columns") {
  const Matrix<float> Z = random_matrix<float>(1500, 1200, 3);
  const Matrix<double> Y = random_matrix(1500, 1, 4);
  std::vector<double> first;
  for (const int threads : {1, 2, 7}) {
    Context context;
    context.threads = threads;
    RowStatistics statistics(1200, 1);
    statistics.add(MatrixView<const float>(Z.view()), Y.view(), context);
    const std::vector<double> sums(statistics.sum_features().begin(),
                                   statistics.sum_features().end());
    if (first.empty()) first = sums;
    CHECK(std::memcmp(first.data(), sums.data(), sums.size() * sizeof(double)) == 0);
  }
}

TEST_CASE("add, remove, merge, subtract and clone are consistent") {
  Context context;
  const int64_t n = 60, D = 12, m = 2, split = 23;
  const Matrix<double> Z = random_matrix(n, D, 5), Y = random_matrix(n, m, 6);
  const Matrix<float> last = random_matrix<float>(7, D, 7);
  const Matrix<double> last_y = random_matrix(7, m, 8);
  const RowStatistics all = test::statistics_of(Z.view(), Y.view());
  const RowStatistics head =
      test::statistics_of(Z.view().block_rows(0, split), Y.view().block_rows(0, split));
  const RowStatistics tail =
      test::statistics_of(Z.view().block_rows(split, n), Y.view().block_rows(split, n));

  RowStatistics merged = head.clone(context);
  merged.merge(tail);
  CHECK(differ(merged, all, n) == "");
  merged.subtract(head);
  CHECK(differ(merged, tail, n) == "");
  RowStatistics removed = all.clone(context);
  removed.remove(MatrixView<const double>(Z.view().block_rows(0, split)),
                 Y.view().block_rows(0, split), context);
  CHECK(differ(removed, tail, n) == "");
  removed.add(MatrixView<const float>(last.view()), last_y.view(), context);
  removed.remove(MatrixView<const float>(last.view()), last_y.view(), context);
  CHECK(differ(removed, tail, n) == "");
  removed.release_scratch();
  removed.subtract(tail);
  CHECK(differ(removed, RowStatistics(D, m), n) == "");
  CHECK(differ(head,
               test::statistics_of(Z.view().block_rows(0, split), Y.view().block_rows(0, split)),
               0) == "");
}

TEST_CASE("cancellation leaves whole blocks behind, and progress is in rows") {
  const int64_t n = 3 * RowStatistics::kRowBlock, D = 4;
  const Matrix<double> Z = random_matrix(n, D, 9), Y = random_matrix(n, 1, 10);
  Context context;
  test::LastProgress last{RowStatistics::kRowBlock};
  last.watch(context);
  RowStatistics statistics(D, 1);
  CHECK_REFUSED(MERCER_CANCELLED,
                statistics.add(MatrixView<const double>(Z.view()), Y.view(), context));
  CHECK(last.done == RowStatistics::kRowBlock);
  CHECK(last.total == n);
  CHECK(differ(statistics,
               test::statistics_of(Z.view().block_rows(0, RowStatistics::kRowBlock),
                                   Y.view().block_rows(0, RowStatistics::kRowBlock)),
               0) == "");
}

/// Rows in single precision, in blocks of 300.
class FloatSource final : public solver::BlockSource {
 public:
  FloatSource(const test::Problem& problem, std::vector<double> weights, double offset)
      : Y_(problem.Y.view()), weights_(std::move(weights)), Z_(problem.Z.rows(), problem.Z.cols()) {
    for (int64_t i = 0; i < Z_.rows() * Z_.cols(); ++i)
      Z_.data()[i] = static_cast<float>(problem.Z.data()[i] + offset);
  }
  int64_t features() const override { return Z_.cols(); }
  int64_t outputs() const override { return Y_.cols; }
  int64_t rows() const override { return Z_.rows(); }
  int64_t block_rows() const override { return 300; }
  void for_each(Context&, const Body& body) const override {
    for (int64_t first = 0; first < rows(); first += 300) {
      const int64_t last = std::min<int64_t>(first + 300, rows());
      std::span<const double> weights(weights_);
      if (!weights.empty()) weights = weights.subspan(first, last - first);
      body({first, Z_.view().block_rows(first, last), {}, Y_.block_rows(first, last), weights});
    }
  }
  std::unique_ptr<solver::BlockSource> subset(solver::RowSet) const override { return nullptr; }

 private:
  MatrixView<const double> Y_;
  std::vector<double> weights_;
  Matrix<float> Z_;
};

TEST_CASE("sums of products in single precision are those in double but for rounding") {
  Context context;
  const test::Problem problem = test::ridge_problem(700, 9, 2, 61);
  std::vector<double> weights;
  for (int i = 0; i < 700; ++i) weights.push_back(i % 3);
  for (const double offset : {0.0, 100.0}) {
    for (const auto& chosen : {std::vector<double>{}, weights}) {
      const FloatSource source(problem, chosen, offset);
      solver::RowStatistics exact(9, 2), single(9, 2);
      solver::add_blocks(source, exact, context);
      int64_t rows = 0;
      solver::add_blocks_single(source, single, context, [&](int64_t done) { rows += done; });
      CHECK(rows == 700);
      CHECK(single.rows() == 700);
      CHECK(single.weight() == exact.weight());
      // About a common origin, by way of the fits: at lambda = 1e-2 these sums are well
      // conditioned.
      const solver::Weights a = solver::ridge_cholesky(exact.clone(context), true, 1e-2, context);
      const solver::Weights b = solver::ridge_cholesky(single.clone(context), true, 1e-2, context);
      CHECK(test::difference(a.w.view(), b.w.view(), 1e-5) == "");
      const solver::PrimalSystem path(std::move(exact), true, context),
          rough(std::move(single), true, context);
      for (size_t j = 0; j < 9; ++j)
        CHECK(rough.eigenvalues()[j] == Approx(path.eigenvalues()[j]).epsilon(1e-5));
    }
  }
}

TEST_CASE("targets of any size that squares in double keep in sums of single precision") {
  Context context;
  for (const double size : {1e-60, 1e60}) {
    test::Problem problem = test::ridge_problem(700, 9, 2, 62);
    for (int64_t i = 0; i < 2 * 700; ++i) problem.Y.data()[i] *= size;
    const FloatSource source(problem, {}, 0);
    solver::RowStatistics exact(9, 2), single(9, 2);
    solver::add_blocks(source, exact, context);
    solver::add_blocks_single(source, single, context);
    const solver::Weights a = solver::ridge_cholesky(std::move(exact), true, 1e-2, context);
    const solver::Weights b = solver::ridge_cholesky(std::move(single), true, 1e-2, context);
    for (int64_t j = 0; j < 9; ++j)
      CHECK(b.w(j, 1) / size == Approx(a.w(j, 1) / size).epsilon(1e-5).margin(1e-5));
  }
}

}  // namespace row_statistics_test
