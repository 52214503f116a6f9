// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A JSON document as tests read it: found by key or place, converted where it is used. One file
// of the tests includes the JSON header, which costs seconds in every file that does.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace mercer::test {

class Reference {
 public:
  using List = std::vector<Reference>;
  struct Object {
    std::vector<std::string> keys;
    List parts;
    bool operator==(const Object& other) const = default;
  };
  /// Numbers are exact up to 2^53.
  using Value = std::variant<std::monostate, bool, double, std::string, List, Object>;

  Reference(Value value = {}) : value_(std::move(value)) {}
  static Reference parse(const std::string& text);
  static Reference row(Reference only) { return Value(List{std::move(only)}); }

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_array() const { return std::holds_alternative<List>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool contains(std::string_view key) const;
  std::size_t size() const;
  /// The elements of an array; nothing else has any.
  List::const_iterator begin() const { return std::get<List>(value_).begin(); }
  List::const_iterator end() const { return std::get<List>(value_).end(); }

  /// The part there; an exception that names what is missing.
  const Reference& at(std::string_view key) const;
  const Reference& operator[](std::string_view key) const { return at(key); }
  const Reference& operator[](const char* key) const { return at(key); }
  const Reference& at(std::size_t i) const;
  template <std::integral I>
  const Reference& at(I i) const {
    return at(static_cast<std::size_t>(i));
  }
  template <std::integral I>
  const Reference& operator[](I i) const {
    return at(static_cast<std::size_t>(i));
  }
  /// This object with one more entry.
  Reference with(std::string key, Reference value) const;

  const Value& value() const { return value_; }
  /// Numbers, truth values, text, and vectors or arrays of them; an exception where it is none.
  template <class T>
  T get() const {
    T out{};
    read(out);
    return out;
  }
  template <class T>
  requires std::is_default_constructible_v<T> &&(!std::is_pointer_v<T>)operator T() const {
    return get<T>();
  }

  bool operator==(const Reference& other) const = default;
  template <class T>
  requires std::is_arithmetic_v<T>
  bool operator==(T other) const { return get<T>() == other; }
  template <class T>
  requires std::convertible_to<T, std::string_view> &&(!std::same_as<T, Reference>)bool operator==(
      const T& other) const {
    return std::get<std::string>(value_) == std::string_view(other);
  }

 private:
  void read(bool& out) const { out = std::get<bool>(value_); }
  void read(std::string& out) const { out = std::get<std::string>(value_); }
  template <class T>
  requires std::is_arithmetic_v<T>
  void read(T& out) const { out = static_cast<T>(std::get<double>(value_)); }
  template <class T>
  void read(std::vector<T>& out) const {
    for (const Reference& element : *this) out.push_back(element.get<T>());
  }
  template <class T, std::size_t N>
  void read(std::array<T, N>& out) const {
    for (std::size_t i = 0; i < N; ++i) out[i] = at(i).template get<T>();
  }

  Value value_;
};

/// As JSON, for messages.
std::ostream& operator<<(std::ostream& out, const Reference& reference);

/// oracle("kernels") is the parsed tests/oracle/kernels.json. Kept for the whole run: a range-for
/// over a part of a temporary would read freed memory, or run zero times.
const Reference& oracle(const std::string& name);

}  // namespace mercer::test
