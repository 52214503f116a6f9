// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "random/distributions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "random/scalar_math.h"
#include "random/stream.h"

namespace mercer::random {
namespace {

// The common loop of the samplers, a batch of blocks at a time: variate i is made from the first or
// second half of block i / 2.
using Pair = std::array<double, 2>;

// ((w >> 11) + 1/2) 2^-53, w = low + 2^32 high. Above 1/2 the half is rounded away (ties to even),
// and the largest w would give 1: the largest double below 1 replaces it.
double open_uniform(uint32_t low, uint32_t high) noexcept {
  const uint64_t w = static_cast<uint64_t>(high) << 32 | low;
  const double u = (static_cast<double>(static_cast<int64_t>(w >> 11)) + 0.5) * 0x1p-53;
  return std::min(u, 1.0 - 0x1p-53);
}

Pair uniform_pair(const Words& words) noexcept {
  return {open_uniform(words[0], words[1]), open_uniform(words[2], words[3])};
}

// out[i] = pair_of(block (first + i) / 2)[(first + i) % 2].
template <class PairOf>
void fill_pairs(const Stream& stream, uint64_t first, std::span<double> out,
                PairOf pair_of) noexcept {
  if (out.empty()) return;
  uint64_t position = first / 2;
  if (first % 2 == 1) {
    out[0] = pair_of(stream.block(position++))[1];
    out = out.subspan(1);
  }
  constexpr size_t kBatch = 64;
  std::array<Words, kBatch> batch;
  while (out.size() > 1) {
    const size_t count = std::min(kBatch, out.size() / 2);
    stream.blocks(position, {batch.data(), count});
    for (size_t i = 0; i < count; ++i) {
      const Pair pair = pair_of(batch[i]);
      out[2 * i] = pair[0];
      out[2 * i + 1] = pair[1];
    }
    position += count;
    out = out.subspan(2 * count);
  }
  if (!out.empty()) out[0] = pair_of(stream.block(position))[0];
}

// Random signs, one bit each, and the four complex units, two bits each; a block's 128 bits are
// used from the lowest up.

/// Calls take(i, bits) for the size variates from `first` on, with kBits bits of the stream each.
template <int kBits, class Take>
void for_each_bits(const Stream& stream, uint64_t first, size_t size, Take take) noexcept {
  constexpr uint64_t kPerBlock = 128 / kBits, kPerWord = 32 / kBits;
  Words words{};
  for (size_t i = 0; i < size; ++i) {
    const uint64_t variate = first + i;
    const uint64_t in_block = variate % kPerBlock;
    if (i == 0 || in_block == 0) words = stream.block(variate / kPerBlock);
    const uint32_t word = words[in_block / kPerWord];
    take(i, word >> (kBits * (in_block % kPerWord)) & ((1u << kBits) - 1));
  }
}

// Normal variates: Box, Muller, "A note on the generation of random normal deviates" (1958): a
// block's two uniforms u, v make sqrt(-2 ln u) (cos 2 pi v, sin 2 pi v). Two per block without
// rejection, so that variate i is a function of i alone; the faster rejection methods cannot offer
// that. The smallest u, 2^-54, bounds |z| by 8.66.
inline Pair normal_pair(const Words& words) noexcept {
  const Pair u = uniform_pair(words);
  const double radius = std::sqrt(-2.0 * elementary::log_normal_range(u[0], 0));
  const SinCos angle = elementary::sincos_within_turn(u[1]);
  return {radius * angle.cos, radius * angle.sin};
}

/// z = 0 has probability 2^-53 (the sine or cosine of a whole quarter turn); the next smallest |z|
/// is above 1e-24.
inline double levy_of(double z) noexcept { return 1.0 / std::max(z * z, 0x1p-200); }

// Distributions with a closed quantile function, each a function of one uniform u: u -> F^-1(u).
inline double log_of(double u) noexcept { return elementary::log_normal_range(u, 0); }

inline double cauchy_quantile(double u) noexcept { return portable_tan_half_turns(u - 0.5); }

inline double laplace_quantile(double u) noexcept {
  return u < 0.5 ? log_of(2.0 * u) : -log_of(2.0 * (1.0 - u));  // 1 - u is exact
}

/// F(x) = (2 / pi) arctan(exp(pi x)).
inline double sech_quantile(double u) noexcept {
  return kInversePi * log_of(portable_tan_half_turns(0.5 * u));
}

template <class Quantile>
void fill_quantiles(const Stream& stream, uint64_t first, std::span<double> out,
                    Quantile quantile) noexcept {
  fill_pairs(stream, first, out, [quantile](const Words& words) noexcept -> Pair {
    const Pair u = uniform_pair(words);
    return {quantile(u[0]), quantile(u[1])};
  });
}

// Gamma variates and variates made from them. Marsaglia, Tsang, "A simple method for generating
// gamma variables", ACM TOMS 26 (2000): with a = shape - 1/3 and c = 1 / sqrt(9 a), propose a (1 +
// c x)^3, x normal, and accept when ln u < x^2/2 + a - a v + a ln v. One block per proposal: x is
// the normal quantile of its first uniform, u its second. Shapes below 1 use Gamma(shape) =
// Gamma(shape + 1) U^(1/shape), U from the block before.
double gamma_from_one(Cursor& cursor, double shape) noexcept {
  const double a = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * a);
  while (true) {
    const Words words = cursor.next();
    const double x = normal_quantile(uniform(words));
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    const double bound = 0.5 * x * x + a * (1.0 - v + portable_log(v));
    if (portable_log(second_uniform(words)) < bound) return a * v;
  }
}

// Fisher, Yates shuffles (Durstenfeld, CACM 1964), from the front: entry i is swapped with a
// uniform one of i, ..., n-1, so the first k entries are k of n without replacement. The sample
// keeps only the displaced entries, in a hash table.
constexpr size_t kTogether = 4096;  // entries between two checks for cancellation

}  // namespace

