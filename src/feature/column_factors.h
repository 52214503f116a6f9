// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products of the features of several maps, column by column: of real numbers, of complex numbers,
// of complex numbers whose parts lie in two halves, and of any of these with real numbers.
#pragma once

#include <cstdint>
#include <span>

#include "base/context.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"

namespace mercer::feature {

/// Numbers of one row, `step` apart.
template <class T>
struct Complex {
  T* re;
  T* im;  // null: real numbers
  int64_t step;
};

/// Some rows of some columns, as real numbers, interleaved complex numbers, or two halves.
template <class T>
struct Factor {
  ColumnForm form;
  MatrixView<T> first;
  MatrixView<T> second = {};  // the second of two halves

  Factor block_rows(int64_t i0, int64_t i1) const {
    return {form, first.block_rows(i0, i1),
            form == ColumnForm::halves ? second.block_rows(i0, i1) : MatrixView<T>{}};
  }
  Complex<T> row(int64_t i) const noexcept {
    T* const re = first.row(i);
    if (form == ColumnForm::complex) return {re, re + 1, 2};
    return {re, form == ColumnForm::halves ? second.row(i) : nullptr, 1};
  }
};

template <class T>
void multiply(T* z, const T* factor, T scale, int64_t n) noexcept {
  for (int64_t j = 0; j < n; ++j) z[j] *= scale * factor[j];
}
// n pairs of numbers.
template <class T>
void multiply_pairs(T* z, const T* factor, T scale, int64_t n) noexcept {
  for (int64_t j = 0; j < n; ++j) {
    z[2 * j] *= scale * factor[j];
    z[2 * j + 1] *= scale * factor[j];
  }
}
template <class T>
void multiply_complex(T* z, const T* factor, T scale, int64_t n) noexcept {
  for (int64_t j = 0; j < n; ++j) {
    const T re = scale * factor[2 * j], im = scale * factor[2 * j + 1];
    const T x = z[2 * j], y = z[2 * j + 1];
    z[2 * j] = x * re - y * im;
    z[2 * j + 1] = x * im + y * re;
  }
}
template <class T>
void multiply_halves(T* x, T* y, const T* re, const T* im, T scale, int64_t n) noexcept {
  for (int64_t j = 0; j < n; ++j) {
    const T a = scale * re[j], b = scale * im[j], u = x[j], v = y[j];
    x[j] = u * a - v * b;
    y[j] = u * b + v * a;
  }
}

/// Row i of n columns.
template <class T>
void multiply_row(const Factor<T>& z, const Factor<T>& by, T scale, int64_t n, int64_t i) noexcept {
  const bool plain = by.form == ColumnForm::real;
  switch (z.form) {
    case ColumnForm::complex:
      return plain ? multiply_pairs(z.first.row(i), by.first.row(i), scale, n)
                   : multiply_complex(z.first.row(i), by.first.row(i), scale, n);
    case ColumnForm::halves:
      if (!plain)
        return multiply_halves(z.first.row(i), z.second.row(i), by.first.row(i), by.second.row(i),
                               scale, n);
      multiply(z.second.row(i), by.first.row(i), scale, n);
      break;
    case ColumnForm::real:
    case ColumnForm::joint:
      break;
  }
  multiply(z.first.row(i), by.first.row(i), scale, n);
}

/// to += times a b, entry by entry of row i.
template <class T>
void add_product_row(const Factor<T>& to, const Factor<T>& a, const Factor<T>& b, T times,
                     int64_t n, int64_t i) noexcept {
  const Complex<T> u = a.row(i), v = b.row(i);
  const Complex<T> w = to.row(i);
  for (int64_t j = 0; j < n; ++j) w.re[j * w.step] += times * u.re[j * u.step] * v.re[j * v.step];
  if (u.im == nullptr) return;
  for (int64_t j = 0; j < n; ++j) w.im[j * w.step] += times * u.im[j * u.step] * v.re[j * v.step];
  if (v.im == nullptr) return;
  for (int64_t j = 0; j < n; ++j) {
    w.re[j * w.step] -= times * u.im[j * u.step] * v.im[j * v.step];
    w.im[j * w.step] += times * u.re[j * u.step] * v.im[j * v.step];
  }
}

/// to = times g conj(by), entry by entry of row i; its real part where `to` is real and g is not.
/// `to` may be g.
template <class T>
void multiply_conjugate_row(const Factor<T>& to, const Factor<T>& g, const Factor<T>& by, T times,
                            int64_t n, int64_t i) noexcept {
  const Complex<T> u = g.row(i), v = by.row(i);
  const Complex<T> w = to.row(i);
  for (int64_t j = 0; j < n; ++j) {
    const T a = u.re[j * u.step], x = times * v.re[j * v.step];
    const T b = u.im == nullptr ? T{0} : u.im[j * u.step];
    const T y = v.im == nullptr ? T{0} : times * v.im[j * v.step];
    w.re[j * w.step] = a * x + b * y;
    if (w.im != nullptr) w.im[j * w.step] = b * x - a * y;
  }
}

// Derivatives of features that are products, column by column, of those of several maps.

struct ColumnProduct {
  /// The first map has the product's form, the others have that form or real columns.
  std::span<const FeatureMap* const> parts;
  ColumnForm form;
  int64_t columns;  // N of a part, complex ones where the form is complex or halves
  int64_t row_length;
};

/// These are as in Derivatives; differentiate serves one multi-index that is not empty, or any
/// other kind.
MERCER_DERIVATIVES(ColumnProduct)

}  // namespace mercer::feature
