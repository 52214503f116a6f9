// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields that are gradients: see field_kernel.h for formulas and sources.
#include "kernel/field_kernel.h"

namespace mercer::kernel {

KernelEntry curl_free_entry() {
  constexpr auto parts = [](const Parameters&) { return FieldParts{1, 0}; };
  return field_entry<parts>("curl_free", "-grad grad' k: gradients of potentials");
}

}  // namespace mercer::kernel
