// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Conjugate gradients: the weights of a factor, the sketched preconditioner, traces by probes.
#include "solver/iterative_system.h"

#include "coupled_problem.h"
#include "linalg/conjugate_gradient.h"
#include "ridge_problem.h"
#include "solver/coupled_system.h"
#include "solver/dual_system.h"
#include "solver/primal_system.h"
#include "support/catch.h"
#include "support/dense_operator.h"
#include "support/matrix_source.h"
#include "support/refusal.h"

namespace iterative_system_test {
using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;
using test::Problem;

/// Columns whose sizes fall by a factor of a thousand: without a preconditioner some hundred steps.
Problem uneven_problem(int64_t n, int64_t D, int64_t outputs, uint64_t seed) {
  Problem problem = ridge_problem(n, D, outputs, seed);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < D; ++j)
      problem.Z(i, j) = 0.4 + problem.Z(i, j) * std::pow(10, -3.0 * static_cast<double>(j) /
                                                                 static_cast<double>(D));
  return problem;
}

double largest_gap(const Weights& a, const Weights& b, MatrixView<const double> Z) {
  double worst = 0;
  for (int64_t i = 0; i < Z.rows; ++i)
    for (int64_t k = 0; k < a.w.cols(); ++k) {
      double f = a.intercept[k], g = b.intercept[k];
      for (int64_t j = 0; j < Z.cols; ++j) {
        f += Z(i, j) * a.w(j, k);
        g += Z(i, j) * b.w(j, k);
      }
      worst = std::max(worst, std::abs(f - g));
    }
  return worst;
}

TEST_CASE("conjugate gradients find the weights of a factor") {
  const Problem problem = uneven_problem(300, 40, 3, 501);
  std::vector<double> weights;
  for (int64_t i = 0; i < 300; ++i) weights.push_back(static_cast<double>(i % 4));
  const auto iterative = GENERATE(Iterative::sketch, Iterative::gram);
  Context context;
  Matrix<double> root(1, 3);  // of rank 1: two eigenvalues of Gamma are 0
  for (int64_t k = 0; k < 3; ++k) root(0, k) = static_cast<double>(1 + k);
  const Coupling joined(3, std::move(root), {1, 2, 0.5}, context);
  for (const Coupling* const coupling : {static_cast<const Coupling*>(nullptr), &joined})
    for (const bool center : {true, false})
      for (const double lambda : {1e-1, 1e-6}) {
        const MatrixSource rows(problem.Z.view(), problem.Y.view(), 37, false, weights);
        const RidgeProblem asked{center, coupling, iterative};
        const auto path = make_iterative_system(rows, asked, context);
        const Weights found = path->solve(lambda, context);
        Weights expected;
        if (coupling != nullptr) {
          expected = make_coupled_system(rows, asked, context)->solve(lambda, context);
        } else {
          expected = make_dual_system(rows, center, context).solve(lambda, context);
        }
        // A residual of 1e-9 of b over the least eigenvalue, n lambda, at the most 1e-9 |y|/lambda
        // of a weight whose column is as small: far less in f.
        CHECK(largest_gap(found, expected, problem.Z.view()) < 1e-5);
      }
}

TEST_CASE("the sketch sees the effective dimension where the spectrum falls") {
  const Problem problem = uneven_problem(300, 40, 1, 502);
  const MatrixSource rows(problem.Z.view(), problem.Y.view(), 64, false);
  Context context;
  const auto path = make_iterative_system(rows, {true, nullptr, Iterative::sketch}, context);
  const double found = path->solution(1e-3, Want::dimension, context).effective_dimension;
  DualSystem exact = make_dual_system(rows, true, context);
  exact.decompose(context);
  CHECK(found == Approx(exact.effective_dimension(1e-3)).epsilon(1e-3));  // a rank of all 40
}

