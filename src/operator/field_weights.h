// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is asked of a learned field f(x) = sum_j (a_j cos omega_j'x + b_j sin omega_j'x), a_j and
// b_j in R^p: everything here is linear in cosines and sines again, so it is a matter of other
// weights.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"

namespace mercer::operators {

enum class FieldKind {
  value,       // f_o: p numbers
  jacobian,    // d f_o / d x_l at o d + l: p d numbers
  divergence,  // sum_o d f_o / d x_o: one; p = d, as in all that follow
  curl,  // d = 2: d_1 f_2 - d_2 f_1; d = 3: the vector; else d_k f_l - d_l f_k, k < l, row by row
  potential,  // phi with grad phi the curl-free part of f, of mean 0: one
  stream      // d = 2: psi with (d_2 psi, -d_1 psi) the divergence-free part of f, of mean 0: one
};

/// How many numbers it is at a point. UNSUPPORTED, naming p and d, where there is no such thing.
int64_t field_numbers(FieldKind kind, int64_t p, int64_t d);

/// From `values`, whose rows c = j (cosine) and F + j (sine) hold a_j and b_j (m fields of p
/// numbers), to `out`, the same of m fields of field_numbers. W holds omega_j, F x d. kind is not
/// value.
void field_weights(FieldKind kind, int64_t p, MatrixView<const double> W,
                   MatrixView<const double> values, MatrixView<double> out);

}  // namespace mercer::operators
