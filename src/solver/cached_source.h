// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A cache for rows that are read many times: features are computed once if n x D numbers fit.
#pragma once

#include <memory>

#include "solver/block_source.h"

namespace mercer::solver {

/// A cache takes at most 512 MiB, and at most what the context has room for.
inline constexpr int64_t kMostCachedBytes = int64_t{1} << 29;

/// Whether make_cached would keep the rows if features are in single precision.
bool fits_cache(const BlockSource& source, const Context& context);

/// Keeps the source's blocks in memory, charged to the context; null if they do not fit. The source
/// is referred to.
std::unique_ptr<BlockSource> make_cached(const BlockSource& source, Context& context);

}  // namespace mercer::solver
