// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Latent means and variances of classifiers against dense algebra of their posteriors.
#include <cmath>
#include <string>
#include <vector>

#include "linalg/blas.h"
#include "model/predict.h"
#include "spec/coin.h"
#include "support/refusal.h"

namespace latent_test {
using namespace mercer;
using test::Coin;

constexpr double kLambda = 0.01;

std::string keys(const char* own) {
  return std::string(R"(,"search":false,"lambda":0.01,"precision":"f64",)"
                     R"("prepare":{"standardize":false},"map":{"features":24,)"
                     R"("kernel":{"kernel":"gaussian","lengthscale":1}})") +
         own;
}

struct Moments {
  Matrix<double> mean, variance;
};
Moments moments(const model::Model& model, const Matrix<double>& X) {
  Context context;
  const int64_t count = model::latent_count(model);
  Moments found{Matrix<double>(X.rows(), count), Matrix<double>(X.rows(), count)};
  model::latent_mean(model, Rows(X.view()), context, found.mean.view());
  model::variance(model, Rows(X.view()), model::Spread::latent, context, found.variance.view());
  return found;
}

/// Features and a column of ones.
Matrix<double> design(const model::Model& model, const Matrix<double>& X) {
  Context context;
  const int64_t D = model.map->row_length();
  Matrix<double> Z(X.rows(), D), all(X.rows(), D + 1);
  model.map->apply(Rows(X.view()), {0, model.map->features()}, context, Z.view());
  for (int64_t i = 0; i < X.rows(); ++i)
    for (int64_t j = 0; j <= D; ++j) all(i, j) = j < D ? Z(i, j) : 1;
  return all;
}

/// At rows `at` the variance by the precision H'diag(weight)H + n lambda of weights, 0 of the
/// intercept; and the mean of least squares to targets.
Moments dense(const Matrix<double>& H, const std::vector<double>& weight,
              const std::vector<double>& target, const Matrix<double>& at) {
  const int64_t D = H.cols(), n = H.rows();
  Matrix<double> A(D, D), b(D, 1);
  A.fill(0), b.fill(0);
  for (int64_t j = 0; j + 1 < D; ++j) A(j, j) = kLambda * static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < D; ++j) {
      b(j, 0) += weight[i] * target[i] * H(i, j);
      for (int64_t k = 0; k < D; ++k) A(j, k) += weight[i] * H(i, j) * H(i, k);
    }
  REQUIRE(linalg::cholesky(A.view()) == 0);
  Matrix<double> V = test::transposed(MatrixView<const double>(at.view()));
  linalg::cholesky_solve(A.view(), V.view());
  Moments found{Matrix<double>(at.rows(), 1), Matrix<double>(at.rows(), 1)};
  found.mean.fill(0), found.variance.fill(0);
  for (int64_t i = 0; i < at.rows(); ++i)
    for (int64_t j = 0; j < D; ++j) {
      found.mean(i, 0) += V(j, i) * b(j, 0);
      found.variance(i, 0) += V(j, i) * at(i, j);
    }
  return found;
}

TEST_CASE("latent moments: of dirichlet they are those of regressions on its targets") {
  Coin rows(120, 3), fresh(40, 9);
  for (int64_t i = 0; i < 120; ++i)
    if (rows.y(i, 0) == 0 && rows.X(i, 0) > 0) rows.y(i, 0) = 2;
  const model::Model model = rows.fit("dirichlet", keys(R"(,"classes":3,"alpha":0.05)"));
  const Moments found = moments(model, fresh.X);
  CHECK(model::latent_count(model) == 3);
  for (int64_t k = 0; k < 3; ++k) {
    std::vector<double> weight, target;
    for (int64_t i = 0; i < 120; ++i) {
      const double shape = rows.y(i, 0) == static_cast<double>(k) ? 1.05 : 0.05;
      const double noise = std::log(1 + 1 / shape);
      weight.push_back(1 / noise), target.push_back(std::log(shape) - noise / 2);
    }
    const Moments exact = dense(design(model, rows.X), weight, target, design(model, fresh.X));
    for (int64_t i = 0; i < 40; ++i) {
      CHECK(found.mean(i, k) == Approx(exact.mean(i, 0)).margin(1e-8));
      CHECK(found.variance(i, k) == Approx(exact.variance(i, 0)).epsilon(1e-8));
    }
  }
}

/// E sigma(f) and E sigma'(f) by sums.
std::pair<double, double> expectations(double mean, double variance) {
  double p = 0, slope = 0, all = 0;
  for (double x = -8; x <= 8; x += 0.01) {
    const double s = 1 / (1 + std::exp(-mean - std::sqrt(variance) * x)),
                 density = std::exp(-x * x / 2);
    p += density * s, slope += density * s * (1 - s), all += density;
  }
  return {p / all, slope / all};
}

// Of the largest bound the precision is that of rows of weight E sigma'(f), and the mean that of
// targets m + (y - E sigma(f)) / E sigma'(f).
TEST_CASE("latent moments: of svgp they are those that the largest bound has") {
  Coin rows(150, 3), fresh(40, 9);
  for (const char* classes : {"2", "3"}) {
    if (*classes == '3')
      for (int64_t i = 0; i < 150; ++i)
        if (rows.y(i, 0) == 0 && rows.X(i, 0) > 0) rows.y(i, 0) = 2;
    const model::Model model =
        rows.fit("svgp", keys((std::string(R"(,"classes":)") + classes).c_str()));
    const Moments at_rows = moments(model, rows.X), found = moments(model, fresh.X);
    CHECK(model::latent_count(model) == (*classes == '2' ? 1 : 3));
    for (int64_t k = 0; k < model::latent_count(model); ++k) {
      std::vector<double> weight, target;
      for (int64_t i = 0; i < 150; ++i) {
        const auto [p, slope] = expectations(at_rows.mean(i, k), at_rows.variance(i, k));
        const bool own = rows.y(i, 0) == (*classes == '2' ? 1 : static_cast<double>(k));
        weight.push_back(slope), target.push_back(at_rows.mean(i, k) + ((own ? 1 : 0) - p) / slope);
      }
      const Moments exact = dense(design(model, rows.X), weight, target, design(model, fresh.X));
      for (int64_t i = 0; i < 40; ++i) {
        CHECK(found.mean(i, k) == Approx(exact.mean(i, 0)).margin(0.05));
        CHECK(found.variance(i, k) == Approx(exact.variance(i, 0)).epsilon(0.03));
      }
    }
  }
}

TEST_CASE("latent moments: gp's mean is its value where nothing is clipped; ridge has none") {
  Coin rows(100, 3), fresh(40, 9);
  const MatrixView<const double> Y = rows.p.view();
  const auto fitted = [&](const char* name) {
    const model::FitPlan plan =
        spec::fit_plan(std::string(R"({"model":")") + name + "\"" + keys("") + "}");
    return test::fit(plan, nullptr, Rows(rows.X.view()), Y, {}, rows.context);
  };
  const model::Model gp = fitted("gp"), ridge = fitted("ridge");
  Matrix<double> value(40, 1);
  model::predict(gp, Rows(fresh.X.view()), rows.context, value.view(), model::Extrapolation::free);
  CHECK(test::difference(moments(gp, fresh.X).mean.view(), value.view(), 1e-9) == "");
  CHECK(model::latent_count(ridge) == 0);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                model::latent_mean(ridge, Rows(fresh.X.view()), rows.context, value.view()),
                "dirichlet", "svgp");
}

}  // namespace latent_test
