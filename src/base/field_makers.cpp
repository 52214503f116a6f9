// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Makers of common Fields.
#include <string>
#include <utility>

#include "base/fields.h"

namespace mercer {

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

}  // namespace mercer
