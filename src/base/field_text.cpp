// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Values and Fields in the words of messages and help.
#include "base/field_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/value_text.h"

namespace mercer {
namespace {

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
