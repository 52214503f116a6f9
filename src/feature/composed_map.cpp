// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/composed_map.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "kernel/composed_kernel.h"
#include "random/child_seed.h"

namespace mercer::feature {
namespace {

constexpr uint64_t kMapPart = 1;
// Keys of a part that the whole fixes.
constexpr const char* kFixed[] = {"kernel", "inputs", "features", "seed", "needs"};

// Limits on all parts at any depth, so that what can be made can be saved: files hold three arrays
// of numbers for each part under names with a prefix for each level (io/number_arrays.cpp), and the
// spec of a model, with two levels of JSON for each level of parts and five more, must not nest
// deeper than JSON may (spec/json.h).
constexpr int64_t kMostPartsInAll = 1024;
constexpr int64_t kMostNested = 13;

struct Extent {
  int64_t parts = 1;
  int64_t depth = 0;
};

Extent extent_of(const kernel::Kernel& kernel) {
  const std::optional<kernel::Composition> composition = kernel.composition();
  if (!composition) return {};
  Extent all{0, 0};
  for (const auto& part : composition->parts) {
    const Extent own = extent_of(*part);
    all = {all.parts + own.parts, std::max(all.depth, own.depth + 1)};
  }
  return all;
}

void check_extent(const kernel::Kernel& whole) {
  const Extent extent = extent_of(whole);
  require(extent.parts <= kMostPartsInAll, MERCER_INVALID_ARGUMENT,
          "kernel %s has %ld parts in all, expected at most %ld for a map",
          std::string(whole.name()).c_str(), extent.parts, kMostPartsInAll);
  require(extent.depth <= kMostNested, MERCER_INVALID_ARGUMENT,
          "kernel %s is nested %ld deep, expected at most %ld for a map",
          std::string(whole.name()).c_str(), extent.depth, kMostNested);
}

// The variance of a part that carries that of the whole.
double borne_variance(size_t part, double own, double whole) {
  const double borne = own * whole;
  require(borne > 0 && std::isfinite(borne), MERCER_INVALID_ARGUMENT,
          "parts[%zu]: variance = %g times the %g of the whole is %g, expected a finite number > 0",
          part, own, whole, borne);
  return borne;
}

// Names of numbers hold letters alone: aa_, ab_, ...
std::string prefix_of(size_t part) {
  return {static_cast<char>('a' + part / 26), static_cast<char>('a' + part % 26), '_'};
}

std::vector<NumberArray> numbers_of(size_t part, std::span<const NumberArray> all) {
  const std::string prefix = prefix_of(part);
  std::vector<NumberArray> own;
  for (const NumberArray& array : all) {
    if (array.name.starts_with(prefix))
      own.push_back({array.name.substr(prefix.size()), array.shape, array.values});
  }
  return own;
}

}  // namespace

PartMaker::PartMaker(const MapArguments& arguments, kernel::Composition::Rule rule)
    : arguments_(arguments) {
  const kernel::Kernel& whole = arguments.kernel;
  const std::optional<kernel::Composition> composition = whole.composition();
  require(composition && composition->rule == rule, MERCER_UNSUPPORTED,
          "kernel %s is not a %s of kernels, expected %s", std::string(whole.name()).c_str(),
          arguments.map.c_str(), arguments.map.c_str());
  whole.check_dimension(arguments.inputs);
  check_extent(whole);
  for (const auto& part : composition->parts) {
    const bool bears = rule == kernel::Composition::Rule::sum || kernels_.empty();
    kernels_.push_back(part->with_variance(
        borne_variance(kernels_.size(), part->variance(), bears ? whole.variance() : 1)));
  }
  const size_t given = arguments.own.objects("parts").size();
  require(given == count(), MERCER_INVALID_ARGUMENT,
          "parts = a list of %zu maps, expected %zu, one for each part of kernel %s", given,
          count(), arguments.map.c_str());
}

Parameters PartMaker::spec(size_t part, int64_t features) const {
  Parameters given = *arguments_.own.objects("parts")[part];
  given.set("kernel", std::make_shared<const Parameters>(kernels_[part]->parameters()));
  given.set("inputs", arguments_.inputs);
  given.set("features", features);
  given.set("seed", random::child_seed(arguments_.seed, kMapPart, part));
  return canonical_map(given, "parts[" + std::to_string(part) + "].", Data::refused);
}

std::vector<MapSizes> PartMaker::sizes() const {
  Parameters whole = arguments_.own;
  whole.set("kernel", std::make_shared<const Parameters>(arguments_.kernel.parameters()));
  whole.set("inputs", arguments_.inputs);
  return sizes_of_parts(whole, kMostFeatures);
}

std::shared_ptr<const FeatureMap> PartMaker::make(size_t part, int64_t features) const {
  Parameters canonical = spec(part, features);
  require(
      !learns_from_targets(canonical), MERCER_UNSUPPORTED,
      "parts[%zu]: map %s is to learn from targets, which parts are made without: expected what "
      "it learns alone, as its spec then says it",
      part, canonical.text("map").c_str());
  if (arguments_.data.context != nullptr) arguments_.data.context->checkpoint();
  const std::vector<NumberArray> numbers = numbers_of(part, arguments_.data.numbers);
  if (!numbers.empty()) canonical.set("needs", std::string("data"));
  std::shared_ptr<const FeatureMap> map;
  try {
    map = make_map(canonical, {.numbers = numbers,
                               .rows = takes_rows(canonical) ? arguments_.data.rows : nullptr,
                               .context = arguments_.data.context});
  } catch (const Error& error) {
    fail(error.status(), "parts[%zu]: %s", part, error.what());
  }
  require(map->features() == features, MERCER_INVALID_ARGUMENT,
          "parts[%zu]: map %s has %ld features, expected the %ld that it is to have", part,
          std::string(map->name()).c_str(), map->features(), features);
  return map;
}

std::vector<MapSizes> sizes_of_parts(const Parameters& canonical, int64_t rows) {
  const Parameters& kernel = canonical.object("kernel");
  if (canonical.find("parts") == nullptr || kernel.find("parts") == nullptr) return {};
  const ObjectList &maps = canonical.objects("parts"), &kernels = kernel.objects("parts");
  if (maps.size() != kernels.size()) return {};
  std::vector<MapSizes> sizes;
  for (size_t i = 0; i < maps.size(); ++i) {
    Parameters part = *maps[i];
    part.set("kernel", kernels[i]);
    part.set("inputs", canonical.integer("inputs"));
    part.set("features", int64_t{1});
    part.set("seed", uint64_t{0});
    sizes.push_back(map_sizes(part, rows));
  }
  return sizes;
}

ComposedMap::ComposedMap(const MapArguments& arguments, PartMaps parts, bool is_complex)
    : FeatureMap(arguments.inputs, arguments.features, is_complex),
      name_(arguments.map),
      kernel_(arguments.kernel.copy()),
      seed_(arguments.seed),
      parts_(std::move(parts)) {
  size_t arrays = 0;
  for (size_t i = 0; i < parts_.size(); ++i) arrays += numbers_of(i, arguments.data.numbers).size();
  require(arrays == arguments.data.numbers.size(), MERCER_CORRUPT_FILE,
          "%zu arrays of numbers belong to no part of the map",
          arguments.data.numbers.size() - arrays);
}

Parameters ComposedMap::parameters() const {
  Parameters spec = common_parameters(seed_);
  ObjectList list;
  bool needs_data = false;
  for (const auto& part : parts_) {
    const Parameters whole = part->parameters();
    Parameters own;
    for (const auto& [key, value] : whole.entries()) {
      if (std::ranges::find(kFixed, key) == std::end(kFixed)) own.set(key, value);
    }
    needs_data = needs_data || whole.find("needs") != nullptr;
    list.push_back(std::make_shared<const Parameters>(std::move(own)));
  }
  spec.set("parts", std::move(list));
  add_parameters(spec);
  if (needs_data) spec.set("needs", std::string("data"));
  return spec;
}

void ComposedMap::prepare(Precision precision, Context& context) const {
  Stage stage(context, std::ssize(parts_));
  for (const auto& part : parts_) {
    stage.share(1);
    part->prepare(precision, context);
    stage.advance(1);
    context.checkpoint();
  }
}

int64_t ComposedMap::incomplete_block() const {
  int64_t most = 0;
  for (const auto& part : parts_) most = std::max(most, part->incomplete_block());
  return most;
}

const Derivatives* ComposedMap::derivatives() const noexcept {
  const auto has = [](const auto& part) { return part->derivatives() != nullptr; };
  return std::ranges::all_of(parts_, has) ? this : nullptr;
}

int64_t ComposedMap::most_order() const noexcept {
  int64_t least = kernel::kMostDerivatives;
  for (const auto& part : parts_) least = std::min(least, part->derivatives()->most_order());
  return least;
}

std::vector<NumberArray> ComposedMap::numbers() const {
  std::vector<NumberArray> all;
  for (size_t i = 0; i < parts_.size(); ++i) {
    for (NumberArray& array : parts_[i]->numbers()) {
      array.name = prefix_of(i) + array.name;
      all.push_back(std::move(array));
    }
  }
  return all;
}

bool ComposedMap::shows_other_rows() const noexcept {
  return std::ranges::any_of(parts_, [](const auto& part) { return part->shows_other_rows(); });
}

bool ComposedMap::is_of_scaled_inputs() const {
  return std::ranges::all_of(parts_, [](const auto& part) { return part->is_of_scaled_inputs(); });
}

Parameters composed_kernel(const char* name) {
  Parameters linear = kernel_named("polynomial");
  linear.set("degree", int64_t{1});
  return {{"kernel", name},
          {"parts", ObjectList{std::make_shared<const Parameters>(kernel_named("gaussian")),
                               std::make_shared<const Parameters>(std::move(linear))}}};
}

Field part_maps_field() {
  return {.key = "parts",
          .type = FieldType::maps,
          .fallback = std::nan(""),
          .least = 2,
          .most = kernel::kMostParts,
          .help =
              "the map of each part, without kernel, inputs, features and seed; left out: the "
              "default map of each part's kernel",
          .canonical = canonical_part};
}

}  // namespace mercer::feature
