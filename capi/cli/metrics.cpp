// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer score: every metric that applies to a model's predictions of rows with targets.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <vector>

#include "commands.h"
#include "failure.h"
#include "loaded_model.h"
#include "outside.h"
#include "session.h"
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

void print_regression(const Matrix<double>& predictions, const Rows& Y) {
  for (const Named& one : {Named{"R^2", MERCER_METRIC_R2}, Named{"RMSE", MERCER_METRIC_RMSE},
                           Named{"MAE", MERCER_METRIC_MAE}})
    print_metric(one.name, prediction_score(predictions, Y, 0, score_options(one.metric)));
}

/// Rows of a class, columns of the class predicted.
void print_confusion(const Matrix<double>& counts, const std::vector<std::string>& classes) {
  std::printf("confusion: a row for each class, a column for each class predicted\n%16s", "");
  for (const std::string& name : classes) std::printf(" %8.8s", name.c_str());
  for (size_t i = 0; i < classes.size(); ++i) {
    std::printf("\n%16.16s", classes[i].c_str());
    for (size_t k = 0; k < classes.size(); ++k)
      std::printf(" %8.0f", counts(static_cast<int64_t>(i), static_cast<int64_t>(k)));
  }
  std::printf("\n");
}

/// The rows whose label the model knows: metrics but the accuracy are of these.
struct KnownRows {
  Matrix<double> numbers;
  std::vector<double> labels;

  KnownRows(const Matrix<double>& all, const double* Y)
      : numbers(count(Y, all.rows()), all.cols()) {
    for (int64_t i = 0; i < all.rows(); ++i) {
      if (Y[i] < 0) continue;
      const auto to = static_cast<int64_t>(labels.size());
      for (int64_t k = 0; k < all.cols(); ++k) numbers(to, k) = all(i, k);
      labels.push_back(Y[i]);
    }
  }
  Rows targets() const {
    return MatrixView<const double>(labels.data(), static_cast<int64_t>(labels.size()), 1);
  }

 private:
  static int64_t count(const double* Y, int64_t n) {
    int64_t known = 0;
    for (int64_t i = 0; i < n; ++i) known += Y[i] >= 0;
    return known;
  }
};

void print_classification(const LoadedModel& loaded, Dataset* test, const Matrix<double>& scores,
                          const Rows& X, const mercer_predict_options& options, Session& session) {
  const int64_t K = loaded.model.classes();
  const int64_t unknown =
      number_known_classes(loaded.metadata.classes, loaded.metadata.text_labels, test);
  if (unknown > 0)
    std::printf("%-18s %" PRId64 " (count as wrong; other metrics leave them out)\n",
                "unknown labels", unknown);
  print_metric("accuracy", prediction_score(scores, targets_of(test->Y, 0, test->n, 1), K));
  if (unknown == test->n) return;
  const KnownRows known(scores, test->Y.data());
  print_metric(
      "AUC", prediction_score(known.numbers, known.targets(), K, score_options(MERCER_METRIC_AUC)));
  if (loaded.model.has_probabilities()) {
    mercer_predict_options probable = options;
    probable.output = MERCER_OUTPUT_PROBABILITIES;
    const KnownRows p(loaded.model.predict(X, probable, session.context()), test->Y.data());
    print_metric("log loss", prediction_score(p.numbers, p.targets(), K,
                                              score_options(MERCER_METRIC_LOG_LOSS)));
    print_metric("calibration error",
                 prediction_score(p.numbers, p.targets(), K,
                                  score_options(MERCER_METRIC_CALIBRATION_ERROR)));
  }
  if (K <= kMostPrinted)
    print_confusion(confusion(known.numbers, known.targets(), K), loaded.metadata.classes);
}

}  // namespace

void run_score(const ScoreRequest& request) {
  if (request.model == "-" && request.test == "-")
    throw Failure("MODEL and TEST cannot both be standard input");
  const LoadedModel loaded = load_model(request.model);
  Dataset test = read_rows_for(loaded, request.test, request.labels, request.columns,
                               request.quiet ? nullptr : stdout);
  if (test.m == 0) fail_at(test.name, 0, 0, "no target, which a score needs");
  check_targets(loaded, test);
  Session session(request.threads, request.quiet);
  OutsideCounts outside(loaded.inputs);
  const Rows X = rows_of(test.X, 0, test.n, test.d);
  const mercer_predict_options options = outside.options(extrapolation_of(request.extrapolation));
  const Matrix<double> scores = loaded.model.predict(X, options, session.context());
  session.clear_bar();
  if (!request.quiet)
    outside.tell(test.n, input_names(loaded.metadata), loaded.clips(request.extrapolation), stdout);
  std::printf("%-18s %" PRId64 "\n", "rows", test.n);
  if (loaded.metadata.classification) {
    print_classification(loaded, &test, scores, X, options, session);
  } else {
    print_regression(scores, targets_of(test.Y, 0, test.n, test.m));
  }
}

}  // namespace mercer::cli
