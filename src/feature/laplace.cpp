// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random Laplace features (Yang, Sindhwani, Fan, Avron, Mahoney 2014) of kernels
// k(x, y) = variance E exp(-omega'(x + y)) on [0, inf)^d:
//   Z = sqrt(variance / D) exp(-XW), W of the law of omega.
// Since the square of a column's share is one at the doubled rows, the estimate has the variance
// (variance k(2x, 2y) - k(x, y)^2) / D of i.i.d. columns. The coordinates of omega are independent
// and none is negative: low-discrepancy points serve by their quantiles, but blocks with random
// signs, such as circulant ones, would have another distribution.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "feature/projected_map.h"
#include "projection/projection.h"

namespace mercer::feature {
namespace {

// The options of projections that apply here.
constexpr const char* kKeys[] = {"projection", "scramble"};

struct LaplaceDraw {
  std::shared_ptr<const kernel::Kernel> kernel;
  int64_t d;
  int64_t D;
  uint64_t seed;
  ProjectionChoice choice;
};

bool serves(const projection::ProjectionEntry& entry) {
  const bool any_law = entry.need == projection::LawNeed::any ||
                       entry.need == projection::LawNeed::product_or_mixture;
  return any_law && entry.share == nullptr;
}

ProjectedParts projected(const LaplaceDraw& draw) {
  ProjectedParts made;
  made.projections.push_back(
      projection::find_projection(draw.choice.projection)
          .make({std::shared_ptr<const random::Law>(draw.kernel, draw.kernel->traits().laplace_law),
                 {},
                 projection::Unit::plain,
                 draw.d,
                 draw.D,
                 draw.seed,
                 draw.choice.radius,
                 draw.choice.scramble,
                 "kernel " + std::string(draw.kernel->name())}));
  made.epilogue = transform::decay_epilogue();
  made.columns = {std::sqrt(draw.kernel->variance() / static_cast<double>(draw.D))};
  made.prologue = transform::half_line_prologue();
  return made;
}

class Laplace final : public ProjectedMap, public Moments {
 public:
  explicit Laplace(const LaplaceDraw& draw) : ProjectedMap(projected(draw)), draw_(draw) {}

  std::string_view name() const noexcept override { return "laplace"; }
  const kernel::Kernel& kernel() const noexcept override { return *draw_.kernel; }
  Parameters parameters() const override {
    Parameters spec = common_parameters(draw_.seed), choice;
    draw_.choice.write(choice);
    for (const char* key : kKeys) spec.set(key, choice.text(key));
    return spec;
  }

  const Moments& moments() const override { return *this; }
  double variance_at(const double* x, const double* y) const override {
    const int64_t d = inputs();
    std::vector<double> twice_x(x, x + d), twice_y(y, y + d);
    for (double& value : twice_x) value *= 2;
    for (double& value : twice_y) value *= 2;
    const double k = kernel().value(d, x, y);
    const double square = kernel().variance() * kernel().value(d, twice_x.data(), twice_y.data());
    // The two agree to rounding near the origin, where the variance vanishes; a NaN stays one.
    return std::max(square - k * k, 0.0) / static_cast<double>(features());
  }

  ColumnForm column_form() const noexcept override { return ColumnForm::real; }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    return independent_columns(*this, x, y);
  }

 private:
  LaplaceDraw draw_;
};

std::unique_ptr<FeatureMap> laplace_from(const MapArguments& a) {
  require_features(a.kernel.traits().laplace_law != nullptr, a.kernel, "Laplace",
                   "exponential_semigroup or reciprocal_semigroup");
  a.kernel.check_dimension(a.inputs);
  ProjectionChoice choice;
  choice.projection = a.own.text("projection");
  if (a.own.text("scramble") != "owen") choice.scramble = projection::Scramble::digital_shift;
  choice.check();
  return std::make_unique<Laplace>(
      LaplaceDraw{a.kernel.copy(), a.inputs, a.features, a.seed, choice});
}

std::vector<Field> laplace_fields() {
  std::vector<Field> fields;
  for (Field& field : projection_fields("how omega is drawn")) {
    if (std::string_view(field.key) == "projection")
      std::erase_if(field.choices,
                    [](const char* name) { return !serves(projection::find_projection(name)); });
    if (std::ranges::find(kKeys, std::string_view(field.key)) != std::end(kKeys))
      fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace

MapEntry laplace_entry() {
  return {.name = "laplace",
          .help =
              "random Laplace features exp(-x'omega) of semigroup kernels of rows without "
              "negative entries",
          .fields = laplace_fields(),
          .make = laplace_from,
          .default_kernel = kernel_named("exponential_semigroup")};
}

}  // namespace mercer::feature
