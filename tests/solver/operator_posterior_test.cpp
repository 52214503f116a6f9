// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Posterior covariances: the three ways to them, against elimination, and against the same in terms
// of the kernel Phi'Phi.
#include "solver/operator_posterior.h"

#include "linalg/blas.h"
#include "operator_problem.h"
#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

namespace {

constexpr double kNoise = 0.3, kShift = 0.2;

/// noise P (sum of observed rows + shift I)^{-1} P' by elimination, P p x r: one row of out.
Matrix<double> by_elimination(MatrixView<const double> Phi, MatrixView<const double> Y,
                              MatrixView<const double> P) {
  const auto r = static_cast<size_t>(Phi.cols);
  std::vector<std::vector<long double>> S(r, std::vector<long double>(r, 0.0L)),
      b(r, std::vector<long double>(static_cast<size_t>(P.rows)));
  for (int64_t row = 0; row < Phi.rows; ++row)
    for (size_t j = 0; j < r && !std::isnan(Y(row / Y.cols, row % Y.cols)); ++j)
      for (size_t k = 0; k < r; ++k)
        S[j][k] += static_cast<long double>(Phi(row, static_cast<int64_t>(j))) *
                   Phi(row, static_cast<int64_t>(k));
  for (size_t j = 0; j < r; ++j) {
    S[j][j] += kShift;
    for (size_t o = 0; o < b[j].size(); ++o)
      b[j][o] = P(static_cast<int64_t>(o), static_cast<int64_t>(j));
  }
  const Matrix<double> inner = product(P, eliminate(S, b).view());
  return filled(1, P.rows * P.rows, [&](int64_t, int64_t at) { return kNoise * inner.data()[at]; });
}

/// noise/shift (K(x, x) - K(x, X) (K + shift I)^{-1} K(X, x)) over what was observed.
Matrix<double> by_kernel(MatrixView<const double> Phi, MatrixView<const double> Y,
                         MatrixView<const double> P, double shift = kShift) {
  std::vector<int64_t> seen;
  for (int64_t row = 0; row < Phi.rows; ++row)
    if (!std::isnan(Y(row / Y.cols, row % Y.cols))) seen.push_back(row);
  const auto A = filled(std::ssize(seen), Phi.cols,
                        [&](int64_t i, int64_t j) { return Phi(seen[static_cast<size_t>(i)], j); });
  const Matrix<double> K = product(A.view(), transposed(A.view()).view()),
                       cross = product(A.view(), transposed(P).view()),
                       own = product(P, transposed(P).view());
  std::vector<std::vector<long double>> S(seen.size()), b(seen.size());
  for (size_t i = 0; i < seen.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    S[i].assign(K.view().row(row), K.view().row(row) + K.cols());
    S[i][i] += shift;
    b[i].assign(cross.view().row(row), cross.view().row(row) + cross.cols());
  }
  const Matrix<double> less = product(transposed(cross.view()).view(), eliminate(S, b).view());
  return filled(1, P.rows * P.rows, [&](int64_t, int64_t at) {
    return kNoise / shift * (own.data()[at] - less.data()[at]);
  });
}

/// Row by row of out, each from p rows of P.
template <class Of>
Matrix<double> of_each(MatrixView<const double> P, int64_t p, const Of& of) {
  Matrix<double> out(P.rows / p, p * p);
  for (int64_t i = 0; i < out.rows(); ++i)
    std::copy_n(of(P.block_rows(i * p, (i + 1) * p)).data(), p * p, out.view().row(i));
  return out;
}

Matrix<double> covariances(const OperatorPosterior& posterior, MatrixView<const double> P,
                           int64_t p) {
  Context context;
  Matrix<double> out(P.rows / p, p * p);
  posterior.covariance(P, context, out.view());
  return out;
}

/// Sum over the observed rows, lower triangle; NaN above it.
Matrix<double> gram_of(MatrixView<const double> Phi, MatrixView<const double> Y) {
  Matrix<double> H =
      filled(Phi.cols, Phi.cols, [](int64_t i, int64_t j) { return j > i ? kMissing : 0.0; });
  for (int64_t row = 0; row < Phi.rows; ++row)
    for (int64_t j = 0; j < Phi.cols && !std::isnan(Y(row / Y.cols, row % Y.cols)); ++j)
      for (int64_t k = 0; k <= j; ++k) H(j, k) += Phi(row, j) * Phi(row, k);
  return H;
}

}  // namespace

