// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Radix selection: doubles are mapped to unsigned integers in the same order, whose 4-bit digits
// are found from the highest on. For each of the 16 values of a digit the processes sum the weight
// up to the largest number with that prefix, for all questions at once: the result is exact after
// 16 sums.
#include "model/prepare/shared_order.h"

#include <bit>
#include <cstdint>

#include "base/numbers.h"

namespace mercer::model {
namespace {

constexpr int kDigitBits = 4, kDigits = 1 << kDigitBits;
constexpr uint64_t kSign = uint64_t{1} << 63;

uint64_t key_of(double x) {
  const auto bits = std::bit_cast<uint64_t>(x + 0.0);  // -0 is 0
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// The largest number with a key <= `key`; keys beyond those of infinities belong to NaN.
double number_of(uint64_t key) {
  if (key >= key_of(kInfinity)) return kInfinity;
  if (key <= key_of(-kInfinity)) return -kInfinity;
  return std::bit_cast<double>((key & kSign) != 0 ? key ^ kSign : ~key);
}

}  // namespace

std::vector<double> shared_order(std::span<const double> wanted, const WeightUpTo& weight_up_to,
                                 solver::Reduction& reduction, Context& context) {
  const std::size_t count = wanted.size();
  const MemoryCharge held = context.charge(static_cast<int64_t>(count) * (kDigits + 2) * 8,
                                           "order statistics of several processes");
  std::vector<uint64_t> found(count, 0);
  std::vector<double> weights(count * kDigits);
  for (int shift = 64 - kDigitBits; shift >= 0; shift -= kDigitBits) {
    const auto largest = [&](std::size_t q, uint64_t digit) {
      return found[q] | digit << shift | ((uint64_t{1} << shift) - 1);
    };
    for (std::size_t q = 0; q < count; ++q)
      for (std::size_t digit = 0; digit < kDigits; ++digit)
        weights[q * kDigits + digit] = weight_up_to(q, number_of(largest(q, digit)));
    reduction.sum(weights);
    for (std::size_t q = 0; q < count; ++q) {
      uint64_t digit = 0;
      while (digit < kDigits - 1 && weights[q * kDigits + digit] < wanted[q]) ++digit;
      found[q] |= digit << shift;
    }
  }
  std::vector<double> numbers;
  for (const uint64_t key : found) numbers.push_back(number_of(key));
  return numbers;
}

}  // namespace mercer::model
