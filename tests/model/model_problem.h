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
#include "model/model.h"
#include "model/search/map_maker.h"
#include "model/search/search.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/kernels.h"
#include "support/made_map.h"

namespace mercer::test {

inline std::shared_ptr<const feature::FeatureMap> gaussian_map(int64_t d, int64_t D,
                                                               double lengthscale = 1.0,
                                                               uint64_t seed = 1) {
  feature::FourierOptions options;
  options.seed = seed;
  return feature::make_fourier(*kernel::make_gaussian({lengthscale}, 1.0), d, D, options);
}

/// Gaussian maps of d inputs, the same draws for every lengthscale.
struct GaussianMaker : model::MapMaker {
  explicit GaussianMaker(int64_t inputs, uint64_t draws = 1) : d(inputs), seed(draws) {}
  int64_t d;
  uint64_t seed;
  std::shared_ptr<const feature::FeatureMap> make(double lengthscale, int64_t D) const override {
    return gaussian_map(d, D, lengthscale, seed);
  }
};

/// A map and a kernel by name, with a lengthscale for each input.
struct NamedMaker final : GaussianMaker {
  NamedMaker(const char* map, const char* kernel, int64_t inputs)
      : GaussianMaker(inputs, 5), map_(map), kernel_(kernel) {}
  bool has_input_lengthscales() const override { return true; }
  std::shared_ptr<const feature::FeatureMap> make(double lengthscale, int64_t D) const override {
    return make_per_input({&lengthscale, 1}, D);
  }
  std::shared_ptr<const feature::FeatureMap> make_per_input(std::span<const double> lengthscales,
                                                            int64_t D) const override {
    const std::vector<double> list(lengthscales.begin(), lengthscales.end());
    return made_map(map_, {{"kernel", kernel_}, {"lengthscale", list}}, d, D);
  }

 private:
  const char *map_, *kernel_;
};

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
inline model::Fitting f64_options(model::Selection selection) {
  model::Fitting options;
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
                        const model::Fitting& options, const Problem& problem,
                        std::span<const double> weights = {}) {
  Context context;
  return test::fit(std::move(map), options, problem.x(), problem.y(), context, weights);
}
inline model::Model search(const model::MapMaker& maker, const model::SearchOptions& options,
                           const Problem& problem, std::span<const double> weights = {},
                           std::span<const double> groups = {}) {
  Context context;
  return test::search(maker, options, problem.x(), problem.y(), context, weights, groups);
}

inline Matrix<double> predictions(const model::Model& model, const Rows& X) {
  Matrix<double> scores(X.rows(), model.outputs());
  Context context;
  model::predict(model, X, context, scores.view());
  return scores;
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
