// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Densities by score matching against normal equations written out plainly, the loss itself,
// integrals, closed forms of normal densities, and the score of a known mixture.
#include <numeric>
#include <random>

#include "feature/derivatives.h"
#include "io/object_file.h"
#include "memory_stream.h"
#include "model/model_derivative.h"
#include "model/rows/row_sets.h"
#include "model_problem.h"
#include "solver/normal_density.h"
#include "spec/report_spec.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/fit.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/temporary_directory.h"

namespace density_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;
using feature::Derivative;
using Kind = Derivative::Kind;

constexpr int64_t kInputs = 3;
const std::string kMap =
    R"("map":{"kernel":{"kernel":"gaussian","lengthscale":1.4},"features":40,"seed":3})";
const std::string kPlain = R"(,"precision":"f64","prepare":{"standardize":false})";

Model fitted(const std::string& keys, const Rows& X, std::span<const double> weights = {}) {
  Context context;
  return test::fit(spec::fit_plan(R"({"model":"density",)" + keys + "}"), nullptr, X, {}, weights,
                   context);
}

Matrix<double> derivatives(const Model& model, const Derivative& what, MatrixView<const double> X) {
  Matrix<double> out(X.rows, what.blocks(X.cols));
  Context context;
  differentiate(model, what, X, context, out.view());
  return out;
}

/// Correlated, skewed rows of several scales, far from the origin.
Matrix<double> skewed_rows(int64_t n, uint64_t seed) {
  const Matrix<double> U = random_matrix(n, kInputs, seed);
  return filled(n, kInputs, [&](int64_t i, int64_t j) {
    const double* const u = U.view().row(i);
    return j == 0 ? 5 + u[0] : j == 1 ? 0.3 * std::exp(u[1]) + 0.1 * u[0] : 2 * u[2] - u[0];
  });
}

std::vector<double> some_weights(int64_t n) {
  std::vector<double> weights(n);
  for (int64_t i = 0; i < n; ++i) weights[i] = static_cast<double>(i % 4) / 2;
  return weights;
}

/// Slopes of log q at the rows, and the sum of its second derivatives: q normal with the rows' mean
/// and covariance, or variances.
struct PlainBase {
  Matrix<double> slopes;
  double curvature = 0;
};
PlainBase plain_base(const Matrix<double>& X, const std::vector<double>& w,
                     const std::string& kind) {
  const int64_t n = X.rows(), d = X.cols();
  PlainBase base{filled(n, d, [](int64_t, int64_t) { return 0; })};
  if (kind == "none") return base;
  const double W = std::accumulate(w.begin(), w.end(), 0.0);
  std::vector<double> mean(d);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < d; ++k) mean[k] += w[i] * X(i, k) / W;
  Matrix<double> C(d, d), P = filled(d, d, [](int64_t i, int64_t j) { return i == j; });
  C.fill(0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < d; ++k)
      for (int64_t l = 0; l < d; ++l)
        if (k == l || kind == "normal")
          C(k, l) += w[i] * (X(i, k) - mean[k]) * (X(i, l) - mean[l]) / W;
  linalg::cholesky(C.view());
  linalg::cholesky_solve(C.view(), P.view());
  for (int64_t k = 0; k < d; ++k) base.curvature -= P(k, k);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < d; ++k)
      for (int64_t l = 0; l < d; ++l) base.slopes(i, k) -= P(k, l) * (X(i, l) - mean[l]);
  return base;
}

