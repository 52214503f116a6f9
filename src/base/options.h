// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options declared once: a table beside an options struct names for each of its members the key,
// the range and the help; the default is the member's own. Parsing, checking, printing, files and
// lists of what exists follow from the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/parameters.h"

namespace mercer {

/// One member of Options, or of a struct inside it, under a key.
template <class Options>
struct Option {
  Field field;
  /// From checked parameters; a key that is absent leaves the default.
  void (*read)(const Field& field, const Parameters& from, Options& to);
  /// A number that is NaN, and an empty list, is left out.
  void (*write)(const Field& field, const Options& from, Parameters& to);
};

template <class Options>
using OptionTable = std::span<const Option<Options>>;

template <class Options>
std::vector<Field> fields_of(OptionTable<Options> table) {
  std::vector<Field> fields;
  for (const Option<Options>& option : table) fields.push_back(option.field);
  return fields;
}

template <class Options>
void read_options(OptionTable<Options> table, const Parameters& from, Options& to) {
  for (const Option<Options>& option : table)
    if (from.find(option.field.key) != nullptr) option.read(option.field, from, to);
}

template <class Options>
void write_options(OptionTable<Options> table, const Options& from, Parameters& to) {
  for (const Option<Options>& option : table) option.write(option.field, from, to);
}

// One option: option<&Struct::member>(field), or by way of members that are structs
// option<&Outer::part, &Part::member>(field). The type of the member decides how it is read.

namespace options {

template <class Member>
struct MemberOf;
template <class Struct, class T>
struct MemberOf<T Struct::*> {
  using Owner = Struct;
};
template <auto... path>
struct RootOf;
template <auto first, auto... rest>
struct RootOf<first, rest...> {
  using Type = typename MemberOf<decltype(first)>::Owner;
};
template <auto... path>
using Root = typename RootOf<path...>::Type;

template <auto first, auto... rest, class Struct>
auto& member(Struct& of) noexcept {
  if constexpr (sizeof...(rest) == 0) {
    return of.*first;
  } else {
    return member<rest...>(of.*first);
  }
}

/// The place of a text among the choices of its field, which has been checked.
inline size_t place_of(const Field& field, const std::string& text) {
  for (size_t i = 0; i < field.choices.size(); ++i)
    if (text == field.choices[i]) return i;
  fail(MERCER_INTERNAL, "%s: no enumerator of this word", field.key);
}

template <class T>
T value_of(const Field& field, const Parameters& from) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(place_of(field, from.text(field.key)));
  } else if constexpr (std::is_same_v<T, bool>) {
    if (field.type == FieldType::text) return place_of(field, from.text(field.key)) == 1;
    return from.boolean(field.key);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return from.integer(field.key);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return from.seed(field.key);
  } else if constexpr (std::is_same_v<T, double>) {
    return from.number(field.key);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return from.numbers(field.key);
  } else {
    static_assert(std::is_same_v<T, Parameters>);
    return from.object(field.key);
  }
}

template <class T>
Value parameter_of(const Field& field, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(field.choices[static_cast<size_t>(value)]);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (field.type == FieldType::text) return std::string(field.choices[value ? 1 : 0]);
    return value;
  } else if constexpr (std::is_same_v<T, Parameters>) {
    return std::make_shared<const Parameters>(value);
  } else {
    return value;
  }
}

template <class T>
bool is_absent(const T& value) {
  if constexpr (std::is_same_v<T, double>) return value != value;
  if constexpr (std::is_same_v<T, std::vector<double>>) return value.empty();
  return false;
}

template <auto table>
std::vector<Field> table_fields() {
  return fields_of(table());
}

}  // namespace options

/// The field's own fallback, where it has one, stands in place of the member's default.
template <auto... path>
Option<options::Root<path...>> option(Field field) {
  using Options = options::Root<path...>;
  if (std::holds_alternative<std::monostate>(field.fallback)) {
    const Options usual;
    field.fallback = options::parameter_of(field, options::member<path...>(usual));
  }
  return {std::move(field),
          [](const Field& own, const Parameters& from, Options& to) {
            auto& place = options::member<path...>(to);
            place = options::value_of<std::remove_reference_t<decltype(place)>>(own, from);
          },
          [](const Field& own, const Options& from, Parameters& to) {
            const auto& value = options::member<path...>(from);
            if (!options::is_absent(value)) to.set(own.key, options::parameter_of(own, value));
          }};
}

/// An object with the options of `table`, OptionTable<Part> table(), for a member of type Part.
template <auto table, auto... path>
Option<options::Root<path...>> object_option(const char* key, const char* help) {
  using Options = options::Root<path...>;
  return {{.key = key,
           .type = FieldType::object,
           .fallback = std::make_shared<const Parameters>(),
           .help = help,
           .fields = options::table_fields<table>},
          [](const Field& own, const Parameters& from, Options& to) {
            read_options(table(), from.object(own.key), options::member<path...>(to));
          },
          [](const Field& own, const Options& from, Parameters& to) {
            Parameters inner;
            write_options(table(), options::member<path...>(from), inner);
            to.set(own.key, std::make_shared<const Parameters>(std::move(inner)));
          }};
}

}  // namespace mercer
