// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer cv: everything that fit does, once for each fold on the rows outside it, scored on the
// rows inside: no choice, of lengthscale, lambda or anything else, has seen the rows it is judged
// by.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <vector>

#include "commands.h"
#include "failure.h"
#include "fitting.h"
#include "message.h"
#include "score.h"
#include "session.h"
#include "split.h"
#include "streams.h"
#include "table_rows.h"

namespace mercer::cli {

namespace {

struct FoldScores {
  std::vector<double> values;
  double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  /// Of the mean. The folds share most of their training rows, so that it is too small rather than
  /// too large (Bengio, Grandvalet 2004).
  double standard_error() const {
    const double center = mean(), count = static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - center) * (value - center);
    return std::sqrt(squares / (count - 1) / count);
  }
};

/// Rows outside the training range of the folds that do not hold them.
struct FoldOutside {
  int64_t here = 0, rows = 0, all = 0;

  mercer_predict_options options() {
    mercer_predict_options options = predict_options();
    options.rows_outside = &here;
    return options;
  }
  void add(int64_t scored) {
    rows += here;
    all += scored;
  }
  void tell(std::FILE* out) const {
    if (rows > 0)
      std::fprintf(out,
                   "note: %" PRId64 " of %" PRId64
                   " rows lie outside the range of the rows they are predicted from\n",
                   rows, all);
  }
};

// Fold k of the shuffled rows stands last while it is predicted.
double score_fold(const CvRequest& request, const Plan& plan, TrainingSet* set, int64_t k,
                  Session& session, std::FILE* out, FoldOutside* outside) {
  const Fold fold = fold_of(set->data.n, request.folds, k);
  const int64_t n = set->data.n - fold.rows;
  swap_blocks(&set->data, fold.first, n, fold.rows);
  const Stopwatch watch;
  const Model model = fit_by_search(request.fit, plan, *set, n, false, session, nullptr);
  const mercer_predict_options options = outside->options();
  const Matrix<double> predicted = in_words_of(set->data.name, input_names(set->metadata), [&] {
    return model.predict(rows_of(set->data.X, n, fold.rows, set->data.d), options,
                         session.context());
  });
  outside->add(fold.rows);
  const double score =
      prediction_score(predicted, targets_of(set->data.Y, n, fold.rows, set->data.m), set->K,
                       score_options_of(set->data.weights, n), session.context());
  swap_blocks(&set->data, fold.first, n, fold.rows);
  session.clear_bar();
  if (out != nullptr) {
    std::fprintf(out, "fold %" PRId64 ": %s on %" PRId64 " rows, %.1f s\n", k + 1,
                 score_text(set->K > 0, score).c_str(), fold.rows, watch.seconds());
    std::fflush(out);
  }
  return score;
}

}  // namespace

void run_cv(const CvRequest& request) {
  const LearnRequest& learn = request.fit.learn;
  const Streams streams = streams_of(learn.quiet, stdout);
  const Plan plan = plan_of(request.fit);
  TrainingSet set = read_training_set(learn, streams);
  if (set.data.n < 2 * request.folds) {
    throw Failure("--folds: " + std::to_string(request.folds) + " folds of " +
                  std::to_string(set.data.n) + " rows, expected at least 2 rows in each");
  }
  shuffle_rows(&set.data, learn.seed);
  Session session(learn.threads, learn.quiet);
  FoldScores scores;
  FoldOutside outside;
  for (int64_t k = 0; k < request.folds; ++k)
    scores.values.push_back(score_fold(request, plan, &set, k, session, streams.out, &outside));
  outside.tell(streams.warnings);
  std::printf("cv: %s, standard error %.5f, %" PRId64 " folds\n",
              score_text(set.K > 0, scores.mean()).c_str(), scores.standard_error(), request.folds);
}

}  // namespace mercer::cli
