// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "bound/bound.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/fields.h"

namespace mercer::bound {
namespace {

constexpr double kMostFrequencies = 9007199254740992;  // 2^53

}  // namespace

Field bound_name_field() { return name_field("bound", bound_table(), "which bound"); }

std::span<const BoundEntry> bound_table() {
  static const BoundEntry kTable[] = {uniform_bound_entry(),      expected_bound_entry(),
                                      derivative_bound_entry(),   sketch_bound_entry(),
                                      decomposable_bound_entry(), bounded_features_entry(),
                                      unbounded_features_entry(), ridge_bound_entry(),
                                      excess_risk_bound_entry(),  kernel_pca_bound_entry()};
  return kTable;
}

std::vector<Field> bound_fields(const BoundEntry& entry) {
  std::vector<Field> fields = {bound_name_field()};
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  return fields;
}

Field bound_kernel_field(const char* help) {
  return {.key = "kernel",
          .type = FieldType::kernel,
          .fallback = kOptional,
          .help = help,
          .canonical = kernel::canonical_kernel};
}

Field optional_above_zero(const char* key, const char* help) {
  return number_above_field(key, kOptional, 0, kUnbounded, help);
}

std::vector<Field> bound_size_fields() {
  return {count_field("inputs", {}, 1e6, "d"),
          count_field("frequencies", kOptional, kMostFrequencies,
                      "F, independent frequencies; absent: the least number, answered")};
}

std::unique_ptr<kernel::Kernel> bound_kernel(const Parameters& asked) {
  return kernel::make_kernel(asked.object("kernel"));
}

bool is_first_given(const Parameters& asked, const char* first, const char* second) {
  const bool has_first = asked.find(first) != nullptr, has_second = asked.find(second) != nullptr;
  require(has_first != has_second, MERCER_INVALID_ARGUMENT,
          "%s \"%s\" %s \"%s\", expected one of the two", has_first ? "both" : "neither", first,
          has_first ? "and" : "nor", second);
  return has_first;
}

void set_answer(Parameters& asked, const char* key, double value) {
  require(std::isfinite(value), MERCER_INVALID_ARGUMENT,
          "%s is not finite, expected numbers that leave it finite", key);
  asked.set(key, value);
}

}  // namespace mercer::bound
