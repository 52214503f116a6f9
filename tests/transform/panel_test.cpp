// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows times a packed panel on every target: error bound against long double, bits independent of
// the rows around.
// Sparse rows times a packed panel on every target: error bound against long double and against the
// dense product, bits independent of the rows around and of the width of the indices.
// P-bar times the transpose of a packed panel on every target: error bound against long double,
// nothing written past the columns of X, bits independent of the rows around.
// Panels of Gaussian kernels, of elementary symmetric polynomials and of harmonics of logarithms.
#include "transform/panel.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/aligned.h"
#include "support/dense.h"
#include "support/epilogue.h"
#include "support/simd_target.h"
#include "support/sparse.h"

namespace panel_test {
using namespace mercer;
using namespace mercer::transform;
using namespace mercer::test;

template <class T>
T pseudo_random(int64_t i) {
  const uint64_t mixed = static_cast<uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
  return static_cast<T>(static_cast<double>((mixed ^ (mixed >> 29)) >> 11 & 0xfffff) / 524288.0 -
                        1.0);
}

template <class T>
struct DenseProblem {
  DenseProblem(int64_t rows, int64_t d)
      : X(rows, d + 3),
        panel(d * kPanelColumns<T>),
        P(rows * kPanelColumns<T>),
        rows_(rows),
        d_(d) {
    for (int64_t i = 0; i < rows * (d + 3); ++i) X.data()[i] = pseudo_random<T>(i);
    for (int64_t i = 0; i < panel.size(); ++i) panel[i] = pseudo_random<T>(i + 77777);
  }
  MatrixView<const T> view() const { return {X.data(), rows_, d_, d_ + 3}; }

  // Largest |P - exact| over (d + 1) eps sum |x||w|, the bound of a sum of d products in any order
  // (Higham 2002, eq. 3.5).
  double worst_ratio() const {
    double worst = 0;
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < kPanelColumns<T>; ++j) {
        long double sum = 0, magnitude = 0;
        for (int64_t k = 0; k < d_; ++k) {
          const long double product =
              static_cast<long double>(X(i, k)) * panel[k * kPanelColumns<T> + j];
          sum += product;
          magnitude += std::fabs(product);
        }
        const long double bound = (d_ + 1) * (std::numeric_limits<T>::epsilon() / 2) * magnitude;
        worst = std::max(worst,
                         static_cast<double>(std::fabs(P[i * kPanelColumns<T> + j] - sum) / bound));
      }
    }
    return worst;
  }

  Matrix<T> X;
  AlignedBuffer<T> panel;
  AlignedBuffer<T> P;
  int64_t rows_;
  int64_t d_;
};

