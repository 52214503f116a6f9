// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge on operator-valued maps without their matrix: the reference numbers, the whole system, gaps
// in the targets, and exact kernels beside it.
#include "solver/operator_ridge.h"

#include "operator_problem.h"
#include "solver/operator_kernel_ridge.h"
#include "support/catch.h"
#include "support/reference_matrix.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

namespace {

/// Block (i, j): K(x_i, z_j) of the Gaussian curl-free or divergence-free kernel.
Matrix<double> field_gram(const Matrix<double>& X, const Matrix<double>& Z, double sigma,
                          bool curl_free) {
  const int64_t d = X.cols();
  const double s2 = sigma * sigma;
  return filled(X.rows() * d, Z.rows() * d, [&](int64_t row, int64_t column) {
    const int64_t i = row / d, a = row % d, j = column / d, b = column % d;
    double square = 0;
    for (int64_t k = 0; k < d; ++k) square += (X(i, k) - Z(j, k)) * (X(i, k) - Z(j, k));
    const double product = (X(i, a) - Z(j, a)) * (X(i, b) - Z(j, b)) / (s2 * s2);
    const double diagonal =
        curl_free ? 1 / s2 : static_cast<double>(d - 1) / s2 - square / (s2 * s2);
    return std::exp(-square / (2 * s2)) *
           ((a == b ? diagonal : 0.0) + (curl_free ? -product : product));
  });
}

/// Phi(x_i)' by rows, for the frequencies in the columns of W.
Matrix<double> field_phi(const Matrix<double>& X, const Matrix<double>& W, bool curl_free) {
  const int64_t d = X.cols(), F = W.cols(), q = curl_free ? 1 : d;
  return filled(X.rows() * d, 2 * F * q, [&](int64_t row, int64_t column) {
    const int64_t i = row / d, a = row % d, c = column / q, b = column % q, j = c % F;
    double angle = 0, square = 0;
    for (int64_t k = 0; k < d; ++k) {
      angle += X(i, k) * W(k, j);
      square += W(k, j) * W(k, j);
    }
    const double size = std::sqrt(square);
    const double root = curl_free ? W(a, j) : (a == b ? size : 0.0) - W(a, j) * W(b, j) / size;
    return root * (c < F ? std::cos(angle) : std::sin(angle)) / std::sqrt(static_cast<double>(F));
  });
}

}  // namespace

TEST_CASE("operator ridge: the reference numbers, with targets missing and without", "[solver]") {
  for (const auto& entry : oracle("operator_kernels")["stein"]) {
    const Matrix<double> B = reference_matrix(entry["B"]), Y = reference_matrix(entry["Y"]);
    const Matrix<double> Z = reference_matrix(entry["Phi"]);
    const Matrix<double> Phi = decomposable_phi(Z.view(), B.view());
    const ExplicitRows rows(Phi.view(), B.rows());
    for (const OperatorSolver solver : kSolvers) {
      for (const auto& solution : entry["solutions"]) {
        const Matrix<double> theta = solved(rows, Y.view(), solution["lambda"], solver);
        CHECK(worst_difference(shaped(theta.data(), Z.cols(), B.cols()),
                               reference_matrix(solution["Theta"])) < 1e-9);
      }
      const auto& masked = entry["masked"];
      const Matrix<double> mask = reference_matrix(masked["mask"]);
      const Matrix<double> gaps = filled(Y.rows(), Y.cols(), [&](int64_t i, int64_t k) {
        return mask(i, k) == 1 ? Y(i, k) : kMissing;
      });
      const Matrix<double> theta = solved(rows, gaps.view(), masked["lambda"], solver);
      CHECK(worst_difference(shaped(theta.data(), Z.cols(), B.cols()),
                             reference_matrix(masked["Theta"])) < 1e-10);
    }
  }
}

TEST_CASE("operator ridge: observed rows are adjoint to their transpose", "[solver]") {
  const int64_t N = 1100, p = 2, r = 5;  // more rows than a block
  const Matrix<double> Phi = random_matrix(N * p, r, 701);
  const Matrix<double> Y = with_gaps(random_matrix(N, p, 702).view(), 703);
  const ExplicitRows rows(Phi.view(), p);
  const ObservedRows A(rows, Y.view());
  const Matrix<double> x = random_matrix(r, 3, 704), u = random_matrix(N * p, 3, 705);
  Matrix<double> Ax(N * p, 3), Atu(r, 3);
  Context context;
  A.apply(x.view(), context, Ax.view());
  A.apply_transpose(u.view(), context, Atu.view());
  int64_t observed = 0;
  const Matrix<double> masked = filled(N * p, r, [&](int64_t row, int64_t j) {
    return std::isnan(Y(row / p, row % p)) ? 0.0 : Phi(row, j);
  });
  for (int64_t row = 0; row < N * p; ++row) observed += !std::isnan(Y(row / p, row % p));
  CHECK(A.observed() == observed);
  CHECK(difference(Ax.view(), product(masked.view(), x.view()).view(), 1e-13) == "");
  CHECK(difference(Atu.view(), product(transposed(masked.view()).view(), u.view()).view(), 1e-11) ==
        "");
}

