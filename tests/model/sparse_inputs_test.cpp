// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Model sparse_inputs against the conditions of its minimum with derivatives by differences, ridge,
// and functions whose inputs are known.
#include <numeric>

#include "feature/derivatives.h"
#include "io/object_file.h"
#include "memory_stream.h"
#include "model/model_derivative.h"
#include "model_problem.h"
#include "solver/group_norms.h"
#include "spec/json.h"
#include "spec/report_spec.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/fit.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/temporary_directory.h"

namespace sparse_inputs_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

const std::string kMap =
    R"(,"map":{"kernel":{"kernel":"gaussian","lengthscale":1.4},"features":40,"seed":3})";
const std::string kPlain =
    R"(,"search":false,"precision":"f64","prepare":{"extrapolation":"free"})";

FitPlan plan(const std::string& keys, const std::string& map = kMap) {
  return spec::fit_plan(R"({"model":"sparse_inputs",)" + keys + map + kPlain + "}");
}
Model fitted(const FitPlan& plan, const Problem& problem, std::span<const double> weights = {}) {
  Context context;
  return test::fit(plan, nullptr, problem.x(), problem.y(), weights, context);
}

std::vector<double> some_weights(int64_t n) {
  std::vector<double> weights(n);
  for (int64_t i = 0; i < n; ++i) weights[i] = static_cast<double>(1 + i % 3) / 2;
  return weights;
}

/// Of the model's f at prepared rows by differences: d x n.
Matrix<double> slopes_of(const Model& model, const Matrix<double>& X, int64_t output) {
  constexpr double kStep = 1e-4;
  const Preparation& by = model.preparation;
  Matrix<double> slopes(X.cols(), X.rows());
  for (int64_t a = 0; a < X.cols(); ++a) {
    const auto at = [&](double step) {
      return predictions(model, filled(X.rows(), X.cols(), [&](int64_t i, int64_t j) {
                                  return X(i, j) +
                                         (j == a ? step * (by.scale.empty() ? 1 : by.scale[a]) : 0);
                                }).view());
    };
    const Matrix<double> above = at(kStep), below = at(-kStep);
    for (int64_t i = 0; i < X.rows(); ++i)
      slopes(a, i) = (above(i, output) - below(i, output)) / (2 * kStep);
  }
  return slopes;
}

/// sum_i w_i s_i^2 / sum_i w_i of each input, over outputs.
std::vector<double> norms_of(const Model& model, const Problem& problem,
                             const std::vector<double>& w) {
  std::vector<double> squares(problem.X.cols());
  const double W = std::accumulate(w.begin(), w.end(), 0.0);
  for (int64_t o = 0; o < problem.Y.cols(); ++o) {
    const Matrix<double> slopes = slopes_of(model, problem.X, o);
    for (int64_t a = 0; a < problem.X.cols(); ++a)
      for (int64_t i = 0; i < problem.X.rows(); ++i)
        squares[a] += w[i] * slopes(a, i) * slopes(a, i) / W;
  }
  for (double& square : squares) square = std::sqrt(square);
  return squares;
}

TEST_CASE("sparse_inputs: the report's norms are those of derivatives by differences") {
  const Problem problem = smooth_problem(80, 3, 2, 0.1, 5);
  const std::vector<double> w = some_weights(80);
  for (const char* keys : {R"("lambda":0.001,"tau":0.05)", R"("lambda":0.001,"tau":0)"}) {
    const Model model = fitted(plan(keys), problem, w);
    const std::vector<double> expected = norms_of(model, problem, w);
    REQUIRE(model.report.inputs.norms.size() == 3);
    for (size_t a = 0; a < 3; ++a)
      CHECK(std::abs(model.report.inputs.norms[a] - expected[a]) < 1e-6 * expected[a]);
  }
}

/// 1/W sum w (y - f)^2 + lambda theta'theta + 2 tau sum_a ||d_a f||, features by the map.
double objective_of(const Model& model, const Problem& problem, const std::vector<double>& w,
                    double lambda, double tau) {
  const double W = std::accumulate(w.begin(), w.end(), 0.0);
  const Matrix<double> f = predictions(model, problem.x());
  double sum = 0;
  for (int64_t i = 0; i < problem.Y.rows(); ++i)
    for (int64_t o = 0; o < problem.Y.cols(); ++o)
      sum += w[i] * std::pow(problem.Y(i, o) - f(i, o), 2) / W;
  const solver::Weights& theta = linear_weights(model);
  for (int64_t j = 0; j < theta.w.rows(); ++j)
    for (int64_t o = 0; o < theta.w.cols(); ++o) sum += lambda * theta.w(j, o) * theta.w(j, o);
  for (const double norm : norms_of(model, problem, w)) sum += 2 * tau * norm;
  return sum;
}

