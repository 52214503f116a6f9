// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Prediction: clips, standardises, maps and scores a block of rows at a time.
#include "model/predict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/views.h"
#include "kernel/kernel.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/local.h"
#include "model/model.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_coding.h"
#include "model/rows/clipping.h"
#include "model/rows/feature_rows.h"
#include "random/distributions.h"
#include "random/scalar_math.h"
#include "statistic/metrics.h"
#include "transform/narrow_gemm.h"

namespace mercer::model {
namespace {

// Enough to make the set-up negligible, that of scores on a grid, too.
constexpr int64_t kClippedBlocks = 16, kClippedNumbers = int64_t{1} << 20;

void check_columns(const Model& model, int64_t columns) {
  require(columns == model.inputs(), MERCER_DIMENSION_MISMATCH,
          "X.d = %ld, expected the model's %ld inputs", columns, model.inputs());
}

Extrapolation chosen(const Model& model, std::optional<Extrapolation> asked) {
  if (model.ranges.known()) return asked.value_or(model.fit.prepare.extrapolation);
  require(!asked || *asked == Extrapolation::free, MERCER_UNSUPPORTED,
          "the model keeps no ranges of its training rows, which clipping or refusing needs: it "
          "comes from a file of an earlier version; fit it again, or predict with extrapolation "
          "free");
  return Extrapolation::free;
}

/// Adds log q of the rows as they are: prepared rows divide inputs by their scales.
void add_base(const Model& model, const Rows& X, Context& context, MatrixView<double> scores) {
  double log_scales = 0;
  for (const double scale : model.preparation.scale) log_scales += std::log(scale);
  const Matrix<double> rows =
      dense_prepared_rows(model.preparation, X, context, "a block of prepared rows");
  for (int64_t i = 0; i < scores.rows; ++i)
    scores(i, 0) += model.base->log_density(rows.view().row(i)) - log_scales;
}

/// Scores of linear models of few outputs: those of a row depend on the row alone, so that rows give
/// the same bits in any blocks. Of more outputs BLAS is much faster, whose bits depend on the block.
class NarrowScores {
 public:
  static constexpr int64_t kMostOutputs = 32;
  static bool serves(const solver::Weights* linear) {
    return linear != nullptr && !linear->by_output() && linear->outputs() <= kMostOutputs;
  }
  /// Refers to the weights.
  NarrowScores(const solver::Weights& linear, Context& context)
      : linear_(linear), W_(linear.w.cols(), linear.w.rows(), context, "weights by rows") {
    for (int64_t o = 0; o < W_.rows(); ++o)
      for (int64_t j = 0; j < W_.cols(); ++j) W_(o, j) = linear.w(j, o);
  }
  void predict(MatrixView<const double> Z, Context& context, MatrixView<double> scores) const {
    parallel_for(
        context, ceil_divide(Z.rows, kRows),
        [&](int64_t chunk, int) noexcept {
          const int64_t first = chunk * kRows, end = std::min(Z.rows, first + kRows);
          const auto out = scores.block_rows(first, end);
          transform::row_products(
              transform::RowProducts<double>{Z.block_rows(first, end), W_.view(), out});
          for (int64_t i = 0; i < out.rows; ++i)
            for (int64_t o = 0; o < out.cols; ++o) out(i, o) += linear_.intercept[o];
        },
        0);
  }

 private:
  static constexpr int64_t kRows = 64;
  const solver::Weights& linear_;
  Matrix<double> W_;
};

/// Calls body(first, scores) for every block of rows; `before` rows come before these.
template <class Body>
void score_blocks(const Model& model, const Rows& X, int64_t before, Context& context,
                  const Body& body) {
  const FeatureRows rows(*model.map, model.preparation, model.fit.coding,
                         model.fit.estimate.precision, {X, {}});
  const solver::Weights* const linear = model.predictor->linear();
  const auto place = [&](int64_t first, MatrixView<double> scores) {
    if (model.base != nullptr)
      add_base(model, X.block_rows(first, first + scores.rows), context, scores);
    body(before + first, scores);
  };
  if (linear != nullptr && !linear->by_output() &&
      rows.for_each_product(linear->w.view(), context,
                            [&](const solver::WideBlock& block, MatrixView<double> scores) {
                              for (int64_t i = 0; i < scores.rows; ++i)
                                for (int64_t o = 0; o < scores.cols; ++o)
                                  scores(i, o) += linear->intercept[o];
                              place(block.first, scores);
                            }))
    return;
  const Matrix<double> storage(rows.block_rows(), model.outputs(), context, "a block of scores");
  std::optional<NarrowScores> narrow;
  if (NarrowScores::serves(linear)) narrow.emplace(*linear, context);
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    const auto scores = storage.view().block_rows(0, block.Z.rows);
    narrow ? narrow->predict(block.Z, context, scores) : model.predictor->predict(block.Z, scores);
    place(block.first, scores);
  });
}

