// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that many passes read: their features are computed once, where n x D numbers may be kept.
#pragma once

#include <memory>

#include "solver/block_source.h"

namespace mercer::solver {

/// What a cache takes at most: 512 MiB, and what the context has room for.
inline constexpr int64_t kMostCachedBytes = int64_t{1} << 29;

/// Whether make_cached of as many rows in single precision would keep them.
bool fits_cache(const BlockSource& source, const Context& context);

/// The source's blocks kept in memory, charged to the context; null where that is more than a cache
/// takes. The source is referred to.
std::unique_ptr<BlockSource> make_cached(const BlockSource& source, Context& context);

}  // namespace mercer::solver
