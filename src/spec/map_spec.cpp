// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Map specs: {"map": NAME, "kernel": {...}, "inputs": d, "features": D, "seed": s, parameters of
// the map's table}.
#include <array>
#include <string_view>

#include "base/error.h"
#include "spec/fields.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace mercer::spec {
namespace {

// A file's spec may hold a lengthscale per input, which outgrows what is sensible to type.
constexpr int64_t kMostFileSpecBytes = int64_t{1} << 28;

Field map_name_field() {
  std::vector<const char*> names;
  for (const feature::MapEntry& entry : feature::map_table()) names.push_back(entry.name);
  return name_field("map", std::move(names), "which map");
}

Field sketch_name_field() { return name_field("map", sketch_names(), "which sketch"); }

/// The row that given["map"], one of the names of `field`, says.
const feature::MapEntry& named_entry(const Parameters& given, const Field& field,
                                     const std::string& path) {
  Parameters only_name;
  if (const Value* name = given.find("map")) only_name.set("map", *name);
  const std::string name = check_fields(only_name, {&field, 1}, path).text("map");
  for (const feature::MapEntry& entry : feature::map_table()) {
    if (name == entry.name) return entry;
  }
  fail(MERCER_INTERNAL, "map %s has no entry", name.c_str());
}

// Extents go to BLAS, whose LP64 interface has 32-bit integers.
constexpr double kMostExtent = 2147483647;

/// What every map has besides its name.
std::array<Field, 4> common_fields() {
  return {{
      {.key = "kernel",
       .type = FieldType::kernel,
       .fallback = {},
       .help = "the kernel to approximate"},
      {.key = "inputs",
       .type = FieldType::integer,
       .fallback = {},
       .least = 1,
       .most = kMostExtent,
       .help = "d, numbers per row of X"},
      {.key = "features",
       .type = FieldType::integer,
       .fallback = {},
       .least = 1,
       .most = kMostExtent,
       .help = "D, columns of Z (complex columns of a complex map)"},
      {.key = "seed",
       .type = FieldType::seed,
       .fallback = uint64_t{0},
       .help = "fixes every random number"},
  }};
}

}  // namespace

const feature::MapEntry& map_entry(const Parameters& given, const std::string& path) {
  return named_entry(given, map_name_field(), path);
}

std::vector<const char*> sketch_names() {
  std::vector<const char*> names;
  for (const feature::MapEntry& entry : feature::map_table()) {
    if (entry.base) names.push_back(entry.name);
  }
  return names;
}

std::vector<Field> map_fields(const feature::MapEntry& entry) {
  std::vector<Field> fields{map_name_field()};
  for (const Field& field : common_fields()) fields.push_back(field);
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  return fields;
}

Parameters canonical_map(const Parameters& given, const std::string& path, Data data) {
  const Envelope envelope = open_envelope(given, path);
  require(!envelope.needs_data || data == Data::allowed, MERCER_UNSUPPORTED,
          "%sneeds = \"data\": the map holds numbers that a spec cannot; save it to a file",
          path.c_str());
  Parameters canonical =
      check_fields(envelope.body, map_fields(map_entry(envelope.body, path)), path);
  if (envelope.needs_data) canonical.set("needs", "data");
  return canonical;
}

Parameters canonical_sketch(const Parameters& given, const std::string& path) {
  const Envelope envelope = open_envelope(given, path);
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "%sneeds = \"data\": a sketch inside a map is drawn from the map's seed", path.c_str());
  std::vector<Field> fields{sketch_name_field()};
  const feature::MapEntry& entry = named_entry(envelope.body, fields[0], path);
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  return check_fields(envelope.body, fields, path);
}

std::unique_ptr<feature::FeatureMap> make_map(const Parameters& canonical,
                                              std::span<const double> numbers) {
  const feature::MapEntry& entry = map_entry(canonical, "");
  const bool needs_data = canonical.find("needs") != nullptr;
  require(needs_data || numbers.empty(), MERCER_INVALID_ARGUMENT,
          "map %s: %zu numbers given, expected none without \"needs\":\"data\"", entry.name,
          numbers.size());
  const auto kernel = make_kernel(canonical.object("kernel"));
  Parameters own;
  for (const Field& field : entry.fields) {
    if (const Value* value = canonical.find(field.key)) own.set(field.key, *value);
  }
  return entry.make({*kernel, canonical.integer("inputs"), canonical.integer("features"),
                     canonical.seed("seed"), own, numbers});
}

std::unique_ptr<feature::FeatureMap> map_from_spec(std::string_view json) {
  return make_map(canonical_map(parse_object(json), "", Data::refused), {});
}

std::unique_ptr<feature::FeatureMap> map_from_spec_and_numbers(std::string_view json,
                                                               std::span<const double> numbers) {
  return make_map(map_parameters_of_file(json), numbers);
}

Parameters map_parameters_of_file(std::string_view json) {
  return canonical_map(parse_object(json, kMostFileSpecBytes), "", Data::allowed);
}

std::string to_spec(const feature::FeatureMap& map) { return print_versioned(map.parameters()); }

}  // namespace mercer::spec
