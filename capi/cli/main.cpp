// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The mercer command: options to requests, failures to one line on standard error and exit
// status 1.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "commands.h"
#include "failure.h"
#include "faults.h"
#include "interrupt.h"
#include "mercer/base.hpp"
#include "message.h"

namespace {

using namespace mercer::cli;

void add_run_options(CLI::App* app, int32_t* threads, bool* quiet) {
  app->add_option("--threads", *threads,
                  "Upper limit on threads of the library's loops; 0: all cores (BLAS has its own)")
      ->check(CLI::Range(0, 100000))
      ->type_name("T");
  app->add_flag("--quiet", *quiet,
                "Print scores only, no tables and no progress; warnings go to standard error");
}

void add_column_options(CLI::App* app, ColumnRequest* columns) {
  app->add_option("--delimiter", columns->delimiter,
                  "What separates fields of a CSV: comma, tab, semicolon, space or a character; "
                  "default auto: as its first line looks")
      ->type_name("C");
  app->add_option("--header", columns->header,
                  "Whether the first line of a CSV names the columns; default auto: iff it holds "
                  "text, and either no numbers or text above numbers")
      ->check(CLI::IsMember({"auto", "yes", "no"}));
  app->add_option("--decimal", columns->decimal,
                  "The decimal mark of numbers in a CSV; default auto: as each column shows")
      ->check(CLI::IsMember({"auto", "point", "comma"}));
}

// Without a limit on how many follow: settle_train gives back the file that they took.
CLI::Option* add_columns(CLI::App* app, const char* name, std::vector<std::string>* to,
                         const std::string& help) {
  return app->add_option(name, *to, help)->type_name("COLUMN")->allow_extra_args(true);
}

/// --target u v train.csv: the last word is no column but the file.
void settle_train(LearnRequest* learn) {
  for (std::vector<std::string>* columns : {&learn->targets.targets, &learn->columns.ignore}) {
    if (!learn->train.empty() || columns->size() < 2) continue;
    const std::string last = columns->back();
    if (last != "-" && ::access(last.c_str(), F_OK) != 0) continue;
    learn->train = last;
    columns->pop_back();
  }
  if (!learn->train.empty()) return;
  for (const std::vector<std::string>& columns : {learn->targets.targets, learn->columns.ignore})
    if (columns.size() > 1) throw Failure("TRAIN: " + shown(columns.back()) + ": no such file");
  throw CLI::RequiredError("TRAIN");
}

void add_preparation_options(CLI::App* app, PreparationRequest* preparation) {
  const auto choice = [&](const char* name, std::string* to, std::vector<std::string> words,
                          const char* help) {
    app->add_option(name, *to, help)->check(CLI::IsMember(std::move(words)));
  };
  choice(
      "--scale", &preparation->scale, {"standard", "robust", "center", "none"},
      "Inputs by mean and deviation (default), median and quartiles, mean alone, or as they are; "
      "those of 0 and 1 always are");
  choice("--missing", &preparation->missing, {"refuse", "fill"},
         "Missing inputs (empty, NA, NaN, N/A, null, ?): refused (default), or filled with the "
         "median and "
         "flagged");
  choice("--transform", &preparation->transform, {"auto", "none", "log", "rank"},
         "Inputs: log of skewed ones, normal ranks, or (auto, the default) what wins where the "
         "lengthscale is searched");
  choice("--target-transform", &preparation->target_transform, {"none", "log", "rank"},
         "Targets of a regression; predictions are those of the targets as given");
  app->add_flag("--unit-rows", preparation->unit_rows, "Scale prepared rows to norm 1");
}

void add_learn_options(CLI::App* app, LearnRequest* learn) {
  app->add_option("TRAIN", learn->train,
                  "CSV, libsvm, .npy or IDX, plain or gzip; - is standard input (required)");
  app->add_option("--kernel", learn->plan.kernel,
                  "Kernel: a name, or a JSON spec (see: mercer specs); default that of the map: "
                  "gaussian for fourier")
      ->type_name("JSON|NAME");
  app->add_option("--map", learn->plan.map, "Feature map: a name, or a JSON spec; default fourier")
      ->type_name("JSON|NAME");
  app->add_option("--lengthscale", learn->plan.lengthscale,
                  "In units of the standardised inputs; default auto: searched")
      ->type_name("L|auto");
  app->add_option("--lambda", learn->plan.lambda, "Regularisation per row; default auto: searched")
      ->type_name("L|auto");
  add_columns(app, "--target", &learn->targets.targets,
              "Target columns, by name or number from 1: u v, u,v or repeated. Default: the "
              "columns named y or y1, y2, ..., else the last");
  app->add_option("--labels", learn->targets.labels,
                  "File of one column with the targets; default for IDX: the name with labels-idx1 "
                  "for images-idx3")
      ->type_name("FILE");
  app->add_option("--task", learn->task,
                  "Default auto: classification iff labels are text, or few whole numbers that are "
                  "not like counts")
      ->check(CLI::IsMember({"regression", "classification", "auto"}));
  add_column_options(app, &learn->columns);
  add_columns(app, "--ignore", &learn->columns.ignore,
              "Columns left out, by name or number from 1, '' for the one without a name; as many "
              "as --target takes");
  app->add_flag("--no-standardize", learn->preparation.raw,
                "Take inputs as they are (IDX bytes are divided by 255 all the same)");
  // CLI11 takes 2^64 for 2^64 - 1, -1 for the same, and NaN for a number in any range.
  app->add_option_function<std::string>(
         "--seed", [learn](const std::string& text) { learn->seed = read_seed(text); },
         "Fixes every random number; default 0")
      ->type_name("S");
  add_run_options(app, &learn->threads, &learn->quiet);
}

// What fit and cv share.
void add_fit_options(CLI::App* app, FitRequest* request) {
  add_learn_options(app, &request->learn);
  add_preparation_options(app, &request->learn.preparation);
  app->add_option("--extrapolation", request->learn.extrapolation,
                  "What predictions do with inputs outside the training range: clip (default), "
                  "free or refuse")
      ->check(CLI::IsMember({"clip", "free", "refuse"}));
  app->add_option("--features", request->features, "Random features D; default 2048")
      ->check(CLI::Range(int64_t{1}, (int64_t{1} << 31) - 1))
      ->type_name("D");
  app->add_option("--estimator", request->estimator,
                  "Of classes: ridge (least squares) or logistic; default auto: ridge for up to "
                  "3,000 rows or where logistic takes longer, else logistic unless ridge is "
                  "better on rows held out by more than a standard error")
      ->check(CLI::IsMember({"auto", "ridge", "logistic"}));
  app->add_option("--ard", request->ard,
                  "A lengthscale for each input: default auto: learnt from dense rows of up to 100 "
                  "inputs, kept where it wins; off; on: always kept")
      ->check(CLI::IsMember({"auto", "off", "on"}));
  app->add_option("--weights", request->learn.columns.weights,
                  "Column with a weight for each row, >= 0 (0: left out), by name or number from "
                  "1; it is no input. Scores count rows by it")
      ->type_name("NAME|INDEX");
  app->add_option("--class-weight", request->class_weight,
                  "Of classes: none (default), or balanced: each weighs as much as another")
      ->check(CLI::IsMember({"none", "balanced"}));
}

void add_fit(CLI::App& app, FitRequest* request) {
  CLI::App* fit = app.add_subcommand("fit", "Fit a model; lengthscale and lambda are searched");
  add_fit_options(fit, request);
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
    run_fit(*request);
  });
}

