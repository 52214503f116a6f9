// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge of coupled outputs against whole systems, by elimination: every kind of roots, with gaps,
// weights, units of targets and intercepts, from either side; rows left out against refits.
#include "solver/coupled_system.h"

#include "coupled_problem.h"
#include "solver/dual_system.h"
#include "solver/posterior.h"
#include "support/matrix_source.h"
#include "support/reference_matrix.h"
#include "support/refusal.h"

namespace coupled_system_test {
using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

constexpr double kLambdas[] = {2.0, 0.02};

struct Case {
  int64_t n, D, p, q;  // q = 0: no coupling
  bool shared, gaps, weighted, center;
};

class Whole {
 public:
  explicit Whole(const Case& c, uint64_t seed = 700) : c_(c) {
    const Problem problem = ridge_problem(c.n, c.D, c.p, seed);
    Z_ = copy(problem.Z.view());
    Y_ = c.gaps ? with_gaps(problem.Y.view(), seed + 1) : copy(problem.Y.view());
    for (int64_t i = 0; c.weighted && i < c.n; ++i) weights_.push_back(0.5 + double(i % 3));
    if (c.q == 0) return;
    roots_ = random_matrix(c.shared ? 1 : c.D, c.p * c.q, seed + 2);
    for (int64_t k = 0; k < c.p; ++k) scale_.push_back(1 + 0.5 * double(k));
  }
  std::unique_ptr<Coupling> coupling() const {
    Context context;
    return c_.q == 0 ? nullptr
                     : std::make_unique<Coupling>(c_.p, copy(roots_.view()), scale_, context);
  }
  MatrixSource source() const { return {Z_.view(), Y_.view(), 5, false, weights_}; }
  const Matrix<double>& Y() const { return Y_; }

  /// Y's row `left_out` counts for nothing, but for n.
  WholeSystem system(double lambda, int64_t left_out = -1) const {
    const int64_t p = c_.p, r = coefficients();
    double n = 0;
    Matrix<double> targets(c_.n, p);
    for (int64_t i = 0; i < c_.n; ++i) {
      bool any = false;
      for (int64_t k = 0; k < p; ++k) {
        any = any || !std::isnan(Y_(i, k));
        targets(i, k) = i == left_out ? kMissing : Y_(i, k) / unit(k) * std::sqrt(weight(i));
      }
      if (any) n += weight(i);
    }
    const int64_t columns = r + (c_.center ? p : 0);
    const Matrix<double> Phi = filled(c_.n * p, columns, [&](int64_t row, int64_t column) {
      return std::sqrt(weight(row / p)) * phi(row / p, row % p, column);
    });
    return whole_system(Phi.view(), targets.view(), n * lambda, r);
  }
  Weights solution(double lambda, int64_t left_out = -1) const {
    const int64_t p = c_.p, r = coefficients();
    const WholeSystem whole = system(lambda, left_out);
    const Matrix<double> theta = eliminate(whole.A, whole.b);
    Weights found{Matrix<double>(c_.D, p), std::vector<double>(p, 0.0)};
    found.w.fill(0);
    for (int64_t column = 0; column < r; ++column)
      for (int64_t k = 0; k < p; ++k)
        found.w(column / (r / c_.D), k) += unit(k) * root(column, k) * theta(column, 0);
    for (int64_t k = 0; c_.center && k < p; ++k) found.intercept[k] = unit(k) * theta(r + k, 0);
    return found;
  }
  double residual(const Weights& weights, int64_t i, int64_t k) const {
    double y = Y_(i, k) - weights.intercept[k];
    for (int64_t c = 0; c < c_.D; ++c) y -= Z_(i, c) * weights.w(c, k);
    return y;
  }
  /// Cov f(x_i) of theta ~ N(0, s^2/(n lambda) I), intercepts with flat priors: s^2 A^{-1} between
  /// rows of Phi. s^2: of each output where nothing joins them or misses, else one in their units.
  Matrix<double> covariance(double lambda, int64_t i) const {
    WholeSystem whole = system(lambda);
    for (size_t column = 0; column < whole.b.size(); ++column) {
      whole.b[column].clear();
      for (int64_t k = 0; k < c_.p; ++k)
        whole.b[column].push_back(phi(i, k, static_cast<int64_t>(column)));
    }
    const Matrix<double> solved = eliminate(whole.A, whole.b);
    const std::vector<double> noise = noises(lambda);
    return filled(c_.p, c_.p, [&](int64_t k, int64_t l) {
      double sum = 0;
      for (int64_t column = 0; column < solved.rows(); ++column)
        sum += phi(i, k, column) * solved(column, l);
      return sum * unit(k) * unit(l) * std::sqrt(noise[k] * noise[l]);
    });
  }
  /// Of an output, on average: how much its own targets move what is fitted.
  double effective_dimension(double lambda) const {
    const Weights before = solution(lambda);
    double trace = 0;
    for (int64_t i = 0; i < c_.n; ++i)
      for (int64_t k = 0; k < c_.p; ++k) {
        if (std::isnan(Y_(i, k))) continue;
        Whole moved(c_);
        moved.Y_(i, k) += 1;
        trace += 1 - moved.residual(moved.solution(lambda), i, k) + residual(before, i, k);
      }
    return trace / static_cast<double>(c_.p);
  }