/// d_k phi and d_k^2 phi of the rows, each n x D, by the map's partial derivatives.
Matrix<double> partial_of(const feature::FeatureMap& map, const Matrix<double>& X, int64_t k,
                          int64_t order) {
  Matrix<double> out(X.rows(), map.features());
  Context context;
  feature::derivatives_of(map).differentiate(
      {Kind::partials, {{{k, order}}}}, MatrixView<const double>(X.view()), context, out.view());
  return out;
}
/// The same by differences of features, whose errors are of order 4.
Matrix<double> difference_of(const feature::FeatureMap& map, const Matrix<double>& X, int64_t k,
                             int64_t order) {
  constexpr double kStep = 1e-2;
  const auto features = [&](double by) {
    const Matrix<double> moved = filled(
        X.rows(), X.cols(), [&](int64_t i, int64_t j) { return X(i, j) + (j == k ? by : 0); });
    return plain_features(map, moved.view(), {});
  };
  const Matrix<double> a = features(-2 * kStep), b = features(-kStep), c = features(0),
                       d = features(kStep), e = features(2 * kStep);
  return filled(X.rows(), map.features(), [&](int64_t i, int64_t j) {
    return order == 1 ? (a(i, j) - 8 * b(i, j) + 8 * d(i, j) - e(i, j)) / (12 * kStep)
                      : (16 * (b(i, j) + d(i, j)) - a(i, j) - 30 * c(i, j) - e(i, j)) /
                            (12 * kStep * kStep);
  });
}

/// theta of (G + lambda I) theta = -h from sums in loops.
template <class Partial>
Matrix<double> plain_theta(const feature::FeatureMap& map, const Matrix<double>& X,
                           const std::vector<double>& w, const std::string& kind, double lambda,
                           const Partial& partial) {
  const int64_t n = X.rows(), D = map.features();
  const PlainBase base = plain_base(X, w, kind);
  const double W = std::accumulate(w.begin(), w.end(), 0.0);
  Matrix<double> G(D, D), theta(D, 1);
  G.fill(0);
  theta.fill(0);
  for (int64_t k = 0; k < X.cols(); ++k) {
    const Matrix<double> first = partial(map, X, k, 1), second = partial(map, X, k, 2);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < D; ++j) {
        theta(j, 0) -= w[i] / W * (first(i, j) * base.slopes(i, k) + second(i, j));
        for (int64_t l = 0; l < D; ++l) G(j, l) += w[i] / W * first(i, j) * first(i, l);
      }
  }
  for (int64_t j = 0; j < D; ++j) G(j, j) += lambda;
  linalg::cholesky(G.view());
  linalg::cholesky_solve(G.view(), theta.view());
  return theta;
}

double relative_difference(const Matrix<double>& A, const Matrix<double>& B) {
  double largest = 0;
  for (int64_t i = 0; i < B.rows(); ++i) largest = std::max(largest, std::abs(B(i, 0)));
  return largest_difference(A, B) / largest;
}

/// Rows as the model's map sees them.
Matrix<double> prepared(const Model& model, const Matrix<double>& X) {
  return filled(X.rows(), X.cols(), [&](int64_t i, int64_t j) {
    const auto c = static_cast<size_t>(j);
    const Preparation& by = model.preparation;
    return by.mean.empty() ? X(i, j) : (X(i, j) - by.mean[c]) / by.scale[c];
  });
}

TEST_CASE("density: theta solves the normal equations of score matching") {
  constexpr int64_t n = 70;
  const Matrix<double> X = skewed_rows(n, 1);
  const std::string lambda = R"(,"lambda":0.01,"precision":"f64","base":)";
  for (const std::string& map :
       {kMap,
        std::string(R"("map":{"map":"exact_polynomial","kernel":{"kernel":"polynomial",)"
                    R"("degree":3,"offset":1}})"),
        std::string(
            R"("map":{"map":"nystroem","kernel":"gaussian","features":20},"lengthscale":2)"),
        std::string(R"("map":{"kernel":{"kernel":"matern","nu":3.5},"features":50},)"
                    R"("lengthscale":1.5)")})
    for (const std::string kind : {"normal", "diagonal", "none"})
      for (const bool weighted : {false, true}) {
        INFO(map << kind << weighted);
        const std::vector<double> w = weighted ? some_weights(n) : std::vector<double>(n, 1.0);
        const Model model =
            fitted(map + lambda + '"' + kind + '"', X.view(),
                   weighted ? std::span<const double>(w) : std::span<const double>());
        const Matrix<double> U = prepared(model, X);
        const Matrix<double>& theta = linear_weights(model).w;
        CHECK(relative_difference(theta, plain_theta(*model.map, U, w, kind, 0.01, partial_of)) <=
              1e-10);
        CHECK(relative_difference(
                  theta, plain_theta(*model.map, U, w, kind, 0.01, difference_of)) <= 1e-6);
      }
}

