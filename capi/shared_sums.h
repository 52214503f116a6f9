// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_row_source.sum as the core's reduction. Before every sum the processes learn, by a sum of
// one number, whether one of them has failed: then all of them end, and none waits for one that has
// ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "io/input_output.h"
#include "mercer/data.h"
#include "solver/block_source.h"

namespace mercer::capi {

class CallbackSums final : public solver::Reduction {
 public:
  /// The source is kept.
  explicit CallbackSums(const mercer_row_source& source) : source_(source) {}

  void sum(std::span<double> numbers) override {
    if (numbers.empty()) return;  // so in every process
    agree();
    call(numbers);
  }
  /// MERCER_IO unless every process has come here or to its next sum.
  void agree() {
    double failed = 0;
    call({&failed, 1});
    if (failed == 0) return;
    over_ = true;
    fail(MERCER_IO,
         "source->sum: the call of %g of the processes that share the rows failed, expected none; "
         "their own errors say why",
         failed);
  }
  /// This process ends: the others learn it, unless they know.
  void leave() noexcept {
    double failed = 1;
    if (!over_) source_.sum(source_.user, 1, &failed);
    over_ = true;
  }
  /// INVALID_ARGUMENT in every process unless all of them hold the same `number`, a whole one below
  /// 2^20: sums of squares are least where all are the mean.
  void require_same(double number, const char* what) {
    double sums[] = {1, number, number * number};
    sum(sums);
    require(sums[1] == sums[0] * number && sums[2] == sums[0] * number * number,
            MERCER_INVALID_ARGUMENT,
            "%s differ between the %g processes that share the rows, "
            "expected the same in all",
            what, sums[0]);
  }

 private:
  void call(std::span<double> numbers) {
    const int32_t answer =
        source_.sum(source_.user, static_cast<int64_t>(numbers.size()), numbers.data());
    if (answer == 0) return;
    over_ = true;
    fail(MERCER_IO, "source->sum returned %d, expected 0", answer);
  }

  const mercer_row_source& source_;
  bool over_ = false;  // the processes no longer meet
};

/// body(sums) in every process, or in none: the others learn of a failure.
template <class Body>
auto in_all(const mercer_row_source& source, const Body& body) {
  CallbackSums sums(source);
  try {
    auto result = body(sums);
    sums.agree();
    return result;
  } catch (...) {
    sums.leave();
    throw;
  }
}

/// Of bytes and text, such as a map's: FNV-1a (Fowler, Noll, Vo), folded to 20 bits.
class Fingerprint final : public io::Output {
 public:
  bool begin(int64_t) override { return true; }
  void write(std::span<const std::byte> bytes) override {
    for (const std::byte byte : bytes)
      hash_ = (hash_ ^ std::to_integer<uint64_t>(byte)) * 0x100000001b3;
  }
  void commit() override {}
  void write(const std::string& text) { write(std::as_bytes(std::span(text))); }
  double number() const {
    return static_cast<double>((hash_ ^ hash_ >> 20 ^ hash_ >> 40) & 0xfffff);
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace mercer::capi
