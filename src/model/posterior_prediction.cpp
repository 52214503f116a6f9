// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/posterior_prediction.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/numbers.h"
#include "kernel/kernel.h"
#include "model/estimator/model_entry.h"
#include "model/local.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_coding.h"
#include "model/rows/clipping.h"
#include "model/rows/feature_rows.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::model {
namespace {

constexpr const char* kPosteriorRows = "prepared rows";
constexpr double kFarthest = 1e4;
constexpr int64_t kPlaces = 100;
constexpr double kFarInputs = 1e3;  // deviations of the inputs
constexpr double kLeastShareFar = 0.5;

const solver::Posterior& posterior_of(const Model& model) {
  require(model.posterior != nullptr, MERCER_UNSUPPORTED,
          "the model has no posterior, expected one fitted with \"model\": \"gp\"");
  return *model.posterior;
}

void check_posterior_shape(const Model& model, const Rows& X, int64_t columns,
                           MatrixView<double> out) {
  require(X.cols() == model.inputs(), MERCER_DIMENSION_MISMATCH,
          "X.d = %ld, expected the model's %ld inputs", X.cols(), model.inputs());
  require(out.rows == X.rows() && out.cols == columns, MERCER_DIMENSION_MISMATCH,
          "out is %ld x %ld, expected %ld rows and %ld columns", out.rows, out.cols, X.rows(),
          columns);
  check_prepared(model.map->kernel(), model.preparation, X, "leave the row out");
}

/// The training ranges widened by kFarthest times their width; X unchanged without ranges.
std::vector<Range> far_ranges(const Model& model) {
  std::vector<Range> ranges = model.ranges.inputs;
  ranges.resize(model.inputs(), {-kInfinity, 0, 0, kInfinity});
  for (Range& range : ranges) {
    const double width = kFarthest * (range.highest - range.lowest);
    range.lowest -= width;
    range.highest += width;
  }
  return ranges;
}

/// A block of rows, their features, and the fit about their centre.
struct PredictedRows {
  const Model& model;
  Rows X;  // not beyond far_ranges
  MatrixView<const double> Z;
};

/// Calls body(a block of rows, rows of out) for all.
template <class Body>
void for_each_block(const Model& model, const Rows& X, Context& context, MatrixView<double> out,
                    const Body& body) {
  if (model.local != nullptr)
    return predict_locally(model, X, context, out,
                           [&](const Model& near, const Rows& rows, MatrixView<double> part) {
                             for_each_block(near, rows, context, part, body);
                           });
  const ClippedRows near(far_ranges(model), X, context);
  const FeatureRows rows(*model.map, model.preparation, model.fit.coding,
                         model.fit.estimate.precision, {near.rows(), {}});
  Stage stage(context, X.rows());
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    const int64_t first = block.first, last = first + block.Z.rows;
    body({model, near.rows().block_rows(first, last), block.Z}, out.block_rows(first, last));
    stage.advance(block.Z.rows);
  });
}

/// k(x, x) of each row, where the posterior is that of the kernel itself; else none.
std::vector<double> prior_of(const PredictedRows& block, Context& context) {
  std::vector<double> prior;
  if (!block.model.posterior->is_of_kernel()) return prior;
  const PreparedRows prepared(block.model.preparation, block.X, context, kPosteriorRows);
  const Rows rows = prepared.view();
  prior.resize(static_cast<size_t>(rows.rows()));
  for (int64_t i = 0; i < rows.rows(); ++i) {
    const Rows row = rows.block_rows(i, i + 1);
    kernel::gram(block.model.map->kernel(), row, row, context, {&prior[i], 1, 1});
  }
  return prior;
}

/// Likewise k of all pairs.
Matrix<double> joint_prior_of(const Model& model, const Rows& X, Context& context) {
  if (!model.posterior->is_of_kernel()) return {};
  const ClippedRows near(far_ranges(model), X, context);
  const PreparedRows prepared(model.preparation, near.rows(), context, kPosteriorRows);
  Matrix<double> K(X.rows(), X.rows(), context, "kernel values of all pairs");
  kernel::gram(model.map->kernel(), prepared.view(), prepared.view(), context, K.view());
  return K;
}

Matrix<double> features_of(const Model& model, const Rows& X, Context& context) {
  Matrix<double> Z(X.rows(), model.predictor->features(), context, "features of all rows");
  for_each_block(model, X, context, Z.view(), [](const PredictedRows& from, MatrixView<double> to) {
    solver::copy_rows(from.Z, to);
  });
  return Z;
}