/// J of each row from the model's own quantities; inputs are not scaled.
std::vector<double> row_losses(const Model& model, MatrixView<const double> X) {
  const Matrix<double> gradient = derivatives(model, {Kind::gradient}, X),
                       laplacian = derivatives(model, {Kind::laplacian}, X);
  std::vector<double> losses(X.rows);
  for (int64_t i = 0; i < X.rows; ++i) {
    losses[i] = laplacian(i, 0);
    for (int64_t k = 0; k < X.cols; ++k) losses[i] += 0.5 * gradient(i, k) * gradient(i, k);
  }
  return losses;
}
double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

TEST_CASE(
    "density: the penalised loss of the model's own gradient and Laplacian is least at theta") {
  const Matrix<double> X = skewed_rows(80, 2);
  const Model model = fitted(kMap + R"(,"lambda":0.02)" + kPlain, X.view());
  const auto loss_at = [&](int64_t j, double step) {
    const solver::Weights& at = linear_weights(model);
    solver::Weights moved{copy(at.w.view()), at.intercept};
    moved.w(j, 0) += step;
    double squares = 0;
    for (int64_t l = 0; l < moved.w.rows(); ++l) squares += moved.w(l, 0) * moved.w(l, 0);
    Model other = model;
    other.predictor = make_linear(std::move(moved));
    return mean_of(row_losses(other, X.view())) + 0.01 * squares;
  };
  const double least = loss_at(0, 0);
  for (int64_t j = 0; j < model.map->features(); ++j) {
    const double up = loss_at(j, 0.1), down = loss_at(j, -0.1);
    CHECK(std::abs(up - down) <= 1e-11 * std::abs(least));  // a quadratic: no error of order 3
    CHECK(std::min(up, down) > least);
  }
}

TEST_CASE("density: derivatives are those of the values, in the caller's units") {
  const Matrix<double> X = skewed_rows(90, 4);
  for (const std::string kind : {"normal", "diagonal", "none"}) {
    INFO(kind);
    const Model model =
        fitted(kMap + R"(,"lambda":1e-3,"precision":"f64","base":")" + kind + '"', X.view());
    const Matrix<double> at = skewed_rows(6, 5);
    const auto moved = [&](int64_t k, double by) {
      const Matrix<double> there = filled(
          at.rows(), kInputs, [&](int64_t i, int64_t j) { return at(i, j) + (j == k ? by : 0); });
      return predictions(model, there.view());
    };
    const auto gradient_at = [&](int64_t k, double by) {
      const Matrix<double> there = filled(
          at.rows(), kInputs, [&](int64_t i, int64_t j) { return at(i, j) + (j == k ? by : 0); });
      return derivatives(model, {Kind::gradient}, there.view());
    };
    const Matrix<double> gradient = derivatives(model, {Kind::gradient}, at.view()),
                         second = derivatives(model, {Kind::hessian_diagonal}, at.view()),
                         laplacian = derivatives(model, {Kind::laplacian}, at.view());
    const Matrix<double> partials =
        derivatives(model, {Kind::partials, {{}, {{0, 1}, {2, 1}}, {{1, 3}}}}, at.view());
    constexpr double kStep = 1e-4;
    Matrix<double> differences(at.rows(), kInputs), seconds(at.rows(), kInputs),
        others(at.rows(), 3), sums(at.rows(), 1);
    sums.fill(0);
    const Matrix<double> values = predictions(model, at.view());
    for (int64_t i = 0; i < at.rows(); ++i) others(i, 0) = values(i, 0);
    for (int64_t k = 0; k < kInputs; ++k) {
      const Matrix<double> up = moved(k, kStep), down = moved(k, -kStep),
                           to = gradient_at(k, kStep), from = gradient_at(k, -kStep);
      for (int64_t i = 0; i < at.rows(); ++i) {
        differences(i, k) = (up(i, 0) - down(i, 0)) / (2 * kStep);
        seconds(i, k) = (to(i, k) - from(i, k)) / (2 * kStep);
        sums(i, 0) += second(i, k);
        if (k == 0) others(i, 1) = (to(i, 2) - from(i, 2)) / (2 * kStep);
        if (k == 1) others(i, 2) = (to(i, 1) - 2 * gradient(i, 1) + from(i, 1)) / (kStep * kStep);
      }
    }
    CHECK(largest_difference(gradient, differences) <= 1e-4);
    CHECK(largest_difference(second, seconds) <= 1e-4);
    CHECK(largest_difference(laplacian, sums) <= 1e-9);
    CHECK(largest_difference(partials, others) <= 1e-2);  // of order 3, by two differences
  }
}

