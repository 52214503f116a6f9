// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Powers of the modulus of complex projections.
#pragma once

#include <cstdint>
#include <memory>

#include "transform/epilogue.h"
#include "transform/row_prologue.h"

namespace mercer::transform {

/// scale (P_0^2 + P_1^2)^half of two projections, half >= 1. NaN or infinite P give features that
/// are not finite.
std::unique_ptr<const Epilogue> modulus_epilogue(int64_t half);
/// scale min(round((P_0^2 + P_1^2)^half gain), most): recorded by a camera of most + 1 levels. NaN
/// in P gives NaN.
std::unique_ptr<const Epilogue> recorded_modulus_epilogue(int64_t half, double gain, double most);
/// x -> x, NaN for numbers that are not finite, which a camera would show at its highest level.
std::shared_ptr<const RowPrologue> finite_prologue();

}  // namespace mercer::transform