// Uniform reals and integers. Integers below n: Lemire, "Fast random integer generation in an
// interval", ACM TOMACS 29 (2019), algorithm 5, on 64-bit words.
double uniform(const Words& words) noexcept { return open_uniform(words[0], words[1]); }
double second_uniform(const Words& words) noexcept { return open_uniform(words[2], words[3]); }

std::optional<uint64_t> uniform_below(const Words& words, uint64_t n) noexcept {
  for (size_t half : {0, 2}) {
    const uint64_t w = static_cast<uint64_t>(words[half + 1]) << 32 | words[half];
    const auto product = static_cast<unsigned __int128>(w) * n;
    const auto low = static_cast<uint64_t>(product);
    // Low parts below 2^64 mod n, which is below n, occur once too often.
    if (low >= n || low >= (0 - n) % n) return static_cast<uint64_t>(product >> 64);
  }
  return std::nullopt;
}

uint64_t uniform_below(Cursor& cursor, uint64_t n) noexcept {
  while (true)
    if (const std::optional<uint64_t> drawn = uniform_below(cursor.next(), n)) return *drawn;
}

void fill_uniform(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_pairs(stream, first, out, uniform_pair);
}

void fill_rademacher(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  for_each_bits<1>(stream, first, out.size(), [&](size_t i, uint32_t bit) noexcept {
    out[i] = 1.0 - 2.0 * static_cast<double>(static_cast<int32_t>(bit));
  });
}

void fill_complex_rademacher(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  constexpr double kReal[] = {1.0, -1.0, 0.0, 0.0};
  constexpr double kImaginary[] = {0.0, 0.0, 1.0, -1.0};
  for_each_bits<2>(stream, first, out.size() / 2, [&](size_t i, uint32_t bits) noexcept {
    out[2 * i] = kReal[bits];
    out[2 * i + 1] = kImaginary[bits];
  });
}

void fill_normal(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_pairs(stream, first, out, normal_pair);
}

void fill_complex_normal(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_pairs(stream, 2 * first, out, [](const Words& words) noexcept -> Pair {
    constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
    const Pair z = normal_pair(words);
    return {kSqrtHalf * z[0], kSqrtHalf * z[1]};
  });
}

