// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The threshold above which a modulator of one bit shows an input as 1.
#pragma once

#include <cstdint>

#include "base/context.h"
#include "base/matrix_view.h"
#include "base/rows.h"
#include "kernel/kernel.h"

namespace mercer::feature {

/// 1 above the threshold, 0 elsewhere, NaN for what is not finite.
double shown_bit(double x, double threshold) noexcept;

/// The threshold whose bits predict the targets of held-out rows best: see bit_threshold.cpp.
/// `seed` decides which rows are used, if there are more than 1,024, and which half of them is held
/// out. Errors: INVALID_ARGUMENT (fewer than 4 rows, numbers that are not finite, inputs or targets
/// that are all equal, a kernel that overflows), OUT_OF_MEMORY, CANCELLED.
double learn_bit_threshold(const kernel::Kernel& kernel, const Rows& rows,
                           MatrixView<const double> targets, uint64_t seed, Context& context);

}  // namespace mercer::feature
