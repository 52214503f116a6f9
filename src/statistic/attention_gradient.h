// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Vector-Jacobian products of linear attention.
#pragma once

#include "statistic/attention.h"

namespace mercer::statistic {

template <class T>
struct TokenGradients {
  MatrixView<T> Q, K, V;
};

/// With G = dL/dout of a real loss L of the answers of attend: dL/dQ, dL/dK, dL/dV. Errors:
/// UNSUPPORTED for a map without derivatives.
template <class T>
void pull_attention_back(const feature::FeatureMap& map, const AttentionShape& shape, bool causal,
                         const Tokens<T>& tokens, MatrixView<const T> G, Context& context,
                         const TokenGradients<T>& out);

}  // namespace mercer::statistic
