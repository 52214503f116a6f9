// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ratios in the manner of LAPACK's dsyt21: |A - V diag V'| / (n eps |A|) and |I - V V'| / (n eps).
// LAPACK accepts 50; both solvers stay far below. Spectra: what ridge meets (fast decay to rounding
// level), multiple eigenvalues, rank one, zero.
#include "linalg/blas.h"
#include "support/dense.h"
#include "support/refusal.h"

namespace symmetric_eigen_test {
using namespace mercer;
using linalg::TridiagonalSolver, test::random_matrix;

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLapackThreshold = 50;

double target_eigenvalue(const std::string& spectrum, int64_t i, int64_t n) {
  if (spectrum == "decay")
    return std::pow(10.0, -18.0 * static_cast<double>(i) / static_cast<double>(n));
  if (spectrum == "multiple") return i % 3 == 0 ? 1.0 : -2.0;
  if (spectrum == "rank one") return i == 0 ? 5.0 : 0.0;
  if (spectrum == "large") return 1e100 * static_cast<double>(i + 1);
  return 0.0;
}

/// H diag H with two random Householder reflections in H.
Matrix<double> with_spectrum(const std::string& spectrum, int64_t n) {
  Matrix<double> A(n, n);
  A.fill(0);
  for (int64_t i = 0; i < n; ++i) A(i, i) = target_eigenvalue(spectrum, i, n);
  for (const uint64_t seed : {1, 2}) {
    const Matrix<double> u = random_matrix(n, 1, seed);
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) squares += u(i, 0) * u(i, 0);
    for (const bool from_left : {true, false}) {
      for (int64_t k = 0; k < n; ++k) {
        double dot = 0;
        for (int64_t i = 0; i < n; ++i) dot += u(i, 0) * (from_left ? A(i, k) : A(k, i));
        for (int64_t i = 0; i < n; ++i)
          (from_left ? A(i, k) : A(k, i)) -= 2 * dot / squares * u(i, 0);
      }
    }
  }
  test::mirror_lower(A.view());
  return A;
}

struct Decomposed {
  Matrix<double> vectors;  // rows
  std::vector<double> values;
};

/// Decomposes a copy whose upper triangle is NaN and whose rows lie apart.
Decomposed decompose(const Matrix<double>& A, TridiagonalSolver solver) {
  const int64_t n = A.rows();
  Matrix<double> padded(n, n + 3);
  padded.fill(kNan);
  for (int64_t i = 0; i < n; ++i) std::copy_n(&A(i, 0), i + 1, &padded(i, 0));
  const MatrixView<double> view = padded.view().block_cols(0, n);
  Context context;
  std::vector<double> values(n);
  linalg::symmetric_eigen(view, values, context, solver);
  return {test::copy(view), values};
}

void check_decomposition(const Matrix<double>& A, const Decomposed& found) {
  const int64_t n = A.rows();
  const double scale = kLapackThreshold * static_cast<double>(n) * kEps;
  CHECK(std::is_sorted(found.values.begin(), found.values.end()));
  const Matrix<double> V = test::transposed(found.vectors.view());
  const Matrix<double> scaled = test::copy(found.vectors.view());
  Matrix<double> identity(n, n);
  identity.fill(0);
  for (int64_t i = 0; i < n; ++i) {
    identity(i, i) = 1;
    for (int64_t j = 0; j < n; ++j) scaled(i, j) *= found.values[i];
  }
  const Matrix<double> gram = test::product(found.vectors.view(), V.view());
  const Matrix<double> back = test::product(V.view(), scaled.view());
  CHECK(test::difference(gram.view(), identity.view(), scale) == "");
  const double norm = std::max(std::abs(found.values.front()), std::abs(found.values.back()));
  CHECK(test::difference(back.view(), A.view(), scale * norm) == "");
}

