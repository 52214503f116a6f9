// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Theoretical bounds: {"bound": NAME, ...}. Each file has a theorem's formula, its keys, and the
// quantities of a kernel that the formula takes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/parameters.h"
#include "kernel/kernel.h"

namespace mercer::bound {

struct BoundEntry {
  const char* name;
  const char* help;
  std::vector<Field> fields;
  /// The asked parameters followed by the answers.
  Parameters (*answer)(Parameters asked);
};
std::span<const BoundEntry> bound_table();
/// The key "bound", which names an entry, and it with the entry's own fields.
Field bound_name_field();
std::vector<Field> bound_fields(const BoundEntry& entry);

/// Bounds of P(sup |K~ - K| >= epsilon).
BoundEntry derivative_bound_entry();
BoundEntry decomposable_bound_entry();
BoundEntry bounded_features_entry();
BoundEntry unbounded_features_entry();
/// Bounds of the error of kernel values.
BoundEntry uniform_bound_entry();
BoundEntry expected_bound_entry();
BoundEntry sketch_bound_entry();
/// How many random features learn as well as the kernel.
BoundEntry ridge_bound_entry();
BoundEntry excess_risk_bound_entry();
BoundEntry kernel_pca_bound_entry();

/// The field without its default.
inline Field required(Field field) {
  field.fallback = {};
  return field;
}
/// Keys that more than one entry has.
Field optional_above_zero(const char* key, const char* help);
Field bound_kernel_field(const char* help);
std::vector<Field> bound_size_fields();  // "inputs", and "frequencies", given or answered
std::unique_ptr<kernel::Kernel> bound_kernel(const Parameters& asked);
/// Which of two keys is given: true for the first. Errors: INVALID_ARGUMENT for both or none.
bool is_first_given(const Parameters& asked, const char* first, const char* second);
/// Sets an answer. INVALID_ARGUMENT naming it unless it is finite.
void set_answer(Parameters& asked, const char* key, double value);

/// The least F >= 1 for which `holds` is true, as it then is for all larger F; UNSUPPORTED if there
/// is none up to 2^53. `name` and `value`: what was asked for, in the message.
template <class Holds>
int64_t least_where(const Holds& holds, const char* name, double value) {
  constexpr int64_t kMost = int64_t{1} << 53;
  require(holds(kMost), MERCER_UNSUPPORTED, "%s = %g needs more than 2^53 frequencies by the bound",
          name, value);
  int64_t low = 0, high = kMost;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace mercer::bound
