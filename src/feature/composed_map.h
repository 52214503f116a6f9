// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Base of maps of sums and products of kernels: a map for each part of the kernel, with its own
// seed; its parameters and numbers are made of those of the parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"

namespace mercer::feature {

// The columns of several maps one after the other.

/// Columns c of maps whose first column is `begin`, all complex or all real. Parts: pointers to
/// maps. Columns before `begin` stay as they are.
template <class T, class Parts>
void apply_side_by_side(const Parts& parts, int64_t begin, const Rows& X, Columns c,
                        Context& context, MatrixView<T> Z) {
  Stage stage(context, c.end - c.begin);
  for (const auto& part : parts) {
    const int64_t j0 = std::clamp(c.begin - begin, int64_t{0}, part->features());
    const int64_t j1 = std::clamp(c.end - begin, j0, part->features());
    const int64_t reals = part->is_complex() ? 2 : 1, at = begin - c.begin;
    begin += part->features();
    if (j0 == j1) continue;
    stage.share(j1 - j0);
    part->apply(X, {j0, j1}, context, Z.block_cols((at + j0) * reals, (at + j1) * reals));
    stage.advance(j1 - j0);
    context.checkpoint();
  }
}

/// Makes the maps of the parts, as the key "parts" of the arguments asks.
class PartMaker {
 public:
  /// Errors: UNSUPPORTED for a kernel not made by `rule`; INVALID_ARGUMENT for a number of parts
  /// other than the kernel's, for too many in all, and for variances whose product is not a finite
  /// number > 0; those of Kernel::check_dimension.
  PartMaker(const MapArguments& arguments, kernel::Composition::Rule rule);

  size_t count() const noexcept { return kernels_.size(); }
  /// The canonical spec of the part's map with the given number of features. Its kernel carries the
  /// variance of the whole: each part of a sum all of it, of a product the first part.
  Parameters spec(size_t part, int64_t features) const;
  /// The sizes of the parts, for any number of rows.
  std::vector<MapSizes> sizes() const;
  /// Errors: those of the map with "parts[i]: " in front; INVALID_ARGUMENT for one with another
  /// number of features.
  std::shared_ptr<const FeatureMap> make(size_t part, int64_t features) const;

 private:
  const MapArguments& arguments_;
  std::vector<std::unique_ptr<const kernel::Kernel>> kernels_;
};

/// Sizes of the parts of a composed map of these canonical Parameters, made from that many rows;
/// none where "parts" does not match the kernel, which PartMaker refuses.
std::vector<MapSizes> sizes_of_parts(const Parameters& canonical, int64_t rows);

using PartMaps = std::vector<std::shared_ptr<const FeatureMap>>;

class ComposedMap : public FeatureMap, public Derivatives, public Moments {
 public:
  std::string_view name() const noexcept final { return name_; }
  const kernel::Kernel& kernel() const noexcept final { return *kernel_; }
  /// Whether one of the parts changes its rows.
  bool shows_other_rows() const noexcept final;
  /// "parts" as they were made, then what add_parameters adds.
  Parameters parameters() const final;
  void prepare(Precision precision, Context& context) const final;
  int64_t incomplete_block() const final;
  /// These exist if all parts have them.
  const Derivatives* derivatives() const noexcept final;
  /// The least order among those of the parts.
  int64_t most_order() const noexcept final;
  const Moments& moments() const final { return *this; }
  /// The parts' numbers, with a prefix for each part.
  std::vector<NumberArray> numbers() const final;
  /// Whether the features of all parts are.
  bool is_of_scaled_inputs() const final;

 protected:
  ComposedMap(const MapArguments& arguments, PartMaps parts, bool is_complex);
  const PartMaps& parts() const noexcept { return parts_; }

 private:
  virtual void add_parameters(Parameters& /*spec*/) const {}

  std::string name_;
  std::unique_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
  PartMaps parts_;
};

// Maps of a kernel k0(A x, A y) (metric_map.cpp).

/// Canonical Parameters of the map of k0 for r inputs, but for the factor of its variance.
Parameters in_metric(const Parameters& canonical);
/// The map of k0 at A x; rows, targets and numbers are those that it is made from. Errors: those of
/// make_map.
std::unique_ptr<FeatureMap> make_metric_map(const Parameters& canonical,
                                            std::shared_ptr<const kernel::Kernel> kernel,
                                            const MapData& data);

/// A kernel of that name, made of a Gaussian and the inner product.
Parameters composed_kernel(const char* name);

/// The field "parts": map specs without the keys that the whole fixes.
Field part_maps_field();

// How many features each part of a sum of maps gets.

struct PartSize {
  double share;  // > 0, in proportion to those of the others
  int64_t least;
  int64_t step;  // of its sizes above the least; 0: the least only
};

/// Features of each part, `total` together: at least its least, and otherwise as near as steps
/// permit to its share of what parts without steps leave. Errors: INVALID_ARGUMENT for a total that
/// cannot be.
std::vector<int64_t> allot(int64_t total, const std::vector<PartSize>& sizes);

}  // namespace mercer::feature
