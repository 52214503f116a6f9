// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Minimisers against known ones: closed forms, a direct solve, Newton's method.
#include "linalg/lbfgs.h"

#include "linalg/blas.h"
#include "support/dense.h"
#include "support/refusal.h"

namespace lbfgs_test {
using namespace mercer;
using namespace mercer::linalg;
using namespace mercer::test;

using Vector = std::vector<double>;

/// sum over pairs of 100 (b - a^2)^2 + (1 - a)^2: least at (1, ..., 1).
double rosenbrock(std::span<const double> x, std::span<double> g) {
  double value = 0;
  for (size_t i = 0; i + 1 < x.size(); i += 2) {
    const double rise = x[i + 1] - x[i] * x[i], rest = 1 - x[i];
    value += 100 * rise * rise + rest * rest;
    g[i] = -400 * rise * x[i] - 2 * rest;
    g[i + 1] = 200 * rise;
  }
  return value;
}

/// "" if the minimisation from x is refused as INVALID_ARGUMENT with that text.
std::string refused(const SmoothFunction& f, Vector x, const LbfgsOptions& options,
                    const char* text) {
  Context context;
  return refusal_fault(
      MERCER_INVALID_ARGUMENT, [&] { minimize_lbfgs(f, x, options, context); }, text);
}

/// 1/2 sum a_i (x_i - c_i)^2, a_i from 1 to condition.
struct Quadratic {
  Vector a, c;
  Quadratic(size_t size, double condition) {
    for (size_t i = 0; i < size; ++i) {
      a.push_back(std::pow(condition, static_cast<double>(i) / static_cast<double>(size - 1)));
      c.push_back(std::sin(static_cast<double>(3 * i + 1)));
    }
  }
  double operator()(std::span<const double> x, std::span<double> g) const {
    double value = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      g[i] = a[i] * (x[i] - c[i]);
      value += 0.5 * g[i] * (x[i] - c[i]);
    }
    return value;
  }
  double error(const Vector& x) const {
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(x[i] - c[i]));
    return worst;
  }
};

/// Mean logistic loss of rows of A, signs in b, + lambda/2 |x|^2.
struct Logistic {
  Matrix<double> A;
  Vector b;
  double lambda;

  double operator()(std::span<const double> x, std::span<double> g) const {
    const auto n = static_cast<double>(A.rows());
    double value = 0.5 * lambda * dot(x, x);
    for (size_t j = 0; j < x.size(); ++j) g[j] = lambda * x[j];
    for (int64_t i = 0; i < A.rows(); ++i) {
      const std::span<const double> row(A.view().row(i), x.size());
      const double margin = b[i] * dot(row, x);
      value += std::log1p(std::exp(-margin)) / n;
      add(-b[i] / (1 + std::exp(margin)) / n, row, g);
    }
    return value;
  }
  /// Newton's method with the exact second derivatives.
  Vector newton() const {
    Vector x(static_cast<size_t>(A.cols())), g(x.size());
    for (int k = 0; k < 30; ++k) {
      (*this)(x, g);
      Matrix<double> H(A.cols(), A.cols()), step(A.cols(), 1);
      H.fill(0);
      for (int64_t j = 0; j < A.cols(); ++j) {
        H(j, j) = lambda;
        step(j, 0) = g[j];
      }
      for (int64_t i = 0; i < A.rows(); ++i) {
        const double s = dot({A.view().row(i), x.size()}, x), p = 1 / (1 + std::exp(-s));
        rank_update(p * (1 - p) / static_cast<double>(A.rows()), A.view().block_rows(i, i + 1),
                    H.view());
      }
      REQUIRE(cholesky(H.view()) == 0);
      cholesky_solve(H.view(), step.view());
      for (size_t j = 0; j < x.size(); ++j) x[j] -= step(static_cast<int64_t>(j), 0);
    }
    return x;
  }
};

Logistic logistic_problem() {
  Logistic f{random_matrix(300, 12, 5), {}, 1e-3};
  for (int64_t i = 0; i < 300; ++i) {
    for (int64_t j = 0; j < 12; ++j) f.A(i, j) *= std::pow(10.0, -0.2 * static_cast<double>(j));
    f.b.push_back(f.A(i, 0) + 0.5 * std::sin(static_cast<double>(i)) > 0 ? 1 : -1);
  }
  return f;
}

double distance(const Vector& x, const Vector& y) {
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(x[i] - y[i]));
  return worst;
}

TEST_CASE("L-BFGS finds the minimum of Rosenbrock's function") {
  Context context;
  for (const size_t size : {2, 10, 100}) {
    Vector x(size);
    for (size_t i = 0; i < size; ++i) x[i] = i % 2 == 0 ? -1.2 : 1.0;
    const LbfgsResult result = minimize_lbfgs(rosenbrock, x, {}, context);
    CAPTURE(size, result.iterations, result.evaluations);
    CHECK(result.end == LbfgsEnd::gradient);
    // The least curvature at the minimum is 0.4: |x - 1| <= |gradient| / 0.4.
    CHECK(distance(x, Vector(size, 1.0)) <= std::sqrt(double(size)) * 1e-8 / 0.39);
    CHECK(result.iterations <= 100);
    CHECK(result.evaluations <= 150);
  }
}

