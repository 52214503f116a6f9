// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// LSQR against closed forms, on matrices of known singular values, tall and wide.
#include "linalg/lsqr.h"

#include <cmath>

#include "known_spectrum.h"
#include "linalg/blas.h"
#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::linalg;
using namespace mercer::test;

namespace {

using Vector = std::vector<double>;

struct Problem {
  Matrix<double> U, V, A, b;
  Vector s;
  Problem(int64_t rows, int64_t cols, double condition)
      : U(some_rotation(rows, 11)),
        V(some_rotation(cols, 12)),
        b(random_matrix(rows, 1, 13)),
        s(geometric(std::min(rows, cols), condition)) {
    A = spectral_product(U, s, V, identity(cols).view(), [](double value) { return value; });
  }
  std::span<const double> rhs() const { return {b.data(), static_cast<size_t>(b.rows())}; }
  Matrix<double> solution(double damping) const {
    return spectral_product(V, s, U, b.view(), [&](double value) {
      return value / (value * value + damping * damping);
    });
  }
};

/// (A; damping I) x - (b; 0), and its product with the transpose.
struct Residual {
  double size, normal;
  Residual(const Problem& of, const Vector& x, double damping) {
    const MatrixView<const double> X(x.data(), static_cast<int64_t>(x.size()), 1);
    Matrix<double> r = product(of.A.view(), X);
    for (int64_t i = 0; i < r.rows(); ++i) r(i, 0) = of.b(i, 0) - r(i, 0);
    const Matrix<double> normal_residual = product(transposed(of.A.view()).view(), r.view());
    double square = 0, normal_square = 0;
    for (int64_t i = 0; i < r.rows(); ++i) square += r(i, 0) * r(i, 0);
    for (size_t j = 0; j < x.size(); ++j) {
      const double g = normal_residual(static_cast<int64_t>(j), 0) - damping * damping * x[j];
      square += damping * damping * x[j] * x[j];
      normal_square += g * g;
    }
    size = std::sqrt(square);
    normal = std::sqrt(normal_square);
  }
};

}  // namespace

TEST_CASE("LSQR has the solutions of the singular values, damped and not", "[linalg]") {
  Context context;
  for (const auto& [rows, cols] : {std::pair(70, 30), std::pair(30, 70), std::pair(40, 40)})
    for (const double condition : {10.0, 1e5})
      for (const double damping : {0.0, 1e-3, 0.7}) {
        const Problem problem(rows, cols, condition);
        Vector x(static_cast<size_t>(cols), 7.0);
        const LsqrOptions options{.damping = damping, .tolerance = 1e-14, .most_iterations = 5000};
        const LsqrResult result =
            lsqr(DenseOperator(problem.A.view()), problem.rhs(), options, context, x);
        CAPTURE(rows, cols, condition, damping, result.iterations, static_cast<int>(result.end));
        CHECK(result.converged());
        // Sensitivity of least squares: to the square of the condition number.
        const double least = std::hypot(1 / condition, damping);
        CHECK(difference({x.data(), cols, 1}, problem.solution(damping).view(),
                         1e-12 / (least * least) + 1e-12) == "");
        const Residual truth(problem, x, damping);
        CHECK(std::abs(result.residual - truth.size) <= 1e-9);
        CHECK(truth.normal <= 1e-9);
        CHECK(std::abs(result.size - std::sqrt(dot(x, x))) <= 1e-12 * result.size);
        if (damping > 0) {
          CHECK(result.norm <= std::sqrt(static_cast<double>(result.iterations)) * 3);
          CHECK(result.condition >= 1);
        }
      }
}

TEST_CASE("LSQR ends at a residual of the normal equations relative to the first", "[linalg]") {
  Context context;
  const Problem problem(70, 30, 1e3);
  const Vector zero(30, 0.0);
  const double start = Residual(problem, zero, 0.01).normal;
  for (const double tolerance : {1e-2, 1e-5, 1e-8}) {
    Vector x(30);
    const LsqrResult result =
        lsqr(DenseOperator(problem.A.view()), problem.rhs(),
             {.damping = 0.01, .tolerance = 0, .normal_tolerance = tolerance}, context, x);
    CHECK(result.end == LsqrEnd::least_squares);
    const double found = Residual(problem, x, 0.01).normal;
    CHECK((found <= 1.01 * tolerance * start && found >= 1e-4 * tolerance * start));
  }
}

TEST_CASE("LSQR's estimates are those of the iterate it stops at", "[linalg]") {
  const Problem problem(60, 25, 50);
  Context context;
  for (const int64_t iterations : {1, 3, 8}) {
    Vector x(25);
    const LsqrOptions options{.damping = 0.05, .tolerance = 0, .most_iterations = iterations};
    const LsqrResult result =
        lsqr(DenseOperator(problem.A.view()), problem.rhs(), options, context, x);
    const Residual truth(problem, x, 0.05);
    CHECK(result.end == LsqrEnd::iterations);
    CHECK(std::abs(result.residual - truth.size) <= 1e-12);
    CHECK(std::abs(result.normal_residual - truth.normal) <= 1e-12);
    CHECK(refusal_fault(
              MERCER_NOT_CONVERGED, [&] { require_converged(result, options); }, "|A'r|") == "");
  }
}

TEST_CASE("LSQR: nothing to fit, a condition number too large, and refusals", "[linalg]") {
  const Problem problem(30, 20, 1e9);
  const DenseOperator op(problem.A.view());
  Context context;
  Vector x(20, 1.0), none(30, 0.0);
  const LsqrResult zero = lsqr(op, none, {}, context, x);
  CHECK((zero.end == LsqrEnd::zero && zero.iterations == 0 && x == Vector(20, 0.0)));
  const LsqrResult stopped =
      lsqr(op, problem.rhs(), {.tolerance = 1e-15, .largest_condition = 1e3}, context, x);
  CHECK((stopped.end == LsqrEnd::condition && !stopped.converged() && stopped.condition >= 1e3));
  none[4] = INFINITY;
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { lsqr(op, none, {}, context, x); }, "norm") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { lsqr(op, problem.rhs(), {.damping = -1}, context, x); },
            "damping") == "");
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { lsqr(op, problem.rhs().first(7), {}, context, x); },
            "30") == "");
  Context small;
  small.memory_cap = (2 * 30 + 3 * 20) * 8 - 1;
  CHECK(refusal_fault(MERCER_OUT_OF_MEMORY, [&] { lsqr(op, problem.rhs(), {}, small, x); }) == "");
  Context cancelled;
  cancelled.cancel();
  CHECK(refusal_fault(MERCER_CANCELLED, [&] { lsqr(op, problem.rhs(), {}, cancelled, x); }) == "");
}