 private:
  int64_t coefficients() const { return c_.D * (c_.q == 0 ? c_.p : c_.q); }
  /// Of row i and output k, in its unit; columns of intercepts last.
  double phi(int64_t i, int64_t k, int64_t column) const {
    const int64_t r = coefficients();
    if (column >= r) return column - r == k ? 1.0 : 0.0;
    return Z_(i, column / (r / c_.D)) * root(column, k);
  }
  /// Squared residuals over the number of observed targets less Tr H.
  std::vector<double> noises(double lambda) const {
    const Weights weights = solution(lambda);
    const double degrees = effective_dimension(lambda);
    std::vector<double> squares, left;
    for (int64_t k = 0; k < c_.p; ++k) {
      squares.push_back(0);
      left.push_back(-degrees);
      for (int64_t i = 0; i < c_.n; ++i) {
        if (std::isnan(Y_(i, k))) continue;
        squares.back() += weight(i) * std::pow(residual(weights, i, k) / unit(k), 2);
        left.back() += 1;
      }
    }
    const bool pooled = c_.q > 0;
    double all = 0, rest = 0;
    for (size_t k = 0; k < squares.size(); ++k) {
      all += squares[k];
      rest += left[k];
    }
    for (size_t k = 0; k < squares.size(); ++k)
      squares[k] = pooled ? all / rest : squares[k] / left[k];
    return squares;
  }
  double weight(int64_t i) const { return weights_.empty() ? 1.0 : weights_[i]; }
  double unit(int64_t k) const { return scale_.empty() ? 1.0 : scale_[k]; }
  double root(int64_t column, int64_t k) const {
    if (c_.q == 0) return column % c_.p == k ? 1.0 : 0.0;
    return roots_(c_.shared ? 0 : column / c_.q, k * c_.q + column % c_.q);
  }
  Case c_;
  Matrix<double> Z_, Y_, roots_;
  std::vector<double> weights_, scale_;
};

std::string weights_fault(const Weights& found, const Weights& expected) {
  const auto stacked = [](const Weights& w) {
    return filled(w.w.rows() + 1, w.w.cols(), [&](int64_t i, int64_t k) {
      return i < w.w.rows() ? w.w(i, k) : w.intercept[k];
    });
  };
  return difference(stacked(found).view(), stacked(expected).view(), 1e-8);
}

void check_left_out(const RidgeSystem& path, const Whole& whole, const Case& c) {
  Context context;
  for_each_wide(whole.source(), context, [&](const WideBlock& block) {
    const Matrix<double> e = path.leave_one_out(kLambdas, block, context);
    for (int64_t i = 0; i < block.Z.rows; ++i)
      for (int64_t l = 0; l < 2; ++l) {
        const Weights refit = whole.solution(kLambdas[l], block.first + i);
        for (int64_t k = 0; k < c.p; ++k) {
          if (std::isnan(block.Y(i, k))) continue;
          const double expected = whole.residual(refit, block.first + i, k);
          CAPTURE(block.first + i, k, kLambdas[l]);
          CHECK(std::abs(e(i, l * c.p + k) - expected) < 1e-7 * (1 + std::abs(expected)));
        }
      }
  });
}

void check_case(const Case& c) {
  CAPTURE(c.n, c.D, c.p, c.q, c.shared, c.gaps, c.weighted, c.center);
  Context context;
  const Whole whole(c);
  const auto coupling = whole.coupling();
  const RidgeProblem problem{c.center, coupling.get()};
  const auto path = make_coupled_system(whole.source(), problem, context);
  const auto factors = make_coupled_factors(whole.source(), problem, context);
  for (const double lambda : kLambdas) {
    CHECK(weights_fault(path->solve(lambda, context), whole.solution(lambda)) == "");
    CHECK(weights_fault(factors->solve(lambda, context), whole.solution(lambda)) == "");
    CHECK(std::abs(path->effective_dimension(lambda) - whole.effective_dimension(lambda)) < 1e-7);
  }
  check_left_out(*path, whole, c);
}

TEST_CASE("coupled outputs: whole systems, rows left out and Tr H") {
  for (const bool shared : {true, false})
    for (const bool gaps : {false, true})
      for (const bool center : {false, true}) {
        check_case({16, 4, 3, 2, shared, gaps, false, center});
        check_case({7, 9, 2, 3, shared, gaps, true, center});
      }
  for (const bool center : {false, true}) {
    check_case({16, 3, 3, 0, false, true, true, center});
    check_case({8, 9, 2, 0, false, true, false, center});
  }
}

TEST_CASE("posterior: the covariance of whole systems") {
  Context context;
  for (const bool shared : {true, false})
    for (const bool gaps : {false, true})
      for (const bool center : {false, true})
        for (const int64_t q : {2, 0}) {
          const Case c{30, 4, 3, q, shared, gaps, gaps, center};
          CAPTURE(shared, gaps, center, q);
          const Whole whole(c);
          const auto coupling = whole.coupling();
          const MatrixSource source = whole.source();
          const Posterior posterior(source, {center, coupling.get()}, 0.02, whole.solution(0.02),
                                    0.0, context);
          Matrix<double> C(30, 9);
          for_each_wide(source, context, [&](const WideBlock& block) {
            posterior.covariance(block.Z, context,
                                 C.view().block_rows(block.first, block.first + block.Z.rows));
          });
          for (const int64_t i : {0, 2, 17}) {
            const Matrix<double> expected = whole.covariance(0.02, i);
            for (int64_t j = 0; j < 9; ++j)
              CHECK(C(i, j) == Approx(expected.data()[j]).epsilon(1e-6).margin(1e-12));
          }
        }
}

TEST_CASE("coupled outputs: a shift far below the eigenvalues keeps its digits in the dual") {
  Context context;
  const Problem problem = ridge_problem(12, 30, 1, 731);
  const MatrixSource source(problem.Z.view(), problem.Y.view(), 5, false);
  const Coupling one = Coupling::independent(1, context);
  const double lambda = 1e-10;
  const Weights joined = make_coupled_system(source, {true, &one}, context)->solve(lambda, context);
  CHECK(weights_fault(joined, make_dual_system(source, true, context).solve(lambda, context)) ==
        "");
}

TEST_CASE("coupled outputs: intercepts hide no digits of left-out residuals in the dual") {
  Context context;
  const Problem problem{random_matrix(12, 30, 732), random_matrix(12, 2, 733)};
  problem.Y(4, 0) = kMissing;
  const MatrixSource source(problem.Z.view(), problem.Y.view(), 12, false);
  const Coupling one = Coupling::independent(2, context);
  const double lambda = 1e-7;
  const auto joined = make_coupled_system(source, {true, &one}, context);
  const Matrix<double> found =
      left_out(*joined, lambda, problem.Z.view(), problem.Y.view(), context);
  for (const int64_t k : {0, 1}) {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < 12; ++i)
      if (!std::isnan(problem.Y(i, k))) rows.push_back(i);
    const auto n = std::ssize(rows);
    const Problem own{filled(n, 30, [&](int64_t i, int64_t j) { return problem.Z(rows[i], j); }),
                      filled(n, 1, [&](int64_t i, int64_t) { return problem.Y(rows[i], k); })};
    DualSystem alone(copy(own.Z.view()), copy(own.Y.view()), {}, true, context);
    alone.decompose(context);
    const double same = lambda * 12 / static_cast<double>(n);  // of the same n lambda
    const Matrix<double> expected = left_out(alone, same, own.Z.view(), own.Y.view(), context);
    for (int64_t i = 0; i < n; ++i)
      CHECK(found(rows[i], k) == Approx(expected(i, 0)).epsilon(1e-8));
  }
}

