// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of the commands that apply a model to rows: predict, score and relevance.
#include <memory>

#include "options/command_line.h"
#include "options/declare.h"
#include "options/shared.h"

namespace mercer::cli {

namespace {

// Beside MODEL and TEST there is no telling which word is a column.
void add_test_columns(CLI::App* app, ColumnRequest* columns) {
  add_column_options(app, columns);
  app->add_option(
         "--ignore", columns->ignore,
         "Further columns of the rows that are left out, by name (all of that name) or number "
         "from 1: u,v or repeated")
      ->type_name("COLUMN")
      ->allow_extra_args(false);
}

/// What predict and score share.
template <class Request>
void add_test_options(CLI::App* app, Request* request) {
  app->add_option("--labels", request->labels, "File of one column with the targets of TEST")
      ->type_name("FILE");
  add_test_columns(app, &request->columns);
  app->add_option("--weights", request->columns.weights,
                  "Column of TEST with a weight for each row, >= 0, by which scores count rows, by "
                  "name or number from 1; it is no input. Default: every row counts as another")
      ->type_name("NAME|INDEX");
  app->add_option("--extrapolation", request->extrapolation,
                  "Inputs outside the training range: clip, free or refuse; default: as fitted")
      ->check(CLI::IsMember({"clip", "free", "refuse"}));
}

void add_model_and_rows(CLI::App* app, std::string* model, const char* name, std::string* rows,
                        const char* about_rows) {
  app->add_option("MODEL", *model, "Model file; - is standard input")->required();
  app->add_option(name, *rows, about_rows)->required();
}

}  // namespace

void add_predict(CLI::App& app) {
  const auto request = std::make_shared<PredictRequest>();
  CLI::App* predict =
      app.add_subcommand("predict", "Predict; prints the score when TEST holds the target");
  add_model_and_rows(predict, &request->model, "TEST", &request->test,
                     "Rows, with or without the target; - is standard input");
  predict
      ->add_option(
          "-o,--output", request->predictions,
          "CSV to write; default -, standard output: the score then goes to standard error")
      ->type_name("PREDICTIONS.csv");
  add_test_options(predict, request.get());
  predict->add_flag("--scores", request->scores,
                    "Classification: also a column of scores for every class");
  predict->add_flag("--probabilities", request->probabilities,
                    "Classification: also a column of probabilities for every class");
  add_run_options(predict, &request->threads, &request->quiet);
  predict->callback([request] { run_predict(*request); });
}

void add_score(CLI::App& app) {
  const auto request = std::make_shared<ScoreRequest>();
  CLI::App* score = app.add_subcommand(
      "score",
      "Every metric of a model on rows with the target: R^2, RMSE, MAE; accuracy, AUC, "
      "log loss, calibration, confusion matrix");
  add_model_and_rows(score, &request->model, "TEST", &request->test,
                     "Rows with the target; - is standard input");
  add_test_options(score, request.get());
  add_run_options(score, &request->threads, &request->quiet);
  score->callback([request] { run_score(*request); });
}

void add_relevance(CLI::App& app) {
  const auto request = std::make_shared<RelevanceRequest>();
  CLI::App* relevance = app.add_subcommand(
      "relevance",
      "How much each input moves the predictions of a model on rows, in standard deviations of "
      "both: by derivatives, of text and two-valued inputs by switching");
  add_model_and_rows(relevance, &request->model, "DATA", &request->data,
                     "Rows, with or without the target; - is standard input");
  relevance
      ->add_option("-o,--output", request->output,
                   "Also write it: FILE.html a page with a plot, another name JSON")
      ->type_name("FILE");
  add_test_columns(relevance, &request->columns);
  add_run_options(relevance, &request->threads, &request->quiet);
  relevance->callback([request] { run_relevance(*request); });
}

}  // namespace mercer::cli