TEST_CASE("operator ridge: the whole system, and both solvers agree", "[solver]") {
  const int64_t N = 30, p = 3, r = 12;
  const Matrix<double> Phi = random_matrix(N * p, r, 711);
  const Matrix<double> Y = with_gaps(random_matrix(N, p, 712).view(), 713);
  const ExplicitRows rows(Phi.view(), p);
  for (const double lambda : {1e-8, 1e-3, 2.0})
    for (const OperatorSolver solver : kSolvers) {
      const Matrix<double> theta = solved(rows, Y.view(), lambda, solver);
      CHECK(difference(theta.view(),
                       reference_operator_ridge(Phi.view(), Y.view(), 30 * lambda).view(),
                       1e-10) == "");
    }
}

TEST_CASE("operator ridge of fields: the reference numbers by features and by the exact kernel",
          "[solver]") {
  Context context;
  for (const auto& entry : oracle("operator_kernels")["ovk_ridge"]) {
    const bool curl_free = entry["kernel"] == "curl_free";
    const double sigma = entry["sigma"], lambda = entry["lambda"];
    const Matrix<double> X = reference_matrix(entry["X"]), Y = reference_matrix(entry["Y"]),
                         T = reference_matrix(entry["X_test"]);
    const Matrix<double> K = field_gram(X, X, sigma, curl_free);
    const Matrix<double> dense = operator_kernel_ridge(K.view(), Y.view(), lambda, context);
    CHECK(worst_difference(dense, reference_matrix(entry["u"])) < 1e-9);
    Matrix<double> u(Y.rows(), Y.cols());
    u.fill(0);
    const OperatorRidge result = operator_kernel_ridge(
        linalg::DenseOperator(K.view()), Y.view(), lambda, {.tolerance = 1e-13}, context, u.view());
    CHECK(result.converged);
    CHECK(worst_difference(u, reference_matrix(entry["u"])) < 1e-9);
    const Matrix<double> predicted = product(field_gram(T, X, sigma, curl_free).view(),
                                             shaped(u.data(), Y.rows() * Y.cols(), 1).view());
    CHECK(worst_difference(shaped(predicted.data(), T.rows(), Y.cols()),
                           reference_matrix(entry["predictions"])) < 1e-10);

    const auto& features = entry["feature_ridge"];
    const Matrix<double> W = reference_matrix(features["W"]);
    const Matrix<double> Phi = field_phi(X, W, curl_free);
    for (const OperatorSolver solver : kSolvers) {
      const Matrix<double> theta =
          solved(ExplicitRows(Phi.view(), X.cols()), Y.view(), features["lambda"], solver);
      const Matrix<double> values = product(field_phi(T, W, curl_free).view(), theta.view());
      CHECK(worst_difference(shaped(values.data(), T.rows(), Y.cols()),
                             reference_matrix(features["predictions"])) < 1e-10);
    }
  }
}

