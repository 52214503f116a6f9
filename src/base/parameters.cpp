// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "base/parameters.h"

#include <charconv>
#include <cmath>
#include <memory>
#include <type_traits>
#include <variant>

#include "base/error.h"
#include "base/size.h"

namespace mercer {
namespace {

template <class T>
const T& get(const Parameters& parameters, std::string_view key) {
  const Value* value = parameters.find(key);
  const T* typed = value == nullptr ? nullptr : std::get_if<T>(value);
  require(typed != nullptr, MERCER_INTERNAL, "parameter %s is missing or of another type",
          std::string(key).c_str());
  return *typed;
}

// Parameters to canonical JSON text. Doubles go through std::to_chars, whose shortest form reads
// back bit for bit (correctly rounded both ways), so that spec -> object -> spec is exact.

// From 2^53 on many JSON readers (JavaScript's, for one) round integers.
constexpr uint64_t kLeastSeedAsText = uint64_t{1} << 53;

template <class Number>
void append_digits(std::string& out, Number value) {
  char digits[32];  // the longest double is -2.2250738585072014e-308, 24 characters
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_double(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
  } else if (value == 0 && std::signbit(value)) {
    out += "-0.0";  // "-0" would be read as the integer 0
  } else {
    append_digits(out, value);
  }
}

void append_seed(std::string& out, uint64_t seed) {
  const char* quote = seed >= kLeastSeedAsText ? "\"" : "";
  out += quote;
  append_digits(out, seed);
  out += quote;
}

template <class List, class Append>
void append_list(std::string& out, const List& list, const Append& append) {
  out += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ',';
    append(out, list[i]);
  }
  out += ']';
}

void append_numbers(std::string& out, const std::vector<double>& list) {
  append_list(out, list, append_double);
}

void append_object(std::string& out, const Parameters& object) {
  char separator = '{';
  for (const auto& [key, value] : object.entries()) {
    out += separator;
    append_text(out, key);
    out += ':';
    append_value(out, value);
    separator = ',';
  }
  if (separator == '{') out += '{';
  out += '}';
}

void append_objects(std::string& out, const ObjectList& objects) {
  out += '[';
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (i > 0) out += ',';
    append_object(out, *objects[i]);
  }
  out += ']';
}

}  // namespace

Parameters::Parameters(std::initializer_list<std::pair<const char*, Value>> entries) {
  for (const auto& [key, value] : entries) set(key, value);
}

void Parameters::set(std::string key, Value value) {
  for (auto& [name, old] : entries_) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  entries_.emplace_back(std::move(key), std::move(value));
}

const Value* Parameters::find(std::string_view key) const noexcept {
  for (const auto& [name, value] : entries_) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool Parameters::boolean(std::string_view key) const { return get<bool>(*this, key); }
int64_t Parameters::integer(std::string_view key) const { return get<int64_t>(*this, key); }
uint64_t Parameters::seed(std::string_view key) const { return get<uint64_t>(*this, key); }
double Parameters::number(std::string_view key) const { return get<double>(*this, key); }
const std::string& Parameters::text(std::string_view key) const {
  return get<std::string>(*this, key);
}

std::vector<double> Parameters::numbers(std::string_view key) const {
  const Value* value = find(key);
  if (value != nullptr && std::holds_alternative<double>(*value)) return {std::get<double>(*value)};
  if (value == nullptr || !std::holds_alternative<NumberLists>(*value))
    return get<std::vector<double>>(*this, key);
  std::vector<double> numbers;
  for (const std::vector<double>& list : std::get<NumberLists>(*value))
    numbers.insert(numbers.end(), list.begin(), list.end());
  return numbers;
}

NumberLists Parameters::number_lists(std::string_view key) const {
  const Value* value = find(key);
  if (value != nullptr && std::holds_alternative<NumberLists>(*value))
    return std::get<NumberLists>(*value);
  NumberLists lists;
  for (const double number : get<std::vector<double>>(*this, key)) lists.push_back({number});
  return lists;
}

const Parameters& Parameters::object(std::string_view key) const {
  return *get<std::shared_ptr<const Parameters>>(*this, key);
}

const ObjectList& Parameters::objects(std::string_view key) const {
  return get<ObjectList>(*this, key);
}

void append_text(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_value(std::string& out, const Value& value) {
  std::visit(
      [&out](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) out += "null";
        if constexpr (std::is_same_v<T, bool>) out += held ? "true" : "false";
        if constexpr (std::is_same_v<T, int64_t>) append_digits(out, held);
        if constexpr (std::is_same_v<T, uint64_t>) append_seed(out, held);
        if constexpr (std::is_same_v<T, double>) append_double(out, held);
        if constexpr (std::is_same_v<T, std::string>) append_text(out, held);
        if constexpr (std::is_same_v<T, std::vector<double>>) append_numbers(out, held);
        if constexpr (std::is_same_v<T, NumberLists>) append_list(out, held, append_numbers);
        if constexpr (std::is_same_v<T, std::shared_ptr<const Parameters>>)
          append_object(out, *held);
        if constexpr (std::is_same_v<T, ObjectList>) append_objects(out, held);
      },
      value);
}

std::string print_object(const Parameters& object) {
  std::string out;
  append_object(out, object);
  return out;
}

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
                                        std::span<const int64_t> shape, Gaps gaps) {
  const std::vector<double>& values = find<double>(arrays, name, shape);
  for (const double value : values)
    require(std::isfinite(value) || (gaps == Gaps::allowed && std::isnan(value)),
            MERCER_CORRUPT_FILE, "numbers %.*s hold %g, expected finite ones",
            static_cast<int>(name.size()), name.data(), value);
  return values;
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
