// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random signs, one bit each, and the four complex units, two bits each; a block's 128 bits are
// used from the lowest up.
#include "random/distributions.h"

namespace mercer::random {
namespace {

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

}  // namespace

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

}  // namespace mercer::random
