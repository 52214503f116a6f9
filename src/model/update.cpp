// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/update.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "kernel/kernel.h"
#include "model/estimator/class_weights.h"
#include "model/estimator/gp_model.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/predict.h"
#include "model/prepare/row_coding.h"
#include "model/rows/feature_rows.h"
#include "solver/block_statistics.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

using solver::RowStatistics;

constexpr double kLeastLeft = 1e-6;  // of a sum from which rows are taken: six of sixteen digits

/// Sums in the place of rows, as of one process of many, whose rows none else reads.
class SummedRows final : public solver::BlockSource {
 public:
  explicit SummedRows(const RowStatistics& sums) : sums_(sums) {}
  int64_t features() const override { return sums_.features(); }
  int64_t outputs() const override { return sums_.outputs(); }
  int64_t rows() const override { return sums_.rows(); }
  int64_t block_rows() const override { return 1; }
  solver::Reduction* reduction() const override { return &alone_; }
  bool add_to(RowStatistics& statistics, Context&, const solver::RowsDone& done,
              const Weigh&) const override {
    statistics.merge(sums_);
    if (done) done(rows());
    return true;
  }
  void for_each_target(Context&, const TargetBody& body) const override {
    body({nullptr, std::max<int64_t>(1, std::llround(sums_.weight())), 0}, {});
  }
  void for_each(Context&, const Body&) const override {
    fail(MERCER_UNSUPPORTED,
         "an update that explains targets to a millionth of their squares, which sums do not "
         "resolve, expected \"noise\" in the spec of the model, or a fit of all rows");
  }
  std::unique_ptr<BlockSource> subset(solver::RowSet) const override {
    fail(MERCER_INTERNAL, "rows of sums");
  }

 private:
  class Alone final : public solver::Reduction {
    void sum(std::span<double>) override {}
  };
  const RowStatistics& sums_;
  mutable Alone alone_;
};

/// The weighted sum of z_j^2.
double square(const RowStatistics& sums, int64_t j) {
  const auto at = static_cast<size_t>(j);
  const double origin = sums.origin_features()[at];
  return sums.gram()(j, j) + origin * (2 * sums.sum_features()[at] + sums.weight() * origin);
}

double target_square(const RowStatistics& sums, int64_t k) {
  const auto at = static_cast<size_t>(k);
  const double origin = sums.origin_outputs()[at];
  return sums.sum_squared_outputs()[at] +
         origin * (2 * sums.sum_outputs()[at] + sums.weight() * origin);
}

double mean_square_norm(const RowStatistics& sums) {
  double total = 0;
  for (int64_t j = 0; j < sums.features(); ++j) total += square(sums, j);
  return total / sums.weight();
}

/// How lambda is chosen; `before`: the weight of the rows that it was chosen by.
SelectionOptions selection_of(const Model& model, const RowStatistics& sums, double before) {
  SelectionOptions select = model.fit.select;
  if (select.selection == Selection::fixed) return select;
  const kernel::Kernel& kernel = model.map->kernel();
  select.unit = kernel.spectral_law() != nullptr ? kernel.value_at_zero() : mean_square_norm(sums);
  if (select.selection == Selection::evidence) return select;
  select.selection = Selection::gcv;
  if (sums.weight() >= kGcvRows * static_cast<double>(sums.features())) return select;
  select.selection = Selection::fixed;
  select.lambda *= before / sums.weight();
  return select;
}

void check_rows_of(const Model& model, const TargetedRows& rows) {
  const auto& [X, Y, weights, groups] = rows;
  require(X.cols() == model.inputs(), MERCER_DIMENSION_MISMATCH,
          "X.d = %ld, expected the model's inputs, %ld", X.cols(), model.inputs());
  const int64_t targets = model.fit.coding.task == Task::classification ? 1 : model.outputs();
  require(Y.cols == targets, MERCER_DIMENSION_MISMATCH, "Y.d = %ld, expected %ld as in the fit",
          Y.cols, targets);
  require(groups.empty(), MERCER_UNSUPPORTED,
          "groups of an update, expected none: no rows are held out");
  solver::require_weights(weights, X.rows());
  check_numbers(model.fit.prepare.missing, X);
  check_targets(model.fit.coding, Y);
}

/// Refuses rows that are not among those of the sums, and rows that leave so little of them that it
/// may be rounding.
void check_removed(const RowStatistics& sums, const RowStatistics& removed) {
  const double left = sums.weight() - removed.weight();
  require(sums.rows() - removed.rows() >= 2 && left >= kLeastLeft * sums.weight(),
          MERCER_INVALID_ARGUMENT,
          "remove leaves %ld rows of weight %g of %ld rows of weight %g, expected at least 2 rows "
          "and a millionth of the weight: fit the rows that are left",
          sums.rows() - removed.rows(), left, sums.rows(), sums.weight());
  const auto check = [&](const char* what, int64_t j, double own, double all) {
    require(own <= (1 + kLeastLeft) * all, MERCER_INVALID_ARGUMENT,
            "the rows to remove have a larger sum of squares of %s %ld, %g, than all rows of the "
            "model, %g, expected rows that it holds, with their weights",
            what, j, own, all);
  };
  for (int64_t j = 0; j < sums.features(); ++j)
    check("feature", j, square(removed, j), square(sums, j));
  for (int64_t k = 0; k < sums.outputs(); ++k)
    check("target", k, target_square(removed, k), target_square(sums, k));
}

