// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows with weights against the same rows repeated: a row of weight 3 is three equal rows.
#include "solver/row_weights.h"

#include "ridge_problem.h"
#include "solver/block_statistics.h"
#include "solver/ridge_system.h"
#include "solver/row_statistics.h"
#include "support/matrix_source.h"
#include "support/refusal.h"

namespace row_weights_test {
using namespace mercer;
using namespace mercer::test;
using solver::PrimalSystem, solver::RowStatistics;

/// Weights 0, 1, 2, 3, 0, ... and the rows that they stand for.
struct WeightedProblem {
  Problem rows, repeated;
  std::vector<double> weights;
};

WeightedProblem weighted_problem(int64_t n, int64_t D, int64_t m, uint64_t seed) {
  WeightedProblem result{ridge_problem(n, D, m, seed), {}, {}};
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    result.weights.push_back(static_cast<double>(i % 4));
    total += i % 4;
  }
  result.repeated = {Matrix<double>(total, D), Matrix<double>(total, m)};
  int64_t to = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < i % 4; ++k, ++to) {
      std::copy_n(result.rows.Z.view().row(i), D, result.repeated.Z.view().row(to));
      std::copy_n(result.rows.Y.view().row(i), m, result.repeated.Y.view().row(to));
    }
  return result;
}

RowStatistics weighted_statistics(const WeightedProblem& problem, bool single = false) {
  Context context;
  RowStatistics statistics(problem.rows.Z.cols(), problem.rows.Y.cols());
  const MatrixSource source(problem.rows.Z.view(), problem.rows.Y.view(), 7, single,
                            problem.weights);
  solver::add_blocks(source, statistics, context);
  return statistics;
}

std::string sums_differ(const RowStatistics& a, const RowStatistics& b, double bound) {
  Matrix<double> A(a.features(), a.features()), B(a.features(), a.features());
  solver::write_plain_gram(a, A.view());
  solver::write_plain_gram(b, B.view());
  std::string faults = difference(A.view(), B.view(), bound * largest(B.view()));
  Matrix<double> P(a.features(), a.outputs()), Q(a.features(), a.outputs());
  solver::write_plain_cross(a, P.view());
  solver::write_plain_cross(b, Q.view());
  faults += difference(P.view(), Q.view(), bound * (1 + largest(Q.view())));
  const auto compare = [&](const std::vector<double>& x, const std::vector<double>& y) {
    for (size_t j = 0; j < x.size(); ++j)
      if (!(std::abs(x[j] - y[j]) <= bound * (1 + std::abs(y[j])))) faults += " sum";
  };
  compare(solver::plain_sum_features(a), solver::plain_sum_features(b));
  compare(solver::plain_sum_outputs(a), solver::plain_sum_outputs(b));
  compare(solver::plain_sum_squared_outputs(a), solver::plain_sum_squared_outputs(b));
  if (!(std::abs(a.weight() - b.weight()) <= bound * b.weight())) faults += " weight";
  return faults;
}

TEST_CASE("statistics of weighted rows are those of repeated rows") {
  for (const int64_t m : {0, 1, 3}) {
    const WeightedProblem problem = weighted_problem(41, 600, m, 201);
    const RowStatistics weighted = weighted_statistics(problem);
    CHECK(weighted.rows() == 41);
    CHECK(weighted.weight() == 60);
    CHECK(sums_differ(weighted, statistics_of(problem.repeated.Z.view(), problem.repeated.Y.view()),
                      1e-12) == "");
    CHECK(sums_differ(weighted_statistics(problem, true), weighted, 1e-6) == "");
  }
}

TEST_CASE("weighted rows that are removed leave the others") {
  const WeightedProblem problem = weighted_problem(60, 9, 2, 202);
  Context context;
  RowStatistics statistics = weighted_statistics(problem);
  const MatrixSource source(problem.rows.Z.view(), problem.rows.Y.view(), 8, false,
                            problem.weights);
  std::vector<int64_t> odd, even;
  for (int64_t i = 0; i < 60; ++i) (i % 2 == 0 ? even : odd).push_back(i);
  solver::remove_blocks(*source.subset(odd), statistics, context);
  RowStatistics rest(9, 2);
  solver::add_blocks(*source.subset(even), rest, context);
  CHECK(statistics.rows() == 30);
  CHECK(sums_differ(statistics, rest, 1e-12) == "");
  solver::remove_blocks(*source.subset(even), statistics, context);
  CHECK(statistics.weight() == 0);
}

