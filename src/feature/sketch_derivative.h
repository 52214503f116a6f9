// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of sketches of any kind, by their power series.
#pragma once

#include "feature/derivative_calls.h"
#include "feature/sketch_series.h"

namespace mercer::feature {

/// As in Derivatives. UNSUPPORTED: a multi-index p with prod_k (p_k + 1) > 1,024. Cost: the images
/// of each node once for a tile of rows; then for every multi-index p prod_k (p_k + 1) times the
/// products of the factors, and for trees the images of inner nodes as often; pull_back costs the
/// adjoint of all images.
MERCER_DERIVATIVES(SketchParts)

}  // namespace mercer::feature
