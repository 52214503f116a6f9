// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Amplitude and phase of the frequencies of a map, made block by block when first used, so that a
// map of two thousand million columns is made as fast as one of two.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/aligned.h"
#include "base/context.h"
#include "projection/lazy_groups.h"

namespace mercer::feature {

/// Frequency j is multiplied by `scale`, or by sqrt(weight share(j)) if there are shares; its phase
/// is number j of the phase stream of `phase_seed`, if there is one, or phase(j).
struct ColumnLaw {
  double scale;
  double weight = 0;
  std::function<double(int64_t j)> share = {};
  std::optional<uint64_t> phase_seed = {};
  std::function<double(int64_t j)> phase = {};

  bool has_phases() const noexcept { return phase_seed || phase; }
};

template <class T>
class ColumnNumbers {
 public:
  /// F frequencies in blocks of `width`, a multiple of transform::kPanelColumns<T>.
  ColumnNumbers(int64_t F, int64_t width, const ColumnLaw& law);

  /// Makes the numbers of `blocks`, once; thread-safe; may fail and be retried.
  void prepare(projection::Blocks blocks, Context& context) const;

  /// Numbers of the frequencies of a prepared block, 64-byte aligned. Past the last frequency the
  /// scale is zero or arbitrary; without phases phase() is arbitrary.
  const T* scale(int64_t block) const noexcept { return numbers(block); }
  const T* phase(int64_t block) const noexcept {
    return numbers(block) + (law_.has_phases() ? group_columns() : 0);
  }

 private:
  // Without shares and phases all blocks are alike, and one is kept for all.
  bool is_uniform() const noexcept { return !law_.share && !law_.has_phases(); }
  int64_t group_columns() const noexcept { return width_ * together_; }
  const T* numbers(int64_t block) const noexcept {
    if (is_uniform()) return groups_[0].data();
    return groups_[block / together_].data() + block % together_ * width_;
  }
  AlignedBuffer<T> make_group(int64_t group) const;
  double scale_of(int64_t j) const noexcept;

  int64_t F_;
  int64_t width_;
  ColumnLaw law_;
  int64_t together_;  // blocks in a group
  mutable projection::LazyGroups<AlignedBuffer<T>> groups_;
};

}  // namespace mercer::feature
