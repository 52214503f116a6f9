// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Numbers that were learnt or supplied, with a name, a type and a shape; a spec cannot hold them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace mercer {

// std::variant whose copies may run out of memory. That of libstdc++ 12 takes a variant of strings,
// vectors and shared pointers for one that always holds a value, and so destroys the unfinished
// alternative of a copy that throws: free() of an undefined pointer.

template <class... Types>
class Variant : public std::variant<Types...> {
  using Base = std::variant<Types...>;

 public:
  using Base::Base;
  Variant() = default;
  Variant(Variant&&) noexcept = default;
  Variant& operator=(Variant&&) noexcept = default;
  Variant(const Variant& other) : Base(copied(other)) {}
  Variant& operator=(const Variant& other) { return *this = Variant(other); }
  ~Variant() = default;

 private:
  // The alternative is made in place: only the variant's own copy is at fault.
  static Base copied(const Base& other) {
    return std::visit(
        [](const auto& held) {
          return Base(std::in_place_type<std::remove_cvref_t<decltype(held)>>, held);
        },
        other);
  }
};

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
