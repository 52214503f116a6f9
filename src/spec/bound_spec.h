// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Specs of theoretical bounds: {"bound": NAME, ...}. The formulas are in statistic/; here are the
// keys, and the kernel quantities that the formulas take.
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
  /// The asked parameters followed by the answers.
  Parameters (*answer)(Parameters asked);
};
std::span<const BoundEntry> bound_table();
/// The entry's fields, preceded by "bound", which names it.
std::vector<Field> bound_fields(const BoundEntry& entry);

/// The canonical spec with its answers. Errors: INVALID_ARGUMENT naming key, value and what is
/// allowed, or an answer beyond the range of double; UNSUPPORTED where no theorem applies.
std::string answer_bound(std::string_view json);

/// Bounds of P(sup |K~ - K| >= epsilon).
BoundEntry derivative_bound_entry();
BoundEntry decomposable_bound_entry();
BoundEntry bounded_features_entry();
BoundEntry unbounded_features_entry();
/// A bound for learning with random features.
BoundEntry ridge_bound_entry();

/// The field without its default.
inline Field required(Field field) {
  field.fallback = {};
  return field;
}
/// Keys that more than one entry has.
Field bound_kernel_field(const char* help);
std::vector<Field> bound_size_fields();  // "inputs", and "frequencies", given or answered
std::unique_ptr<kernel::Kernel> bound_kernel(const Parameters& asked);
/// Which of two keys is given: true for the first. Errors: INVALID_ARGUMENT for both or none.
bool is_first_given(const Parameters& asked, const char* first, const char* second);
/// Sets an answer. INVALID_ARGUMENT naming it unless it is finite.
void set_answer(Parameters& asked, const char* key, double value);

}  // namespace mercer::spec
