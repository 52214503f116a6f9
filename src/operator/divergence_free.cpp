// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields without sources: see field_kernel.h and field_map.h for formulas and sources.
#include "operator/field_map.h"
#include "operator/operator_entry.h"

namespace mercer::operators {

OperatorEntry divergence_free_entry() {
  return {"divergence_free",
          "(grad grad' - Laplacian) k: fields without sources",
          {},
          field_map_fields(true),
          [](const Parameters& canonical) -> std::unique_ptr<const OperatorKernel> {
            return std::make_unique<const FieldKernel>(canonical, kernel::FieldParts{0, 1});
          },
          make_field_map};
}

}  // namespace mercer::operators
