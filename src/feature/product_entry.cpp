// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which parts can be multiplied, and with how many columns each: parts of one kind of column,
// complex or halves, and real ones; sums are multiplied out.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "feature/expanded_product.h"
#include "feature/product_map.h"

namespace mercer::feature {
namespace {

constexpr auto kRule = kernel::Composition::Rule::product;

const char* words(ColumnForm form) noexcept {
  return form == ColumnForm::complex ? "complex columns" : "columns in halves [Re | Im]";
}

/// The form of the product: complex or halves if a part is. Errors: UNSUPPORTED for parts of both
/// kinds, and for columns that do not estimate the kernel singly.
ColumnForm form_of(const PartMaps& maps) {
  ColumnForm form = ColumnForm::real;
  for (size_t i = 0; i < maps.size(); ++i) {
    const ColumnForm own = maps[i]->column_form();
    require(own != ColumnForm::joint, MERCER_UNSUPPORTED,
            "parts[%zu]: no column of this map %s estimates the kernel alone: it cannot be "
            "multiplied",
            i, std::string(maps[i]->name()).c_str());
    require(own == form || own == ColumnForm::real || form == ColumnForm::real, MERCER_UNSUPPORTED,
            "parts[%zu] has %s and one before it %s, expected one kind beside real columns", i,
            words(own), words(form));
    if (own != ColumnForm::real) form = own;
  }
  return form;
}

/// The parts with D columns each. A part whose number is fixed gets that, for form_of to refuse.
/// Null for a part that cannot have D columns: it may be able to have D/2, and `error` says why not
/// D.
PartMaps parts_of(const PartMaker& maker, int64_t D, std::optional<Error>& error) {
  PartMaps maps;
  const std::vector<MapSizes> sizes = maker.sizes();
  for (size_t i = 0; i < maker.count(); ++i) {
    try {
      maps.push_back(maker.make(i, sizes[i].step == 0 ? sizes[i].least : D));
    } catch (const Error& refused) {
      if (refused.status() != MERCER_INVALID_ARGUMENT) throw;
      if (!error) error = refused;
      maps.push_back(nullptr);
    }
  }
  return maps;
}

/// A part with real columns beside halves [Re | Im] has D/2: as many as one half.
std::shared_ptr<const FeatureMap> half_of(const PartMaker& maker, size_t part, int64_t D) {
  const int64_t step = 2 * std::max<int64_t>(maker.sizes()[part].step, 1);
  require(D % step == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected a multiple of %ld: real columns of parts[%zu] go with halves "
          "[Re | Im] of the others, which have %ld columns each",
          D, step, part, D / 2);
  return maker.make(part, D / 2);
}

/// The canonical Parameters that expanded_product reads.
Parameters as_canonical(const MapArguments& a) {
  return {
      {"map", a.map},       {"kernel", std::make_shared<const Parameters>(a.kernel.parameters())},
      {"inputs", a.inputs}, {"features", a.features},
      {"seed", a.seed},     {"parts", a.own.objects("parts")}};
}

std::unique_ptr<FeatureMap> product_from(const MapArguments& a) {
  const PartMaker maker(a, kRule);
  if (const auto expanded = expanded_product(as_canonical(a)))
    return make_expanded_product(a, *expanded);
  std::optional<Error> error;
  PartMaps maps = parts_of(maker, a.features, error);
  // Real columns go with both halves of the others.
  const bool halves = std::ranges::any_of(maps, [](const auto& map) {
    return map != nullptr && map->column_form() == ColumnForm::halves;
  });
  if (error && !halves) throw *error;
  for (size_t i = 0; halves && i < maps.size(); ++i) {
    if (maps[i] == nullptr || maps[i]->column_form() == ColumnForm::real)
      maps[i] = half_of(maker, i, a.features);
  }
  const ColumnForm form = form_of(maps);
  return make_product(a, std::move(maps), form);
}

/// The common sizes of the parts whose inputs do not fix them; others cannot be multiplied.
MapSizes common_sizes(const Parameters& canonical, int64_t rows) {
  if (const auto expanded = expanded_product(canonical)) return map_sizes(*expanded, rows);
  MapSizes all{1, 1, kMostFeatures};
  for (const MapSizes& own : sizes_of_parts(canonical, rows)) {
    if (own.step == 0) continue;
    all = {std::max(all.least, own.least), std::max(all.step, own.step),
           std::min(all.most, own.most)};
  }
  return all;
}

}  // namespace

MapEntry product_entry() {
  return {.name = "product",
          .help =
              "the features of the parts of a product of kernels multiplied column by column; "
              "the costs of the parts add up",
          .fields = {part_maps_field()},
          .make = product_from,
          .default_kernel = composed_kernel("product"),
          .rule = kRule,
          .sizes = common_sizes};
}

}  // namespace mercer::feature
