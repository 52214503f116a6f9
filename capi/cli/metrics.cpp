// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer score: every metric that applies to a model's predictions of rows with targets.
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "gaps.h"
#include "loaded_model.h"
#include "row_parts.h"
#include "scoring.h"

namespace mercer::cli {
namespace {

constexpr size_t kMostPrinted = 30;  // classes of a confusion matrix
constexpr double kKnownClass = 0;

void add(const std::string& name, double value, Json* found) {
  (*found)[name] = std::isnan(value) ? Json() : Json(value);
}

void add(const std::string& name, const TargetRows& rows, int64_t K, mercer_metric metric,
         Json* found) {
  add(name, prediction_score(rows.numbers, rows.truth(), K, rows.options(metric)), found);
}

/// With --quiet only where some rows do not count.
void tell_rows(const TargetRows& known, const Dataset& test, int64_t unknown,
               const Streams& streams) {
  std::FILE* out = known.rows() < test.n ? streams.warnings : streams.out;
  if (out != nullptr)
    std::fprintf(out, "%-18s %" PRId64 "%s\n", "rows", known.rows(), known.text(test).c_str());
  if (unknown > 0)
    std::fprintf(streams.warnings,
                 "%-18s %" PRId64 " (count as wrong; other metrics leave them out)\n",
                 "unknown labels", unknown);
}

void print(const Json& found, std::FILE* out) {
  for (const auto& [name, value] : found.items()) {
    if (value.is_null()) std::fprintf(out, "%-18s not defined\n", name.c_str());
    if (value.is_number_float())
      std::fprintf(out, "%-18s %.6g\n", name.c_str(), value.get<double>());
  }
}

/// Rows of a class, columns of the class predicted.
void print_confusion(const Json& table, const std::vector<std::string>& classes, std::FILE* out) {
  std::fprintf(out, "confusion: a row for each class, a column for each class predicted\n%16s", "");
  for (const std::string& name : classes) std::fprintf(out, " %8.8s", name.c_str());
  for (size_t i = 0; i < classes.size(); ++i) {
    std::fprintf(out, "\n%16.16s", classes[i].c_str());
    for (const Json& count : table[i]) std::fprintf(out, " %8.6g", count.get<double>());
  }
  std::fprintf(out, "\n");
}

/// What the scores of several targets are the mean of.
void add_targets(const TargetRows& known, const std::vector<std::string>& names, Json* found) {
  const MatrixView<const double> predicted = known.numbers.view();
  for (int64_t o = 0; known.outputs > 1 && o < known.outputs; ++o) {
    const MatrixView<const double> own(predicted.data + o, known.rows(), 1, predicted.ld);
    const MatrixView<const double> truth(known.targets.data() + o, known.rows(), 1, known.outputs);
    add("R^2 of " + name_or_number(names, static_cast<size_t>(o)),
        prediction_score(own, truth, 0, known.options()), found);
  }
}

/// Of another loss than squares its own score first.
void add_regression(TargetRows known, const std::vector<std::string>& names, const Scoring& scoring,
                    Json* found) {
  if (scoring.loss != nullptr)
    add(scoring.measure(),
        prediction_score(known.numbers, known.truth(), 0, scoring.options(known.options())), found);
  known.numbers = scoring.means(std::move(known.numbers));
  add("R^2", known, 0, MERCER_METRIC_R2, found);
  add("RMSE", known, 0, MERCER_METRIC_RMSE, found);
  add("MAE", known, 0, MERCER_METRIC_MAE, found);
  add_targets(known, names, found);
}

/// The share of its rows that is found, in the mean over classes that have rows.
double mean_recall(const Matrix<double>& counts) {
  double sum = 0, classes = 0;
  for (int64_t k = 0; k < counts.rows(); ++k) {
    double rows = 0;
    for (int64_t j = 0; j < counts.cols(); ++j) rows += counts(k, j);
    if (!(rows > 0)) continue;
    sum += counts(k, k) / rows;
    ++classes;
  }
  return sum / classes;
}

void add_classification(const LoadedModel& loaded, const Dataset& test, const Predictions& applied,
                        Json* found) {
  const int64_t K = loaded.model.classes();
  const TargetRows all = rows_with_targets(applied.deciding(), test, kAnyTarget);
  add("accuracy", prediction_score(all.numbers, all.truth(), K, all.options()), found);
  const TargetRows decided = rows_with_targets(applied.deciding(), test, kKnownClass);
  if (decided.rows() == 0) return;
  const Matrix<double> counts = confusion(decided.numbers, decided.truth(), K, decided.options());
  add("balanced accuracy", mean_recall(counts), found);
  add("AUC", rows_with_targets(applied.scores, test, kKnownClass), K, MERCER_METRIC_AUC, found);
  if (applied.probabilities.rows() > 0) {
    const TargetRows p = rows_with_targets(applied.probabilities, test, kKnownClass);
    add("log loss", p, K, MERCER_METRIC_LOG_LOSS, found);
    add("calibration error", p, K, MERCER_METRIC_CALIBRATION_ERROR, found);
  }
  (*found)["classes"] = loaded.metadata.classes;
  (*found)["confusion"] = table_of(counts);
}

/// Rows and what the model says of them; of a stream without their inputs.
struct Judged {
  Dataset test;
  Predictions applied;
  int64_t unknown = 0;  // labels
};

Judged judge(const LoadedModel& loaded, const ApplyRequest& request, Session& session,
             const Streams& streams, RowNotes* notes) {
  Dataset test = read_rows_for(loaded, request, streams.warnings, notes);
  if (test.m == 0) fail_at(test.name, 0, 0, "no target, which a score needs");
  const int64_t unknown = match_targets(loaded, &test);
  Predictions applied = apply(loaded, test, request, session, notes);
  return {std::move(test), std::move(applied), unknown};
}

Matrix<double> matrix_of(const std::vector<double>& numbers, int64_t rows) {
  Matrix<double> matrix(rows, rows > 0 ? std::ssize(numbers) / rows : 0);
  std::ranges::copy(numbers, matrix.view().data);
  return matrix;
}

void append(const Matrix<double>& more, std::vector<double>* all) {
  const double* const numbers = more.view().data;
  all->insert(all->end(), numbers, numbers + more.rows() * more.cols());
}

/// Block by block: of a row its predictions, targets and weight stay.
Judged judge_stream(const LoadedModel& loaded, const ApplyRequest& asked, Session& session,
                    const Streams& streams, RowNotes* notes) {
  ApplyRequest request = asked;
  Judged all{{}, {Matrix<double>(0, 0)}};
  std::vector<double> scores, probabilities;
  for_each_block(request.rows, request.columns, [&](const ColumnRequest& columns) {
    request.columns = columns;
    Judged some = judge(loaded, request, session, streams, notes);
    append(some.applied.scores, &scores);
    append(some.applied.probabilities, &probabilities);
    const BlockHead head(some.test);
    all.unknown += some.unknown;
    all.applied.by_probability = some.applied.by_probability;
    some.test.X = {};
    if (all.test.n == 0) {
      all.test = std::move(some.test);
      return head;
    }
    all.test.n += some.test.n;
    all.test.Y.insert(all.test.Y.end(), some.test.Y.begin(), some.test.Y.end());
    all.test.weights.insert(all.test.weights.end(), some.test.weights.begin(),
                            some.test.weights.end());
    return head;
  });
  all.applied.scores = matrix_of(scores, all.test.n);
  if (!probabilities.empty()) all.applied.probabilities = matrix_of(probabilities, all.test.n);
  return all;
}

}  // namespace

void run_score(const ApplyRequest& asked) {
  if (asked.stream && !asked.labels.empty())
    throw Failure("--labels with --stream: it needs all rows at once");
  const LoadedModel loaded = load_model(asked.model);
  const Streams streams = streams_of(asked.run, stdout);
  RowNotes notes;
  ApplyRequest request = asked;
  request.probabilities = loaded.model.has_probabilities();
  Session session(request.run);
  const auto [test, applied, unknown] =
      (request.stream ? judge_stream : judge)(loaded, request, session, streams, &notes);
  notes.tell(loaded, request.extrapolation, streams.warnings);
  const TargetRows known = rows_with_targets(applied.scores, test, kAnyTarget);
  if (known.rows() == 0) fail_at(test.name, 0, 0, "no row holds a target, which a score needs");
  tell_rows(known, test, unknown, streams);
  Json found = {{"rows", known.rows()}, {"unknown labels", unknown}};
  if (loaded.metadata.classification) {
    add_classification(loaded, test, applied, &found);
  } else {
    add_regression(known, loaded.metadata.targets, scoring_of(loaded.model), &found);
  }
  if (streams.scores != nullptr) print(found, streams.scores);
  const bool shown = found.contains("confusion") && found["classes"].size() <= kMostPrinted;
  if (shown && streams.out != nullptr)
    print_confusion(found["confusion"], loaded.metadata.classes, streams.out);
  streams.print(found);
}

}  // namespace mercer::cli
