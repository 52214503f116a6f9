// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of predictions: finite differences of what the model predicts, for every preparation;
// of order two for scaled inputs; refusals.
#include "model/model_derivative.h"

#include "feature/fourier.h"
#include "feature/map_entry.h"
#include "model/fit_checks.h"
#include "model/predict.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/fit.h"
#include "support/kernels.h"
#include "support/worst.h"

namespace model_derivative_test {
using namespace mercer;
using feature::Derivative;
using Kind = Derivative::Kind;

constexpr int64_t n = 400, d = 4;

/// Skewed inputs of several sizes, the last one of 0 and 1; some of the first missing.
Matrix<double> inputs(bool missing) {
  auto X = test::random_matrix(n, d, 1);
  for (int64_t i = 0; i < n; ++i) {
    X(i, 1) = std::exp(3 * X(i, 1));
    X(i, 2) = 5 + 0.2 * X(i, 2);
    X(i, 3) = X(i, 3) > 0 ? 1 : 0;
    if (missing && i % 9 == 0) X(i, 0) = std::numeric_limits<double>::quiet_NaN();
  }
  return X;
}

model::Model fitted_with(const model::FitOptions& options, bool missing = false) {
  const auto X = inputs(missing);
  const auto Y = test::filled(n, 2, [&](int64_t i, int64_t o) {
    const double first = std::isnan(X(i, 0)) ? 0.3 : X(i, 0);
    return o == 0 ? std::sin(2 * first) + std::log(X(i, 1)) : first * X(i, 3) + X(i, 2);
  });
  const int64_t flags = options.prepare.missing == model::Missing::flag ? 1 : 0;
  Context context;
  const auto map = std::shared_ptr<const feature::FeatureMap>(
      feature::make_fourier(*kernel::make_gaussian({2.0}, 1), d + flags, 100, {}));
  return test::fit(map, options, MatrixView<const double>(X.view()), Y.view(), context);
}

model::FitOptions plain_options() {
  model::FitOptions options;
  options.estimate.precision = feature::Precision::f64;
  options.select.selection = model::Selection::fixed;
  options.select.lambda = 1e-4;
  return options;
}

Matrix<double> predicted(const model::Model& fitted, const Matrix<double>& X) {
  Matrix<double> scores(X.rows(), fitted.outputs());
  Context context;
  model::predict(fitted, MatrixView<const double>(X.view()), context, scores.view(),
                 model::Extrapolation::free);
  return scores;
}

Matrix<double> differentiated(const model::Model& fitted, const Derivative& what,
                              const Matrix<double>& X) {
  Matrix<double> out(X.rows(), what.blocks(X.cols()) * fitted.outputs());
  Context context;
  model::differentiate(fitted, what, X.view(), context, out.view());
  return out;
}

/// Rows between the knots of ranks, and not at the ends.
Matrix<double> probes(bool missing) {
  const auto X = inputs(missing);
  return test::filled(40, d, [&](int64_t i, int64_t j) {
    return X(i + 60, j) + (j < 3 ? 1e-4 * std::fabs(X(i + 61, 2) - 5) : 0.0);
  });
}

/// Of the gradient, relative to its largest entry: central differences in every input.
double gradient_error(const model::Model& fitted, bool missing) {
  const auto X = probes(missing);
  const auto gradient = differentiated(fitted, {Kind::gradient}, X);
  double worst = 0;
  for (int64_t k = 0; k < d; ++k) {
    const double h = 1e-7;
    const auto moved = [&](double by) {
      const auto at = test::copy(X.view());
      for (int64_t i = 0; i < X.rows(); ++i) at(i, k) += by;
      return predicted(fitted, at);
    };
    const auto above = moved(h), below = moved(-h);
    for (int64_t i = 0; i < X.rows(); ++i)
      for (int64_t o = 0; o < 2; ++o) {
        const double slope = (above(i, o) - below(i, o)) / (2 * h);
        test::keep_worst(worst, std::fabs(gradient(i, 2 * k + o) - slope));
      }
  }
  return worst / std::max(1.0, test::largest(gradient.view()));
}

TEST_CASE("model derivatives: the gradient of every preparation is that of predictions") {
  model::FitOptions options = plain_options();
  CHECK(gradient_error(fitted_with(options), false) <= 1e-6);
  options.prepare.scale = model::Scale::robust;
  CHECK(gradient_error(fitted_with(options), false) <= 1e-6);
  options = plain_options();
  options.prepare.standardize = false;
  CHECK(gradient_error(fitted_with(options), false) <= 1e-6);
  options = plain_options();
  options.prepare.unit_rows = true;
  CHECK(gradient_error(fitted_with(options), false) <= 1e-6);
  options.prepare.missing = model::Missing::flag;
  CHECK(gradient_error(fitted_with(options, true), true) <= 1e-6);
  options = plain_options();
  options.prepare.transform = model::Transform::log;
  CHECK(gradient_error(fitted_with(options), false) <= 1e-6);
  options.prepare.transform = model::Transform::rank;
  CHECK(gradient_error(fitted_with(options), false) <= 1e-5);
  options = plain_options();
  options.prepare.target_transform = model::Transform::log;
  CHECK(gradient_error(fitted_with(options), false) <= 1e-6);
  options.prepare.target_transform = model::Transform::rank;  // linear between knots
  CHECK(gradient_error(fitted_with(options), false) <= 1e-4);
}

// A score that is linear in ranks moves from level to level by the weight times the curve's steps.
TEST_CASE("model derivatives: the gradient at a level is the slope between its neighbours") {
  const auto X = test::filled(n, 1, [](int64_t i, int64_t) { return static_cast<double>(i % 5); });
  model::FitOptions options = plain_options();
  options.prepare.transform = model::Transform::rank;
  const std::shared_ptr<const feature::FeatureMap> map =
      test::made_map("exact_polynomial", {{"kernel", "polynomial"}, {"degree", int64_t{1}}}, 1, 1);
  Context context;
  const auto fitted =
      test::fit(map, options, MatrixView<const double>(X.view()), X.view(), context);
  const auto levels = test::filled(5, 1, [](int64_t i, int64_t) { return static_cast<double>(i); });
  const auto scores = predicted(fitted, levels),
             slopes = differentiated(fitted, {Kind::gradient}, levels);
  for (int64_t i = 0; i < 5; ++i) {
    const int64_t low = std::max<int64_t>(i - 1, 0), high = std::min<int64_t>(i + 1, 4);
    CHECK(slopes(i, 0) > 0.1);
    const double between = (scores(high, 0) - scores(low, 0)) / static_cast<double>(high - low);
    CHECK(std::fabs(slopes(i, 0) - between) <= 1e-9);
  }
}

TEST_CASE("model derivatives: values, second derivatives and Laplacian of scaled inputs") {
  const auto fitted = fitted_with(plain_options());
  const auto X = probes(false);
  const auto all = differentiated(fitted, {Kind::partials, {{}, {{1, 1}}, {{0, 1}, {2, 1}}}}, X);
  const auto scores = predicted(fitted, X), gradient = differentiated(fitted, {Kind::gradient}, X);
  const auto hessian = differentiated(fitted, {Kind::hessian_diagonal}, X);
  const auto laplacian = differentiated(fitted, {Kind::laplacian}, X);
  double worst = 0, second = 0;
  for (int64_t i = 0; i < X.rows(); ++i) {
    for (int64_t o = 0; o < 2; ++o) {
      test::keep_worst(worst, std::fabs(all(i, o) - scores(i, o)));
      test::keep_worst(worst, std::fabs(all(i, 2 + o) - gradient(i, 2 + o)));
      double sum = 0;
      for (int64_t k = 0; k < d; ++k) sum += hessian(i, 2 * k + o);
      test::keep_worst(worst, std::fabs(laplacian(i, o) - sum));
    }
  }
  CHECK(worst <= 1e-9 * std::max(1.0, test::largest(hessian.view())));
  const double h = 1e-5;
  for (int64_t k = 0; k < d; ++k) {
    const auto moved = [&](double by) {
      const auto at = test::copy(X.view());
      for (int64_t i = 0; i < X.rows(); ++i) at(i, k) += by;
      return differentiated(fitted, {Kind::gradient}, at);
    };
    const auto above = moved(h), below = moved(-h);
    for (int64_t i = 0; i < X.rows(); ++i) {
      for (int64_t o = 0; o < 2; ++o) {
        const auto slope = [&](int64_t of) { return (above(i, of) - below(i, of)) / (2 * h); };
        test::keep_worst(second, std::fabs(hessian(i, 2 * k + o) - slope(2 * k + o)));
        if (k == 2) test::keep_worst(second, std::fabs(all(i, 4 + o) - slope(o)));
      }
    }
  }
  CHECK(second <= 1e-6 * std::max(1.0, test::largest(hessian.view())));
}

TEST_CASE("model derivatives: refusals") {
  const auto X = probes(false);
  model::FitOptions options = plain_options();
  options.prepare.transform = model::Transform::log;
  const auto transformed = fitted_with(options);
  CHECK_REFUSED(MERCER_UNSUPPORTED, differentiated(transformed, {Kind::laplacian}, X), "transforms",
                "gradient");
  options = plain_options();
  options.prepare.target_transform = model::Transform::log;
  const auto curved = fitted_with(options);
  CHECK_REFUSED(MERCER_UNSUPPORTED, differentiated(curved, {Kind::laplacian}, X),
                "transforms targets", "gradient");
  const auto plain = fitted_with(plain_options());
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                differentiated(plain, {Kind::gradient}, test::random_matrix(3, 2, 1)), "3 x 2");
  model::FitOptions shifted = plain_options();
  shifted.prepare.standardize = false;
  const auto Z = test::random_matrix(50, 2, 1), Y = test::random_matrix(50, 1, 2);
  Context context;
  const auto map = std::shared_ptr<const feature::FeatureMap>(test::map_without_derivatives(2, 20));
  const auto model = test::fit(map, shifted, MatrixView<const double>(Z.view()), Y.view(), context);
  CHECK_REFUSED(MERCER_UNSUPPORTED, differentiated(model, {Kind::gradient}, Z), "sign");
}