/// What a step along k(., z) changes the penalised error of the kernel's whole space by, as a share
/// of its parts' sizes: 1/W sum w (f - y) k(x, z) + lambda (f - b)(z) + tau sum_a 1/W sum w d_a f d_a
/// k(x, z)/||d_a f||, of one output and plain inputs.
double slope_along(const Model& model, const Problem& problem, const kernel::Kernel& kernel,
                   const Matrix<double>& z, double lambda, double tau) {
  const int64_t n = problem.X.rows(), d = problem.X.cols();
  const Matrix<double> f = predictions(model, problem.x()), slopes = slopes_of(model, problem.X, 0);
  const std::vector<double> norms = norms_of(model, problem, std::vector<double>(n, 1.0));
  double sum = lambda * (predictions(model, z.view())(0, 0) - linear_weights(model).intercept[0]);
  double size = std::abs(sum);
  const auto add = [&](double part) { sum += part, size += std::abs(part); };
  for (int64_t a = -1; a < d; ++a) {
    const auto of_k =
        kernel.differential(a < 0 ? kernel::MultiIndex() : kernel::MultiIndex{{a, 1}}, {});
    double part = 0;
    for (int64_t i = 0; i < n; ++i)
      part += of_k->at(d, problem.X.view().row(i), z.data()) / static_cast<double>(n) *
              (a < 0 ? f(i, 0) - problem.Y(i, 0) : tau * slopes(a, i) / norms[a]);
    add(part);
  }
  return std::abs(sum) / size;
}

// The minimum over all functions is sum_j alpha_j k(., x_j) + sum_ja beta_ja d_a k(., x_j).
TEST_CASE("sparse_inputs: nystroem of order 1 at all rows has the minimum of the kernel itself") {
  const Problem problem = smooth_problem(24, 3, 1, 0.1, 8);
  const std::string spec = R"({"kernel":"gaussian","lengthscale":1.2})";
  const auto kernel = kernel::make_kernel(spec::parse_object(spec));
  const auto learnt = [&](int64_t order) {
    const std::string keys =
        R"({"model":"sparse_inputs","lambda":0.01,"tau":0.05,"tolerance":1e-7,"search":false,)"
        R"("precision":"f64","prepare":{"standardize":false,"extrapolation":"free"},"map":{)"
        R"("map":"nystroem","order":)" +
        std::to_string(order) + R"(,"features":)" + std::to_string(order > 0 ? 96 : 24) +
        R"(,"kernel":)" + spec + "}}";
    return fitted(spec::fit_plan(keys), problem);
  };
  const Model whole = learnt(1), of_values = learnt(0);
  double most = 0, without = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Matrix<double> z = random_matrix(1, 3, 40 + seed);
    most = std::max(most, slope_along(whole, problem, *kernel, z, 0.01, 0.05));
    without = std::max(without, slope_along(of_values, problem, *kernel, z, 0.01, 0.05));
  }
  CAPTURE(most, without);
  CHECK(most < 1e-3);
  CHECK(without > 10 * most);
  const std::vector<double> ones(24, 1.0);
  CHECK(objective_of(whole, problem, ones, 0.01, 0.05) <
        objective_of(of_values, problem, ones, 0.01, 0.05));
}

TEST_CASE("sparse_inputs: any change of the coefficients raises the penalised error") {
  const Problem problem = smooth_problem(60, 3, 1, 0.1, 6);
  const std::vector<double> w = some_weights(60);
  constexpr double kLambda = 0.002, kTau = 0.04;
  const Model model = fitted(plan(R"("lambda":0.002,"tau":0.04,"tolerance":1e-8)"), problem, w);
  CHECK(model.report.inputs.gap <= 1e-8);
  CHECK(model.report.inputs.tau == kTau);
  const double least = objective_of(model, problem, w, kLambda, kTau);
  for (int64_t k = 0; k < 12; ++k) {
    const Matrix<double> direction = random_matrix(41, 1, 70 + k);
    for (const double step : {1e-2, -1e-2, 1e-3, -1e-3}) {
      const solver::Weights& at = linear_weights(model);
      solver::Weights moved{Matrix<double>(40, 1), {at.intercept[0] + step * direction(40, 0)}};
      for (int64_t j = 0; j < 40; ++j) moved.w(j, 0) = at.w(j, 0) + step * direction(j, 0);
      Model other = model;
      other.predictor = make_linear(std::move(moved));
      CHECK(objective_of(other, problem, w, kLambda, kTau) > least - 1e-8);
    }
  }
}

