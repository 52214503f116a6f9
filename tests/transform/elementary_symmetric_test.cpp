// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Symmetric polynomials of every degree and products over all subsets against long doubles, and a
// row alone against the row among others, on every target.
#include "transform/elementary_symmetric.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/dense.h"
#include "transform/dense_panel.h"
#include "transform/on_every_target.h"

using namespace mercer;
using namespace mercer::transform;
using namespace mercer::test;

namespace {

// Of the absolute values it bounds what rounding can do.
long double symmetric(const std::vector<long double>& p, int64_t degree) {
  std::vector<long double> e(static_cast<size_t>(degree) + 1, 0);
  e[0] = 1;
  for (const long double one : p)
    for (size_t t = static_cast<size_t>(degree); t > 0; --t) e[t] += e[t - 1] * one;
  return e[static_cast<size_t>(degree)];
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
        exact *= 1 + p[static_cast<size_t>(k)];
        bound *= 1 + size[static_cast<size_t>(k)];
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

}  // namespace

TEST_CASE("elementary symmetric panels are the polynomials, a row at a time") {
  on_every_target_in_both([](auto zero) {
    using T = decltype(zero);
    for (const int64_t degree : {0, 1, 2, 3, 4, 5, 16}) {
      check<T>(7, 19, degree);
      check<T>(2, std::max<int64_t>(degree, 1), degree);
    }
  });
}
