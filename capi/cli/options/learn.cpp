// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of the commands that fit: fit, cv and compare.
#include <memory>
#include <utility>

#include "failure.h"
#include "options/shared.h"
#include "processes.h"
#include "scoring.h"

namespace mercer::cli {
namespace {

constexpr int64_t kMostFeatures = (int64_t{1} << 31) - 1;

/// Words and numbers that a part of the fit's spec is, by its place there.
CLI::Option* add_word(CLI::App* app, const char* name, Json* spec, const char* place,
                      const Words& words, const char* help) {
  return add_reader(app, name, CLI::detail::join(words, "|").c_str(), help,
                    [=](const std::string& word) { (*spec)[Json::json_pointer(place)] = word; })
      ->check(one_of(words));
}

void add_number(CLI::App* app, const char* name, Json* spec, const char* place, const char* help) {
  add_reader(app, name, "NUMBER", help, [=](const std::string& text) {
    double number = 0;
    if (parse_number(text, &number) != NumberKind::finite)
      throw Failure(std::string(name) + " " + shown(text) + ": expected a number");
    (*spec)[Json::json_pointer(place)] = number;
  });
}

// What is learnt from which columns.
void add_data_options(CLI::App* app, LearnRequest* learn) {
  app->option_defaults()->group("Data");
  app->add_option("TRAIN", learn->train,
                  "CSV, libsvm or .npy, plain or gzip, or HDF5; - is standard input")
      ->required();
  add_list(app, "--target", &learn->targets.targets, "COLUMN",
           "Target columns, by name or number from 1: u,v or repeated. Default: the columns named "
           "y (not beside x and z) or y1, y2, ..., else the last");
  add_text(app, "--labels", &learn->targets.labels, "FILE", "File of one column with the targets");
  add_choice(
      app, "--task", &learn->task, {"regression", "classification", "auto"},
      "Default auto: classification if the labels are text, or the whole numbers 0 to K - 1, 1 "
      "to K, or -1 and 1, with at least 20 rows for each class (10 of two classes), unless "
      "they fall off as counts do");
  add_list(
      app, "--text", &learn->columns.text, "COLUMN",
      "Columns of a CSV that are text, though they hold numbers or nearly so: u,v or repeated");
  add_text(app, "--weights", &learn->columns.weights, "NAME|INDEX",
           "Column with a weight for each row, >= 0 (0: left out), by name or number from "
           "1; it is no input. Fits, choices and scores count rows by it");
  add_form_options(app, &learn->columns);
  add_column_options(app, &learn->columns);
}

void add_learn_options(CLI::App* app, LearnRequest* learn) {
  add_data_options(app, learn);
  app->option_defaults()->group("Preparation");
  add_word(app, "--missing", &learn->spec, "/prepare/missing", {"refuse", "fill", "flag"},
           "Missing inputs (empty, NA, NaN, N/A, null, ?, what --missing-word says): refused "
           "(default), filled with the median, or filled and flagged by an input of 0 and 1 each");
  app->add_flag("--no-standardize", learn->raw, "Take inputs as they are");
  app->option_defaults()->group("Model");
  add_plan_options(app, &learn->plan,
                   "In units of the standardised inputs; default auto: searched");
  add_text(app, "--lambda", &learn->plan.lambda, "L|auto",
           "Regularisation per row; default auto: searched");
  add_word(app, "--class-weight", &learn->spec, "/class_weight", {"none", "balanced"},
           "Of classes: none (default), or balanced: each weighs as much as another in fits and "
           "choices, not in scores");
  add_seed(app, &learn->seed);
}

void add_preparation_options(CLI::App* app, LearnRequest* learn) {
  app->option_defaults()->group("Preparation");
  const Words transforms = {"none", "log", "rank", "auto"};
  const Words scales = {"standard", "robust", "center", "common", "none"};
  add_reader(app, "--scale", CLI::detail::join(scales, "|").c_str(),
             "Inputs by mean and deviation (default), median and quartiles, mean alone, mean and "
             "one unit for all (common, the default of fields), or as they are",
             [learn](const std::string& word) {
               if (word == "none") learn->raw = true;
               if (word != "none") learn->spec["prepare"]["scale"] = word;
             })
      ->check(one_of(scales))
      ->excludes("--no-standardize");
  add_word(app, "--transform", &learn->spec, "/prepare/transform", transforms,
           "Inputs: log of skewed ones, normal ranks, or (auto, the default) what wins where the "
           "lengthscale is searched");
  add_word(app, "--target-transform", &learn->spec, "/prepare/target_transform", transforms,
           "Targets of a regression; predictions are those of the targets as given");
  app->add_flag_function(
      "--unit-rows", [learn](int64_t) { learn->spec["prepare"]["unit_rows"] = true; },
      "Scale prepared rows to norm 1");
  add_word(app, "--extrapolation", &learn->spec, "/prepare/extrapolation",
           {"clip", "free", "refuse"},
           "What predictions do with inputs outside the training range: clip (default), free or "
           "refuse");
}

/// How many features, and how long a search takes.
void add_size_options(CLI::App* app, Json* spec, FitRequest* request) {
  app->add_option(
         "-D,--features", request->features,
         "Random features D. Default 2048, of up to 4,096 rows the kernel itself; doubled while "
         "held-out rows gain by it. A map made of rows has at most one for each")
      ->check(whole_number(1, kMostFeatures))
      ->type_name("D");
  add_whole(
      app, "--most-features", spec, "most_features", kMostFeatures,
      "The most that the default of --features is doubled to; default 4096, or less where its "
      "square times the rows exceeds 2^38")
      ->excludes("--features");
  add_number(app, "--budget", spec, "/budget",
             "Seconds within which a search ends, about: a warning says what it had no time for");
  app->add_flag_function(
      "--fast", [spec](int64_t) { (*spec)["effort"] = "quick"; },
      "A quick search: one lengthscale for all inputs, inputs and targets as they are, 2048 "
      "features, least squares, and the score of a fifth to a tenth of the rows instead of "
      "repeated searches; other options have their way. Final scores are often lower");
}

/// What is fitted, and what is least.
void add_estimator_options(CLI::App* app, Json* spec) {
  add_word(app, "--estimator", spec, "/model",
           {"auto", "ridge", "logistic", "gp", "dirichlet", "svgp"},
           "gp: a Gaussian process, whose predictions have intervals; of classes: ridge (least "
           "squares), logistic, dirichlet or svgp (Gaussian processes); default auto: ridge, or "
           "logistic where that is better on held-out rows of a large table");
  add_word(
      app, "--loss", spec, "/loss",
      {"huber", "log_cosh", "epsilon_insensitive", "quantile", "poisson", "hinge", "squared_hinge"},
      "Fitted with the map that the search finds by squares: huber, log_cosh (few wrong "
      "targets change little), epsilon_insensitive (small errors count nothing), quantile "
      "(--tau), poisson (counts, whose means are predicted), of classes hinge, squared_hinge. "
      "Scores are those of the loss: 1 is perfect, 0 the best constant")
      ->excludes("--estimator");
  add_number(app, "--tau", spec, "/tau", "Of --loss quantile: the share of targets below it");
  add_number(
      app, "--delta", spec, "/delta",
      "Of --loss huber, log_cosh: where squares end; epsilon_insensitive: where it is no longer "
      "0; default 1.345, 1.205 and 0.612 robust deviations of residuals");
  add_word(app, "--keep", spec, "/keep", {"nothing", "sums"},
           "sums: of the rows, 4 D^2 bytes, for mercer update; a regression, or classes by least "
           "squares");
}

void add_model_options(CLI::App* app, FitRequest* request) {
  Json* const spec = &request->learn.spec;
  app->option_defaults()->group("Model");
  add_size_options(app, spec, request);
  add_estimator_options(app, spec);
  add_word(app, "--ard", spec, "/ard", {"auto", "off", "on"},
           "A lengthscale for each input: default auto: learnt from dense rows of up to 100 "
           "inputs, kept where it wins; off; on: always kept");
  add_text(
      app, "--operator", &request->operation, "NAME[:...]|JSON",
      "How several targets belong together: curl_free, divergence_free or helmholtz (fields: as "
      "many targets as inputs), helmholtz:ALPHA, decomposable (targets that correlate), "
      "decomposable:similarity, decomposable:GRAPH.csv (weights between targets), the JSON spec "
      "of such a kernel or of outputs, or auto: correlations, of 2 or 3 inputs and as many "
      "targets a field, where they clearly win. --kernel is the kernel of each. Default: each "
      "target by itself")
      ->check([](const std::string& name) {
        return name.empty()
                   ? "expected the name of a kernel of several outputs or a JSON spec, not nothing"
                   : "";
      });
}

// What fit and cv share.
void add_fit_options(CLI::App* app, FitRequest* request) {
  LearnRequest* const learn = &request->learn;
  learn->gaps = true;
  add_learn_options(app, learn);
  app->option_defaults()->group("Data");
  add_text(app, "--groups", &learn->columns.groups, "NAME|INDEX",
           "Column that says which rows belong together (a person, a place, a batch), by "
           "name or number from 1; it is no input. Rows of a group are never on both sides "
           "of a split, so that scores are those of new groups");
  app->add_flag("--ordered", learn->ordered,
                "Rows are in the order of time: what is held out is later than what it is "
                "predicted from, in the search, the score, --test-fraction and cv")
      ->excludes("--groups");
  add_preparation_options(app, learn);
  add_model_options(app, request);
}

/// A loss says what the task is; what it does not go with is refused.
void settle_loss(FitRequest* request) {
  const Json& spec = request->learn.spec;
  const std::string loss = request->learn.loss();
  const LossRow* const row = find_loss(loss);
  for (const auto& [key, of] :
       {std::pair{"tau", "quantile"}, {"delta", "huber, log_cosh or epsilon_insensitive"}})
    if (spec.contains(key) && (row == nullptr || row->reads != std::string(key)))
      throw Failure(std::string("--") + key + ": is of --loss " + of);
  if (row == nullptr) return;
  const std::string task = row->task;
  if (request->learn.task == "auto") request->learn.task = task;
  if (request->learn.task != task)
    throw Failure("--loss " + loss + ": is of a " + task + ", --task says " + request->learn.task);
}

}  // namespace

void add_fit(CLI::App& app) {
  const auto request = std::make_shared<FitRequest>();
  CLI::App* fit = app.add_subcommand("fit", "Fit a model; lengthscale and lambda are searched");
  add_fit_options(fit, request.get());
  fit->option_defaults()->group("Results");
  add_text(fit, "-o,--output", &request->model, "MODEL",
           "Model file to write; - is standard output, pipes and devices are written to")
      ->required();
  add_reader(fit, "--test-fraction", "F",
             "Hold this fraction of the rows out and print their score",
             [request](const std::string& text) {
               request->test_fraction = read_fraction("--test-fraction", text);
             });
  fit->add_flag(
      "--stream", request->stream,
      "Read TRAIN block by block as often as the fit needs it, for more rows than memory holds: a "
      "sample of them is searched, and all are fitted. CSV, libsvm, .npy or HDF5, unpacked, or a "
      "pattern of such files in quotes: 'part-*.csv'. mercer-mpi always does");
  add_text(fit, "--checkpoint", &request->checkpoint, "FILE",
           "With --stream: keep in FILE how far the fit is, so that the same command goes on there "
           "after a crash and gives the same model; removed in the end. Processes of mercer-mpi "
           "have FILE.0, FILE.1, ...");
  add_list(fit, "--report", &request->report, "FILE",
           "Also write what is known of the fit, with a learning curve, the importance of inputs "
           "and the errors on rows not fitted on: FILE.html a page with plots, another name JSON; "
           "repeats");
  add_run_options(fit, &request->learn.run);
  fit->footer(
      "Examples:\n"
      "  mercer fit train.csv -o model.mercer\n"
      "  mercer fit train.csv -o model.mercer --target price --missing flag --report fit.html\n"
      "  mercer fit train.csv -o model.mercer --kernel matern -D 4096 --test-fraction 0.2");
  fit->callback([request] {
    settle_loss(request.get());
    request->stream = request->stream || processes().shares();
    run_fit(*request);
  });
}

void add_cv(CLI::App& app) {
  const auto request = std::make_shared<CvRequest>();
  CLI::App* cv = app.add_subcommand(
      "cv", "Cross-validate: fit without each fold of the rows in turn, and score on it");
  add_fit_options(cv, &request->fit);
  cv->option_defaults()->group("Results");
  add_reader(cv, "--folds", "K|loo",
             "Folds; default 5; loo, or as many as rows: one row in each (leave-one-out)",
             [request](const std::string& text) { request->folds = read_folds(text); });
  add_run_options(cv, &request->fit.learn.run);
  cv->callback([request] {
    settle_loss(&request->fit);
    run_cv(*request);
  });
}

void add_compare(CLI::App& app) {
  const auto request = std::make_shared<CompareRequest>();
  CLI::App* compare =
      app.add_subcommand("compare",
                         "Exact kernel ridge on a subsample against random features and, "
                         "up to 2,000 inputs, a linear model");
  request->learn.gaps = true;
  add_learn_options(compare, &request->learn);
  compare->add_option("-D,--features", request->features, "Sizes to compare; default 256,1024,4096")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(1, kMostFeatures))
      ->type_name("D,D,...");
  compare
      ->add_option("--rows", request->rows,
                   "Rows to fit on at most; default 4000 (exact: 8 n^2 bytes, n^3 time)")
      ->check(whole_number(2, int64_t{1} << 20))
      ->type_name("N");
  add_run_options(compare, &request->learn.run);
  compare->callback([request] { run_compare(*request); });
}

}  // namespace mercer::cli