// The system by itself, where conditions of the minimum are algebra.

/// A problem of D coefficients, p outputs and d norms whose G_a have few directions.
solver::GroupNormProblem random_problem(int64_t D, int64_t p, int64_t d, int64_t rank) {
  solver::GroupNormProblem problem{Matrix<double>(D, D), random_matrix(D, p, 1), {}};
  const auto gram_of = [&](int64_t rows, uint64_t seed, const Matrix<double>& to) {
    to.fill(0);
    linalg::rank_update(1.0 / static_cast<double>(rows),
                        MatrixView<const double>(random_matrix(rows, D, seed).view()), to.view());
  };
  gram_of(3 * D, 2, problem.H);
  for (int64_t a = 0; a < d; ++a) {
    problem.G.emplace_back(D, D);
    gram_of(rank, 10 + a, problem.G.back());
  }
  return problem;
}

constexpr double kGap = 1e-6;  // rounding errors leave 1e-7 on some processors

TEST_CASE("sparse_inputs: norms are at their minimum, exactly 0 norms within the dual's ball") {
  constexpr int64_t D = 24, kNorms = 4;
  Context context;
  for (const int64_t p : {1, 3})
    for (const int64_t rank : {4, 60}) {
      const solver::GroupNormProblem problem = random_problem(D, p, kNorms, rank);
      const solver::GroupNormSystem system(random_problem(D, p, kNorms, rank), context);
      for (const double share : {0.9, 0.3, 0.05}) {
        INFO(p << ' ' << rank << ' ' << share);
        const double tau = share * system.unit();
        const auto [theta, norms, gap, steps] = system.solve(tau, kGap, context);
        CHECK(gap <= kGap);
        CHECK(steps < 100);
        // H theta - C + tau sum_a G_a theta/||theta||_a = 0 where no norm is 0.
        Matrix<double> rest(D, p);
        rest.fill(0);
        linalg::multiply_symmetric(1, problem.H.view(), theta.view(), rest.view());
        linalg::add(-1, {problem.C.data(), static_cast<size_t>(D * p)},
                    {rest.data(), static_cast<size_t>(D * p)});
        double least = kInfinity, largest = 0;
        for (int64_t a = 0; a < kNorms; ++a) {
          const double norm = norms[a];
          least = std::min(least, norm);
          if (norm > 0)
            linalg::multiply_symmetric(tau / norm, problem.G[a].view(), theta.view(), rest.view());
        }
        for (int64_t j = 0; j < D * p; ++j) largest = std::max(largest, std::abs(rest.data()[j]));
        if (least > 1e-3) CHECK(largest < 1e-3);
      }
      // From the dual norm of C on, which is at least unit(), theta is 0.
      const auto [theta, norms, gap, steps] = system.solve(100 * system.unit(), 1e-7, context);
      if (rank == 60)
        for (const double norm : norms) CHECK(norm < 1e-3);
    }
}

TEST_CASE("sparse_inputs: targets of any size, and any tau") {
  Context context;
  const solver::GroupNormSystem system(random_problem(12, 1, 3, 60), context);
  const double tau = 0.3 * system.unit();
  const solver::GroupNormSolution plain = system.solve(tau, kGap, context);
  for (const double size : {1e-120, 1e80, 1e150}) {
    INFO(size);
    solver::GroupNormProblem problem = random_problem(12, 1, 3, 60);
    for (int64_t j = 0; j < 12; ++j) problem.C.data()[j] *= size;
    const solver::GroupNormSystem scaled(std::move(problem), context);
    CHECK(scaled.unit() == Approx(size * system.unit()).epsilon(1e-12));
    const solver::GroupNormSolution found = scaled.solve(size * tau, kGap, context);
    CHECK(found.gap <= kGap);
    for (int64_t j = 0; j < 12; ++j)
      CHECK(found.theta.data()[j] == Approx(size * plain.theta.data()[j]).epsilon(1e-3));
  }
  for (const double units : {1e3, 1e9, 1e160, 1e300}) {
    INFO(units);
    const solver::GroupNormSolution none = system.solve(units * system.unit(), kGap, context);
    CHECK(none.gap <= kGap);
    for (const double norm : none.norms) CHECK(norm < 1e-3);
  }
}

