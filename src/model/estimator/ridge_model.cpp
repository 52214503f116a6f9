// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge regression on the features of a map, least squares on one-hot codes for classes. How
// lambda is chosen is in selection.cpp.
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "model/estimator/class_weights.h"
#include "model/estimator/model_entry.h"
#include "model/rows/row_sets.h"
#include "model/select/selection.h"

namespace mercer::model {
namespace {

constexpr int64_t kRidgeUnits = 1000;  // of progress
constexpr int64_t kCalibrationFolds = 5;

constexpr const char* kSolvers[] = {"direct", "cg", "mixed"};
constexpr Choice<solver::Iterative> kSolver{
    "solver", kSolvers,
    "direct: by Z'Z or the rows' Gram matrix; cg: conjugate gradients over the rows, in memory of "
    "some hundred D; mixed: by Z'Z in single precision, corrected over the rows in double; both "
    "with lambda given or by folds or held_out"};
solver::Iterative iterative(const Parameters& own) {
  return own.find(kSolver.key) == nullptr ? solver::Iterative::no : kSolver.read(own);
}

void check_ridge(const FitOptions& asked) {
  const Parameters& own = asked.estimate.parameters;
  check_class_weight(own, asked.coding);
  const bool regression = asked.coding.task == Task::regression;
  if (iterative(own) == solver::Iterative::no) return;
  require(regression, MERCER_UNSUPPORTED,
          "solver = cg or mixed of a classification, expected direct, or model = logistic");
  const Selection by = asked.select.selection;
  require(by == Selection::fixed || by == Selection::folds || by == Selection::held_out,
          MERCER_UNSUPPORTED,
          "select.by = leave_one_out, gcv or evidence with solver = cg or mixed, expected lambda, "
          "or select.by = folds or held_out");
}

/// Calibration uses the row weights without class factors.
void take_factors_out(const std::vector<double>& factors, ScoredRows& rows) {
  for (int64_t i = 0; i < rows.scores.rows() && !factors.empty(); ++i) {
    const double factor = factors[class_of_code(rows.targets.view().row(i), rows.targets.cols())];
    if (factor > 0) rows.weights[i] /= factor;
  }
}

/// Leave-one-out would be optimistic for dependent rows: uses folds instead.
ScoredRows scores_of_folds(const solver::BlockSource& rows, const EstimatorOptions& estimating,
                           const SelectionOptions& selecting, double lambda, Context& context) {
  SelectionOptions fixed = selecting;
  fixed.fix(lambda);
  std::vector<ScoredRows> parts;
  for (const Split& split : fold_splits(all_rows(rows.rows()), kCalibrationFolds, selecting.seed,
                                        {rows.classes(), rows.groups(), selecting.ordered})) {
    const RidgeFit part = select(*rows.subset(split.train), fixed, Task::classification,
                                 estimating.problem(), context);
    parts.push_back(score_all(*rows.subset(split.held_out), part.weights, context));
  }
  return joined(parts, context);
}

EstimatorFit fit_ridge(const solver::BlockSource& given, const EstimatorOptions& estimating,
                       const TargetOptions& coding, const SelectionOptions& selecting,
                       Context& context) {
  Stage whole(context, kRidgeUnits);  // without the pass for class weights
  const std::vector<double> factors = class_factors(estimating.parameters, given, context);
  const auto weighted = factors.empty() ? nullptr : class_weighted(given, factors);
  const solver::BlockSource& rows = weighted ? *weighted : given;
  whole.share(kRidgeUnits);
  if (coding.task == Task::regression) {
    RidgeFit selected = select(rows, selecting, coding.task, estimating.problem(), context);
    whole.advance(kRidgeUnits);
    return {.predictor = make_linear(std::move(selected.weights)),
            .lambda = selected.lambda,
            .path = std::move(selected.path),
            .calibration = {},
            .run = selected.run};
  }
  LeftOutScores left_out(selecting.seed, context);
  const bool exchangeable = !selecting.ordered && rows.groups().empty();
  RidgeFit selected = select(rows, selecting, coding.task, estimating.problem(), context,
                             exchangeable ? &left_out : nullptr);
  whole.advance(kRidgeUnits);
  if (!exchangeable)
    left_out.rows() = scores_of_folds(rows, estimating, selecting, selected.lambda, context);
  take_factors_out(factors, left_out.rows());
  return {make_linear(std::move(selected.weights)), selected.lambda, std::move(selected.path),
          fit_calibration(left_out.rows(), context, Prior::none)};
}

}  // namespace

solver::RidgeProblem EstimatorOptions::problem() const {
  return {center, coupling.get(), iterative(parameters)};
}

const ModelEntry& ridge_model() {
  static const ModelEntry entry = linear_entry(
      {.name = "ridge",
       .help = "ridge regression or least-squares classification on the features of a map",
       .fields = {number_field("lambda", kOptional, 0, kUnbounded,
                               "n lambda is added to Z'Z; absent: chosen by "
                               "leave-one-out"),
                  kClassWeight.field(), kSolver.field()},
       .selection = Selection::leave_one_out,
       .fit = fit_ridge,
       .check = check_ridge,
       .is_searched = [](const Parameters&) { return true; },
       .least_squares = true,
       .sums_over_outputs = true});
  return entry;
}

}  // namespace mercer::model