TEST_CASE("density: quadratic features have the normal density of the rows' mean and covariance") {
  const Matrix<double> X = skewed_rows(60, 6);
  const Model model =
      fitted(R"("map":{"map":"exact_polynomial","kernel":{"kernel":"polynomial","degree":2,)"
             R"("offset":1}},"base":"none","lambda":1e-13,"precision":"f64")",
             X.view());
  const PlainBase normal = plain_base(X, std::vector<double>(60, 1.0), "normal");
  CHECK(largest_difference(derivatives(model, {Kind::gradient}, X.view()), normal.slopes) <= 1e-6);
}

/// Rows of two normal densities of unit covariance, a third of them about kApart in the first two
/// inputs, the rest about -kApart, and the slopes of their density.
constexpr double kApart = 1.5;
Matrix<double> mixture_rows(int64_t n, int64_t d, uint64_t seed) {
  std::mt19937_64 words(seed);
  std::normal_distribution<double> normal;
  Matrix<double> X(n, d);
  for (int64_t i = 0; i < n; ++i) {
    const double side = words() % 3 == 0 ? kApart : -kApart;
    for (int64_t j = 0; j < d; ++j) X(i, j) = normal(words) + (j < 2 ? side : 0);
  }
  return X;
}
double mixture_slope(const double* x, int64_t k) {
  const double log_odds = 2 * kApart * (x[0] + x[1]) - std::log(2.0);
  return (k < 2 ? kApart * std::tanh(log_odds / 2) : 0) - x[k];
}
/// 1/2 E ||grad - grad log p||^2 over rows of the mixture.
double fisher_divergence(const Matrix<double>& gradient, const Matrix<double>& X) {
  double sum = 0;
  for (int64_t i = 0; i < X.rows(); ++i)
    for (int64_t k = 0; k < X.cols(); ++k)
      sum += 0.5 * std::pow(gradient(i, k) - mixture_slope(X.view().row(i), k), 2);
  return sum / static_cast<double>(X.rows());
}
/// The same of a Gaussian kernel density estimate of bandwidth h.
double kernel_divergence(const Matrix<double>& X, const Matrix<double>& T, double h) {
  Matrix<double> gradient(T.rows(), T.cols());
  gradient.fill(0);
  for (int64_t i = 0; i < T.rows(); ++i) {
    std::vector<double> weights(X.rows());
    double most = -INFINITY, sum = 0;
    for (int64_t m = 0; m < X.rows(); ++m) {
      for (int64_t k = 0; k < X.cols(); ++k)
        weights[m] -= std::pow(T(i, k) - X(m, k), 2) / (2 * h * h);
      most = std::max(most, weights[m]);
    }
    for (double& weight : weights) sum += weight = std::exp(weight - most);
    for (int64_t m = 0; m < X.rows(); ++m)
      for (int64_t k = 0; k < X.cols(); ++k)
        gradient(i, k) += weights[m] / sum * (X(m, k) - T(i, k)) / (h * h);
  }
  return fisher_divergence(gradient, T);
}

