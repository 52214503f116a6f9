// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A test for drift. One fit predicts held-out rows after its training rows and held-out rows among
// them: if rows are exchangeable, both losses have the same distribution, so a rank test is valid
// whatever the fit.
#pragma once

#include <span>

namespace mercer::model {

/// The least number of losses of either kind for the normal approximation at level 1/1000.
inline constexpr size_t kLeastDriftRows = 20;
/// Whether losses are larger than others by the rank test of Mann and Whitney (1947) at level
/// 1/1000 in its normal approximation, ties counted half. False below kLeastDriftRows of either.
bool are_larger(std::span<const double> losses, std::span<const double> others);

}  // namespace mercer::model
