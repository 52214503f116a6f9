// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What tests of the tensor sketch share: rows of Z from rows of every factor, and how far they may
// be from others.
#pragma once

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "projection/sketch_kind.h"

namespace mercer::test {

using Wide = std::complex<long double>;
using Vector = std::vector<Wide>;

/// Z, or its real and imaginary parts.
template <class T>
struct Sketched {
  Matrix<T> re;
  Matrix<T> im;
  projection::Planes<T> planes() {
    return {re.view(), im.rows() == 0 ? MatrixView<T>() : im.view()};
  }
};

template <class T>
Sketched<T> empty_rows(const projection::Multilinear& sketch, int64_t n, T value) {
  Sketched<T> Z;
  Z.re = Matrix<T>(n, sketch.columns());
  Z.re.fill(value);
  if (sketch.is_complex()) {
    Z.im = Matrix<T>(n, sketch.columns());
    Z.im.fill(value);
  }
  return Z;
}

/// n rows, all columns, one call.
template <class T>
Sketched<T> sketched(const projection::Multilinear& sketch, int64_t n,
                     const std::vector<projection::FactorRows<T>>& rows) {
  Sketched<T> Z = empty_rows(sketch, n, T{-7});  // what is not written shows
  Context context;
  const projection::Blocks all = {0, sketch.columns()};
  sketch.prepare(all, T{}, context);
  const AlignedBuffer<T> scratch(sketch.scratch(n, sketch.columns(), T{}));
  sketch.apply(rows, all, Z.planes(), scratch.data());
  return Z;
}

template <class T>
constexpr double kUnit = std::numeric_limits<T>::epsilon() / 2;

// Error of p + 1 transforms of relative error 8u (log2 m + 1) each (Higham 2002, theorem 24.2;
// lengths with large prime factors run several longer ones: four times that), of packing and
// products, and of buckets with up to `terms` terms, all relative to prod_i |u_i|_1.
template <class T>
double convolution_bound(int64_t m, int64_t p, int64_t terms) {
  const double transform = 32 * (std::log2(static_cast<double>(m)) + 2);
  return kUnit<T> * static_cast<double>((p + 1)) * (transform + 24 + static_cast<double>(terms));
}

template <class T>
projection::FactorRows<T> dense(const Matrix<T>& X) {
  return {{X.view(), {}}, nullptr};
}
template <class T>
projection::FactorRows<T> dense(const Matrix<T>& re, const Matrix<T>& im) {
  return {{re.view(), im.view()}, nullptr};
}

inline projection::SketchShape shape_of(bool complex, std::vector<projection::FactorShape> factors,
                                        int64_t m, uint64_t seed) {
  return {projection::sketch_kind("tensor_sketch"), complex, std::move(factors), m, seed};
}

template <class T>
double worst_difference(Sketched<T>& Z, int64_t i, const Vector& expected) {
  long double worst = 0;
  for (size_t j = 0; j < expected.size(); ++j) {
    const auto column = static_cast<int64_t>(j);
    const Wide got(Z.re(i, column), Z.im.rows() == 0 ? T{0} : Z.im(i, column));
    const long double distance = std::abs(got - expected[j]);
    if (!(distance <= worst)) worst = distance;
  }
  return static_cast<double>(worst);
}

template <class T>
bool equal(const T* a, const T* b, int64_t count) {
  return std::memcmp(a, b, static_cast<size_t>(count) * sizeof(T)) == 0;
}

template <class T>
bool equal_rows(Sketched<T>& a, int64_t i, Sketched<T>& b, int64_t k) {
  const int64_t m = a.re.cols();
  return equal(a.re.view().row(i), b.re.view().row(k), m) &&
         (a.im.rows() == 0 || equal(a.im.view().row(i), b.im.view().row(k), m));
}

}  // namespace mercer::test