TEST_CASE("density: the score of a mixture is nearer with more features, and than by kernels") {
  constexpr int64_t n = 1500, d = 4, kSamples = 3;
  const std::vector<int64_t> features = {16, 64, 256};
  std::vector<double> means(features.size());
  double kernels = 0;
  for (uint64_t seed = 0; seed < kSamples; ++seed) {
    const Matrix<double> X = mixture_rows(n, d, 2 * seed + 31),
                         T = mixture_rows(400, d, 2 * seed + 32);
    for (size_t k = 0; k < features.size(); ++k) {
      const Model model =
          fitted(R"("map":{"features":)" + std::to_string(features[k]) + "}", X.view());
      means[k] += fisher_divergence(derivatives(model, {Kind::gradient}, T.view()), T) / kSamples;
    }
    double best = INFINITY;
    for (double h = 0.3; h < 1.2; h *= 1.2) best = std::min(best, kernel_divergence(X, T, h));
    kernels += best / kSamples;
  }
  CAPTURE(means, kernels);
  CHECK(means[1] < 0.95 * means[0]);
  CHECK(means[2] < 0.95 * means[1]);
  CHECK(means[2] < 0.85 * kernels);
}

TEST_CASE("density: with a normaliser its integral is 1, in the caller's units") {
  for (const int64_t d : {1, 2}) {
    const Matrix<double> U = mixture_rows(500, d, 13);
    const Matrix<double> X =
        filled(500, d, [&](int64_t i, int64_t j) { return 10 * j + (j == 0 ? 3 : 0.2) * U(i, j); });
    const std::string keys = R"("lengthscale":1,"precision":"f64","map":{"features":64})";
    const Model model = fitted(keys + R"(,"normaliser":20000)", X.view());
    const DensityReport& report = model.report.density;
    // A grid of cells: outside it is nothing left.
    const int64_t cells = d == 1 ? 4000 : 400;
    const int64_t count = d == 1 ? cells : cells * cells;
    const double widths[] = {60.0 / static_cast<double>(cells), 4.0 / static_cast<double>(cells)};
    const Matrix<double> grid = filled(count, d, [&](int64_t i, int64_t j) {
      const double cell = static_cast<double>(j == 0 ? i % cells : i / cells) + 0.5;
      return j == 0 ? -30 + cell * widths[0] : 8 + cell * widths[1];
    });
    const auto integral = [&](const Model& of) {
      const Matrix<double> values = predictions(of, grid.view());
      double sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += std::exp(values(i, 0));
      return sum * widths[0] * (d == 1 ? 1 : widths[1]);
    };
    CAPTURE(d, report.log_normaliser, report.normaliser_error, report.effective_draws);
    CHECK(std::abs(std::log(integral(model))) <= 4.5 * report.normaliser_error + 1e-6);
    CHECK(report.normaliser_error > 0);
    CHECK(report.normaliser_error < 0.05);
    CHECK(report.effective_draws > 1000);
    CHECK(report.effective_draws <= 20000);
    const Model open = fitted(keys, X.view());
    CHECK(std::log(integral(open)) == Approx(report.log_normaliser).margin(0.05));
    CHECK(std::isnan(open.report.density.log_normaliser));
  }
}

TEST_CASE("density: losses and errors of rows held out are those of fits without them") {
  constexpr int64_t n = 90;
  const Matrix<double> X = skewed_rows(n, 7);
  const std::string keys = kMap + kPlain + R"(,"base":"none")";
  const Model model = fitted(
      keys + R"(,"select":{"by":"folds","folds":3,"smallest":0.05,"largest":0.05,"count":1})",
      X.view());
  CHECK(model.fit.select.lambda == Approx(0.05));
  std::vector<double> losses;
  for (const Split& split : fold_splits(all_rows(n), 3, 0)) {
    const Model part = fitted(keys + R"(,"lambda":0.05)", rows_of(X, split.train).view());
    for (const double loss : row_losses(part, rows_of(X, split.held_out).view()))
      losses.push_back(loss);
  }
  const double mean = mean_of(losses);
  double squares = 0;
  for (const double loss : losses) squares += std::pow(loss - mean, 2);
  const DensityReport& report = model.report.density;
  CHECK(report.loss == Approx(mean).epsilon(1e-9));
  CHECK(report.standard_error == Approx(std::sqrt(squares / (n - 1) / n)).epsilon(1e-7));
  CHECK(report.base_loss == 0);
  CHECK(report.error_of_gain == Approx(report.standard_error).epsilon(1e-9));
  REQUIRE(model.path.size() == 1);
  CHECK(model.path[0].score == Approx(mean).epsilon(1e-9));
  CHECK(largest_difference(predictions(model, X.view()),
                           predictions(fitted(keys + R"(,"lambda":0.05)", X.view()), X.view())) <=
        1e-9);
}

