// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernel specs: {"kernel": NAME, parameters of the kernel's entry}, or NAME alone.
#include <string_view>

#include "spec/json.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace mercer::spec {

std::unique_ptr<kernel::Kernel> kernel_from_spec(std::string_view json) {
  return kernel::make_kernel(parse_kernel(json));
}

std::string to_spec(const kernel::Kernel& kernel) { return print_versioned(kernel.parameters()); }

}  // namespace mercer::spec
