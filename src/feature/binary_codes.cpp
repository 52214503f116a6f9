// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of some rows and columns at a time go to a buffer that stays in the last-level cache,
// where they are compared with the thresholds: cheap beside the cosines.
#include "feature/binary_codes.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/map_entry.h"
#include "random/distributions.h"
#include "transform/bits.h"

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
  fail(MERCER_INVALID_ARGUMENT, at_row(row),
       "X has features that are NaN, for which a code has no bits, expected rows whose projections "
       "do not overflow");
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

// A tile is some codes of A against some of B. A block of B is transposed once for a tile and
// passes over its rows of A, which stay in the second-level cache.
constexpr int64_t kTileBytes = int64_t{1} << 17;  // of A
constexpr int64_t kTileCodes = 1024;              // of B
constexpr const char* kCodesOfTurns = "turned codes";

// With u = omega'tau ~ N(0, s^2), k = exp(-s^2/2), a bit differs with probability E |cos(b) - cos(b
// + u)|/2 = (2/pi) |sin(u/2)| over the threshold and b, so that the share is (2/pi) E |sin(u/2)|;
// the series is that of |sin|. It has about 9/s terms above rounding. For s <= 3/4, |u| is below 2
// pi with probability 1 - 1e-16, so the share is (2/pi) E sin(|u|/2), whose power series in s,
// s/sqrt(2 pi) sum_i (-s^2/4)^i/(3 5 ... (2i + 1)), takes a dozen terms.
constexpr double kTwoOverPi = 2 / std::numbers::pi;
constexpr double kSmallSpread = 0.75;
// exp(-s^2/2) is 0 beyond.
constexpr double kLargest = 40;

struct Share {
  double value;
  double slope;  // its derivative by s
};

// E sin(|u|/2) is (2/sqrt pi) D(s/sqrt 8) with D' (x) = 1 - 2x D(x), Dawson's.
Share small_share(double s) noexcept {
  double term = s / std::sqrt(2 * std::numbers::pi), sum = term;
  for (int i = 1; std::fabs(term) > 1e-18 * sum; ++i) sum += term *= -s * s / 4 / (2 * i + 1);
  return {kTwoOverPi * sum, kTwoOverPi * (1 / std::sqrt(2 * std::numbers::pi) - s * sum / 4)};
}

Share large_share(double s) noexcept {
  double sum = 0.5, slope = 0;
  for (double m = 1;; ++m) {
    const double power = std::exp(-m * m * s * s / 2);
    if (power < 1e-18) break;
    sum -= power / (4 * m * m - 1);
    slope += m * m * s * power / (4 * m * m - 1);
  }
  return {2 * kTwoOverPi * kTwoOverPi * sum, 2 * kTwoOverPi * kTwoOverPi * slope};
}

Share share_at(double s) noexcept { return s <= kSmallSpread ? small_share(s) : large_share(s); }

// The series of any kernel that is a function of a norm. Its first terms are summed; of the rest,
// with g(m) = (1 - k(m t))/(4 m^2 - 1), the sum over m > M is by the midpoint rule
//   int_{M+1/2}^inf g(m) dm + g'(M + 1/2)/24,
// in error by O(M^-5), whose integral, with m = (M + 1/2)/v, is over v in (0, 1): for near points k
// bends at a small v and for heavy tails nowhere, so (0, 1) is halved towards 0 and every part gets
// a rule of its own.
constexpr int kTerms = 64;
constexpr int kHalvings = 34;  // the rest is below 2^-34/260
constexpr double kScale = 8 / (std::numbers::pi * std::numbers::pi);
constexpr double kFarShare = kScale / 2;
constexpr double kMostLog = 345;  // of t, so that t^2 does not overflow

// Gauss-Legendre, five points on (0, 1).
struct Node {
  double at, weight;
};
constexpr Node kNodes[] = {{0.04691007703066800, 0.11846344252809454},
                           {0.23076534494715845, 0.23931433524968324},
                           {0.5, 0.28444444444444444},
                           {0.76923465505284155, 0.23931433524968324},
                           {0.95308992296933200, 0.11846344252809454}};

double term(const Profile& k, double t, double m) { return (1 - k(m * t)) / (4 * m * m - 1); }

double rest(const Profile& k, double t) {
  constexpr double kFirst = kTerms + 0.5;
  double sum = 0, width = 0.5;
  for (int h = 0; h < kHalvings; ++h, width /= 2) {
    for (const Node& node : kNodes) {
      const double v = width * (1 + node.at);
      sum +=
          width * node.weight * kFirst * (1 - k(t * (kFirst / v))) / (4 * kFirst * kFirst - v * v);
    }
  }
  return sum + (term(k, t, kTerms + 1) - term(k, t, kTerms)) / 24;
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

// The share increases with s: Newton's method, with a bisection wherever a step leaves the
// interval.
double gaussian_from_code_share(double share) noexcept {
  if (!(share > 0)) return std::isnan(share) ? share : 1;
  if (share >= share_at(kLargest).value) return 0;
  double low = 0, high = kLargest, s = 1;
  for (int step = 0; step < 100; ++step) {
    const Share at = share_at(s);
    (at.value < share ? low : high) = s;
    const double newton = s + (share - at.value) / at.slope;
    const double next = newton > low && newton < high ? newton : (low + high) / 2;
    if (std::fabs(next - s) <= 1e-15 * s) break;
    s = next;
  }
  return std::exp(-s * s / 2);
}

double profile_code_share(const Profile& k, double t) {
  double sum = rest(k, t);
  for (int m = kTerms; m >= 1; --m) sum += term(k, t, m);
  return kScale * sum;
}

// Solved for the logarithm of t, in which the share rises evenly: steps that double find an
// interval that holds the root, then false position with the weight of the end that stays halved
// (Illinois).
double profile_from_code_share(const Profile& k, double share) {
  if (!(share > 0)) return std::isnan(share) ? share : 1;
  if (share >= kFarShare) return 0;
  const auto miss = [&](double u) { return profile_code_share(k, std::exp(u)) - share; };
  double low = 0, at_low = miss(0), high = low, at_high = at_low;
  for (double step = 1; at_low > 0 && low > -kMostLog; step *= 2) {
    high = low, at_high = at_low;
    low = std::max(low - step, -kMostLog), at_low = miss(low);
  }
  for (double step = 1; at_high < 0 && high < kMostLog; step *= 2) {
    low = high, at_low = at_high;
    high = std::min(high + step, kMostLog), at_high = miss(high);
  }
  if (at_low >= 0) return k(std::exp(low));
  if (at_high <= 0) return k(std::exp(high));
  double kept_low = at_low, kept_high = at_high;
  int side = 0;
  for (int step = 0; step < 100 && high - low > 1e-12; ++step) {
    const double u = (low * kept_high - high * kept_low) / (kept_high - kept_low);
    const double at = miss(u);
    if (std::fabs(at) <= 1e-13) return k(std::exp(u));
    if (at < 0) {
      low = u, kept_low = at;
      if (side == -1) kept_high /= 2;
      side = -1;
    } else {
      high = u, kept_high = at;
      if (side == 1) kept_low /= 2;
      side = 1;
    }
  }
  return k(std::exp((low + high) / 2));
}

}  // namespace mercer::feature
