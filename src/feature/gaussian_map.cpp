// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/gaussian_map.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/float_environment.h"
#include "base/size.h"
#include "kernel/inner_product.h"
#include "random/scalar_math.h"
#include "random/stream.h"
#include "transform/epilogue.h"

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

// Z = sqrt(2 variance/D) 1[P > 0] P^n, P = XW with normal W: one layer of random neurons (Cho,
// Saul, NIPS 2009, section 2; Rahimi, Recht 2009 for drawing them). Variance [2 k_{2n} - k_n^2]/D.
class ArcCosine final : public GaussianMap {
 public:
  ArcCosine(const GaussianDraw& draw, int64_t order)
      : GaussianMap(draw, transform::positive_power_epilogue(order),
                    std::sqrt(2 * draw.kernel->variance() / static_cast<double>(draw.F))),
        order_(order) {}
  std::string_view name() const noexcept override { return "arc_cosine"; }

 private:
  double variance_at(const double* x, const double* y) const override {
    return kernel().variance() * kernel().variance() *
           arc_cosine_variance(order_, kernel::angle_between(inputs(), x, y), features());
  }

  int64_t order_;
};

std::unique_ptr<FeatureMap> arc_cosine_from(const MapArguments& arguments) {
  const int64_t order = activation_order(
      arguments.kernel, kernel::Activation::Function::positive_power, "arc-cosine", "arc_cosine");
  return std::make_unique<ArcCosine>(gaussian_draw(arguments), order);
}

// Z = sqrt(variance/D) sign(P), P = XW with normal W: SimHash as features (Charikar, "Similarity
// estimation techniques from rounding algorithms", STOC 2002). Variance (1 - k^2)/D. sign(0) = 1,
// so that a column is one bit; rows of zeros have the kernel 0 with all others.
class Sign final : public GaussianMap {
 public:
  explicit Sign(const GaussianDraw& draw)
      : GaussianMap(draw, transform::sign_epilogue(),
                    std::sqrt(draw.kernel->variance() / static_cast<double>(draw.F))) {}
  std::string_view name() const noexcept override { return "sign"; }

 private:
  double variance_at(const double* x, const double* y) const override {
    return kernel().variance() * kernel().variance() *
           sign_variance(kernel::angle_between(inputs(), x, y), features());
  }
};

std::unique_ptr<FeatureMap> sign_from(const MapArguments& arguments) {
  activation_order(arguments.kernel, kernel::Activation::Function::sign, "sign", "sign");
  return std::make_unique<Sign>(gaussian_draw(arguments));
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
  const std::optional<kernel::Activation> activation = kernel.traits().activation;
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

// The square of a column's share is again a moment of its kind: (2 u_+^n v_+^n)^2 = 2 (2 u_+^{2n}
// v_+^{2n}), and sign(u)^2 sign(v)^2 = 1 almost surely.
double arc_cosine_variance(int64_t order, const kernel::Angle& angle, int64_t D) noexcept {
  const int n = static_cast<int>(order);
  const double k = kernel::arc_cosine_moment(n, angle);
  const double difference = 2 * kernel::arc_cosine_moment(2 * n, angle) - k * k;
  // Rounding takes the difference of rows that are opposite below 0.
  return (difference < 0 ? 0 : difference) / static_cast<double>(D);
}

// 1 - k^2 = (1 - k)(1 + k) with k = (rest - theta)/pi and rest + theta = pi: no cancellation.
double sign_variance(const kernel::Angle& angle, int64_t D) noexcept {
  constexpr double kFour = 0.40528473456935108578;  // 4/pi^2
  return kFour * angle.theta * angle.rest / static_cast<double>(D);
}

MapEntry arc_cosine_entry() {
  return {"arc_cosine",
          "one layer of random neurons 1[w'x > 0] (w'x)^order of normal w, for the kernel "
          "arc_cosine",
          projection_fields("how the normal w are drawn"), arc_cosine_from,
          kernel_named("arc_cosine")};
}

MapEntry sign_entry() {
  return {"sign", "signs of w'x of normal w, for the kernel sign",
          projection_fields("how the normal w are drawn"), sign_from, kernel_named("sign")};
}

}  // namespace mercer::feature