void fill_levy(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_pairs(stream, first, out, [](const Words& words) noexcept -> Pair {
    const Pair z = normal_pair(words);
    return {levy_of(z[0]), levy_of(z[1])};
  });
}

double normal(Cursor& cursor) noexcept { return normal_pair(cursor.next())[0]; }

void direction(Cursor& cursor, std::span<double> out) noexcept {
  double square = 0.0;
  while (square == 0.0) {  // all zero: only for out.size() = 1, with probability 2^-53
    fill_normal(cursor.stream(), 2 * cursor.position(), out);
    cursor.skip((out.size() + 1) / 2);
    if (out.empty()) return;
    for (const double z : out) square += z * z;
  }
  const double norm = std::sqrt(square);
  for (double& z : out) z /= norm;
}

void fill_cauchy(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_quantiles(stream, first, out, cauchy_quantile);
}

void fill_laplace(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_quantiles(stream, first, out, laplace_quantile);
}

void fill_exponential(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_quantiles(stream, first, out, [](double u) noexcept { return -log_of(u); });
}

void fill_sech(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_quantiles(stream, first, out, sech_quantile);
}

double gamma(Cursor& cursor, double shape) noexcept {
  if (shape >= 1.0) return gamma_from_one(cursor, shape);
  const double boost = portable_pow(uniform(cursor.next()), 1.0 / shape);
  return boost * gamma_from_one(cursor, shape + 1.0);
}

double chi_squared(Cursor& cursor, double degrees) noexcept {
  return 2.0 * gamma(cursor, 0.5 * degrees);
}

double chi(Cursor& cursor, double degrees) noexcept {
  return std::sqrt(chi_squared(cursor, degrees));
}

// Poisson variates by inversion: sums the terms exp(-mean) mean^k / k! until they reach u.
double poisson_quantile(double u, double mean) noexcept {
  double term = portable_exp(-mean);
  double sum = term, k = 0;
  // Past the mean terms fall: once they no longer change the sum, u is beyond double precision.
  while (sum < u && (k <= mean || sum + term != sum)) {
    k += 1;
    term *= mean / k;
    sum += term;
  }
  return k;
}

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

namespace {

class NormalLaw final : public Law {
 public:
  void draw(const Stream& stream, std::span<double> omega) const noexcept override {
    fill_normal(stream, 0, omega);
  }
  bool isotropic() const noexcept override { return true; }
  double radius(const Stream& stream, int64_t d) const noexcept override {
    Cursor cursor(stream);
    return chi(cursor, static_cast<double>(d));
  }
  double fixed_radius(int64_t d) const noexcept override {
    return std::sqrt(static_cast<double>(d));
  }
  double scale_quantile(double) const noexcept override { return 1; }
  bool is_product() const noexcept override { return true; }
  double quantile(double u) const noexcept override { return normal_quantile(u); }
  double density(std::span<const double> omega) const noexcept override {
    double squares = 0, factor = 1;
    for (const double w : omega) {
      squares += w * w;
      factor *= 0.39894228040143267794;  // 1/sqrt(2 pi)
    }
    return factor * portable_exp(-0.5 * squares);
  }
};

class SignLaw final : public Law {
 public:
  void draw(const Stream& stream, std::span<double> omega) const noexcept override {
    fill_rademacher(stream, 0, omega);
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return true; }
  double quantile(double u) const noexcept override { return u < 0.5 ? -1 : 1; }
};

}  // namespace

double Law::radius(const Stream&, int64_t) const noexcept { return kNaN; }

double Law::fixed_radius(int64_t) const noexcept { return kNaN; }

double Law::scale_quantile(double) const noexcept { return kNaN; }

double Law::quantile(double) const noexcept { return kNaN; }

double Law::quantile_given(double m, int64_t, double u) const noexcept {
  return m * normal_quantile(u);
}

double Law::density(std::span<const double>) const noexcept { return kNaN; }

std::shared_ptr<const Law> normal_law() { return std::make_shared<const NormalLaw>(); }

std::shared_ptr<const Law> sign_law() { return std::make_shared<const SignLaw>(); }

}  // namespace mercer::random
