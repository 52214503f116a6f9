// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Losses: slopes and curvatures against finite differences, what they say of themselves, far scores.
#include "solver/loss.h"

#include "squared_loss.h"
#include "support/catch.h"
#include "support/dense.h"

namespace loss_test {
using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

using Vector = std::vector<double>;

/// Targets of a row that a loss takes.
Vector targets(const Loss& loss, size_t columns, int i) {
  Vector y(columns);
  if (loss.classes && columns > 1) {
    y[static_cast<size_t>(i) % columns] = 1;
  } else {
    for (size_t k = 0; k < columns; ++k)
      y[k] = loss.classes ? i % 2 : std::floor(std::abs(3 * std::sin(i + 2.0 * double(k))));
  }
  return y;
}

/// All but those of callbacks.
std::vector<Loss> own_losses() {
  std::vector<Loss> losses(loss_table().begin(), loss_table().end());
  std::erase_if(losses, [](const Loss& loss) { return loss.by_scores; });
  return losses;
}

TEST_CASE("losses: slopes and curvatures are derivatives", "[loss]") {
  std::vector<Loss> losses = own_losses();
  losses.push_back(kSquared);
  for (const Loss& loss : losses)
    for (const size_t columns : {1, 2, 5}) {
      const LossParameters parameters{0.7, 0.3};
      for (int i = 0; i < 60; ++i) {
        const Vector y = targets(loss, columns, i);
        Vector s(columns), slope(columns), unused(columns);
        for (size_t k = 0; k < columns; ++k) s[k] = 2.2 * std::sin(1.7 * i + 3.1 * double(k));
        const LossValue at = loss.at(s, y, parameters, slope);
        double curvature = 0;
        const double h = 1e-5;
        for (size_t k = 0; k < columns; ++k) {
          Vector up = s, down = s, slope_up(columns), slope_down(columns);
          up[k] += h;
          down[k] -= h;
          const double above = loss.at(up, y, parameters, slope_up).value;
          const double below = loss.at(down, y, parameters, slope_down).value;
          CAPTURE(loss.name, columns, i, k);
          CHECK(std::abs((above - below) / (2 * h) - slope[k]) <= 1e-8 * (1 + std::abs(slope[k])));
          curvature += (slope_up[k] - slope_down[k]) / (2 * h) / double(columns);
        }
        CHECK(std::abs(curvature - at.curvature) <= 1e-7 * (1 + at.curvature));
        // In place.
        const LossValue again = loss.at(s, y, parameters, s);
        CHECK(again.value == at.value);
        CHECK(s == slope);
      }
    }
}

TEST_CASE("what losses say of themselves is what their values do", "[loss]") {
  for (const Loss& loss : own_losses()) {
    CAPTURE(loss.name);
    Vector slope(1), other(1);
    bool sees_delta = false, sees_tau = false, of_residuals = true, log_of_mean = true;
    double most = 0, half = 0;
    for (int i = 0; i < 400; ++i) {
      const Vector s{6 * std::sin(0.7 * i)};
      const Vector y{loss.classes  ? double(i % 2)
                     : loss.counts ? double(i % 5)
                                   : std::cos(2.3 * i)};
      const LossParameters usual{0.7, 0.3};
      const LossValue at = loss.at(s, y, usual, slope);
      sees_delta = sees_delta || loss.at(s, y, {0.2, 0.3}, other).value != at.value;
      sees_tau = sees_tau || loss.at(s, y, {0.7, 0.8}, other).value != at.value;
      const double moved = loss.at(Vector{s[0] + 3}, Vector{y[0] + 3}, usual, other).value;
      of_residuals = of_residuals && std::abs(moved - at.value) <= 1e-12 * (1 + at.value);
      log_of_mean =
          log_of_mean && std::abs(slope[0] - (std::exp(s[0]) - y[0])) <= 1e-12 * std::exp(6);
      most = std::max(most, at.curvature);
      half = std::max(half, loss.at(s, y, {0.35, 0.3}, other).curvature);
      // The slope of a probability is that of two classes, one score.
      if (loss.probabilities)
        CHECK(std::abs(slope[0] - (1 / (1 + std::exp(-s[0])) - y[0])) < 1e-12);
    }
    CHECK((loss.delta != Delta::unread) == sees_delta);
    CHECK(loss.reads_tau == sees_tau);
    CHECK(loss.residuals == of_residuals);
    CHECK(loss.counts == log_of_mean);
    if (loss.curvature == nullptr) continue;
    // The bound holds and is met.
    CHECK((most <= loss.curvature({0.7, 0.3}, true) &&
           most >= 0.9 * loss.curvature({0.7, 0.3}, true)));
    CHECK(half <= loss.curvature({0.35, 0.3}, true));
  }
}

TEST_CASE("losses of far scores are finite, of NaN NaN", "[loss]") {
  for (const Loss& loss : own_losses())
    for (const size_t columns : {1, 3}) {
      const Vector y = targets(loss, columns, 1);
      Vector slope(columns), far(columns, -800.0);
      far[0] = std::string_view(loss.name) == "poisson" ? 600 : 800;
      CAPTURE(loss.name, columns);
      CHECK(std::isfinite(loss.at(far, y, {}, slope).value));
      far[0] = std::nan("");
      CHECK(std::isnan(loss.at(far, y, {}, slope).value));
    }
}

}  // namespace loss_test