void add_cv(CLI::App& app, CvRequest* request) {
  CLI::App* cv = app.add_subcommand(
      "cv", "Cross-validate: fit without each fold of the rows in turn, and score on it");
  add_fit_options(cv, &request->fit);
  cv->add_option("--folds", request->folds, "Folds; default 5")
      ->check(CLI::Range(int64_t{2}, int64_t{1000000}))
      ->type_name("K");
  cv->callback([request] {
    settle_train(&request->fit.learn);
    run_cv(*request);
  });
}

// Beside MODEL and TEST there is no telling which word is a column.
void add_test_columns(CLI::App* app, ColumnRequest* columns) {
  add_column_options(app, columns);
  app->add_option("--ignore", columns->ignore,
                  "Further columns of TEST that are left out, by name or number from 1: u,v or "
                  "repeated")
      ->type_name("COLUMN")
      ->allow_extra_args(false);
}

void add_predict(CLI::App& app, PredictRequest* request) {
  CLI::App* predict =
      app.add_subcommand("predict", "Predict; prints the score when TEST holds the target");
  predict->add_option("MODEL", request->model, "Model file; - is standard input")->required();
  predict
      ->add_option("TEST", request->test, "Rows, with or without the target; - is standard input")
      ->required();
  predict
      ->add_option(
          "-o,--output", request->predictions,
          "CSV to write; default -, standard output: the score then goes to standard error")
      ->type_name("PREDICTIONS.csv");
  predict->add_option("--labels", request->labels, "File of one column with the targets of TEST")
      ->type_name("FILE");
  add_test_columns(predict, &request->columns);
  predict
      ->add_option("--extrapolation", request->extrapolation,
                   "Inputs outside the training range: clip, free or refuse; default: as fitted")
      ->check(CLI::IsMember({"clip", "free", "refuse"}));
  predict->add_flag("--scores", request->scores,
                    "Classification: also a column of scores for every class");
  predict->add_flag("--probabilities", request->probabilities,
                    "Classification: also a column of probabilities for every class");
  add_run_options(predict, &request->threads, &request->quiet);
  predict->callback([request] { run_predict(*request); });
}

