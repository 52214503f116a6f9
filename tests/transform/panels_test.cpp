// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Panels of Gaussian kernels, of elementary symmetric polynomials and of harmonics of logarithms.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/dense.h"
#include "transform/on_every_target.h"
#include "transform/panel.h"

namespace panels_test {
using namespace mercer;
using namespace mercer::transform;
using namespace mercer::test;

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

// Of the absolute values it bounds what rounding can do.
long double symmetric(const std::vector<long double>& p, int64_t degree) {
  std::vector<long double> e(static_cast<size_t>(degree) + 1, 0);
  e[0] = 1;
  for (const long double one : p)
    for (size_t t = static_cast<size_t>(degree); t > 0; --t) e[t] += e[t - 1] * one;
  return e[degree];
}

template <class T>
void check(int64_t rows, int64_t d, int64_t degree) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const Matrix<T> X = random_matrix<T>(rows, d, 1), W = random_matrix<T>(d, kWidth, 2);
  const Matrix<T> P(rows, kWidth), alone(1, kWidth);
  const T scale = static_cast<T>(0.8);
  const bool all = degree == 0;
  const auto run = [&](MatrixView<const T> some, T* out) {
    if (all) return subsets_panel(some, W.data(), scale, out);
    symmetric_panel(some, W.data(), degree, scale, out);
  };
  run(X.view(), P.data());
  double worst = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < kWidth; ++j) {
      std::vector<long double> p, size;
      for (int64_t k = 0; k < d; ++k) {
        p.push_back(static_cast<long double>(X(i, k)) * static_cast<long double>(W(k, j)));
        size.push_back(std::fabs(p.back()));
      }
      long double exact = all ? 1 : symmetric(p, degree), bound = all ? 1 : symmetric(size, degree);
      for (int64_t k = 0; all && k < d; ++k) {
        exact *= 1 + p[k];
        bound *= 1 + size[k];
      }
      const double error = static_cast<double>(std::fabs(P(i, j) - scale * exact));
      const double unit = std::numeric_limits<T>::epsilon() * static_cast<double>(d + 4);
      worst = std::max(worst, error / (unit * static_cast<double>(bound)));
    }
    run(X.view().block_rows(i, i + 1), alone.data());
    CHECK(std::memcmp(alone.data(), P.view().row(i), kWidth * sizeof(T)) == 0);
  }
  INFO("rows " << rows << ", d " << d << ", degree " << degree);
  CHECK(worst <= 1);
}

TEST_CASE("elementary symmetric panels are the polynomials, a row at a time") {
  on_every_target_in_both([](auto zero) {
    using T = decltype(zero);
    for (const int64_t degree : {0, 1, 2, 3, 4, 5, 16}) {
      check<T>(7, 19, degree);
      check<T>(2, std::max<int64_t>(degree, 1), degree);
    }
  });
}

constexpr double kTurn = 6.28318530717958647692;

template <class T>
struct Harmonics {
  explicit Harmonics(const std::vector<T>& x, T turns, T order, T scale)
      : roots(x.size()), logs(x.size()), cosines(x.size()), sines(x.size()) {
    const auto n = static_cast<int64_t>(x.size());
    roots_and_logs(x.data(), n, turns, roots.data(), logs.data());
    log_harmonics(roots.data(), logs.data(), n, order, scale, cosines.data(), sines.data());
  }
  std::vector<T> roots, logs, cosines, sines;
};

TEST_CASE("log harmonics: roots, logarithms and both harmonics are within rounding") {
  on_every_target_in_both([](auto zero) {
    using T = decltype(zero);
    const double u = std::numeric_limits<T>::epsilon();
    std::vector<T> x;
    for (double e = -30; e <= 30; e += 0.37) x.push_back(static_cast<T>(std::exp(e)));
    const T turns = static_cast<T>(0.11), order = 3, scale = static_cast<T>(0.7);
    const Harmonics<T> h(x, turns, order, scale);
    double root = 0, log = 0, harmonic = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const double exact = static_cast<double>(turns) * std::log(static_cast<double>(x[k]));
      const double size = std::sqrt(static_cast<double>(x[k]));
      root = std::max(root, std::fabs(h.roots[k] - size) / (u * size));
      log = std::max(log, std::fabs(h.logs[k] - exact) / (u * std::max(std::fabs(exact), 1e-3)));
      const double t = kTurn * 3 * static_cast<double>(h.logs[k]), a = static_cast<double>(scale);
      harmonic = std::max({harmonic, std::fabs(h.cosines[k] / size - a * std::cos(t)) / u,
                           std::fabs(h.sines[k] / size - a * std::sin(t)) / u});
    }
    CHECK(root <= 1);
    CHECK(log <= 6);  // 4 ulp, and a product
    // 3 t is rounded: at most half an ulp of 10 turns, which is 8u; then the sine's own bound.
    CHECK(harmonic <= kTurn * 8 + 4);
  });
}

TEST_CASE("log harmonics: zeros stay, what is outside is seen, lanes do not matter") {
  on_every_target_in_both([](auto zero) {
    using T = decltype(zero);
    const T infinity = std::numeric_limits<T>::infinity(),
            nan = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> x = {0,
                              -T(0),
                              2,
                              -1,
                              nan,
                              infinity,
                              std::numeric_limits<T>::denorm_min(),
                              std::numeric_limits<T>::max(),
                              3};
    const Harmonics<T> h(x, T(0.2), 2, 1);
    for (const size_t k : {0, 1}) {
      CHECK(h.cosines[k] == 0);
      CHECK(h.sines[k] == 0);
    }
    for (const size_t k : {3, 4}) {
      CHECK(std::isnan(h.roots[k]));
      CHECK(std::isnan(h.cosines[k]));
      CHECK(std::isnan(h.sines[k]));
    }
    CHECK(std::isinf(h.roots[5]));
    CHECK(!std::isfinite(h.cosines[5]));
    for (size_t k = 6; k < x.size(); ++k) CHECK(std::isfinite(h.cosines[k]));
    for (size_t k = 0; k < x.size(); ++k) {
      const Harmonics<T> one({x[k]}, T(0.2), 2, 1);
      CHECK(std::memcmp(one.cosines.data(), &h.cosines[k], sizeof(T)) == 0);
      CHECK(std::memcmp(one.sines.data(), &h.sines[k], sizeof(T)) == 0);
    }
  });
}

}  // namespace panels_test