TEST_CASE("posterior covariances: factored and by steps, with gaps, against two routes",
          "[solver]") {
  const int64_t N = 14, p = 3, r = 20;
  Context context;
  const Matrix<double> Phi = random_matrix(N * p, r, 801), P = random_matrix(5 * p, r, 802);
  for (const bool gaps : {false, true}) {
    const Matrix<double> all = random_matrix(N, p, 803);
    const Matrix<double> Y = gaps ? with_gaps(all.view(), 804) : copy(all.view());
    const Matrix<double> exact = of_each(
        P.view(), p, [&](auto block) { return by_elimination(Phi.view(), Y.view(), block); });
    const Matrix<double> dual =
        of_each(P.view(), p, [&](auto block) { return by_kernel(Phi.view(), Y.view(), block); });
    CHECK(difference(dual.view(), exact.view(), 1e-11) == "");
    const FactoredPosterior factored(gram_of(Phi.view(), Y.view()), kShift, kNoise, context);
    CHECK(difference(covariances(factored, P.view(), p).view(), exact.view(), 1e-12) == "");
    const ExplicitRows rows(Phi.view(), p);
    const ObservedRows observed(rows, Y.view());
    const IterativePosterior steps(observed, kShift, kNoise, context);
    // A relative residual of 1e-10 is one of at most 1e-10 |P|^2 noise / shift.
    const double bound = 1e-10 * sum_of_squares(P.view()) * kNoise / kShift;
    CHECK(difference(covariances(steps, P.view(), p).view(), exact.view(), bound) == "");
  }
}

TEST_CASE("posterior covariances of decomposable maps, of full and of lower rank", "[solver]") {
  const int64_t N = 12, D = 9, p = 4, n = 6;
  Context context;
  const Matrix<double> Z = random_matrix(N, D, 811), T = random_matrix(n, D, 812),
                       Y = random_matrix(N, p, 813);
  for (const int64_t q : {4, 2}) {
    const Matrix<double> B = random_matrix(p, q, 814);
    const Matrix<double> Phi = decomposable_phi(Z.view(), B.view()),
                         P = decomposable_phi(T.view(), B.view());
    const OutputBasis basis(B.view(), context);
    Matrix<double> sums = filled(D, D, [](int64_t, int64_t) { return 0.0; });
    linalg::rank_update(1.0, Z.view(), sums.view());
    const SteinPosterior posterior(std::move(sums), basis, kShift, kNoise, context);
    Matrix<double> out(n, p * p);
    posterior.covariance(T.view(), context, out.view());
    const Matrix<double> exact = of_each(
        P.view(), p, [&](auto block) { return by_elimination(Phi.view(), Y.view(), block); });
    CHECK(difference(out.view(), exact.view(), 1e-12) == "");
  }
}

TEST_CASE("posterior covariances: what no target shows is not lost in rounding", "[solver]") {
  const int64_t N = 3, p = 2, D = 40;
  Context context;
  const Matrix<double> Z = random_matrix(N, D, 821), T = random_matrix(4, D, 822),
                       B = random_matrix(p, p, 823), Y = random_matrix(N, p, 824);
  const Matrix<double> Phi = decomposable_phi(Z.view(), B.view()),
                       P = decomposable_phi(T.view(), B.view());
  const OutputBasis basis(B.view(), context);
  const auto stein = [&](double shift) {
    Matrix<double> sums = filled(D, D, [](int64_t, int64_t) { return 0.0; }), out(4, p * p);
    linalg::rank_update(1.0, Z.view(), sums.view());
    SteinPosterior(std::move(sums), basis, shift, kNoise, context)
        .covariance(T.view(), context, out.view());
    return out;
  };
  const auto factored = [&](double shift) {
    const FactoredPosterior of(gram_of(Phi.view(), Y.view()), shift, kNoise, context);
    return covariances(of, P.view(), p);
  };
  const double trace = sum_of_squares(Phi.view());
  for (const double share : {1e-6, 1e-9, 1e-12, 3e-14}) {
    const double shift = share * trace;
    const Matrix<double> exact = of_each(
        P.view(), p, [&](auto block) { return by_kernel(Phi.view(), Y.view(), block, shift); });
    double most = 0;
    for (int64_t at = 0; at < 4 * p * p; ++at) most = std::max(most, exact.data()[at]);
    CHECK(difference(factored(shift).view(), exact.view(), 0.01 * most) == "");
    CHECK(difference(stein(shift).view(), exact.view(), 0.01 * most) == "");
  }
  for (const double share : {1e-16, 1e-19}) {
    CHECK(refusal_fault(
              MERCER_NOT_POSITIVE_DEFINITE, [&] { factored(share * trace); }, "N lambda = ") == "");
    CHECK(refusal_fault(
              MERCER_NOT_POSITIVE_DEFINITE, [&] { stein(share * trace); }, "N lambda = ") == "");
  }
}

TEST_CASE("posterior covariances: no rows, and what has no factor", "[solver]") {
  Context context;
  Matrix<double> H(2, 2), none(0, 1);
  H(0, 0) = H(1, 1) = -1;
  H(1, 0) = 0;
  CHECK(refusal_fault(
            MERCER_NOT_POSITIVE_DEFINITE, [&] { FactoredPosterior(std::move(H), 0.5, 1, context); },
            "") == "");
  Matrix<double> one(1, 1);
  one(0, 0) = 3;
  const FactoredPosterior posterior(std::move(one), 1, 8, context);
  posterior.covariance(none.view(), context, none.view());
  Matrix<double> phi(1, 1), out(1, 1);
  phi(0, 0) = 2;
  posterior.covariance(phi.view(), context, out.view());
  CHECK(std::abs(out(0, 0) - 8.0 * 4 / 4) < 1e-14);
}
