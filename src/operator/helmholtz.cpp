// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// alpha times the curl-free kernel and 1 - alpha times the divergence-free one; both parts of the
// map share their frequencies (SPEC section 13). See field_kernel.h and field_map.h.
#include "base/fields.h"
#include "operator/field_map.h"

namespace mercer::operators {

OperatorEntry helmholtz_entry() {
  constexpr auto parts = [](const Parameters& canonical) {
    const double alpha = canonical.number("alpha");
    return kernel::FieldParts{alpha, 1 - alpha};
  };
  OperatorEntry entry =
      field_entry<parts>("helmholtz", "alpha curl_free + (1 - alpha) divergence_free",
                         {number_field("alpha", 0.5, 0, 1, "weight of the curl-free part")}, true);
  entry.shape = "alpha";
  entry.shapes = {0.5, 0, 0.1, 0.25, 0.75, 0.9, 1};
  return entry;
}

}  // namespace mercer::operators
