// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps that are a projection finished by an epilogue. Such a map gives its parts, name and
// parameters; rows of every kind, slices, packing and both precisions are handled here, and rows of
// angles so large that their rounding would show.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/parameters.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/tiles.h"
#include "kernel/kernel.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"

namespace mercer::feature {

// Which projection a map draws from, with its options: fields of every map with a drawn
// distribution.

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
  /// The number F of columns; with whole_blocks it is rounded down. Errors: those of check().
  int64_t columns(int64_t d, int64_t F) const;
  /// Columns in a last, incomplete block; 0 if there is none.
  int64_t incomplete_block(int64_t d, int64_t F) const;
  /// Sets "projection", "radius", "scramble", "whole_blocks".
  void write(Parameters& spec) const;
};

/// Reads the keys of such a choice.
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

class ProjectedMap : public FeatureMap, public Derivatives {
 public:
  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const final;
  void prepare(Precision precision, Context& context) const final;
  const Derivatives* derivatives() const noexcept override {
    return most_order() > 0 ? this : nullptr;
  }
  int64_t most_order() const noexcept override;
  MERCER_DERIVATIVE_CALLS

 protected:
  /// The parts have F columns of d inputs. What parts.columns points to outlives the map.
  explicit ProjectedMap(ProjectedParts parts);
  const projection::Projection& projection(size_t factor) const noexcept {
    return *parts_.projections[factor];
  }

 private:
  template <class View>
  void apply_rows(const View& X, Columns c, Context& context, const ResultView& Z) const;
  MERCER_DERIVATIVE_MEMBERS
  template <class T>
  void prepare_all(const ColumnNumbers<T>& columns, Context& context) const;

  // How angles grow with the inputs: scales[k] |x_k| turns, at most norm max |x_k| of all together.
  struct Growth {
    AlignedBuffer<double> scales;
    double norm;
    /// The root of the sum of squares exceeds `most` turns; false for rows that are not finite.
    template <class T>
    bool is_large(const std::vector<T>& row, double most) const noexcept;
  };
  bool has_angles() const noexcept;
  void prepare_growth(Context& context) const;
  Growth find_growth(Context& context) const;
  template <class T>
  std::vector<int64_t> large_rows(const auto& X, Context& context) const;
  bool rewrites() const noexcept;
  template <class T>
  T reach_of(Context& context) const;
  /// body(parts, X, V, out), then the same with rows of large angles alone and parts that reduce
  /// these exactly. V has a row for each of X, or none.
  template <class T, class Body>
  void run_rows(const auto& X, Context& context, MatrixView<T> out, const Body& body,
                MatrixView<const T> V = {}) const;
  template <class T, class Body>
  void redo_rows(const auto& X, const std::vector<int64_t>& large, Context& context,
                 MatrixView<T> out, const Body& body, MatrixView<const T> V = {}) const;
  bool reads_sparse() const noexcept;
  const ColumnNumbers<float>& columns(float) const noexcept { return single_; }
  const ColumnNumbers<double>& columns(double) const noexcept { return double_; }

  ProjectedParts parts_;
  ColumnNumbers<float> single_;
  ColumnNumbers<double> double_;
  mutable projection::LazyGroups<Growth> growth_{1};
  mutable std::atomic<double> norm_{-1};  // that of growth_; negative: not known yet
};

// Derivatives of a projected map in its inputs: values of partial derivatives, and the map's
// differential along a direction for each row.

/// The derivative of the prologue; null: there is none, or it has none.
const transform::RowDerivative* row_derivative(const ProjectedParts& parts) noexcept;

/// For a map of one projection whose epilogue has a gradient, and its prologue, if any, a
/// derivative; shapes as for Derivatives::differentiate.
template <class T>
void differentiate_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                             const Derivative& what, MatrixView<const T> X, Context& context,
                             MatrixView<T> out);

/// The derivative along V; shapes as for Derivatives::push_forward.
template <class T>
void push_forward_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                            MatrixView<const T> X, MatrixView<const T> V, Context& context,
                            MatrixView<T> out);

// From cotangents of features to cotangents of rows: tiles of rows through the projection, the
// epilogue's derivative and the projection's transpose, block by block of columns.

/// out = the pull-back of G through a map of one projection, without prologue, whose epilogue has a
/// gradient; shapes as for Derivatives::pull_back.
template <class T>
void pull_back_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                         MatrixView<const T> X, MatrixView<const T> G, Context& context,
                         MatrixView<T> out);

}  // namespace mercer::feature
