// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Bounds of the papers' theorems by spec: {"bound": NAME, its numbers}. The formulas are in
// statistic/; here are the keys, and which numbers of a kernel they take.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.h"
#include "kernel/kernel.h"

namespace mercer::spec {

struct BoundEntry {
  const char* name;
  const char* help;
  std::vector<Field> fields;
  /// What was asked, with the answers behind.
  Parameters (*answer)(Parameters asked);
};
std::span<const BoundEntry> bound_table();
/// Of the entry, with "bound", which names it, in front.
std::vector<Field> bound_fields(const BoundEntry& entry);

/// Asked and answered, canonical. Errors: INVALID_ARGUMENT naming key, value and what is allowed,
/// or an answer that left the range of double; UNSUPPORTED for what no theorem says.
std::string answer_bound(std::string_view json);

/// The entries. Those of several outputs are bounds of P(sup |K~ - K| >= epsilon).
BoundEntry derivative_bound_entry();
BoundEntry decomposable_bound_entry();
BoundEntry bounded_features_entry();
BoundEntry unbounded_features_entry();
/// Of learning with random features.
BoundEntry ridge_bound_entry();

/// Not optional.
inline Field required(Field field) {
  field.fallback = {};
  return field;
}
/// Keys that more than one entry has.
Field bound_kernel_field(const char* help);
std::vector<Field> bound_size_fields();  // "inputs", then "frequencies", which is answered or given
std::unique_ptr<kernel::Kernel> bound_kernel(const Parameters& asked);
/// Of exactly one of two keys, whether it is the first. Errors: INVALID_ARGUMENT for both or none.
bool is_first_given(const Parameters& asked, const char* first, const char* second);
/// Sets an answer. INVALID_ARGUMENT naming it unless it is finite.
void set_answer(Parameters& asked, const char* key, double value);

}  // namespace mercer::spec
