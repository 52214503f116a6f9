// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Parameters against Fields. One function per kind of value; messages have the form `path.key =
// value, expected ...`.
#include "spec/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/error.h"
#include "spec/json.h"
#include "spec/specs.h"

namespace mercer::spec {
namespace {

constexpr int64_t kVersion = 1;  // of the vocabulary

std::string shown_text(const std::string& text) {
  // At a character's start, so that the message stays UTF-8.
  std::size_t end = std::min<std::size_t>(text.size(), 60);
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string out;
  append_text(out, std::string_view(text).substr(0, end));
  return end < text.size() ? out + "..." : out;
}

std::string shown(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return shown_text(*text);
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    return "a list of " + std::to_string(list->size()) + " numbers";
  }
  if (std::holds_alternative<std::shared_ptr<const Parameters>>(value)) return "an object";
  if (const auto* seed = std::get_if<uint64_t>(&value)) return std::to_string(*seed);
  std::string out;
  append_value(out, value);
  const bool is_double = std::holds_alternative<double>(value);
  if (is_double && out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

[[noreturn]] void refuse(const std::string& name, const std::string& value, const Field& field) {
  fail(MERCER_INVALID_ARGUMENT, "%s = %s, expected %s", name.c_str(), value.c_str(),
       expectation(field).c_str());
}

bool in_range(double value, const Field& field) {
  return (field.least_open ? value > field.least : value >= field.least) && value <= field.most;
}

/// NaN if the value is no number.
double as_double(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* large = std::get_if<uint64_t>(&value)) return static_cast<double>(*large);
  return std::nan("");
}

Value checked_integer(const Value& value, const Field& field, const std::string& name) {
  const auto* integer = std::get_if<int64_t>(&value);
  if (integer == nullptr || !in_range(static_cast<double>(*integer), field)) {
    refuse(name, shown(value), field);
  }
  return *integer;
}

Value checked_seed(const Value& value, const Field& field, const std::string& name) {
  if (const auto* large = std::get_if<uint64_t>(&value)) return *large;
  if (const auto* integer = std::get_if<int64_t>(&value); integer != nullptr && *integer >= 0) {
    return static_cast<uint64_t>(*integer);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    uint64_t seed = 0;
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, seed);
    if (!text->empty() && error == std::errc{} && stop == end) return seed;
  }
  refuse(name, shown(value), field);
}

Value checked_number(const Value& value, const Field& field, const std::string& name) {
  const double number = as_double(value);
  if (!std::isfinite(number) || !in_range(number, field)) refuse(name, shown(value), field);
  return number;
}

Value checked_text(const Value& value, const Field& field, const std::string& name) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) refuse(name, shown(value), field);
  bool found = field.choices.empty();
  for (const char* choice : field.choices) found = found || *text == choice;
  if (!found) refuse(name, shown(value), field);
  return *text;
}

Value checked_numbers(const Value& value, const Field& field, const std::string& name) {
  const auto* list = std::get_if<std::vector<double>>(&value);
  if (list == nullptr || list->empty()) refuse(name, shown(value), field);
  for (std::size_t i = 0; i < list->size(); ++i) {
    const double number = (*list)[i];
    if (!std::isfinite(number) || !in_range(number, field)) {
      refuse(name + "[" + std::to_string(i) + "]", shown(number), field);
    }
  }
  return *list;
}

/// A list of one number is that number, so that both print alike.
Value checked_number_or_numbers(const Value& value, const Field& field, const std::string& name) {
  if (!std::holds_alternative<std::vector<double>>(value))
    return checked_number(value, field, name);
  Value list = checked_numbers(value, field, name);
  const auto& numbers = std::get<std::vector<double>>(list);
  return numbers.size() == 1 ? Value(numbers[0]) : list;
}

Value checked_nested(const Value& value, const Field& field, const std::string& name) {
  const auto* object = std::get_if<std::shared_ptr<const Parameters>>(&value);
  if (object == nullptr) refuse(name, shown(value), field);
  const std::string path = name + ".";
  const auto canonical = [&] {
    if (field.type == FieldType::kernel) return canonical_kernel(**object, path);
    if (field.type == FieldType::sketch) return canonical_sketch(**object, path);
    return canonical_map(**object, path, Data::refused);
  };
  return std::make_shared<const Parameters>(canonical());
}

Value checked(const Value& value, const Field& field, const std::string& name) {
  switch (field.type) {
    case FieldType::boolean:
      if (!std::holds_alternative<bool>(value)) refuse(name, shown(value), field);
      return value;
    case FieldType::integer:
      return checked_integer(value, field, name);
    case FieldType::seed:
      return checked_seed(value, field, name);
    case FieldType::number:
      return checked_number(value, field, name);
    case FieldType::text:
      return checked_text(value, field, name);
    case FieldType::number_or_numbers:
      return checked_number_or_numbers(value, field, name);
    case FieldType::numbers:
      return checked_numbers(value, field, name);
    case FieldType::kernel:
    case FieldType::map:
    case FieldType::sketch:
      return checked_nested(value, field, name);
  }
  fail(MERCER_INTERNAL, "%s: unknown type of field", name.c_str());
}

