// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer predict: a model and test rows to a CSV of predictions, and a score where the file holds
// the target.
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "commands.h"
#include "failure.h"
#include "gaps.h"
#include "loaded_model.h"
#include "message.h"
#include "output_file.h"
#include "outside.h"
#include "read/csv_fields.h"
#include "read/number.h"
#include "scoring.h"
#include "session.h"
#include "streams.h"
#include "table_rows.h"
#include "task.h"

namespace mercer::cli {

namespace {

constexpr double kAnyTarget = -std::numeric_limits<double>::infinity();

/// Columns of classes behind the class itself.
struct ClassColumns {
  const char* prefix;
  Matrix<double> numbers;
};

std::string header(const LoadedModel& loaded, const std::vector<ClassColumns>& columns) {
  const Metadata& metadata = loaded.metadata;
  std::string line;
  if (metadata.classification) {
    line = metadata.targets.empty() ? "y" : csv_field(metadata.targets[0]);
    for (const ClassColumns& part : columns)
      for (const std::string& name : metadata.classes)
        line.append(",").append(csv_field(std::string(part.prefix).append(name)));
    return line + "\n";
  }
  for (int64_t k = 0; k < loaded.outputs; ++k) {
    const bool named = static_cast<int64_t>(metadata.targets.size()) == loaded.outputs;
    if (k > 0) line += ',';
    line += named ? csv_field(metadata.targets[static_cast<size_t>(k)]) : "y";
    if (!named && loaded.outputs > 1) line += std::to_string(k + 1);
  }
  return line + "\n";
}

void append(const Matrix<double>& numbers, int64_t i, std::string* line) {
  for (int64_t k = 0; k < numbers.cols(); ++k) {
    if (!line->empty()) *line += ',';
    *line += number_text(numbers(i, k));
  }
}

/// Names of the columns that come before the predictions, with a separator behind each.
std::string names_before(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(csv_field(name)).append(",");
  return text;
}

void write_predictions(const LoadedModel& loaded, const Dataset& test, const Matrix<double>& scores,
                       const std::vector<ClassColumns>& columns, const PredictRequest& request) {
  const bool classification = loaded.metadata.classification;
  std::vector<int32_t> classes;
  if (classification) classes = classes_of(scores);
  OutputFile file(request.predictions);
  file.write(names_before(test.id_names) + header(loaded, columns));
  std::string line;
  for (int64_t i = 0; i < scores.rows(); ++i) {
    line.clear();
    if (classification) {
      line =
          csv_field(loaded.metadata.classes[static_cast<size_t>(classes[static_cast<size_t>(i)])]);
    } else {
      append(scores, i, &line);
    }
    for (const ClassColumns& part : columns) append(part.numbers, i, &line);
    for (const std::vector<std::string>& ids : test.ids)
      file.write(csv_copy(ids[static_cast<size_t>(i)]) + ",");
    file.write(line += '\n');
  }
  file.commit();
}

// Y of the test set against the predictions; labels the model never saw count as wrong.
void print_score(const LoadedModel& loaded, Dataset* test, const Matrix<double>& scores,
                 std::FILE* out) {
  check_targets(loaded, *test);
  const bool classification = loaded.metadata.classification;
  int64_t unknown = 0;
  if (classification)
    unknown = number_known_classes(loaded.metadata.classes, loaded.metadata.text_labels, test);
  const TargetRows known = rows_with_targets(scores, *test, kAnyTarget);
  if (known.rows() == 0) {
    std::fputs("no score: no row holds a target\n", out);
    return;
  }
  const Scoring scoring = scoring_of(loaded.model);
  const double score =
      prediction_score(known.numbers, known.truth(), classification ? loaded.model.classes() : 0,
                       scoring.options(known.options()));
  std::fprintf(out, "test: %s on %" PRId64 " rows", scoring.text(score).c_str(), known.rows());
  if (unknown > 0) std::fprintf(out, " (%" PRId64 " with labels the model does not know)", unknown);
  std::fprintf(out, "%s\n", known.text(*test).c_str());
}

/// The class printed is the model's decision, which score counts, with --probabilities as without.
void tell_other_classes(const Matrix<double>& scores, const Matrix<double>& probabilities,
                        std::FILE* out) {
  const std::vector<int32_t> decided = classes_of(scores), probable = classes_of(probabilities);
  int64_t others = 0;
  for (size_t i = 0; i < decided.size(); ++i) others += decided[i] != probable[i];
  if (others > 0)
    std::fprintf(out,
                 "note: %" PRId64 " of %" PRId64
                 " rows are given another class than their most probable one: classes are those of "
                 "the largest score, probabilities are calibrated apart\n",
                 others, scores.rows());
}

void check_class_columns(const LoadedModel& loaded, const PredictRequest& request) {
  const char* asked = request.scores ? "--scores" : "--probabilities";
  if (!request.scores && !request.probabilities) return;
  if (!loaded.metadata.classification)
    throw Failure(std::string(asked) + ": the model is a regression and has no classes");
  if (request.probabilities && !loaded.model.has_probabilities())
    throw Failure(
        "--probabilities: the model has none: it was fitted by an earlier version, or "
        "its lambda lets it pass through the rows");
}

void check_files(const PredictRequest& request) {
  check_output(request.predictions, request.test);
  check_output(request.predictions, request.model);
  if (request.model == "-" && request.test == "-")
    throw Failure("MODEL and TEST cannot both be standard input");
}

}  // namespace

void run_predict(const PredictRequest& request) {
  check_files(request);
  const LoadedModel loaded = load_model(request.model);
  check_class_columns(loaded, request);
  std::FILE* out = is_standard_output(request.predictions) ? stderr : stdout;
  std::FILE* warnings = streams_of(request.quiet, out).warnings;
  Dataset test = read_rows_for(loaded, request.test, request.labels, request.columns, warnings);
  Session session(request.threads, request.quiet);
  OutsideCounts outside(loaded.inputs);
  mercer_predict_options options = outside.options(extrapolation_of(request.extrapolation));
  const Rows X = rows_of(test.X, 0, test.n, test.d);
  const std::vector<std::string> names = input_names(loaded.metadata);
  const Matrix<double> scores = in_words_of(
      test.name, names, [&] { return loaded.model.predict(X, options, session.context()); });
  std::vector<ClassColumns> columns;
  if (request.scores) columns.push_back({"score_", scores});
  if (request.probabilities)
    columns.push_back(
        {"probability_", loaded.model.predict(X, options, session.context(), "probability")});
  session.clear_bar();
  outside.tell(test.n, names, loaded.clips(request.extrapolation), warnings);
  if (request.probabilities) tell_other_classes(scores, columns.back().numbers, warnings);
  write_predictions(loaded, test, scoring_of(loaded.model).means(scores), columns, request);
  if (test.m == 0) return;
  print_score(loaded, &test, scores, out);
  tell_unused_weights(loaded, test, warnings);
}

}  // namespace mercer::cli