TEST_CASE("density: lambda and the lengthscale are those that describe rows held out best") {
  const Matrix<double> X = mixture_rows(300, 2, 14);
  const std::string keys = R"("map":{"features":64})";
  for (const char* select : {R"({"by":"folds"})", R"({"by":"held_out","fraction":0.3})"}) {
    const std::string how = keys + R"(,"select":)" + select;
    const Model walked = fitted(how, X.view());
    const double chosen = walked.map->kernel().lengthscale()[0];
    const double loss = walked.report.density.loss;
    CHECK(loss == Approx(best_point(walked.path).score).epsilon(1e-9));
    CHECK(loss < walked.report.density.base_loss - 2 * walked.report.density.error_of_gain);
    for (const double factor : {0.5, 1.0, 2.0}) {
      const Model other =
          fitted(how + R"(,"lengthscale":)" + std::to_string(factor * chosen), X.view());
      CAPTURE(select, factor, chosen, loss, other.report.density.loss);
      CHECK(other.report.density.loss >= loss - 1e-3 * std::abs(loss));
    }
    const Model median = fitted(how + R"(,"search":false)", X.view());
    CHECK(loss <= median.report.density.loss);
    CHECK(median.map->kernel().lengthscale()[0] != chosen);
  }
}

TEST_CASE("density: a row of weight 2 is two rows, one of weight 0 none; their order is nothing") {
  constexpr int64_t n = 60;
  const Matrix<double> X = skewed_rows(n, 8);
  const std::string keys = kMap + R"(,"lambda":1e-3,"precision":"f64","normaliser":200)";
  std::vector<double> weights(n);
  std::vector<int64_t> repeated, reversed;
  for (int64_t i = 0; i < n; ++i) {
    weights[i] = static_cast<double>(i % 3);
    for (int64_t k = 0; k < i % 3; ++k) repeated.push_back(i);
    reversed.push_back(n - 1 - i);
  }
  const Matrix<double> T = skewed_rows(20, 9);
  const auto values = [&](const Rows& rows, std::span<const double> w = {}) {
    return predictions(fitted(keys, rows, w), T.view());
  };
  CHECK(largest_difference(values(X.view(), weights), values(rows_of(X, repeated).view())) <= 1e-9);
  CHECK(largest_difference(values(X.view()), values(rows_of(X, reversed).view())) <= 1e-9);
  SparseRows<double, int64_t> sparse;
  sparse.cols = kInputs;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < kInputs; ++j) sparse.add(j, X(i, j));
    sparse.end_row();
  }
  const std::string plain = kMap + R"(,"lambda":1e-3)" + kPlain;
  CHECK(largest_difference(predictions(fitted(plain, sparse.view()), T.view()),
                           predictions(fitted(plain, X.view()), T.view())) <= 1e-9);
}

TEST_CASE("density: rows of a stream give the model of rows in memory, folds included") {
  constexpr int64_t n = 80;
  const Matrix<double> X = skewed_rows(n, 10);
  const std::vector<double> weights = some_weights(n);
  const std::string keys = R"({"model":"density",)" + kMap +
                           R"(,"precision":"f64","select":{"by":"folds","folds":4,"count":5}})";
  Context context;
  MemoryStream stream(X.view(), MatrixView<const double>(nullptr, n, 0), {1, 7, 24});
  stream.weights = weights;
  const Model streamed = fit_stream(spec::fit_plan(keys), nullptr, stream, kInputs, 0, context);
  const Model model = test::fit(spec::fit_plan(keys), nullptr, X.view(), {}, weights, context);
  CHECK(largest_difference(predictions(streamed, X.view()), predictions(model, X.view())) <= 1e-8);
  CHECK(streamed.report.density.loss == Approx(model.report.density.loss).epsilon(1e-9));
}

