// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The contract of kernels of several outputs and their maps. A new one is a row of operator_rows;
// every choice of its fields is crossed with every other, each combination a cell that is held to
// the contract or refused.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/parameters.h"
#include "feature/field_map.h"
#include "projection/projection.h"

namespace mercer::test {

/// A kernel ("operator"), its scalar one ("kernel") and values of those fields of it and its map that
/// are no choices, as field_spec reads them. Several rows may share a kernel.
struct OperatorRow {
  const char* spec;
};
std::span<const OperatorRow> operator_rows();

/// Fields of the map that are crossed in the cells of scalar kernels, and of the kernel that those
/// of its scalar one are.
std::span<const char* const> fields_of_others();
/// The others, of kernel and map.
std::vector<Field> fields_of(const kernel::KernelEntry& entry);

/// A choice that changes Phi and leaves Phi(x)'Phi(y) what it is with `other` in its place.
struct SameEstimateRow {
  const char* match;
  const char* other;
};
std::span<const SameEstimateRow> same_estimate_rows();

struct OperatorCell {
  Parameters spec;  // with inputs, without features and seed
  std::string label;

  /// With D features, an even number.
  Parameters canonical(int64_t D, uint64_t seed) const;
  std::unique_ptr<const feature::FieldMap> make(int64_t D, uint64_t seed) const;
  const projection::ProjectionEntry& projection() const;
  /// Columns of the projection have weights: there is no closed form of the variance.
  bool is_weighed() const { return projection().share != nullptr; }
  int64_t inputs() const { return spec.integer("inputs"); }
  /// The cell with the same estimate; null: it is an estimate of its own.
  std::unique_ptr<const OperatorCell> other() const;
};

/// The cells that exist, and those that are refused: UNSUPPORTED, naming the projection.
const std::vector<OperatorCell>& made_operator_cells();
const std::vector<OperatorCell>& refused_operator_cells();

}  // namespace mercer::test
