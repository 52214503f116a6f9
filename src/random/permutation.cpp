// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fisher, Yates shuffles (Durstenfeld, CACM 1964), from the front: entry i is swapped with a
// uniform one of i, ..., n-1, so the first k entries are k of n without replacement. The sample
// keeps only the displaced entries, in a hash table.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "random/distributions.h"

namespace mercer::random {
namespace {

constexpr size_t kTogether = 4096;  // entries between two checks for cancellation

}  // namespace

// The targets of a batch are drawn before its swaps, so that distant entries of a long list are
// prefetched meanwhile.
template <class T>
void shuffle(Cursor& cursor, std::span<T> values, size_t begin, size_t end) noexcept {
  std::array<Words, 64> blocks;
  std::array<T*, 64> there;
  while (begin < end) {
    const size_t most = std::min(blocks.size(), end - begin);
    cursor.stream().blocks(cursor.position(), {blocks.data(), most});
    size_t drawn = 0;
    for (; drawn < most; ++drawn) {
      const size_t i = begin + drawn;
      const std::optional<uint64_t> step = uniform_below(blocks[drawn], values.size() - i);
      if (!step) break;
      there[drawn] = &values[i + *step];
      __builtin_prefetch(there[drawn], 1);
    }
    cursor.skip(drawn);
    // The first entry's block was rejected: the cursor goes on to the next blocks.
    if (drawn == 0) there[drawn++] = &values[begin + uniform_below(cursor, values.size() - begin)];
    for (size_t s = 0; s < drawn; ++s) std::swap(values[begin++], *there[s]);
  }
}

template void shuffle(Cursor&, std::span<uint8_t>, size_t, size_t) noexcept;
template void shuffle(Cursor&, std::span<uint16_t>, size_t, size_t) noexcept;
template void shuffle(Cursor&, std::span<int32_t>, size_t, size_t) noexcept;
template void shuffle(Cursor&, std::span<int64_t>, size_t, size_t) noexcept;

void permutation(Cursor& cursor, std::span<int64_t> out) noexcept {
  std::iota(out.begin(), out.end(), int64_t{0});
  if (!out.empty()) shuffle(cursor, out, 0, out.size() - 1);
}

void sample_without_replacement(Cursor& cursor, int64_t n, std::span<int64_t> out,
                                Context* context) {
  require(n >= 0 && out.size() <= static_cast<uint64_t>(n), MERCER_INVALID_ARGUMENT,
          "sample of %zu out of n = %ld without replacement, expected at most n", out.size(), n);
  std::unordered_map<int64_t, int64_t> displaced;
  displaced.reserve(out.size());
  std::optional<Stage> stage;
  if (context != nullptr) stage.emplace(*context, std::ssize(out));
  for (size_t i = 0; i < out.size(); ++i) {
    if (stage && i % kTogether == kTogether - 1) {
      stage->advance(int64_t{kTogether});
      context->checkpoint();
    }
    const auto here = static_cast<int64_t>(i);
    const int64_t there =
        here + static_cast<int64_t>(uniform_below(cursor, static_cast<uint64_t>(n - here)));
    const auto at_here = displaced.find(here);
    const int64_t value_here = at_here == displaced.end() ? here : at_here->second;
    // Entry `here` is final after this step: only entry `there` has to be remembered.
    const auto [at_there, fresh] = displaced.try_emplace(there, there);
    out[i] = there == here ? value_here : at_there->second;
    at_there->second = value_here;
  }
}

}  // namespace mercer::random