TEST_CASE("conjugate gradients with roots of each feature and missing targets are the factor's") {
  Problem problem = uneven_problem(200, 24, 3, 505);
  std::vector<double> weights;
  for (int64_t i = 0; i < 200; ++i) weights.push_back(static_cast<double>(i % 4));
  for (int64_t i = 0; i < 200; ++i) problem.Y(i, 1) += 10;  // far from 0
  Context context;
  Matrix<double> each = random_matrix(24, 6, 506), one = random_matrix(1, 6, 507);
  const Coupling of_features(3, std::move(each), {1, 2, 0.5}, context),
      shared(3, std::move(one), {1, 2, 0.5}, context);
  for (const bool gaps : {false, true}) {
    for (int64_t i = 0; i < 200 && gaps; i += 3) problem.Y(i, i % 2) = std::nan("");
    for (int64_t k = 0; k < 3 && gaps; ++k) problem.Y(11, k) = std::nan("");
    for (const Coupling* const coupling :
         {&of_features, &shared, static_cast<const Coupling*>(nullptr)})
      for (const bool center : {true, false})
        for (const double lambda : {1e-1, 1e-5}) {
          INFO(gaps << center << lambda);
          const MatrixSource rows(problem.Z.view(), problem.Y.view(), 37, false, weights);
          const RidgeProblem asked{center, coupling, Iterative::sketch};
          const Weights found = make_iterative_system(rows, asked, context)->solve(lambda, context);
          const Weights expected =
              coupling == nullptr && !gaps
                  ? make_dual_system(rows, center, context).solve(lambda, context)
                  : make_coupled_system(rows, asked, context)->solve(lambda, context);
          // As above: 1e-9 of b over n lambda.
          CHECK(largest_gap(found, expected, problem.Z.view()) < 1e-5);
        }
  }
  const MatrixSource rows(problem.Z.view(), problem.Y.view(), 37, false);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                make_iterative_system(rows, {true, nullptr, Iterative::gram}, context),
                "solver = mixed", "missing targets", "cg");
}

double relative_error(const Weights& found, const Weights& expected) {
  double error = 0, size = 0;
  for (int64_t i = 0; i < found.w.rows() * found.w.cols(); ++i) {
    error += std::pow(found.w.data()[i] - expected.w.data()[i], 2);
    size += std::pow(expected.w.data()[i], 2);
  }
  return std::sqrt(error / size);
}

Problem rounded(const Problem& of) {
  Problem problem{copy(of.Z.view()), copy(of.Y.view())};
  for (int64_t i = 0; i < of.Z.rows() * of.Z.cols(); ++i)
    problem.Z.data()[i] = static_cast<float>(of.Z.data()[i]);
  return problem;
}

TEST_CASE("a Gram matrix in single precision, corrected over the rows, gives weights in double") {
  const Problem problem = rounded(uneven_problem(600, 40, 2, 504));
  const bool center = GENERATE(false, true), single = GENERATE(false, true);
  Context context;
  // In squares the columns' sizes fall by 1e6: n lambda = 1e-7 of the largest is near what rounding
  // leaves, 1e-10 far below it.
  for (const double lambda : {1e-1, 1e-4, 1e-7, 1e-10}) {
    const MatrixSource rows(problem.Z.view(), problem.Y.view(), 128, single);
    const Solution found = make_iterative_system(rows, {center, nullptr, Iterative::gram}, context)
                               ->solution(lambda, Want::weights, context);
    const Weights expected = reference_ridge(problem, center, 600 * lambda);
    CAPTURE(center, single, lambda, found.run.iterations, found.run.residual);
    // Below, rounding of the products ends it, as it ends a factor in double.
    const double bound = lambda > 1e-8 ? 1e-10 : 1e-8;
    CHECK(found.run.residual < bound);
    CHECK(relative_error(found.weights, expected) < bound);
    if (lambda > 1e-5) CHECK(found.run.iterations <= 3);
  }
}

