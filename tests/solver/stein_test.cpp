// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The Stein equation against the reference numbers and against the whole Kronecker system; errors
// of rows left out against refits; norms.
#include "solver/stein.h"

#include "operator_problem.h"
#include "support/catch.h"
#include "support/matrix_source.h"
#include "support/reference_matrix.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

namespace {

/// p x q of rank `rank`.
Matrix<double> some_root(int64_t p, int64_t q, int64_t rank, uint64_t seed) {
  return product(random_matrix(p, rank, seed).view(), random_matrix(rank, q, seed + 1).view());
}

RidgePath path_of(const Problem& problem, bool center) {
  Context context;
  return RidgePath(statistics_of(problem.Z.view(), problem.Y.view()), center, context);
}

Problem without_row(const Problem& problem, int64_t row) {
  const auto drop = [&](const Matrix<double>& A) {
    return filled(A.rows() - 1, A.cols(),
                  [&](int64_t i, int64_t j) { return A(i + (i >= row ? 1 : 0), j); });
  };
  return {drop(problem.Z), drop(problem.Y)};
}

/// Theta B' and, below it, the intercept, from the whole system.
Matrix<double> reference_outputs(const Problem& problem, MatrixView<const double> B, bool center,
                                 double shift) {
  const int64_t p = B.rows, q = B.cols, r = problem.Z.cols() * q;
  const Matrix<double> Phi = decomposable_phi(problem.Z.view(), B);
  const Matrix<double> whole =
      filled(Phi.rows(), r + (center ? p : 0), [&](int64_t row, int64_t column) {
        return column < r ? Phi(row, column) : row % p == column - r ? 1.0 : 0.0;
      });
  const Matrix<double> theta = reference_operator_ridge(whole.view(), problem.Y.view(), shift, r);
  const Matrix<double> outputs =
      product(shaped(theta.data(), problem.Z.cols(), q).view(), transposed(B).view());
  return filled(outputs.rows() + 1, p, [&](int64_t i, int64_t k) {
    return i < outputs.rows() ? outputs(i, k) : center ? theta(r + k, 0) : 0.0;
  });
}

Matrix<double> stacked(const Weights& weights) {
  return filled(weights.w.rows() + 1, weights.w.cols(), [&](int64_t i, int64_t k) {
    return i < weights.w.rows() ? weights.w(i, k) : weights.intercept[static_cast<size_t>(k)];
  });
}

/// Squared error of one output of a prediction by stacked weights, over rows and outputs.
double mean_error(const Problem& problem, const Matrix<double>& outputs) {
  const Matrix<double> predicted =
      product(problem.Z.view(), outputs.view().block_rows(0, problem.Z.cols()));
  const Matrix<double> e = filled(predicted.rows(), predicted.cols(), [&](int64_t i, int64_t k) {
    return predicted(i, k) + outputs(problem.Z.cols(), k) - problem.Y(i, k);
  });
  return sum_of_squares(e.view()) / static_cast<double>(e.rows() * e.cols());
}

}  // namespace

TEST_CASE("Stein equation: the reference numbers", "[solver]") {
  for (const auto& entry : oracle("operator_kernels")["stein"]) {
    const Problem problem{reference_matrix(entry["Phi"]), reference_matrix(entry["Y"])};
    const Matrix<double> B = reference_matrix(entry["B"]);
    Context context;
    const OutputBasis basis(B.view(), context);
    const RidgePath path = path_of(problem, false);
    for (const auto& solution : entry["solutions"]) {
      const double lambda = solution["lambda"];
      const SteinSolution found = stein_solution(path, basis, lambda, context);
      CHECK(worst_difference(found.theta, reference_matrix(solution["Theta"])) < 1e-10);
      const Matrix<double> predicted = product(problem.Z.view(), found.outputs.w.view());
      CHECK(worst_difference(predicted, reference_matrix(solution["predictions"])) < 1e-10);
      const Matrix<double> e =
          filled(predicted.rows(), predicted.cols(),
                 [&](int64_t i, int64_t k) { return predicted(i, k) - problem.Y(i, k); });
      const double objective = sum_of_squares(e.view()) / 2 / static_cast<double>(e.rows()) +
                               lambda / 2 * squared_rkhs_norm(found.theta.view());
      CHECK(std::abs(objective - solution["objective"].get<double>()) < 1e-12);
    }
  }
}

