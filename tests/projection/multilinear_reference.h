// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random multilinear maps by their definition, in plain loops of long double, and everything a
// Multilinear promises beside its values: slices, rows alone, sums over rows, sparse rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "projection/sketch_kind.h"
#include "support/dense.h"
#include "support/sparse.h"
#include "support/worst.h"

namespace mercer::test {

using projection::Blocks;
using projection::FactorRows;
using projection::FactorShape;
using projection::Multilinear;
using projection::Planes;
using projection::SketchShape;
using Complex = std::complex<long double>;
using Vector = std::vector<Complex>;

/// Weights of column l for factor i: as many as the factor's u is long.
using WeightsOf = std::function<Vector(int64_t i, int64_t l)>;

/// A column of S(u), and what its rounding errors are relative to.
struct Column {
  Complex value;
  long double magnitude;
};

/// share prod_i w_i' u_i, and the same of absolute values.
inline Column product_column(const std::vector<Vector>& u, const std::vector<Vector>& weights,
                             long double share) {
  Column column{share, std::fabs(share)};
  for (size_t i = 0; i < u.size(); ++i) {
    Complex sum = 0;
    long double magnitude = 0;
    for (size_t k = 0; k < u[i].size(); ++k) {
      sum += weights[i][k] * u[i][k];
      magnitude += std::abs(weights[i][k]) * std::abs(u[i][k]);
    }
    column.value *= sum;
    column.magnitude *= magnitude;
  }
  return column;
}

/// A tile of rows for every factor of a sketch; factors of equal `source` read the same rows.
template <class T>
struct Tiles {
  std::vector<Matrix<T>> re, im;  // im without rows: real
  std::vector<size_t> source;

  std::vector<FactorRows<T>> rows(int64_t begin, int64_t end) const {
    std::vector<FactorRows<T>> all;
    for (const size_t s : source) {
      FactorRows<T> one;
      one.dense.re = re[s].view().block_rows(begin, end);
      if (im[s].rows() > 0) one.dense.im = im[s].view().block_rows(begin, end);
      all.push_back(one);
    }
    return all;
  }
  int64_t count() const { return re[0].rows(); }

  /// [scale x, constant] of factor i in row r, scale x rounded as the sketch may round it.
  Vector u(const FactorShape& factor, size_t i, int64_t r) const {
    const Matrix<T>&a = re[source[i]], &b = im[source[i]];
    Vector out;
    for (int64_t k = 0; k < factor.inputs; ++k)
      out.push_back(static_cast<long double>(factor.scale) *
                    Complex(a(r, k), b.rows() > 0 ? b(r, k) : T{0}));
    if (factor.constant != 0) out.push_back(factor.constant);
    return out;
  }
};

/// n rows for each factor; `shared`: factors with equal inputs read the same ones.
template <class T>
Tiles<T> make_tiles(const SketchShape& shape, int64_t n, bool complex_rows, bool shared) {
  Tiles<T> tiles;
  for (const FactorShape& factor : shape.factors) {
    size_t s = 0;
    while (shared && s < tiles.re.size() && tiles.re[s].cols() != factor.inputs) ++s;
    if (!shared) s = tiles.re.size();
    tiles.source.push_back(s);
    if (s < tiles.re.size()) continue;
    const auto seed = static_cast<uint64_t>(31 + 2 * s);
    tiles.re.push_back(random_matrix<T>(n, factor.inputs, seed));
    tiles.im.push_back(complex_rows ? random_matrix<T>(n, factor.inputs, seed + 1) : Matrix<T>());
  }
  return tiles;
}

/// Columns c of some rows, real parts beside imaginary ones.
template <class T>
struct Evaluated {
  Matrix<T> re, im;
  bool equals(const Evaluated& other) const {
    const auto same = [](const Matrix<T>& a, const Matrix<T>& b) {
      return a.rows() == b.rows() && a.cols() == b.cols() &&
             std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data());
    };
    return same(re, other.re) && same(im, other.im);
  }
};

/// Through apply, or apply_sum (one row). Z has gaps between its rows, which are checked.
template <class T>
Evaluated<T> evaluate(const Multilinear& map, const std::vector<FactorRows<T>>& rows, int64_t n,
                      Blocks c, bool sum = false) {
  const int64_t width = c.end - c.begin, out = sum ? 1 : n, gap = 3;
  const T untouched{-77};
  Matrix<T> Z(2 * out, width + gap);
  Z.fill(untouched);
  Planes<T> planes{{Z.data(), out, width, width + gap}, {}};
  if (map.is_complex()) planes.im = {Z.view().row(out), out, width, width + gap};
  for (int64_t i = 0; sum && i < 2; ++i) std::fill_n(Z.view().row(i), width, T{0});
  Context context;
  map.prepare(c, T{}, context);
  const AlignedBuffer<T> scratch(map.scratch(n, map.columns(), T{}));
  sum ? map.apply_sum(rows, c, planes, scratch.data()) : map.apply(rows, c, planes, scratch.data());
  bool written_outside = false;
  for (int64_t i = 0; i < 2 * out; ++i) {
    for (int64_t j = width; j < width + gap; ++j) written_outside |= Z(i, j) != untouched;
  }
  Evaluated<T> result{Matrix<T>(out, width), Matrix<T>(map.is_complex() ? out : 0, width)};
  for (int64_t i = 0; i < out; ++i) {
    std::copy_n(Z.view().row(i), width, result.re.view().row(i));
    if (map.is_complex()) std::copy_n(Z.view().row(out + i), width, result.im.view().row(i));
  }
  if (written_outside) result.re.fill(std::numeric_limits<T>::quiet_NaN());
  return result;
}