TEST_CASE("a lambda too small for single precision is refused, not served badly") {
  Problem problem = uneven_problem(300, 40, 1, 505);
  for (int64_t i = 0; i < 300; ++i)  // two columns that differ by less than a float's rounding
    problem.Z(i, 39) = problem.Z(i, 0) * (1 + 1e-12 * problem.Z(i, 1));
  const MatrixSource rows(problem.Z.view(), problem.Y.view(), 64, false);
  Context context;
  const auto path = make_iterative_system(rows, {true, nullptr, Iterative::gram}, context);
  CHECK_REFUSED(MERCER_NOT_CONVERGED, path->solve(0, context), "mixed", "lambda = 0", "direct");
  CHECK_REFUSED(MERCER_NOT_CONVERGED, path->solve(1e-22, context), "mixed", "lambda = 1e-22");
}

/// Z = K R, K in a source of its own.
class Factored final : public BlockSource {
 public:
  Factored(const Problem& left, const Problem& product, MatrixView<const double> right)
      : left_(left),
        product_(product),
        right_(right),
        rows_(product.Z.view(), product.Y.view(), 32, false) {}
  int64_t features() const override { return rows_.features(); }
  int64_t outputs() const override { return rows_.outputs(); }
  int64_t rows() const override { return rows_.rows(); }
  int64_t block_rows() const override { return rows_.block_rows(); }
  void for_each(Context& context, const Body& body) const override {
    rows_.for_each(context, body);
  }
  std::unique_ptr<BlockSource> subset(RowSet rows) const override { return rows_.subset(rows); }
  std::optional<FactoredRows> factored() const override {
    return FactoredRows{std::make_unique<MatrixSource>(left_.Z.view(), left_.Y.view(), 32, false),
                        right_};
  }

 private:
  const Problem &left_, &product_;
  MatrixView<const double> right_;
  MatrixSource rows_;
};

TEST_CASE("rows that are factored have the weights of their product") {
  const Problem left = uneven_problem(400, 30, 2, 506);
  const Matrix<double> right = random_matrix(30, 30, 507);
  const Problem problem{product(left.Z.view(), right.view()), copy(left.Y.view())};
  const Factored rows(left, problem, right.view());
  Context context;
  for (const auto iterative : {Iterative::sketch, Iterative::gram})
    for (const bool center : {false, true}) {
      const auto path = make_iterative_system(rows, {center, nullptr, iterative}, context);
      const Solution found = path->solution(1e-2, Want::weights, context);
      const Weights expected = reference_ridge(problem, center, 4);
      CAPTURE(center, found.run.iterations, found.run.residual);
      CHECK(weights_differ(found.weights, expected, iterative == Iterative::gram ? 1e-9 : 1e-6) ==
            "");
    }
}

/// A A' of random rows, column j scaled by scale(j).
template <class Scale>
Matrix<double> positive(int64_t n, int64_t rank, const Scale& scale, uint64_t seed) {
  Matrix<double> A = random_matrix(n, rank, seed);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < rank; ++j) A(i, j) *= scale(j);
  return product(A.view(), transposed(A.view()).view());
}

TEST_CASE("sketched preconditioner: the inverse, up to a factor, of an operator of low rank") {
  const int64_t n = 40, rank = 6;
  const double shift = 0.3;
  Context context;
  Matrix<double> H = positive(
      n, rank, [](int64_t) { return 1.0; }, 901);
  const NystroemPreconditioner sketch(test::DenseOperator(H.view()), 12, 7, context);
  CHECK(sketch.rank() == rank);
  const Matrix<double> B = random_matrix(n, 2, 902);
  for (int64_t i = 0; i < n; ++i) H(i, i) += shift;
  // P^{-1} (H + shift I) b = (l + shift) b in the range, shift b beside it: symmetric, and with two
  // eigenvalues, so that its product with any b solves a quadratic equation.
  const auto once = [&](const Matrix<double>& x) {
    Matrix<double> y = product(H.view(), x.view());
    sketch.apply(shift, y.view());
    return y;
  };
  const Matrix<double> one = once(B), two = once(one);
  // Find l from the first entry, check all: (T - shift)(T - (l + shift)) b = 0.
  const double top = (two(0, 0) - shift * one(0, 0)) / (one(0, 0) - shift * B(0, 0));
  CHECK(top > shift);
  const Matrix<double> left = filled(n, 2, [&](int64_t i, int64_t k) {
    return two(i, k) - (top + shift) * one(i, k) + top * shift * B(i, k);
  });
  CHECK(largest(left.view()) < 1e-9 * largest(two.view()));
}