bool is_optional(const Field& field) {
  const auto* number = std::get_if<double>(&field.fallback);
  return number != nullptr && std::isnan(*number);
}

std::string quoted_list(std::span<const char* const> names) {
  std::string out;
  for (const char* name : names) {
    if (!out.empty()) out += ", ";
    append_text(out, name);
  }
  return out;
}

std::string alternatives(std::span<const char* const> names) {
  std::string out;
  for (const char* name : names) {
    if (!out.empty()) out += '|';
    append_text(out, name);
  }
  return out;
}

void refuse_unknown_keys(const Parameters& given, std::span<const Field> fields,
                         const std::string& path) {
  std::vector<const char*> keys;
  for (const Field& field : fields) keys.push_back(field.key);
  for (const auto& [key, value] : given.entries()) {
    bool known = false;
    for (const Field& field : fields)
      known = known || key == field.key || (field.former != nullptr && key == field.former);
    require(known, MERCER_INVALID_ARGUMENT, "unknown key %s = %s, expected one of %s",
            shown_text(path + key).c_str(), shown(value).c_str(), quoted_list(keys).c_str());
  }
}

std::string range(const Field& field) {
  const bool has_least = std::isfinite(field.least);
  const bool has_most = field.most < std::numeric_limits<double>::max();  // which means "finite"
  std::string out;
  if (has_least) out = (field.least_open ? " > " : " >= ");
  if (has_least) append_value(out, field.least);
  if (has_most) out += has_least ? " and <= " : " <= ";
  if (has_most) append_value(out, field.most);
  return out;
}

}  // namespace

std::string expectation(const Field& field) {
  switch (field.type) {
    case FieldType::boolean:
      return "true or false";
    case FieldType::integer:
      return "an integer" + range(field) + ", written without point or exponent";
    case FieldType::seed:
      return "an integer from 0 to 18446744073709551615, or the same as a decimal string";
    case FieldType::number:
      return "a number" + range(field);
    case FieldType::text:
      return field.choices.empty() ? "a text" : "one of " + quoted_list(field.choices);
    case FieldType::number_or_numbers:
      return "a number or a list of numbers" + range(field);
    case FieldType::numbers:
      return "a list of numbers" + range(field);
    case FieldType::kernel:
      return "a kernel spec {\"kernel\":...}";
    case FieldType::map:
      return "a map spec {\"map\":...}";
    case FieldType::sketch:
      return "a sketch spec {\"map\":" + alternatives(sketch_names()) + ",...}";
  }
  return "";
}

Parameters check_fields(const Parameters& given, std::span<const Field> fields,
                        const std::string& path) {
  refuse_unknown_keys(given, fields, path);
  Parameters canonical;
  for (const Field& field : fields) {
    const Value* value = given.find(field.key);
    if (value == nullptr && field.former != nullptr) value = given.find(field.former);
    const std::string name = path + field.key;
    if (value == nullptr && is_optional(field)) continue;
    if (value == nullptr) value = &field.fallback;
    require(value != &field.fallback || !std::holds_alternative<std::monostate>(*value),
            MERCER_INVALID_ARGUMENT, "key \"%s\" is missing, expected %s", name.c_str(),
            expectation(field).c_str());
    canonical.set(field.key, checked(*value, field, name));
  }
  return canonical;
}

Envelope open_envelope(const Parameters& given, const std::string& path) {
  Envelope envelope;
  for (const auto& [key, value] : given.entries()) {
    if (key == "mercer") {
      const Field field{
          .key = "mercer", .type = FieldType::integer, .fallback = kVersion, .least = 1};
      require(!std::holds_alternative<uint64_t>(value), MERCER_NEWER_VERSION,
              "%smercer = %s, expected at most %lld", path.c_str(), shown(value).c_str(),
              static_cast<long long>(kVersion));
      const int64_t version = std::get<int64_t>(checked_integer(value, field, path + key));
      require(version <= kVersion, MERCER_NEWER_VERSION,
              "%smercer = %lld, expected at most %lld: the spec is newer than this library",
              path.c_str(), static_cast<long long>(version), static_cast<long long>(kVersion));
    } else if (key == "needs") {
      checked_text(value,
                   {.key = "needs", .type = FieldType::text, .fallback = {}, .choices = {"data"}},
                   path + key);
      envelope.needs_data = true;
    } else {
      envelope.body.set(key, value);
    }
  }
  return envelope;
}

Parameters versioned(const Parameters& canonical) {
  Parameters top;
  top.set("mercer", kVersion);
  for (const auto& [key, value] : canonical.entries()) top.set(key, value);
  return top;
}

std::string print_versioned(const Parameters& canonical) {
  return print_object(versioned(canonical));
}

Field name_field(const char* key, std::vector<const char*> names, const char* help) {
  return {.key = key,
          .type = FieldType::text,
          .fallback = {},
          .choices = std::move(names),
          .help = help};
}

}  // namespace mercer::spec