TEST_CASE("density: a model and its report come back from a file, and damaged ones are refused") {
  const TemporaryDirectory directory;
  const Matrix<double> X = skewed_rows(70, 15);
  for (const std::string kind : {"normal", "none"}) {
    const Model model =
        fitted(kMap + R"(,"base":")" + kind + '"' + (kind == "none" ? "" : R"(,"normaliser":100)"),
               X.view());
    io::save(model, directory.file(kind));
    const auto back = io::load_model(directory.file(kind));
    CHECK(equal_bytes(predictions(*back, X.view()), predictions(model, X.view())));
    CHECK(equal_bytes(derivatives(*back, {Kind::gradient}, X.view()),
                      derivatives(model, {Kind::gradient}, X.view())));
    CHECK(spec::print_report(back->report, Task::regression) ==
          spec::print_report(model.report, Task::regression));
    CHECK(spec::print_report(model.report, Task::regression).find("\"loss\":") !=
          std::string::npos);
    Model damaged = model;
    damaged.base = kind == "none" ? fitted(kMap, X.view()).base
                                  : std::shared_ptr<const solver::NormalDensity>();
    io::save(damaged, directory.file("damaged"));
    CHECK_REFUSED(MERCER_CORRUPT_FILE, io::load_model(directory.file("damaged")), "_base");
  }
  const std::vector<double> right = {1, 2, 0.5, 0, 0.25, 2};  // mean, L
  const solver::NormalDensity normal = solver::NormalDensity::of(right, 2);
  CHECK(normal.numbers() == right);
  const double x[] = {1.5, 3};  // L^{-1} (x - m) = (1, 3/8)
  CHECK(normal.log_density(x) == Approx(-0.5 * (1 + 9.0 / 64) - std::log(2 * M_PI)).epsilon(1e-14));
  for (const std::vector<double>& wrong : {std::vector<double>{1, 2, 0.5, 0, 0.25},
                                           {1, 2, 0.5, 1, 0.25, 2},
                                           {1, 2, 0.5, 0, 0.25, 0},
                                           {1, NAN, 0.5, 0, 0.25, 2}})
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, solver::NormalDensity::of(wrong, 2), "expected");
}

TEST_CASE(
    "density: values are of inputs as they are, unless asked otherwise; NaN stays in its row") {
  const Matrix<double> X = skewed_rows(70, 16);
  const Model model = fitted(kMap + R"(,"lambda":1e-3,"precision":"f64")", X.view());
  Matrix<double> T = skewed_rows(3, 17);
  T(0, 0) = 500;
  T(1, 1) = NAN;
  const Matrix<double> values = predictions(model, T.view());
  CHECK(values(0, 0) < -1000);  // the base density's tail
  CHECK(std::isnan(values(1, 0)));
  CHECK(std::isfinite(values(2, 0)));
  const Model clipped =
      fitted(kMap + R"(,"lambda":1e-3,"prepare":{"extrapolation":"clip"})", X.view());
  CHECK(predictions(clipped, T.view())(0, 0) > -1000);
}

TEST_CASE("density: what it warns of") {
  const Matrix<double> X = mixture_rows(200, 2, 18);
  const auto warned = [&](const std::string& keys, const char* part) {
    const std::vector<std::string> all = fitted(keys, X.view()).report.warnings;
    return std::any_of(all.begin(), all.end(), [&](const std::string& text) {
      return text.find(part) != std::string::npos;
    });
  };
  const std::string path = kMap + R"(,"select":{"largest":)";
  CHECK(warned(path + R"(1e-9,"smallest":1e-10})", "largest that was tried"));
  CHECK(warned(path + R"(100,"smallest":10})", "smallest that was tried"));
  CHECK(!warned(kMap + R"(,"normaliser":2000)", "draws"));
  CHECK(!warned(kMap, "chance"));
  const Matrix<double> wide = mixture_rows(200, 4, 21);  // the last two columns are normal
  const Matrix<double> normal =
      filled(200, 2, [&](int64_t i, int64_t j) { return wide(i, j + 2); });
  CHECK(fitted(kMap, normal.view()).report.warnings.back().find("no more than chance") !=
        std::string::npos);
  // Nine narrow clusters: the base density has few draws there.
  const Matrix<double> U = random_matrix(200, 2, 20);
  const Matrix<double> narrow = filled(200, 2, [&](int64_t i, int64_t j) {
    return static_cast<double>((j == 0 ? i : i / 3) % 3 - 1) + 0.05 * U(i, j);
  });
  const Model model = fitted(
      R"("map":{"features":512},"lengthscale":0.5,"lambda":1e-6,"normaliser":2000)", narrow.view());
  CAPTURE(model.report.density.effective_draws);
  REQUIRE(model.report.warnings.size() == 1);
  CHECK(model.report.warnings[0].find("of 2000 draws") != std::string::npos);
}