TEST_CASE("one decomposition solves as a factor for each lambda does") {
  Context context;
  for (const int64_t D : {9, 40}) {  // primal, dual
    const Problem problem = ridge_problem(25, D, 2, 741);
    std::vector<double> weights(25, 1.0);
    for (size_t i = 0; i < 25; i += 3) weights[i] = 2.5;
    for (const bool center : {false, true}) {
      const MatrixSource rows(problem.Z.view(), problem.Y.view(), 7, false, weights);
      const auto all = make_ridge_system(rows, {center}, RidgeUse::many, 0, context);
      const DualSystem system = make_dual_system(rows, center, context);
      for (const double lambda : {3.0, 1e-2, 1e-5}) {
        const Solution one = all->solution(lambda, Want::dimension, context),
                       other = system.solution(lambda, Want::dimension, context);
        CAPTURE(D, center, lambda);
        CHECK(weights_fault(one.weights, other.weights) == "");
        CHECK(one.effective_dimension == Approx(other.effective_dimension).epsilon(1e-9));
      }
    }
  }
  // Rows that are there twice: of the null directions nothing is learnt, whatever rounding leaves.
  const Problem half = ridge_problem(10, 40, 1, 743);
  Problem twice{Matrix<double>(20, 40), Matrix<double>(20, 1)};
  for (int64_t i = 0; i < 20; ++i) {
    std::copy_n(half.Z.view().row(i / 2), 40, twice.Z.view().row(i));
    twice.Y(i, 0) = half.Y(i / 2, 0);
  }
  const MatrixSource once(half.Z.view(), half.Y.view(), 5, false);
  const MatrixSource again(twice.Z.view(), twice.Y.view(), 5, false);
  CHECK(weights_fault(make_ridge_system(again, {}, RidgeUse::many, 0, context)->solve(0, context),
                      make_ridge_system(once, {}, RidgeUse::many, 0, context)->solve(0, context)) ==
        "");
}

