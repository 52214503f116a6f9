// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "contract/operator_cells.h"

#include <algorithm>
#include <string_view>

#include "contract/choices.h"
#include "contract/match.h"
#include "feature/field_fourier.h"
#include "feature/fourier.h"
#include "projection/hadamard_blocks.h"
#include "spec/json.h"
#include "support/field_maps.h"

namespace mercer::test {
namespace {

bool is_bounded(const Parameters& spec) {
  return spec.find("bounded") != nullptr && spec.boolean("bounded");
}

/// The bounded law has the norm chi_{d+2} in d dimensions: no product, nor a part of a longer row.
/// Weights of columns are right for cosines alone.
bool exists(const OperatorCell& cell) {
  const kernel::KernelEntry& kernel =
      kernel::kernel_entry({{"kernel", cell.spec.text("operator")}});
  if (kernel.outputs == kernel::OutputCount::inputs && cell.is_weighed()) return false;
  if (!is_bounded(cell.spec)) return true;
  const projection::ProjectionEntry& entry = cell.projection();
  const bool pads = entry.block == projection::padded_dimension;
  return entry.need != projection::LawNeed::product &&
         entry.need != projection::LawNeed::product_or_mixture &&
         (!pads || cell.inputs() == projection::padded_dimension(cell.inputs()));
}

std::vector<Parameters> crossed_row(const OperatorRow& row) {
  const Parameters given = spec::parse_object(row.spec);
  return crossed(given, fields_of(kernel::kernel_entry({{"kernel", given.text("operator")}})));
}

std::vector<OperatorCell> cross(bool made) {
  std::vector<OperatorCell> cells;
  for (const OperatorRow& row : operator_rows()) {
    for (const Parameters& spec : crossed_row(row)) {
      if (!MERCER_TEST_FFTW && spec.text("projection") == "circulant") continue;
      if (spec.text("projection") == feature::kSupplied) continue;
      if (spec.text("projection") == feature::kGrid) continue;  // tests/feature
      // Of 3 inputs, which fast transforms fill up, and of 16, which they take as they are.
      for (const int64_t d : {3, 16}) {
        if (d > 3 && !is_bounded(spec)) continue;
        OperatorCell cell{spec, ""};
        cell.spec.set("inputs", d);
        cell.label = print_object(cell.spec);
        if (exists(cell) == made) cells.push_back(std::move(cell));
      }
    }
  }
  return cells;
}

}  // namespace

std::vector<Field> fields_of(const kernel::KernelEntry& entry) {
  const feature::MapEntry& map = feature::map_entry({{"map", "fourier"}});
  std::vector<Field> fields = map.fields;
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  if (entry.outputs == kernel::OutputCount::inputs)
    for (const Field& field : map.root_fields)
      if (field.key != std::string_view("root") ||
          feature::has_divergence(*kernel::make_kernel({{"kernel", entry.name}})))
        fields.push_back(field);
  std::erase_if(fields, [](const Field& field) {
    return std::ranges::count(fields_of_others(), std::string_view(field.key)) > 0;
  });
  return fields;
}

std::unique_ptr<const feature::FieldMap> OperatorCell::make(int64_t D, uint64_t seed) const {
  return made_field(canonical(D, seed));
}

Parameters OperatorCell::canonical(int64_t D, uint64_t seed) const {
  Parameters given = spec;
  given.set("features", D);
  given.set("seed", seed);
  return with_root_columns(field_spec(given));
}

const projection::ProjectionEntry& OperatorCell::projection() const {
  return projection::find_projection(spec.text("projection"));
}

std::unique_ptr<const OperatorCell> OperatorCell::other() const {
  for (const SameEstimateRow& row : same_estimate_rows()) {
    if (!holds(spec, row.match)) continue;
    const Parameters same = changed(spec, spec::parse_object(row.other));
    return std::make_unique<const OperatorCell>(OperatorCell{same, print_object(same)});
  }
  return nullptr;
}

const std::vector<OperatorCell>& made_operator_cells() {
  static const std::vector<OperatorCell> cells = cross(true);
  return cells;
}
const std::vector<OperatorCell>& refused_operator_cells() {
  static const std::vector<OperatorCell> cells = cross(false);
  return cells;
}

}  // namespace mercer::test
