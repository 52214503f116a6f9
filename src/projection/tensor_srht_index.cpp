// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// upsampled (Wacker, Kanagawa, Filippone 2022): for each factor the indices 0..d-1, each ceil(m/d)
// times, shuffled, and the first m of them. stacked (the same paper): a permutation for each factor
// and block of d columns. tuple (Ahle et al. 2020, who draw with replacement): m distinct elements of
// [d]^p.
#include "projection/tensor_srht_index.h"

#include <algorithm>
#include <bit>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "random/distributions.h"

namespace mercer::projection {
namespace {

// With more bits than this, [d]^p is sampled by rejection.
constexpr int64_t kMostEnumeratedBits = 62;
// Columns of stacked blocks drawn together: fewer would make a gather too short.
constexpr int64_t kIndexColumns = 1024;

// Steps of a shuffle, and tuples, between two checks for cancellation.
constexpr size_t kStepsTogether = size_t{1} << 16;
constexpr int64_t kTuplesTogether = 4096;
// Indices that a type can hold.
template <class T>
constexpr int64_t kMostOf = int64_t{1} << 8 * sizeof(T);

int64_t copies_of(const IndexLaw& law) noexcept { return (law.columns - 1) / law.d + 1; }

int64_t bits_of(int64_t d) noexcept { return std::countr_zero(static_cast<uint64_t>(d)); }

random::Cursor cursor_of(const IndexLaw& law, int64_t factor, int64_t block) {
  const auto number = static_cast<uint64_t>(law.first_factor + factor) << 32;
  return random::Cursor(
      random::Stream(law.seed, random::Tag::permutation, number | static_cast<uint64_t>(block)));
}

// Indices are shuffled in as few bytes as they need: with many columns nearly every swap waits for
// memory.
template <class T>
void shuffle_copies(const IndexLaw& law, Context& context, std::span<int32_t> index) {
  std::vector<T> order(copies_of(law) * law.d);
  Stage stage(context, checked_multiply(law.factors, std::ssize(order), "indices"));
  for (int64_t i = 0; i < law.factors; ++i) {
    for (size_t l = 0; l < order.size(); ++l)
      order[l] = static_cast<T>(static_cast<int64_t>(l) & (law.d - 1));
    random::Cursor cursor = cursor_of(law, i, 0);
    for (size_t begin = 0; begin < order.size(); begin += kStepsTogether) {
      const size_t end = std::min(begin + kStepsTogether, order.size());
      random::shuffle(cursor, std::span(order), begin, std::min(end, order.size() - 1));
      stage.advance(static_cast<int64_t>(end - begin));
      context.checkpoint();
    }
    std::copy_n(order.begin(), law.columns, index.begin() + i * law.columns);
  }
}

void draw_upsampled(const IndexLaw& law, Context& context, std::span<int32_t> index) {
  if (law.d <= kMostOf<uint8_t>) return shuffle_copies<uint8_t>(law, context, index);
  if (law.d <= kMostOf<uint16_t>) return shuffle_copies<uint16_t>(law, context, index);
  shuffle_copies<int32_t>(law, context, index);
}

void draw_stacked(const IndexLaw& law, int64_t group, std::span<int32_t> index) {
  const int64_t n = index_block(law), blocks = n / law.d;
  std::vector<int64_t> order(law.d);
  for (int64_t i = 0; i < law.factors; ++i) {
    for (int64_t b = 0; b < blocks; ++b) {
      random::Cursor cursor = cursor_of(law, i, group * blocks + b);
      random::permutation(cursor, order);
      std::copy(order.begin(), order.end(), index.begin() + i * n + b * law.d);
    }
  }
}

// A tuple is a number below d^p, its digits the indices.
void draw_enumerated(const IndexLaw& law, Context& context, std::span<int32_t> index) {
  const int64_t bits = bits_of(law.d);
  std::vector<int64_t> tuples(law.columns);
  random::Cursor cursor = cursor_of(law, 0, 0);
  random::sample_without_replacement(cursor, int64_t{1} << (bits * law.factors), tuples, &context);
  for (int64_t i = 0; i < law.factors; ++i) {
    for (int64_t l = 0; l < law.columns; ++l)
      index[i * law.columns + l] = static_cast<int32_t>((tuples[l] >> (bits * i)) & (law.d - 1));
  }
}

// Tuples one after another, each drawn again while it is equal to an earlier one.
void draw_rejected(const IndexLaw& law, Context& context, std::span<int32_t> index) {
  const auto at = [&](int64_t i, int64_t l) -> int32_t& { return index[i * law.columns + l]; };
  const auto hash = [&](int64_t l) {
    uint64_t h = 0;
    for (int64_t i = 0; i < law.factors; ++i)
      h = (h ^ static_cast<uint64_t>(at(i, l))) * 0x9E3779B97F4A7C15u + (h >> 29);
    return static_cast<size_t>(h);
  };
  const auto equal = [&](int64_t a, int64_t b) {
    for (int64_t i = 0; i < law.factors; ++i) {
      if (at(i, a) != at(i, b)) return false;
    }
    return true;
  };
  std::unordered_set<int64_t, decltype(hash), decltype(equal)> seen(
      static_cast<size_t>(law.columns), hash, equal);
  random::Cursor cursor = cursor_of(law, 0, 0);
  Stage stage(context, law.columns);
  for (int64_t l = 0; l < law.columns; ++l) {
    if (l % kTuplesTogether == kTuplesTogether - 1) {
      stage.advance(kTuplesTogether);
      context.checkpoint();
    }
    do {
      for (int64_t i = 0; i < law.factors; ++i)
        at(i, l) =
            static_cast<int32_t>(random::uniform_below(cursor, static_cast<uint64_t>(law.d)));
    } while (!seen.insert(l).second);
  }
}

}  // namespace

int64_t index_block(const IndexLaw& law) noexcept {
  if (law.rows != SrhtRows::stacked) return law.columns;
  return law.d * std::clamp<int64_t>(kIndexColumns / law.d, 1, (law.columns - 1) / law.d + 1);
}

int64_t index_scratch_bytes(const IndexLaw& law) {
  const auto each = static_cast<int64_t>(sizeof(int64_t));
  if (law.rows == SrhtRows::stacked) return checked_multiply(law.d, each, "a permutation");
  if (law.rows == SrhtRows::upsampled) {
    const int64_t own = law.d <= kMostOf<uint8_t> ? 1 : law.d <= kMostOf<uint16_t> ? 2 : 4;
    return checked_multiply(checked_multiply(copies_of(law), law.d, "a permutation"), own,
                            "a permutation");
  }
  // A number, a bucket and an entry of a hash table.
  return checked_multiply(law.columns, 7 * each, "tuples");
}

void draw_index(const IndexLaw& law, int64_t group, Context& context, std::span<int32_t> index) {
  if (law.rows == SrhtRows::upsampled) return draw_upsampled(law, context, index);
  if (law.rows == SrhtRows::stacked) return draw_stacked(law, group, index);
  if (bits_of(law.d) * law.factors <= kMostEnumeratedBits)
    return draw_enumerated(law, context, index);
  draw_rejected(law, context, index);
}

void check_index(const IndexLaw& law) {
  const int64_t bits = bits_of(law.d) * law.factors;
  require(law.rows != SrhtRows::tuple || bits > kMostEnumeratedBits ||
              law.columns <= int64_t{1} << bits,
          MERCER_INVALID_ARGUMENT,
          "%ld columns (complex_to_real: half the features), expected at most d^p = %ld^%ld "
          "distinct tuples for kind = tuple",
          law.columns, law.d, law.factors);
}

}  // namespace mercer::projection
