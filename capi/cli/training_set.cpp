// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From a file to numbers a fit can use, with every automatic choice printed.
#include "training_set.h"

#include "failure.h"
#include "session.h"
#include "split.h"
#include "suspicious.h"
#include "task.h"
#include "tell_training.h"
#include "words.h"

namespace mercer::cli {

namespace {

// What is missing in every row cannot be filled.
MissingInputs check_missing(const Dataset& data) {
  MissingInputs missing = missing_inputs(data);
  for (int64_t j = 0; j < data.d; ++j) {
    if (missing.per_input[static_cast<size_t>(j)] < data.n) continue;
    fail_at(data.name, 0, 0,
            "column " + shown(input_name(data, j)) + " is empty in every row: --ignore " +
                typed(input_name(data, j)) + " leaves it out");
  }
  return missing;
}

bool fills_missing(const LearnRequest& request) { return request.preparation.missing != "refuse"; }

Dataset read_data(const LearnRequest& request) {
  if (request.ordered && !request.columns.groups.empty())
    throw Failure("--groups: does not go with --ordered");
  const std::string& scale = request.preparation.scale;
  const bool scales = !scale.empty() && scale != "standard" && scale != kUnscaled;
  if (scales && request.preparation.raw)
    throw Failure("--scale " + scale + ": does not go with --no-standardize");
  TargetRequest targets = request.targets;
  targets.as_text = request.task == "classification";
  targets.gaps = request.gaps;
  ColumnRequest columns = request.columns;
  columns.missing = fills_missing(request);
  Dataset data = read_training(request.train, targets, columns);
  if (scales && data.bytes)
    throw Failure("--scale " + scale +
                  ": bytes of IDX files are divided by 255 and not standardised");
  return data;
}

// What a model keeps of the columns of its file.
void keep_columns(const Dataset& data, const LearnRequest& request, Metadata* kept) {
  kept->inputs = data.input_names;
  kept->targets = data.target_names;
  kept->target_columns = data.target_columns;
  kept->bytes = data.bytes;
  kept->missing = fills_missing(request);
  kept->header = request.columns.header;
  kept->weights = data.weights_name;
  kept->ignored = data.ignored_names;
  kept->ignored_columns = data.ignored_columns;
  kept->encodings = choose_encodings(data);
  kept->forms = data.forms;
  kept->words = data.words;
  kept->missing_words = request.columns.missing_words;
}

}  // namespace

TrainingSet read_training_set(const LearnRequest& request, const Streams& streams) {
  const Stopwatch watch;
  TrainingSet set;
  set.data = read_data(request);
  Reading reading{.rows = set.data.n, .seconds = watch.seconds()};
  reading.task_chosen = request.task == "auto";
  reading.weightless = leave_out_weightless(&set.data);
  if (fills_missing(request)) reading.missing = check_missing(set.data);
  const Task task = choose_task(set.data, request.task);
  if (task.classification) require_targets(set.data);
  reading.targets = missing_targets(set.data);
  if (request.class_weight == "balanced" && !task.classification)
    throw Failure("--class-weight balanced: the task is a regression");
  set.metadata.classification = task.classification;
  if (task.classification) {
    set.metadata.classes = number_classes(&set.data);
    refuse_target_text(set.data);
    set.metadata.text_labels = set.data.text;
    set.K = std::ssize(set.metadata.classes);
  }
  keep_columns(set.data, request, &set.metadata);
  set.standardize =
      !request.preparation.raw && request.preparation.scale != kUnscaled && !set.data.bytes;
  tell_training(set, task, reading, streams);
  encode(set.metadata.encodings, &set.data);
  if (set.data.bytes) scale_bytes(&set.data);
  return set;
}

}  // namespace mercer::cli
