// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of features of a projection as sums of terms: a number of the row, times a monomial
// of the frequency, times the feature or its slope.
#pragma once

#include <cstdint>
#include <vector>

#include "base/matrix_view.h"
#include "feature/derivative.h"
#include "transform/row_derivative.h"

namespace mercer::feature {

/// A sum of monomials omega^q; |q| is even in all or odd in all.
using MonomialSum = std::vector<MultiIndex>;

/// The factor c(k, p, q, x_k) of a row (transform/row_derivative.h).
struct RowFactor {
  int64_t input;
  int64_t p;
  int64_t q;
};

/// The product over `factors` of the row (1 if there are none) times monomial sum number
/// `monomials`.
struct DerivativeTerm {
  std::vector<RowFactor> factors;
  int64_t monomials;
};

/// Block b of the derivative is the sum of terms first[b], ..., first[b + 1] - 1.
struct DerivativeTerms {
  std::vector<MonomialSum> monomials;  // each once
  std::vector<DerivativeTerm> terms;
  std::vector<int64_t> first;

  int64_t blocks() const noexcept { return std::ssize(first) - 1; }
  int64_t count() const noexcept { return std::ssize(terms); }
  /// Whether the monomials multiply the slope: those of odd order do.
  bool takes_slope(int64_t monomial) const noexcept {
    return total_order(monomials[monomial][0]) % 2 != 0;
  }
};

/// The terms for a map of d inputs; rows null: features of omega'x itself. UNSUPPORTED: a
/// multi-index of more than 4,096 terms.
DerivativeTerms expand(const Derivative& what, int64_t d, const transform::RowDerivative* rows);

/// The number of row x for each term.
template <class T>
void term_factors(const DerivativeTerms& terms, const transform::RowDerivative* rows, const T* x,
                  T* out) noexcept {
  for (size_t t = 0; t < terms.terms.size(); ++t) {
    double product = 1;
    for (const RowFactor& one : terms.terms[t].factors)
      product *= rows->coefficient(one.input, one.p, one.q, static_cast<double>(x[one.input]));
    out[t] = static_cast<T>(product);
  }
}

}  // namespace mercer::feature
