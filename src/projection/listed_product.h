// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSketch of rows with few terms: factors are lists of terms, convolved one after the other.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "projection/hashed_terms.h"
#include "projection/term_product.h"

namespace mercer::projection {

class ListedProduct {
 public:
  explicit ListedProduct(const SketchShape& shape) : shape_(shape) {
    const double steps = static_cast<double>(m()) * std::bit_width(static_cast<uint64_t>(m()));
    budget_ = static_cast<double>(shape.factors.size() + 1) * steps / kTermCost;
  }

  /// Whether row i costs less as lists than in the Fourier domain.
  template <class T>
  bool pays(std::span<const FactorRows<T>> rows, int64_t i) const noexcept {
    if (rows.size() == 1) return true;
    int64_t terms = 1, work = 0;
    for (size_t f = 0; f < rows.size(); ++f) {
      const int64_t own = count_terms(shape_.factors[f], rows[f], i);
      if (terms > room() || own > room()) return false;
      terms *= own;
      work += terms;
    }
    return static_cast<double>(work) <= budget_;
  }

  /// Adds S(u) of row i to re and im (null for real sketches). Storage: 3 m numbers, none for one
  /// factor.
  template <class T>
  void add(std::span<const PackedFactor<T>> factors, std::span<const FactorRows<T>> rows, int64_t i,
           T* re, T* im, T* storage) const noexcept {
    if (factors.size() == 1) {
      T* const planes[] = {re, im};
      const int shift = im == nullptr ? 0 : 1;
      for_each_term(factors[0], rows[0], i,
                    [&](uint32_t slot, T value) { planes[slot & shift][slot >> shift] += value; });
      return;
    }
    Terms<T> all = list(storage, 0), own = list(storage, 1), next = list(storage, 2);
    collect(factors[0], rows[0], i, all);
    for (size_t f = 1; f + 1 < rows.size(); ++f) {
      collect(factors[f], rows[f], i, own);
      multiply_terms(all, own, m(), shape_.complex, next);
      std::swap(all, next);
    }
    collect(factors.back(), rows.back(), i, own);
    add_terms(all, own, m(), re, im);
  }

 private:
  // A transform takes m log2 m steps; a term of a list costs as much as kTermCost of the (p + 1) m
  // log2 m steps of p + 1 transforms, about half a nanosecond each (measured, m = 64 to 4,096).
  static constexpr double kTermCost = 16;

  int64_t m() const noexcept { return shape_.columns; }
  // Most terms of a list: three lists fit where spectra go.
  int64_t room() const noexcept { return m() / 2; }

  template <class T>
  Terms<T> list(T* storage, int64_t place) const noexcept {
    T* const slots = storage + 2 * place * room();
    return {reinterpret_cast<uint32_t*>(slots), slots + room()};
  }

  template <class T>
  static void collect(const PackedFactor<T>& factor, const FactorRows<T>& rows, int64_t i,
                      Terms<T>& terms) noexcept {
    terms.count = 0;
    for_each_term(factor, rows, i, [&terms](uint32_t slot, T value) {
      terms.slots[terms.count] = slot;
      terms.values[terms.count++] = value;
    });
  }

  const SketchShape& shape_;
  double budget_;
};

}  // namespace mercer::projection
