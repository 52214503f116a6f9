// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that depend on where they stand. One fit predicts rows that stand after all it was learnt
// from, and rows from among these: of exchangeable rows the losses of both are alike in
// distribution, whatever the fit, so that their ranks are a test with a level of its own.
#pragma once

#include <span>

namespace mercer::model {

/// Of either kind, which the normal limit holds for to the thousandth.
inline constexpr size_t kLeastDriftRows = 20;
/// Whether losses are larger than others by Mann and Whitney's rank test (1947) of level 1/1000 in
/// its normal limit, ties counted half; never of fewer each.
bool are_larger(std::span<const double> losses, std::span<const double> others);

}  // namespace mercer::model