/// The variance of f far from all rows, in the mean over drawn places. NaN for a kernel that does
/// not decay with distance and for a model without processes.
struct FarVariance {
  /// The posterior's over the prior's, which for the exact kernel is 1: with few features many rows
  /// determine f everywhere. The features of landmarks are 0 there, and nothing is left.
  double left = kNaN;
  double represented = kNaN;  // |z(x)|^2 over k(x, x)
};

FarVariance far_away(const Model& model, Context& context) {
  const feature::FeatureMap& map = model.map->scalar();
  const kernel::Kernel& kernel = map.kernel();
  if (map.has_kernel_columns()) return {};
  const bool anywhere = !kernel.traits().needs_unit_rows && !domain_of(kernel);
  if (kernel.spectral_law() == nullptr || !anywhere) return {};
  const int64_t d = map.inputs();
  Matrix<double> places(kPlaces, d, context, "drawn places");
  random::fill_normal({model.fit.select.seed, random::Tag::sample, 1}, 0,
                      {places.data(), static_cast<size_t>(kPlaces * d)});
  for (int64_t i = 0; i < kPlaces; ++i)
    for (int64_t j = 0; j < d; ++j) places(i, j) *= kFarInputs;
  const Matrix<double> Z(kPlaces, map.row_length(), context, "features of drawn places");
  map.apply(Rows(MatrixView<const double>(places.view())), {0, map.features()}, context, Z.view());
  double own = 0, all = 0;
  for (int64_t i = 0; i < kPlaces; ++i) {
    const double* const x = places.view().row(i);
    all += kernel.value(d, x, x);
    for (int64_t j = 0; j < Z.cols(); ++j) own += Z(i, j) * Z(i, j);
  }
  const double share = model.posterior ? model.posterior->share_of_prior(Z.view(), context)
                                       : model.predictor->share_of_prior(Z.view());
  return {share * std::min(1.0, own / all), own / all};
}

}  // namespace

namespace {

/// Of classes by processes, the means or the variances.
void moments_of_classes(const Model& model, const Rows& X, bool means, Context& context,
                        MatrixView<double> out) {
  const int64_t count = out.cols;
  const Matrix<double> both(out.rows, 2 * count, context, "latent means and variances");
  for_each_block(model, X, context, both.view(),
                 [&](const PredictedRows& block, MatrixView<double> part) {
                   block.model.predictor->latent()->moments(block.Z, part.block_cols(0, count),
                                                            part.block_cols(count, 2 * count));
                 });
  const int64_t from = means ? 0 : count;
  solver::copy_rows<double>(both.view().block_cols(from, from + count), out);
}

void check_latent_shape(const Model& model, const Rows& X, MatrixView<double> out) {
  require(latent_count(model) > 0, MERCER_UNSUPPORTED,
          "the model has no processes, expected one fitted with \"model\": \"gp\", \"dirichlet\" "
          "or \"svgp\"");
  check_posterior_shape(model, X, latent_count(model), out);
}

}  // namespace

int64_t latent_count(const Model& model) {
  if (model.posterior != nullptr) return model.outputs();
  const solver::LatentProcesses* const latent = model.predictor->latent();
  return latent == nullptr ? 0 : latent->count();
}

void latent_mean(const Model& model, const Rows& X, Context& context, MatrixView<double> out) {
  check_latent_shape(model, X, out);
  if (model.posterior == nullptr) return moments_of_classes(model, X, true, context, out);
  for_each_block(model, X, context, out, [&](const PredictedRows& block, MatrixView<double> part) {
    block.model.predictor->predict(block.Z, part);
  });
}

void variance(const Model& model, const Rows& X, Spread of, Context& context,
              MatrixView<double> out) {
  check_latent_shape(model, X, out);
  if (model.posterior == nullptr && of == Spread::latent)
    return moments_of_classes(model, X, false, context, out);
  posterior_of(model);
  for_each_block(model, X, context, out, [&](const PredictedRows& block, MatrixView<double> part) {
    const solver::Posterior& near = *block.model.posterior;
    near.variance(block.Z, context, part, prior_of(block, context));
    for (int64_t i = 0; i < part.rows && of == Spread::predictive; ++i)
      for (int64_t k = 0; k < part.cols; ++k) part(i, k) += near.noise(k);
  });
}

Matrix<double> variances_of(const Model& model, const Rows& X, Context& context) {
  if (model.posterior == nullptr) return {};
  Matrix<double> out(X.rows(), model.outputs(), context, "variances of predictions");
  variance(model, X, Spread::predictive, context, out.view());
  return out;
}