TEST_CASE("sketched preconditioner: fewer steps where eigenvalues fall fast, the same solution") {
  const int64_t n = 150;
  const double shift = 1e-5;
  Context context;
  Matrix<double> H = positive(
      n, n, [](int64_t j) { return std::pow(0.8, static_cast<double>(j)); }, 911);
  const NystroemPreconditioner sketch(test::DenseOperator(H.view()), 40, 7, context);
  for (int64_t i = 0; i < n; ++i) H(i, i) += shift;
  const Matrix<double> B = random_matrix(n, 1, 912);
  Matrix<double> plain(n, 1), fast(n, 1);
  plain.fill(0);
  fast.fill(0);
  linalg::CgOptions options{.tolerance = 1e-8, .most_iterations = 20'000};
  const test::DenseOperator system(H.view());
  const auto slow = conjugate_gradient(system, B.view(), options, context, plain.view());
  options.preconditioner = [&](MatrixView<double> R) { sketch.apply(shift, R); };
  const auto quick = conjugate_gradient(system, B.view(), options, context, fast.view());
  CHECK((slow.converged && quick.converged));
  CHECK(4 * quick.iterations < slow.iterations);
  const Matrix<double> difference =
      filled(n, 1, [&](int64_t i, int64_t) { return plain(i, 0) - fast(i, 0); });
  CHECK(largest(difference.view()) < 1e-4 * largest(plain.view()));
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, NystroemPreconditioner(system, n + 1, 7, context), "rank");
}

TEST_CASE(
    "a solution's effective dimension is near the exact one, its weights are those of solve") {
  const bool center = GENERATE(false, true);
  const double lambda = GENERATE(1e-4, 1e-2, 1.0);
  Context context;
  for (const int64_t D : {12, 280, 320}) {  // of 280 and 320 by probes
    const int64_t n = D == 12 ? 40 : 300;
    const Problem problem = test::ridge_problem(n, D, 2, 97);
    const auto statistics = test::statistics_of(problem.Z.view(), problem.Y.view());
    const solver::PrimalSystem path(statistics.clone(context), center, context);
    const double exact = path.effective_dimension(lambda);
    const solver::Solution primal =
        solver::RidgeFactor(statistics.clone(context), center, lambda, context)
            .solution(lambda, solver::Want::dimension, context);
    const solver::DualSystem system(test::copy(problem.Z.view()), test::copy(problem.Y.view()), {},
                                    center, context);
    const solver::Solution dual = system.solution(lambda, solver::Want::dimension, context);
    const double bound = D == 12 ? 1e-8 : 5 * std::sqrt(2 * exact / 16);
    CAPTURE(D, exact);
    CHECK(std::abs(primal.effective_dimension - exact) < bound);
    CHECK(std::abs(dual.effective_dimension - exact) < bound);
    const solver::Weights plain =
        solver::ridge_cholesky(statistics.clone(context), center, lambda, context);
    CHECK(test::difference(primal.weights.w.view(), plain.w.view(), 0) == "");
    CHECK(test::difference(dual.weights.w.view(), system.solve(lambda, context).w.view(), 0) == "");
  }
}

TEST_CASE("the inverse of a diagonal matrix is traced exactly") {
  Context context;
  const Matrix<double> L(3, 3);
  L.fill(0);
  L(0, 0) = 1;
  L(1, 1) = 2;
  L(2, 2) = 0.5;
  CHECK(solver::inverse_trace(L.view(), context) == Approx(1 + 0.25 + 4).epsilon(1e-14));
}

}  // namespace iterative_system_test
