// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of some rows and columns at a time go to a buffer that stays in the last-level cache,
// where they are compared with the thresholds: cheap beside the cosines.
#include "feature/binary_codes.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/input_check.h"
#include "random/distributions.h"
#include "transform/sign_bits.h"

namespace mercer::feature {
namespace {

// Columns that are made at a time, and about so many bytes of them.
constexpr int64_t kColumns = 4096;
constexpr int64_t kBufferBytes = int64_t{4} << 20;
constexpr const char* kFeaturesOfBits = "features before they are bits";

// cos(u) + t > 0 where scale cos(u) > -scale t.
template <class T>
AlignedBuffer<T> draw_thresholds(const UniformCosines& cosines, Columns c) {
  std::vector<double> uniform(c.end - c.begin);
  random::fill_uniform(random::Stream(cosines.seed, random::Tag::phase, 1),
                       static_cast<uint64_t>(c.begin), uniform);
  AlignedBuffer<T> thresholds(c.end - c.begin);
  for (int64_t j = 0; j < c.end - c.begin; ++j)
    thresholds[j] = static_cast<T>(cosines.scale * (1 - 2 * uniform[j]));
  return thresholds;
}

[[noreturn]] void refuse_row(const FeatureMap& map, const Rows& X, int64_t row) {
  if (const auto bad = find_bad_input(map.kernel(), X, row, row + 1)) refuse(map.kernel(), *bad);
  fail(MERCER_INVALID_ARGUMENT,
       "X: the features of row %ld (counted from 0) are NaN, for which a code has no bits: "
       "expected rows whose projections do not overflow",
       row);
}

/// Signs of Z(i, :) - thresholds go to row i of `codes`, whose rows are `words` apart. Returns the
/// first row with a NaN, or a number beyond all rows.
template <class T>
int64_t code_block(MatrixView<const T> Z, const T* thresholds, Context& context, int64_t words,
                   uint64_t* codes) {
  std::atomic<int64_t> broken{std::numeric_limits<int64_t>::max()};
  parallel_for(context, Z.rows, [&](int64_t i, int) noexcept {
    if (transform::sign_bits(Z.row(i), thresholds, Z.cols, codes + i * words)) return;
    for (int64_t least = broken; i < least && !broken.compare_exchange_weak(least, i);) {
    }
  });
  return broken;
}

template <class View>
void code_rows(const FeatureMap& map, const UniformCosines& cosines, const View& X,
               Context& context, uint64_t* codes) {
  using T = RowNumberOf<View>;
  const int64_t D = map.features(), words = code_words(D), width = std::min(D, kColumns);
  const int64_t row_bytes = width * static_cast<int64_t>(sizeof(T));
  const int64_t step = std::min(X.rows, std::max<int64_t>(kBufferBytes / row_bytes, 64));
  const int64_t numbers = checked_multiply(step, width, kFeaturesOfBits);
  const MemoryCharge charge = context.charge(
      checked_multiply(numbers + 3 * width, sizeof(double), kFeaturesOfBits), kFeaturesOfBits);
  const AlignedBuffer<T> buffer(numbers);
  Stage stage(context, checked_multiply(X.rows, words, kFeaturesOfBits));
  for (int64_t j0 = 0; j0 < D; j0 += width) {
    const Columns c{j0, std::min(j0 + width, D)};
    const AlignedBuffer<T> thresholds = draw_thresholds<T>(cosines, c);
    for (int64_t i0 = 0; i0 < X.rows; i0 += step) {
      const int64_t i1 = std::min(i0 + step, X.rows), units = (i1 - i0) * code_words(c.end - j0);
      const MatrixView<T> Z{buffer.data(), i1 - i0, c.end - c.begin};
      stage.share(units);
      map.apply(X.block_rows(i0, i1), c, context, Z);
      const int64_t broken =
          code_block<T>(Z, thresholds.data(), context, words, codes + i0 * words + j0 / 64);
      if (broken < Z.rows) refuse_row(map, X, i0 + broken);
      stage.advance(units);
    }
  }
}

}  // namespace

void binary_codes(const FeatureMap& map, const Rows& X, Context& context, uint64_t* codes) {
  const std::optional<UniformCosines> cosines = map.uniform_cosines();
  require(cosines.has_value(), MERCER_UNSUPPORTED,
          "map %s has no binary codes, expected fourier with form = phase and drawn frequencies of "
          "equal weight",
          std::string(map.name()).c_str());
  if (X.rows() > 0)
    X.visit([&](const auto& rows) { code_rows(map, *cosines, rows, context, codes); });
}

}  // namespace mercer::feature
