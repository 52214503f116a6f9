// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of the Fourier epilogues on every target against the formulas in long double.
#include "transform/epilogue.h"

#include "support/dense.h"
#include "support/worst.h"
#include "transform/on_every_target.h"
#include "transform/panel.h"

namespace epilogue_gradient_test {
using namespace mercer;
using namespace mercer::transform;

template <class T>
double worst_error(const EpilogueGradient& gradient, bool pair) {
  constexpr int64_t rows = 3, columns = 2 * kPanelColumns<T>, part = rows * columns;
  const auto P = test::random_matrix<T>(rows, columns, 1);
  const auto G = test::random_matrix<T>(2 * rows, columns, 2);
  const auto numbers = test::random_matrix<T>(2, columns, 3);
  const Matrix<T> out(rows, columns);
  gradient.pull_back({P.data(), G.data(), numbers.view().row(0), numbers.view().row(1), out.data(),
                      rows, columns, part});
  double worst = 0;
  const long double turn = 6.283185307179586476925L;
  for (int64_t k = 0; k < part; ++k) {
    const long double scale = numbers(0, k % columns), phase = pair ? 0 : numbers(1, k % columns);
    const long double angle = turn * (static_cast<long double>(P.data()[k]) + phase);
    const long double of_sine = pair ? static_cast<long double>(G.data()[part + k]) : 0;
    const long double exact =
        turn * scale * (std::cos(angle) * of_sine - std::sin(angle) * G.data()[k]);
    const long double size =
        turn * std::fabs(scale) * (std::fabs(of_sine) + std::fabs(G.data()[k]));
    test::keep_worst(worst, static_cast<double>(std::fabs(out.data()[k] - exact) / (size + 1e-3L)));
  }
  return worst;
}

// Of every kind that is pulled back by its slopes: part p's feature and slope over the scale.
struct Kind {
  const EpilogueGradient& (*gradient)();
  int parts;
  long double (*value)(long double P, long double number, int part);
  long double (*slope)(long double P, long double number, int part);  // in P
};
constexpr long double kTurn = 6.283185307179586476925L;
constexpr Kind kKinds[] = {
    {exp_gradient, 1, [](long double P, long double h, int) { return std::exp(P - h); },
     [](long double P, long double h, int) { return std::exp(P - h); }},
    {hyperbolic_gradient, 2,
     [](long double P, long double h, int p) { return std::exp((p == 0 ? P : -P) - h); },
     [](long double P, long double h, int p) {
       return (p == 0 ? 1 : -1) * std::exp((p == 0 ? P : -P) - h);
     }},
    {grown_pair_gradient, 2,
     [](long double P, long double h, int p) {
       return h * (p == 0 ? std::cos(kTurn * P) : std::sin(kTurn * P));
     },
     [](long double P, long double h, int p) {
       return kTurn * h * (p == 0 ? -std::sin(kTurn * P) : std::cos(kTurn * P));
     }},
    {decay_gradient, 1, [](long double P, long double, int) { return std::exp(-P); },
     [](long double P, long double, int) { return -std::exp(-P); }},
};

// Of dL/dP and of the rows' sums of G Z, over the sums of magnitudes.
template <class T>
double worst_by_slopes(const Kind& kind) {
  constexpr int64_t rows = 3, columns = 9 * kPanelColumns<T>, part = rows * columns;
  const auto P = test::random_matrix<T>(rows, columns, 1);
  const auto G = test::random_matrix<T>(2 * rows, columns, 2);
  const auto scale = test::random_matrix<T>(1, columns, 3), h = test::random_matrix<T>(1, rows, 4);
  const Matrix<T> out(rows, columns);
  double sums[rows] = {};
  kind.gradient().pull_back({P.data(), G.data(), scale.data(), scale.data(), out.data(), rows,
                             columns, part, h.data(), sums});
  double worst = 0;
  for (int64_t i = 0; i < rows; ++i) {
    long double total = 0, total_size = 1e-3L;
    for (int64_t j = 0; j < columns; ++j) {
      long double exact = 0, size = 1e-3L;
      for (int p = 0; p < kind.parts; ++p) {
        const long double g =
            static_cast<long double>(G.data()[p * part + i * columns + j]) * scale(0, j);
        const long double slope = g * kind.slope(P(i, j), h(0, i), p);
        const long double value = g * kind.value(P(i, j), h(0, i), p);
        exact += slope;
        size += std::fabs(slope) + std::fabs(g);
        total += value;
        total_size += std::fabs(value) + std::fabs(g);
      }
      test::keep_worst(worst, static_cast<double>(std::fabs(out(i, j) - exact) / size));
    }
    test::keep_worst(worst, static_cast<double>(std::fabs(sums[i] - total) / total_size));
  }
  return worst;
}

// Exponentials are right to one unit in the last place, exponents of up to 2 are rounded once;
// cosines as below.
TEST_CASE("epilogue gradient: exponentials and grown pairs, by their slopes, on every target") {
  test::on_every_target([] {
    for (const Kind& kind : kKinds) {
      CHECK(worst_by_slopes<float>(kind) <= 4e-6);
      CHECK(worst_by_slopes<double>(kind) <= 8e-15);
    }
  });
}

// Sine and cosine are right to 2^-23 and 2^-52 of 1; the sum P + phase, up to 8 turns, is off by
// 2 pi 4 eps; four roundings more.
TEST_CASE("epilogue gradient: the derivatives of pair and phase on every target") {
  test::on_every_target([] {
    CHECK(worst_error<float>(pair_gradient(), true) <= 8e-7);
    CHECK(worst_error<double>(pair_gradient(), true) <= 1.6e-15);
    CHECK(worst_error<float>(phase_gradient(), false) <= 4e-6);
    CHECK(worst_error<double>(phase_gradient(), false) <= 8e-15);
  });
}

}  // namespace epilogue_gradient_test
