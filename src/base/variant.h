// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// std::variant whose copies may run out of memory. That of libstdc++ 12 takes a variant of strings,
// vectors and shared pointers for one that always holds a value, and so destroys the unfinished
// alternative of a copy that throws: free() of an undefined pointer.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

namespace mercer {

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

}  // namespace mercer
