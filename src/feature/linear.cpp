// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z = sqrt(variance gamma / D) X W with Gaussian or Rademacher W (Johnson, Lindenstrauss 1984;
// Achlioptas 2003) or the SRHT (Ailon, Chazelle 2006), in tiles like every projected map; or by
// sketches (sketched_linear.cpp).
#include "feature/linear.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "feature/linear_law.h"
#include "feature/map_entry.h"
#include "feature/projected_map.h"
#include "projection/osnap.h"
#include "projection/projections.h"
#include "projection/srht.h"

namespace mercer::feature {
namespace {

// The limit of specs, and so of files.
constexpr int64_t kMostColumns = (int64_t{1} << 31) - 1;
// The default number of non-zeros of an OSNAP.
constexpr int64_t kNonzeros = 4;

template <auto kEntries>
std::unique_ptr<const projection::Projection> make_dense(const LinearLaw& law) {
  return projection::kDense.make(
      {kEntries(), {}, projection::Unit::plain, law.d, law.D, law.options.seed});
}

std::unique_ptr<const projection::Projection> make_srht(const LinearLaw& law) {
  return projection::make_srht(law.d, law.D, law.options.seed);
}

double gaussian_variance(const LinearLaw& law, const moment::PairSums& sums) {
  return moment::gaussian_entries_variance(sums, law.D);
}
/// For CountSketches, too.
double sign_variance(const LinearLaw& law, const moment::PairSums& sums) {
  return moment::rademacher_entries_variance(sums, law.D);
}
double srht_variance(const LinearLaw& law, const moment::PairSums& sums) {
  return moment::srht_variance(sums, projection::srht_dimension(law.d), law.D);
}
double osnap_variance(const LinearLaw& law, const moment::PairSums& sums) {
  return moment::osnap_variance(sums, law.options.nonzeros, law.D);
}

int64_t srht_block(const LinearLaw& law) { return projection::srht_dimension(law.d); }
int64_t all_columns(const LinearLaw& law) { return law.D; }
int64_t osnap_block(const LinearLaw& law) { return law.D / law.options.nonzeros; }

/// In the order of LinearProjection.
constexpr LinearKind kKinds[] = {
    {.name = "gaussian", .variance = gaussian_variance, .make = make_dense<random::normal_law>},
    {.name = "rademacher", .variance = sign_variance, .make = make_dense<random::sign_law>},
    {.name = "srht", .variance = srht_variance, .make = make_srht, .block = srht_block},
    {.name = "countsketch", .variance = sign_variance, .block = all_columns},
    {.name = "osnap", .variance = osnap_variance, .block = osnap_block, .has_nonzeros = true}};

std::vector<const char*> kind_names() {
  std::vector<const char*> names;
  for (const LinearKind& kind : kKinds) names.push_back(kind.name);
  return names;
}

ProjectedParts projected(const LinearLaw& law) {
  ProjectedParts made;
  made.projections.push_back(linear_kind(law.options.projection).make(law));
  made.epilogue = transform::scale_epilogue();
  made.columns = {std::sqrt(law.factor() / static_cast<double>(law.D))};
  return made;
}

class ProjectedLinear final : public Linear<ProjectedMap> {
 public:
  explicit ProjectedLinear(const LinearLaw& law) : Linear(law, projected(law)) {}
};

/// The options with the default of nonzeros filled in.
LinearOptions with_nonzeros(LinearOptions options, int64_t D) {
  const LinearKind& kind = linear_kind(options.projection);
  require(kind.has_nonzeros || options.nonzeros == 0, MERCER_UNSUPPORTED,
          "nonzeros = %ld does not apply to projection = %s, expected osnap", options.nonzeros,
          kind.name);
  if (kind.has_nonzeros && options.nonzeros == 0) options.nonzeros = std::min(kNonzeros, D);
  const int64_t most = std::min(D, projection::Osnap::kMostNonzeros);
  require(options.nonzeros <= most, MERCER_INVALID_ARGUMENT,
          "nonzeros = %ld, expected 1 to %ld: at most features = %ld and %ld", options.nonzeros,
          most, D, projection::Osnap::kMostNonzeros);
  return options;
}

void check_kernel(const kernel::Kernel& kernel) {
  const std::optional<kernel::InnerPower> power = kernel.inner_power();
  require(power.has_value() && kernel.left_inputs() == 0, MERCER_UNSUPPORTED,
          "kernel %s has no linear map, expected polynomial with degree 1 and offset 0",
          std::string(kernel.name()).c_str());
  require(power->degree == 1 && power->offset == 0, MERCER_UNSUPPORTED,
          "kernel polynomial with degree = %ld and offset = %g has no linear map, expected degree "
          "1 and offset 0",
          power->degree, power->offset);
  const double factor = kernel.variance() * power->gamma;
  require(std::isfinite(factor) && factor > 0, MERCER_INVALID_ARGUMENT,
          "gamma * variance = %g, expected a positive finite number", factor);
}

}  // namespace

const LinearKind& linear_kind(LinearProjection projection) noexcept {
  return kKinds[static_cast<size_t>(projection)];
}

std::unique_ptr<FeatureMap> make_linear(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const LinearOptions& options) {
  check_kernel(kernel);
  kernel.check_dimension(d);
  require(D >= 1 && D <= kMostColumns, MERCER_INVALID_ARGUMENT, "features = %ld, expected 1 to %ld",
          D, kMostColumns);
  const StandardRounding rounding;
  const LinearLaw law{kernel.with_variance(kernel.variance()), d, D, with_nonzeros(options, D)};
  if (linear_kind(options.projection).make == nullptr) return make_sketched_linear(law);
  return std::make_unique<ProjectedLinear>(law);
}

namespace {

std::unique_ptr<FeatureMap> linear_from(const MapArguments& arguments) {
  const std::string& name = arguments.own.text("projection");
  const auto* const found =
      std::ranges::find_if(kKinds, [&](const LinearKind& kind) { return name == kind.name; });
  const auto projection = static_cast<LinearProjection>(found - std::begin(kKinds));
  const Value* const nonzeros = arguments.own.find("nonzeros");
  return make_linear(
      arguments.kernel, arguments.inputs, arguments.features,
      {projection, arguments.seed, nonzeros == nullptr ? 0 : arguments.own.integer("nonzeros")});
}

/// The inner product: there is no linear map of the polynomial of the default degree 2.
Parameters inner_product() {
  Parameters kernel = kernel_named("polynomial");
  kernel.set("degree", int64_t{1});
  return kernel;
}

}  // namespace

MapEntry linear_entry() {
  return {
      "linear",
      "random projection that keeps inner products, for the kernel polynomial with degree 1 and "
      "offset 0",
      {choice_field("projection", kKinds[0].name, kind_names(),
                    "i.i.d. entries; srht: Hadamard blocks, D log d per row; countsketch: one "
                    "addition per non-zero; osnap: several"),
       count_field("nonzeros", std::nan(""), projection::Osnap::kMostNonzeros,
                   "osnap: non-zeros for every input; default 4, or features if they are fewer")},
      linear_from,
      inner_product()};
}

}  // namespace mercer::feature
