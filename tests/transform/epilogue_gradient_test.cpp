// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of the Fourier epilogues on every target against the formulas in long double.
#include "transform/epilogue_gradient.h"

#include <cmath>

#include "base/aligned.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/worst.h"
#include "transform/dense_panel.h"
#include "transform/on_every_target.h"

using namespace mercer;
using namespace mercer::transform;

namespace {

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

}  // namespace

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
