// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A tile is some codes of A against some of B. A block of B is transposed once for a tile and
// passes over its rows of A, which stay in the second-level cache.
#include <algorithm>

#include "base/aligned.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/binary_codes.h"
#include "transform/hamming.h"

namespace mercer::feature {
namespace {

constexpr int64_t kTileBytes = int64_t{1} << 17;  // of A
constexpr int64_t kTileCodes = 1024;              // of B
constexpr const char* kCodesOfTurns = "turned codes";

}  // namespace

void code_distances(int64_t words, int64_t n, const uint64_t* A, int64_t m, const uint64_t* B,
                    Context& context, int32_t* out) {
  if (n == 0 || m == 0) return;
  const int64_t rows = std::max<int64_t>(kTileBytes / (8 * words), 64);
  const int64_t columns = ceil_divide(m, kTileCodes);
  const int64_t tiles = checked_multiply(ceil_divide(n, rows), columns, "tiles of distances");
  const int workers = worker_count(context, tiles);
  const int64_t bytes = checked_multiply(workers, transform::kTurnedBytes, kCodesOfTurns);
  const MemoryCharge charge = context.charge(bytes, kCodesOfTurns);
  const AlignedBuffer<uint32_t> scratch(bytes / 4);
  Stage stage(context, tiles);
  parallel_for(context, tiles, [&](int64_t tile, int worker) noexcept {
    uint32_t* const turned = scratch.data() + worker * (transform::kTurnedBytes / 4);
    const int64_t i0 = tile / columns * rows, i1 = std::min(i0 + rows, n);
    const int64_t first = tile % columns * kTileCodes, last = std::min(first + kTileCodes, m);
    for (int64_t j = first; j < last; j += transform::kTurnedCodes) {
      const int64_t count = std::min(transform::kTurnedCodes, last - j);
      for (int64_t w = 0; w < words; w += transform::kTurnedWords) {
        const int64_t depth = std::min(transform::kTurnedWords, words - w);
        transform::turn_codes(B + j * words + w, words, depth, count, turned);
        transform::hamming_block(
            {A + i0 * words + w, words, depth, i1 - i0, turned, count, w > 0, out + i0 * m + j, m});
      }
    }
  });
  context.checkpoint();
}

}  // namespace mercer::feature
