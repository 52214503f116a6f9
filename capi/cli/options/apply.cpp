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
  add_choice(app, "--extrapolation", &request->extrapolation, kExtrapolationWords,
             "Inputs outside the training range: clip, free or refuse; default: as fitted");
}

/// A command and the rows that it reads, as its help says them.
struct Words {
  const char* name;
  const char* about;
  const char* rows;
  const char* about_rows;
};

/// A subcommand that applies a model to rows, and what its options fill in for `run`.
template <class Request>
struct Command {
  CLI::App* app;
  std::shared_ptr<Request> request = std::make_shared<Request>();

  Command(CLI::App& all, const Words& words, std::string Request::*rows,
          void (*run)(const Request&))
      : app(all.add_subcommand(words.name, words.about)) {
    app->callback([run, request = request] { run(*request); });
    app->add_option("MODEL", request->model, "Model file; - is standard input")->required();
    app->add_option(words.rows, (*request).*rows, words.about_rows)->required();
  }
  void end() const { add_run_options(app, &request->threads, &request->quiet); }
};

}  // namespace

void add_predict(CLI::App& app) {
  const Command<PredictRequest> predict(
      app,
      {"predict", "Predict; prints the score when TEST holds the target", "TEST",
       "Rows, with or without the target; - is standard input"},
      &PredictRequest::test, run_predict);
  predict.app
      ->add_option(
          "-o,--output", predict.request->predictions,
          "CSV to write; default -, standard output: the score then goes to standard error")
      ->type_name("PREDICTIONS.csv");
  add_test_options(predict.app, predict.request.get());
  predict.app
      ->add_option("--id", predict.request->columns.ids,
                   "Columns of TEST that are written as they stand before the predictions, by name "
                   "or number from 1: u,v or repeated; they may be unknown to the model")
      ->type_name("COLUMN")
      ->allow_extra_args(false);
  predict.app->add_flag("--scores", predict.request->scores,
                        "Classification: also a column of scores for every class");
  predict.app->add_flag("--probabilities", predict.request->probabilities,
                        "Classification: also a column of probabilities for every class. They are "
                        "calibrated to how often classes occur; the class itself is that of the "
                        "largest score, which differs near ties and where --class-weight balanced "
                        "decided for rare classes");
  predict.end();
}

void add_score(CLI::App& app) {
  const Command<ScoreRequest> score(
      app,
      {"score",
       "Every metric of a model on rows with the target: R^2, RMSE, MAE; accuracy, AUC, "
       "log loss, calibration, confusion matrix",
       "TEST", "Rows with the target; - is standard input"},
      &ScoreRequest::test, run_score);
  add_test_options(score.app, score.request.get());
  score.end();
}

void add_relevance(CLI::App& app) {
  const Command<RelevanceRequest> relevance(
      app,
      {"relevance",
       "How much each input moves the predictions of a model on rows, in standard deviations of "
       "both: by derivatives, of text and two-valued inputs by switching",
       "DATA", "Rows, with or without the target; - is standard input"},
      &RelevanceRequest::data, run_relevance);
  relevance.app
      ->add_option("-o,--output", relevance.request->output,
                   "Also write it: FILE.html a page with a plot, another name JSON")
      ->type_name("FILE");
  add_test_columns(relevance.app, &relevance.request->columns);
  relevance.end();
}

}  // namespace mercer::cli
