// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of two classes of known probabilities, for the models that predict them.
#pragma once

#include <cmath>
#include <string>

#include "model/model_problem.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/fit.h"

namespace mercer::test {

/// P(y = 1 | a, b) = 1 / (1 + exp(-4 sin(2 a) b)), a and b uniform on [-2, 2].
struct Coin {
  Matrix<double> X, y, p;
  Context context;
  Coin(int64_t n, uint64_t seed) : X(random_matrix(n, 2, seed)), y(n, 1), p(n, 1) {
    const Matrix<double> u = random_matrix(n, 1, seed + 100);
    for (int64_t i = 0; i < 2 * n; ++i) X.data()[i] *= 2;
    for (int64_t i = 0; i < n; ++i) {
      p(i, 0) = 1 / (1 + std::exp(-4 * std::sin(2 * X(i, 0)) * X(i, 1)));
      y(i, 0) = (u(i, 0) + 1) / 2 < p(i, 0) ? 1 : 0;
    }
  }
  model::Model fit(const char* name, const std::string& keys) {
    std::string json = R"({"task":"classification","model":")";
    json.append(name).append("\"").append(keys).append("}");
    const model::FitPlan plan = spec::fit_plan(json);
    const MatrixView<const double> Y = y.view();
    return test::fit(plan, nullptr, Rows(X.view()), Y, {}, context);
  }
};

inline Matrix<double> probabilities(const model::Model& model, const Matrix<double>& X) {
  Context context;
  Matrix<double> scores(X.rows(), model.outputs());
  model::predict(model, Rows(X.view()), context, scores.view());
  model.calibration.apply(scores.view());
  return scores;
}

/// Near the probabilities that were drawn from, in the mean and in nats, and as many rows of class 1
/// as they say, by fifths.
inline void check_probabilities(const Matrix<double>& p, const Coin& fresh, double most_apart) {
  const int64_t n = p.rows();
  double apart = 0, own = 0, best = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double q = fresh.p(i, 0), share = 1 / static_cast<double>(n);
    apart += std::abs(p(i, 1) - q) * share;
    own -= (q * std::log(p(i, 1)) + (1 - q) * std::log(p(i, 0))) * share;
    best -= (q * std::log(q) + (1 - q) * std::log1p(-q)) * share;
    CHECK(p(i, 0) + p(i, 1) == Approx(1));
  }
  CHECK(apart < most_apart);
  CHECK(own < best + 0.06);            // nats; an even coin would have log 2 - .35 more
  for (int bin = 0; bin < 5; ++bin) {  // of probability: as many come true as said
    double said = 0, true_ = 0, count = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (std::min(4, static_cast<int>(5 * p(i, 1))) != bin) continue;
      said += p(i, 1), true_ += fresh.y(i, 0), ++count;
    }
    CHECK(std::abs(said - true_) / count < 0.05 + 4 * std::sqrt(0.25 / count));
  }
}

}  // namespace mercer::test
