// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The parameters by which a Gaussian process is fitted about several centres (local.h).
#pragma once

#include <vector>

#include "base/parameters.h"
#include "model/estimator/estimator_options.h"

namespace mercer::model {

/// "local" and "theta".
std::vector<Field> local_fields();
/// Whether a model's own parameters ask for several centres, and for clusters of them.
bool asks_local(const Parameters& own);
bool asks_clusters(const Parameters& own);
/// Refuses what cannot be fitted so.
void check_local(const FitOptions& asked);

}  // namespace mercer::model
