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
#include "scoring.h"
#include "session.h"

namespace mercer::cli {

namespace {

constexpr int64_t kMostPrinted = 30;  // classes of a confusion matrix
constexpr double kAnyTarget = -std::numeric_limits<double>::infinity();
constexpr double kKnownClass = 0;

/// Metrics as they are found, printed as a text or collected for an object.
class Metrics {
 public:
  explicit Metrics(const Streams& streams) : streams_(streams) {}

  void add(const std::string& name, double value) {
    found_[name] = std::isnan(value) ? Json() : Json(value);
    if (streams_.scores == nullptr) return;
    if (std::isnan(value)) {
      std::fprintf(streams_.scores, "%-18s not defined\n", name.c_str());
    } else {
      std::fprintf(streams_.scores, "%-18s %.6g\n", name.c_str(), value);
    }
  }
  void add_metric(const std::string& name, const TargetRows& rows, int64_t K,
                  mercer_metric metric) {
    add(name, prediction_score(rows.numbers, rows.truth(), K, rows.options(metric)));
  }
  /// Rows of a class, columns of the class predicted.
  void add_confusion(const Matrix<double>& counts, const std::vector<std::string>& classes) {
    const Json table = table_of(counts);
    found_["classes"] = classes;
    found_["confusion"] = table;
    if (streams_.out == nullptr || counts.rows() > kMostPrinted) return;
    std::fprintf(streams_.out,
                 "confusion: a row for each class, a column for each class predicted\n%16s", "");
    for (const std::string& name : classes) std::fprintf(streams_.out, " %8.8s", name.c_str());
    for (size_t i = 0; i < classes.size(); ++i) {
      std::fprintf(streams_.out, "\n%16.16s", classes[i].c_str());
      for (const Json& count : table[i]) std::fprintf(streams_.out, " %8.6g", count.get<double>());
    }
    std::fprintf(streams_.out, "\n");
  }
  /// With --quiet only where some rows do not count.
  void add_rows(const TargetRows& known, const Dataset& test, int64_t unknown) {
    found_.update({{"rows", known.rows()}, {"unknown labels", unknown}});
    std::FILE* out = known.rows() < test.n ? streams_.warnings : streams_.out;
    if (out != nullptr)
      std::fprintf(out, "%-18s %" PRId64 "%s\n", "rows", known.rows(), known.text(test).c_str());
    if (unknown > 0)
      std::fprintf(streams_.warnings,
                   "%-18s %" PRId64 " (count as wrong; other metrics leave them out)\n",
                   "unknown labels", unknown);
  }
  void finish() const { streams_.print(found_); }

 private:
  const Streams& streams_;
  Json found_ = Json::object();
};

/// What the scores of several targets are the mean of.
void add_targets(const TargetRows& known, const std::vector<std::string>& names, Metrics* metrics) {
  const MatrixView<const double> predicted = known.numbers.view();
  for (int64_t o = 0; known.outputs > 1 && o < known.outputs; ++o) {
    const MatrixView<const double> own(predicted.data + o, known.rows(), 1, predicted.ld);
    const MatrixView<const double> truth(known.targets.data() + o, known.rows(), 1, known.outputs);
    const auto at = static_cast<size_t>(o);
    const std::string name = at < names.size() ? names[at] : std::to_string(o + 1);
    metrics->add("R^2 of " + name, prediction_score(own, truth, 0, known.options()));
  }
}

/// Of another loss than squares its own score first.
void add_regression(TargetRows known, const std::vector<std::string>& names, const Scoring& scoring,
                    Metrics* metrics) {
  if (scoring.loss != nullptr)
    metrics->add(scoring.measure(), prediction_score(known.numbers, known.truth(), 0,
                                                     scoring.options(known.options())));
  known.numbers = scoring.means(std::move(known.numbers));
  metrics->add_metric("R^2", known, 0, MERCER_METRIC_R2);
  metrics->add_metric("RMSE", known, 0, MERCER_METRIC_RMSE);
  metrics->add_metric("MAE", known, 0, MERCER_METRIC_MAE);
  add_targets(known, names, metrics);
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

void add_classification(const LoadedModel& loaded, const Dataset& test, const Applied& applied,
                        Metrics* metrics) {
  const int64_t K = loaded.model.classes();
  const TargetRows all = rows_with_targets(applied.deciding(), test, kAnyTarget);
  metrics->add("accuracy", prediction_score(all.numbers, all.truth(), K, all.options()));
  const TargetRows decided = rows_with_targets(applied.deciding(), test, kKnownClass);
  if (decided.rows() == 0) return;
  const Matrix<double> counts = confusion(decided.numbers, decided.truth(), K, decided.options());
  metrics->add("balanced accuracy", mean_recall(counts));
  metrics->add_metric("AUC", rows_with_targets(applied.scores, test, kKnownClass), K,
                      MERCER_METRIC_AUC);
  if (applied.probabilities.rows() > 0) {
    const TargetRows p = rows_with_targets(applied.probabilities, test, kKnownClass);
    metrics->add_metric("log loss", p, K, MERCER_METRIC_LOG_LOSS);
    metrics->add_metric("calibration error", p, K, MERCER_METRIC_CALIBRATION_ERROR);
  }
  metrics->add_confusion(counts, loaded.metadata.classes);
}

}  // namespace

void run_score(const ApplyRequest& asked) {
  const LoadedModel loaded = load_model(asked.model);
  const Streams streams = streams_of(asked.run, stdout);
  Dataset test = read_rows_for(loaded, asked, streams.warnings);
  if (test.m == 0) fail_at(test.name, 0, 0, "no target, which a score needs");
  const int64_t unknown = match_targets(loaded, &test);
  ApplyRequest request = asked;
  request.probabilities = loaded.model.has_probabilities();
  Session session(request.run);
  const Applied applied = apply(loaded, test, request, session, streams.warnings);
  const TargetRows known = rows_with_targets(applied.scores, test, kAnyTarget);
  if (known.rows() == 0) fail_at(test.name, 0, 0, "no row holds a target, which a score needs");
  tell_unused_weights(loaded, test, streams.warnings);
  Metrics metrics(streams);
  metrics.add_rows(known, test, unknown);
  if (loaded.metadata.classification) {
    add_classification(loaded, test, applied, &metrics);
  } else {
    add_regression(known, loaded.metadata.targets, scoring_of(loaded.model), &metrics);
  }
  metrics.finish();
}

}  // namespace mercer::cli
