// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Prediction: clips, standardises, maps and scores a block of rows at a time.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/views.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/local.h"
#include "model/model.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_coding.h"
#include "model/rows/feature_rows.h"
#include "statistic/metrics.h"

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
          "comes of a file of an earlier version; fit it again, or predict with extrapolation "
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
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    const auto scores = storage.view().block_rows(0, block.Z.rows);
    model.predictor->predict(block.Z, scores);
    place(block.first, scores);
  });
}

/// The limits of scores; for log means the logs of the limits of means.
std::vector<Limits> score_limits(const Model& model) {
  const EstimatorOptions& by = model.fit.estimate;
  const Link link = by.entry->link == nullptr ? Link::identity : by.entry->link(by.parameters);
  return target_limits(model.ranges.targets, link);
}

/// Calls body(first, scores) for every block of rows, guarded.
template <class Body>
RangeViolations for_each_score(const Model& model, const Rows& X, Context& context,
                               std::optional<Extrapolation> asked, const Body& body) {
  const Extrapolation extrapolation = chosen(model, asked);
  const std::vector<Range>& ranges = model.ranges.inputs;
  Stage stage(context, X.rows());  // rows count once their scores are done
  RangeViolations found;
  if (model.ranges.known()) found = count_outside(ranges, X, context);
  if (extrapolation == Extrapolation::refuse && found.rows > 0) refuse_outside(ranges, X);
  if (extrapolation == Extrapolation::free)  // others stay inside
    check_prepared(model.map->kernel(), model.preparation, X,
                   "leave the row out, or clip it to the range of the rows fitted on");
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
  if (model.posterior != nullptr) report.log_evidence = model.posterior->log_evidence();
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
  return for_each_score(model, X, context, extrapolation, keep);
}

}  // namespace mercer::model
