// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "operator/operator_entry.h"

#include <utility>

#include "base/fields.h"

namespace mercer::operators {
namespace {

// Extents go to BLAS, whose LP64 interface has 32-bit integers.
constexpr double kMostExtent = 2147483647;

Field operator_name_field() {
  return name_field("operator", operator_table(), "which operator-valued kernel");
}

Field kernel_field() {
  return {.key = "kernel",
          .type = FieldType::kernel,
          .fallback = std::make_shared<const Parameters>(Parameters{{"kernel", "gaussian"}}),
          .help = "the scalar kernel it is built on",
          .canonical = kernel::canonical_kernel};
}

using FieldsOf = std::vector<Field> (*)(const OperatorEntry&);

Parameters canonical(const Parameters& given, FieldsOf fields) {
  const Envelope envelope = open_envelope(given, "");
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "needs = \"data\": an operator map that holds numbers is read from its file");
  return check_fields(envelope.body, fields(operator_entry(envelope.body)), "");
}

}  // namespace

const OperatorEntry& operator_entry(const Parameters& given) {
  return named_entry(given, operator_name_field(), operator_table(), "");
}

std::vector<Field> kernel_fields(const OperatorEntry& entry) {
  std::vector<Field> fields{operator_name_field(), kernel_field()};
  fields.insert(fields.end(), entry.kernel_fields.begin(), entry.kernel_fields.end());
  return fields;
}

std::vector<Field> drawn_fields() {
  return {kernel_field(),
          count_field("inputs", {}, kMostExtent, "d, numbers per row of X"),
          count_field("features", {}, kMostExtent, "D, columns of scalar features: 2 a frequency"),
          {.key = "seed",
           .type = FieldType::seed,
           .fallback = uint64_t{0},
           .help = "fixes every random number"}};
}

std::vector<Field> map_fields(const OperatorEntry& entry) {
  std::vector<Field> fields{operator_name_field()};
  for (const std::vector<Field>& more : {drawn_fields(), entry.kernel_fields, entry.map_fields})
    fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

Parameters canonical_operator_kernel(const Parameters& given) {
  return canonical(given, kernel_fields);
}
Parameters canonical_operator_map(const Parameters& given) { return canonical(given, map_fields); }

std::unique_ptr<const OperatorKernel> make_operator_kernel(const Parameters& canonical) {
  return operator_entry(canonical).make_kernel(canonical);
}

std::unique_ptr<const OperatorMap> make_operator_map(const Parameters& canonical) {
  const OperatorEntry& entry = operator_entry(canonical);
  Parameters kernel;
  for (const Field& field : kernel_fields(entry)) kernel.set(field.key, *canonical.find(field.key));
  return entry.make_map(canonical, entry.make_kernel(kernel));
}

}  // namespace mercer::operators
