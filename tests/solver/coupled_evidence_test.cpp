// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The marginal likelihood of coupled outputs against the normal density of all targets at once.
#include "coupled_problem.h"
#include "linalg/blas.h"
#include "solver/coupled_system.h"
#include "support/matrix_source.h"

namespace coupled_evidence_test {
using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

struct Case {
  int64_t n, D, p, q;
  bool shared, gaps, weighted, center;
};

struct Joined {
  Matrix<double> Z, Y, roots;
  std::vector<double> weights, scale;
};

Joined joined(const Case& c) {
  const Problem problem = ridge_problem(c.n, c.D, c.p, 810);
  Joined rows{copy(problem.Z.view()),
              c.gaps ? with_gaps(problem.Y.view(), 811) : copy(problem.Y.view()),
              random_matrix(c.shared ? 1 : c.D, c.p * c.q, 812),
              {},
              {}};
  // Of mean 1, so that their sum is the number of rows.
  for (int64_t i = 0; c.weighted && i < c.n; ++i) rows.weights.push_back(i % 2 == 0 ? 0.5 : 1.5);
  for (int64_t k = 0; k < c.p; ++k) rows.scale.push_back(1 + 0.5 * double(k));
  return rows;
}

double log_determinant(const Matrix<double>& L) {
  double sum = 0;
  for (int64_t j = 0; j < L.rows(); ++j) sum += 2 * std::log(L(j, j));
  return sum;
}

/// Nats of all observed targets y ~ N(intercepts, sigma^2 (sum_c B_c B_c' z_c z_c' + n lambda/w)),
/// the intercepts integrated over a flat prior, sigma^2 at its best.
double density(const Case& c, const Joined& rows, double lambda) {
  std::vector<std::pair<int64_t, int64_t>> targets;
  double n = 0;
  for (int64_t i = 0; i < c.n; ++i) {
    const size_t before = targets.size();
    for (int64_t k = 0; k < c.p; ++k)
      if (!std::isnan(rows.Y(i, k))) targets.push_back({i, k});
    if (targets.size() > before) n += c.weighted ? rows.weights[i] : 1;
  }
  const auto N = std::ssize(targets);
  const int64_t p = c.center ? c.p : 0;
  Matrix<double> K(N, N), own(N, p + 1), A(p + 1, p + 1);
  for (int64_t a = 0; a < N; ++a) {
    const auto [i, k] = targets[a];
    for (int64_t b = 0; b < N; ++b) {
      const auto [j, l] = targets[b];
      K(a, b) = a == b ? n * lambda / (c.weighted ? rows.weights[i] : 1) : 0;
      for (int64_t f = 0; f < c.D; ++f)
        for (int64_t h = 0; h < c.q; ++h) {
          const double* const B = rows.roots.view().row(c.shared ? 0 : f);
          K(a, b) += rows.Z(i, f) * rows.Z(j, f) * B[k * c.q + h] * B[l * c.q + h];
        }
    }
    for (int64_t l = 0; l < p; ++l) own(a, l) = l == k ? 1 : 0;
    own(a, p) = rows.Y(i, k) / rows.scale[k];
  }
  REQUIRE(linalg::cholesky(K.view()) == 0);
  const Matrix<double> solved = copy(own.view());
  linalg::cholesky_solve(K.view(), solved.view());
  linalg::multiply(1.0, linalg::Transpose::yes, own.view(), linalg::Transpose::no, solved.view(),
                   0.0, A.view());
  REQUIRE(linalg::cholesky(A.view()) == 0);
  // The last pivot of [X y]'K^{-1}[X y] is y'Py, P of the restricted likelihood.
  const double q = A(p, p) * A(p, p);
  return (double(N - p) * std::log(q) + log_determinant(K) + log_determinant(A) - std::log(q)) / 2;
}

constexpr Case kCases[] = {
    {12, 5, 3, 3, true, false, false, true},  {12, 5, 3, 3, true, false, true, true},
    {12, 5, 2, 2, true, false, false, false}, {8, 15, 3, 3, true, false, true, true},
    {12, 3, 2, 2, false, false, false, true}, {12, 3, 2, 2, false, false, true, true},
    {6, 9, 2, 2, false, false, false, true},  {14, 3, 3, 3, true, true, false, true},
    {6, 9, 2, 2, false, true, false, false}};

double evidence(const Case& c, const Joined& rows, const Coupling& coupling, double lambda) {
  Context context;
  const MatrixSource source{rows.Z.view(), rows.Y.view(), 5, false, rows.weights};
  return make_coupled_system(source, {c.center, &coupling}, context)->evidence(lambda)[0];
}

TEST_CASE("coupled evidence: the density of all targets, between lambdas and between roots") {
  Context context;
  for (const Case& c : kCases) {
    CAPTURE(c.n, c.D, c.p, c.shared, c.gaps, c.weighted, c.center);
    Joined rows = joined(c);
    double found = 0, expected = 0;
    for (const double lambda : {2.0, 0.02, 1e-3}) {
      for (const double factor : {1.0, 1.7}) {
        rows.roots(0, 0) *= factor;
        const Coupling coupling(c.p, copy(rows.roots.view()), rows.scale, context);
        const double here = evidence(c, rows, coupling, lambda), there = density(c, rows, lambda);
        // K's condition is below 1e5 in these.
        if (found != 0) CHECK(here - found == Approx(there - expected).epsilon(1e-8).margin(1e-8));
        found = here, expected = there;
      }
    }
  }
}

TEST_CASE("coupled evidence: outputs of rank one and without relations") {
  Context context;
  // One direction of three is reached: g = 0, 0, |b|^2.
  const Case c{12, 5, 3, 3, true, false, false, true};
  Joined rows = joined(c);
  for (int64_t k = 0; k < 3; ++k)
    for (int64_t h = 0; h < 3; ++h) rows.roots(0, k * 3 + h) = h == 0 ? 1.0 + double(k) : 0.0;
  const Coupling one(3, copy(rows.roots.view()), rows.scale, context);
  CHECK(evidence(c, rows, one, 0.1) - evidence(c, rows, one, 1.0) ==
        Approx(density(c, rows, 0.1) - density(c, rows, 1.0)).epsilon(1e-8));
  // Outputs that miss targets, but are apart, have the sum of their own.
  const Case gaps{14, 3, 1, 1, true, false, false, true};
  Joined own = joined(gaps);
  own.scale[0] = 1, own.roots(0, 0) = 1;
  double sum = 0;
  Matrix<double> both(14, 2);
  for (int64_t i = 0; i < 14; ++i)
    both(i, 0) = own.Y(i, 0), both(i, 1) = i < 9 ? own.Y(i, 0) : kMissing;
  const MatrixSource source{own.Z.view(), both.view(), 5, false, {}};
  const auto all = [&](double lambda) {
    const std::vector<double> each =
        make_coupled_system(source, {true, nullptr}, context)->evidence(lambda);
    return each[0] + each[1];
  };
  const double apart = all(0.1) - all(1.0);
  sum = density(gaps, own, 0.1) - density(gaps, own, 1.0);
  for (int64_t i = 9; i < 14; ++i) own.Y(i, 0) = kMissing;
  // n stays that of all rows.
  sum += density(gaps, own, 0.1 * 14 / 9) - density(gaps, own, 1.0 * 14 / 9);
  CHECK(apart == Approx(sum).epsilon(1e-8));
}

}  // namespace coupled_evidence_test
