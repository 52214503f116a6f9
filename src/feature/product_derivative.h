// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of features that are products of inner products, z_j = s prod_l (w_lj'x + b_lj).
#pragma once

#include <vector>

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/derivative.h"
#include "projection/multilinear.h"

namespace mercer::feature {

/// A sketch with panels(), and the first input of X that each of its factors reads.
struct ProductFactors {
  const projection::Multilinear* map;
  std::vector<int64_t> begin;
};

/// As FeatureMap::differentiate, push_forward and pull_back. UNSUPPORTED: a multi-index p with
/// prod_k (p_k + 1) > 1,024.
template <class T>
void differentiate_products(const ProductFactors& factors, const Derivative& what,
                            MatrixView<const T> X, Context& context, MatrixView<T> out);
template <class T>
void push_forward_products(const ProductFactors& factors, MatrixView<const T> X,
                           MatrixView<const T> V, Context& context, MatrixView<T> out);
template <class T>
void pull_back_products(const ProductFactors& factors, MatrixView<const T> X, MatrixView<const T> G,
                        Context& context, MatrixView<T> out);

}  // namespace mercer::feature
