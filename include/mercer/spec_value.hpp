// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the setters of mercer/spec.hpp take.
//
// Example: the spec of a kernel as text, where one of mercer/spec.hpp may stand.
//
//   const mercer::spec::Of<mercer::spec::Kernel> part = R"({"kernel":"polynomial","degree":1})";
//   const mercer::Kernel linear = mercer::Kernel::from_spec(part);
#ifndef MERCER_SPEC_VALUE_HPP
#define MERCER_SPEC_VALUE_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mercer/base.hpp"

namespace mercer {
inline namespace hpp {
namespace spec {

/// What a key takes, as JSON.
class Value {
 public:
  const std::string& json() const noexcept { return json_; }
  bool finite() const noexcept { return finite_; }

 protected:
  Value() = default;
  explicit Value(std::string json) : json_(std::move(json)) {}
  std::string json_;
  bool finite_ = true;
};

template <class T>
using IsNumber = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool> &&
                                  !std::is_same_v<T, char>>;
/// Comes back to the bit, in any locale.
struct Number : Value {
  template <class T, class = IsNumber<T>>
  Number(T value) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.precision(17);
    text << static_cast<double>(value);
    json_ = text.str() == "-0" ? "-0.0" : text.str();  // "-0" is an integer, without its sign
    finite_ = std::isfinite(static_cast<double>(value));
  }
};
struct Integer : Value {
  template <class T, class = IsNumber<T>, class = std::enable_if_t<std::is_integral_v<T>>>
  Integer(T value) : Value(std::to_string(value)) {}
};
struct Boolean : Value {
  template <class T, class = std::enable_if_t<std::is_same_v<T, bool>>>
  Boolean(T value) : Value(value ? "true" : "false") {}
};
struct Text : Value {
  template <class T, class = std::enable_if_t<std::is_convertible_v<const T&, std::string_view>>>
  Text(const T& text) : Value("\"") {
    for (const char c : std::string_view(text)) {
      if (static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\') {
        json_ += std::string("\\u00") + "01234567"[c >> 4] + "0123456789abcdef"[c & 15];
      } else {
        json_ += c;
      }
    }
    json_ += '"';
  }
};

/// A list of what T takes.
template <class T>
struct List : Value {
  List() : Value("[]") {}
  List(std::initializer_list<T> values) { add(values); }
  template <class Container, class = decltype(std::begin(std::declval<const Container&>()))>
  List(const Container& values) {
    add(values);
  }

 private:
  template <class Container>
  void add(const Container& values) {
    for (const auto& value : values) {
      const T& one = value;
      json_ += (json_.empty() ? '[' : ',') + one.json();
      finite_ = finite_ && one.finite();
    }
    json_ += json_.empty() ? "[]" : "]";
  }
};
/// A number, or a list of them.
struct Numbers : List<Number> {
  using List<Number>::List;
  template <class T, class = IsNumber<T>>
  Numbers(T value) {
    static_cast<Value&>(*this) = Number(value);
  }
};

struct Kernel;
struct Map;
struct Model;
struct Outputs;
struct Selection;
struct Bound;
struct Test;
/// The text, if it is no more than one JSON value, so that it stays under its key.
inline const std::string& one_value(const std::string& text) {
  int depth = 0;
  bool quoted = false, one = true;
  for (size_t i = 0; i < text.size() && one; ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    one = depth > 0 || (depth == 0 && c != ',' && c != ':');
  }
  if (!one || quoted || depth != 0)
    throw Error(MERCER_INVALID_ARGUMENT, "mercer::spec: " + text + ", expected one JSON object");
  return text;
}
/// A spec of one of these: a builder, or JSON text.
template <class Kind>
class Of : public Value {
 public:
  Of(const std::string& text) : Value(one_value(text)) {}
  Of(const char* text) : Of(std::string(text)) {}
  operator std::string() const { return json_; }

 protected:
  Of(const char* key, const char* name) {
    if (*name != '\0')
      set(key, Text(name));
    else
      json_ = "{}";
  }
  void set(const char* key, const Value& value) {
    if (!value.finite()) {
      throw Error(MERCER_INVALID_ARGUMENT, std::string("mercer::spec: ") + key + " = " +
                                               value.json() + ", expected finite numbers");
    }
    const auto same = [&](const auto& field) { return field.first == key; };
    fields_.erase(std::remove_if(fields_.begin(), fields_.end(), same), fields_.end());
    fields_.emplace_back(key, value.json());
    json_.clear();
    for (const auto& [name, json] : fields_) {
      json_ += (json_.empty() ? "{\"" : ",\"") + name + "\":" + json;
    }
    json_ += '}';
  }
  template <class Self>
  static Self with(Self made, const char* key, const Value& value) {
    made.set(key, value);
    return made;
  }
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace spec
}  // namespace hpp
}  // namespace mercer
#endif
