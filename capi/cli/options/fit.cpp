// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of fit and cv.
#include <memory>

#include "failure.h"
#include "losses.h"
#include "options/command_line.h"
#include "options/declare.h"
#include "options/shared.h"

namespace mercer::cli {

namespace {

void add_preparation_options(CLI::App* app, PreparationRequest* preparation) {
  add_choice(
      app, "--scale", &preparation->scale, kScaleWords,
      "Inputs by mean and deviation (default), median and quartiles, mean alone, mean and one unit "
      "for all (common, the default of fields), or as they are; but for common those of 0 and 1 "
      "always are");
  add_choice(app, "--transform", &preparation->transform, kTransformWords,
             "Inputs: log of skewed ones, normal ranks, or (auto, the default) what wins where the "
             "lengthscale is searched");
  add_choice(app, "--target-transform", &preparation->target_transform, kTransformWords,
             "Targets of a regression; predictions are those of the targets as given");
  app->add_flag("--unit-rows", preparation->unit_rows, "Scale prepared rows to norm 1");
}

// How several targets are learnt together.
void add_operator_option(CLI::App* app, std::string* operation) {
  app->add_option(
         "--operator", *operation,
         "How several targets belong together: curl_free, divergence_free or helmholtz (fields: as "
         "many targets as inputs), helmholtz:ALPHA, decomposable (targets that correlate), "
         "decomposable:similarity, decomposable:GRAPH.csv (weights between targets), the JSON spec "
         "of such a kernel or of outputs, or auto: correlations, of 2 or 3 inputs and as many "
         "targets a field, where they clearly win. --kernel is the kernel of "
         "each. In the table of the search shape 0 is a field without sources, 1 one without "
         "vortices; of decomposable 0 are targets that know nothing of each other (of similarity: "
         "that are all alike). Default: each target by itself")
      ->check([](const std::string& text) {
        return text.empty()
                   ? "expected the name of a kernel of several outputs or a JSON spec, not nothing"
                   : "";
      })
      ->type_name("NAME[:...]|JSON");
}

// What rows may know of each other.
void add_split_options(CLI::App* app, LearnRequest* learn) {
  app->add_option("--groups", learn->columns.groups,
                  "Column that says which rows belong together (a person, a place, a batch), by "
                  "name or number from 1; it is no input. Rows of a group are never on both sides "
                  "of a split, so that scores are those of new groups")
      ->type_name("NAME|INDEX");
  app->add_flag("--ordered", learn->ordered,
                "Rows are in the order of time: what is held out is later than what it is "
                "predicted from, in the search, the score, --test-fraction and cv");
}

// What is least in place of squares.
void add_loss_options(CLI::App* app, FitRequest* request) {
  add_choice(
      app, "--loss", &request->loss, kLossWords,
      "Fitted with the map that the search finds by squares: huber (few wrong targets change "
      "little), quantile (--tau), poisson (counts, whose means are predicted), of classes "
      "squared_hinge. Scores are then of absolute errors, the pinball loss or the deviance: "
      "1 is perfect, 0 the best constant");
  app->add_option("--tau", request->tau, "Of --loss quantile: the share of targets below it")
      ->type_name("T");
  app->add_option("--delta", request->delta,
                  "Of --loss huber: where squares end; default 1.345 deviations of residuals")
      ->type_name("D");
}

/// A loss says what the task is; what it does not go with is refused.
void settle_loss(FitRequest* request) {
  const std::string& loss = request->loss;
  const LossRow* const row = find_loss(loss);
  if (request->tau && (row == nullptr || !row->reads_tau))
    throw Failure("--tau: is of --loss quantile");
  if (request->delta && (row == nullptr || !row->reads_delta))
    throw Failure("--delta: is of --loss huber");
  if (row == nullptr) return;
  if (request->estimator != "auto")
    throw Failure("--loss " + loss + ": does not go with --estimator, one of the two");
  const std::string task = row->task;
  if (request->learn.task == "auto") request->learn.task = task;
  if (request->learn.task != task)
    throw Failure("--loss " + loss + ": is of a " + task + ", --task says " + request->learn.task);
  request->learn.gaps = false;
}

// What fit and cv share.
void add_fit_options(CLI::App* app, FitRequest* request) {
  request->learn.gaps = true;
  add_learn_options(app, &request->learn);
  add_split_options(app, &request->learn);
  add_preparation_options(app, &request->learn.preparation);
  add_choice(app, "--extrapolation", &request->learn.extrapolation, kExtrapolationWords,
             "What predictions do with inputs outside the training range: clip (default), free or "
             "refuse");
  app->add_option(
         "--features", request->features,
         "Random features D; default 2048, of up to 2,048 rows 4096, of up to 1,024 rows 8192, "
         "doubled while rows held out gain by it; with a map made of rows at most as many as these")
      ->check(whole_number(1, (int64_t{1} << 31) - 1))
      ->type_name("D");
  app->add_option(
         "--most-features", request->most_features,
         "Up to which --features are doubled where they are not given; default 8192, while "
         "their square times the rows is at most 2^39")
      ->check(whole_number(1, (int64_t{1} << 31) - 1))
      ->excludes("--features")
      ->type_name("D");
  add_choice(app, "--estimator", &request->estimator, kEstimatorWords,
             "Of classes: ridge (least squares) or logistic; default auto: ridge for up to 3,000 "
             "rows or where logistic takes longer, else logistic unless ridge is better on rows "
             "held out by more than a standard error");
  add_loss_options(app, request);
  add_choice(app, "--ard", &request->ard, kArdWords,
             "A lengthscale for each input: default auto: learnt from dense rows of up to 100 "
             "inputs, kept where it wins; off; on: always kept");
  add_operator_option(app, &request->operation);
}

}  // namespace

void add_fit(CLI::App& app) {
  const auto request = std::make_shared<FitRequest>();
  CLI::App* fit = app.add_subcommand("fit", "Fit a model; lengthscale and lambda are searched");
  add_fit_options(fit, request.get());
  fit->add_option("-o,--output", request->model,
                  "Model file to write; - is standard output, pipes and devices are written to")
      ->required()
      ->type_name("MODEL");
  fit->add_option_function<std::string>(
         "--test-fraction",
         [request](const std::string& text) { request->test_fraction = read_test_fraction(text); },
         "Hold this fraction of the rows out and print their score")
      ->type_name("F");
  fit->add_option(
         "--report", request->report,
         "Also write what is known of the fit, with a learning curve and the errors on rows "
         "not fitted on: FILE.html a page with plots, another name JSON; repeats")
      ->type_name("FILE")
      ->allow_extra_args(false);
  fit->callback([request] {
    settle_train(&request->learn);
    settle_loss(request.get());
    run_fit(*request);
  });
}

void add_cv(CLI::App& app) {
  const auto request = std::make_shared<CvRequest>();
  CLI::App* cv = app.add_subcommand(
      "cv", "Cross-validate: fit without each fold of the rows in turn, and score on it");
  add_fit_options(cv, &request->fit);
  cv->add_option_function<std::string>(
        "--folds", [request](const std::string& text) { request->folds = read_folds(text); },
        "Folds; default 5; loo, or as many as rows: one row in each (leave-one-out)")
      ->type_name("K|loo");
  cv->callback([request] {
    settle_train(&request->fit.learn);
    settle_loss(&request->fit);
    run_cv(*request);
  });
}

}  // namespace mercer::cli
