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
#include "output_file.h"
#include "read/csv.h"
#include "read/number.h"
#include "scoring.h"
#include "session.h"
#include "uncertainty.h"

namespace mercer::cli {

namespace {

constexpr double kAnyTarget = -std::numeric_limits<double>::infinity();

std::string header(const LoadedModel& loaded, const std::vector<FurtherColumns>& further) {
  std::vector<std::string> names = target_names(loaded);
  if (loaded.metadata.classification) {
    names = loaded.metadata.targets;
    names.resize(1, "y");
  }
  for (const FurtherColumns& part : further)
    names.insert(names.end(), part.names.begin(), part.names.end());
  std::string line;
  for (const std::string& name : names)
    line.append(line.empty() ? "" : ",").append(csv_field(name));
  return line + "\n";
}

FurtherColumns of_classes(const LoadedModel& loaded, const char* prefix,
                          const Matrix<double>& numbers) {
  FurtherColumns further{{}, numbers};
  for (const std::string& name : loaded.metadata.classes) further.names.push_back(prefix + name);
  return further;
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

void write_predictions(const LoadedModel& loaded, const Dataset& test, const Applied& applied,
                       const std::vector<FurtherColumns>& columns, const std::string& path) {
  const bool classification = loaded.metadata.classification;
  std::vector<int32_t> classes;
  if (classification) classes = classes_of(applied.deciding());
  const Matrix<double> scores = scoring_of(loaded.model).means(applied.scores);
  OutputFile file(path);
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
    for (const FurtherColumns& part : columns) append(part.numbers, i, &line);
    for (const std::vector<std::string>& ids : test.ids)
      file.write(csv_copy(ids[static_cast<size_t>(i)]) + ",");
    file.write(line += '\n');
  }
  file.commit();
}

/// Y of the test set against the predictions; labels the model never saw count as wrong.
Json tell_score(const LoadedModel& loaded, Dataset* test, const Applied& applied,
                const Streams& streams) {
  const int64_t unknown = match_targets(loaded, test);
  const TargetRows known = rows_with_targets(applied.deciding(), *test, kAnyTarget);
  if (known.rows() == 0) {
    std::fputs("no score: no row holds a target\n", streams.warnings);
    return nullptr;
  }
  const Scoring scoring = scoring_of(loaded.model);
  const double score = prediction_score(known.numbers, known.truth(), loaded.model.classes(),
                                        scoring.options(known.options()));
  if (streams.scores != nullptr) {
    std::fprintf(streams.scores, "test: %s on %" PRId64 " rows", scoring.text(score).c_str(),
                 known.rows());
    if (unknown > 0)
      std::fprintf(streams.scores, " (%" PRId64 " with labels the model does not know)", unknown);
    std::fprintf(streams.scores, "%s\n", known.text(*test).c_str());
  }
  return {{"score", score}, {"rows", known.rows()}, {"unknown_labels", unknown}};
}

/// Which of the two the class printed is, where that may be asked.
void tell_other_classes(const Applied& applied, std::FILE* out) {
  if (applied.probabilities.rows() == 0 || applied.by_probability) return;
  const std::vector<int32_t> decided = classes_of(applied.scores),
                             probable = classes_of(applied.probabilities);
  int64_t others = 0;
  for (size_t i = 0; i < decided.size(); ++i) others += decided[i] != probable[i];
  if (others > 0)
    std::fprintf(out,
                 "note: %" PRId64 " of %" PRId64
                 " rows are given another class than their most probable one: classes are those of "
                 "the largest score (--class probability prints the other)\n",
                 others, applied.scores.rows());
}

void check_class_columns(const LoadedModel& loaded, const ApplyRequest& request) {
  const char* asked = request.scores               ? "--scores"
                      : request.probabilities      ? "--probabilities"
                      : request.class_by != "auto" ? "--class"
                                                   : nullptr;
  if (asked != nullptr && !loaded.metadata.classification)
    throw Failure(std::string(asked) + ": the model is a regression and has no classes");
  if (request.probabilities && !loaded.model.has_probabilities())
    throw Failure(
        "--probabilities: the model has none: it was fitted by an earlier version, or "
        "its lambda lets it pass through the rows");
}

}  // namespace

void run_predict(const ApplyRequest& request) {
  check_output(request.output, request.rows);
  check_output(request.output, request.model);
  const LoadedModel loaded = load_model(request.model);
  check_class_columns(loaded, request);
  check_uncertainty(loaded, request);
  const Streams streams =
      streams_of(request.run, is_standard_output(request.output) ? stderr : stdout);
  Dataset test = read_rows_for(loaded, request, streams.warnings);
  Session session(request.run);
  const Applied applied = apply(loaded, test, request, session, streams.warnings);
  std::vector<FurtherColumns> columns = uncertainty_of(loaded, test, request, session);
  session.clear_bar();
  if (request.scores) columns.push_back(of_classes(loaded, "score_", applied.scores));
  if (request.probabilities)
    columns.push_back(of_classes(loaded, "probability_", applied.probabilities));
  tell_other_classes(applied, streams.warnings);
  write_predictions(loaded, test, applied, columns, request.output);
  Json score;
  if (test.m > 0) score = tell_score(loaded, &test, applied, streams);
  if (test.m > 0) tell_unused_weights(loaded, test, streams.warnings);
  streams.print({{"predictions", request.output}, {"rows", test.n}, {"test", score}});
}

}  // namespace mercer::cli