template <class T>
void check_dense() {
  for (const int64_t d : {1, 2, 7, 64, 1023, 1024, 1025, 2500}) {
    for (const int64_t rows : {1, 2, 3, 5, 6, 11, 12, 13, 25, 96}) {
      if (rows > 13 && d > 100) continue;
      const DenseProblem<T> problem(rows, d);
      project_panel(problem.view(), problem.panel.data(), problem.P.data());
      CAPTURE(d, rows);
      REQUIRE(problem.worst_ratio() <= 1.0);
      const AlignedBuffer<T> alone(kPanelColumns<T>);
      int64_t wrong = 0;
      for (int64_t i = 0; i < rows; ++i) {
        project_panel(problem.view().block_rows(i, i + 1), problem.panel.data(), alone.data());
        for (int64_t j = 0; j < kPanelColumns<T>; ++j)
          wrong += alone[j] != problem.P[i * kPanelColumns<T> + j];
      }
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("project_panel: within the error bound, and every row as if alone, on every target") {
  test::on_every_target_in_both([](auto t) { check_dense<decltype(t)>(); });
}

TEST_CASE("targets: the baseline is among them") {
  CHECK(!supported_targets().empty());
  CHECK(!target_name(supported_targets().front()).empty());
}

template <class T>
AlignedBuffer<T> random_panel(int64_t d) {
  const Matrix<T> numbers = test::random_matrix<T>(d, kPanelColumns<T>, 77);
  AlignedBuffer<T> panel(d * kPanelColumns<T>);
  std::copy(numbers.data(), numbers.data() + panel.size(), panel.data());
  return panel;
}

template <class T>
AlignedBuffer<T> project(const CsrView<T>& X, const AlignedBuffer<T>& panel) {
  AlignedBuffer<T> P(X.rows * kPanelColumns<T>);
  project_panel(X, panel.data(), P.data());
  return P;
}

// Largest |P - exact| over (m + 1) u sum |x||w|, and |P - dense| over (m + d + 2) u sum |x||w|: an
// entry passes at most m additions (Higham 2002, eq. 3.5). u bounds what a column named twice loses
// when it is summed first, too.
template <class T>
double worst_ratio(const CsrView<T>& X, const AlignedBuffer<T>& panel, const AlignedBuffer<T>& P,
                   const AlignedBuffer<T>& dense) {
  constexpr int64_t w = kPanelColumns<T>;
  const long double u = std::numeric_limits<T>::epsilon() / 2;
  long double worst = 0;
  for (int64_t i = 0; i < X.rows; ++i) {
    const auto m = static_cast<long double>(X.end(i) - X.begin(i));
    for (int64_t j = 0; j < w; ++j) {
      long double sum = 0, magnitude = 0;
      for (int64_t p = X.begin(i); p < X.end(i); ++p) {
        const long double product =
            static_cast<long double>(X.values[p]) * panel[X.indices[p] * w + j];
        sum += product;
        magnitude += std::fabs(product);
      }
      const long double got = P[i * w + j];
      if (magnitude == 0) {
        worst = std::max(worst, got == 0 ? 0.0L : 1e9L);
        continue;
      }
      const auto d = static_cast<long double>(X.cols);
      worst = std::max(worst, std::fabs(got - sum) / ((m + 1) * u * magnitude));
      worst = std::max(worst, std::fabs(got - dense[i * w + j]) / ((m + d + 2) * u * magnitude));
    }
  }
  return static_cast<double>(worst);
}

template <class T>
void check_sparse() {
  constexpr int64_t w = kPanelColumns<T>;
  for (const int64_t d : {1, 2, 7, 64, 1500}) {
    for (const int64_t most : {0, 1, 3, 20, 70}) {
      const auto rows = test::sparse_rows<T>(60, d, most, static_cast<uint64_t>(d + most));
      const CsrView<T> X = rows.view();
      const AlignedBuffer<T> panel = random_panel<T>(d);
      const AlignedBuffer<T> P = project(X, panel);
      const Matrix<T> full = rows.dense();
      AlignedBuffer<T> dense(X.rows * w);
      project_panel(MatrixView<const T>(full.view()), panel.data(), dense.data());
      CAPTURE(d, most);
      CHECK(worst_ratio(X, panel, P, dense) <= 1);
      const auto wide = test::sparse_rows<T, int64_t>(60, d, most, static_cast<uint64_t>(d + most));
      const AlignedBuffer<T> same = project(wide.view(), panel);
      int64_t wrong = 0;
      for (int64_t i = 0; i < X.rows; ++i) {
        const AlignedBuffer<T> alone = project(X.block_rows(i, i + 1), panel);
        for (int64_t j = 0; j < w; ++j) {
          wrong += alone[j] != P[i * w + j] || same[i * w + j] != P[i * w + j];
        }
      }
      CHECK(wrong == 0);
    }
  }
}

template <class T>
void check_scale() {
  constexpr int64_t w = kPanelColumns<T>;
  const Matrix<T> numbers = test::random_matrix<T>(5, 2 * w, 3);
  AlignedBuffer<T> P(5 * 2 * w), scale(2 * w), out(5 * (2 * w + 3));
  std::copy(numbers.data(), numbers.data() + P.size(), P.data());
  for (int64_t j = 0; j < 2 * w; ++j) scale[j] = static_cast<T>(0.3) * static_cast<T>(j + 1);
  test::finish(scale_epilogue(), P.data(), 5, 2 * w, scale.data(), scale.data(), out.data(),
               2 * w + 3);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 2 * w; ++j) {
      wrong += out[i * (2 * w + 3) + j] != scale[j] * P[i * 2 * w + j];
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("project_panel of sparse rows: bounds, every row as if alone, either index width") {
  test::on_every_target_in_both([](auto zero) { check_sparse<decltype(zero)>(); });
}

TEST_CASE("scale_epilogue: one product per number, on every target") {
  test::on_every_target_in_both([](auto zero) { check_scale<decltype(zero)>(); });
}

constexpr int64_t kGap = 3;  // columns of X's rows that belong to somebody else

template <class T>
struct TransposeProblem {
  TransposeProblem(int64_t n, int64_t inputs)
      : rows(n), d(inputs), P(n * kWidth), panel(inputs * kWidth), before(n, inputs + kGap) {
    const Matrix<T> numbers = test::random_matrix<T>(n + inputs, kWidth, 5);
    std::copy_n(numbers.data(), P.size(), P.data());
    std::copy_n(numbers.view().row(n), panel.size(), panel.data());
    const Matrix<T> start = test::random_matrix<T>(n, inputs + kGap, 6);
    std::copy_n(start.data(), n * (inputs + kGap), before.data());
  }

  static constexpr int64_t kWidth = kPanelColumns<T>;

  Matrix<T> result(int64_t first, int64_t count) const {
    Matrix<T> X(count, d + kGap);
    std::copy_n(before.view().row(first), count * (d + kGap), X.data());
    const AlignedBuffer<T> scratch(kPanelTransposeScratch<T>);
    const AlignedBuffer<T> own(count * kWidth);
    std::copy_n(P.data() + first * kWidth, own.size(), own.data());
    project_panel_transpose(own.data(), panel.data(), X.view().block_cols(0, d), scratch.data());
    return X;
  }

  /// Largest |X - exact| over (w + 2) eps (|x| + sum |p||w|): a sum of w + 1 terms (Higham 2002,
  /// eq. 3.5).
  double worst_ratio(const Matrix<T>& X) const {
    double worst = 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < d; ++k) {
        long double sum = before(i, k), magnitude = std::fabs(before(i, k));
        for (int64_t c = 0; c < kWidth; ++c) {
          const long double product = static_cast<long double>(P[i * kWidth + c]) *
                                      static_cast<long double>(panel[k * kWidth + c]);
          sum += product;
          magnitude += std::fabs(product);
        }
        const long double bound =
            (kWidth + 2) * (std::numeric_limits<T>::epsilon() / 2) * magnitude;
        const double ratio = static_cast<double>(std::fabs(X(i, k) - sum) / bound);
        if (!(ratio <= worst)) worst = ratio;
      }
    }
    return worst;
  }

  int64_t rows;
  int64_t d;
  AlignedBuffer<T> P;
  AlignedBuffer<T> panel;
  Matrix<T> before;
};

template <class T>
void check_transpose() {
  for (const int64_t d : {1, 2, 7, 16, 17, 33, 100, 127, 128, 129, 300}) {
    for (const int64_t rows : {0, 1, 2, 3, 5, 6, 11, 12, 13, 25, 96}) {
      const TransposeProblem<T> problem(rows, d);
      const Matrix<T> X = problem.result(0, rows);
      int64_t wrong = 0;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t k = d; k < d + kGap; ++k) wrong += X(i, k) != problem.before(i, k);
        const Matrix<T> alone = problem.result(i, 1);
        for (int64_t k = 0; k < d; ++k) wrong += alone(0, k) != X(i, k);
      }
      CAPTURE(d, rows);
      REQUIRE(problem.worst_ratio(X) <= 1.0);
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("project_panel_transpose: within the bound, every row as if alone, on every target") {
  test::on_every_target_in_both([](auto zero) { check_transpose<decltype(zero)>(); });
}

TEST_CASE("project_panel_transpose: NaN stays in its row") {
  const TransposeProblem<float> problem(5, 40);
  problem.P[2 * TransposeProblem<float>::kWidth + 1] = std::numeric_limits<float>::quiet_NaN();
  const Matrix<float> X = problem.result(0, 5);
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t k = 0; k < 40; ++k) CHECK(std::isnan(X(i, k)) == (i == 2));
  }
}

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

}  // namespace panel_test