/// The worst error of `computed` over its bound. Each factor is a sum of n + 1 terms at most, in
/// any order, of products of rounded numbers: (n + 5) u relative to the sum of absolute values,
/// complex products twice that (Higham 2002, eq. 3.5 and section 3.6), and two more per factor for
/// their product.
template <class T>
double worst_error(const SketchShape& shape, const Tiles<T>& tiles, const WeightsOf& weights,
                   const Evaluated<T>& computed, Blocks c) {
  const long double share = shape.scale / std::sqrt(static_cast<long double>(shape.columns));
  long double terms = 4;
  for (const FactorShape& factor : shape.factors)
    terms += (shape.complex ? 2 : 1) * static_cast<long double>(factor.inputs + 7);
  const long double unit = terms * (std::numeric_limits<T>::epsilon() / 2);
  double worst = 0;
  for (int64_t l = c.begin; l < c.end; ++l) {
    std::vector<Vector> w;
    for (size_t i = 0; i < shape.factors.size(); ++i)
      w.push_back(weights(static_cast<int64_t>(i), l));
    for (int64_t r = 0; r < tiles.count(); ++r) {
      std::vector<Vector> u;
      for (size_t i = 0; i < shape.factors.size(); ++i)
        u.push_back(tiles.u(shape.factors[i], i, r));
      const Column column = product_column(u, w, share);
      const Complex got(computed.re(r, l - c.begin),
                        shape.complex ? computed.im(r, l - c.begin) : T{0});
      if (got == column.value) continue;  // a row of zeros has no magnitude
      keep_worst(worst,
                 static_cast<double>(std::abs(got - column.value) / (unit * column.magnitude)));
    }
  }
  return worst;
}

/// "" or what is wrong with the values of all columns, with slices, rows alone or the sum of rows.
template <class T>
std::string multilinear_fault(const SketchShape& shape, const Tiles<T>& tiles,
                              const WeightsOf& weights, const std::vector<int64_t>& cuts) {
  const auto map = projection::make_multilinear(shape);
  const int64_t n = tiles.count(), m = shape.columns;
  const auto rows = tiles.rows(0, n);
  const Evaluated<T> all = evaluate<T>(*map, rows, n, {0, m});
  const double worst = worst_error(shape, tiles, weights, all, {0, m});
  if (!(worst <= 1)) return "values are off by " + std::to_string(worst) + " bounds";
  const auto fresh = projection::make_multilinear(shape);
  const auto part = [&](const Matrix<T>& A, int64_t i0, int64_t i1, Blocks c) {
    Matrix<T> out(A.rows() > 0 ? i1 - i0 : 0, c.end - c.begin);
    for (int64_t i = 0; i < out.rows(); ++i)
      std::copy_n(A.view().row(i0 + i) + c.begin, out.cols(), out.view().row(i));
    return out;
  };
  for (size_t s = 0; s + 1 < cuts.size(); ++s) {
    const Blocks c{cuts[s], cuts[s + 1]};
    const Evaluated<T> expected{part(all.re, 0, n, c), part(all.im, 0, n, c)};
    if (!evaluate<T>(*fresh, rows, n, c).equals(expected))
      return "columns from " + std::to_string(c.begin) + " differ as a slice";
    const Evaluated<T> sum = evaluate<T>(*fresh, rows, n, c, true);
    for (int64_t l = 0; l < c.end - c.begin; ++l) {
      for (const auto& [one, each] : {std::pair{&sum.re, &expected.re}, {&sum.im, &expected.im}}) {
        if (one->rows() == 0) continue;
        long double total = 0, magnitude = 0;
        for (int64_t i = 0; i < n; ++i) {
          total += (*each)(i, l);
          magnitude += std::fabs((*each)(i, l));
        }
        const long double unit = std::numeric_limits<T>::epsilon() / 2;
        if (!(std::fabs((*one)(0, l) - total) <= static_cast<long double>(n) * unit * magnitude))
          return "apply_sum is not the sum of the rows in column " + std::to_string(c.begin + l);
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    const Evaluated<T> alone = evaluate<T>(*map, tiles.rows(i, i + 1), 1, {0, m});
    if (!alone.equals({part(all.re, i, i + 1, {0, m}), part(all.im, i, i + 1, {0, m})}))
      return "row " + std::to_string(i) + " differs alone";
  }
  return "";
}

}  // namespace mercer::test
