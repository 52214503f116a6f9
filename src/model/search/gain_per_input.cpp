// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Whether lengthscales per input are better than one for all by more than chance.
#include <utility>

#include "model/search/search_run.h"

namespace mercer::model {
namespace {

// d numbers were learnt from these rows and several factors tried: one error may be chance.
constexpr double kErrors = 2;
constexpr double kErrorsOfMany = 1;  // regression on many rows: less chance
// Leave-one-out does not see what lengthscales have learnt from the row left out: where a few rows
// of a rare category have the largest errors it promised R^2 of .98 for .73, and of 300 rows of ten
// inputs .54 for .47. With few rows for each input the gain has to be one on rows, too, that
// lengthscales were not learnt from, and by more than its error there where a small share of the
// rows makes it. (With an error everywhere gains of .01 to .04 are lost: airfoil, elevators.)
constexpr int64_t kParts = 4;
constexpr double kFewRows = 0.1;
constexpr int64_t kTrustedRowsPerInput = 40;

}  // namespace

/// split_.held_out judged by ridge on split_.train, which chooses lambda by leaving out: one point,
/// or none without a solution there.
Trial SearchRun::judge_others(const Setting& setting, const std::vector<double>& lengthscales) {
  candidates_.use(*setting.maker);
  const solver::BlockSource& rows =
      candidates_.at(setting.prepared->by, lengthscales, sizes_.fine.features, split_.train);
  take_unit(candidates_.map(), rows, split_.train);
  const std::vector<double> grid = lambdas({});
  const Trial left_out = leave_out(rows, setting, split_.train, grid);
  const double lambda = left_out.points[paired_pick(left_out)].lambda;
  Trial all = judge_splits(rows, estimate_.problem(), {split_}, grid, judge_of(setting), context_,
                           counting(rows.features()));
  cluster(all, clusters_of(split_.held_out, rule_));
  Trial chosen;
  for (size_t k = 0; k < all.points.size(); ++k) {
    if (all.points[k].lambda != lambda) continue;
    chosen.points = {all.points[k]};
    chosen.losses = {std::move(all.losses[k])};
    chosen.weights = std::move(all.weights);
    return chosen;
  }
  return chosen;
}

namespace {

void append(const Trial& part, Trial& all) {
  all.losses.resize(1);
  all.losses[0].insert(all.losses[0].end(), part.losses[0].begin(), part.losses[0].end());
  all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
}

}  // namespace

/// The gain on rows that lengthscales were not learnt from: they are learnt again, in the same way,
/// without each part of the rows.
Gain SearchRun::gain_on_others(const PerInputFit& best, const Chosen& common) {
  Trial each, one;
  const Split all = split_;
  for (Split& part : fold_splits(chosen_by_, kParts, fit_.select.seed, rule_)) {
    split_ = std::move(part);
    Ard learnt = learn_from_few(best.chosen.setting, common, best.start);
    if (best.again && !learnt.lengthscale.empty())
      learnt = learn_again(best.chosen.setting, learnt);
    if (learnt.lengthscale.empty()) continue;
    const Trial with = judge_others(best.chosen.setting, scaled(learnt.lengthscale, best.factor));
    const Trial without = judge_others(common.setting, common.lengthscales);
    if (with.points.empty() || without.points.empty()) continue;
    append(with, each);
    append(without, one);
  }
  split_ = all;
  return each.losses.empty() ? Gain{} : gain(each, 0, one, 0);
}

/// Whether lengthscales per input are better than the common one by more than chance.
bool SearchRun::gains(const PerInputFit& best, const Chosen& common) {
  const Gain found = gain(best.chosen.trial, best.chosen.at, common.trial, common.at);
  const bool asked = options_.per_input == PerInput::on;  // then one error does
  const double errors = leaves_out() && !asked ? kErrors : kErrorsOfMany;
  if (!(found.mean > errors * found.error)) return false;
  const int64_t d = std::ssize(best.chosen.lengthscales);
  const bool of_few = found.share < kFewRows;
  if (!leaves_out() || (!of_few && std::ssize(chosen_by_) >= kTrustedRowsPerInput * d)) return true;
  const Gain others = gain_on_others(best, common);
  return others.mean > (of_few ? others.error : 0);
}

}  // namespace mercer::model
