// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of weighted monomials.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/derivative.h"
#include "feature/monomials.h"

namespace mercer::feature {

/// The last D monomials, each times a weight.
template <class T>
struct WeightedMonomials {
  const Monomials& monomials;
  const T* weights;
  int64_t D;
};

/// As in Derivatives. UNSUPPORTED: as Jet.
template <class T>
void differentiate_monomials(const WeightedMonomials<T>& map, const Derivative& what,
                             MatrixView<const T> X, Context& context, MatrixView<T> out);
template <class T>
void push_forward_monomials(const WeightedMonomials<T>& map, MatrixView<const T> X,
                            MatrixView<const T> V, Context& context, MatrixView<T> out);
template <class T>
void pull_back_monomials(const WeightedMonomials<T>& map, MatrixView<const T> X,
                         MatrixView<const T> G, Context& context, MatrixView<T> out);

}  // namespace mercer::feature
