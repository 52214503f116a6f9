// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields without sources: see field_kernel.h and field_map.h for formulas and sources.
#include "operator/field_map.h"

namespace mercer::operators {

OperatorEntry divergence_free_entry() {
  constexpr auto parts = [](const Parameters&) { return kernel::FieldParts{0, 1}; };
  OperatorEntry entry = field_entry<parts>(
      "divergence_free", "(grad grad' - Laplacian) k: fields without sources", {}, true);
  entry.without_sources = true;
  return entry;
}

}  // namespace mercer::operators
