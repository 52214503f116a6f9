// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer cv: all that fit does on the rows outside each fold, scored on those inside, which no
// choice has seen. Folds of one row are scored together, since one row has no R^2 of its own.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <span>

#include "fitting.h"
#include "message.h"
#include "scoring.h"
#include "split.h"

namespace mercer::cli {
namespace {

struct Job {
  const CvRequest& request;
  const Plan& plan;
  TrainingSet set;  // in the order of the folds
  std::vector<Fold> folds;
  Session& session;
  const Streams& streams;
  int64_t outside = 0, predicted = 0;  // rows, these of them outside the range of the fit

  Scoring scoring() const {
    const LearnRequest& learn = request.fit.learn;
    return {set.K > 0, set.K > 0 ? nullptr : find_loss(learn.loss()), learn.spec.value("tau", 0.0)};
  }
};

/// The rows that a fold is predicted from, and behind them the fold.
TrainingSet split_off(const Job& job, const Fold& fold) {
  const int64_t n = job.set.data.n, end = fold.first + fold.rows;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i)
    if (i < fold.first || (i >= end && !job.request.fit.learn.ordered)) order.push_back(i);
  for (int64_t i = fold.first; i < end; ++i) order.push_back(i);
  TrainingSet split = job.set;
  arrange_rows(&split.data, order);
  return split;
}

/// Predictions of a fold by a fit on the others, or on all before it.
Matrix<double> predict_fold(Job* job, const Fold& fold) {
  const TrainingSet split = split_off(*job, fold);
  const Dataset& data = split.data;
  const int64_t n = data.n - fold.rows;
  const Model model =
      fit_rows(fit_spec(job->request.fit, job->plan, split, false), split, n, job->session);
  int64_t outside = 0;
  mercer_predict_options options = predict_options();
  options.rows_outside = &outside;
  Matrix<double> predicted = in_words_of(
      data.name, input_names(split.metadata),
      [&] {
        return model.predict(inputs_of(data, n, fold.rows), "value", options,
                             job->session.context());
      },
      std::span(data.file_rows).subspan(n));
  job->outside += outside;
  job->predicted += fold.rows;
  job->session.clear_bar();
  return predicted;
}

double score_of(const Job& job, const Matrix<double>& predicted, const Fold& fold) {
  const Dataset& data = job.set.data;
  return prediction_score(predicted, targets_of(data, fold.first, fold.rows), job.set.K,
                          job.scoring().options(score_options_of(data.weights, fold.first)),
                          job.session.context());
}

void tell_result(const Job& job, double score, double error, const std::string& of,
                 const Json& folds) {
  const Scoring scoring = job.scoring();
  if (job.outside > 0)
    std::fprintf(job.streams.warnings,
                 "note: %" PRId64 " of %" PRId64
                 " rows lie outside the range of the rows they are predicted from\n",
                 job.outside, job.predicted);
  if (job.streams.scores != nullptr)
    std::fprintf(job.streams.scores, "cv: %s, standard error %.5f, %s\n",
                 scoring.text(score).c_str(), error, of.c_str());
  job.streams.print({{"measure", scoring.measure()},
                     {"score", score},
                     {"standard_error", error},
                     {"of", of},
                     {"folds", folds}});
}

/// Of the mean of folds: rather too small, as these share rows (Bengio, Grandvalet 2004).
void cross_validate(Job* job) {
  std::vector<double> scores;
  Json told = Json::array();
  int64_t k = 0;
  for (const Fold& fold : job->folds) {
    const Stopwatch watch;
    const double score = score_of(*job, predict_fold(job, fold), fold);
    if (!std::isnan(score)) scores.push_back(score);  // R^2 is of targets that vary
    told.push_back({{"score", score}, {"rows", fold.rows}, {"seconds", watch.seconds()}});
    if (job->streams.out == nullptr) continue;
    std::fprintf(job->streams.out, "fold %" PRId64 ": %s on %" PRId64 " rows, %.1f s\n", ++k,
                 job->scoring().text(score).c_str(), fold.rows, watch.seconds());
    std::fflush(job->streams.out);
  }
  const auto judged = std::ssize(scores), folds = std::ssize(job->folds);
  if (judged < 2)
    throw Failure("--folds: the target does not vary within " + counted(folds - judged, "fold") +
                  " of " + std::to_string(folds) +
                  ", which have no R^2; --folds loo scores all rows together");
  if (judged < folds)
    std::fprintf(
        job->streams.warnings,
        "warning: the target does not vary within %s, which have no R^2 and do not count\n",
        counted(folds - judged, "fold").c_str());
  const MeanOfRows mean = mean_of(scores, {});
  tell_result(*job, mean.value, mean.standard_error, counted(judged, "fold"), told);
}

/// Of the mean loss; rows of a fold stand and fall together.
double error_of_folds(const Job& job, const Matrix<double>& predicted) {
  const Dataset& data = job.set.data;
  const std::vector<double> losses = row_losses(predicted, data, job.set.K);
  std::vector<double> means, weights;
  for (const Fold& fold : job.folds) {
    double sum = 0, all = 0;
    for (auto i = static_cast<size_t>(fold.first); i < static_cast<size_t>(fold.first + fold.rows);
         ++i) {
      const double weight = data.weights.empty() ? 1.0 : data.weights[i];
      sum += weight * losses[i];
      all += weight;
    }
    means.push_back(sum / all);
    weights.push_back(all);
  }
  return mean_of(means, weights).standard_error;
}

/// Folds of each row by itself, or of each group.
void leave_one_out(Job* job) {
  const Dataset& data = job->set.data;
  Matrix<double> predicted(data.n, std::max(job->set.K, data.m));
  for (const Fold& fold : job->folds) {
    const Matrix<double> rows = predict_fold(job, fold);
    for (int64_t i = 0; i < fold.rows; ++i)
      for (int64_t k = 0; k < rows.cols(); ++k) predicted(fold.first + i, k) = rows(i, k);
  }
  const double score = score_of(*job, predicted, {0, data.n});
  const std::string what =
      data.groups.empty() ? "leave-one-out of " + counted(data.n, "row")
                          : "leave-one-group-out of " + counted(std::ssize(job->folds), "group");
  tell_result(*job, score, error_of_folds(*job, predicted), what, Json::array());
}

/// Refuses more folds than the rows allow.
void check_folds(int64_t asked, const TrainingSet& set, bool ordered) {
  if (ordered && asked == 0)
    throw Failure("--folds loo: does not go with --ordered, whose folds are parts of the time");
  const int64_t n = ordered ? set.data.n / 2 : set.data.n;
  if (asked == 0 || (asked == n && !ordered) || !set.data.groups.empty()) return;
  if (n < 2 * asked) {
    throw Failure("--folds: " + std::to_string(asked) + " folds of " + counted(n, "row") +
                  ", expected at least 2 rows in each" +
                  (ordered ? "" : ", or --folds loo, one row in each"));
  }
}

}  // namespace

void run_cv(const CvRequest& request) {
  const LearnRequest& learn = request.fit.learn;
  const Streams streams = streams_of(learn.run, stdout);
  const Plan plan = checked_plan(request.fit);
  TrainingSet set = read_training_set(learn, streams);
  check_folds(request.folds, set, learn.ordered);
  if (request.folds == 0 && !learn.loss().empty() && set.K == 0)
    throw Failure("--folds loo: does not go with --loss " + learn.loss());
  const bool alone = request.folds == 0 || request.folds == set.data.n;
  std::vector<Fold> folds = make_folds(&set.data, request.folds, {learn.seed, learn.ordered});
  Session session(learn.run);
  Job job{request, plan, std::move(set), std::move(folds), session, streams};
  if (alone) return leave_one_out(&job);
  cross_validate(&job);
}

}  // namespace mercer::cli
