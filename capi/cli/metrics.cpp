// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer score: every metric that applies to a model's predictions of rows with targets.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "commands.h"
#include "failure.h"
#include "gaps.h"
#include "loaded_model.h"
#include "message.h"
#include "outside.h"
#include "scoring.h"
#include "session.h"
#include "streams.h"
#include "table_rows.h"
#include "task.h"

namespace mercer::cli {

namespace {

constexpr int64_t kMostPrinted = 30;  // classes of a confusion matrix

struct Named {
  const char* name;
  mercer_metric metric;
};

void print_metric(const char* name, double value) {
  if (std::isnan(value)) {
    std::printf("%-18s not defined\n", name);
  } else {
    std::printf("%-18s %.6g\n", name, value);
  }
}

/// What the scores of several targets are the mean of.
void print_targets(const TargetRows& known, const std::vector<std::string>& names) {
  const MatrixView<const double> predicted = known.numbers.view();
  for (int64_t o = 0; known.outputs > 1 && o < known.outputs; ++o) {
    const MatrixView<const double> own(predicted.data + o, known.rows(), 1, predicted.ld);
    const MatrixView<const double> truth(known.targets.data() + o, known.rows(), 1, known.outputs);
    const auto at = static_cast<size_t>(o);
    const std::string name = at < names.size() ? names[at] : std::to_string(o + 1);
    print_metric(("R^2 of " + name).c_str(), prediction_score(own, truth, 0, known.options()));
  }
}

/// Of another loss than squares its own score first.
void print_regression(TargetRows known, const std::vector<std::string>& names,
                      const Scoring& scoring) {
  if (scoring.loss != nullptr)
    std::printf("%s\n", scoring
                            .text(prediction_score(known.numbers, known.truth(), 0,
                                                   scoring.options(known.options())))
                            .c_str());
  known.numbers = scoring.means(std::move(known.numbers));
  for (const Named& one : {Named{"R^2", MERCER_METRIC_R2}, Named{"RMSE", MERCER_METRIC_RMSE},
                           Named{"MAE", MERCER_METRIC_MAE}})
    print_metric(one.name,
                 prediction_score(known.numbers, known.truth(), 0, known.options(one.metric)));
  print_targets(known, names);
}

/// Rows of a class, columns of the class predicted.
void print_confusion(const Matrix<double>& counts, const std::vector<std::string>& classes) {
  std::printf("confusion: a row for each class, a column for each class predicted\n%16s", "");
  for (const std::string& name : classes) std::printf(" %8.8s", name.c_str());
  for (size_t i = 0; i < classes.size(); ++i) {
    std::printf("\n%16.16s", classes[i].c_str());
    for (size_t k = 0; k < classes.size(); ++k)
      std::printf(" %8.6g", counts(static_cast<int64_t>(i), static_cast<int64_t>(k)));
  }
  std::printf("\n");
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

constexpr double kAnyTarget = -std::numeric_limits<double>::infinity();
constexpr double kKnownClass = 0;

void print_classification(const LoadedModel& loaded, const Dataset& test,
                          const Matrix<double>& scores, const Rows& X,
                          const mercer_predict_options& options, bool quiet, Session& session) {
  const int64_t K = loaded.model.classes();
  const TargetRows all = rows_with_targets(scores, test, kAnyTarget);
  print_metric("accuracy", prediction_score(all.numbers, all.truth(), K, all.options()));
  const TargetRows known = rows_with_targets(scores, test, kKnownClass);
  if (known.rows() == 0) return;
  const Matrix<double> counts = confusion(known.numbers, known.truth(), K, known.options());
  print_metric("balanced accuracy", mean_recall(counts));
  print_metric("AUC",
               prediction_score(known.numbers, known.truth(), K, known.options(MERCER_METRIC_AUC)));
  if (loaded.model.has_probabilities()) {
    const TargetRows p = rows_with_targets(
        loaded.model.predict(X, options, session.context(), "probability"), test, kKnownClass);
    for (const Named& one : {Named{"log loss", MERCER_METRIC_LOG_LOSS},
                             Named{"calibration error", MERCER_METRIC_CALIBRATION_ERROR}})
      print_metric(one.name, prediction_score(p.numbers, p.truth(), K, p.options(one.metric)));
  }
  if (K <= kMostPrinted && !quiet) print_confusion(counts, loaded.metadata.classes);
}

/// With --quiet only where some rows do not count.
void print_rows(const TargetRows& known, const Dataset& test, int64_t unknown,
                const Streams& streams) {
  std::FILE* out = known.rows() < test.n ? streams.warnings : streams.out;
  if (out != nullptr)
    std::fprintf(out, "%-18s %" PRId64 "%s\n", "rows", known.rows(), known.text(test).c_str());
  if (unknown > 0)
    std::fprintf(streams.warnings,
                 "%-18s %" PRId64 " (count as wrong; other metrics leave them out)\n",
                 "unknown labels", unknown);
}

}  // namespace

void run_score(const ScoreRequest& request) {
  if (request.model == "-" && request.test == "-")
    throw Failure("MODEL and TEST cannot both be standard input");
  const LoadedModel loaded = load_model(request.model);
  const Streams streams = streams_of(request.quiet, stdout);
  std::FILE* warnings = streams.warnings;
  Dataset test = read_rows_for(loaded, request.test, request.labels, request.columns, warnings);
  if (test.m == 0) fail_at(test.name, 0, 0, "no target, which a score needs");
  check_targets(loaded, test);
  const int64_t unknown =
      loaded.metadata.classification
          ? number_known_classes(loaded.metadata.classes, loaded.metadata.text_labels, &test)
          : 0;
  Session session(request.threads, request.quiet);
  OutsideCounts outside(loaded.inputs);
  const Rows X = rows_of(test.X, 0, test.n, test.d);
  const mercer_predict_options options = outside.options(extrapolation_of(request.extrapolation));
  const std::vector<std::string> names = input_names(loaded.metadata);
  const Matrix<double> scores = in_words_of(
      test.name, names, [&] { return loaded.model.predict(X, options, session.context()); });
  session.clear_bar();
  const TargetRows known = rows_with_targets(scores, test, kAnyTarget);
  if (known.rows() == 0) fail_at(test.name, 0, 0, "no row holds a target, which a score needs");
  outside.tell(test.n, names, loaded.clips(request.extrapolation), warnings);
  tell_unused_weights(loaded, test, warnings);
  print_rows(known, test, unknown, streams);
  if (loaded.metadata.classification) {
    print_classification(loaded, test, scores, X, options, request.quiet, session);
  } else {
    print_regression(known, loaded.metadata.targets, scoring_of(loaded.model));
  }
}

}  // namespace mercer::cli
