// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exponentials of a row of P, divided by the largest of them.
#pragma once

#include <memory>
#include <span>

#include "feature/feature_map.h"

namespace mercer::feature {

/// Z_ij = scale exp(P_ij - m_i), m_i the largest of the row, P the features of `exponents`;
/// `hyperbolic`: [exp(P - m) | exp(-P - m)]. Ratios within a row are those of exp(P), and its
/// largest column is `scale`. `like`: the map of the same columns without the division; name,
/// kernel and parameters are its own, except for "stabilize". Its columns are exp(m_i + half_norm
/// ||x_i / l||^2 / 2) Z.
std::unique_ptr<FeatureMap> make_stabilized(std::unique_ptr<const FeatureMap> exponents,
                                            std::unique_ptr<const FeatureMap> like, double scale,
                                            double half_norm, bool hyperbolic);

/// logs[i] += factor ||x_i / l||^2 / 2, l the kernel's lengthscale.
void add_half_norms(const kernel::Kernel& kernel, const Rows& X, double factor,
                    std::span<double> logs);
/// Their derivative: out(i, k) += factor X(i, k) / l_k^2 sum_j G(i, j) Z(i, j).
template <class T>
void add_half_norm_slopes(const kernel::Kernel& kernel, MatrixView<const T> X, double factor,
                          MatrixView<const T> Z, MatrixView<const T> G, MatrixView<T> out);

}  // namespace mercer::feature
