// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From a file to numbers a fit can use, with every automatic choice printed.
#include "training_set.h"

#include "failure.h"
#include "gaps.h"
#include "session.h"
#include "split.h"
#include "suspicious.h"
#include "task.h"

namespace mercer::cli {

namespace {

/// What came of reading the file.
struct Reading {
  int64_t rows = 0;        // of the file
  int64_t weightless = 0;  // of these left out
  double seconds = 0;
  MissingInputs missing = {};
  std::string targets = {};  // which rows lack
  bool task_chosen = false;  // here, not by the caller
};

std::string target_text(const Dataset& data) {
  if (!data.labels_name.empty()) return data.labels_name;
  if (data.format == Format::libsvm) return "the labels";
  std::string text;
  for (int64_t k = 0; k < data.m; ++k)
    text += (!text.empty()               ? ", "
             : data.target_names.empty() ? "column "
                                         : "") +
            target_name(data, k);
  return text;
}

void describe(const Encoding& encoding, const Metadata& metadata, std::FILE* out) {
  const auto j = static_cast<size_t>(encoding.input);
  const std::string name =
      j < metadata.inputs.size() ? metadata.inputs[j] : std::to_string(encoding.input + 1);
  std::fprintf(out, "input %s: text in %s of 0 and 1%s\n", name.c_str(),
               counted(encoding.width(), "column").c_str(),
               encoding.other ? ", rare levels in one" : "");
}

void describe(const TrainingSet& set, const Task& task, const Reading& reading, std::FILE* out) {
  const Dataset& data = set.data;
  std::fprintf(out, "%s: %s, %s, target %s (read in %.2f s)\n", data.name.c_str(),
               counted(reading.rows, "row").c_str(), counted(data.d, "input").c_str(),
               target_text(data).c_str(), reading.seconds);
  if (task.classification) {
    std::fprintf(out, "task: classification, %lld classes", static_cast<long long>(set.K));
  } else {
    std::fprintf(out, "task: regression, %lld output%s", static_cast<long long>(data.m),
                 data.m == 1 ? "" : "s");
  }
  std::fprintf(out, reading.task_chosen ? " (%s; --task chooses)\n" : " (%s)\n",
               task.reason.c_str());
  for (const Encoding& encoding : set.metadata.encodings) describe(encoding, set.metadata, out);
}

void describe_commas(const Dataset& data, std::FILE* out) {
  std::string names;
  for (const int64_t j : data.commas) names += (names.empty() ? "" : ", ") + input_name(data, j);
  for (const int64_t k : data.target_commas)
    names += (names.empty() ? "" : ", ") + target_name(data, k);
  if (!names.empty())
    std::fprintf(out, "numbers with a decimal comma in %s, as 1,5 for 1.5\n", names.c_str());
}

// How rows and lines of the file were taken.
void tell_lines(const Dataset& data, const Reading& reading, std::FILE* out) {
  if (reading.weightless > 0)
    std::fprintf(out, "%lld of %lld rows have weight 0 and are left out\n",
                 static_cast<long long>(reading.weightless), static_cast<long long>(reading.rows));
  if (data.words_first)
    std::fputs("the first line was taken as a row: --header yes takes it as names\n", out);
  if (data.numbers_first)
    std::fputs("the first line was taken as names: --header no takes it as a row\n", out);
  if (data.comments > 0)
    std::fprintf(out, "%s before the first row passed by\n",
                 counted(data.comments, "comment").c_str());
}

// Of all rows of the file, those of weight 0 among them: how it is read.
void warn_of_words(const Dataset& data, int64_t rows, std::FILE* out) {
  for (const ColumnWords& one : data.words) {
    const std::string name = input_name(data, one.column);
    std::fprintf(
        out,
        "warning: input %s: %s, where the others hold numbers, taken as missing (--text %s "
        "takes the column as text)\n",
        name.c_str(), words_text(one.words, rows).c_str(), typed(name).c_str());
  }
}

void warn_of_numbers_in_text(const Dataset& data, int64_t rows, std::FILE* out) {
  for (const TextColumn& text : data.text_inputs) {
    if (text.words.empty()) continue;
    std::string options;
    for (const WordRows& one : text.words)
      options.append(options.empty() ? "" : " ").append("--missing-word=").append(typed(one.word));
    std::fprintf(
        out,
        "warning: input %s: %s, where more hold numbers, taken as text (%s takes the column "
        "as numbers, some missing)\n",
        input_name(data, text.column).c_str(), words_text(text.words, rows).c_str(),
        options.c_str());
  }
}

void warn(const Dataset& data, const Task& task, int64_t rows, std::FILE* out) {
  if (!data.note.empty()) std::fprintf(out, "note: %s\n", data.note.c_str());
  if (!task.warning.empty()) std::fprintf(out, "warning: %s\n", task.warning.c_str());
  warn_of_words(data, rows, out);
  warn_of_numbers_in_text(data, rows, out);
  for (const std::string& warning : suspicious_inputs(data))
    std::fprintf(out, "warning: %s\n", warning.c_str());
}

/// Before text is encoded.
void tell_training(const TrainingSet& set, const Task& task, const Reading& reading,
                   const Streams& streams) {
  if (streams.out != nullptr) {
    describe(set, task, reading, streams.out);
    tell_lines(set.data, reading, streams.out);
    describe_commas(set.data, streams.out);
    if (!reading.targets.empty())
      std::fprintf(streams.out, "targets: %s\n", reading.targets.c_str());
    if (set.metadata.missing)
      tell_missing(reading.missing, set.data.n, set.metadata.inputs, streams.out);
  }
  warn(set.data, task, reading.rows, streams.warnings);
}

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

Dataset read_data(const LearnRequest& request) {
  if (request.ordered && !request.columns.groups.empty())
    throw Failure("--groups: does not go with --ordered");
  TargetRequest targets = request.targets;
  targets.as_text = request.task == "classification";
  targets.gaps = request.gaps;
  ColumnRequest columns = request.columns;
  columns.missing = request.fills();
  return read_training(request.train, targets, columns);
}

// What a model keeps of the columns of its file.
void keep_columns(const Dataset& data, const LearnRequest& request, Metadata* kept) {
  kept->inputs = data.input_names;
  kept->targets = data.target_names;
  kept->target_columns = data.target_columns;
  kept->missing = request.fills();
  kept->header = request.columns.header;
  kept->weights = data.weights_name;
  kept->ignored = data.ignored_names;
  kept->ignored_columns = data.ignored_columns;
  kept->encodings = choose_encodings(data);
  kept->commas = data.commas;
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
  if (request.fills()) reading.missing = check_missing(set.data);
  const Task task = choose_task(set.data, request.task);
  if (task.classification) require_targets(set.data);
  reading.targets = missing_targets(set.data);
  if (request.balanced() && !task.classification)
    throw Failure("--class-weight balanced: the task is a regression");
  set.metadata.classification = task.classification;
  if (task.classification) {
    set.metadata.classes = number_classes(&set.data);
    refuse_target_text(set.data);
    set.metadata.text_labels = set.data.text;
    set.K = std::ssize(set.metadata.classes);
  }
  keep_columns(set.data, request, &set.metadata);
  set.standardize = !request.raw;
  tell_training(set, task, reading, streams);
  encode(set.metadata.encodings, &set.data);
  return set;
}

}  // namespace mercer::cli
