// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Small problems for the model tests: smooth targets, Gaussian maps, and ridge written out plainly
// as the second route.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned.h"
#include "feature/fourier.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"
#include "model/model_derivative.h"
#include "model/predict.h"
#include "model/search/partial_map.h"
#include "model/search/search.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/kernels.h"
#include "support/made_map.h"
#include "support/worst.h"

namespace mercer::test {

inline std::shared_ptr<const feature::FeatureMap> gaussian_map(int64_t d, int64_t D,
                                                               double lengthscale = 1.0,
                                                               uint64_t seed = 1) {
  feature::FourierOptions options;
  options.seed = seed;
  return feature::make_fourier(*kernel::make_gaussian({lengthscale}, 1.0), d, D, options);
}

/// Maps by name, of any lengthscale and number of features, the same draws for every lengthscale.
inline model::PartialMap maps_of(const char* map, const Parameters& kernel, int64_t d,
                                 uint64_t seed = 0, const Parameters& options = {}) {
  return model::PartialMap(map_spec(map, kernel, d, 2, seed, options));
}
inline model::PartialMap gaussian_maps(int64_t d, uint64_t seed = 1) {
  return maps_of("fourier", {{"kernel", "gaussian"}}, d, seed);
}
/// Those of a search that keeps one lengthscale for all inputs, unless it is told otherwise.
struct OneLengthscale {
  explicit OneLengthscale(int64_t d, uint64_t seed = 1) : maps(gaussian_maps(d, seed)) {}
  model::PartialMap maps;
};
inline model::Model search(const OneLengthscale& of, model::SearchOptions options, const Rows& X,
                           MatrixView<const double> Y, Context& context,
                           std::span<const double> weights = {},
                           std::span<const double> groups = {}) {
  if (options.per_input == model::PerInput::automatic) options.per_input = model::PerInput::off;
  return test::search(of.maps, options, X, Y, context, weights, groups);
}

/// Few features, no assessment, transforms among what is chosen.
inline model::SearchOptions choosing_transforms() {
  model::SearchOptions options;
  options.features = 64;
  options.assess = false;
  options.choose_transform = true;
  return options;
}

/// y_o = sin(2 x_0 + o) + x_1 x_2 + noise, x uniform on (-1, 1)^d, d >= 3.
struct Problem {
  Matrix<double> X, Y;
  MatrixView<const double> x() const { return X.view(); }
  MatrixView<const double> y() const { return Y.view(); }
};
inline Problem smooth_problem(int64_t n, int64_t d, int64_t outputs, double noise, uint64_t seed) {
  Problem problem{random_matrix(n, d, seed), random_matrix(n, outputs, seed + 1000)};
  for (int64_t i = 0; i < n; ++i) {
    const double* x = problem.x().row(i);
    for (int64_t o = 0; o < outputs; ++o) {
      problem.Y(i, o) =
          std::sin(2 * x[0] + static_cast<double>(o)) + x[1] * x[2] + noise * problem.Y(i, o);
    }
  }
  return problem;
}

/// y = sin(8 |x - c_k|) summed over a few c_k, and noise: a thousand features do not hold it.
inline Problem rough_problem(int64_t n, double noise, uint64_t seed) {
  Problem problem{random_matrix(n, 3, seed), random_matrix(n, 1, seed + 1000)};
  const Matrix<double> centers = random_matrix(8, 3, seed + 2000);
  for (int64_t i = 0; i < n; ++i) {
    double y = noise * problem.Y(i, 0);
    for (int64_t k = 0; k < centers.rows(); ++k)
      y += std::sin(8 * std::hypot(problem.X(i, 0) - centers(k, 0), problem.X(i, 1) - centers(k, 1),
                                   problem.X(i, 2) - centers(k, 2)));
    problem.Y(i, 0) = y;
  }
  return problem;
}

/// For comparisons: features in double.
inline model::FitOptions f64_options(model::Selection selection) {
  model::FitOptions options;
  options.select.selection = selection;
  options.estimate.precision = feature::Precision::f64;
  options.select.lambda = 1e-5;
  return options;
}

/// Features of rows that are standardised plainly.
inline Matrix<double> plain_features(const feature::FeatureMap& map, MatrixView<const double> X,
                                     const model::Preparation& preparation) {
  Matrix<double> inputs = copy(X), Z(X.rows, map.features());
  for (int64_t i = 0; i < X.rows; ++i) {
    for (int64_t j = 0; j < X.cols && !preparation.mean.empty(); ++j) {
      const auto c = static_cast<size_t>(j);
      inputs(i, j) = (X(i, j) - preparation.mean[c]) / preparation.scale[c];
    }
  }
  Context context;
  map.apply(MatrixView<const double>(inputs.view()), {0, map.features()}, context, Z.view());
  return Z;
}

inline Matrix<double> rows_of(const Matrix<double>& A, const std::vector<int64_t>& rows) {
  Matrix<double> part(static_cast<int64_t>(rows.size()), A.cols());
  for (int64_t i = 0; i < part.rows(); ++i) {
    for (int64_t j = 0; j < A.cols(); ++j) part(i, j) = A(rows[i], j);
  }
  return part;
}

/// Predictions at Zt of centred ridge on (Z, Y) with `shift` added to the diagonal of the D x D
/// system: explicit centring, plain sums, one Cholesky factor.
inline Matrix<double> plain_ridge(const Matrix<double>& Z, const Matrix<double>& Y, double shift,
                                  const Matrix<double>& Zt) {
  const int64_t n = Z.rows(), D = Z.cols(), m = Y.cols();
  std::vector<double> mz(D), my(m);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < D; ++j) mz[j] += Z(i, j) / static_cast<double>(n);
    for (int64_t o = 0; o < m; ++o) my[o] += Y(i, o) / static_cast<double>(n);
  }
  Matrix<double> G(D, D), w(D, m);
  G.fill(0);
  w.fill(0);
  std::vector<double> z(D);
  for (int64_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < z.size(); ++j) z[j] = Z(i, static_cast<int64_t>(j)) - mz[j];
    for (int64_t j = 0; j < D; ++j) {
      const double zj = z[j];
      for (int64_t k = 0; k <= j; ++k) G(j, k) += zj * z[k];
      for (int64_t o = 0; o < m; ++o) w(j, o) += zj * (Y(i, o) - my[o]);
    }
  }
  for (int64_t j = 0; j < D; ++j) G(j, j) += shift;
  linalg::cholesky(G.view());
  linalg::cholesky_solve(G.view(), w.view());
  Matrix<double> scores(Zt.rows(), m);
  for (int64_t i = 0; i < Zt.rows(); ++i) {
    for (int64_t o = 0; o < m; ++o) {
      double sum = my[o];
      for (int64_t j = 0; j < D; ++j) sum += (Zt(i, j) - mz[j]) * w(j, o);
      scores(i, o) = sum;
    }
  }
  return scores;
}

