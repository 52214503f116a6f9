// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is fitted: standardisation of inputs, a feature map, and what a kind of model learns on its
// features. Prediction is map, then the kind's scores.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"
#include "base/parameters.h"
#include "base/rows.h"
#include "feature/feature_map.h"
#include "model/calibration.h"
#include "model/guard.h"
#include "model/predictor.h"
#include "model/preparation.h"
#include "model/report.h"

namespace mercer::model {

enum class Task { regression, classification };

/// How lambda is chosen: given, or the least error on held-out rows, over folds, by generalised
/// cross-validation; by leave-one-out, the paired rule of paired_choice.h. Generalised
/// cross-validation fails where n is not well above Tr H: on 200 to 800 rows, ten data sets, its
/// mean R^2 was -9 where leave-one-out had .65.
enum class Selection { fixed, held_out, kfold, gcv, loo };

struct ModelEntry;  // model_entry.h
const ModelEntry& ridge_model();

/// Of a kernel of bounded inputs.
struct InputDomain {
  std::string kernel;
  kernel::InputBound bound;
  bool scales_up = true;  // inputs may be multiplied by more than 1
};

struct FitOptions {
  const ModelEntry* model = &ridge_model();
  Parameters parameters;  // the values of the model's own fields, but lambda
  Task task = Task::regression;
  int64_t classes = 0;  // classification: K >= 2; Y then holds one column of class numbers 0..K-1
  bool standardize = true;
  Scale scale = Scale::standard;  // how, where standardize is true
  Missing missing = Missing::refuse;
  std::vector<int64_t> flagged = {};  // missing = flag: these inputs, or else those that miss some
  Transform transform = Transform::none;         // log: of skewed inputs; rank: of all
  Transform target_transform = Transform::none;  // of a regression
  bool unit_rows = false;                        // prepared rows of norm 1
  std::optional<InputDomain> domain = {};  // of the map's kernel; fits find it out (input_domain.h)
  int64_t buckets = 0;                     // > 0: sparse rows are hashed (hashing.h)
  bool center = true;
  feature::Precision precision =
      feature::Precision::f32;  // of the features; statistics are always double
  Selection selection = Selection::loo;
  double lambda = 1e-6;        // for fixed
  double lambda_largest = 10;  // path
  double lambda_smallest = 1e-12;
  int64_t lambda_count = 27;
  int64_t folds = 5;                                  // kfold
  double held_out_fraction = 0.1;                     // held_out
  uint64_t seed = 0;                                  // rows held out, folds, sampled for quantiles
  Extrapolation extrapolation = Extrapolation::clip;  // of predictions that do not say
};

/// One lambda that was tried: its score on the selection's criterion (mean squared error, summed
/// over outputs; for classification with held_out or kfold the error rate, with loo the soft error
/// of row_loss.h; from a search 1 - R^2 or the error rate; of the model logistic its mean loss).
struct PathPoint {
  double lambda;
  double score;
};

struct Model {
  std::shared_ptr<const feature::FeatureMap> map;
  Preparation preparation;
  Ranges ranges;                               // of the training rows
  std::shared_ptr<const Predictor> predictor;  // one output per class for classification
  FitOptions options;                          // as fitted; lambda is the chosen one
  int64_t rows = 0;                            // rows it was fitted on
  std::vector<PathPoint> path;
  FitReport report;         // of a search
  std::string metadata;     // the caller's text, kept in files (the command line stores column and
                            // label names)
  Calibration calibration;  // of a classification's scores; empty: it has no probabilities

  int64_t inputs() const { return preparation.inputs_of(map->inputs()); }
  int64_t outputs() const { return predictor->outputs(); }  // scores per row
};

/// The weights of a model that is linear in the features; UNSUPPORTED for others.
const solver::Weights& linear_weights(const Model& model);

/// Fits on X (n x d), Y (n x outputs, or n x 1 class numbers), weights (n numbers >= 0, or none: 1
/// each; a row of weight 2 counts as two equal rows, and leaves as one where rows are held out).
/// Memory in units of 8 D^2 bytes: 1
/// for fixed, 2.5 for gcv and loo, 3.5 for held_out and kfold (2 above D = 4096, where a Cholesky
/// factor per lambda takes the place of one eigendecomposition), and a row block; never n x D,
/// except that the dual form is used for n < D (n x D). Errors: fewer than 2 rows, NaN or Inf in X
/// or Y (naming row and column), class out of range, complex map (UNSUPPORTED).
Model fit(std::shared_ptr<const feature::FeatureMap> map, const FitOptions& options, const Rows& X,
          MatrixView<const double> Y, Context& context, std::span<const double> weights = {});

/// scores: n x outputs(): predictions, or one score per class. Inputs outside the training range
/// are clipped, left or refused as `extrapolation` says, or else the model; with them clipped,
/// predictions of a regression are limited to the targets' range widened by half of it on either
/// side (of loss = "poisson", which predicts log means, to the logs of that). Without ranges
/// nothing is clipped, and asking for it is refused. Left as they are, inputs outside the domain of
/// the map's kernel are refused, naming row and column.
Outside predict(const Model& model, const Rows& X, Context& context, MatrixView<double> scores,
                std::optional<Extrapolation> extrapolation = {});

/// UNSUPPORTED unless it is a classification with a calibration, which makes scores probabilities.
void require_probabilities(const Model& model);

/// Class of the largest score (the lowest on a tie); classification only. NaN or Inf in X is
/// refused, and so is a row with a NaN score, naming it.
Outside classify(const Model& model, const Rows& X, Context& context, std::span<int32_t> classes,
                 std::optional<Extrapolation> extrapolation = {});

}  // namespace mercer::model
