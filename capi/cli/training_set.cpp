// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From a file to numbers a fit can use, with every automatic choice printed.
#include "training_set.h"

#include "failure.h"
#include "gaps.h"
#include "read/number.h"
#include "session.h"
#include "split.h"
#include "suspicious.h"
#include "task.h"

namespace mercer::cli {

namespace {

std::string target_text(const Dataset& data) {
  if (!data.labels_name.empty()) return data.labels_name;
  std::string text;
  for (const std::string& name : data.target_names) text += (text.empty() ? "" : ", ") + name;
  if (!text.empty() || data.format == Format::libsvm) return text.empty() ? "the labels" : text;
  for (const int64_t column : data.target_columns) {
    text += (text.empty() ? "column " : ", ") + std::to_string(column + 1);
  }
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

void describe(const TrainingSet& set, const Task& task, int64_t rows, double seconds, bool chosen,
              std::FILE* out) {
  const Dataset& data = set.data;
  std::fprintf(out, "%s: %s, %s, target %s (read in %.2f s)\n", data.name.c_str(),
               counted(rows, "row").c_str(), counted(data.d, "input").c_str(),
               target_text(data).c_str(), seconds);
  if (task.classification) {
    std::fprintf(out, "task: classification, %lld classes", static_cast<long long>(set.K));
  } else {
    std::fprintf(out, "task: regression, %lld output%s", static_cast<long long>(data.m),
                 data.m == 1 ? "" : "s");
  }
  std::fprintf(out, chosen ? " (%s; --task chooses)\n" : " (%s)\n", task.reason.c_str());
  for (const Encoding& encoding : set.metadata.encodings) describe(encoding, set.metadata, out);
  if (data.bytes)
    std::fputs("inputs: bytes divided by 255, not standardised, since all share one unit\n", out);
}

std::string name_of(const Dataset& data, int64_t j) {
  const auto k = static_cast<size_t>(j);
  return k < data.input_names.size() ? data.input_names[k] : std::to_string(column_of(data, j));
}

void describe(const char* what, const std::string& name, const ColumnForm& form, std::FILE* out) {
  std::fprintf(out, "%s %s: numbers such as %s, read as %s\n", what, name.c_str(),
               shown(form.example).c_str(), number_text(form.value).c_str());
}

void describe_forms(const Dataset& data, std::FILE* out) {
  for (const ColumnForm& form : data.forms)
    describe("input", name_of(data, form.column), form, out);
  for (const ColumnForm& form : data.target_forms) {
    const auto k = static_cast<size_t>(form.column);
    describe("target",
             k < data.target_names.size() ? data.target_names[k]
                                          : std::to_string(data.target_columns[k] + 1),
             form, out);
  }
}

// Of all rows of the file, those of weight 0 among them: how it is read.
void warn_of_words(const Dataset& data, int64_t rows, std::FILE* out) {
  for (const ColumnWords& one : data.words) {
    const std::string name = name_of(data, one.column);
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
        name_of(data, text.column).c_str(), words_text(text.words, rows).c_str(), options.c_str());
  }
}

void warn_of_units(const Dataset& data, std::FILE* out) {
  for (const TextColumn& text : data.text_inputs) {
    const std::string first = first_with_unit(text);
    if (!first.empty())
      std::fprintf(
          out,
          "warning: input %s: text such as %s is a number with text behind it; without the "
          "text it would be read as one\n",
          name_of(data, text.column).c_str(), shown(first).c_str());
  }
}

// What is missing in every row cannot be filled.
MissingInputs check_missing(const Dataset& data) {
  MissingInputs missing = missing_inputs(data);
  for (int64_t j = 0; j < data.d; ++j) {
    if (missing.per_input[static_cast<size_t>(j)] < data.n) continue;
    fail_at(data.name, 0, 0,
            "column " + shown(name_of(data, j)) + " is empty in every row: --ignore " +
                typed(name_of(data, j)) + " leaves it out");
  }
  return missing;
}

}  // namespace

TrainingSet read_training_set(const LearnRequest& request, const Streams& streams) {
  const Stopwatch watch;
  const std::string& scale = request.preparation.scale;
  const bool scales = scale != "standard" && scale != "none";
  if (scales && request.preparation.raw)
    throw Failure("--scale " + scale + ": does not go with --no-standardize");
  TargetRequest targets = request.targets;
  targets.as_text = request.task == "classification";
  targets.gaps = request.gaps;
  TrainingSet set;
  ColumnRequest columns = request.columns;
  columns.missing = request.preparation.missing != "refuse";
  set.data = read_training(request.train, targets, columns);
  if (scales && set.data.bytes)
    throw Failure("--scale " + scale +
                  ": bytes of IDX files are divided by 255 and not standardised");
  const double seconds = watch.seconds();
  const int64_t rows = set.data.n, weightless = leave_out_weightless(&set.data);
  const MissingInputs missing = columns.missing ? check_missing(set.data) : MissingInputs{};
  const Task task = choose_task(set.data, request.task);
  if (request.class_weight == "balanced" && !task.classification)
    throw Failure("--class-weight balanced: the task is a regression");
  Metadata& kept = set.metadata;
  if (task.classification) {
    kept.classes = number_classes(&set.data);
    refuse_target_text(set.data);
    kept.text_labels = set.data.text;
    set.K = static_cast<int64_t>(kept.classes.size());
  }
  kept.classification = task.classification;
  kept.inputs = set.data.input_names;
  kept.targets = set.data.target_names;
  kept.target_columns = set.data.target_columns;
  kept.bytes = set.data.bytes;
  kept.missing = columns.missing;
  kept.header = columns.header;
  kept.weights = set.data.weights_name;
  kept.ignored = set.data.ignored_names;
  kept.ignored_columns = set.data.ignored_columns;
  kept.encodings = choose_encodings(set.data);
  kept.forms = set.data.forms;
  kept.words = set.data.words;
  kept.missing_words = columns.missing_words;
  set.standardize =
      !request.preparation.raw && request.preparation.scale != "none" && !set.data.bytes;
  if (streams.out != nullptr) {
    describe(set, task, rows, seconds, request.task == "auto", streams.out);
    if (weightless > 0)
      std::fprintf(streams.out, "%lld of %lld rows have weight 0 and are left out\n",
                   static_cast<long long>(weightless), static_cast<long long>(rows));
    if (set.data.words_first)
      std::fprintf(streams.out,
                   "the first line was taken as a row: --header yes takes it as names\n");
    if (set.data.numbers_first)
      std::fprintf(streams.out,
                   "the first line was taken as names: --header no takes it as a row\n");
    if (set.data.comments > 0)
      std::fprintf(streams.out, "%s before the first row passed by\n",
                   counted(set.data.comments, "comment").c_str());
    describe_forms(set.data, streams.out);
    if (kept.missing) tell_missing(missing, set.data.n, kept.inputs, streams.out);
  }
  if (!set.data.index.empty())
    std::fprintf(streams.warnings, "note: %s: it is no input\n", set.data.index.c_str());
  if (!task.warning.empty()) std::fprintf(streams.warnings, "warning: %s\n", task.warning.c_str());
  warn_of_words(set.data, rows, streams.warnings);
  warn_of_numbers_in_text(set.data, rows, streams.warnings);
  warn_of_units(set.data, streams.warnings);
  for (const std::string& warning : suspicious_inputs(set.data))
    std::fprintf(streams.warnings, "warning: %s\n", warning.c_str());
  encode(kept.encodings, &set.data);
  if (set.data.bytes) scale_bytes(&set.data);
  return set;
}

}  // namespace mercer::cli
