// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Hermite learning: the reference numbers, ridge where there are values alone, stationarity of the
// stated sum for mixed sets with an intercept, weights as repeated rows, posteriors by dense algebra,
// the dual problem by derivatives of the kernel, refusals.
#include "model/hermite.h"

#include "feature/derivatives.h"
#include "feature/fourier.h"
#include "linalg/blas.h"
#include "model/estimator/model_entry.h"
#include "model/model_derivative.h"
#include "model/predict.h"
#include "model/rows/row_sets.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/fit.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/reference.h"
#include "support/worst.h"

namespace hermite_test {
using namespace mercer;
using model::HermiteOptions, model::Observations;

std::shared_ptr<const feature::FeatureMap> fourier(int64_t d, int64_t D) {
  return feature::make_fourier(*kernel::make_gaussian({1.2}, 1), d, D, {});
}

const solver::Weights& weights_of(const model::Model& fitted) {
  return model::linear_weights(fitted);
}

model::Model fitted_to(std::shared_ptr<const feature::FeatureMap> map,
                       const std::vector<Observations>& sets, const HermiteOptions& options = {}) {
  Context context;
  return model::fit_hermite(std::move(map), sets, options, context);
}

Matrix<double> derivative_of(const feature::FeatureMap& map, const kernel::MultiIndex& p,
                             MatrixView<const double> X) {
  Matrix<double> Z(X.rows, map.features());
  Context context;
  derivatives_of(map).differentiate({feature::Derivative::Kind::partials, {p}}, X, context,
                                    Z.view());
  return Z;
}

/// Half the gradient of the stated sum in theta (D entries a column) and in the intercept (last
/// row).
Matrix<double> stationarity(const feature::FeatureMap& map, const std::vector<Observations>& sets,
                            const solver::Weights& weights, double n_lambda) {
  const int64_t D = map.features(), m = weights.w.cols();
  Matrix<double> slope(D + 1, m);
  for (int64_t o = 0; o < m; ++o) {
    for (int64_t j = 0; j < D; ++j) slope(j, o) = n_lambda * weights.w(j, o);
    slope(D, o) = 0;
  }
  for (const Observations& set : sets) {
    const auto Z = derivative_of(map, set.partial, set.X);
    const double one = set.partial.empty() ? 1 : 0;
    for (int64_t i = 0; i < set.X.rows; ++i) {
      const double weight = set.weight * (set.row_weights.empty() ? 1 : set.row_weights[i]);
      for (int64_t o = 0; o < m; ++o) {
        double residual = one * weights.intercept[o] - set.Y(i, o);
        for (int64_t j = 0; j < D; ++j) residual += Z(i, j) * weights.w(j, o);
        for (int64_t j = 0; j < D; ++j) slope(j, o) += weight * residual * Z(i, j);
        slope(D, o) += weight * residual * one;
      }
    }
  }
  return slope;
}

TEST_CASE("Hermite learning: the reference numbers") {
  REQUIRE(test::oracle("derivatives")["hermite"].size() == 1);
  for (const auto& set : test::oracle("derivatives")["hermite"]) {
    const auto d = static_cast<int64_t>(set["W"].size());
    const auto F = static_cast<int64_t>(set["W"][0].size());
    const auto n = static_cast<int64_t>(set["X"].size());
    const auto W =
        test::filled(F, d, [&](int64_t j, int64_t k) { return set["W"][k][j].get<double>(); });
    const auto X =
        test::filled(n, d, [&](int64_t i, int64_t k) { return set["X"][i][k].get<double>(); });
    const auto Y =
        test::filled(static_cast<int64_t>(set["p"].size()), n,
                     [&](int64_t s, int64_t i) { return set["targets"][i][s].get<double>(); });
    std::vector<Observations> sets;
    for (int64_t s = 0; s < Y.rows(); ++s) {
      kernel::MultiIndex p;
      for (int64_t k = 0; k < d; ++k)
        if (set["p"][s][k] != 0) p.push_back({k, set["p"][s][k]});
      sets.push_back({p, set["weights"][s], X.view(), {Y.view().row(s), n, 1}, {}});
    }
    const auto fitted = fitted_to(
        feature::make_fourier_supplied(*kernel::make_gaussian({1.0}, 1.0), W.view(), {}, {}), sets,
        {.lambda = set["lambda"], .center = false});
    double worst = 0;
    for (int64_t j = 0; j < 2 * F; ++j)
      test::keep_worst(worst, std::fabs(weights_of(fitted).w(j, 0) -
                                        set["theta_block_layout"][j].get<double>()));
    CHECK(worst <= 1e-10);
    CHECK(weights_of(fitted).intercept[0] == 0);
  }
}

TEST_CASE("Hermite learning: fits whose row weights follow residuals end at Huber's loss") {
  const int64_t n = 40, d = 2;
  const auto map = fourier(d, 60);
  const Matrix<double> X = test::random_matrix(n, d, 5), noise = test::random_matrix(n, 2, 6);
  const auto f = [&](int64_t i) { return std::sin(2 * X(i, 0)) + X(i, 1); };
  Matrix<double> values(n, 1), slopes(n, 1);
  for (int64_t i = 0; i < n; ++i) {
    values(i, 0) = f(i) + 0.05 * noise(i, 0) + (i % 8 == 0 ? 5 : 0);  // outliers of both
    slopes(i, 0) = 2 * std::cos(2 * X(i, 0)) + 0.05 * noise(i, 1) - (i % 9 == 0 ? 8 : 0);
  }
  constexpr double kDelta = 0.1, kLambda = 1e-3;
  std::vector<double> weights[2] = {std::vector<double>(n, 1.0), std::vector<double>(n, 1.0)};
  const auto sets = [&] {
    return std::vector<Observations>{{{}, 1.0, X.view(), values.view(), weights[0]},
                                     {{{0, 1}}, 0.5, X.view(), slopes.view(), weights[1]}};
  };
  const auto error = [&](const solver::Weights& w) {
    const Matrix<double> Z = derivative_of(*map, {}, X.view());
    double worst = 0;
    for (int64_t i = 0; i < n; ++i) {
      double value = w.intercept[0];
      for (int64_t j = 0; j < map->features(); ++j) value += Z(i, j) * w.w(j, 0);
      test::keep_worst(worst, std::fabs(value - f(i)));
    }
    return worst;
  };
  const double of_squares = error(weights_of(fitted_to(map, sets(), {.lambda = kLambda})));
  double slope = 0, of_huber = 0;
  for (int step = 0; step < 400; ++step) {
    const model::Model model = fitted_to(map, sets(), {.lambda = kLambda});
    const solver::Weights& w = weights_of(model);
    for (size_t s = 0; s < 2; ++s) {
      const Observations set = sets()[s];
      const Matrix<double> Z = derivative_of(*map, set.partial, X.view());
      for (int64_t i = 0; i < n; ++i) {
        double residual = (s == 0 ? w.intercept[0] : 0) - set.Y(i, 0);
        for (int64_t j = 0; j < map->features(); ++j) residual += Z(i, j) * w.w(j, 0);
        weights[s][static_cast<size_t>(i)] = std::min(1.0, kDelta / std::fabs(residual));
      }
    }
    // Residuals times these weights are Huber's slopes at w, so that this is his objective's.
    const Matrix<double> gradient = stationarity(*map, sets(), w, kLambda * n);
    slope = 0;
    for (int64_t j = 0; j <= map->features(); ++j)
      test::keep_worst(slope, std::fabs(gradient(j, 0)));
    of_huber = error(w);
  }
  CHECK(slope <= 1e-8);
  CHECK(of_huber <= 0.25 * of_squares);
}

TEST_CASE("Hermite learning: values alone are ridge regression, centred or not") {
  const int64_t n = 1500, d = 3;
  const auto X = test::random_matrix(n, d, 1), Y = test::random_matrix(n, 2, 2);
  const auto map = fourier(d, 60);
  for (const bool center : {false, true}) {
    model::FitOptions options;
    options.estimate.parameters = {};
    options.prepare.standardize = false;
    options.estimate.center = center;
    options.estimate.precision = feature::Precision::f64;
    options.select.selection = model::Selection::fixed;
    options.select.lambda = 1e-3;
    Context context;
    const auto plain =
        test::fit(map, options, MatrixView<const double>(X.view()), Y.view(), context);
    const auto hermite =
        fitted_to(map, {{{}, 1, X.view(), Y.view(), {}}}, {.lambda = 1e-3, .center = center});
    CHECK(test::difference(weights_of(hermite).w.view(), weights_of(plain).w.view(), 1e-9) == "");
    for (size_t o = 0; o < 2; ++o)
      CHECK(std::fabs(weights_of(hermite).intercept[o] - weights_of(plain).intercept[o]) <= 1e-9);
    Matrix<double> scores(n, 2), expected(n, 2);
    model::predict(hermite, MatrixView<const double>(X.view()), context, scores.view());
    model::predict(plain, MatrixView<const double>(X.view()), context, expected.view());
    CHECK(test::difference(scores.view(), expected.view(), 1e-9) == "");
  }
}

TEST_CASE("Hermite learning: the stated sum is stationary, whatever rows each set has") {
  const int64_t d = 3, D = 40;
  const auto map = fourier(d, D);
  const auto X = test::random_matrix(1100, d, 1), Y = test::random_matrix(1100, 2, 2);
  const auto X1 = test::random_matrix(300, d, 3), Y1 = test::random_matrix(300, 2, 4);
  std::vector<double> each(300);
  for (size_t i = 0; i < each.size(); ++i) each[i] = static_cast<double>(i % 4);
  const std::vector<Observations> all = {
      {{}, 0.7, X.view(), Y.view(), {}},
      {{{1, 1}}, 1.9, X1.view(), Y1.view(), each},
      {{{0, 1}, {2, 1}}, 0.2, X1.view().block_rows(0, 40), Y1.view().block_rows(0, 40), {}},
      {{}, 2, X1.view().block_rows(0, 10), Y1.view().block_rows(0, 10), {}}};
  const std::vector<Observations> derivatives(all.begin() + 1, all.begin() + 3);
  for (const bool center : {false, true}) {
    for (const auto& sets : {all, derivatives}) {
      const int64_t n = sets.size() == 4 ? 1110 : 300;
      const auto fitted = fitted_to(map, sets, {.lambda = 1e-4, .center = center});
      const auto slope =
          stationarity(*map, sets, weights_of(fitted), 1e-4 * static_cast<double>(n));
      const int64_t rows = center ? D + 1 : D;
      CHECK(test::largest(slope.view().block_rows(0, rows)) <= 1e-9 * 1100);
      if (!center || sets.size() == 2) CHECK(weights_of(fitted).intercept[0] == 0);
    }
  }
}

TEST_CASE("Hermite learning: a weight of two is the row twice") {
  const int64_t d = 2;
  const auto map = fourier(d, 20);
  const auto X = test::random_matrix(50, d, 1), Y = test::random_matrix(50, 1, 2);
  const std::vector<double> twice(50, 2.0);
  const Observations values{{}, 1, X.view(), Y.view(), {}};
  const Observations once{{{0, 1}}, 1, X.view(), Y.view(), {}};
  Observations doubled = once;
  doubled.weight = 2;
  Observations by_row = once;
  by_row.row_weights = twice;
  const auto expected = fitted_to(map, {values, once, once});
  for (const Observations& other : {doubled, by_row})
    CHECK(test::difference(weights_of(fitted_to(map, {values, other})).w.view(),
                           weights_of(expected).w.view(), 1e-9) == "");
}

/// Some rows of a set.
struct PartOf {
  Matrix<double> X, Y;
  Observations set;
  PartOf(const Observations& of, const std::vector<int64_t>& rows)
      : X(of_rows(of.X, rows)), Y(of_rows(of.Y, rows)), set(of) {
    set.X = X.view();
    set.Y = Y.view();
  }
  static Matrix<double> of_rows(MatrixView<const double> A, const std::vector<int64_t>& rows) {
    return test::filled(std::ssize(rows), A.cols,
                        [&](int64_t i, int64_t j) { return A(rows[i], j); });
  }
};

TEST_CASE("Hermite learning: lambda is of least error on rows held out, places together") {
  constexpr int64_t n = 30;
  const auto map = fourier(2, 24);
  const auto X = test::random_matrix(n, 2, 5), other = test::random_matrix(n, 2, 6),
             noise = test::random_matrix(n, 3, 7);
  const auto Y = test::filled(n, 1, [&](int64_t i, int64_t) {
    return 2 + std::sin(2 * X(i, 0)) + X(i, 1) + 0.3 * noise(i, 0);
  });
  const auto slopes = test::filled(
      n, 1, [&](int64_t i, int64_t) { return 2 * std::cos(2 * X(i, 0)) + 0.3 * noise(i, 1); });
  const auto curves = test::filled(
      n, 1, [&](int64_t i, int64_t) { return -4 * std::sin(2 * other(i, 0)) + 0.3 * noise(i, 2); });
  const std::vector<Observations> sets = {{{}, 1, X.view(), Y.view(), {}},
                                          {{{0, 1}}, 0.5, X.view(), slopes.view(), {}},
                                          {{{0, 2}}, 0.1, other.view(), curves.view(), {}}};
  std::vector<double> places;
  for (int64_t i = 0; i < 3 * n; ++i) places.push_back(i < 2 * n ? i % n : i);
  model::SelectionOptions how{.selection = model::Selection::folds,
                              .lambda_largest = 1,
                              .lambda_smallest = 1e-6,
                              .lambda_count = 7,
                              .folds = 3,
                              .seed = 4};
  const model::Model fitted = fitted_to(map, sets, {.select = how});
  REQUIRE(fitted.path.size() == 7);
  const auto splits = model::fold_splits(model::all_rows(3 * n), 3, 4, {.groups = places});
  for (const model::PathPoint& point : fitted.path) {
    double errors = 0, weight = 0;
    for (const model::Split& split : splits) {
      std::vector<PartOf> train, held_out;
      for (size_t s = 0; s < sets.size(); ++s) {
        const auto own = [&](const std::vector<int64_t>& of) {
          std::vector<int64_t> rows;
          for (const int64_t row : of)
            if (row / n == static_cast<int64_t>(s)) rows.push_back(row % n);
          return rows;
        };
        train.emplace_back(sets[s], own(split.train));
        held_out.emplace_back(sets[s], own(split.held_out));
      }
      const auto learned =
          fitted_to(map, {train[0].set, train[1].set, train[2].set}, {.lambda = point.lambda});
      const solver::Weights& weights = weights_of(learned);
      for (const PartOf& part : held_out) {
        const auto Z = derivative_of(*map, part.set.partial, part.set.X);
        const auto values = test::product(Z.view(), weights.w.view());
        const double intercept = part.set.partial.empty() ? weights.intercept[0] : 0;
        for (int64_t i = 0; i < Z.rows(); ++i) {
          errors += part.set.weight * std::pow(values(i, 0) + intercept - part.Y(i, 0), 2);
          weight += part.set.weight;
        }
      }
    }
    CHECK(point.score == Approx(errors / weight).epsilon(1e-8));
  }
  const double lambda = model::best_point(fitted.path).lambda;
  CHECK(fitted.fit.select.lambda == lambda);
  CHECK(lambda < fitted.path.front().lambda);
  CHECK(lambda > fitted.path.back().lambda);
  CHECK(test::difference(weights_of(fitted).w.view(),
                         weights_of(fitted_to(map, sets, {.lambda = lambda})).w.view(),
                         1e-9) == "");
}

TEST_CASE("Hermite learning: without lambda derivatives determine what values leave open") {
  const auto map = fourier(2, 20);
  const auto X = test::random_matrix(8, 2, 8), Y = test::random_matrix(8, 3, 9);
  std::vector<Observations> sets = {{{}, 1, X.view(), Y.view().block_cols(0, 1), {}},
                                    {{{0, 1}}, 1, X.view(), Y.view().block_cols(1, 2), {}},
                                    {{{1, 1}}, 1, X.view(), Y.view().block_cols(2, 3), {}}};
  const auto fitted = fitted_to(map, sets, {.lambda = 0});
  const Matrix<double> slope = stationarity(*map, sets, weights_of(fitted), 0);
  double largest = 0;
  for (int64_t j = 0; j < slope.rows(); ++j) largest = std::max(largest, std::abs(slope(j, 0)));
  CHECK(largest <= 1e-7);
}

HermiteOptions of_gp(double noise) {
  HermiteOptions options{.lambda = 1e-3, .entry = &model::gp_model()};
  options.parameters = model::default_parameters(*options.entry);
  if (noise > 0) options.parameters.set("noise", noise);
  return options;
}

/// Sets of values and of two slopes, places and weights of their own.
struct ThreeSets {
  Matrix<double> X = test::random_matrix(25, 2, 1), X1 = test::random_matrix(14, 2, 3),
                 Y = test::random_matrix(25, 2, 2), Y1 = test::random_matrix(14, 2, 4);
  std::vector<double> each;
  std::vector<Observations> sets;
  ThreeSets() {
    for (size_t i = 0; i < 14; ++i) each.push_back(static_cast<double>(i % 4));
    sets = {{{}, 0.7, X.view(), Y.view(), {}},
            {{{0, 1}}, 1.9, X1.view(), Y1.view(), each},
            {{{1, 1}}, 0.4, X.view().block_rows(0, 9), Y.view().block_rows(9, 18), {}}};
  }
};

// With [Phi 1] of values and [dPhi 0] of derivatives as rows and an intercept of no penalty.
TEST_CASE("Hermite learning: gp is the posterior of one dense system") {
  constexpr int64_t kFeatures = 20;
  const auto map = fourier(2, kFeatures);
  const ThreeSets of;
  const auto T = test::random_matrix(6, 2, 9);
  for (const bool center : {false, true})
    for (const double noise : {0.0, 0.3}) {
      CAPTURE(center, noise);
      HermiteOptions options = of_gp(noise);
      options.center = center;
      const model::Model fitted = fitted_to(map, of.sets, options);
      REQUIRE(fitted.posterior != nullptr);
      const int64_t r = kFeatures + center;
      const auto row_of = [&](const kernel::MultiIndex& p, MatrixView<const double> x) {
        const auto Z = derivative_of(*map, p, x);
        return test::filled(x.rows, r, [&](int64_t i, int64_t j) {
          return j < kFeatures ? Z(i, j) : p.empty() ? 1.0 : 0.0;
        });
      };
      Matrix<double> A(r, r), Q(r, r);
      A.fill(0), Q.fill(0);
      double observed = 0, squares[2] = {0, 0};
      for (const Observations& set : of.sets) {
        const auto Z = row_of(set.partial, set.X);
        for (int64_t i = 0; i < Z.rows(); ++i) {
          const double w = set.weight * (set.row_weights.empty() ? 1 : set.row_weights[i]);
          observed += w > 0;
          for (int64_t a = 0; a < r; ++a)
            for (int64_t b = 0; b < r; ++b) Q(a, b) += w * Z(i, a) * Z(i, b);
          for (int64_t o = 0; o < 2; ++o) {
            double rest = set.Y(i, o);
            for (int64_t a = 0; a < r; ++a)
              rest -= Z(i, a) * (a < kFeatures ? weights_of(fitted).w(a, o)
                                               : weights_of(fitted).intercept[o]);
            squares[o] += w * rest * rest;
          }
        }
      }
      A = test::copy(Q.view());
      for (int64_t a = 0; a < kFeatures; ++a) A(a, a) += 25 * 1e-3;
      REQUIRE(linalg::cholesky(A.view()) == 0);
      const auto solved = [&](const Matrix<double>& B) {
        Matrix<double> S = test::copy(B.view());
        linalg::cholesky_solve(A.view(), S.view());
        return S;
      };
      const Matrix<double> H = solved(Q);
      double trace = 0;
      for (int64_t a = 0; a < r; ++a) trace += H(a, a);
      CHECK(fitted.posterior->effective_dimension() == Approx(trace).epsilon(1e-8));
      Context context;
      Matrix<double> variances(6, 2), slopes(6, 2);
      model::variance(fitted, MatrixView<const double>(T.view()), model::Spread::latent, context,
                      variances.view());
      fitted.posterior->slope_variance(derivative_of(*map, {{1, 1}}, T.view()).view(), context,
                                       slopes.view());
      for (int64_t o = 0; o < 2; ++o) {
        const double s2 = noise > 0 ? noise : squares[o] / (observed - trace);
        CHECK(fitted.posterior->noise(o) == Approx(s2).epsilon(1e-8));
        for (const bool is_slope : {false, true}) {
          const Matrix<double> Z =
              row_of(is_slope ? kernel::MultiIndex{{1, 1}} : kernel::MultiIndex(), T.view());
          const Matrix<double> S = solved(test::transposed(Z.view()));
          for (int64_t i = 0; i < 6; ++i) {
            double expected = 0;
            for (int64_t a = 0; a < r; ++a) expected += s2 * Z(i, a) * S(a, i);
            CHECK((is_slope ? slopes : variances)(i, o) == Approx(expected).epsilon(1e-7));
          }
        }
      }
    }
}

/// Rows of all sets, each a functional of f.
struct Functional {
  const kernel::MultiIndex& partial;
  const double* x;
  double y, weight;
};

// Szabo, Sriperumbudur 2019, equation 5: f = sum_s alpha_s d^{p_s} k(., x_s), alpha = (K + n lambda
// W^{-1})^{-1} y with K of derivatives of k in both arguments. Of map nystroem with the values and
// first derivatives at all places it is the fit on features.
TEST_CASE(
    "Hermite learning: nystroem of order 1 is the problem's dual, its posterior the process") {
  const auto kernel = kernel::make_gaussian({1.1}, 1.3);
  const auto X = test::random_matrix(12, 2, 1), X1 = test::random_matrix(8, 2, 3),
             Y = test::random_matrix(12, 1, 2), Y1 = test::random_matrix(8, 1, 4),
             T = test::random_matrix(7, 2, 5);
  const std::vector<Observations> sets = {{{}, 1, X.view(), Y.view(), {}},
                                          {{{0, 1}}, 0.6, X1.view(), Y1.view(), {}},
                                          {{{1, 1}}, 2, X1.view(), Y.view().block_rows(0, 8), {}}};
  const auto places =
      test::filled(20, 2, [&](int64_t i, int64_t k) { return i < 12 ? X(i, k) : X1(i - 12, k); });
  const auto map_of_order = [&](int64_t order) {
    Context context;
    const Rows rows(MatrixView<const double>(places.view()));
    const Parameters given{{"map", "nystroem"},
                           {"kernel", std::make_shared<const Parameters>(kernel->parameters())},
                           {"inputs", int64_t{2}},
                           {"features", order > 0 ? int64_t{60} : int64_t{20}},
                           {"landmarks", "supplied"},
                           {"order", order}};
    return std::shared_ptr<const feature::FeatureMap>(
        feature::make_map(feature::canonical_map(given, "", feature::Data::refused),
                          {.rows = &rows, .context = &context}));
  };
  std::vector<Functional> all;
  for (const Observations& set : sets)
    for (int64_t i = 0; i < set.X.rows; ++i)
      all.push_back({set.partial, set.X.row(i), set.Y(i, 0), set.weight});
  const auto m = std::ssize(all);
  const auto between = [&](const kernel::MultiIndex& p, const double* x, const Functional& f) {
    return kernel->differential(p, f.partial)->at(2, x, f.x);
  };
  constexpr double kNoise = 0.3, kPenalty = 12 * 1e-3;
  Matrix<double> K(m, m), alpha(m, 1);
  for (int64_t s = 0; s < m; ++s) {
    for (int64_t t = 0; t < m; ++t) K(s, t) = between(all[s].partial, all[s].x, all[t]);
    K(s, s) += kPenalty / all[s].weight;
    alpha(s, 0) = all[s].y;
  }
  REQUIRE(linalg::cholesky(K.view()) == 0);
  linalg::cholesky_solve(K.view(), alpha.view());
  HermiteOptions options = of_gp(kNoise);
  options.center = false;
  Context context;
  const auto fitted = fitted_to(map_of_order(1), sets, options),
             of_values = fitted_to(map_of_order(0), sets, options);
  double worst = 0, apart = 0;
  for (const kernel::MultiIndex& p :
       {kernel::MultiIndex(), kernel::MultiIndex{{0, 1}}, kernel::MultiIndex{{1, 1}}})
    for (int64_t i = 0; i < T.rows(); ++i) {
      double expected = 0;
      for (int64_t s = 0; s < m; ++s) expected += alpha(s, 0) * between(p, T.view().row(i), all[s]);
      const auto found = [&](const model::Model& of) {
        Matrix<double> out(1, 1);
        model::differentiate(of, {feature::Derivative::Kind::partials, {p}},
                             T.view().block_rows(i, i + 1), context, out.view());
        return out(0, 0);
      };
      test::keep_worst(worst, std::fabs(found(fitted) - expected));
      test::keep_worst(apart, std::fabs(found(of_values) - expected));
    }
  CHECK(worst <= 1e-6);
  CHECK(apart >= 0.01);  // k(., x) of the places alone spans less
  // At the places themselves the features hold all of the process.
  Matrix<double> variances(20, 1);
  model::variance(fitted, MatrixView<const double>(places.view()), model::Spread::latent, context,
                  variances.view());
  for (int64_t i = 0; i < 20; ++i) {
    Matrix<double> k(m, 1);
    for (int64_t s = 0; s < m; ++s) k(s, 0) = between({}, places.view().row(i), all[s]);
    Matrix<double> solved = test::copy(k.view());
    linalg::cholesky_solve(K.view(), solved.view());
    double left = 1.3;
    for (int64_t s = 0; s < m; ++s) left -= k(s, 0) * solved(s, 0);
    CHECK(variances(i, 0) == Approx(kNoise / kPenalty * left).epsilon(1e-5));
  }
}

TEST_CASE("Hermite learning: refusals") {
  const auto map = fourier(2, 20);
  const auto X = test::random_matrix(5, 2, 1), Y = test::random_matrix(5, 1, 2);
  const auto refusal = [&](mercer_status status, std::shared_ptr<const feature::FeatureMap> of,
                           const std::vector<Observations>& sets, const HermiteOptions& options,
                           const char* part) {
    return test::refusal_fault(
        status, [&] { fitted_to(of, sets, options); }, part);
  };
  const Observations values{{}, 1, X.view(), Y.view(), {}};
  CHECK(refusal(MERCER_INVALID_ARGUMENT, map, {}, {}, "sets[0]") == "");
  CHECK(refusal(MERCER_INVALID_ARGUMENT, map, {values}, {.lambda = -1}, "lambda = -1") == "");
  Observations wrong = values;
  wrong.weight = 0;
  CHECK(refusal(MERCER_INVALID_ARGUMENT, map, {values, wrong}, {}, "sets[1].weight = 0") == "");
  wrong = values;
  wrong.X = X.view().block_rows(0, 4);
  CHECK(refusal(MERCER_DIMENSION_MISMATCH, map, {values, wrong}, {}, "sets[1]: X is 4 x 2") == "");
  const auto bad = test::copy(Y.view());
  bad(3, 0) = std::numeric_limits<double>::quiet_NaN();
  wrong = values;
  wrong.Y = bad.view();
  CHECK(refusal(MERCER_INVALID_ARGUMENT, map, {wrong}, {}, "sets[0].Y[3, 0]") == "");
  feature::FourierOptions options;
  options.form = feature::FourierForm::complex;
  CHECK(refusal(MERCER_UNSUPPORTED,
                feature::make_fourier(*kernel::make_gaussian({1}, 1), 2, 20, options), {values}, {},
                "complex") == "");
  const std::vector<double> none(static_cast<size_t>(values.X.rows), 0.0);
  Observations unweighted = values;
  unweighted.row_weights = none;
  CHECK(refusal(MERCER_INVALID_ARGUMENT, map, {unweighted}, {}, "sum to 0") == "");
  Observations slope = values;
  slope.partial = {{0, 1}};
  CHECK(refusal(MERCER_UNSUPPORTED, test::map_without_derivatives(2, 20), {slope}, {},
                "map sign") == "");
}

// x^{1/2} has no slope at 0; a block of rows is 1,024.
TEST_CASE("Hermite learning: a derivative that is infinite is refused by set, row and column") {
  const std::shared_ptr<const feature::FeatureMap> map = feature::make_map(feature::canonical_map(
      spec::parse_object(
          R"({"map":"additive","kernel":{"kernel":"additive_chi2"},"inputs":2,"features":6})"),
      "", feature::Data::refused));
  const auto X =
      test::filled(1500, 2, [](int64_t i, int64_t k) { return 0.5 + 0.01 * ((3 * i + k) % 90); });
  const auto Y = test::random_matrix(1500, 1, 2), B = test::copy(X.view());
  B(1200, 1) = 0;
  const Observations values{{}, 1, B.view(), Y.view(), {}};
  const auto with = [&](int64_t input) {
    return test::refusal_fault(
        MERCER_INVALID_ARGUMENT,
        [&] {
          fitted_to(map, {values, {{{input, 1}}, 1, B.view(), Y.view(), {}}}, {});
        },
        "sets[1].X[1200, 1] = 0", "additive_chi2", "> 0");
  };
  CHECK(with(1) == "");
  fitted_to(map, {values, {{{1, 1}}, 1, X.view(), Y.view(), {}}}, {});
}

}  // namespace hermite_test