TEST_CASE("coupled outputs: what was never observed is 0, the others as they were") {
  Context context;
  const Problem problem = ridge_problem(14, 4, 2, 733);
  for (int64_t i = 0; i < 14; ++i) problem.Y(i, 1) = kMissing;
  const MatrixSource both(problem.Z.view(), problem.Y.view(), 5, false);
  const MatrixSource first(problem.Z.view(), problem.Y.view().block_cols(0, 1), 5, false);
  const Weights found = make_coupled_system(both, {}, context)->solve(0.1, context);
  const Weights alone = make_dual_system(first, true, context).solve(0.1, context);
  for (int64_t j = 0; j < 4; ++j) {
    CHECK(found.w(j, 0) == Approx(alone.w(j, 0)).epsilon(1e-9));
    CHECK(found.w(j, 1) == 0);
  }
  CHECK(found.intercept[1] == 0);
  const Matrix<double> none = filled(14, 2, [](int64_t, int64_t) { return kMissing; });
  const MatrixSource nothing(problem.Z.view(), none.view(), 5, false);
  const Coupling joined = Coupling::independent(2, context);
  CHECK(make_coupled_system(nothing, {true, &joined}, context)->solve(0.1, context).w(3, 1) == 0);
}

TEST_CASE("coupled outputs: the reference numbers of the Stein equation") {
  for (const auto& entry : oracle("operator_kernels")["stein"]) {
    const Matrix<double> Z = reference_matrix(entry["Phi"]), Y = reference_matrix(entry["Y"]);
    const Matrix<double> B = reference_matrix(entry["B"]);
    Context context;
    const Coupling coupling(
        B.rows(), filled(1, B.rows() * B.cols(), [&](int64_t, int64_t j) { return B.data()[j]; }),
        std::vector<double>(B.rows(), 1.0), context);
    const auto path = make_coupled_system(MatrixSource(Z.view(), Y.view(), 7, false),
                                          {false, &coupling}, context);
    for (const auto& solution : entry["solutions"]) {
      const Weights found = path->solve(solution["lambda"], context);
      CHECK(worst_difference(product(Z.view(), found.w.view()),
                             reference_matrix(solution["predictions"])) < 1e-10);
    }
    const auto& masked = entry["masked"];
    const Matrix<double> mask = reference_matrix(masked["mask"]);
    const auto kept = filled(Y.rows(), Y.cols(), [&](int64_t i, int64_t k) {
      return mask(i, k) != 0 ? Y(i, k) : kMissing;
    });
    int64_t empty = 0;  // rows without a target, which count there and not here
    for (int64_t i = 0; i < Y.rows(); ++i)
      empty += std::all_of(mask.view().row(i), mask.view().row(i) + Y.cols(),
                           [](double in) { return in == 0; });
    const double n = static_cast<double>(Y.rows());
    const Weights found =
        make_coupled_system(MatrixSource(Z.view(), kept.view(), 7, false), {false, &coupling},
                            context)
            ->solve(masked["lambda"].get<double>() * n / (n - static_cast<double>(empty)), context);
    const Matrix<double> theta = reference_matrix(masked["Theta"]);
    CHECK(worst_difference(found.w, product(theta.view(), transposed(B.view()).view())) < 1e-10);
  }
}

TEST_CASE("coupled outputs: refusals") {
  Context context;
  const auto one = [] { return std::vector<double>(2, 1.0); };
  Matrix<double> zero(1, 4);
  zero.fill(0);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, Coupling(2, std::move(zero), one(), context), "roots");
  const Whole whole({9, 3, 2, 2, true, false, false, true});
  const Coupling three = Coupling::independent(3, context);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                make_coupled_system(whole.source(), {true, &three}, context), "3 outputs");
}

}  // namespace coupled_system_test