TEST_CASE("Stein equation: the whole Kronecker system, any rank of the root", "[solver]") {
  Context context;
  const Problem problem = ridge_problem(23, 5, 4, 601);
  for (const auto& [q, rank] : {std::pair(4, 4), std::pair(2, 2), std::pair(6, 3), std::pair(1, 1)})
    for (const bool center : {false, true}) {
      const Matrix<double> B = some_root(4, q, rank, 610);
      const OutputBasis basis(B.view(), context);
      CHECK(basis.rank() == rank);
      const RidgePath path = path_of(problem, center);
      for (const double lambda : {1e-4, 0.03, 5.0}) {
        CAPTURE(q, rank, center, lambda);
        const SteinSolution found = stein_solution(path, basis, lambda, context);
        const Matrix<double> expected = reference_outputs(problem, B.view(), center, 23 * lambda);
        CHECK(difference(stacked(found.outputs).view(), expected.view(), 1e-9) == "");
        // Theta itself makes those outputs, and is the one of least norm: it lies in B's row space.
        CHECK(difference(product(found.theta.view(), transposed(B.view()).view()).view(),
                         found.outputs.w.view(), 1e-9) == "");
        if (!center) {
          const Matrix<double> Phi = decomposable_phi(problem.Z.view(), B.view());
          const Matrix<double> theta =
              reference_operator_ridge(Phi.view(), problem.Y.view(), 23 * lambda);
          CHECK(difference(found.theta.view(), shaped(theta.data(), 5, q).view(), 1e-8) == "");
        }
      }
    }
}

TEST_CASE("Stein equation: rows left out, folds and held-out rows as refits have them",
          "[solver]") {
  Context context;
  const Problem problem = ridge_problem(14, 4, 3, 621), other = ridge_problem(9, 4, 3, 623);
  const Matrix<double> first = some_root(3, 2, 2, 625), second = some_root(3, 3, 3, 627);
  const OutputBasis a(first.view(), context), b(second.view(), context);
  const OutputBasis* const bases[] = {&a, &b};
  const double lambdas[] = {1.0, 0.01};
  for (const bool center : {false, true}) {
    CAPTURE(center);
    const RidgePath path = path_of(problem, center);
    const MatrixSource rows(problem.Z.view(), problem.Y.view(), 5, false);
    const Matrix<double> left = stein_leave_one_out_error(path, {bases, lambdas}, rows, context);
    const Matrix<double> held = stein_held_out_error(
        path, {bases, lambdas}, statistics_of(other.Z.view(), other.Y.view()), context);
    std::vector<RowStatistics> folds;
    for (const auto& [from, to] : {std::pair(0, 5), std::pair(5, 9), std::pair(9, 14)})
      folds.push_back(statistics_of(problem.Z.view().block_rows(from, to),
                                    problem.Y.view().block_rows(from, to)));
    const RowStatistics* const pointers[] = {&folds[0], &folds[1], &folds[2]};
    const Matrix<double> kfold = stein_kfold_error(pointers, center, {bases, lambdas}, context);
    for (int64_t base = 0; base < 2; ++base)
      for (int64_t l = 0; l < 2; ++l) {
        const MatrixView<const double> B = bases[base]->B();
        double sum = 0;
        const Matrix<double> residuals =
            stein_leave_one_out(path, *bases[base], std::span(lambdas + l, 1), problem.Z.view(),
                                problem.Y.view(), context);
        for (int64_t i = 0; i < 14; ++i) {
          // n lambda stays that of all rows.
          const Matrix<double> refit =
              reference_outputs(without_row(problem, i), B, center, 14 * lambdas[l]);
          const Problem row{copy(problem.Z.view().block_rows(i, i + 1)),
                            copy(problem.Y.view().block_rows(i, i + 1))};
          const double error = mean_error(row, refit);
          CHECK(std::abs(sum_of_squares(residuals.view().block_rows(i, i + 1)) / 3 - error) <
                1e-9 * (1 + error));
          sum += error / 14;
        }
        CHECK(std::abs(left(base, l) - sum) < 1e-9 * (1 + sum));
        const double on_held =
            mean_error(other, reference_outputs(problem, B, center, 14 * lambdas[l]));
        CHECK(std::abs(held(base, l) - on_held) < 1e-9 * (1 + on_held));
        double of_folds = 0;
        for (const auto& [from, to] : {std::pair(0, 5), std::pair(5, 9), std::pair(9, 14)}) {
          const auto outside = [&, from = from, to = to](const Matrix<double>& A) {
            return filled(14 - (to - from), A.cols(),
                          [&](int64_t i, int64_t j) { return A(i < from ? i : i + to - from, j); });
          };
          const Problem fit{outside(problem.Z), outside(problem.Y)};
          const Problem fold{copy(problem.Z.view().block_rows(from, to)),
                             copy(problem.Y.view().block_rows(from, to))};
          const auto n = static_cast<double>(fit.Z.rows());
          of_folds +=
              (14 - n) / 14 * mean_error(fold, reference_outputs(fit, B, center, n * lambdas[l]));
        }
        CHECK(std::abs(kfold(base, l) - of_folds) < 1e-9 * (1 + of_folds));
      }
    const SteinChoice choice = least_error(held.view());
    for (int64_t base = 0; base < 2; ++base)
      for (int64_t l = 0; l < 2; ++l) CHECK(held(choice.basis, choice.lambda) <= held(base, l));
  }
}

