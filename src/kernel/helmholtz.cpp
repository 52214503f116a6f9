// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// alpha times the curl-free kernel and 1 - alpha times the divergence-free one; both parts of a map
// share their frequencies (SPEC section 13). See field_kernel.h.
#include "kernel/field_kernel.h"

namespace mercer::kernel {

KernelEntry helmholtz_entry() {
  constexpr auto parts = [](const Parameters& canonical) {
    const double alpha = canonical.number("alpha");
    return FieldParts{alpha, 1 - alpha};
  };
  KernelEntry entry =
      field_entry<parts>("helmholtz", "alpha curl_free + (1 - alpha) divergence_free",
                         {number_field("alpha", 0.5, 0, 1, "weight of the curl-free part")});
  entry.shape = "alpha";
  entry.shapes = {0.5, 0, 0.1, 0.25, 0.75, 0.9, 1};
  return entry;
}

}  // namespace mercer::kernel