TEST_CASE("ridge of weighted rows is that of repeated rows, primal and dual") {
  Context context;
  for (const bool center : {false, true}) {
    const WeightedProblem problem = weighted_problem(40, 12, 2, 203);
    const auto repeated = statistics_of(problem.repeated.Z.view(), problem.repeated.Y.view());
    const PrimalSystem a(weighted_statistics(problem), center, context);
    const PrimalSystem b(repeated.clone(context), center, context);
    solver::DualSystem dual(copy(problem.rows.Z.view()), copy(problem.rows.Y.view()),
                            problem.weights, center, context);
    dual.decompose(context);
    for (const double lambda : {1e-4, 1e-2}) {
      const solver::Weights expected = reference_ridge(problem.repeated, center, 60 * lambda);
      CHECK(weights_differ(a.solve(lambda), expected, 1e-9) == "");
      CHECK(weights_differ(dual.solve(lambda, context), expected, 1e-9) == "");
      CHECK(weights_differ(
                solver::ridge_cholesky(weighted_statistics(problem), center, lambda, context),
                expected, 1e-9) == "");
      CHECK(a.effective_dimension(lambda) == Approx(b.effective_dimension(lambda)).epsilon(1e-10));
      for (size_t j = 0; j < 2; ++j) {
        CHECK(a.gcv(lambda)[j] == Approx(b.gcv(lambda)[j]).epsilon(1e-9));
        CHECK(dual.gcv(lambda)[j] == Approx(b.gcv(lambda)[j]).epsilon(1e-9));
        CHECK(a.held_out_error(lambda, weighted_statistics(problem))[j] ==
              Approx(b.held_out_error(lambda, repeated)[j]).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("a weighted row left out is the residual of a fit without it") {
  Context context;
  const double lambda = 1e-3;
  for (const bool center : {false, true}) {
    const WeightedProblem problem = weighted_problem(21, 6, 1, 204);
    const PrimalSystem path(weighted_statistics(problem), center, context);
    const MatrixView<const double> Z = problem.rows.Z.view(), Y = problem.rows.Y.view();
    const Matrix<double> R = test::left_out(path, lambda, Z, Y, context, problem.weights);
    std::vector<double> left_out;
    for (int64_t i = 0; i < 21; ++i) {
      // The repeated rows of all others, n lambda being kept.
      std::vector<bool> keep;
      for (int64_t k = 0; k < 21; ++k) keep.insert(keep.end(), static_cast<size_t>(k % 4), k != i);
      const solver::Weights others =
          reference_ridge(problem.repeated, center, path.weight() * lambda, keep);
      double expected = Y(i, 0) - others.intercept[0];
      for (int64_t j = 0; j < 6; ++j) expected -= Z(i, j) * others.w(j, 0);
      CHECK(R(i, 0) == Approx(expected).epsilon(1e-8));
      left_out.push_back(i % 4 == 0 ? 0.0 : expected);
    }
    solver::DualSystem dual(copy(Z), copy(Y), problem.weights, center, context);
    dual.decompose(context);
    const Matrix<double> of_dual = test::left_out(dual, lambda, Z, Y, context);
    for (int64_t i = 0; i < 21; ++i) CHECK(of_dual(i, 0) == Approx(left_out[i]).epsilon(1e-8));
    CHECK(dual.effective_dimension(lambda) ==
          Approx(path.effective_dimension(lambda)).epsilon(1e-8));
  }
}

TEST_CASE("a row that weighs nothing may hold anything, even first") {
  WeightedProblem problem = weighted_problem(40, 6, 2, 206);  // rows 0, 4, 8, ... weigh 0
  const solver::Weights expected = reference_ridge(problem.repeated, true, 60 * 1e-3);
  for (int64_t i = 0; i < 40; i += 4) {
    for (int64_t j = 0; j < 6; ++j) problem.rows.Z(i, j) = 1e12;
    for (int64_t j = 0; j < 2; ++j) problem.rows.Y(i, j) = -1e12;
  }
  Context context;
  const MatrixView<const double> Z = problem.rows.Z.view(), Y = problem.rows.Y.view();
  for (const int64_t size : {1, 7, 40}) {  // the first block of 1 weighs nothing at all
    RowStatistics statistics(6, 2);
    solver::add_blocks(MatrixSource(Z, Y, size, false, problem.weights), statistics, context);
    CHECK(weights_differ(solver::ridge_cholesky(statistics.clone(context), true, 1e-3, context),
                         expected, 1e-10) == "");
    // The same where such rows are merged into, or have their own statistics.
    RowStatistics first(6, 2), merged(6, 2);
    first.add(Z.block_rows(0, 1), Y.block_rows(0, 1), context, std::vector<double>{0.0});
    merged.add(Z.block_rows(4, 5), Y.block_rows(4, 5), context, std::vector<double>{0.0});
    merged.merge(first);
    merged.merge(statistics);
    merged.merge(first);
    CHECK(merged.rows() == 43);
    CHECK(weights_differ(solver::ridge_cholesky(std::move(merged), true, 1e-3, context), expected,
                         1e-10) == "");
  }
}

TEST_CASE("rows of weight that have all been removed leave a weight of exactly 0") {
  const Problem problem = ridge_problem(4, 3, 1, 207);
  const MatrixView<const double> Z = problem.Z.view(), Y = problem.Y.view();
  const std::vector<double> weights = {0.1, 0.2, 0.3, 0.0};  // 0.1 + 0.2 + 0.3 - 0.3 - 0.2 > 0.1
  Context context;
  RowStatistics statistics(3, 1);
  statistics.add(Z, Y, context, weights);
  RowStatistics subtracted = statistics.clone(context);
  for (const int64_t i : {2, 1, 0}) {
    const std::vector<double> weight = {weights[i]};
    statistics.remove(Z.block_rows(i, i + 1), Y.block_rows(i, i + 1), context, weight);
    RowStatistics one(3, 1);
    one.add(Z.block_rows(i, i + 1), Y.block_rows(i, i + 1), context, weight);
    subtracted.subtract(one);
  }
  for (const RowStatistics* rest : {&statistics, &subtracted}) {
    CHECK(rest->rows() == 1);
    CHECK(rest->weight() == 0);
    CHECK(largest(rest->gram()) == 0);
  }
  // What is added afterwards counts alone, about a mean of its own.
  statistics.add(Z.block_rows(0, 3), Y.block_rows(0, 3), context);
  CHECK(sums_differ(statistics, statistics_of(Z.block_rows(0, 3), Y.block_rows(0, 3)), 1e-14) ==
        "");
}

TEST_CASE("a stream may weigh some of its blocks and not others, in the dual form too") {
  // 9 rows of 20 features; the second block of 3 weighs.
  WeightedProblem problem = weighted_problem(9, 20, 1, 208);
  problem.weights = {1, 1, 1, 2, 0, 3, 1, 1, 1};
  class HalfWeighted final : public solver::BlockSource {
   public:
    explicit HalfWeighted(const MatrixSource& source) : source_(source) {}
    int64_t features() const override { return source_.features(); }
    int64_t outputs() const override { return source_.outputs(); }
    int64_t rows() const override { return source_.rows(); }
    int64_t block_rows() const override { return source_.block_rows(); }
    void for_each(Context& context, const Body& body) const override {
      source_.for_each(context, [&](const solver::FeatureBlock& block) {
        solver::FeatureBlock given = block;
        if (block.first != 3) given.weights = {};
        body(given);
      });
    }
    std::unique_ptr<BlockSource> subset(solver::RowSet rows) const override {
      return source_.subset(rows);
    }

   private:
    const MatrixSource& source_;
  };
  Context context;
  const MatrixSource all(problem.rows.Z.view(), problem.rows.Y.view(), 3, false, problem.weights);
  const solver::DualSystem expected = solver::make_dual_system(all, true, context),
                           found = solver::make_dual_system(HalfWeighted(all), true, context);
  CHECK(weights_differ(found.solve(1e-3, context), expected.solve(1e-3, context), 1e-14) == "");
}

TEST_CASE("weights are one finite number >= 0 per row, with a sum") {
  Context context;
  const Problem problem = ridge_problem(4, 3, 1, 205);
  const auto refused = [&](mercer_status status, std::vector<double> weights, const char* part) {
    RowStatistics statistics(3, 1);
    return refusal_fault(
        status, [&] { statistics.add(problem.Z.view(), problem.Y.view(), context, weights); },
        part);
  };
  CHECK(refused(MERCER_DIMENSION_MISMATCH, {1, 2}, "weights has 2 entries") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, {1, 2, -1, 0}, "row 2 (counted from 0) has weight -1") ==
        "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, {1, INFINITY, 1, 0}, "weight inf") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, {1, 1, 1, std::nan("")}, "weight") == "");
  RowStatistics nothing(3, 1);
  nothing.add(problem.Z.view(), problem.Y.view(), context, std::vector<double>(4, 0.0));
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, PrimalSystem(std::move(nothing), true, context),
                "weights of 4 rows sum to 0");
}

}  // namespace row_weights_test