RowStatistics updated_sums(const Model& model, const UpdateOptions& asked, const TargetedRows& rows,
                           Context& context) {
  RowStatistics sums = model.sums->sums.clone(context);
  if (asked.decay < 1) sums.scale(asked.decay);
  std::vector<double> weights(rows.weights.begin(), rows.weights.end());
  for (double& weight : weights) weight /= model.sums->unit;
  const FeatureRows features(*model.map, model.preparation, model.fit.coding,
                             model.fit.estimate.precision, {rows.X, rows.Y, weights});
  if (!asked.remove) {
    solver::add_blocks(features, sums, context);
    return sums;
  }
  RowStatistics removed(sums.features(), sums.outputs(), context);
  solver::add_blocks(features, removed, context);
  check_removed(sums, removed);
  sums.subtract(removed);
  return sums;
}

/// Each range with the new one.
void widen(std::vector<Range>& ranges, const std::vector<Range>& more) {
  for (size_t j = 0; j < std::min(ranges.size(), more.size()); ++j) {
    ranges[j].lowest = std::min(ranges[j].lowest, more[j].lowest);
    ranges[j].low = std::min(ranges[j].low, more[j].low);
    ranges[j].high = std::max(ranges[j].high, more[j].high);
    ranges[j].highest = std::max(ranges[j].highest, more[j].highest);
  }
}

}  // namespace

void check_kept(const FitOptions& asked) {
  if (asked.keep == Keep::nothing) return;
  const EstimatorOptions& estimate = asked.estimate;
  require(estimate.entry->least_squares, MERCER_UNSUPPORTED,
          "keep = sums of model = %s, expected ridge or gp: others learn from rows",
          estimate.entry->name);
  require(estimate.problem().iterative == solver::Iterative::no, MERCER_UNSUPPORTED,
          "keep = sums with solver = cg or mixed, expected direct");
  require(!asks_local(estimate.parameters), MERCER_UNSUPPORTED,
          "keep = sums of local fits, expected local = \"off\"");
  require(!is_balanced(estimate.parameters), MERCER_UNSUPPORTED,
          "keep = sums with class_weight = balanced, expected none: factors follow from all rows");
  require(asked.outputs.structure == OutputStructure::independent, MERCER_UNSUPPORTED,
          "keep = sums with outputs, expected independent ones");
}

void check_kept(const FitOptions& asked, bool of_rows, bool several_outputs) {
  if (asked.keep == Keep::nothing) return;
  require(!of_rows, MERCER_UNSUPPORTED, "keep = sums of map exact, expected a map of features");
  require(!several_outputs, MERCER_UNSUPPORTED,
          "keep = sums of a kernel of several outputs, expected a scalar one");
}

void check_kept(const FitOptions& asked, const feature::FeatureMap& map) {
  check_kept(asked, map.scalar().has_kernel_columns(), map.outputs() > 1);
  require(asked.keep == Keep::nothing || !map.is_complex(), MERCER_UNSUPPORTED,
          "keep = sums of a complex map, expected a real one: form pair or phase, field real or "
          "complex_to_real");
}

void keep_sums(const solver::BlockSource& rows, double unit, Context& context, Model& model) {
  if (model.fit.keep == Keep::nothing) return;
  check_kept(model.fit, *model.map);
  require(rows.is_complete(), MERCER_UNSUPPORTED,
          "keep = sums of rows that miss targets, expected all targets");
  RowStatistics sums(rows.features(), rows.outputs(), context);
  solver::add_blocks(rows, sums, context);
  model.sums =
      std::make_shared<const KeptSums>(KeptSums{solver::take_reduced(rows, std::move(sums)), unit});
}

Model update(const Model& model, const UpdateOptions& asked, const TargetedRows& rows,
             Context& context) {
  require(model.sums != nullptr, MERCER_UNSUPPORTED,
          "the model keeps no sums of its rows, expected one whose spec says \"keep\": \"sums\"");
  check_rows_of(model, rows);
  Stage stage(context, 2);
  RowStatistics sums = stage.part(1, [&] { return updated_sums(model, asked, rows, context); });
  const double before = model.sums->sums.weight();
  FitOptions options = model.fit;
  options.estimate.map = model.map.get();
  TargetOptions numbers = options.coding;  // classes are fitted as their codes
  numbers.task = Task::regression;
  EstimatorFit learned = stage.part(1, [&] {
    return options.estimate.entry->fit(SummedRows(sums), options.estimate, numbers,
                                       selection_of(model, sums, before), context);
  });
  Model next = model;
  next.rows = sums.rows();
  next.fit.select.lambda = learned.lambda;
  next.path = std::move(learned.path);
  next.report = {};
  Calibration calibration = std::move(next.calibration);
  take_fit(learned, next, next.report);
  next.calibration = std::move(calibration);
  next.report.warn(learned.warnings);
  next.report.warn(
      {"the model was updated and has no honest score: score new rows before they are "
       "added"});
  if (!asked.remove && next.ranges.known()) {
    const Ranges more = ranges_of(rows.X, ranged_targets(options.coding, rows.Y),
                                  options.select.seed, context, rows.weights);
    widen(next.ranges.inputs, more.inputs);
    widen(next.ranges.targets, more.targets);
  }
  next.sums = std::make_shared<const KeptSums>(KeptSums{std::move(sums), model.sums->unit});
  return next;
}

}  // namespace mercer::model
