// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The terms of a CountSketch C u, u = [scale x, constant], in the order in which x is stored,
// whether dense, complex or sparse; some callers scatter them, others list them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "projection/multilinear.h"

namespace mercer::projection {

/// A factor with its hash: a number x_k adds multipliers[k] x_k to a slot.
template <class T>
struct PackedFactor {
  const uint32_t* slots;
  const T* multipliers;
  int64_t inputs;
  bool has_constant;
};

/// Calls body(slot, value) for every term of C u, u made from row i.
template <class T, class Body>
void for_each_term(const PackedFactor<T>& factor, const FactorRows<T>& rows, int64_t i,
                   Body body) noexcept {
  const uint32_t* const slots = factor.slots;
  const T* const multipliers = factor.multipliers;
  if (rows.sparse != nullptr) {
    rows.sparse->indices.visit([&](const auto* indices) {
      const T* const values = rows.sparse->values;
      for (int64_t p = rows.sparse->begin(i); p < rows.sparse->end(i); ++p)
        body(slots[indices[p]], multipliers[indices[p]] * values[p]);
    });
  } else if (factor.inputs > 0) {
    const T* const re = rows.dense.re.row(i);
    for (int64_t k = 0; k < factor.inputs; ++k) body(slots[k], multipliers[k] * re[k]);
    if (rows.dense.im.data != nullptr) {
      const T* const im = rows.dense.im.row(i);
      for (int64_t k = 0; k < factor.inputs; ++k) {  // i * i = -1
        const T value = multipliers[k] * im[k];
        body(slots[k] ^ 1, (slots[k] & 1) != 0 ? -value : value);
      }
    }
  }
  if (factor.has_constant) body(slots[factor.inputs], multipliers[factor.inputs]);
}

/// The number of calls of for_each_term.
template <class T>
int64_t count_terms(const FactorShape& factor, const FactorRows<T>& rows, int64_t i) noexcept {
  const int64_t constant = factor.constant != 0 ? 1 : 0;
  if (rows.sparse != nullptr) return rows.sparse->end(i) - rows.sparse->begin(i) + constant;
  return factor.inputs * (rows.dense.im.data != nullptr ? 2 : 1) + constant;
}

/// Factors without inputs have no rows of their own.
template <class T>
int64_t count_rows(std::span<const FactorRows<T>> rows) noexcept {
  int64_t count = 0;
  for (const FactorRows<T>& factor : rows)
    count = std::max(count, factor.sparse != nullptr ? factor.sparse->rows : factor.dense.re.rows);
  return count;
}

}  // namespace mercer::projection