TEST_CASE("L-BFGS solves ill-conditioned quadratics") {
  Context context;
  const std::pair<double, int64_t> cases[] = {{1.0, 10}, {1e4, 10}, {1e6, 20}};
  for (const auto& [condition, memory] : cases) {
    const Quadratic f(40, condition);
    Vector x(40);
    const LbfgsResult result = minimize_lbfgs(
        f, x, {.memory = memory, .most_iterations = 20000, .gradient_tolerance = 1e-7}, context);
    CAPTURE(condition, result.iterations, result.evaluations, result.largest_gradient);
    CHECK(result.end == LbfgsEnd::gradient);
    CHECK(f.error(x) <= 1e-7);  // the least a_i is 1
  }
}

TEST_CASE("L-BFGS: the inverse as the preconditioner needs one step") {
  Context context;
  const Quadratic f(30, 1e10);
  Vector x(30);
  LbfgsOptions options{.gradient_tolerance = 1e-4};
  options.preconditioner = [&](std::span<double> r) {
    for (size_t i = 0; i < r.size(); ++i) r[i] /= f.a[i];
  };
  const LbfgsResult result = minimize_lbfgs(f, x, options, context);
  CHECK(result.end == LbfgsEnd::gradient);
  CHECK(result.iterations == 1);
  CHECK(result.evaluations == 2);
}

// With a pair for each of six directions the first step is Newton's, up to what the pairs mix.
TEST_CASE("L-BFGS starts with what a descent near by knew of curvature") {
  Context context;
  const Quadratic first(6, 100);
  Quadratic second = first;
  for (double& c : second.c) c += 0.1;
  std::vector<CurvaturePair> pairs;
  const auto descended = [&](const Quadratic& f, std::vector<CurvaturePair>* known) {
    Vector x(6, 0.0);
    const LbfgsResult result = minimize_lbfgs(
        f, x, {.decrease_tolerance = 1e-6, .absolute = true, .pairs = known}, context);
    CHECK(result.end == LbfgsEnd::decrease);
    CHECK(result.value < 1e-5);
    return result.evaluations;
  };
  const int64_t without = descended(first, &pairs);
  CHECK((!pairs.empty() && pairs.size() <= 10));
  CHECK(2 * descended(second, &pairs) < without);
}

TEST_CASE("L-BFGS on a logistic loss agrees with Newton's method") {
  Context context;
  const Logistic f = logistic_problem();
  Vector x(12);
  const LbfgsResult result =
      minimize_lbfgs(std::cref(f), x, {.gradient_tolerance = 1e-12}, context);
  CAPTURE(result.iterations, result.evaluations, result.largest_gradient);
  CHECK(result.converged());
  // |x - x*| <= |gradient| / lambda.
  CHECK(distance(x, f.newton()) <= std::sqrt(12.0) * 1e-12 / f.lambda);
}

TEST_CASE("L-BFGS backs away from where the function is not finite") {
  Context context;
  // s x - log x beyond 0, NaN before it.
  int64_t holes = 0;
  const SmoothFunction f = [&](std::span<const double> x, std::span<double> g) {
    double value = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double s = std::pow(50.0, static_cast<double>(i));
      holes += x[i] <= 0;
      value += s * x[i] - std::log(x[i]);
      g[i] = s - 1 / x[i];
    }
    return value;
  };
  Vector x = {0.3, 0.2, 0.1};
  const LbfgsResult result = minimize_lbfgs(f, x, {.gradient_tolerance = 1e-6}, context);
  CHECK(result.end == LbfgsEnd::gradient);
  CHECK(holes > 0);
  for (size_t i = 0; i < 3; ++i) {
    const double s = std::pow(50.0, static_cast<double>(i));
    CHECK(std::abs(x[i] - 1 / s) <= 1.1e-6 / (s * s));
  }
  Vector bad = {1, -1, 1};
  CHECK(refused(f, bad, {}, "at the start, expected finite") == "");
}

