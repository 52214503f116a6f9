// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Parameters against Fields. One function per kind of value; messages have the form `path.key =
// value, expected ...`.
#include "base/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/parameters.h"

namespace mercer {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& value, const Field& field) {
  fail(MERCER_INVALID_ARGUMENT, among(field.choices), "%s = %s, expected %s", name.c_str(),
       value.c_str(), expectation(field).c_str());
}

bool in_range(double value, const Field& field) {
  return (field.least_open ? value > field.least : value >= field.least) &&
         (field.most_open ? value < field.most : value <= field.most);
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

/// A list of one number becomes that number, so that both print alike.
Value checked_numbers_or_lists(const Value& value, const Field& field, const std::string& name) {
  const auto* lists = std::get_if<NumberLists>(&value);
  if (lists == nullptr) return checked_numbers(value, field, name);
  if (lists->empty()) refuse(name, shown(value), field);
  const size_t length = lists->front().size();
  std::vector<double> firsts;
  for (size_t i = 0; i < lists->size(); ++i) {
    const std::vector<double>& list = (*lists)[i];
    const std::string row = name + "[" + std::to_string(i) + "]";
    checked_numbers(list, field, row);
    require(list.size() == length, MERCER_INVALID_ARGUMENT,
            "%s = a list of %zu numbers, expected %zu, as in %s[0]", row.c_str(), list.size(),
            length, name.c_str());
    firsts.push_back(list.front());
  }
  return length == 1 ? Value(std::move(firsts)) : value;
}

/// A list of one number becomes that number, so that both print alike.
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
  return std::make_shared<const Parameters>(field.canonical(**object, path));
}

Value checked_object(const Value& value, const Field& field, const std::string& name) {
  const auto* object = std::get_if<std::shared_ptr<const Parameters>>(&value);
  if (object == nullptr) refuse(name, shown(value), field);
  return std::make_shared<const Parameters>(check_fields(**object, field.fields(), name + "."));
}

Value checked_list(const Value& value, const Field& field, const std::string& name) {
  const auto* objects = std::get_if<ObjectList>(&value);
  if (objects == nullptr || !in_range(static_cast<double>(objects->size()), field))
    refuse(name, shown(value), field);
  ObjectList canonical;
  for (const auto& object : *objects) {
    const std::string path = name + "[" + std::to_string(canonical.size()) + "].";
    canonical.push_back(std::make_shared<const Parameters>(field.canonical(*object, path)));
  }
  return canonical;
}

Value checked_boolean(const Value& value, const Field& field, const std::string& name) {
  if (!std::holds_alternative<bool>(value)) refuse(name, shown(value), field);
  return value;
}

constexpr struct {
  FieldType type;
  Value (*checked)(const Value& value, const Field& field, const std::string& name);
} kChecks[] = {{FieldType::boolean, checked_boolean},
               {FieldType::integer, checked_integer},
               {FieldType::seed, checked_seed},
               {FieldType::number, checked_number},
               {FieldType::text, checked_text},
               {FieldType::number_or_numbers, checked_number_or_numbers},
               {FieldType::numbers, checked_numbers},
               {FieldType::numbers_or_lists, checked_numbers_or_lists},
               {FieldType::kernel, checked_nested},
               {FieldType::map, checked_nested},
               {FieldType::sketch, checked_nested},
               {FieldType::object, checked_object},
               {FieldType::kernels, checked_list},
               {FieldType::maps, checked_list}};

Value checked(const Value& value, const Field& field, const std::string& name) {
  for (const auto& row : kChecks)
    if (row.type == field.type) return row.checked(value, field, name);
  fail(MERCER_INTERNAL, "%s: unknown type of field", name.c_str());
}

bool is_optional(const Field& field) {
  const auto* number = std::get_if<double>(&field.fallback);
  return number != nullptr && std::isnan(*number);
}

void refuse_unknown_keys(const Parameters& given, std::span<const Field> fields,
                         const std::string& path) {
  for (const auto& [key, value] : given.entries()) {
    bool known = false;
    for (const Field& field : fields)
      known = known || key == field.key || (field.former != nullptr && key == field.former);
    if (known) continue;  // builds the message only if it is needed
    std::vector<const char*> keys;
    for (const Field& field : fields) keys.push_back(field.key);
    fail(MERCER_INVALID_ARGUMENT, among(keys), "unknown key %s = %s, expected one of %s",
         shown_text(path + key).c_str(), shown(value).c_str(), quoted_list(keys).c_str());
  }
}

// Values and Fields in the words of messages and help.
std::string joined(std::span<const char* const> names, const char* separator) {
  std::string out;
  for (const char* name : names) {
    if (!out.empty()) out += separator;
    append_text(out, name);
  }
  return out;
}

std::string range(const Field& field) {
  const bool has_least = std::isfinite(field.least);
  const bool has_most = field.most < std::numeric_limits<double>::max();  // which means "finite"
  std::string out;
  if (has_least) out = (field.least_open ? " > " : " >= ");
  if (has_least) append_value(out, field.least);
  if (has_most) out += has_least ? " and" : "";
  if (has_most) out += field.most_open ? " < " : " <= ";
  if (has_most) append_value(out, field.most);
  return out;
}

