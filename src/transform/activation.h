// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Epilogues of maps that apply one function to every projected number P = XW, not in turns. A P
// that is NaN or infinite gives NaN, whatever the function's value there.
#pragma once

#include <memory>

#include "transform/epilogue.h"

namespace mercer::transform {

/// scale 1[P > 0] P^order, order 0, 1 or 2 (else INVALID_ARGUMENT). Has a gradient from order 1 on.
std::unique_ptr<const Epilogue> positive_power_epilogue(int64_t order);
/// scale sign(P), one bit: sign(0) = 1.
std::unique_ptr<const Epilogue> sign_epilogue();

}  // namespace mercer::transform
