// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What operator-valued kernels and maps exist: one entry each, defined in the file of its name. An
// entry's kernel is {"operator":NAME,"kernel":{...}, its kernel_fields}; its map has "inputs",
// "features" and "seed" after "kernel", and its map_fields last.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/parameters.h"
#include "operator/operator_kernel.h"
#include "operator/operator_map.h"

namespace mercer::operators {

struct OperatorEntry {
  const char* name;
  const char* help;
  std::vector<Field> kernel_fields;
  std::vector<Field> map_fields;
  std::unique_ptr<const OperatorKernel> (*make_kernel)(const Parameters& canonical);
  /// `canonical` of the map; `kernel` was made from the part of it that is the kernel's.
  std::unique_ptr<const OperatorMap> (*make_map)(const Parameters& canonical,
                                                 std::shared_ptr<const OperatorKernel> kernel);
  /// K = k Gamma, Gamma the field "gamma": features are those of k whatever Gamma is, which a
  /// search that is not given one makes of the targets; each of these may have a unit of its own.
  bool separable = false;
  /// Outputs are directions of the inputs: one unit for all inputs and one for all outputs.
  bool field = false;
  /// Its constant fields have a stream function; those of others, a potential.
  bool without_sources = false;
  /// A key of the kernel, a share from 0 to 1, that a search tries values of where the spec leaves
  /// it open; null: none.
  const char* shape = nullptr;
  std::vector<double> shapes = {};  // those values, the first a fair one
};
std::span<const OperatorEntry> operator_table();
/// The entry that given["operator"] names. Errors: INVALID_ARGUMENT listing what exists.
const OperatorEntry& operator_entry(const Parameters& given);

/// "kernel", "inputs", "features", "seed": what every drawn map says.
std::vector<Field> drawn_fields();
/// Fields of an entry's kernel resp. map, "operator" first.
std::vector<Field> kernel_fields(const OperatorEntry& entry);
std::vector<Field> map_fields(const OperatorEntry& entry);

/// Checked against the fields of given["operator"], defaults filled in, without "mercer". Errors:
/// INVALID_ARGUMENT naming key, value and what is allowed, VERSION; UNSUPPORTED for "needs".
Parameters canonical_operator_kernel(const Parameters& given);
Parameters canonical_operator_map(const Parameters& given);

/// Errors: those of the makers.
std::unique_ptr<const OperatorKernel> make_operator_kernel(const Parameters& canonical);
std::unique_ptr<const OperatorMap> make_operator_map(const Parameters& canonical);

}  // namespace mercer::operators
