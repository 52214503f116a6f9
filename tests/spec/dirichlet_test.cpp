// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian process classification by spec: calibrated probabilities, searches, refusals.
#include <algorithm>
#include <cmath>
#include <string>

#include "model/model_problem.h"
#include "random/distributions.h"
#include "spec/fit_plan.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/refusal.h"

using namespace mercer;

namespace {

/// P(y = 1 | a, b) = 1 / (1 + exp(-4 sin(2 a) b)), a and b uniform on [-2, 2].
struct Coin {
  Matrix<double> X, y, p;
  Context context;
  Coin(int64_t n, uint64_t seed) : X(test::random_matrix(n, 2, seed)), y(n, 1), p(n, 1) {
    const Matrix<double> u = test::random_matrix(n, 1, seed + 100);
    for (int64_t i = 0; i < 2 * n; ++i) X.data()[i] *= 2;
    for (int64_t i = 0; i < n; ++i) {
      p(i, 0) = 1 / (1 + std::exp(-4 * std::sin(2 * X(i, 0)) * X(i, 1)));
      y(i, 0) = (u(i, 0) + 1) / 2 < p(i, 0) ? 1 : 0;
    }
  }
  model::Model fit(const std::string& keys) {
    spec::FitPlan plan =
        spec::fit_plan(R"({"model":"dirichlet","task":"classification")" + keys + "}");
    const MatrixView<const double> Y = y.view();
    spec::set_classes(plan, 1, &Y);
    return spec::fit(std::move(plan), nullptr, Rows(X.view()), Y, {}, context);
  }
};

Matrix<double> probabilities(const model::Model& model, const Coin& rows) {
  Context context;
  Matrix<double> scores(rows.X.rows(), 2);
  model::predict(model, Rows(rows.X.view()), context, scores.view());
  model.calibration.apply(scores.view());
  return scores;
}

}  // namespace

TEST_CASE("dirichlet: a search's probabilities are near those that were drawn, and calibrated") {
  Coin rows(600, 3), fresh(4000, 9);
  const model::Model model = rows.fit(R"(,"assess":false,"map":{"features":256})");
  const Matrix<double> p = probabilities(model, fresh);
  double apart = 0, own = 0, best = 0;
  for (int64_t i = 0; i < 4000; ++i) {
    apart += std::abs(p(i, 1) - fresh.p(i, 0)) / 4000;
    const double q = fresh.p(i, 0);
    own -= (q * std::log(p(i, 1)) + (1 - q) * std::log(p(i, 0))) / 4000;
    best -= (q * std::log(q) + (1 - q) * std::log1p(-q)) / 4000;
    CHECK(p(i, 0) + p(i, 1) == Approx(1));
  }
  CHECK(apart < 0.1);
  CHECK(own < best + 0.06);            // nats; an even coin would have log 2 - .35 more
  for (int bin = 0; bin < 5; ++bin) {  // of probability: as many come true as said
    double said = 0, true_ = 0, count = 0;
    for (int64_t i = 0; i < 4000; ++i) {
      if (std::min(4, static_cast<int>(5 * p(i, 1))) != bin) continue;
      said += p(i, 1), true_ += fresh.y(i, 0), ++count;
    }
    CHECK(std::abs(said - true_) / count < 0.05 + 4 * std::sqrt(0.25 / count));
  }
}

TEST_CASE("dirichlet: what is given is kept, what cannot be is refused") {
  Coin rows(80, 5);
  const model::Model model =
      rows.fit(R"(,"search":false,"lambda":0.01,"alpha":0.05,"map":{"features":64})");
  CHECK(model.fit.select.lambda == 0.01);
  CHECK(model.calibration.slope == 1);
  for (const char* keys : {R"(,"alpha":0)", R"(,"alpha":2)", R"(,"lambda":0)"})
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, rows.fit(keys), "expected");
  CHECK_REFUSED(MERCER_UNSUPPORTED, rows.fit(R"(,"map":"exact")"), "expected");
}
