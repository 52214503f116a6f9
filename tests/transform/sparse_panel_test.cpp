// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sparse rows times a packed panel on every target: error bound against long double and against the
// dense product, bits independent of the rows around and of the width of the indices.
#include "transform/panel.h"

#include "support/dense.h"
#include "support/epilogue.h"
#include "support/sparse.h"
#include "transform/on_every_target.h"

namespace sparse_panel_test {
using namespace mercer;
using namespace mercer::transform;

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
void check_target() {
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
  test::on_every_target_in_both([](auto zero) { check_target<decltype(zero)>(); });
}

TEST_CASE("scale_epilogue: one product per number, on every target") {
  test::on_every_target_in_both([](auto zero) { check_scale<decltype(zero)>(); });
}

}  // namespace sparse_panel_test
