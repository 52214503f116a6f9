// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields without sources: see field_kernel.h for formulas and sources.
#include "kernel/field_kernel.h"

namespace mercer::kernel {

KernelEntry divergence_free_entry() {
  constexpr auto parts = [](const Parameters&) { return FieldParts{0, 1}; };
  KernelEntry entry =
      field_entry<parts>("divergence_free", "(grad grad' - Laplacian) k: fields without sources");
  entry.without_sources = true;
  return entry;
}

}  // namespace mercer::kernel
