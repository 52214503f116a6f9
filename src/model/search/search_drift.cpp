// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Warns if rows are not exchangeable: one fit, at the choice and with the size of a coarse trial,
// predicts the last fifth of the rows and as many drawn from the others.
#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "model/assess/drift.h"
#include "model/assess/warnings.h"
#include "model/search/search_run.h"

namespace mercer::model {
namespace {

constexpr int64_t kMostJudged = 2000;  // of either kind
constexpr double kLeastLost = 0.05;    // of R^2 or accuracy, to be worth a warning

}  // namespace

void SearchRun::warn_of_drift(const Chosen& chosen) {
  const int64_t n = std::ssize(chosen_by_), fifth = n / 5;
  if (!rule_.exchangeable() || !options_.assess || options_.part_of > 0 ||
      fifth < static_cast<int64_t>(kLeastDriftRows))
    return;
  const std::vector<int64_t> before(chosen_by_.begin(), chosen_by_.end() - fifth),
      last(chosen_by_.end() - fifth, chosen_by_.end()),
      among = sample_rows(before, fifth, fit_.select.seed);
  std::vector<int64_t> others;
  std::ranges::set_difference(before, among, std::back_inserter(others));
  const auto part = [&](const std::vector<int64_t>& rows, int64_t most) {
    return sample_rows(rows, most, fit_.select.seed);
  };
  const std::vector<int64_t> train = part(others, sizes_.coarse.rows);
  candidates_.use(*chosen.setting.maker);
  const int64_t features =
      chosen.setting.maker->features_of(sizes_.coarse.features, std::ssize(train));
  const solver::BlockSource& rows =
      candidates_.at(chosen.setting.prepared->by, chosen.lengthscales, features, train);
  couple(candidates_.map(), chosen.setting);
  const Judge judge = judge_of(chosen.setting);
  LambdaPlan plan;
  // By ridge, whatever the final estimator.
  plan.grid = {chosen.trial.points.empty() ? chosen.point.lambda
                                           : chosen.trial.points[chosen.at].lambda};
  try {
    const HeldOutFit fit(rows, estimate_.problem(), train, HeldOutFit::Sums::exact, context_, {});
    const Trial later = fit.judge(plan, part(last, kMostJudged), judge, context_);
    const Trial alike = fit.judge(plan, part(among, kMostJudged), judge, context_);
    const double lost = later.points[0].score - alike.points[0].score;
    if (!(lost > kLeastLost) || !are_larger(later.losses[0], alike.losses[0])) return;
    report_.warnings.push_back(
        text("the rows before the last fifth predict it worse (%s %.3f) than rows among themselves "
             "(%.3f): if rows are in the order of time, set ordered; if they come in groups, give "
             "groups; if they are merely sorted, the score is valid",
             judge_.classifies() ? "accuracy" : "R^2", 1 - later.points[0].score,
             1 - alike.points[0].score));
  } catch (const Error& error) {
    if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
  }
  candidates_.release();
}

}  // namespace mercer::model