/// The rows outside; refuses those that extrapolation, or the kernel's domain, excludes.
RangeViolations guarded(const Model& model, const Rows& X, Context& context,
                        Extrapolation extrapolation, std::span<const Range> ranges) {
  RangeViolations found;
  if (model.ranges.known()) found = count_outside(ranges, X, context);
  if (extrapolation == Extrapolation::refuse && found.rows > 0) refuse_outside(ranges, X);
  if (extrapolation == Extrapolation::free)  // others stay inside
    check_prepared(model.map->kernel(), model.preparation, X,
                   "leave the row out, or clip it to the range of the rows fitted on");
  return found;
}

/// Calls body(first, scores) for every block of rows, guarded.
template <class Body>
RangeViolations for_each_score(const Model& model, const Rows& X, Context& context,
                               std::optional<Extrapolation> asked, const Body& body) {
  const Extrapolation extrapolation = chosen(model, asked);
  const std::vector<Range> ranges =
      extrapolation == Extrapolation::clip ? clip_ranges(model) : model.ranges.inputs;
  Stage stage(context, X.rows());  // rows count once their scores are done
  RangeViolations found = guarded(model, X, context, extrapolation, ranges);
  const bool clips = extrapolation == Extrapolation::clip;
  const std::vector<Limits> limits = clips ? score_limits(model) : std::vector<Limits>();
  const auto finish = [&](int64_t first, MatrixView<double> scores) {
    model.preparation.restore_targets(scores);
    if (!limits.empty()) found.predictions += limit_scores(limits, scores);
    body(first, MatrixView<const double>(scores));
    stage.advance(scores.rows);
  };
  if (!clips || found.rows == 0) {
    score_blocks(model, X, 0, context, finish);
    return found;
  }
  // Clipped rows are copied some blocks at a time.
  const int64_t size =
      std::max(kClippedBlocks * block_rows(X.sparse() ? 0 : X.cols(), model.map->features()),
               kClippedNumbers / std::max<int64_t>(1, X.cols()));
  for (int64_t first = 0; first < X.rows(); first += size) {
    const Rows part = X.block_rows(first, std::min(X.rows(), first + size));
    const ClippedRows clipped(ranges, part, context);
    score_blocks(model, clipped.rows(), first, context, finish);
  }
  return found;
}

}  // namespace

void take_fit(EstimatorFit& learned, Model& model, FitReport& report) {
  model.predictor = std::move(learned.predictor);
  model.calibration = std::move(learned.calibration);
  model.posterior = std::move(learned.posterior);
  model.preimage = std::move(learned.preimage);
  model.base = std::move(learned.base);
  report.density = learned.density;
  report.inputs = std::move(learned.inputs);
  report.components = std::move(learned.components);
  report.run = learned.run;
  report.elbo = learned.elbo;
  if (model.posterior == nullptr) return;
  report.log_evidence = model.posterior->log_evidence();
  report.log_evidence_error = model.posterior->log_evidence_error();
  report.variance_error = model.posterior->variance_error();
}

std::vector<Range> clip_ranges(const Model& model) {
  const bool stays = model.fit.coding.task == Task::classification ||
                     (model.map != nullptr && domain_of(model.map->kernel()));
  return stays ? model.ranges.inputs : widened(model.ranges.inputs, model.rows);
}

std::vector<Limits> score_limits(const Model& model) {
  const EstimatorOptions& by = model.fit.estimate;
  const Link link = by.entry->link == nullptr ? Link::identity : by.entry->link(by.parameters);
  return target_limits(model.ranges.targets, link);
}

