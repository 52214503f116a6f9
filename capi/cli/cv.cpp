// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer cv: everything that fit does, once for each fold on the rows outside it, scored on the
// rows inside: no choice, of lengthscale, lambda or anything else, has seen the rows it is judged
// by. Folds of one row are scored together, since one row has no R^2 of its own.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

#include "commands.h"
#include "failure.h"
#include "fitting.h"
#include "message.h"
#include "row_losses.h"
#include "score.h"
#include "session.h"
#include "split.h"
#include "streams.h"
#include "table_rows.h"

namespace mercer::cli {

namespace {

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

struct Job {
  const CvRequest& request;
  const Plan& plan;
  TrainingSet set;  // shuffled
  int64_t folds;
  Session& session;
  const Streams& streams;
  FoldOutside outside = {};
};

/// Predictions of a fold by a fit on the others; it stands last meanwhile.
Matrix<double> predict_fold(Job* job, const Fold& fold) {
  Dataset& data = job->set.data;
  const int64_t n = data.n - fold.rows;
  swap_blocks(&data, fold.first, n, fold.rows);
  const Model model =
      fit_by_search(job->request.fit, job->plan, job->set, n, false, job->session, nullptr);
  const mercer_predict_options options = job->outside.options();
  const Rows held_out = rows_of(data.X, n, fold.rows, data.d);
  Matrix<double> predicted = in_words_of(
      data.name, input_names(job->set.metadata),
      [&] { return model.predict(held_out, options, job->session.context()); },
      std::span(data.file_rows).subspan(static_cast<size_t>(n)));
  job->outside.add(fold.rows);
  swap_blocks(&data, fold.first, n, fold.rows);
  job->session.clear_bar();
  return predicted;
}

double score_of(const Job& job, const Matrix<double>& predicted, const Fold& fold) {
  const Dataset& data = job.set.data;
  return prediction_score(predicted, targets_of(data.Y, fold.first, fold.rows, data.m), job.set.K,
                          score_options_of(data.weights, fold.first), job.session.context());
}

/// R^2 is of targets that vary within the fold.
bool has_score(const TrainingSet& set, const Fold& fold) {
  if (set.K > 0) return true;
  const int64_t m = set.data.m;
  std::vector<double> known(static_cast<size_t>(m), std::nan(""));
  for (int64_t k = fold.first * m; k < (fold.first + fold.rows) * m; ++k) {
    const double y = set.data.Y[static_cast<size_t>(k)];
    double& first = known[static_cast<size_t>(k % m)];
    if (std::isnan(first)) first = y;
    if (!std::isnan(y) && y != first) return true;
  }
  return false;
}

/// Of the mean of the folds. They share most of their training rows, so that it is too small rather
/// than too large (Bengio, Grandvalet 2004).
void cross_validate(Job* job) {
  std::vector<double> scores;
  for (int64_t k = 0; k < job->folds; ++k) {
    const Stopwatch watch;
    const Fold fold = fold_of(job->set.data.n, job->folds, k);
    const double score = score_of(*job, predict_fold(job, fold), fold);
    if (has_score(job->set, fold)) scores.push_back(score);
    if (job->streams.out == nullptr) continue;
    std::fprintf(job->streams.out, "fold %" PRId64 ": %s on %" PRId64 " rows, %.1f s\n", k + 1,
                 score_text(job->set.K > 0, score).c_str(), fold.rows, watch.seconds());
    std::fflush(job->streams.out);
  }
  job->outside.tell(job->streams.warnings);
  const auto judged = std::ssize(scores);
  if (judged < 2)
    throw Failure("--folds: the target does not vary within " +
                  counted(job->folds - judged, "fold") + " of " + std::to_string(job->folds) +
                  ", which have no R^2; --folds loo scores all rows together");
  if (judged < job->folds)
    std::fprintf(
        job->streams.warnings,
        "warning: the target does not vary within %s, which have no R^2 and do not count\n",
        counted(job->folds - judged, "fold").c_str());
  const MeanOfRows mean = mean_of(scores, {});
  std::printf("cv: %s, standard error %.5f, %" PRId64 " folds\n",
              score_text(job->set.K > 0, mean.value).c_str(), mean.standard_error, judged);
}

/// There are as many fits as rows: a line every few seconds, from the first on that takes longer.
void tell_progress(const Job& job, int64_t done, double seconds, double* told) {
  constexpr double kSecondsBetween = 3;
  if (job.streams.out == nullptr || seconds < *told + kSecondsBetween) return;
  *told = seconds;
  const int64_t n = job.folds;
  std::fprintf(job.streams.out, "row %" PRId64 " of %" PRId64 ", %.1f s, about %.0f s in all\n",
               done, n, seconds, seconds * static_cast<double>(n) / static_cast<double>(done));
  std::fflush(job.streams.out);
}

void leave_one_out(Job* job) {
  const Dataset& data = job->set.data;
  const Stopwatch watch;
  double told = 0;
  Matrix<double> predicted(data.n, std::max(job->set.K, data.m));
  for (int64_t i = 0; i < data.n; ++i) {
    const Matrix<double> row = predict_fold(job, {i, 1});
    for (int64_t k = 0; k < row.cols(); ++k) predicted(i, k) = row(0, k);
    tell_progress(*job, i + 1, watch.seconds(), &told);
  }
  job->outside.tell(job->streams.warnings);
  const double score = score_of(*job, predicted, {0, data.n});
  std::printf("cv: %s, standard error %.5f, leave-one-out of %" PRId64 " rows\n",
              score_text(job->set.K > 0, score).c_str(),
              mean_of(row_losses(predicted, data, job->set.K), data.weights).standard_error,
              data.n);
}

/// 0 asks for as many as rows.
int64_t folds_of(int64_t asked, int64_t n) {
  if (asked == 0 || asked == n) return n;
  if (n < 2 * asked) {
    throw Failure("--folds: " + std::to_string(asked) + " folds of " + counted(n, "row") +
                  ", expected at least 2 rows in each, or --folds loo, one row in each");
  }
  return asked;
}

}  // namespace

void run_cv(const CvRequest& request) {
  const LearnRequest& learn = request.fit.learn;
  const Streams streams = streams_of(learn.quiet, stdout);
  const Plan plan = plan_of(request.fit);
  TrainingSet set = read_training_set(learn, streams);
  const int64_t folds = folds_of(request.folds, set.data.n);
  shuffle_rows(&set.data, learn.seed);
  Session session(learn.threads, learn.quiet);
  Job job{request, plan, std::move(set), folds, session, streams};
  if (folds == job.set.data.n) return leave_one_out(&job);
  cross_validate(&job);
}

}  // namespace mercer::cli
