// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The loops find the first fault of each chunk without throwing; the first of all is reported
// after.
#include "csr_arguments.h"

#include <atomic>
#include <limits>

#include "base/parallel.h"

namespace mercer::capi {
namespace {

constexpr int64_t kChunk = int64_t{1} << 16;
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

/// The least i in [begin, end) with is_bad(i), or kNone.
template <class IsBad>
int64_t first_bad(int64_t begin, int64_t end, Context& context, const IsBad& is_bad) {
  std::atomic<int64_t> first{kNone};
  const int64_t chunks = (end - begin) / kChunk + 1;
  const Stage unreported(context, 0);  // progress begins with the work that the rows are for
  parallel_for(context, chunks, [&](int64_t chunk, int) noexcept {
    const int64_t from = begin + chunk * kChunk;
    const int64_t to = std::min(from + kChunk, end);
    int64_t i = from;
    while (i < to && !is_bad(i)) ++i;
    if (i >= to) return;
    int64_t least = first.load(std::memory_order_relaxed);
    while (i < least && !first.compare_exchange_weak(least, i, std::memory_order_relaxed)) {
    }
  });
  return first.load(std::memory_order_relaxed);
}

void check_offsets(int64_t n, int64_t nnz, IntegerView offsets, Context& context) {
  const int64_t i = offsets.visit([&](const auto* o) {
    return first_bad(0, n + 1, context, [=](int64_t at) noexcept {
      return o[at] < 0 || o[at] > nnz || (at > 0 && o[at] < o[at - 1]);
    });
  });
  if (i == kNone) return;
  const int64_t value = offsets[i];
  require(value >= 0 && value <= nnz, MERCER_INVALID_ARGUMENT,
          "offsets[%ld] = %ld, expected 0 to nnz = %ld", i, value, nnz);
  fail(MERCER_INVALID_ARGUMENT,
       "offsets[%ld] = %ld, expected at least offsets[%ld] = %ld (row %ld ends before it "
       "begins)",
       i, value, i - 1, offsets[i - 1], i - 1);
}

/// The row that holds position p: the last with offsets[row] <= p.
int64_t row_of(int64_t p, int64_t n, IntegerView offsets) {
  int64_t low = 0;
  int64_t high = n;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (offsets[middle] <= p ? low : high) = middle;
  }
  return low;
}

}  // namespace

void check_csr_numbers(int64_t n, int64_t d, int64_t nnz, IntegerView offsets, IntegerView indices,
                       Context& context) {
  if (n == 0) return;
  const Stage uncounted(context, 0);
  check_offsets(n, nnz, offsets, context);
  const int64_t p = indices.visit([&](const auto* k) {
    return first_bad(offsets[0], offsets[n], context,
                     [=](int64_t at) noexcept { return k[at] < 0 || k[at] >= d; });
  });
  if (p == kNone) return;
  const int64_t row = row_of(p, n, offsets);
  fail(MERCER_INVALID_ARGUMENT,
       "indices[%ld] = %ld (row %ld, entry %ld), expected 0 to %ld for d = %ld inputs", p,
       indices[p], row, p - offsets[row], d - 1, d);
}

}  // namespace mercer::capi
