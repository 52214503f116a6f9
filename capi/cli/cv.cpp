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
#include "score.h"
#include "session.h"
#include "split.h"
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

// Fold k of the shuffled rows stands last while it is predicted.
double score_fold(const CvRequest& request, const Plan& plan, TrainingSet* set, int64_t k,
                  Session& session, std::FILE* out) {
  const Fold fold = fold_of(set->data.n, request.folds, k);
  const int64_t n = set->data.n - fold.rows;
  swap_blocks(&set->data, fold.first, n, fold.rows);
  const Stopwatch watch;
  const Model model = fit_by_search(request.fit, plan, *set, n, false, session, nullptr);
  const double score = model.score(rows_of(set->data.X, n, fold.rows, set->data.d),
                                   targets_of(set->data.Y, n, fold.rows, set->data.m),
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
  std::FILE* out = learn.quiet ? nullptr : stdout;
  const Plan plan = plan_of(request.fit);
  TrainingSet set = read_training_set(learn, out);
  if (set.data.n < 2 * request.folds) {
    throw Failure("--folds: " + std::to_string(request.folds) + " folds of " +
                  std::to_string(set.data.n) + " rows, expected at least 2 rows in each");
  }
  shuffle_rows(&set.data, learn.seed);
  Session session(learn.threads, learn.quiet);
  FoldScores scores;
  for (int64_t k = 0; k < request.folds; ++k)
    scores.values.push_back(score_fold(request, plan, &set, k, session, out));
  std::printf("cv: %s, standard error %.5f, %" PRId64 " folds\n",
              score_text(set.K > 0, scores.mean()).c_str(), scores.standard_error(), request.folds);
}

}  // namespace mercer::cli
