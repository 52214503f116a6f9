// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/words.h"

namespace mercer::spec {
namespace {

constexpr const char* kUnitRows = "unit_rows";

}  // namespace

std::vector<Field> preparation_fields() {
  return {kScale.field(),
          kMissing.field(),
          kTransform.field(),
          kTargetTransform.field(),
          {.key = kUnitRows,
           .type = FieldType::boolean,
           .fallback = false,
           .help = "scale prepared rows to norm 1"},
          kExtrapolation.field()};
}

void set_preparation(const model::FitOptions& options, Parameters& to) {
  kScale.write(to, options.scale);
  kMissing.write(to, options.missing);
  kTransform.write(to, options.transform);
  kTargetTransform.write(to, options.target_transform);
  to.set(kUnitRows, options.unit_rows);
  kExtrapolation.write(to, options.extrapolation);
}

void read_preparation(const Parameters& from, model::FitOptions& options) {
  options.scale = kScale.read(from);
  options.missing = kMissing.read(from);
  options.transform = kTransform.read(from);
  options.target_transform = kTargetTransform.read(from);
  options.unit_rows = from.boolean(kUnitRows);
  options.extrapolation = kExtrapolation.read(from);
}

}  // namespace mercer::spec