/// A fit and a search of a problem, under a context of their own.
inline model::Model fit(std::shared_ptr<const feature::FeatureMap> map,
                        const model::FitOptions& options, const Problem& problem,
                        std::span<const double> weights = {}) {
  Context context;
  return test::fit(std::move(map), options, problem.x(), problem.y(), context, weights);
}
template <class Maps>
model::Model search(const Maps& maps, const model::SearchOptions& options, const Problem& problem,
                    std::span<const double> weights = {}, std::span<const double> groups = {}) {
  Context context;
  return test::search(maps, options, problem.x(), problem.y(), context, weights, groups);
}

inline Matrix<double> predictions(const model::Model& model, const Rows& X) {
  Matrix<double> scores(X.rows(), model.outputs());
  Context context;
  model::predict(model, X, context, scores.view());
  return scores;
}

/// Of a model's gradient, by central differences of what it predicts, relative to its largest.
inline double gradient_error(const model::Model& fitted, const Matrix<double>& X,
                             double step = 1e-5) {
  const int64_t m = fitted.outputs(), d = X.cols();
  Context context;
  Matrix<double> gradient(X.rows(), d * m), f(X.rows(), m), g(X.rows(), m);
  model::differentiate(fitted, {feature::Derivative::Kind::gradient, {}}, X.view(), context,
                       gradient.view());
  double worst = 0;
  for (int64_t k = 0; k < d; ++k) {
    const auto at = [&](double by, const Matrix<double>& to) {
      const Matrix<double> moved = copy(X.view());
      for (int64_t i = 0; i < X.rows(); ++i) moved(i, k) += by;
      model::predict(fitted, MatrixView<const double>(moved.view()), context, to.view(),
                     model::Extrapolation::free);
    };
    at(step, f);
    at(-step, g);
    for (int64_t i = 0; i < X.rows(); ++i)
      for (int64_t o = 0; o < m; ++o)
        keep_worst(worst, std::fabs((f(i, o) - g(i, o)) / (2 * step) - gradient(i, k * m + o)));
  }
  return worst / largest(gradient.view());
}

inline double largest_difference(const Matrix<double>& A, const Matrix<double>& B) {
  double largest = A.rows() == B.rows() && A.cols() == B.cols() ? 0.0 : INFINITY;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i) {
    const double difference = std::abs(A.data()[i] - B.data()[i]);
    if (!(difference <= largest)) largest = difference;  // NaN is the largest
  }
  return largest;
}

}  // namespace mercer::test
