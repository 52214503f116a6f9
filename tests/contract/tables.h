// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The contract's tables: what a new kernel, map or projection adds a row to. Everything else
// follows from the library's own tables: every choice of every field is crossed with every other
// and with every kernel, and each combination is either held to the contract or refused as the
// last table says.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/parameters.h"
#include "kernel/kernel.h"

namespace mercer::test {

inline bool is_stationary(const kernel::Kernel& kernel) { return kernel.spectral_law() != nullptr; }

/// What holds the numbers that inputs are divided by.
inline const char* lengthscale_key(const kernel::Kernel& kernel) {
  return kernel.parameters().find("period") != nullptr ? "period" : "lengthscale";
}

/// By which maps the default run's long tests sample a kernel; the slow run takes every map.
enum class Sampled {
  always,
  plain_maps,  // not by maps made of other maps
  never
};

/// A kernel with parameters of interest, and rows on which it is neither 0 nor its variance:
/// entries scale * u / sqrt(d), u uniform, with `peak` added to the last and, where rows have two
/// parts, the first.
struct KernelRow {
  const char* spec;
  double scale;
  double peak = 0;
  int64_t least_inputs = 1;
  /// Entries have to exceed it, else the row is NaN; rows of tests are then positive.
  double domain = -std::numeric_limits<double>::infinity();
  Sampled sampled = Sampled::always;
};
std::span<const KernelRow> kernel_rows();

/// Numbers of a map that a spec cannot hold, for one seed.
using Numbers = std::vector<double> (*)(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        uint64_t seed, const Parameters& own);

/// A map, and values of those of its fields that are no choices. Several rows may share a map.
struct MapRow {
  const char* spec;
  /// The kernels that this map serves; others are UNSUPPORTED. Null: all but those of refusal_rows().
  bool (*serves)(const kernel::Kernel&) = nullptr;
};
std::span<const MapRow> map_rows();

/// Maps whose numbers come from outside.
struct NumbersRow {
  const char* match;
  Numbers numbers;
};
std::span<const NumbersRow> numbers_rows();

/// How the estimate's variance relates to what variance() says. `mean`: its tails leave a sample
/// variance without meaning. `same`: the map has the bytes of another, named by `other`. `none`:
/// made from rows, an approximation and no estimate, or beyond sampling. `fixed`: nothing is drawn;
/// the estimate is the same for every seed, off by `bias` at most and by what bias() says.
enum class Law { exact, at_most, mean, same, none, fixed };

/// The first row that matches rules; cells that none matches are exact and unbiased.
struct LawRow {
  const char* match;
  Law law;
  const char* why;
  double multiple = 1;  // of the variance, at most
  double bias = 0;  // at most, in units of k(0), of kernels that are not stationary the variance;
                    // of a map that says its error_bound it is that
  const char* other =
      "{}";  // changes to the spec of the map whose variance() (`same`: bytes) it is
  bool (*when)(const kernel::Kernel&) = nullptr;
};
std::span<const LawRow> law_rows();

/// Cells that do not exist: those that match and whose kernel is not `permitted`.
struct RefusalRow {
  const char* match;
  bool (*permitted)(const kernel::Kernel&, const Parameters& spec);
  mercer_status status;
  const char* says;
};
std::span<const RefusalRow> refusal_rows();

/// Fields that a made map says and nobody asks for: {"map":NAME,"key":KEY}.
std::span<const char* const> said_fields();

/// Maps whose columns are constant but where they jump: a small enough change of a row changes
/// nothing.
std::span<const char* const> jumping_columns();

}  // namespace mercer::test
