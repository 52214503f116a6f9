// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/tile_loop.h"

#include <algorithm>

#include "base/aligned.h"
#include "base/parallel.h"
#include "base/size.h"

namespace mercer::feature {
namespace {

// Drawing and packing on first use counts as one tile in so many.
constexpr int64_t kPreparing = 8;
constexpr const char* kTilesOfThreads = "the tiles of all threads";

}  // namespace

void run_tiles(const TileWork& work, Context& context) {
  const TileCut cut = work.cut();
  const int64_t blocks = cut.blocks.end - cut.blocks.begin;
  const int64_t ranges = ceil_divide(blocks, cut.tile_blocks);
  const int64_t tiles =
      checked_multiply(ceil_divide(cut.rows, cut.tile_rows), ranges, kTilesOfThreads);
  const int64_t preparing = tiles / kPreparing + 1;
  Stage stage(context, checked_add(preparing, tiles, kTilesOfThreads));
  stage.share(preparing);
  work.prepare(context);
  stage.advance(preparing);
  const int workers = worker_count(context, tiles);
  const int64_t line = static_cast<int64_t>(kAlignment);
  const int64_t each = checked_add(cut.scratch, line - 1, kTilesOfThreads) / line * line;
  const int64_t total = checked_multiply(workers, each, kTilesOfThreads);
  const MemoryCharge charge = context.charge(total, kTilesOfThreads);
  const AlignedBuffer<std::byte> scratch(total);
  for (int worker = 0; worker < workers; ++worker) work.begin(scratch.data() + worker * each);
  stage.share(tiles);
  parallel_for(context, tiles, [&](int64_t chunk, int worker) noexcept {
    const int64_t i0 = chunk / ranges * cut.tile_rows;
    const int64_t first = cut.blocks.begin + chunk % ranges * cut.tile_blocks;
    work.run({i0,
              std::min(i0 + cut.tile_rows, cut.rows),
              {first, std::min(first + cut.tile_blocks, cut.blocks.end)},
              scratch.data() + worker * each});
  });
  stage.advance(tiles);
  context.checkpoint();
}

}  // namespace mercer::feature
