// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Roots of A(omega) = curl omega omega' + divergence (||omega||^2 I - omega omega').
#pragma once

#include <memory>

#include "feature/field/frequencies.h"
#include "feature/field/frequency_root.h"
#include "kernel/kernel.h"
#include "kernel/spectral_moments.h"

namespace mercer::feature {

/// The root of the divergence-free part: ||omega|| I - omega omega'/||omega||, p x p; or ||omega||
/// times an orthonormal basis of the complement of omega, p x (p - 1).
enum class DivergenceRoot { symmetric, orthonormal };

/// Whether A has a divergence-free part for some mixture; if not there is no root to choose.
bool has_divergence(const kernel::Kernel& kernel);

/// q for p outputs.
int64_t field_root_width(int64_t p, const kernel::FieldParts& parts, DivergenceRoot kind);

/// The root, with as many outputs as omega_j has inputs. length > 0: the norm that every omega_j
/// has in A, whatever its own (bounded forms). Columns: sqrt(curl) omega, then sqrt(divergence)
/// times the root of the divergence-free part; a part of weight 0 has none.
std::unique_ptr<const FrequencyRoot> make_field_root(std::shared_ptr<const Frequencies> omega,
                                                     const kernel::FieldParts& parts, double length,
                                                     DivergenceRoot kind);

}  // namespace mercer::feature
