// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of the commands that fit: fit, cv and compare.
#include <unistd.h>

#include "failure.h"
#include "options/command_line.h"
#include "options/shared.h"

namespace mercer::cli {

void settle_train(LearnRequest* learn) {
  for (std::vector<std::string>* columns :
       {&learn->targets.targets, &learn->columns.ignore, &learn->columns.text}) {
    if (!learn->train.empty() || columns->size() < 2) continue;
    const std::string last = columns->back();
    if (last != "-" && ::access(last.c_str(), F_OK) != 0) continue;
    learn->train = last;
    columns->pop_back();
  }
  if (!learn->train.empty()) return;
  for (const std::vector<std::string>& columns :
       {learn->targets.targets, learn->columns.ignore, learn->columns.text})
    if (columns.size() > 1) throw Failure("TRAIN: " + shown(columns.back()) + ": no such file");
  throw CLI::RequiredError("TRAIN");
}

namespace {

// Of the model.
void add_plan_options(CLI::App* app, PlanRequest* plan) {
  app->add_option("--kernel", plan->kernel,
                  "Kernel: a name, or a JSON spec (see: mercer specs); default that of the map: "
                  "gaussian for fourier")
      ->type_name("JSON|NAME");
  app->add_option("--map", plan->map,
                  "Feature map: a name, or a JSON spec; default that of the kernel")
      ->type_name("JSON|NAME");
  app->add_option("--lengthscale", plan->lengthscale,
                  "In units of the standardised inputs; default auto: searched")
      ->type_name("L|auto");
  app->add_option("--lambda", plan->lambda, "Regularisation per row; default auto: searched")
      ->type_name("L|auto");
}

// What is learnt.
void add_target_options(CLI::App* app, LearnRequest* learn) {
  add_columns(app, "--target", &learn->targets.targets,
              "Target columns, by name or number from 1: u v, u,v or repeated. Default: the "
              "columns named y or y1, y2, ..., else the last");
  app->add_option("--labels", learn->targets.labels,
                  "File of one column with the targets; default for IDX: the name with labels-idx1 "
                  "for images-idx3")
      ->type_name("FILE");
  static constexpr const char* kTask[] = {"regression", "classification", "auto"};
  add_choice(app, "--task", &learn->task, kTask,
             "Default auto: classification iff labels are text, or the whole numbers 0..K-1, 1..K "
             "or -1 and 1 in at least 20 K rows (10 of two classes) and not like counts");
}

// How columns that are no targets are read.
void add_input_options(CLI::App* app, LearnRequest* learn) {
  add_column_options(app, &learn->columns);
  add_columns(app, "--ignore", &learn->columns.ignore,
              "Columns left out, by name (all of that name) or number from 1, '' for the one "
              "without a name; as many as --target takes");
  add_columns(app, "--text", &learn->columns.text,
              "Columns of a CSV that are text, though they hold numbers or nearly so; as many as "
              "--target takes");
  add_choice(app, "--missing", &learn->preparation.missing, kMissingWords,
             "Missing inputs (empty, NA, NaN, N/A, null, ?, what --missing-word says, one or two "
             "words in a column of numbers): refused (default), filled with the median, or filled "
             "and flagged by an input of 0 and 1 each, as in specs");
}

// How much rows count.
void add_weight_options(CLI::App* app, LearnRequest* learn) {
  app->add_option("--weights", learn->columns.weights,
                  "Column with a weight for each row, >= 0 (0: left out), by name or number from "
                  "1; it is no input. Fits, choices and scores count rows by it; splits, "
                  "landmarks and the threshold of input_bits take rows as they are")
      ->type_name("NAME|INDEX");
  add_choice(app, "--class-weight", &learn->class_weight, kClassWeightWords,
             "Of classes: none (default), or balanced: each weighs as much as another in fits and "
             "choices, not in scores");
}

}  // namespace

void add_learn_options(CLI::App* app, LearnRequest* learn) {
  app->add_option("TRAIN", learn->train,
                  "CSV, libsvm, .npy or IDX, plain or gzip; - is standard input (required)");
  add_plan_options(app, &learn->plan);
  add_target_options(app, learn);
  add_input_options(app, learn);
  add_weight_options(app, learn);
  app->add_flag("--no-standardize", learn->preparation.raw,
                "Take inputs as they are (IDX bytes are divided by 255 all the same)");
  // CLI11 takes 2^64 for 2^64 - 1, -1 for the same, and NaN for a number in any range.
  app->add_option_function<std::string>(
         "--seed", [learn](const std::string& text) { learn->seed = read_seed(text); },
         "Fixes every random number; default 0")
      ->type_name("S");
  add_run_options(app, &learn->threads, &learn->quiet);
}

}  // namespace mercer::cli
