// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fisher, Yates shuffles (Durstenfeld, CACM 1964), from the front: entry i is swapped with a
// uniform one of i, ..., n-1, so the first k entries are k of n without replacement. The sample
// keeps only the displaced entries, in a hash table.
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "random/distributions.h"

namespace mercer::random {

void permutation(Cursor& cursor, std::span<int64_t> out) noexcept {
  std::iota(out.begin(), out.end(), int64_t{0});
  for (size_t i = 0; i + 1 < out.size(); ++i) {
    std::swap(out[i], out[i + uniform_below(cursor, out.size() - i)]);
  }
}

void sample_without_replacement(Cursor& cursor, int64_t n, std::span<int64_t> out) {
  require(n >= 0 && out.size() <= static_cast<uint64_t>(n), MERCER_INVALID_ARGUMENT,
          "sample of %lld out of n = %lld without replacement, expected at most n",
          static_cast<long long>(out.size()), static_cast<long long>(n));
  std::unordered_map<int64_t, int64_t> displaced;
  displaced.reserve(out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const auto here = static_cast<int64_t>(i);
    const int64_t there =
        here + static_cast<int64_t>(uniform_below(cursor, static_cast<uint64_t>(n - here)));
    const auto at_here = displaced.find(here);
    const int64_t value_here = at_here == displaced.end() ? here : at_here->second;
    // Entry `here` is final after this step: only entry `there` needs to be remembered.
    const auto [at_there, fresh] = displaced.try_emplace(there, there);
    out[i] = there == here ? value_here : at_there->second;
    at_there->second = value_here;
  }
}

}  // namespace mercer::random
