// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields that are gradients: see field_kernel.h and field_map.h for formulas and sources.
#include "operator/field_map.h"

namespace mercer::operators {

OperatorEntry curl_free_entry() {
  constexpr auto parts = [](const Parameters&) { return kernel::FieldParts{1, 0}; };
  return field_entry<parts>("curl_free", "-grad grad' k: gradients of potentials", {}, false);
}

}  // namespace mercer::operators
