// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// alpha times the curl-free kernel and 1 - alpha times the divergence-free one; both parts of the
// map share their frequencies (SPEC section 13). See field_kernel.h and field_map.h.
#include "operator/field_map.h"
#include "operator/operator_entry.h"

namespace mercer::operators {

OperatorEntry helmholtz_entry() {
  return {
      "helmholtz",
      "alpha curl_free + (1 - alpha) divergence_free",
      {{.key = "alpha",
        .type = FieldType::number,
        .fallback = 0.5,
        .least = 0,
        .most = 1,
        .help = "weight of the curl-free part"}},
      field_map_fields(true),
      [](const Parameters& canonical) -> std::unique_ptr<const OperatorKernel> {
        const double alpha = canonical.number("alpha");
        return std::make_unique<const FieldKernel>(canonical, kernel::FieldParts{alpha, 1 - alpha});
      },
      make_field_map};
}

}  // namespace mercer::operators
