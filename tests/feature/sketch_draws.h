// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every possible draw of a tiny sketch, with its probability, by the definition of the sketch.
// Gaussian entries are replaced by few values with the same moments up to order 4, which are all
// that fourth moments of columns see.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

#include "projection/multilinear.h"

namespace mercer::test {

using projection::sketch_kind;
using projection::SketchKind;
using Complex = std::complex<double>;
using Vector = std::vector<Complex>;

template <class T>
struct Weighted {
  double weight;
  T value;
};
template <class T>
using Law = std::vector<Weighted<T>>;

struct Rows {
  Vector u, v;
};

struct Shape {
  const SketchKind* kind;
  bool complex;
  int64_t columns;
  int64_t padded;  // the d of a TensorSRHT
};

inline std::size_t size_of(int64_t n) { return static_cast<std::size_t>(n); }

template <class T>
inline Law<std::vector<T>> independent(const Law<T>& one, std::size_t n) {
  Law<std::vector<T>> all = {{1, {}}};
  for (std::size_t k = 0; k < n; ++k) {
    Law<std::vector<T>> longer;
    for (const auto& start : all)
      for (const auto& next : one) {
        longer.push_back({start.weight * next.weight, start.value});
        longer.back().value.push_back(next.value);
      }
    all = std::move(longer);
  }
  return all;
}

/// The first n of a uniform shuffle of indices, index k counts[k] times.
inline Law<std::vector<std::size_t>> shuffled(const std::vector<int>& counts, std::size_t n) {
  Law<std::vector<std::size_t>> all = {{1, {}}};
  for (std::size_t drawn = 0; drawn < n; ++drawn) {
    Law<std::vector<std::size_t>> longer;
    for (const auto& start : all) {
      std::vector<int> left = counts;
      for (const std::size_t k : start.value) --left[k];
      double total = 0;
      for (const int count : left) total += count;
      for (std::size_t k = 0; k < left.size(); ++k) {
        if (left[k] == 0) continue;
        longer.push_back({start.weight * left[k] / total, start.value});
        longer.back().value.push_back(k);
      }
    }
    all = std::move(longer);
  }
  return all;
}

inline Law<std::vector<std::size_t>> indices(const Shape& shape) {
  const std::size_t m = size_of(shape.columns), d = size_of(shape.padded);
  if (shape.kind == sketch_kind("upsampled"))
    return shuffled(std::vector<int>(d, static_cast<int>((m + d - 1) / d)), m);
  Law<std::vector<std::size_t>> all = {{1, {}}};
  for (std::size_t block = 0; block < m; block += d) {
    Law<std::vector<std::size_t>> longer;
    for (const auto& start : all)
      for (const auto& next : shuffled(std::vector<int>(d, 1), std::min(d, m - block))) {
        longer.push_back({start.weight * next.weight, start.value});
        auto& value = longer.back().value;
        value.insert(value.end(), next.value.begin(), next.value.end());
      }
    all = std::move(longer);
  }
  return all;
}

/// Complex Gaussian: phases of 5th roots of 1 kill every unbalanced product of at most 4 entries.
inline Law<Complex> entry(const SketchKind* mixing, bool complex) {
  if (mixing != sketch_kind("gaussian")) {
    if (!complex) return {{0.5, 1}, {0.5, -1}};
    return {{0.25, 1}, {0.25, -1}, {0.25, {0, 1}}, {0.25, {0, -1}}};
  }
  if (!complex) return {{1.0 / 6, std::sqrt(3.0)}, {2.0 / 3, 0}, {1.0 / 6, -std::sqrt(3.0)}};
  Law<Complex> law = {{0.5, 0}};
  for (int k = 0; k < 5; ++k)
    law.push_back({0.1, std::polar(std::sqrt(2.0), 2 * std::numbers::pi * k / 5)});
  return law;
}

/// The d by `inputs` matrix of the first columns of H, row after row, or its rows at `places`.
inline Vector hadamard_rows(const std::vector<std::size_t>& places, std::size_t inputs) {
  Vector H;
  for (const std::size_t l : places)
    for (std::size_t k = 0; k < inputs; ++k) H.push_back(std::popcount(l & k) % 2 == 0 ? 1 : -1);
  return H;
}

/// The m by `inputs` matrix that adds coordinate k into bucket buckets[k].
inline Vector bucket_rows(const std::vector<std::size_t>& buckets, std::size_t m) {
  Vector A(m * buckets.size());
  for (std::size_t k = 0; k < buckets.size(); ++k) A[buckets[k] * buckets.size() + k] = 1;
  return A;
}

/// What one factor is mapped by, but for the signs of its coordinates. Tuple: H in full.
inline Law<Vector> unsigned_matrices(const Shape& shape, std::size_t inputs) {
  const std::size_t m = size_of(shape.columns);
  Law<Vector> law;
  if (shape.kind == sketch_kind("tensor_sketch")) {
    Law<std::size_t> bucket;
    for (std::size_t l = 0; l < m; ++l) bucket.push_back({1 / static_cast<double>(m), l});
    for (const auto& buckets : independent(bucket, inputs))
      law.push_back({buckets.weight, bucket_rows(buckets.value, m)});
  } else if (shape.kind == sketch_kind("tuple")) {
    std::vector<std::size_t> every(size_of(shape.padded));
    std::iota(every.begin(), every.end(), std::size_t{0});
    law.push_back({1, hadamard_rows(every, inputs)});
  } else {
    for (const auto& places : indices(shape))
      law.push_back({places.weight, hadamard_rows(places.value, inputs)});
  }
  return law;
}

/// The random matrix, row after row, that one factor of `inputs` coordinates is mapped by.
inline Law<Vector> matrices(const Shape& shape, std::size_t inputs) {
  const Law<Complex> one = entry(shape.kind, shape.complex);
  if (shape.kind == sketch_kind("rademacher") || shape.kind == sketch_kind("gaussian"))
    return independent(one, size_of(shape.columns) * inputs);
  Law<Vector> law;
  for (const auto& plain : unsigned_matrices(shape, inputs))
    for (const auto& signs : independent(one, inputs)) {
      law.push_back({plain.weight * signs.weight, plain.value});
      Vector& A = law.back().value;
      for (std::size_t k = 0; k < A.size(); ++k) A[k] *= signs.value[k % inputs];
    }
  return law;
}

inline Vector times(const Vector& A, const Vector& u) {
  Vector result(A.size() / u.size());
  for (std::size_t l = 0; l < result.size(); ++l)
    for (std::size_t k = 0; k < u.size(); ++k) result[l] += A[l * u.size() + k] * u[k];
  return result;
}

/// What the columns of two factors make together: circular convolution, all tuples, or products.
inline Vector joined(const SketchKind* mixing, const Vector& a, const Vector& b) {
  if (mixing == sketch_kind("tuple")) {
    Vector result;
    for (const Complex& x : a)
      for (const Complex& y : b) result.push_back(x * y);
    return result;
  }
  Vector result(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (mixing != sketch_kind("tensor_sketch")) {
      result[k] = a[k] * b[k];
    } else {
      for (std::size_t l = 0; l < a.size(); ++l) result[(k + l) % a.size()] += a[k] * b[l];
    }
  }
  return result;
}

inline Law<Rows> mapped(const Shape& shape, const Law<Rows>& factor) {
  Law<Rows> law;
  for (const auto& A : matrices(shape, factor[0].value.u.size()))
    for (const auto& rows : factor)
      law.push_back(
          {A.weight * rows.weight, {times(A.value, rows.value.u), times(A.value, rows.value.v)}});
  return law;
}

using Visit = std::function<void(double, const Rows&)>;

inline void visit_columns(const Shape& shape, const Law<std::vector<std::size_t>>& chosen,
                          double weight, const Rows& all, const Visit& visit) {
  const double scale = shape.kind == sketch_kind("tensor_sketch")
                           ? 1
                           : 1 / std::sqrt(static_cast<double>(shape.columns));
  for (const auto& choice : chosen) {
    Rows rows;
    for (const std::size_t l : choice.value) {
      rows.u.push_back(scale * all.u[l]);
      rows.v.push_back(scale * all.v[l]);
    }
    visit(weight * choice.weight, rows);
  }
}

/// Every draw of the sketch of independent factors, each with its own law of rows.
inline void enumerate(const Shape& shape, const std::vector<Law<Rows>>& factors,
                      const Visit& visit) {
  std::vector<Law<Rows>> images;
  std::size_t tuples = 1;
  for (const Law<Rows>& factor : factors) {
    images.push_back(mapped(shape, factor));
    tuples *= size_of(shape.padded);
  }
  Law<std::vector<std::size_t>> chosen = {{1, {}}};
  if (shape.kind == sketch_kind("tuple")) {
    chosen = shuffled(std::vector<int>(tuples, 1), size_of(shape.columns));
  } else {
    for (std::size_t l = 0; l < size_of(shape.columns); ++l) chosen[0].value.push_back(l);
  }
  const std::function<void(std::size_t, double, const Rows&)> descend =
      [&](std::size_t i, double weight, const Rows& rows) {
        if (i == images.size()) return visit_columns(shape, chosen, weight, rows, visit);
        for (const auto& next : images[i])
          descend(i + 1, weight * next.weight,
                  i == 0 ? next.value
                         : Rows{joined(shape.kind, rows.u, next.value.u),
                                joined(shape.kind, rows.v, next.value.v)});
      };
  descend(0, 1, {});
}

inline Law<Rows> law_of(const Shape& shape, const std::vector<Law<Rows>>& factors) {
  Law<Rows> law;
  enumerate(shape, factors, [&](double weight, const Rows& rows) {
    law.push_back({weight, rows});
  });
  return law;
}

}  // namespace mercer::test
