// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Numbers that were learnt or supplied, with a name, a type and a shape; a spec cannot hold them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/variant.h"

namespace mercer {

/// Row-major. The empty name is for numbers from files written before arrays had names.
struct NumberArray {
  std::string name;
  std::vector<int64_t> shape;
  Variant<std::vector<double>, std::vector<int64_t>> values;
};

/// The array of that name, type and shape; a negative extent matches any. Errors: CORRUPT_FILE
/// saying what is missing or has another shape.
const std::vector<double>& find_doubles(std::span<const NumberArray> arrays, std::string_view name,
                                        std::span<const int64_t> shape);
const std::vector<int64_t>& find_integers(std::span<const NumberArray> arrays,
                                          std::string_view name, std::span<const int64_t> shape);

/// The product of the extents. Errors: INVALID_ARGUMENT for a negative extent or an overflow.
int64_t count_of(std::span<const int64_t> shape);

}  // namespace mercer
