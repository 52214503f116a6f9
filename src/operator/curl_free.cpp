// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields that are gradients: see field_kernel.h and field_map.h for formulas and sources.
#include "operator/field_map.h"
#include "operator/operator_entry.h"

namespace mercer::operators {

OperatorEntry curl_free_entry() {
  return {"curl_free",
          "-grad grad' k: gradients of potentials",
          {},
          field_map_fields(false),
          [](const Parameters& canonical) -> std::unique_ptr<const OperatorKernel> {
            return std::make_unique<const FieldKernel>(canonical, kernel::FieldParts{1, 0});
          },
          make_field_map};
}

}  // namespace mercer::operators
