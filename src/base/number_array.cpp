// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "base/number_array.h"

#include "base/error.h"
#include "base/size.h"

namespace mercer {
namespace {

bool fits(std::span<const int64_t> shape, std::span<const int64_t> wanted) {
  if (shape.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (wanted[i] >= 0 && shape[i] != wanted[i]) return false;
  }
  return true;
}

std::string text_of(std::span<const int64_t> shape) {
  std::string out;
  for (const int64_t extent : shape) {
    if (!out.empty()) out += " x ";
    out += extent < 0 ? "any" : std::to_string(extent);
  }
  return out;
}

template <class T>
const std::vector<T>& find(std::span<const NumberArray> arrays, std::string_view name,
                           std::span<const int64_t> shape) {
  for (const NumberArray& array : arrays) {
    if (array.name != name) continue;
    const auto* values = std::get_if<std::vector<T>>(&array.values);
    require(values != nullptr && fits(array.shape, shape), MERCER_CORRUPT_FILE,
            "numbers %s are %s of shape %s, expected %s of shape %s", array.name.c_str(),
            array.values.index() == 0 ? "f64" : "i64", text_of(array.shape).c_str(),
            std::is_same_v<T, double> ? "f64" : "i64", text_of(shape).c_str());
    return *values;
  }
  fail(MERCER_CORRUPT_FILE, "numbers %.*s are missing", static_cast<int>(name.size()), name.data());
}

}  // namespace

const std::vector<double>& find_doubles(std::span<const NumberArray> arrays, std::string_view name,
                                        std::span<const int64_t> shape) {
  return find<double>(arrays, name, shape);
}

const std::vector<int64_t>& find_integers(std::span<const NumberArray> arrays,
                                          std::string_view name, std::span<const int64_t> shape) {
  return find<int64_t>(arrays, name, shape);
}

int64_t count_of(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) {
    require(extent >= 0, MERCER_INVALID_ARGUMENT, "an array has an extent of %ld", extent);
    count = checked_multiply(count, extent, "an array of numbers");
  }
  return count;
}

}  // namespace mercer
