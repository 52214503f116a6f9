// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Specs of operator-valued kernels and maps: {"operator": NAME, "kernel": {...}, ...}.
#include <string_view>

#include "base/error.h"
#include "base/fields.h"
#include "operator/operator_entry.h"
#include "operator/supplied.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace mercer::spec {
namespace {

// Gamma may be long.
constexpr int64_t kMostFileSpecBytes = int64_t{1} << 28;

}  // namespace

std::unique_ptr<const operators::OperatorKernel> operator_kernel_from_spec(std::string_view json) {
  return operators::make_operator_kernel(operators::canonical_operator_kernel(parse_object(json)));
}

std::unique_ptr<const operators::OperatorMap> operator_map_from_spec(std::string_view json) {
  return operators::make_operator_map(operators::canonical_operator_map(parse_object(json)));
}

std::unique_ptr<const operators::OperatorMap> decomposable_from_spec(std::string_view json,
                                                                     const kernel::Kernel& kernel,
                                                                     std::vector<double> gamma) {
  Parameters given = parse_object(json);
  for (const char* key : {"operator", "kernel", "gamma"}) {
    require(given.find(key) == nullptr, MERCER_INVALID_ARGUMENT,
            "key \"%s\" in the spec, expected it left out: the call itself says it", key);
  }
  given.set("operator", "decomposable");
  given.set("kernel", std::make_shared<const Parameters>(kernel.parameters()));
  given.set("gamma", std::move(gamma));
  return operators::make_operator_map(operators::canonical_operator_map(given));
}

std::unique_ptr<const operators::OperatorMap> operator_map_of_roots(
    std::string_view json, int64_t p, int64_t q, const operators::RootFunction& root) {
  return operators::make_operator_of_roots(parse_object(json), p, q, root);
}

std::unique_ptr<const operators::OperatorMap> operator_map_of_file(
    std::string_view json, std::span<const NumberArray> numbers) {
  const Parameters given = parse_object(json, kMostFileSpecBytes);
  if (operators::is_supplied_operator(given))
    return operators::supplied_operator_from(given, numbers);
  return operators::make_operator_map(operators::canonical_operator_map(given));
}

std::string to_spec(const operators::OperatorKernel& kernel) {
  return print_versioned(kernel.parameters());
}
std::string to_spec(const operators::OperatorMap& map) { return print_versioned(map.parameters()); }

}  // namespace mercer::spec