const solver::Weights& linear_weights(const Model& model) {
  require_one_center(model, "the weights");
  const solver::Weights* weights = model.predictor->linear();
  require(weights != nullptr, MERCER_UNSUPPORTED,
          "a model of kind %s has no weights: it is not linear in the features",
          model.fit.estimate.entry->name);
  return *weights;
}

RangeViolations predict(const Model& model, const Rows& X, Context& context,
                        MatrixView<double> scores, std::optional<Extrapolation> extrapolation) {
  check_columns(model, X.cols());
  require(scores.rows == X.rows() && scores.cols == model.outputs(), MERCER_DIMENSION_MISMATCH,
          "scores is %ld x %ld, expected %ld rows and %ld outputs", scores.rows, scores.cols,
          X.rows(), model.outputs());
  if (model.local != nullptr) {
    RangeViolations all;
    guarded(model, X, context, chosen(model, extrapolation), model.ranges.inputs);  // rows of X
    predict_locally(model, X, context, scores,
                    [&](const Model& near, const Rows& rows, MatrixView<double> part) {
                      all.add(predict(near, rows, context, part, extrapolation));
                    });
    return all;
  }
  const auto keep = [&](int64_t first, MatrixView<const double> block) {
    for (int64_t i = 0; i < block.rows; ++i) {
      std::copy_n(block.row(i), block.cols, scores.row(first + i));
    }
  };
  return for_each_score(model, X, context, extrapolation, keep);
}

RangeViolations preimages(const Model& model, const Rows& X, Context& context,
                          MatrixView<double> out, std::optional<Extrapolation> extrapolation) {
  require(model.preimage != nullptr, MERCER_UNSUPPORTED,
          "the model has no pre-images, expected one fitted with \"preimages\": true");
  require(out.rows == X.rows() && out.cols == model.inputs(), MERCER_DIMENSION_MISMATCH,
          "out is %ld x %ld, expected %ld rows of %ld inputs", out.rows, out.cols, X.rows(),
          model.inputs());
  const Matrix<double> scores(X.rows(), model.outputs(), context, "scores of all rows");
  RangeViolations outside = predict(model, X, context, scores.view(), extrapolation);
  model.preimage->predict(scores.view(), out);
  model.preparation.restore_inputs(out);
  return outside;
}

RangeViolations classify(const Model& model, const Rows& X, Context& context,
                         std::span<int32_t> classes, std::optional<Extrapolation> extrapolation) {
  require(model.fit.coding.task == Task::classification, MERCER_INVALID_ARGUMENT,
          "the model was fitted for regression, expected classification");
  check_columns(model, X.cols());
  require(static_cast<int64_t>(classes.size()) == X.rows(), MERCER_DIMENSION_MISMATCH,
          "classes has %zu entries, expected %ld as X has rows", classes.size(), X.rows());
  check_numbers(model.fit.prepare.missing, X);
  const auto keep = [&](int64_t first, MatrixView<const double> block) {
    for (int64_t i = 0; i < block.rows; ++i) {
      const int64_t found = statistic::class_of({block.row(i), static_cast<size_t>(block.cols)});
      require(found != statistic::kNoClass, MERCER_INVALID_ARGUMENT, at_row(first + i),
              "X has a score of NaN, which is of no class: its inputs are too large for the "
              "precision of the features");
      classes[first + i] = static_cast<int32_t>(found);
    }
  };
  if (model.local != nullptr) {
    const Matrix<double> scores(X.rows(), model.outputs(), context, "scores of all rows");
    const RangeViolations outside = predict(model, X, context, scores.view(), extrapolation);
    keep(0, scores.view());
    return outside;
  }
  return for_each_score(model, X, context, extrapolation, keep);
}

namespace {

constexpr const char* kPosteriorRows = "prepared rows";
constexpr double kFarthestInput = 1e4;
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

/// The training ranges widened by kFarthestInput times their width; X unchanged without ranges.
std::vector<Range> far_ranges(const Model& model) {
  std::vector<Range> ranges = model.ranges.inputs;
  ranges.resize(model.inputs(), {-kInfinity, 0, 0, kInfinity});
  for (Range& range : ranges) {
    const double width = kFarthestInput * (range.highest - range.lowest);
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