void covariance(const Model& model, const Rows& X, Context& context, MatrixView<double> out) {
  posterior_of(model);
  check_posterior_shape(model, X, model.outputs() * model.outputs(), out);
  for_each_block(model, X, context, out, [&](const PredictedRows& block, MatrixView<double> part) {
    block.model.posterior->covariance(block.Z, context, part, prior_of(block, context));
  });
}

void joint_covariance(const Model& model, const Rows& X, Context& context, MatrixView<double> out) {
  const solver::Posterior& posterior = posterior_of(model);
  require_one_center(model, "a covariance between rows");
  check_posterior_shape(model, X, X.rows() * model.outputs() * model.outputs(), out);
  const Matrix<double> Z = features_of(model, X, context);
  const Matrix<double> prior = joint_prior_of(model, X, context);
  posterior.joint_covariance(Z.view(), context, out, prior.view());
}

RangeViolations quantiles(const Model& model, const Rows& X, std::span<const double> levels,
                          Context& context, MatrixView<double> out,
                          std::optional<Extrapolation> extrapolation) {
  const int64_t p = model.outputs(), count = std::ssize(levels);
  for (int64_t l = 0; l < count; ++l)
    require(levels[l] > 0 && levels[l] < 1, MERCER_INVALID_ARGUMENT,
            "quantiles[%ld] = %g, expected a number between 0 and 1, both excluded", l, levels[l]);
  posterior_of(model);
  check_posterior_shape(model, X, p * count, out);
  const Matrix<double> spread = variances_of(model, X, context);
  const Matrix<double> mean(X.rows(), p, context, "means of predictions");
  const RangeViolations outside = predict(model, X, context, mean.view(), extrapolation);
  for (int64_t i = 0; i < X.rows(); ++i)
    for (int64_t k = 0; k < p; ++k)
      for (int64_t l = 0; l < count; ++l)
        out(i, k * count + l) =
            mean(i, k) + std::sqrt(spread(i, k)) * random::normal_quantile(levels[l]);
  return outside;
}

namespace {

/// Of the kernel itself no finite number of coefficients is a draw: values at these rows are drawn.
void sample_jointly(const Model& model, const Rows& X, uint64_t seed, int64_t count,
                    Context& context, MatrixView<double> out) {
  const int64_t p = model.outputs();
  const Matrix<double> Z = features_of(model, X, context);
  const Matrix<double> prior = joint_prior_of(model, X, context);
  const Matrix<double> mean(X.rows(), p, context, "means of predictions");
  model.predictor->predict(Z.view(), mean.view());
  model.posterior->draw_at(Z.view(), prior.view(), seed, count, context, out);
  for (int64_t i = 0; i < out.rows; ++i)
    for (int64_t a = 0; a < out.cols; ++a) out(i, a) += mean(i, a % p);
}

}  // namespace

void samples(const Model& model, const Rows& X, uint64_t seed, int64_t count, Context& context,
             MatrixView<double> out) {
  const solver::Posterior& posterior = posterior_of(model);
  require_one_center(model, "draws of functions");
  const int64_t p = model.outputs();
  check_posterior_shape(model, X, p * count, out);
  if (posterior.is_of_kernel()) return sample_jointly(model, X, seed, count, context, out);
  solver::Weights drawn = posterior.draw(seed, count, context);
  const solver::Weights& mean = linear_weights(model);
  for (int64_t j = 0; j < p * count; ++j) {
    drawn.intercept[j] += mean.intercept[j % p];
    for (int64_t c = 0; c < drawn.w.rows(); ++c) drawn.w(c, j) += mean.w(c, j % p);
  }
  const auto function = make_linear(std::move(drawn));
  for_each_block(model, X, context, out, [&](const PredictedRows& block, MatrixView<double> part) {
    function->predict(block.Z, part);
  });
}

std::vector<std::string> far_warnings(const Model& model, Context& context) {
  const FarVariance far = far_away(model, context);
  if (!(far.left < kLeastShareFar)) return {};
  const std::string features = std::to_string(model.map->features());
  const std::string why = far.represented < kLeastShareFar
                              ? "the map's features vanish away from its landmarks"
                              : features + " features are too few for so many rows";
  char share[32];
  std::snprintf(share, sizeof share, "%.2g", far.left);
  return {std::string("far from all rows the variance is ") + share +
          " of the prior's, which it should return to: " + why +
          ", and predictions there are not to be trusted"};
}

}  // namespace mercer::model
