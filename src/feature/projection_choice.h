// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which projection a map draws from, with its options: the fields that every map of a drawn law
// has.
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
  bool whole_blocks = false;  // F down to whole blocks of the projection, at least one

  /// Refuses an unknown projection, and an option that this one does not use unless it has its
  /// default: UNSUPPORTED naming both.
  void check() const;
  /// No column has a weight of its own.
  bool has_equal_shares() const noexcept;
  /// UNSUPPORTED where columns have weights of their own: no variance in closed form.
  void require_equal_shares() const;
  /// F, or what whole_blocks makes of it.
  int64_t columns(int64_t d, int64_t F) const;
  /// Columns in a last, incomplete block; 0 if there is none.
  int64_t incomplete_block(int64_t d, int64_t F) const;
  /// Sets "projection", "radius", "scramble", "whole_blocks".
  void write(Parameters& spec) const;
};

/// From the same keys.
ProjectionChoice read_projection_choice(const Parameters& own);

/// Their fields, in that order. `what` is drawn; `more`: a further choice of projection, or null;
/// `weighs_columns`: the map heeds ProjectionEntry::share.
std::vector<Field> projection_fields(const char* what, const char* more = nullptr,
                                     bool weighs_columns = true);

/// Which projection is drawn from where nobody says it, for numbers of inputs in [least, most].
struct ProjectionRule {
  const projection::ProjectionEntry* projection;
  int64_t least, most;
};
/// The first rule that holds and whose projection serves the law is followed; none: dense.
/// Frequencies then miss less of the kernel than as many independent ones.
std::span<const ProjectionRule> projection_rules();
/// By these rules; dense for a kernel without a spectral law.
const char* projection_for(const kernel::Kernel& kernel, int64_t d);

}  // namespace mercer::feature
