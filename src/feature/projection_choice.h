// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which projection a map draws from, with its options: fields of every map with a drawn
// distribution.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/parameters.h"
#include "kernel/kernel.h"
#include "projection/projections.h"

namespace mercer::feature {

struct ProjectionChoice {
  std::string projection = "dense";  // a name of projection_table()
  projection::Radius radius = projection::Radius::drawn;
  projection::Scramble scramble = projection::Scramble::owen;
  bool whole_blocks = false;  // round F down to whole blocks of the projection, at least one

  /// Refuses an unknown projection; UNSUPPORTED, naming both, for an option that this one does not
  /// use, unless it has its default.
  void check() const;
  /// Whether columns are independent of each other.
  bool is_independent() const noexcept;
  /// Whether all columns have the same weight.
  bool has_equal_shares() const noexcept;
  /// UNSUPPORTED where columns have weights of their own, for which there is no variance in closed
  /// form.
  void require_equal_shares() const;
  /// F, or with whole_blocks F rounded down. Errors: those of check().
  int64_t columns(int64_t d, int64_t F) const;
  /// Columns in a last, incomplete block; 0 if there is none.
  int64_t incomplete_block(int64_t d, int64_t F) const;
  /// Sets "projection", "radius", "scramble", "whole_blocks".
  void write(Parameters& spec) const;
};

/// Reads the same keys.
ProjectionChoice read_projection_choice(const Parameters& own);

/// Fields of these keys, in that order. `what` is drawn, in the help; `more`: further choices of
/// projection; `weighs_columns`: whether the map uses ProjectionEntry::share.
std::vector<Field> projection_fields(const char* what, std::vector<const char*> more = {},
                                     bool weighs_columns = true);

/// The default projection for numbers of inputs in [least, most].
struct ProjectionRule {
  const projection::ProjectionEntry* projection;
  int64_t least, most;
};
/// The first rule that applies and whose projection can draw from the distribution is used; else
/// dense. The kernel error is then below that of as many independent frequencies.
std::span<const ProjectionRule> projection_rules();
/// The projection by these rules; dense for a kernel without a spectral density.
const char* projection_for(const kernel::Kernel& kernel, int64_t d);

}  // namespace mercer::feature
