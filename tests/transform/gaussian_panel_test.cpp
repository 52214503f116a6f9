// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian values of panels against the formula, near and far from the origin, a row at a time, and
// what NaN and distant rows give; on every target.
#include "transform/gaussian_panel.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "support/dense.h"
#include "transform/dense_panel.h"
#include "transform/on_every_target.h"

using namespace mercer;
using namespace mercer::transform;
using namespace mercer::test;

namespace {

template <class T>
void check(int64_t rows, int64_t d, double origin) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  Matrix<T> X = random_matrix<T>(rows, d, 1), L = random_matrix<T>(d, kWidth, 2);
  for (int64_t i = 0; i < rows * d; ++i) X.data()[i] += static_cast<T>(origin);
  for (int64_t i = 0; i < d * kWidth; ++i) L.data()[i] += static_cast<T>(origin);
  const Matrix<T> K(rows, 2 * kWidth), alone(1, kWidth);
  const T scale = static_cast<T>(1.7);
  gaussian_panel(X.view(), L.data(), scale, K.view().block_cols(0, kWidth));
  double worst = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < kWidth; ++j) {
      double squares = 0;
      for (int64_t k = 0; k < d; ++k) {
        const double t = static_cast<double>(X(i, k)) - static_cast<double>(L(k, j));
        squares += t * t;
      }
      const double exact = static_cast<double>(scale) * std::exp(-0.5 * squares);
      const double unit = std::numeric_limits<T>::epsilon();
      const double bound = unit * (4 + static_cast<double>(d + 3) * squares);
      worst = std::max(worst, std::fabs(static_cast<double>(K(i, j)) - exact) / (bound * exact));
    }
    gaussian_panel(X.view().block_rows(i, i + 1), L.data(), scale, alone.view());
    CHECK(std::memcmp(alone.data(), K.view().row(i), kWidth * sizeof(T)) == 0);
  }
  INFO("d " << d << ", origin " << origin);
  CHECK(worst <= 1);
}

}  // namespace

TEST_CASE("gaussian panels are the kernel, wherever the rows are") {
  on_every_target_in_both([](auto zero) {
    using T = decltype(zero);
    for (const int64_t d : {1, 5, 33}) {
      check<T>(11, d, 0);
      check<T>(3, d, 1024);
    }
  });
}

TEST_CASE("gaussian panels: NaN is seen, distant rows are 0") {
  on_every_target_in_both([](auto zero) {
    using T = decltype(zero);
    constexpr int64_t kWidth = kPanelColumns<T>;
    const Matrix<T> X(3, 1), L = random_matrix<T>(1, kWidth, 2), K(3, kWidth);
    X(0, 0) = std::numeric_limits<T>::quiet_NaN();
    X(1, 0) = std::numeric_limits<T>::infinity();
    X(2, 0) = 100;
    gaussian_panel(X.view(), L.data(), T{1}, K.view());
    for (int64_t j = 0; j < kWidth; ++j) {
      CHECK(std::isnan(K(0, j)));
      CHECK(K(1, j) == 0);
      CHECK(K(2, j) == 0);
    }
  });
}
