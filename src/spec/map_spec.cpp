// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Map specs: {"map": NAME, "kernel": {...}, "inputs": d, "features": D, "seed": s, parameters of
// the map's entry}; and what every spec looks like at the top.
#include <string_view>

#include "base/fields.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace mercer::spec {
namespace {

// A file's spec may hold a lengthscale per input, which outgrows what is sensible to type.
constexpr int64_t kMostFileSpecBytes = int64_t{1} << 28;

}  // namespace

std::unique_ptr<feature::FeatureMap> map_from_spec(std::string_view json) {
  return feature::make_map(feature::canonical_map(parse_object(json), "", feature::Data::refused),
                           {});
}

std::unique_ptr<feature::FeatureMap> map_from_spec_and_numbers(
    std::string_view json, std::span<const NumberArray> numbers) {
  return feature::make_map(map_parameters_of_file(json), {.numbers = numbers});
}

std::unique_ptr<feature::FeatureMap> map_fitted_to_spec(std::string_view json, const Rows& rows,
                                                        const MatrixView<const double>* targets,
                                                        Context& context) {
  return feature::make_map(feature::canonical_map(parse_object(json), "", feature::Data::refused),
                           {.rows = &rows, .targets = targets, .context = &context});
}

Parameters map_parameters_of_file(std::string_view json) {
  return feature::canonical_map(parse_object(json, kMostFileSpecBytes), "", feature::Data::allowed);
}

Parameters versioned(const Parameters& canonical) {
  Parameters top{{"mercer", kVocabularyVersion}};
  for (const auto& [key, value] : canonical.entries()) top.set(key, value);
  return top;
}

std::string print_versioned(const Parameters& canonical) {
  return print_object(versioned(canonical));
}

std::string to_spec(const feature::FeatureMap& map) { return print_versioned(map.parameters()); }

}  // namespace mercer::spec
