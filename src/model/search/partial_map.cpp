// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/search/partial_map.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "feature/field_fourier.h"
#include "feature/frequency_grid.h"
#include "feature/map_entry.h"
#include "feature/projected_map.h"
#include "kernel/kernel.h"
#include "model/prepare/input_domain.h"

namespace mercer::model {
namespace {

using Object = std::shared_ptr<const Parameters>;

/// The kernel that has the lengthscale: for several outputs the scalar kernel.
const Parameters& inner(const Parameters& kernel) {
  return kernel.find("scalar") != nullptr ? kernel.object("scalar") : kernel;
}
Parameters with_inner(Parameters kernel, Parameters changed) {
  if (kernel.find("scalar") == nullptr) return changed;
  kernel.set("scalar", std::make_shared<const Parameters>(std::move(changed)));
  return kernel;
}

/// The kernel inside a metric.
const Parameters& without_metric(const Parameters& kernel) {
  return kernel.find("of") != nullptr ? without_metric(kernel.object("of")) : kernel;
}

const kernel::KernelEntry* entry_of(const Parameters& map) {
  const Value* const value = map.find("kernel");
  const auto* const kernel = value == nullptr ? nullptr : std::get_if<Object>(value);
  return kernel == nullptr ? nullptr : &kernel::kernel_entry(**kernel, "kernel.");
}

/// Scales K(x, x) to mean diagonal 1, so that lambda means the same at every lengthscale.
Parameters of_unit_diagonal(Parameters kernel, int64_t d) {
  Parameters scalar = kernel.object("scalar");
  scalar.set("variance", 1.0);
  kernel = with_inner(std::move(kernel), scalar);
  const auto unit = kernel::make_kernel(kernel);
  const int64_t p = unit->outputs(d);
  const std::vector<double> origin(d, 0.0);
  const MatrixView<const double> at_origin(origin.data(), 1, d);
  const Matrix<double> K(p, p);
  Context context;
  kernel::gram(*unit, at_origin, at_origin, context, K.view());
  double trace = 0;
  for (int64_t k = 0; k < p; ++k) trace += K(k, k);
  scalar.set("variance", static_cast<double>(p) / trace);
  return with_inner(std::move(kernel), scalar);
}

/// Default maps with such projections for the parts of a composed kernel.
ObjectList default_parts(const Parameters& kernel, int64_t d) {
  if (kernel.find("of") != nullptr)
    return default_parts(kernel.object("of"), std::ssize(kernel.number_lists("matrix")));
  ObjectList maps;
  for (const auto& part : kernel.objects("parts")) {
    Parameters map{{"map", kernel::default_map(*part, "")}};
    const auto own = kernel::make_kernel(*part);
    if (feature::map_entry(map).chooses_projection)
      map.set("projection", feature::projection_for(
                                own->matrix() == nullptr ? *own : own->matrix()->scalar(), d));
    if (part->find("parts") != nullptr) map.set("parts", default_parts(*part, d));
    maps.push_back(std::make_shared<const Parameters>(std::move(map)));
  }
  return maps;
}

/// Of a polynomial kernel that leaves gamma open: the given offset, or 1; else 0. In degree 1 it is
/// the intercept.
double open_offset(const Parameters& given, const Parameters& canonical) {
  if (canonical.find("offset") == nullptr || given.find("gamma") != nullptr ||
      canonical.integer("degree") < 2)
    return 0;
  return given.find("offset") != nullptr ? canonical.number("offset") : 1;
}

/// An unknown name is refused later, with the whole spec.
std::shared_ptr<const Parameters> default_kernel(const Parameters& given) {
  Parameters kernel = feature::kernel_named("gaussian");
  const Value* const map = given.find("map");
  for (const feature::MapEntry& entry : feature::map_table()) {
    if (map != nullptr && *map == Value(std::string(entry.name))) kernel = entry.default_kernel;
  }
  return std::make_shared<const Parameters>(std::move(kernel));
}

/// Calls body for the parts of a kernel, for the kernel inside a metric, or for the kernel itself.
template <class Body>
void for_each_plain(const Parameters& kernel, const Body& body) {
  const Parameters& own = without_metric(kernel);
  if (own.find("scalar") != nullptr) return for_each_plain(own.object("scalar"), body);
  if (own.find("parts") == nullptr) return body(own);
  for (const auto& part : own.objects("parts")) for_each_plain(*part, body);
}

/// Multiplies every lengthscale by `factor`.
Parameters scaled_kernel(Parameters kernel, double factor) {
  if (kernel.find("parts") != nullptr) {
    ObjectList parts;
    for (const auto& part : kernel.objects("parts"))
      parts.push_back(std::make_shared<const Parameters>(scaled_kernel(*part, factor)));
    kernel.set("parts", std::move(parts));
  }
  if (kernel.find("scalar") != nullptr)
    kernel.set("scalar",
               std::make_shared<const Parameters>(scaled_kernel(kernel.object("scalar"), factor)));
  if (kernel.find("of") != nullptr)
    kernel.set("of",
               std::make_shared<const Parameters>(scaled_kernel(kernel.object("of"), factor)));
  if (kernel.find("lengthscale") == nullptr) return kernel;
  std::vector<double> list = kernel.numbers("lengthscale");
  for (double& one : list) one *= factor;
  kernel.set("lengthscale", list.size() == 1 ? Value(list.front()) : Value(list));
  return kernel;
}

}  // namespace

PartialMap::PartialMap(Parameters canonical, std::vector<double> shapes)
    : canonical_(std::move(canonical)), shapes_(std::move(shapes)) {
  joins_outputs_ = canonical_.object("kernel").find("scalar") != nullptr;
  const Parameters& kernel = inner(canonical_.object("kernel"));
  if (kernel.find("lengthscale") != nullptr) given_ = kernel.numbers("lengthscale");
  is_factor_ = kernel.find("of") != nullptr;  // a metric has a scale of its own
  if (kernel.find("parts") == nullptr && !is_factor_) return;
  for_each_plain(kernel, [this](const Parameters& part) {
    const bool has = part.find("lengthscale") != nullptr;
    (has ? has_scaled_parts_ : has_unscaled_parts_) = true;
    for (const double l : has ? part.numbers("lengthscale") : std::vector<double>{})
      is_factor_ = is_factor_ || l != 1;
  });
}

bool PartialMap::has_lengthscale() const {
  return !given_.empty() || has_scaled_parts_ || has_ratio_;
}

bool PartialMap::chooses_projection() const {
  return feature::map_entry(canonical_).chooses_projection;
}

std::unique_ptr<const kernel::Kernel> PartialMap::kernel() const {
  return kernel::make_kernel(canonical_.object("kernel"));
}

std::unique_ptr<const kernel::Kernel> PartialMap::unit_kernel() const { return kernel_of(1); }

std::unique_ptr<const kernel::Kernel> PartialMap::kernel_of(double lengthscale) const {
  return kernel::make_kernel(kernel_at(lengthscale));
}

bool PartialMap::is_isotropic() const {
  const auto kernel = this->kernel();
  const random::Law* law = kernel->spectral_law();
  return law != nullptr && law->isotropic() && kernel->prologue() == nullptr;
}

bool PartialMap::is_of_inner_products() const {
  const auto kernel = this->kernel();
  return kernel->traits().inner_power && kernel->traits().left_inputs == 0 &&
         !kernel->composition();
}

bool PartialMap::gives_lengthscale() const {
  return asked_ && asked_->find("kernel") != nullptr && start() == 0 &&
         inner(asked_->object("kernel")).find("lengthscale") != nullptr;
}

std::optional<double> PartialMap::lengthscale() const {
  if (given_.empty()) return std::nullopt;
  return given_.front();
}

Parameters PartialMap::at(Parameters kernel, int64_t features) const {
  Parameters canonical = canonical_;
  if (of_unit_diagonal_) kernel = of_unit_diagonal(std::move(kernel), canonical.integer("inputs"));
  if (of_unit_diagonal_) {  // a root's columns for a cosine and a sine of each frequency
    const int64_t step = std::max<int64_t>(1, feature::map_sizes(canonical_, 1).step);
    features = std::max(step, features / step * step);
  }
  canonical.set("features", feature::features_near(canonical_, features));
  canonical.set("kernel", std::make_shared<const Parameters>(std::move(kernel)));
  return canonical;
}

Parameters PartialMap::kernel_at(double lengthscale) const {
  const Parameters& whole = canonical_.object("kernel");
  Parameters kernel = inner(whole);
  if (has_ratio_) {
    kernel.set("gamma", open_offset_ / (lengthscale * lengthscale));
    return kernel;
  }
  if (given_.size() != 1) return with_inner(whole, scaled_kernel(std::move(kernel), lengthscale));
  kernel.set("lengthscale", lengthscale);
  return with_inner(whole, std::move(kernel));
}

void PartialMap::take_unit_diagonal() {
  if (!joins_outputs_) return;
  const Parameters& kernel = canonical_.object("kernel");
  require(kernel.number("variance") == 1 && inner(kernel).number("variance") == 1,
          MERCER_INVALID_ARGUMENT,
          "map.kernel.variance, expected it left out: a search sets it so that K(x, x) has the "
          "mean diagonal 1");
  of_unit_diagonal_ = true;
}

void PartialMap::take_ratio() {
  if (open_offset_ == 0) return;
  Parameters kernel = canonical_.object("kernel");
  kernel.set("offset", open_offset_);
  canonical_.set("kernel", std::make_shared<const Parameters>(std::move(kernel)));
  has_ratio_ = true;
}

std::unique_ptr<PartialMap> PartialMap::at_shape(double shape) const {
  auto made = std::make_unique<PartialMap>(*this);
  Parameters kernel = canonical_.object("kernel");
  kernel.set(kernel::kernel_entry(kernel).shape, shape);
  made->canonical_.set("kernel", std::make_shared<const Parameters>(std::move(kernel)));
  return made;
}

std::unique_ptr<PartialMap> PartialMap::of_scalar() const {
  if (!joins_outputs_) return nullptr;
  const Parameters given = asked_ ? *asked_ : canonical_;
  const std::vector<Field>& of_roots = feature::map_entry(canonical_).root_fields;
  Parameters spec;
  for (const auto& [key, value] : given.entries()) {
    const std::string& own = key;  // clang 14 captures no structured binding
    const bool of_root =
        std::ranges::any_of(of_roots, [&own](const Field& f) { return f.key == own; });
    if (key != "kernel" && !of_root) spec.set(key, value);
  }
  if (const Value* const scalar = given.object("kernel").find("scalar"); scalar != nullptr)
    spec.set("kernel", *scalar);
  auto maker = partial_map(spec, canonical_.integer("inputs"), canonical_.seed("seed"));
  maker->take_ratio();
  return maker;
}

std::unique_ptr<PartialMap> PartialMap::linear() const {
  if (!leaves_map() || asked_->find("kernel") != nullptr) return nullptr;
  Parameters kernel{{"kernel", "polynomial"}, {"degree", int64_t{1}}, {"offset", 0.0}};
  Parameters spec{{"map", "exact"}};
  spec.set("kernel", std::make_shared<const Parameters>(std::move(kernel)));
  return partial_map(spec, canonical_.integer("inputs"), canonical_.seed("seed"));
}

// Kernels for functions with kinks, sums over inputs, and jumps along inputs.
std::vector<std::unique_ptr<PartialMap>> PartialMap::other_kernels() const {
  std::vector<std::unique_ptr<PartialMap>> others;
  if (!asked_ || asked_->find("kernel") != nullptr || kernel()->spectral_law() == nullptr)
    return others;
  const auto matern = [](double nu) { return Parameters{{"kernel", "matern"}, {"nu", nu}}; };
  for (const Parameters& kernel : {matern(1.5), matern(0.5), feature::kernel_named("laplacian")}) {
    Parameters spec = *asked_;
    spec.set("kernel", std::make_shared<const Parameters>(kernel));
    try {
      auto maker = partial_map(spec, canonical_.integer("inputs"), canonical_.seed("seed"));
      if (maker->scales_inputs()) others.push_back(std::move(maker));
    } catch (const Error& error) {
      if (error.status() != MERCER_UNSUPPORTED) throw;  // the map does not serve it
    }
  }
  return others;
}

bool PartialMap::leaves_map() const {
  return asked_ && std::ranges::all_of(asked_->entries(), [](const auto& entry) {
           return entry.first == "kernel" || entry.first == "inputs" || entry.first == "seed";
         });
}

std::unique_ptr<PartialMap> PartialMap::exact(std::span<const double> lengthscales) const {
  if (joins_outputs_ || !scales_inputs()) return nullptr;
  const auto kernel = this->kernel();
  const kernel::Metric* const metric = kernel->traits().metric;
  if (!(metric != nullptr ? *metric->kernel : *kernel).is_shift_invariant()) return nullptr;
  Parameters of = canonical_.object("kernel");
  if (lengthscales.size() > 1)
    of.set("lengthscale", std::vector<double>(lengthscales.begin(), lengthscales.end()));
  Parameters spec{{"map", "exact"}};
  spec.set("kernel", std::make_shared<const Parameters>(std::move(of)));
  return partial_map(spec, canonical_.integer("inputs"), canonical_.seed("seed"));
}

std::unique_ptr<PartialMap> PartialMap::in_metric(MatrixView<const double> A) const {
  Parameters metric{{"kernel", "metric"}};
  std::vector<std::vector<double>> rows;
  for (int64_t i = 0; i < A.rows; ++i) rows.emplace_back(A.row(i), A.row(i) + A.cols);
  metric.set("matrix", std::move(rows));
  metric.set("of", std::make_shared<const Parameters>(kernel_at(1)));
  Parameters spec = asked_ ? *asked_ : canonical_;
  spec.set("kernel", std::make_shared<const Parameters>(std::move(metric)));
  try {
    return partial_map(spec, canonical_.integer("inputs"), canonical_.seed("seed"));
  } catch (const Error& error) {
    if (error.status() != MERCER_UNSUPPORTED) throw;
    return nullptr;
  }
}

std::unique_ptr<PartialMap> PartialMap::with_part_weights(std::span<const double> factors) const {
  auto made = std::make_unique<PartialMap>(*this);
  Parameters kernel = canonical_.object("kernel");
  ObjectList parts;
  for (const auto& part : kernel.objects("parts")) {
    Parameters own = *part;
    own.set("variance", own.number("variance") * factors[parts.size()]);
    parts.push_back(std::make_shared<const Parameters>(std::move(own)));
  }
  kernel.set("parts", std::move(parts));
  made->canonical_.set("kernel", std::make_shared<const Parameters>(std::move(kernel)));
  return made;
}

std::unique_ptr<PartialMap> PartialMap::on_grid() const {
  constexpr int64_t kMostGridInputs = 3;
  constexpr double kRounding = 1e-12;  // what more columns would add, sums of many rows lose
  if (!open_projection_ || canonical_.integer("inputs") > kMostGridInputs) return nullptr;
  auto made = std::make_unique<PartialMap>(*this);
  made->open_projection_ = false;
  made->canonical_.set("projection", std::string(feature::kGrid));
  made->canonical_.set("tolerance", kRounding);
  Parameters any = made->canonical_;
  any.set("diameter", 1.0);
  any.set("features", feature::map_sizes(any, 1).least);
  try {
    feature::make_map(any);
  } catch (const Error& error) {
    if (error.status() != MERCER_UNSUPPORTED) throw;
    return nullptr;  // of another form, or of a kernel without a density
  }
  return made;
}

std::shared_ptr<const feature::FeatureMap> PartialMap::make(double lengthscale,
                                                            int64_t features) const {
  const StandardRounding rounding;
  return feature::make_map(at(kernel_at(lengthscale), features));
}

std::shared_ptr<const feature::FeatureMap> PartialMap::make_per_input(
    std::span<const double> lengthscales, int64_t features) const {
  const StandardRounding rounding;
  Parameters kernel = canonical_.object("kernel");
  kernel.set("lengthscale", std::vector<double>(lengthscales.begin(), lengthscales.end()));
  return feature::make_map(at(std::move(kernel), features));
}

std::optional<InputDomain> PartialMap::domain() const { return domain_of(*kernel()); }

bool PartialMap::requires_rows() const {
  return feature::needs_rows(canonical_) || feature::learns_from_targets(canonical_);
}

bool PartialMap::needs_rows() const {
  return feature::takes_rows(canonical_) || feature::learns_from_targets(canonical_);
}

bool PartialMap::reads_all_rows() const { return feature::learns_ranges(canonical_); }

std::shared_ptr<const feature::FeatureMap> PartialMap::smallest(double lengthscale) const {
  return make(lengthscale, feature::map_sizes(canonical_, 1).least);
}

bool PartialMap::scales_inputs() const {
  if (needs_rows() || (has_scaled_parts_ && has_unscaled_parts_)) return false;
  return !has_lengthscale() || smallest(1)->is_of_scaled_inputs();
}

// If rows are scaled instead, every lengthscale has a candidate.
bool PartialMap::has_candidate(double lengthscale) const {
  if (needs_rows() || scales_inputs()) return true;
  try {
    smallest(lengthscale);
    return true;
  } catch (const Error& error) {
    if (error.status() != MERCER_UNSUPPORTED) throw;
    return false;
  }
}

int64_t PartialMap::features_of(int64_t wanted, int64_t rows) const {
  const int64_t most = feature::most_features(canonical_, rows);
  return keeps_all_rows() ? most : std::min(wanted, most);
}

bool PartialMap::keeps_all_rows() const { return feature::map_entry(canonical_).keeps_all_rows; }

std::shared_ptr<const feature::FeatureMap> PartialMap::make_from(
    double lengthscale, int64_t features, const Rows& rows, const MatrixView<const double>& targets,
    Context& context) const {
  const StandardRounding rounding;
  return feature::make_map(
      at(kernel_at(lengthscale), features),
      {.rows = &rows,
       .targets = feature::learns_from_targets(canonical_) ? &targets : nullptr,
       .context = &context});
}

int64_t hash_buckets(const Parameters& asked, int64_t d) {
  if (d <= kMostPlainInputs || asked.find("inputs") != nullptr) return 0;
  const auto partial = partial_map(asked, d, 0);
  if (asked.find("projection") != nullptr || partial->start() > 0) return 0;
  const bool plain = asked.find("map") == nullptr || partial->chooses_projection();
  return (plain && partial->is_isotropic()) || partial->is_of_inner_products() ? kHashBuckets : 0;
}

std::unique_ptr<PartialMap> partial_map(Parameters given, int64_t d, uint64_t seed) {
  const StandardRounding rounding;
  const auto set_default = [&given](const char* key, Value value) {
    if (given.find(key) == nullptr) given.set(key, std::move(value));
  };
  const Parameters asked = given;
  set_default("kernel", default_kernel(given));
  std::vector<double> shapes;
  if (const kernel::KernelEntry* entry = entry_of(given); entry != nullptr) {
    const bool open =
        entry->shape != nullptr && given.object("kernel").find(entry->shape) == nullptr;
    if (open) shapes = entry->shapes;
    if (entry->outputs == kernel::OutputCount::inputs &&
        (given.find("map") == nullptr || !feature::map_entry(given, "map.").root_fields.empty()) &&
        feature::has_divergence(*kernel::make_kernel(given.object("kernel"))))
      set_default("root", "orthonormal");
  }
  set_default("inputs", d);
  set_default("features", int64_t{1});  // any: make() replaces it
  set_default("seed", seed);
  const auto canonical_of = [](const Parameters& spec) {
    return feature::canonical_map(spec, "map.", feature::Data::refused);
  };
  Parameters canonical = canonical_of(given);
  require(canonical.integer("inputs") == d, MERCER_DIMENSION_MISMATCH,
          "map.inputs = %ld, expected the prepared inputs of the rows, %ld",
          canonical.integer("inputs"), d);
  const auto kernel = kernel::make_kernel(canonical.object("kernel"));
  const kernel::MatrixKernel* const matrix = kernel->matrix();
  if (matrix == nullptr) kernel->check_dimension(d);  // before the first candidate
  if (feature::map_entry(canonical).chooses_projection && given.find("projection") == nullptr) {
    const kernel::Kernel& plain = matrix == nullptr ? *kernel : matrix->scalar();
    given.set("projection", feature::projection_for(plain, d));
    canonical = canonical_of(given);
  }
  const Parameters& own = without_metric(canonical.object("kernel"));
  if (canonical.text("map") == own.text("kernel") && own.find("parts") != nullptr &&
      given.find("parts") == nullptr) {
    given.set("parts", default_parts(canonical.object("kernel"), d));
    canonical = canonical_of(given);
  }
  const double offset = open_offset(given.object("kernel"), canonical.object("kernel"));
  auto partial = std::make_unique<PartialMap>(std::move(canonical), std::move(shapes));
  partial->open_offset_ = offset;
  partial->asked_ = asked;
  partial->open_projection_ = asked.find("projection") == nullptr && partial->chooses_projection();
  return partial;
}

}  // namespace mercer::model
