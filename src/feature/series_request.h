// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the parameters of the map maclaurin ask of a kernel's power series.
#pragma once

#include <cstdint>
#include <vector>

#include "base/choice.h"
#include "feature/map_entry.h"
#include "feature/random_degrees.h"
#include "feature/sketch.h"

namespace mercer::feature {

enum class Allocation { random, optimized, given };
inline constexpr const char* kAllocationWords[] = {"random", "optimized", "given"};
inline constexpr Choice<Allocation> kAllocation{
    "allocation", kAllocationWords,
    "how many columns a degree has; random: degree n with a chance of about 2^-n; optimized: for "
    "the least mean squared error over pairs of rows, which the map's spec then lists; given: "
    "columns"};
inline constexpr int64_t kMostSeriesDegree = 1024;  // as of the kernel polynomial
/// What an optimized map says of its error.
inline constexpr const char* kPredictions[] = {"predicted_variance", "predicted_bias"};

class SeriesRequest {
 public:
  /// `own` has been checked against the map's fields and outlives this. Errors: UNSUPPORTED (a
  /// kernel without a series, keys that do not apply, sketches that do not serve);
  /// INVALID_ARGUMENT.
  SeriesRequest(const kernel::Kernel& kernel, int64_t inputs, const Parameters& own);

  Allocation allocation() const noexcept { return allocation_; }
  const SketchOptions& sketch() const noexcept { return sketch_; }
  /// a_n, 0 beyond the degrees that are asked for.
  double coefficient(int64_t n) const noexcept { return n < std::ssize(a_) ? a_[n] : 0; }
  /// Where the estimate's mean ends.
  int64_t last() const;
  /// Between these an optimized series ends.
  int64_t least_top() const;
  int64_t most_top() const;
  bool keeps_linear() const { return own_.boolean("exact_linear") && coefficient(1) > 0; }
  bool is_sketched(int64_t n) const {
    return n >= 1 && coefficient(n) > 0 && !(n == 1 && keeps_linear());
  }
  /// Columns of a complex one.
  int64_t step() const noexcept { return sketch_.field == SketchField::complex_to_real ? 2 : 1; }
  /// Columns of degrees that are kept exactly.
  int64_t fixed() const { return (a_[0] > 0 ? 1 : 0) + (keeps_linear() ? inputs_ : 0); }
  /// As given.
  const std::vector<int64_t>& columns() const noexcept { return columns_; }
  /// The terms whose degrees are drawn.
  std::vector<SeriesTerm> sampled() const;

  MapSizes sizes() const;
  /// Errors: INVALID_ARGUMENT.
  void check_features(int64_t D) const;

 private:
  int64_t max_degree(int64_t otherwise) const;
  int64_t degrees_asked() const;
  int64_t least_sketches() const;
  void check_keys();
  void check_drawn() const;
  void check_optimized() const;
  void read_columns();

  int64_t inputs_;
  const Parameters& own_;
  Allocation allocation_;
  SketchOptions sketch_;
  std::vector<double> a_;         // a_0, ..., the last not 0
  std::vector<int64_t> columns_;  // as given
};

}  // namespace mercer::feature