TEST_CASE("L-BFGS says why it ended") {
  Context context;
  Vector x = {-1.2, 1};
  CHECK(minimize_lbfgs(rosenbrock, x, {.most_iterations = 3}, context).end == LbfgsEnd::iterations);
  x = {1, 1};
  LbfgsResult result = minimize_lbfgs(rosenbrock, x, {}, context);
  CHECK(result.end == LbfgsEnd::gradient);
  CHECK(result.iterations == 0);
  CHECK(result.evaluations == 1);
  x = {-1.2, 1};
  result = minimize_lbfgs(rosenbrock, x, {.decrease_tolerance = 0.5}, context);
  CHECK(result.end == LbfgsEnd::decrease);
  CHECK(result.converged());
  // Of a quadratic and its inverse as the preconditioner the decrement is what is left.
  const Quadratic bowl(5, 100);
  LbfgsOptions known{.gradient_tolerance = 0, .decrement_tolerance = 1.1};
  known.preconditioner = [&](std::span<double> r) {
    for (size_t i = 0; i < r.size(); ++i) r[i] /= bowl.a[i];
  };
  x.assign(5, 0.0);
  result = minimize_lbfgs(bowl, x, known, context);
  CHECK(result.end == LbfgsEnd::decrease);
  CHECK(result.iterations == 0);
  known.decrement_tolerance = 0.9;
  CHECK(minimize_lbfgs(bowl, x, known, context).iterations == 1);
  const SmoothFunction uphill = [](std::span<const double> v, std::span<double> g) {
    g[0] = -v[0];
    return 0.5 * v[0] * v[0];
  };
  x = {2};
  result = minimize_lbfgs(uphill, x, {}, context);
  CHECK(result.end == LbfgsEnd::stalled);
  CHECK(!result.converged());
  CHECK(x[0] == 2);
  const SmoothFunction linear = [](std::span<const double>, std::span<double> g) {
    g[0] = 1;
    return std::numeric_limits<double>::infinity();
  };
  CHECK(refused(linear, x, {}, "f(x) = inf") == "");
  const SmoothFunction undefined = [](std::span<const double>, std::span<double> g) {
    g[0] = std::nan("");
    return 1.0;
  };
  CHECK(refused(undefined, x, {}, "its gradient at the start") == "");
}

TEST_CASE("L-BFGS: the minimum is flat, whatever a step would bring") {
  const Quadratic bowl(4, 10);
  Context context;
  Vector x(4), g(4);
  LbfgsResult found =
      minimize_lbfgs(bowl, x, {.gradient_tolerance = 0, .decrement_tolerance = 1e-10}, context);
  CHECK(is_flat(found, bowl, 4, {.decrement_tolerance = 1e-10}));
  // As steep as at 0, and f as near to the minimum as at a corner; then no way down at all.
  for (const LbfgsEnd end : {LbfgsEnd::decrease, LbfgsEnd::stalled})
    for (const double fallen : {0.99, 0.0}) {
      LbfgsResult corner = found;
      corner.end = end;
      corner.value = (1 - fallen) * bowl(Vector(4), g);
      corner.largest_gradient =
          0.2 * std::fabs(*std::ranges::max_element(g, {}, [](double v) { return std::fabs(v); }));
      CHECK(!is_flat(corner, bowl, 4, {.decrement_tolerance = 1e-10}));
      corner.largest_gradient *= 1e-9;
      CHECK(is_flat(corner, bowl, 4, {.decrement_tolerance = 1e-10}));
      corner.largest_gradient = std::nan("");
      CHECK(!is_flat(corner, bowl, 4, {.decrement_tolerance = 1e-10}));
    }
  found.end = LbfgsEnd::iterations;
  CHECK(!is_flat(found, bowl, 4, {}));
  found.end = LbfgsEnd::gradient;
  CHECK(is_flat(found, bowl, 4, {}));
}

TEST_CASE("L-BFGS refuses options out of their domains, obeys the context") {
  Context context;
  Vector x = {-1.2, 1};
  CHECK(refused(rosenbrock, x, {.memory = 0}, "memory = 0") == "");
  CHECK(refused(rosenbrock, x, {.most_iterations = -1}, "most_iterations = -1") == "");
  CHECK(refused(rosenbrock, x, {.gradient_tolerance = -1}, "tolerance = -1") == "");
  CHECK(refused(rosenbrock, x, {.noise = std::nan("")}, "tolerance = nan") == "");
  Context small;
  small.memory_cap = 2 * 26 * 8 - 1;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, minimize_lbfgs(rosenbrock, x, {}, small), "L-BFGS needs 416");
  small.memory_cap += 1;
  CHECK(minimize_lbfgs(rosenbrock, x, {}, small).converged());
  int calls = 0;
  const SmoothFunction cancels = [&](std::span<const double> v, std::span<double> g) {
    if (++calls == 5) context.cancel();
    return rosenbrock(v, g);
  };
  x = {-1.2, 1};
  CHECK_REFUSED(MERCER_CANCELLED, minimize_lbfgs(cancels, x, {}, context), "cancelled");
  CHECK(calls == 5);
}

TEST_CASE("a Wolfe step falls and flattens") {
  // phi(t) = -t / (t^2 + 2) of More and Thuente 1994, (5.1), and a far first step of either kind.
  double last = -1;
  const auto phi = [&](double t) {
    last = t;
    const double q = t * t + 2;
    return RayPoint{t, -t / q, (t * t - 2) / (q * q)};
  };
  const RayPoint start = phi(0);
  for (const double first : {1e-3, 1e-1, 1.0, 10.0, 1e3}) {
    const RayPoint p = wolfe_step(phi, start, {.first_step = first});
    CAPTURE(first, p.step);
    CHECK(p.step == last);
    CHECK(p.value <= start.value + 1e-4 * p.step * start.slope);
    CHECK(std::abs(p.slope) <= 0.9 * std::abs(start.slope));
  }
}

}  // namespace lbfgs_test
