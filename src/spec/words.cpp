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

void set_preparation(const model::Fitting& fitted, Parameters& to) {
  const model::Preparing& asked = fitted.prepare;
  kScale.write(to, asked.scale);
  kMissing.write(to, asked.missing);
  kTransform.write(to, asked.transform);
  kTargetTransform.write(to, asked.target_transform);
  to.set(kUnitRows, asked.unit_rows);
  kExtrapolation.write(to, fitted.extrapolation);
}

void read_preparation(const Parameters& from, model::Fitting& fit) {
  model::Preparing& asked = fit.prepare;
  asked.scale = kScale.read(from);
  asked.missing = kMissing.read(from);
  asked.transform = kTransform.read(from);
  asked.target_transform = kTargetTransform.read(from);
  asked.unit_rows = from.boolean(kUnitRows);
  fit.extrapolation = kExtrapolation.read(from);
}

}  // namespace mercer::spec