TEST_CASE("the task similarity that the tasks were made with has the least error left out",
          "[solver]") {
  // Outputs k and l are alike as exp(-gamma |k - l|^2); few rows, much noise.
  Context context;
  const int64_t n = 24, D = 12, p = 6;
  const auto root_of = [&](double gamma) {
    Matrix<double> G = filled(p, p, [&](int64_t k, int64_t l) {
      const auto distance = static_cast<double>(k - l);
      return std::exp(-gamma * distance * distance) + (k == l ? 1e-6 : 0);
    });
    for (int64_t k = 0; k < p; ++k) {  // Cholesky
      for (int64_t l = 0; l <= k; ++l) {
        for (int64_t m = 0; m < l; ++m) G(k, l) -= G(k, m) * G(l, m);
        G(k, l) = k == l ? std::sqrt(G(k, k)) : G(k, l) / G(l, l);
      }
      for (int64_t l = k + 1; l < p; ++l) G(k, l) = 0;
    }
    return G;
  };
  const double gammas[] = {0.05, 5.0};  // alike; of no concern to each other
  for (int64_t truth = 0; truth < 2; ++truth) {
    Problem problem{random_matrix(n, D, 631), Matrix<double>(n, p)};
    const Matrix<double> C =
        product(random_matrix(D, p, 632).view(), transposed(root_of(gammas[truth]).view()).view());
    problem.Y = product(problem.Z.view(), C.view());
    const Matrix<double> noise = random_matrix(n, p, 633);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < p; ++k) problem.Y(i, k) += 1.5 * noise(i, k);
    const Matrix<double> alike = root_of(gammas[0]), apart = root_of(gammas[1]);
    const OutputBasis a(alike.view(), context), b(apart.view(), context);
    const OutputBasis* const bases[] = {&a, &b};
    const std::vector<double> lambdas = lambda_grid(10, 1e-3, 13);
    const RidgePath path = path_of(problem, false);
    const MatrixSource rows(problem.Z.view(), problem.Y.view(), 10, false);
    const SteinChoice choice =
        least_error(stein_leave_one_out_error(path, {bases, lambdas}, rows, context).view());
    CHECK(choice.basis == truth);
    CHECK((choice.lambda > 0 && choice.lambda < 12));
  }
}

TEST_CASE("graph penalty: the norm with the Laplacian's pseudo-inverse", "[solver]") {
  // A path of three outputs with weights 2 and 0.5: L = diag(W 1) - W, of null vector 1.
  const Matrix<double> W = filled(3, 3, [](int64_t k, int64_t l) {
    return k + l == 1 ? 2.0 : k + l == 3 ? 0.5 : 0.0;
  });
  // L = E'E of weighted differences, 2 x 3; the pseudo-inverse is B B' with B = E'(E E')^{-1}.
  const Matrix<double> E = filled(2, 3, [](int64_t e, int64_t k) {
    return (k == e ? 1.0 : k == e + 1 ? -1.0 : 0.0) * std::sqrt(e == 0 ? 2.0 : 0.5);
  });
  const Matrix<double> EE = product(E.view(), transposed(E.view()).view());
  const double determinant = EE(0, 0) * EE(1, 1) - EE(0, 1) * EE(1, 0);
  const Matrix<double> inverse = filled(2, 2, [&](int64_t i, int64_t j) {
    return (i == j ? EE(1 - i, 1 - i) : -EE(i, j)) / determinant;
  });
  const Matrix<double> B = product(transposed(E.view()).view(), inverse.view());
  const Problem problem = ridge_problem(20, 5, 3, 641);
  Context context;
  const SteinSolution found =
      stein_solution(path_of(problem, true), OutputBasis(B.view(), context), 0.1, context);
  const double norm = squared_rkhs_norm(found.theta.view());
  CHECK(std::abs(graph_penalty(W.view(), found.outputs.w.view()) - norm) < 1e-12 * norm);
  CHECK(norm > 0.01);
}

TEST_CASE("Stein equation: refusals", "[solver]") {
  Context context;
  const Problem problem = ridge_problem(10, 3, 2, 651);
  const RidgePath path = path_of(problem, false);
  Matrix<double> B(2, 1);
  B.fill(0);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { OutputBasis(B.view(), context); }, "B = 0") == "");
  B.fill(1);
  const OutputBasis basis(B.view(), context), wrong(random_matrix(3, 2, 1).view(), context);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { stein_solution(path, basis, -1, context); }, "lambda") ==
        "");
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { stein_solution(path, wrong, 1, context); },
            "3 rows") == "");
  CHECK(refusal_fault(MERCER_DIMENSION_MISMATCH,
                      [&] { graph_penalty(B.view(), problem.Y.view()); }) == "");
  const Matrix<double> bad = filled(1, 1, [](int64_t, int64_t) { return kMissing; });
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { least_error(bad.view()); }, "finite") == "");
}