TEST_CASE("model derivatives: a fit in a metric is the fit at A x, with A' times its slopes") {
  constexpr int64_t r = 3;
  const auto A = test::random_matrix(r, d, 5), X = test::random_matrix(n, d, 6);
  const auto U = test::filled(n, r, [&](int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < d; ++k) sum += A(j, k) * X(i, k);
    return sum;
  });
  const auto Y =
      test::filled(n, 1, [&](int64_t i, int64_t) { return std::sin(U(i, 0)) + U(i, 1); });
  NumberLists rows;
  for (int64_t j = 0; j < r; ++j) rows.emplace_back(A.view().row(j), A.view().row(j) + d);
  const auto fitted = [&](Parameters kernel, const Matrix<double>& inputs) {
    const Parameters spec{{"map", "fourier"},
                          {"kernel", std::make_shared<const Parameters>(std::move(kernel))},
                          {"inputs", inputs.cols()},
                          {"features", int64_t{200}}};
    const std::shared_ptr<const feature::FeatureMap> map =
        feature::make_map(feature::canonical_map(spec, "", feature::Data::refused));
    model::FitOptions options = plain_options();
    options.prepare.standardize = false;
    Context context;
    return test::fit(map, options, MatrixView<const double>(inputs.view()), Y.view(), context);
  };
  const model::Model outer = fitted({{"kernel", "metric"}, {"matrix", rows}}, X),
                     inner = fitted({{"kernel", "gaussian"}}, U);
  const auto scores = predicted(outer, X), expected = predicted(inner, U);
  const auto slopes = differentiated(outer, {Kind::gradient}, X),
             of_inner = differentiated(inner, {Kind::gradient}, U);
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    test::keep_worst(worst, std::fabs(scores(i, 0) - expected(i, 0)));
    for (int64_t k = 0; k < d; ++k) {
      double sum = 0;
      for (int64_t j = 0; j < r; ++j) sum += A(j, k) * of_inner(i, j);
      test::keep_worst(worst, std::fabs(slopes(i, k) - sum));
    }
  }
  // Rounding of A x, which a system of condition 1 / lambda magnifies.
  CHECK(worst <= 1e-8);
}

}  // namespace model_derivative_test