TEST_CASE("eigendecompositions have small residuals, and orthogonal vectors") {
  const auto solver =
      GENERATE(TridiagonalSolver::divide_and_conquer, TridiagonalSolver::relatively_robust);
  // 128 reflectors make a block.
  const int64_t n = GENERATE(1, 2, 3, 26, 128, 129, 130, 300);
  const std::string spectrum = GENERATE("decay", "multiple", "rank one", "zero", "large");
  CAPTURE(static_cast<int>(solver), n, spectrum);
  const Matrix<double> A = with_spectrum(spectrum, n);
  const Decomposed found = decompose(A, solver);
  check_decomposition(A, found);
  std::vector<double> expected;
  for (int64_t i = 0; i < n; ++i) expected.push_back(target_eigenvalue(spectrum, i, n));
  std::sort(expected.begin(), expected.end());
  // Weyl: eigenvalues move by at most the norm of the perturbation, rounding of the construction
  // included.
  const double norm = std::max(std::abs(expected.front()), std::abs(expected.back()));
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(expected[i] - found.values[i]));
  CHECK(worst <= kLapackThreshold * static_cast<double>(n) * kEps * norm);
}

TEST_CASE("a full random matrix and an empty one decompose") {
  const auto solver =
      GENERATE(TridiagonalSolver::divide_and_conquer, TridiagonalSolver::relatively_robust);
  const Matrix<double> A = random_matrix(257, 257, 3);
  test::mirror_lower(A.view());
  check_decomposition(A, decompose(A, solver));
  Context context;
  std::vector<double> none;
  linalg::symmetric_eigen(MatrixView<double>(), none, context, solver);
  CHECK(none.empty());
}

TEST_CASE("the memory cap chooses the tridiagonal solver, then refuses") {
  const int64_t n = 100;
  const Matrix<double> A = with_spectrum("decay", n), B = test::copy(A.view());
  std::vector<double> values(n);
  Context context;
  context.memory_cap = 9 * n * n;
  CHECK_REFUSED(
      MERCER_OUT_OF_MEMORY,
      linalg::symmetric_eigen(A.view(), values, context, TridiagonalSolver::divide_and_conquer),
      "memory_cap = 90000");
  linalg::symmetric_eigen(A.view(), values, context);
  check_decomposition(B, {test::copy(A.view()), values});
  context.memory_cap = 7 * n * n;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, linalg::symmetric_eigen(A.view(), values, context),
                "memory_cap = 70000", "80000");
}

TEST_CASE("bad matrices and cancellation are refused") {
  Context context;
  std::vector<double> values(4), short_values(3);
  const Matrix<double> A = random_matrix(4, 4, 5), wide = random_matrix(4, 5, 5);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, linalg::symmetric_eigen(wide.view(), values, context),
                "symmetric_eigen: A is 4 x 5");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, linalg::symmetric_eigen(A.view(), short_values, context),
                "values has 3 elements, expected 4");
  for (const double bad : {kNan, std::numeric_limits<double>::infinity()}) {
    for (const int64_t row : {0, 1, 3}) {
      const Matrix<double> poisoned = random_matrix(4, 4, 5);
      poisoned(row, 0) = bad;
      CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                    linalg::symmetric_eigen(poisoned.view(), values, context), "finite");
    }
  }
  context.cancel();
  CHECK_REFUSED(MERCER_CANCELLED, linalg::symmetric_eigen(A.view(), values, context));
}

TEST_CASE("a reduction to tridiagonal form is stopped between its panels") {
  struct First {
    int64_t done = 0, total = 0;
  } first;
  Context context;
  context.user = &first;
  context.progress = [](void* user, int64_t done, int64_t total) {
    *static_cast<First*>(user) = {done, total};
    return done > 0 ? 1 : 0;
  };
  const Matrix<double> A = random_matrix(400, 400, 5);
  std::vector<double> values(400);
  CHECK_REFUSED(MERCER_CANCELLED, linalg::symmetric_eigen(A.view(), values, context));
  CHECK(10 * first.done < first.total);
}

}  // namespace symmetric_eigen_test