std::string list_of(const Field& field, const char* what) {
  return "a list of " + shown(static_cast<int64_t>(field.least)) + " to " +
         shown(static_cast<int64_t>(field.most)) + what;
}

}  // namespace

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
    if (value == &field.fallback && std::holds_alternative<std::monostate>(*value))
      fail(MERCER_INVALID_ARGUMENT, among(field.choices), "key \"%s\" is missing, expected %s",
           name.c_str(), expectation(field).c_str());
    canonical.set(field.key, checked(*value, field, name));
  }
  return canonical;
}

std::string name_of_entry(const Parameters& given, const Field& field, const std::string& path) {
  Parameters only_name;
  if (const Value* name = given.find(field.key)) only_name.set(field.key, *name);
  if (!only_name.entries().empty() || given.entries().empty() ||
      !std::holds_alternative<std::monostate>(field.fallback))
    return check_fields(only_name, {&field, 1}, path).text(field.key);
  fail(MERCER_INVALID_ARGUMENT, among(field.choices),
       "key \"%s\" is missing beside %s, expected %s", (path + field.key).c_str(),
       shown_text(given.entries().front().first).c_str(), expectation(field).c_str());
}

Envelope open_envelope(const Parameters& given, const std::string& path) {
  Envelope envelope;
  for (const auto& [key, value] : given.entries()) {
    if (key == "mercer") {
      const Field field{
          .key = "mercer", .type = FieldType::integer, .fallback = kVocabularyVersion, .least = 1};
      require(!std::holds_alternative<uint64_t>(value), MERCER_NEWER_VERSION,
              "%smercer = %s, expected at most %ld", path.c_str(), shown(value).c_str(),
              kVocabularyVersion);
      const int64_t version = std::get<int64_t>(checked_integer(value, field, path + key));
      require(version <= kVocabularyVersion, MERCER_NEWER_VERSION,
              "%smercer = %ld, expected at most %ld: the spec is newer than this library",
              path.c_str(), version, kVocabularyVersion);
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

// Makers of common Fields.
Field number_field(const char* key, double fallback, double least, double most, const char* help) {
  return {.key = key,
          .type = FieldType::number,
          .fallback = fallback,
          .least = least,
          .most = most,
          .help = help};
}

Field integer_field(const char* key, Value fallback, double least, double most, const char* help) {
  Field field = number_field(key, 0, least, most, help);
  field.type = FieldType::integer;
  field.fallback = std::move(fallback);
  return field;
}

Field number_above_field(const char* key, double fallback, double least, double most,
                         const char* help) {
  Field field = number_field(key, fallback, least, most, help);
  field.least_open = true;
  return field;
}

Field count_field(const char* key, Value fallback, double most, const char* help) {
  return integer_field(key, std::move(fallback), 1, most, help);
}

Field choice_field(const char* key, const char* fallback, std::vector<const char*> choices,
                   const char* help) {
  return {.key = key,
          .type = FieldType::text,
          .fallback = std::string(fallback),
          .choices = std::move(choices),
          .help = help};
}

Field name_field(const char* key, std::vector<const char*> names, const char* help) {
  Field field = choice_field(key, "", std::move(names), help);
  field.fallback = {};
  return field;
}

std::string quoted_list(std::span<const char* const> names) { return joined(names, ", "); }

std::string shown_text(const std::string& text) {
  // Cut at the start of a character, so that the message stays UTF-8.
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
  if (const auto* lists = std::get_if<NumberLists>(&value)) {
    return "a list of " + std::to_string(lists->size()) + " lists";
  }
  if (std::holds_alternative<std::shared_ptr<const Parameters>>(value)) return "an object";
  if (const auto* objects = std::get_if<ObjectList>(&value)) {
    return "a list of " + std::to_string(objects->size()) + " objects";
  }
  if (const auto* seed = std::get_if<uint64_t>(&value)) return std::to_string(*seed);
  if (const auto* number = std::get_if<double>(&value); number != nullptr) {
    if (std::isnan(*number)) return "nan";
    if (std::isinf(*number)) return *number > 0 ? "inf" : "-inf";
  }
  std::string out;
  append_value(out, value);
  const bool is_double = std::holds_alternative<double>(value);
  if (is_double && out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

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
    case FieldType::numbers_or_lists:
      return "a list of numbers or of lists of numbers" + range(field);
    case FieldType::kernel:
      return "a kernel spec {\"kernel\":...}";
    case FieldType::map:
      return "a map spec {\"map\":...}";
    case FieldType::sketch:
      return "a sketch spec {\"map\":" + joined(field.choices, "|") + ",...}";
    case FieldType::object:
      return "an object {...}";
    case FieldType::kernels:
      return list_of(field, " kernel specs {\"kernel\":...}");
    case FieldType::maps:
      return list_of(field, " map specs {\"map\":...}");
  }
  return "";
}

}  // namespace mercer
