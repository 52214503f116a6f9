// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The median heuristic, over all pairs of rows or over drawn ones.
#include "kernel/median_heuristic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/views.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::kernel {
namespace {

constexpr int64_t kPairsPerChunk = 4096;
constexpr const char* kDistances = "the distances of pairs";
constexpr int64_t kNumbersPerChunk = int64_t{1} << 22;  // a few milliseconds between cancellations

void require_finite(const Rows& X) {
  X.visit([](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      for_each_stored(rows, i, [i](int64_t j, auto value) {
        require(std::isfinite(value), MERCER_INVALID_ARGUMENT, at(i, j),
                "X is %g, expected finite numbers", static_cast<double>(value));
      });
    }
  });
}

template <class T>
double squared_distance(MatrixView<const T> X, int64_t i, int64_t j) noexcept {
  double sum = 0;
  for (int64_t k = 0; k < X.cols; ++k) {
    const double t = static_cast<double>(X(i, k)) - static_cast<double>(X(j, k));
    sum += t * t;
  }
  return sum;
}

// Squared distance of rows stored as in CsrRows.
double squared_distance(const CsrView<double>& X, int64_t i, int64_t j) noexcept {
  return X.indices.visit([&](const auto* columns) {
    double sum = 0;
    int64_t p = X.begin(i), q = X.begin(j);
    const int64_t p_end = X.end(i), q_end = X.end(j);
    while (p < p_end || q < q_end) {
      const bool take_p = q == q_end || (p < p_end && columns[p] <= columns[q]);
      const bool take_q = p == p_end || (q < q_end && columns[q] <= columns[p]);
      const double t = (take_p ? X.values[p] : 0) - (take_q ? X.values[q] : 0);
      sum += t * t;
      p += take_p;
      q += take_q;
    }
    return sum;
  });
}

template <class Distance>
AlignedBuffer<double> all_pairs(int64_t rows, int64_t pairs, Context& context,
                                const Distance& distance) {
  AlignedBuffer<double> squared(pairs, context, kDistances);
  const auto body = [&](int64_t i, int) noexcept {
    double* out = squared.data() + i * (2 * rows - i - 1) / 2;  // pairs of the rows before i
    for (int64_t j = i + 1; j < rows; ++j) *out++ = distance(i, j);
  };
  parallel_for(context, rows - 1, body);
  return squared;
}

// Pairs with replacement, i != j: drawn from one stream in order, so independent of the number of
// threads.
template <class Distance>
AlignedBuffer<double> drawn_pairs(int64_t count, int64_t pairs, uint64_t seed, int64_t numbers,
                                  Context& context, const Distance& distance) {
  AlignedBuffer<double> squared(pairs, context, kDistances);
  const AlignedBuffer<int64_t> rows(checked_multiply(pairs, 2, kDistances), context, kDistances);
  random::Cursor cursor(random::Stream(seed, random::Tag::sample, 0));
  const auto n = static_cast<uint64_t>(count);
  for (int64_t p = 0; p < pairs; ++p) {
    const auto i = static_cast<int64_t>(random::uniform_below(cursor, n));
    const auto j = static_cast<int64_t>(random::uniform_below(cursor, n - 1));
    rows[2 * p] = i;
    rows[2 * p + 1] = j < i ? j : j + 1;
  }
  const int64_t per_chunk =
      std::clamp<int64_t>(kNumbersPerChunk / std::max<int64_t>(numbers, 1), 1, kPairsPerChunk);
  const auto body = [&](int64_t chunk, int) noexcept {
    const int64_t last = std::min(pairs, (chunk + 1) * per_chunk);
    for (int64_t p = chunk * per_chunk; p < last; ++p) {
      squared[p] = distance(rows[2 * p], rows[2 * p + 1]);
    }
  };
  parallel_for(context, ceil_divide(pairs, per_chunk), body);
  return squared;
}

double median_of_roots(AlignedBuffer<double>& squared) {
  double* middle = squared.begin() + squared.size() / 2;
  std::nth_element(squared.begin(), middle, squared.end());
  if (squared.size() % 2 == 1) return std::sqrt(*middle);
  const double below = *std::max_element(squared.begin(), middle);
  return 0.5 * (std::sqrt(below) + std::sqrt(*middle));
}

}  // namespace

double median_heuristic(const Rows& X, int64_t max_pairs, uint64_t seed, Context& context) {
  const int64_t n = X.rows();
  require(n >= 2, MERCER_INVALID_ARGUMENT, "X.n = %ld, expected at least two", n);
  require(max_pairs >= 1, MERCER_INVALID_ARGUMENT, "max_pairs = %ld, expected a positive number",
          max_pairs);
  require_finite(X);
  const int64_t existing = checked_multiply(n, n - 1, "pairs of rows") / 2;
  const bool all = existing <= max_pairs;
  const int64_t pairs = all ? existing : max_pairs;
  const auto median_of = [&](const auto& rows, int64_t each) {
    const auto distance = [&](int64_t i, int64_t j) noexcept {
      return squared_distance(rows, i, j);
    };
    AlignedBuffer<double> squared = all ? all_pairs(n, pairs, context, distance)
                                        : drawn_pairs(n, pairs, seed, each, context, distance);
    return median_of_roots(squared);
  };
  const double median = X.visit([&](const auto& rows) {
    if constexpr (kIsSparse<decltype(rows)>) {
      const CsrRows stored(X, context, "sparse rows in double");
      return median_of(stored.view(), 2 * (rows.nonzeros() / n));
    } else {
      return median_of(rows, rows.cols);
    }
  });
  require(std::isfinite(median) && median > 0, MERCER_INVALID_ARGUMENT,
          "the median distance of pairs of rows of X is %g, expected a positive finite number "
          "(0: most rows are equal; scale or sample X)",
          median);
  return median;
}

double median_of_pairs(int64_t rows, int64_t pairs, uint64_t seed, int64_t numbers,
                       Context& context,
                       const std::function<double(int64_t, int64_t)>& squared_distance) {
  const int64_t existing = checked_multiply(rows, rows - 1, "pairs of rows") / 2;
  AlignedBuffer<double> squared =
      existing <= pairs ? all_pairs(rows, existing, context, squared_distance)
                        : drawn_pairs(rows, pairs, seed, numbers, context, squared_distance);
  const double median = median_of_roots(squared);
  require(std::isfinite(median), MERCER_INVALID_ARGUMENT,
          "the median distance of pairs of rows of X is %g, expected a finite number", median);
  return median;
}

}  // namespace mercer::kernel
