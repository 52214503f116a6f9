// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the entries of curl-free, divergence-free and mixed kernels share: the parameters of their
// maps, and the maps.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/parameters.h"
#include "operator/field_kernel.h"
#include "operator/operator_entry.h"
#include "operator/operator_map.h"

namespace mercer::operators {

/// "projection" and its options, "bounded", and, where there is a divergence-free part, "root".
std::vector<Field> field_map_fields(bool has_divergence);

/// From canonical parameters of those fields; the kernel is a FieldKernel. Errors: UNSUPPORTED for
/// a projection that the kernel's law or `bounded` does not permit or that weighs its columns, and
/// for `bounded` of another kernel than gaussian of one lengthscale; INVALID_ARGUMENT for an odd
/// number of features.
std::unique_ptr<const OperatorMap> make_field_map(const Parameters& canonical,
                                                  std::shared_ptr<const OperatorKernel> kernel);

/// The entry of a field kernel: kParts(canonical) are its FieldParts.
template <auto kParts>
OperatorEntry field_entry(const char* name, const char* help, std::vector<Field> fields,
                          bool has_divergence) {
  return {.name = name,
          .help = help,
          .kernel_fields = std::move(fields),
          .map_fields = field_map_fields(has_divergence),
          .make_kernel = [](const Parameters& canonical) -> std::unique_ptr<const OperatorKernel> {
            return std::make_unique<const FieldKernel>(canonical, kParts(canonical));
          },
          .make_map = make_field_map,
          .field = true};
}

}  // namespace mercer::operators