TEST_CASE("sparse_inputs: of one coefficient for each norm it is the lasso in closed form") {
  // H = I and G_a = e_a e_a': theta_a = sign(c_a) max(|c_a| - tau, 0).
  constexpr int64_t D = 6;
  Context context;
  solver::GroupNormProblem problem{filled(D, D, [](int64_t i, int64_t j) { return i == j; }),
                                   filled(D, 1,
                                          [](int64_t i, int64_t) {
                                            return (i % 2 == 0 ? 1 : -1) *
                                                   (0.2 + 0.3 * static_cast<double>(i));
                                          }),
                                   {}};
  for (int64_t a = 0; a < D; ++a)
    problem.G.push_back(filled(D, D, [&](int64_t i, int64_t j) { return i == a && j == a; }));
  const Matrix<double> C = solver::copy_of(problem.C.view(), context, "C");
  const solver::GroupNormSystem system(std::move(problem), context);
  const auto solution = system.solve(0.65, 1e-12, context);
  for (int64_t a = 0; a < D; ++a) {
    const double expected = std::copysign(std::max(std::abs(C(a, 0)) - 0.65, 0.0), C(a, 0));
    CHECK(std::abs(solution.theta(a, 0) - expected) < 1e-6);
    CHECK(std::abs(solution.norms[a] - std::abs(expected)) < 1e-6);
  }
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, system.solve(-1, 1e-6, context), "tau");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, system.solve(kNaN, 1e-6, context), "tau");
  CHECK(system.solve(0.65, 0, context).gap < 1e-12);
}

TEST_CASE("sparse_inputs: without a penalty it is ridge, with little it is near") {
  const Problem problem = smooth_problem(100, 3, 2, 0.1, 8);
  const std::vector<double> w = some_weights(100);
  const FitPlan ridge = spec::fit_plan(R"({"model":"ridge","lambda":0.001)" + kMap + kPlain + "}");
  const Matrix<double> expected = predictions(fitted(ridge, problem, w), problem.x());
  const auto distance = [&](const char* keys) {
    return largest_difference(predictions(fitted(plan(keys), problem, w), problem.x()), expected);
  };
  CHECK(distance(R"("lambda":0.001,"tau":0)") < 1e-8);
  CHECK(distance(R"("lambda":0.001,"tau":1e-12,"tolerance":1e-9)") < 1e-8);
  CHECK(distance(R"("lambda":0.001,"tau":0.1)") > 1e-2);
}

TEST_CASE("sparse_inputs: a stream, complex features and a file give the same model") {
  const Problem problem = smooth_problem(90, 3, 1, 0.1, 9);
  Context context;
  CHECK_REFUSED(MERCER_UNSUPPORTED, fitted(plan(R"("lambda":0.001,"select":{"folds":3})"), problem),
                "select");
  const FitPlan open = plan(R"("select":{"folds":3,"smallest":1e-5,"largest":0.1,"count":3})");
  const Model model = fitted(open, problem);
  CHECK(model.report.inputs.path.size() == 13);
  CHECK(model.path.size() == 3);
  FitPlan of_stream =
      plan(R"("lengthscale":1.4,"select":{"folds":3,"smallest":1e-5,"largest":0.1,"count":3})",
           R"(,"map":{"kernel":"gaussian","features":40,"seed":3})");
  MemoryStream stream(problem.x(), problem.y(), {17, 5});
  const Model streamed = test::fit_stream(of_stream, nullptr, stream, 3, 1, context);
  CHECK(largest_difference(predictions(streamed, problem.x()), predictions(model, problem.x())) <
        1e-6);
  CHECK(streamed.report.inputs.tau == Approx(model.report.inputs.tau));
  CHECK(streamed.report.inputs.selected == model.report.inputs.selected);
  const TemporaryDirectory directory;
  io::save(model, directory.file("model"));
  const auto back = io::load_model(directory.file("model"));
  const InputsReport& kept = back->report.inputs;
  CHECK(kept.norms == model.report.inputs.norms);
  CHECK(kept.selected == model.report.inputs.selected);
  CHECK(kept.path.size() == 13);
  CHECK(kept.path[3].loss == model.report.inputs.path[3].loss);
  CHECK(kept.tau == model.report.inputs.tau);
  CHECK(kept.gap == model.report.inputs.gap);

  const Model complex =
      fitted(plan(R"("lambda":0.001,"tau":0.05)",
                  R"(,"map":{"form":"complex","kernel":{"kernel":"gaussian","lengthscale":1.4},)"
                  R"("features":20,"seed":3})"),
             problem);
  const Model pairs = fitted(plan(R"("lambda":0.001,"tau":0.05)"), problem);
  CHECK(largest_difference(predictions(complex, problem.x()), predictions(pairs, problem.x())) <
        1e-6);
}

