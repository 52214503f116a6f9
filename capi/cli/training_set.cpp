// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From a file to numbers a fit can use, with every automatic choice printed.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <unordered_set>

#include "failure.h"
#include "fitting.h"
#include "gaps.h"
#include "relevance.h"
#include "split.h"

namespace mercer::cli {
namespace {

/// What came of reading the file.
struct ReadSummary {
  int64_t rows = 0;        // of the file
  int64_t weightless = 0;  // of these left out
  double seconds = 0;
  MissingInputs missing = {};
  std::string targets = {};                         // which rows lack
  bool task_chosen = false, target_chosen = false;  // here, not by the caller nor by name
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
  const std::string name = name_or_number(metadata.inputs, static_cast<size_t>(encoding.input));
  std::fprintf(out, "input %s: text in %s of 0 and 1%s\n", name.c_str(),
               counted(encoding.width(), "column").c_str(),
               encoding.other ? ", rare levels in one" : "");
}

void describe(const TrainingSet& set, const Task& task, const ReadSummary& reading,
              std::FILE* out) {
  const Dataset& data = set.data;
  std::fprintf(out, "%s: %s, %s, target %s (%sread in %.2f s)\n", data.name.c_str(),
               counted(reading.rows, "row").c_str(), counted(data.d, "input").c_str(),
               target_text(data).c_str(),
               reading.target_chosen ? "the last column; --target chooses; " : "", reading.seconds);
  if (task.classification) {
    std::fprintf(out, "task: classification, %ld classes", set.K);
  } else {
    std::fprintf(out, "task: regression, %ld output%s", data.m, data.m == 1 ? "" : "s");
  }
  std::fprintf(out, reading.task_chosen ? " (%s; --task chooses)\n" : " (%s)\n",
               task.reason.c_str());
  for (const Encoding& encoding : set.metadata.encodings) describe(encoding, set.metadata, out);
}

// How rows and lines of the file were taken.
void tell_lines(const Dataset& data, const ReadSummary& reading, std::FILE* out) {
  if (reading.weightless > 0)
    std::fprintf(out, "%ld of %ld rows have weight 0 and are left out\n", reading.weightless,
                 reading.rows);
  if (data.words_first)
    std::fputs("the first line was taken as a row: --header yes takes it as names\n", out);
  for (const std::string& note : notes_of_lines(data)) std::fprintf(out, "%s\n", note.c_str());
  if (data.comments > 0)
    std::fprintf(out, "%s before the first row passed by\n",
                 counted(data.comments, "comment").c_str());
}

/// What of texts would be one, or none, to most readers.
void note_texts(const std::string& of, const std::vector<std::string>& texts, std::FILE* out) {
  std::map<std::string, std::vector<std::string>> alike;
  for (const std::string& text : texts) alike[lower(text)].push_back(text);
  std::erase_if(alike, [](const auto& one) { return one.second.size() < 2; });
  std::vector<std::string> told;
  for (const auto& [text, all] : alike) told.push_back(listed(all));
  if (!told.empty())
    std::fprintf(out, "note: %s that differ in case alone are kept apart: %s\n", of.c_str(),
                 listed(told).c_str());
}

void note_texts(const TrainingSet& set, std::FILE* out) {
  note_texts("classes", set.metadata.classes, out);
  for (const std::string& name : set.metadata.classes)
    if (is_missing(name))
      std::fprintf(out,
                   "note: the class %s is taken as others: --missing-word=%s takes it as missing\n",
                   name.c_str(), typed(name).c_str());
  for (const Encoding& one : set.metadata.encodings)
    note_texts(
        "levels of input " + name_or_number(set.metadata.inputs, static_cast<size_t>(one.input)),
        one.levels, out);
}

void warn(const Dataset& data, const Task& task, bool ordered, std::FILE* out) {
  if (!data.note.empty()) std::fprintf(out, "note: %s\n", data.note.c_str());
  if (!task.warning.empty()) std::fprintf(out, "warning: %s\n", task.warning.c_str());
  for (const std::string& warning : suspicious_inputs(data, ordered))
    std::fprintf(out, "warning: %s\n", warning.c_str());
}

/// Before text is encoded.
void tell_training(const TrainingSet& set, const Task& task, const ReadSummary& reading,
                   bool ordered, const Streams& streams) {
  if (streams.out != nullptr) {
    describe(set, task, reading, streams.out);
    tell_lines(set.data, reading, streams.out);
    if (!reading.targets.empty())
      std::fprintf(streams.out, "targets: %s\n", reading.targets.c_str());
    if (set.metadata.missing)
      tell_missing(reading.missing, set.data.n, set.metadata.inputs, streams.out);
  }
  note_texts(set, streams.warnings);
  warn(set.data, task, ordered, streams.warnings);
}

// What is missing in every row cannot be filled.
MissingInputs check_missing(const Dataset& data) {
  MissingInputs missing = missing_inputs(data);
  for (int64_t j = 0; j < data.d; ++j) {
    if (missing.per_input[j] < data.n) continue;
    fail_at(data.name, 0, 0,
            "column " + shown(input_name(data, j)) + " is empty in every row: --ignore " +
                typed(input_name(data, j)) + " leaves it out");
  }
  return missing;
}

Dataset read_data(const LearnRequest& request) {
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
  kept->decimal = request.columns.decimal;
  kept->weights = data.weights_name;
  if (data.format == Format::libsvm) kept->first_index = data.first_index;
  kept->ignored = data.ignored_names;
  kept->ignored_columns = data.ignored_columns;
  kept->encodings = choose_encodings(data);
  for (const auto& [column, form] : data.forms) {
    const auto place = std::ranges::find(data.input_columns, column) - data.input_columns.begin();
    const auto target =
        std::ranges::find(data.target_columns, column) - data.target_columns.begin();
    if (place < std::ssize(data.input_columns))
      kept->forms.push_back({place, form});
    else if (target < std::ssize(data.target_columns))
      kept->forms.push_back({-1 - target, form});
  }
  kept->missing_words = request.columns.missing_words;
}

bool is_id(const std::string& given) {
  const std::string name = lower(given);
  for (const char* known : {"id", "index", "idx", "row", "rowid", "row_id", "key", "uid"})
    if (name == known) return true;
  return name.ends_with("_id") || name.ends_with(" id");
}

/// Another whole number in every row, in order or under no name or one such as id.
bool numbers_rows(const Dataset& data, int64_t j) {
  constexpr int64_t kFewRows = 20;  // so few may be in order by chance
  constexpr double kLargestWhole = 9007199254740992.0;
  const std::string name = input_name(data, j);
  const bool unnamed = name == name_of_unnamed(column_of(data, j) - 1);
  if (data.n < kFewRows && !unnamed) return false;
  std::unordered_set<double> seen;
  const double first = data.X.at(j);
  bool counts = true;
  for (int64_t i = 0; i < data.n; ++i) {
    const double x = data.X.at(i * data.d + j);
    if (x != std::floor(x) || std::fabs(x) >= kLargestWhole || !seen.insert(x).second) return false;
    counts = counts && x == first + static_cast<double>(i);
  }
  return counts || unnamed || is_id(name);
}

bool is_constant(const Dataset& data, int64_t j) {
  for (int64_t i = 0; i < data.n; ++i)
    if (data.X.at(i * data.d + j) != data.X.at(j)) return false;
  return true;
}

}  // namespace

std::vector<std::string> suspicious_inputs(const Dataset& data, bool ordered) {
  std::vector<std::string> warnings, constants;
  for (int64_t j = 0; !data.X.sparse && data.n > 1 && j < data.d; ++j) {
    const std::string name = input_name(data, j);
    const bool text =
        std::ranges::find(data.text_inputs, j, &TextColumn::column) != data.text_inputs.end();
    if (is_constant(data, j)) constants.push_back(name);
    if (!text && !ordered && numbers_rows(data, j))
      warnings.push_back("input " + name +
                         " is another whole number in every row, as ids and counts of rows are: "
                         "--ignore " +
                         typed(name) + " leaves it out");
  }
  if (!constants.empty())
    warnings.push_back("inputs that are the same in every row say nothing: " + listed(constants));
  return warnings;
}

TrainingSet read_training_set(const LearnRequest& request, const Streams& streams) {
  const Stopwatch watch;
  TrainingSet set;
  set.data = read_data(request);
  ReadSummary reading{.rows = set.data.n, .seconds = watch.seconds()};
  reading.task_chosen = request.task == "auto";
  reading.target_chosen = request.targets.targets.empty() && request.targets.labels.empty() &&
                          set.data.format != Format::libsvm && set.data.m == 1 &&
                          (set.data.target_names.empty() || set.data.target_names[0] != "y");
  reading.weightless = leave_out_rows(&set.data, std::vector(set.data.weights), 0);
  if (request.fills()) reading.missing = check_missing(set.data);
  const Task task = choose_task(set.data, request.task);
  if (request.balanced() && !task.classification)
    throw Failure("--class-weight balanced: the task is a regression");
  set.metadata.classification = task.classification;
  if (task.classification) {
    set.metadata.classes = number_classes(&set.data);
    refuse_target_text(set.data);
    set.metadata.text_labels = set.data.text;
    set.K = std::ssize(set.metadata.classes);
  }
  reading.targets = missing_targets(set.data);
  // Only sums of squares go on without some targets.
  if (set.data.m > 1 && !request.loss().empty()) require_targets(set.data);
  if ((task.classification || !request.loss().empty()) &&
      leave_out_rows(&set.data, std::vector(set.data.Y), std::nan("")) > 0)
    reading.targets += ", which are left out";
  keep_columns(set.data, request, &set.metadata);
  set.standardize = !request.raw;
  tell_training(set, task, reading, request.ordered, streams);
  encode(set.metadata.encodings, &set.data);
  set.metadata.typical = typical_row(set.metadata, set.data);
  return set;
}

}  // namespace mercer::cli
