// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Specs of kernels and maps.
#include "spec/spec.h"

#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "spec/json.h"

namespace mercer::spec {

// Kernel specs: {"kernel": NAME, parameters of the kernel's entry}, or NAME alone.

std::unique_ptr<kernel::Kernel> kernel_from_spec(std::string_view json) {
  return kernel::make_kernel(parse_kernel(json));
}

std::string to_spec(const kernel::Kernel& kernel) { return print_versioned(kernel.parameters()); }

// Map specs: {"map": NAME, "kernel": {...}, "inputs": d, "features": D, "seed": s, parameters of
// the map's entry}; and the top level of every spec.

std::unique_ptr<feature::FeatureMap> map_from_spec(std::string_view json) {
  return feature::make_map(feature::canonical_map(parse_object(json), "", feature::Data::refused),
                           {});
}

std::unique_ptr<feature::FeatureMap> map_from_spec_and_numbers(
    std::string_view json, std::span<const NumberArray> numbers) {
  return feature::make_map(map_parameters_of_file(json), {.numbers = numbers});
}

std::unique_ptr<feature::FeatureMap> map_fitted_to_spec(std::string_view json,
                                                        const MapInputs& inputs, Context& context) {
  Parameters given = parse_object(json);
  if (inputs.kernel != nullptr) {
    require(given.find("kernel") == nullptr, MERCER_INVALID_ARGUMENT,
            "key \"kernel\" beside a kernel of the caller's, expected one of the two");
    given.set("kernel", std::make_shared<const Parameters>(inputs.kernel->parameters()));
  }
  if (inputs.frequencies != nullptr)
    return feature::make_supplied(std::move(given), inputs.kernel.get(), *inputs.frequencies);
  const Parameters canonical = feature::canonical_map(given, "", feature::Data::refused);
  const feature::MapData data{.rows = inputs.rows, .targets = inputs.targets, .context = &context};
  return inputs.kernel == nullptr ? feature::make_map(canonical, data)
                                  : feature::make_map_of(inputs.kernel, canonical, data);
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