TEST_CASE("density: few rows have as many folds as they can") {
  const Matrix<double> X = mixture_rows(3, 1, 22);
  const Model model = fitted(R"("map":{"features":16},"base":"none")", X.view());
  CHECK(model.fit.select.folds == 3);
  CHECK(std::isfinite(predictions(model, X.view())(0, 0)));
}

TEST_CASE("density: what it refuses") {
  const Matrix<double> X = skewed_rows(20, 19);
  const auto refuse = [&](mercer_status status, const std::string& keys, const char* part) {
    INFO(keys);
    CHECK_REFUSED(status, fitted(keys, X.view()), part);
  };
  for (const char* keys :
       {R"("ard":"on")",
        R"("assess":true)",
        R"("most_features":64)",
        R"("effort":"quick")",
        R"("select":{"by":"gcv"})",
        R"("select":{"by":"leave_one_out"})",
        R"("select":{"by":"evidence"})",
        R"("lambda":1,"select":{"by":"folds"})",
        R"("prepare":{"transform":"auto"})",
        R"("prepare":{"transform":"log"})",
        R"("prepare":{"transform":"rank"})",
        R"("prepare":{"target_transform":"log"})",
        R"("prepare":{"unit_rows":true})",
        R"("prepare":{"missing":"fill"})",
        R"("prepare":{"missing":"flag"})",
        R"("task":"classification")",
        R"("classes":2)",
        R"("ordered":true)",
        R"("outputs":"covariance")",
        R"("center":false)",
        R"("map":{"kernel":{"kernel":"curl_free"}})",
        R"("map":{"form":"complex","features":6})",
        R"("map":"exact")",
        R"("map":"random_binning")",
        R"("map":{"map":"arc_cosine","kernel":{"kernel":"arc_cosine","order":1}})"})
    refuse(MERCER_UNSUPPORTED, keys, "expected");
  refuse(MERCER_INVALID_ARGUMENT, R"("base":"none","normaliser":10)", "base = none");
  refuse(MERCER_INVALID_ARGUMENT, R"("base":"cauchy")", "cauchy");
  refuse(MERCER_INVALID_ARGUMENT, R"("lambda":-1)", "lambda");
  const auto refuse_rows = [&](mercer_status status, const Matrix<double>& rows, const char* part) {
    CHECK_REFUSED(status, fitted(kMap, rows.view()), part);
  };
  const auto changed = [&](const auto& entry) {
    return filled(20, kInputs, [&](int64_t i, int64_t j) { return j == 1 ? entry(i) : X(i, j); });
  };
  refuse_rows(MERCER_INVALID_ARGUMENT, changed([](int64_t) { return 2.0; }), "constant");
  refuse_rows(MERCER_INVALID_ARGUMENT, changed([&](int64_t i) { return 1 - 3 * X(i, 0); }),
              "linear combination");
  refuse_rows(MERCER_INVALID_ARGUMENT, changed([](int64_t i) { return i == 4 ? NAN : 1.0 * i; }),
              "row 4");
  Context context;
  const auto fit = [&](MatrixView<const double> Y, std::span<const double> groups) {
    return test::fit(spec::fit_plan(R"({"model":"density"})"), nullptr, X.view(), Y, {}, context,
                     groups);
  };
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fit(X.view(), {}), "Y.d = 3, expected 0");
  CHECK_REFUSED(MERCER_UNSUPPORTED, fit({}, std::vector<double>(20, 1.0)), "groups");
}

}  // namespace density_test
