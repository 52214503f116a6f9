// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of the commands that apply a model to rows, that make features, and that describe.
#include <memory>

#include "failure.h"
#include "options/shared.h"

namespace mercer::cli {
namespace {

/// A command that applies a model to rows, and what its options fill in for `run`.
struct ApplyCommand {
  CLI::App* app;
  std::shared_ptr<ApplyRequest> request = std::make_shared<ApplyRequest>();

  ApplyCommand(CLI::App& all, const char* name, const char* about, const char* rows,
               const char* about_rows, void (*run)(const ApplyRequest&))
      : app(all.add_subcommand(name, about)) {
    app->callback([run, rows, request = request] {
      if (request->model == "-" && request->rows == "-")
        throw CLI::ValidationError(std::string("MODEL and ") + rows,
                                   "cannot both be standard input");
      run(*request);
    });
    app->option_defaults()->group("Data");
    app->add_option("MODEL", request->model, "Model file; - is standard input")->required();
    app->add_option(rows, request->rows, about_rows)->required();
    add_column_options(app, &request->columns);
  }
  /// Of rows that may have targets.
  void add_test_options() const {
    add_text(app, "--labels", &request->labels, "FILE",
             "File of one column with the targets of TEST");
    add_text(app, "--weights", &request->columns.weights, "NAME|INDEX",
             "Column of TEST with a weight for each row, >= 0, by which scores count rows, by name "
             "or number from 1; it is no input. Default: every row counts as another");
    app->option_defaults()->group("Predictions");
    add_choice(app, "--extrapolation", &request->extrapolation, {"clip", "free", "refuse"},
               "Inputs outside the training range; default: as fitted");
    add_choice(app, "--class", &request->class_by, {"auto", "probability", "score"},
               "Classification: the class is the most probable one, or that of the largest score; "
               "default auto: the most probable, or of the largest score where the fit had "
               "--class-weight balanced, so as to find rare classes");
  }
};

/// Of a command on rows of numbers and a map or, without one, a kernel.
void add_map_options(CLI::App* app, TransformRequest* request, bool has_map,
                     const char* lengthscale) {
  app->option_defaults()->group("Data");
  app->add_option("ROWS", request->rows, "Rows of numbers; - is standard input")->required();
  add_form_options(app, &request->columns);
  add_column_options(app, &request->columns);
  app->option_defaults()->group("Map");
  add_plan_options(app, &request->plan, lengthscale, has_map);
  app->add_option("-D,--features", request->features, "Features; default 2048")
      ->check(whole_number(1, (int64_t{1} << 31) - 1))
      ->type_name("D");
  add_seed(app, &request->seed);
}

}  // namespace

void add_predict(CLI::App& app) {
  const ApplyCommand predict(app, "predict", "Predict; prints the score when TEST holds the target",
                             "TEST", "Rows, with or without the target; - is standard input",
                             run_predict);
  ApplyRequest* const request = predict.request.get();
  add_list(predict.app, "--id", &request->columns.ids, "COLUMN",
           "Columns of TEST that are written as they stand before the predictions, by name "
           "or number from 1: u,v or repeated; they may be unknown to the model");
  predict.add_test_options();
  predict.app->add_flag("--scores", request->scores,
                        "Classification: also a column of scores for every class");
  predict.app->add_flag(
      "--probabilities", request->probabilities,
      "Classification: also a column of probabilities for every class, calibrated "
      "to how often classes occur");
  predict.app->add_flag("--explain", request->explain,
                        "Also how the prediction comes about: that of a typical row (medians, and "
                        "the most frequent texts) and what each input adds to it, which sum up to "
                        "the prediction; of classes to the probability of the predicted one");
  predict.app->add_flag("--variance", request->variance,
                        "Model gp: also the variance of a new target, its noise included");
  add_reader(predict.app, "--interval", "SHARE",
             "Model gp: also the ends of an interval that holds this share of new targets",
             [request](const std::string& text) {
               request->interval = read_fraction("--interval", text);
               if (request->interval == 0)
                 throw Failure("--interval 0: expected a number > 0 and < 1");
             });
  predict.app
      ->add_option("--samples", request->samples,
                   "Model gp: also as many draws of the function, the same rows after rows")
      ->check(whole_number(1, 1000000))
      ->type_name("N");
  add_seed(predict.app, &request->seed);
  predict.app->add_flag(
      "--stream", request->stream,
      "Read a file that is not packed, or standard input, and write block by block, "
      "in the memory of one; without a score");
  add_text(predict.app, "-o,--output", &request->output, "PREDICTIONS.csv",
           "CSV to write; default -, standard output: the score then goes to standard error");
  add_run_options(predict.app, &request->run);
  predict.app->footer(
      "Examples:\n"
      "  mercer predict model.mercer test.csv -o predictions.csv\n"
      "  mercer predict model.mercer test.csv --id name --probabilities > predictions.csv\n"
      "  mercer predict gp.mercer test.csv --interval 0.9 > intervals.csv");
}

void add_score(CLI::App& app) {
  const ApplyCommand score(app, "score",
                           "Every metric of a model on rows with the target: R^2, RMSE, MAE; "
                           "accuracy, AUC, log loss, calibration, confusion matrix",
                           "TEST", "Rows with the target; - is standard input", run_score);
  score.add_test_options();
  score.app->add_flag("--stream", score.request->stream,
                      "Read a file that is not packed, or standard input, block by block: of a row "
                      "its predictions and targets stay in memory");
  add_run_options(score.app, &score.request->run);
}

void add_update(CLI::App& app) {
  const ApplyCommand update(app, "update",
                            "Add rows to a model fitted with --keep sums, or take rows away, "
                            "without the others",
                            "ROWS", "Rows with the target; - is standard input", run_update);
  ApplyRequest* const request = update.request.get();
  add_text(update.app, "--labels", &request->labels, "FILE",
           "File of one column with the targets of ROWS");
  add_text(update.app, "--weights", &request->columns.weights, "NAME|INDEX",
           "Column with a weight for each row, in units of those of the fit");
  update.app
      ->add_option("--decay", request->decay, "Factor of the weights of the rows before; default 1")
      ->type_name("SHARE");
  update.app->add_flag("--remove", request->remove, "Take the rows away instead");
  add_text(update.app, "-o,--output", &request->output, "MODEL",
           "Model to write; default -, standard output");
  add_run_options(update.app, &request->run);
}

void add_relevance(CLI::App& app) {
  const ApplyCommand relevance(
      app, "relevance",
      "How much each input moves the predictions of a model: rows get another row's value of it "
      "(above 2,000 inputs: derivatives); in standard deviations of inputs and predictions",
      "DATA", "Rows, with or without the target; - is standard input", run_relevance);
  add_run_options(relevance.app, &relevance.request->run);
}

void add_transform(CLI::App& app) {
  const auto request = std::make_shared<TransformRequest>();
  CLI::App* transform = app.add_subcommand(
      "transform", "Features of rows, which are taken as they are, and the map that makes them");
  add_map_options(transform, request.get(), true,
                  "In the units of the rows; default auto: that of the kernel's spec, else 1");
  add_text(transform, "--read-map", &request->map, "FILE", "Take the map of this file instead")
      ->excludes("--kernel")
      ->excludes("--map")
      ->excludes("--lengthscale");
  transform->option_defaults()->group("Results");
  add_text(transform, "-o,--output", &request->output, "FILE",
           "FILE.npy, or another name for CSV; default -, CSV on standard output");
  add_text(transform, "--write-map", &request->written, "FILE", "Also write the map, for programs");
  transform->add_flag(
      "--stream", request->stream,
      "Read a file that is not packed, or standard input, and write block by block, "
      "in the memory of one; the map is that of --read-map, or needs no rows");
  add_run_options(transform, &request->run);
  transform->footer(
      "Examples:\n"
      "  mercer transform train.csv --ignore y -D 512 -o train.npy --write-map map.mercer\n"
      "  mercer transform test.csv --ignore y --read-map map.mercer -o test.npy");
  transform->callback([request] { run_transform(*request); });
}

void add_recommend(CLI::App& app) {
  const auto request = std::make_shared<TransformRequest>();
  CLI::App* recommend = app.add_subcommand(
      "recommend", "Which maps of a kernel come near it on rows like these, and how fast they are");
  add_map_options(recommend, request.get(), false,
                  "In units of the standardised rows; default auto: their median distance");
  add_reader(
      recommend, "--error", "E",
      "Of the kernel matrix, relative: maps that reach it with at most -D features, the fastest "
      "first; default: the least error with -D features",
      [request](const std::string& text) { request->error = read_fraction("--error", text); });
  recommend->add_flag("--no-standardize", request->raw, "Take rows as they are");
  add_run_options(recommend, &request->run);
  recommend->callback([request] { run_recommend(*request); });
}

void add_two_samples(CLI::App& app) {
  struct Test {
    std::string name, help, features, permutations;
  };
  for (const Test& test :
       {Test{"mmd", "Whether rows of two files have one distribution, and which differ most",
             "8 sqrt(rows), from 128 to 1024", "500"},
        {"kid", "Kernel inception distance of image features, or pixels, in two files", "4096",
         "500"},
        {"hsic", "Whether row i of one file depends on row i of another", "64", "200"}}) {
    const auto request = std::make_shared<TwoSampleRequest>();
    Json* const spec = &request->spec;
    (*spec)["test"] = test.name;
    CLI::App* command = app.add_subcommand(test.name, test.help);
    command->callback([request] { run_two_samples(*request); });
    command->option_defaults()->group("Data");
    for (const size_t side : {0, 1})
      add_text(command, side == 0 ? "X" : "Y", &request->rows[side], "TEXT",
               "Rows of numbers: CSV, libsvm or .npy, plain or gzip, or HDF5; - is standard input")
          ->required();
    add_form_options(command, &request->columns);
    add_column_options(command, &request->columns);
    command->option_defaults()->group("Test");
    add_whole(command, "-D,--features", spec, "features", 1 << 20,
              "Of each kernel; default " + test.features);
    add_whole(command, "--permutations", spec, "permutations", 100000,
              "Behind the p-value; 0: the gamma limit; default " + test.permutations, 0);
    if (test.name != "kid")
      command->add_flag_function(
          "--no-standardize", [=](int64_t) { (*spec)["scale"] = "none"; },
          "Take columns as they are, not over their deviations (of mmd in both files together)");
    if (test.name == "hsic")
      command->add_flag_function(
          "--labels", [=](int64_t) { (*spec)["labels"] = true; },
          "Y is one column of labels, which may be text");
    if (test.name != "hsic")
      command->add_flag("--stream", request->stream,
                        "Read the files block by block, four times, for more rows than memory "
                        "holds; a sample of both says the bandwidths; no rows are named");
    if (test.name == "mmd")
      add_text(command, "--report", &request->report, "FILE",
               "Also write FILE.html, a page with a plot, or all that is known as JSON")
          ->excludes("--stream");
    add_reader(command, "--seed", "S", "Fixes every random number; default 0",
               [=](const std::string& text) { (*spec)["seed"] = read_seed(text); });
    add_run_options(command, &request->run);
  }
}

void add_export(CLI::App& app) {
  const auto model = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("export", "A model as a graph of ONNX, for runtimes without the library");
  command->add_option("MODEL", *model, "Model file; - is standard input")->required();
  add_text(command, "-o,--output", output.get(), "MODEL.onnx",
           "File to write: operator set 13, doubles; -: standard output")
      ->required();
  command->callback([model, output] { run_export(*model, *output); });
}

void add_info_commands(CLI::App& app) {
  struct InfoCommand {
    const char *name, *help, *word, *word_help;
    bool required;
    void (*run)(const std::string& word, bool json);
  };
  for (const InfoCommand& one :
       {InfoCommand{"info", "What a map or model file holds", "FILE",
                    "Map, model or statistics file", true, run_info},
        {"specs", "Kernels and maps: parameters, types, ranges, help", "NAME",
         "One of them; default all", false, run_specs},
        {"doctor", "Whether this machine computes what every other does, and how fast", nullptr,
         nullptr, false, run_doctor}}) {
    const auto word = std::make_shared<std::string>();
    const auto json = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand(one.name, one.help);
    if (one.word != nullptr)
      command->add_option(one.word, *word, one.word_help)->required(one.required);
    command->add_flag("--json", *json, "Print one JSON object");
    command->callback([run = one.run, word, json] { run(*word, *json); });
  }
}

}  // namespace mercer::cli
