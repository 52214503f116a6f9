// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Roots of A(omega) = curl omega omega' + divergence (||omega||^2 I - omega omega').
#pragma once

#include <memory>

#include "kernel/spectral_moments.h"
#include "operator/frequencies.h"
#include "operator/frequency_root.h"

namespace mercer::operators {

/// The root of the divergence-free part: ||omega|| I - omega omega'/||omega||, p x p; or ||omega||
/// times an orthonormal basis of what is orthogonal to omega, p x (p - 1).
enum class DivergenceRoot { symmetric, orthonormal };

/// Of as many outputs as omega_j has inputs. length > 0: that of every omega_j in A, whatever its
/// own (bounded forms). Columns: sqrt(curl) omega, then sqrt(divergence) times the root of the
/// divergence-free part; a part whose weight is 0 has none.
std::unique_ptr<const FrequencyRoot> make_field_root(std::shared_ptr<const Frequencies> omega,
                                                     const kernel::FieldParts& parts, double length,
                                                     DivergenceRoot kind);

}  // namespace mercer::operators
