// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/map_maker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "feature/projection_choice.h"
#include "model/prepare/input_domain.h"
#include "spec/specs.h"

namespace mercer::spec {
namespace {

/// Of a kernel of several outputs; what is no object is refused with the other fields.
void refuse_outputs(const Parameters& map) {
  using Object = std::shared_ptr<const Parameters>;
  const auto* const kernel = std::get_if<Object>(map.find("kernel"));
  if (kernel == nullptr) return;
  const kernel::KernelEntry& entry = kernel::kernel_entry(**kernel, "kernel.");
  require(entry.outputs == kernel::OutputCount::one, MERCER_UNSUPPORTED,
          "kernel = %s has several outputs, expected a kernel of one: mercer_operator_model_search "
          "and mercer fit --operator learn with it",
          entry.name);
}

/// Of the parts of a composed kernel, their default maps with such projections.
ObjectList default_parts(const Parameters& kernel, int64_t d) {
  ObjectList maps;
  for (const auto& part : kernel.objects("parts")) {
    Parameters map{{"map", kernel::default_map(*part, "")}};
    if (feature::map_entry(map).chooses_projection)
      map.set("projection", feature::projection_for(*kernel::make_kernel(*part), d));
    if (part->find("parts") != nullptr) map.set("parts", default_parts(*part, d));
    maps.push_back(std::make_shared<const Parameters>(std::move(map)));
  }
  return maps;
}

/// A name that no map has is refused where the whole spec is checked.
std::shared_ptr<const Parameters> default_kernel(const Parameters& given) {
  Parameters kernel = feature::kernel_named("gaussian");
  const Value* const map = given.find("map");
  for (const feature::MapEntry& entry : feature::map_table()) {
    if (map != nullptr && *map == Value(std::string(entry.name))) kernel = entry.default_kernel;
  }
  return std::make_shared<const Parameters>(std::move(kernel));
}

/// body(kernel) for what a kernel is made of, or for itself.
template <class Body>
void for_each_plain(const Parameters& kernel, const Body& body) {
  if (kernel.find("parts") == nullptr) return body(kernel);
  for (const auto& part : kernel.objects("parts")) for_each_plain(*part, body);
}

/// Every lengthscale times `factor`.
Parameters scaled(Parameters kernel, double factor) {
  if (kernel.find("parts") != nullptr) {
    ObjectList parts;
    for (const auto& part : kernel.objects("parts"))
      parts.push_back(std::make_shared<const Parameters>(scaled(*part, factor)));
    kernel.set("parts", std::move(parts));
  }
  if (kernel.find("lengthscale") == nullptr) return kernel;
  std::vector<double> list = kernel.numbers("lengthscale");
  for (double& one : list) one *= factor;
  kernel.set("lengthscale", list.size() == 1 ? Value(list.front()) : Value(list));
  return kernel;
}

}  // namespace

SpecMapMaker::SpecMapMaker(Parameters canonical) : canonical_(std::move(canonical)) {
  const Parameters& kernel = canonical_.object("kernel");
  if (kernel.find("lengthscale") != nullptr) given_ = kernel.numbers("lengthscale");
  if (kernel.find("parts") == nullptr) return;
  for_each_plain(kernel, [this](const Parameters& part) {
    const bool has = part.find("lengthscale") != nullptr;
    (has ? has_scaled_parts_ : has_unscaled_parts_) = true;
    for (const double l : has ? part.numbers("lengthscale") : std::vector<double>{})
      is_factor_ = is_factor_ || l != 1;
  });
}

bool SpecMapMaker::has_lengthscale() const { return !given_.empty() || has_scaled_parts_; }

bool SpecMapMaker::chooses_projection() const {
  return feature::map_entry(canonical_).chooses_projection;
}

bool SpecMapMaker::is_isotropic() const {
  const auto kernel = kernel::make_kernel(canonical_.object("kernel"));
  const random::Law* law = kernel->spectral_law();
  return law != nullptr && law->isotropic() && kernel->prologue() == nullptr;
}

std::optional<double> SpecMapMaker::lengthscale() const {
  if (given_.empty()) return std::nullopt;
  return given_.front();
}

Parameters SpecMapMaker::at(Parameters kernel, int64_t features) const {
  Parameters canonical = canonical_;
  canonical.set("features", feature::features_near(canonical_, features));
  canonical.set("kernel", std::make_shared<const Parameters>(std::move(kernel)));
  return canonical;
}

Parameters SpecMapMaker::kernel_at(double lengthscale) const {
  Parameters kernel = canonical_.object("kernel");
  if (given_.size() != 1) return scaled(std::move(kernel), lengthscale);
  kernel.set("lengthscale", lengthscale);
  return kernel;
}

std::shared_ptr<const feature::FeatureMap> SpecMapMaker::make(double lengthscale,
                                                              int64_t features) const {
  const StandardRounding rounding;
  return feature::make_map(at(kernel_at(lengthscale), features));
}

std::shared_ptr<const feature::FeatureMap> SpecMapMaker::make_per_input(
    std::span<const double> lengthscales, int64_t features) const {
  const StandardRounding rounding;
  Parameters kernel = canonical_.object("kernel");
  kernel.set("lengthscale", std::vector<double>(lengthscales.begin(), lengthscales.end()));
  return feature::make_map(at(std::move(kernel), features));
}

std::optional<model::InputDomain> SpecMapMaker::domain() const {
  return model::domain_of(*kernel::make_kernel(canonical_.object("kernel")));
}

bool SpecMapMaker::needs_rows() const {
  return feature::needs_rows(canonical_) || feature::learns_from_targets(canonical_);
}

std::shared_ptr<const feature::FeatureMap> SpecMapMaker::smallest(double lengthscale) const {
  return make(lengthscale, feature::map_sizes(canonical_, 1).least);
}

bool SpecMapMaker::scales_inputs() const {
  if (needs_rows() || (has_scaled_parts_ && has_unscaled_parts_)) return false;
  return !has_lengthscale() || smallest(1)->is_of_scaled_inputs();
}

// Where rows are scaled instead, there is one of every lengthscale.
bool SpecMapMaker::has_candidate(double lengthscale) const {
  if (needs_rows() || scales_inputs()) return true;
  try {
    smallest(lengthscale);
    return true;
  } catch (const Error& error) {
    if (error.status() != MERCER_UNSUPPORTED) throw;
    return false;
  }
}

int64_t SpecMapMaker::most_features(int64_t rows) const {
  return feature::most_features(canonical_, rows);
}

std::shared_ptr<const feature::FeatureMap> SpecMapMaker::make_from(
    double lengthscale, int64_t features, const Rows& rows, const MatrixView<const double>& targets,
    Context& context) const {
  const StandardRounding rounding;
  return feature::make_map(
      at(kernel_at(lengthscale), features),
      {.rows = &rows,
       .targets = feature::learns_from_targets(canonical_) ? &targets : nullptr,
       .context = &context});
}

int64_t hash_buckets(const Parameters& partial, int64_t d) {
  if (d <= model::kMostPlainInputs || partial.find("inputs") != nullptr) return 0;
  const auto maker = map_maker(partial, d, 0);
  const bool plain = (partial.find("map") == nullptr || maker->chooses_projection()) &&
                     partial.find("projection") == nullptr && maker->start() == 0;
  return plain && maker->is_isotropic() ? model::kHashBuckets : 0;
}

std::unique_ptr<SpecMapMaker> map_maker(Parameters given, int64_t d, uint64_t seed) {
  const StandardRounding rounding;
  const auto set_default = [&given](const char* key, Value value) {
    if (given.find(key) == nullptr) given.set(key, std::move(value));
  };
  set_default("kernel", default_kernel(given));
  refuse_outputs(given);
  set_default("inputs", d);
  set_default("features", int64_t{1});  // any: make() replaces it
  set_default("seed", seed);
  const auto canonical_of = [](const Parameters& spec) {
    return feature::canonical_map(spec, "map.", feature::Data::refused);
  };
  Parameters canonical = canonical_of(given);
  require(canonical.integer("inputs") == d, MERCER_DIMENSION_MISMATCH,
          "map.inputs = %lld, expected the prepared inputs of the rows, %lld",
          static_cast<long long>(canonical.integer("inputs")), static_cast<long long>(d));
  const auto kernel = kernel::make_kernel(canonical.object("kernel"));
  kernel->check_dimension(d);  // now, not at the first candidate
  if (feature::map_entry(canonical).chooses_projection && given.find("projection") == nullptr) {
    given.set("projection", feature::projection_for(*kernel, d));
    canonical = canonical_of(given);
  }
  if (canonical.text("map") == canonical.object("kernel").text("kernel") && kernel->composition() &&
      given.find("parts") == nullptr) {
    given.set("parts", default_parts(canonical.object("kernel"), d));
    canonical = canonical_of(given);
  }
  return std::make_unique<SpecMapMaker>(std::move(canonical));
}

}  // namespace mercer::spec
