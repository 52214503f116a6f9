// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Attention by a kernel itself, and what linear attention misses of it: measured, and predicted
// from the covariances of the kernel's estimates.
#pragma once

#include "statistic/attention.h"

namespace mercer::statistic {

/// o_i = sum_j k(q_i, k_j) v_j / sum_j k(q_i, k_j); causal: j <= i. NaN where the denominator is 0.
void attend_exactly(const kernel::Kernel& kernel, const AttentionShape& shape, bool causal,
                    const Tokens<double>& tokens, Context& context, MatrixView<double> out);

/// ||attend - attend_exactly||_F / ||attend_exactly||_F of the map as drawn.
double measured_attention_error(const std::shared_ptr<const feature::FeatureMap>& map,
                                const AttentionShape& shape, bool causal,
                                const Tokens<double>& tokens, Context& context);

/// Its root mean square over seeds, to first order in 1/D. Errors: UNSUPPORTED for a map without
/// covariance_at; INVALID_ARGUMENT (an error that is not finite).
double predicted_attention_error(const feature::FeatureMap& map, const AttentionShape& shape,
                                 bool causal, const Tokens<double>& tokens, Context& context);

}  // namespace mercer::statistic