void add_score(CLI::App& app, ScoreRequest* request) {
  CLI::App* score = app.add_subcommand(
      "score",
      "Every metric of a model on rows with the target: R^2, RMSE, MAE; accuracy, AUC, "
      "log loss, calibration, confusion matrix");
  score->add_option("MODEL", request->model, "Model file; - is standard input")->required();
  score->add_option("TEST", request->test, "Rows with the target; - is standard input")->required();
  score->add_option("--labels", request->labels, "File of one column with the targets of TEST")
      ->type_name("FILE");
  add_test_columns(score, &request->columns);
  score
      ->add_option("--extrapolation", request->extrapolation,
                   "Inputs outside the training range: clip, free or refuse; default: as fitted")
      ->check(CLI::IsMember({"clip", "free", "refuse"}));
  add_run_options(score, &request->threads, &request->quiet);
  score->callback([request] { run_score(*request); });
}

void add_compare(CLI::App& app, CompareRequest* request) {
  CLI::App* compare =
      app.add_subcommand("compare", "Exact kernel ridge on a subsample against random features");
  add_learn_options(compare, &request->learn);
  compare->add_option("--features", request->features, "Sizes to compare; default 256,1024,4096")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(int64_t{1}, (int64_t{1} << 31) - 1))
      ->type_name("D,D,...");
  compare
      ->add_option("--rows", request->rows,
                   "Rows to fit on at most; default 4000 (exact: 8 n^2 bytes, n^3 time)")
      ->check(CLI::Range(int64_t{2}, int64_t{1} << 20))
      ->type_name("N");
  compare->callback([request] {
    settle_train(&request->learn);
    run_compare(*request);
  });
}

void add_relevance(CLI::App& app, RelevanceRequest* request) {
  CLI::App* relevance = app.add_subcommand(
      "relevance",
      "How much each input moves the predictions of a model on rows, in standard deviations of "
      "both: by derivatives, of text and two-valued inputs by switching");
  relevance->add_option("MODEL", request->model, "Model file; - is standard input")->required();
  relevance
      ->add_option("DATA", request->data, "Rows, with or without the target; - is standard input")
      ->required();
  relevance
      ->add_option("-o,--output", request->output,
                   "Also write it: FILE.html a page with a plot, another name JSON")
      ->type_name("FILE");
  add_column_options(relevance, &request->columns);
  add_run_options(relevance, &request->threads, &request->quiet);
  relevance->callback([request] { run_relevance(*request); });
}

void add_rest(CLI::App& app, std::string* file, std::string* name) {
  CLI::App* info = app.add_subcommand("info", "What a map or model file holds");
  info->add_option("FILE", *file, "Map, model or statistics file; - is standard input")->required();
  info->callback([file] { run_info(*file); });
  CLI::App* specs =
      app.add_subcommand("specs", "Kernels and maps: parameters, types, ranges, help");
  specs->add_option("NAME", *name, "One of them; default all");
  specs->callback([name] { run_specs(*name); });
}

int complain(std::string command, std::string text) {
  std::fflush(stdout);  // what was printed before stands before, in a pipe as well
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (!command.empty()) command += ": ";
  std::fprintf(stderr, "mercer: %s%s\n", command.c_str(), text.c_str());
  return 1;
}

std::string command_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? "" : chosen.front()->get_name();
}

int run(int argc, char** argv) {
  CLI::App app(
      "Random feature maps of kernels, and what is learnt on them.\n"
      "Errors of files name file:line:field; lines, fields, rows and columns count from 1.");
  app.name("mercer");
  app.set_version_flag("--version", std::string("mercer ") + mercer::version());
  app.require_subcommand(1);
  FitRequest fit;
  CvRequest cv;
  PredictRequest predict;
  ScoreRequest score;
  CompareRequest compare;
  RelevanceRequest relevance;
  std::string file;
  std::string name;
  add_fit(app, &fit);
  add_cv(app, &cv);
  add_predict(app, &predict);
  add_score(app, &score);
  add_compare(app, &compare);
  add_relevance(app, &relevance);
  add_rest(app, &file, &name);
  try {
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0) return complain(command_of(app), "standard output: cannot write");
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    if (app.get_subcommands().empty()) return complain("", command_fault(app, argc, argv));
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
      return complain(command_of(app), surplus_fault(*app.get_subcommands().front()));
    return complain(command_of(app), error.what());
  } catch (const Failure& error) {
    return complain(command_of(app), error.what());
  } catch (const mercer::Error& error) {
    return complain(command_of(app), message_of(error));
  } catch (const std::bad_alloc&) {
    return complain(command_of(app), "out of memory");
  } catch (const std::exception& error) {
    return complain(command_of(app), error.what());
  }
}

// glibc raises its threshold for mapping memory each time a mapped block is freed, up to 32 MiB;
// blocks of rows then stay in a heap that fragments around the Gram matrices. Fixed, every large
// array goes back when it is freed: a fit at 4,096 features peaks a fifth lower.
void return_large_blocks() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  return_large_blocks();
  install_interrupt_handler();
  return run(argc, argv);
}
