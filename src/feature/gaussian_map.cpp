// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/gaussian_map.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/float_environment.h"
#include "base/size.h"
#include "random/child_seed.h"
#include "random/scalar_math.h"

namespace mercer::feature {
namespace {

// The kind of child seeds used for factors.
constexpr uint64_t kFactorPart = 0;

projection::ProjectionArguments arguments_of(const GaussianDraw& draw, uint64_t seed) {
  const std::span<const double> given = draw.kernel->lengthscale();
  std::vector<double> lengthscale(given.begin(), given.end());
  for (double& l : lengthscale) l /= std::sqrt(1 - 4 * draw.tilt);
  return {random::normal_law(),
          std::move(lengthscale),
          draw.unit,
          draw.d,
          draw.F,
          seed,
          draw.choice.radius,
          draw.choice.scramble,
          "kernel " + std::string(draw.kernel->name())};
}

// The logarithm of what column j is multiplied by, too: (1 - 4 A)^{d/4} exp(A ||w_j||^2).
ColumnLaw tilted_law(const GaussianDraw& draw, double scale) {
  const auto norm = projection::find_projection(draw.choice.projection).squared_norm;
  require(norm != nullptr, MERCER_INTERNAL, "tilt = %g with projection = %s", draw.tilt,
          draw.choice.projection.c_str());
  const double dimension =
      static_cast<double>(draw.d) / 4 * random::portable_log(1 - 4 * draw.tilt);
  ColumnLaw law{scale};
  law.phase = [norm, dimension, A = draw.tilt, arguments = arguments_of(draw, draw.seed)](
                  int64_t j) { return dimension + A * norm(arguments, j); };
  return law;
}

// A projection whose columns have weights shares F scale^2 among them.
ColumnLaw column_law(const GaussianDraw& draw, double scale) {
  if (draw.tilt != 0) return tilted_law(draw, scale);
  const auto share = projection::find_projection(draw.choice.projection).share;
  if (share == nullptr) return {scale};
  require(draw.factors == 1, MERCER_INTERNAL, "weights of the columns of %ld factors",
          draw.factors);
  return {scale, scale * scale * static_cast<double>(draw.F),
          [share, arguments = arguments_of(draw, draw.seed)](int64_t j) {
            return share(arguments, j);
          }};
}

ProjectedParts projected(const GaussianDraw& draw,
                         std::unique_ptr<const transform::Epilogue> epilogue, double scale,
                         std::shared_ptr<const transform::RowPrologue> prologue) {
  const StandardRounding rounding;
  ProjectedParts made;
  for (int64_t factor = 0; factor < draw.factors; ++factor) {
    const uint64_t seed = draw.factors == 1 ? draw.seed
                                            : random::child_seed(draw.seed, kFactorPart,
                                                                 static_cast<uint64_t>(factor));
    made.projections.push_back(
        projection::find_projection(draw.choice.projection).make(arguments_of(draw, seed)));
  }
  made.epilogue = std::move(epilogue);
  made.columns = column_law(draw, scale);
  made.prologue = std::move(prologue);
  return made;
}

}  // namespace

GaussianMap::GaussianMap(const GaussianDraw& draw,
                         std::unique_ptr<const transform::Epilogue> epilogue, double scale,
                         std::shared_ptr<const transform::RowPrologue> prologue)
    : ProjectedMap(projected(draw, std::move(epilogue), scale, std::move(prologue))), draw_(draw) {}

Parameters GaussianMap::parameters() const {
  Parameters spec;
  spec.set("map", std::string(name()));
  spec.set("kernel", std::make_shared<const Parameters>(kernel().parameters()));
  spec.set("inputs", inputs());
  spec.set("features", features());
  spec.set("seed", draw_.seed);
  draw_.choice.write(spec);
  add_parameters(spec);
  return spec;
}

const Moments& GaussianMap::moments() const {
  draw_.choice.require_equal_shares();
  return *this;
}

int64_t activation_order(const kernel::Kernel& kernel, kernel::Activation::Function function,
                         const char* name, const char* expected) {
  const std::optional<kernel::Activation> activation = kernel.activation();
  require_features(activation && activation->function == function, kernel, name, expected);
  return activation->order;
}

GaussianDraw gaussian_draw(const MapArguments& arguments, int64_t parts) {
  const kernel::Kernel& kernel = arguments.kernel;
  const int64_t d = arguments.inputs, D = arguments.features;
  ProjectionChoice choice = read_projection_choice(arguments.own);
  choice.check();
  kernel.check_dimension(d);
  require(D % parts == 0, MERCER_INVALID_ARGUMENT, "features = %ld, expected a multiple of %ld", D,
          parts);
  checked_multiply(checked_multiply(d, checked_add(D, 64, "columns"), "columns"), sizeof(double),
                   "columns");
  return {kernel.with_variance(kernel.variance()), d, choice.columns(d, D / parts), arguments.seed,
          choice};
}

}  // namespace mercer::feature