/// Three of eight inputs matter.
Problem sparse_problem(int64_t n, uint64_t seed) {
  Problem problem{random_matrix(n, 8, seed), random_matrix(n, 1, seed + 500)};
  for (int64_t i = 0; i < n; ++i)
    problem.Y(i, 0) = std::sin(2 * problem.X(i, 1)) + 2 * problem.X(i, 4) * problem.X(i, 6) +
                      0.1 * problem.Y(i, 0);
  return problem;
}
double error_of(const Model& model, const Problem& fresh) {
  const Matrix<double> f = predictions(model, fresh.x());
  double sum = 0;
  for (int64_t i = 0; i < fresh.Y.rows(); ++i) sum += std::pow(f(i, 0) - fresh.Y(i, 0), 2);
  return sum / static_cast<double>(fresh.Y.rows());
}

TEST_CASE("sparse_inputs: the inputs that matter are found, and predictions gain") {
  const std::string map =
      R"(,"map":{"kernel":{"kernel":"gaussian","lengthscale":3},"features":256})";
  const std::vector<int64_t> expected{1, 4, 6};
  double of_sparse = 0, of_ridge = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Problem problem = sparse_problem(300, seed), fresh = sparse_problem(500, seed + 100);
    const Model model = fitted(plan(R"("seed":)" + std::to_string(seed), map), problem);
    CHECK(model.report.inputs.selected == expected);
    CHECK(model.report.inputs.tau > 0);
    of_sparse += error_of(model, fresh);
    of_ridge +=
        error_of(fitted(plan(R"("tau":0,"seed":)" + std::to_string(seed), map), problem), fresh);
  }
  CHECK(of_sparse < 0.95 * of_ridge);
}

TEST_CASE("sparse_inputs: polynomial features leave an input out altogether") {
  const std::string map =
      R"(,"map":{"map":"exact_polynomial","kernel":{"kernel":"polynomial","degree":2,"gamma":1,)"
      R"("offset":1},"features":45})";
  Problem problem = sparse_problem(300, 3);
  for (int64_t i = 0; i < 300; ++i)
    problem.Y(i, 0) = problem.X(i, 0) + problem.X(i, 2) * problem.X(i, 2) +
                      0.01 * random_matrix(1, 1, static_cast<uint64_t>(i))(0, 0);
  const Model model = fitted(plan(R"("lambda":1e-6,"tau":0.05,"tolerance":1e-9)", map), problem);
  CHECK(model.report.inputs.selected == std::vector<int64_t>{0, 2});
  for (size_t a = 0; a < 8; ++a)
    if (a != 0 && a != 2) CHECK(model.report.inputs.norms[a] < 1e-5);
}

TEST_CASE("sparse_inputs: what does not go together is refused") {
  const Problem problem = smooth_problem(40, 3, 1, 0.1, 8), two = smooth_problem(40, 3, 2, 0.1, 8);
  const auto refused = [&](const std::string& keys, const char* says,
                           const std::string& map = kMap) {
    CHECK_REFUSED(MERCER_UNSUPPORTED, fitted(plan(keys, map), problem), says);
  };
  refused(R"("lambda":0.1,"task":"classification","classes":2)", "classification");
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                fitted(spec::fit_plan(R"({"model":"sparse_inputs","lambda":0.1,"search":false,)"
                                      R"("prepare":{"unit_rows":true}})"),
                       problem),
                "unit_rows");
  refused(R"("select":{"by":"gcv"})", "select.by");
  refused(R"("lambda":0.1)", "exact", R"(,"map":{"map":"exact","kernel":"gaussian"})");
  refused(R"("lambda":0.1)", "derivatives",
          R"(,"map":{"map":"sign","kernel":"sign","features":8})");
  CHECK_REFUSED(MERCER_UNSUPPORTED, fitted(plan(R"("lambda":0.1,"outputs":"covariance")"), two),
                "outputs");
  for (const char* keys : {R"("lambda":0,"tau":1)", R"("lambda":0.1,"tau":-1)",
                           R"("lambda":0.1,"threshold":2)", R"("lambda":0.1,"tolerance":0)"})
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fitted(plan(keys), problem), "expected");
  Context small;
  small.memory_cap = 100000;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY,
                test::fit(plan(R"("lambda":0.1,"tau":1)", R"(,"map":{"features":512})"), nullptr,
                          problem.x(), problem.y(), {}, small),
                "");
}

}  // namespace sparse_inputs_test
