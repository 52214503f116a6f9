// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What can be computed of a learnt function f(x) = Phi(x)'theta of p outputs.
#pragma once

#include <cstdint>

namespace mercer::feature {

enum class FieldKind {
  value,       // f_o: p numbers
  jacobian,    // d f_o / d x_l at o d + l: p d numbers
  divergence,  // sum_o d f_o / d x_o: one number; p = d, here and below
  curl,  // d = 2: d_1 f_2 - d_2 f_1; d = 3: the vector; else d_k f_l - d_l f_k, k < l, row by row
  potential,  // phi with grad phi the curl-free part of f, of mean 0: one
  stream      // d = 2: psi with (d_2 psi, -d_1 psi) the divergence-free part of f, of mean 0: one
};

/// How many numbers that is at a point. UNSUPPORTED, naming p and d, where it does not exist.
int64_t field_numbers(FieldKind kind, int64_t p, int64_t d);

}  // namespace mercer::feature
