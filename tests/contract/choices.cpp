// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "contract/choices.h"

#include <memory>
#include <string>

#include "feature/map_entry.h"
#include "support/refusal.h"

namespace mercer::test {
namespace {

const feature::MapEntry& entry_of(std::string_view map) {
  for (const feature::MapEntry& entry : feature::map_table()) {
    if (map == entry.name) return entry;
  }
  fail(MERCER_INVALID_ARGUMENT, "map %s does not exist", std::string(map).c_str());
}

}  // namespace

std::vector<Value> choices(const Field& field) {
  std::vector<Value> values;
  if (field.type == FieldType::boolean) values = {false, true};
  if (field.type == FieldType::text) {
    for (const char* name : field.choices) values.emplace_back(std::string(name));
  }
  if (field.type == FieldType::sketch) {
    for (const std::string& name : sketch_names()) {
      Parameters sketch;
      sketch.set("map", name);
      for (const Parameters& one : crossed(sketch))
        values.emplace_back(std::make_shared<const Parameters>(one));
    }
  }
  return values;
}

std::vector<Parameters> crossed(const Parameters& given) {
  return crossed(given, entry_of(given.text("map")).fields);
}

std::vector<Parameters> crossed(const Parameters& given, std::span<const Field> fields) {
  std::vector<Parameters> specs{given};
  for (const Field& field : fields) {
    const std::vector<Value> values = choices(field);
    if (values.empty() || given.find(field.key) != nullptr) continue;
    std::vector<Parameters> more;
    for (const Parameters& spec : specs) {
      for (const Value& value : values) {
        more.push_back(spec);
        more.back().set(field.key, value);
      }
    }
    specs = std::move(more);
  }
  return specs;
}

std::vector<Field> fields_without_choices(std::string_view map) {
  std::vector<Field> fields;
  for (const Field& field : entry_of(map).fields) {
    if (choices(field).empty()) fields.push_back(field);
  }
  return fields;
}

std::vector<std::string> sketch_names() {
  std::vector<std::string> names;
  for (const auto& entry : feature::map_table()) {
    Parameters sketch;
    sketch.set("map", std::string(entry.name));
    if (outcome([&] { feature::canonical_sketch(sketch, ""); }).status == MERCER_OK)
      names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace mercer::test