TEST_CASE("operator kernel ridge: gaps, and decomposable kernels by two eigendecompositions",
          "[solver]") {
  const int64_t N = 15, p = 3;
  Context context;
  const Matrix<double> Z = random_matrix(N, 20, 721), B = random_matrix(p, 2, 722);
  const Matrix<double> k = product(Z.view(), transposed(Z.view()).view());
  const Matrix<double> Gamma = product(B.view(), transposed(B.view()).view());
  const Matrix<double> K = filled(N * p, N * p, [&](int64_t row, int64_t column) {
    return k(row / p, column / p) * Gamma(row % p, column % p);
  });
  const Matrix<double> Y = random_matrix(N, p, 723), gaps = with_gaps(Y.view(), 724);
  const double lambda = 0.02;
  const Matrix<double> dense = operator_kernel_ridge(K.view(), Y.view(), lambda, context);
  const Matrix<double> copied = copy(MatrixView<const double>(k.view()));
  CHECK(difference(decomposable_kernel_ridge(copied.view(), OutputBasis(B.view(), context),
                                             Y.view(), lambda, context)
                       .view(),
                   dense.view(), 1e-10) == "");
  // (K + N lambda I) u = y where y was observed, u = 0 elsewhere.
  const Matrix<double> with_gaps = operator_kernel_ridge(K.view(), gaps.view(), lambda, context);
  const Matrix<double> Ku = product(K.view(), shaped(with_gaps.data(), N * p, 1).view());
  for (int64_t i = 0; i < N; ++i)
    for (int64_t j = 0; j < p; ++j) {
      if (std::isnan(gaps(i, j))) {
        CHECK(with_gaps(i, j) == 0);
      } else {
        CHECK(std::abs(Ku(i * p + j, 0) + 15 * lambda * with_gaps(i, j) - Y(i, j)) < 1e-11);
      }
    }
  Matrix<double> u = copy(Y.view());  // from anywhere
  CHECK(operator_kernel_ridge(linalg::DenseOperator(K.view()), gaps.view(), lambda,
                              {.tolerance = 1e-13}, context, u.view())
            .converged);
  CHECK(difference(u.view(), with_gaps.view(), 1e-9) == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] {
              decomposable_kernel_ridge(copied.view(), OutputBasis(B.view(), context), gaps.view(),
                                        lambda, context);
            },
            "missing") == "");
}

TEST_CASE("feature equivalence: theta = sum Phi(x_i) u_i for lambda > 0, and what is seen of it",
          "[solver]") {
  const int64_t N = 10, p = 2, r = 30;
  Context context;
  const Matrix<double> Phi = random_matrix(N * p, r, 731), Y = random_matrix(N, p, 732);
  const ExplicitRows rows(Phi.view(), p);
  const Matrix<double> K = product(Phi.view(), transposed(Phi.view()).view());
  const double lambda = 0.1;
  Matrix<double> theta = solved(rows, Y.view(), lambda, OperatorSolver::lsqr);
  const Matrix<double> u = operator_kernel_ridge(K.view(), Y.view(), lambda, context);
  const auto span = [&] { return std::span<const double>(theta.data(), r); };
  const FeatureEquivalence same = feature_equivalence(rows, u.view(), span(), context);
  CHECK((same.residual < 1e-10 && same.seen < 1e-10));
  // Something that no row sees is in the residual, not in the values.
  const Matrix<double> v = random_matrix(r, 1, 733);
  const Matrix<double> seen = reference_operator_ridge(
      Phi.view(), shaped(product(Phi.view(), v.view()).data(), N, p).view(), 1e-9);
  for (int64_t j = 0; j < r; ++j) theta(j, 0) += v(j, 0) - seen(j, 0);
  const FeatureEquivalence hidden = feature_equivalence(rows, u.view(), span(), context);
  CHECK((hidden.residual > 0.1 && hidden.seen < 1e-6));
  // Another lambda predicts otherwise.
  theta = solved(rows, Y.view(), 100 * lambda, OperatorSolver::lsqr);
  const FeatureEquivalence other = feature_equivalence(rows, u.view(), span(), context);
  CHECK((other.residual > 0.1 && other.seen > 0.1));
}

TEST_CASE("operator ridge: refusals, and what did not converge", "[solver]") {
  const Matrix<double> Phi = random_matrix(20, 6, 741);
  Matrix<double> Y = random_matrix(10, 2, 742);
  const ExplicitRows rows(Phi.view(), 2);
  Context context;
  std::vector<double> theta(6, 0.0);
  const OperatorRidge few =
      operator_ridge(rows, Y.view(), 1e-3, {.most_iterations = 2}, context, theta);
  CHECK((!few.converged && few.iterations == 2 && few.residual > 1e-10));
  CHECK(refusal_fault(
            MERCER_NOT_CONVERGED, [&] { require_converged(few, 1e-9); },
            "2 iterations, expected at most 1e-09") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { operator_ridge(rows, Y.view(), -1, {}, context, theta); }, "lambda") == "");
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH,
            [&] { operator_ridge(rows, Y.view().block_rows(0, 9), 1, {}, context, theta); },
            "9 x 2") == "");
  Y(3, 1) = INFINITY;
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { operator_ridge(rows, Y.view(), 1, {}, context, theta); },
            "(3, 1)") == "");
  Y.fill(kMissing);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { operator_ridge(rows, Y.view(), 1, {}, context, theta); },
            "observed") == "");
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { ExplicitRows(Phi.view(), 3); }, "multiple") == "");
}
