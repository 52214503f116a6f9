// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Numbers that were learnt or supplied, with a name, a type and a shape: what a spec cannot hold.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mercer {

/// Row-major. The empty name stands for numbers of files older than names.
struct NumberArray {
  std::string name;
  std::vector<int64_t> shape;
  std::variant<std::vector<double>, std::vector<int64_t>> values;
};

/// The numbers of that name, type and shape, a negative extent standing for any. Errors:
/// CORRUPT_FILE saying what is missing or of another shape.
const std::vector<double>& find_doubles(std::span<const NumberArray> arrays, std::string_view name,
                                        std::span<const int64_t> shape);
const std::vector<int64_t>& find_integers(std::span<const NumberArray> arrays,
                                          std::string_view name, std::span<const int64_t> shape);

/// The extents' product. Errors: INVALID_ARGUMENT for a negative extent or an overflow.
int64_t count_of(std::span<const int64_t> shape);

}  // namespace mercer
