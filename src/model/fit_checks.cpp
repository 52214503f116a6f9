// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Argument checks of fit and search. Messages count rows and columns from 0.
#include "model/fit_checks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/views.h"
#include "kernel/kernel.h"
#include "model/estimator/gp_model.h"
#include "model/estimator/model_entry.h"
#include "model/local.h"
#include "model/prepare/row_coding.h"
#include "model/rows/row_sets.h"
#include "solver/row_weights.h"

namespace mercer::model {

void check_path(const SelectionOptions& selecting) {
  require(std::isfinite(selecting.lambda_largest), MERCER_INVALID_ARGUMENT,
          "select.largest = %g, expected a finite number", selecting.lambda_largest);
  require(selecting.lambda_smallest > 0 && selecting.lambda_largest >= selecting.lambda_smallest,
          MERCER_INVALID_ARGUMENT,
          "select.smallest = %g, expected above 0 and at most select.largest = %g",
          selecting.lambda_smallest, selecting.lambda_largest);
  require(selecting.lambda_count >= 1, MERCER_INVALID_ARGUMENT,
          "lambda_count = %ld, expected at least 1", selecting.lambda_count);
}

void check(const TargetOptions& coding) {
  require(coding.task == Task::regression || coding.classes >= 2, MERCER_INVALID_ARGUMENT,
          "classes = %ld, expected at least 2 for classification", coding.classes);
}

void check(const PreparationOptions& preparing, const TargetOptions& coding) {
  require(coding.task == Task::regression || preparing.target_transform == Transform::none,
          MERCER_UNSUPPORTED, "target_transform of class numbers, expected none");
  require(preparing.standardize || preparing.scale == Scale::standard, MERCER_INVALID_ARGUMENT,
          "scale = %s and standardize = false, expected scale = standard, the default, or "
          "standardize = true: scale says how inputs are standardised",
          word_of(preparing.scale));
}

void check(const SelectionOptions& selecting) {
  if (selecting.selection == Selection::fixed) {
    require(selecting.lambda >= 0 && std::isfinite(selecting.lambda), MERCER_INVALID_ARGUMENT,
            "lambda = %g, expected a finite number >= 0", selecting.lambda);
    return;
  }
  check_path(selecting);
  if (selecting.selection == Selection::held_out) {
    require(selecting.held_out_fraction > 0 && selecting.held_out_fraction < 1,
            MERCER_INVALID_ARGUMENT, "held_out_fraction = %g, expected a number between 0 and 1",
            selecting.held_out_fraction);
  }
}

void check(const FitOptions& asked) {
  check(asked.coding);
  check(asked.prepare, asked.coding);
  check(asked.select);
  if (asked.estimate.entry->check != nullptr) asked.estimate.entry->check(asked);
}

void check_target_columns(const TargetOptions& coding, const char* what, int64_t columns) {
  if (coding.targets != Targets::given) {
    require(columns == 0, MERCER_INVALID_ARGUMENT,
            "%s = %ld, expected 0: the model learns from rows alone", what, columns);
    return;
  }
  require(columns >= 1, MERCER_INVALID_ARGUMENT, "%s = %ld, expected at least 1", what, columns);
  require(coding.task == Task::regression || columns == 1, MERCER_DIMENSION_MISMATCH,
          "%s = %ld, expected 1 column of class numbers for classification", what, columns);
}

void check_rows(const char* what, int64_t rows, double weight) {
  require(rows >= 2, MERCER_INVALID_ARGUMENT, "%s.n = %ld, expected at least 2", what, rows);
  require(weight > 0 && std::isfinite(weight), MERCER_INVALID_ARGUMENT,
          "weights of %s sum to %g, expected a positive, finite number", what, weight);
}

void check_folds(const SelectionOptions& selecting, int64_t rows) {
  require(
      selecting.selection != Selection::folds || (selecting.folds >= 2 && selecting.folds <= rows),
      MERCER_INVALID_ARGUMENT, "folds = %ld, expected 2 to the number of rows, %ld",
      selecting.folds, rows);
}

void check_dependence(const SelectionOptions& selecting, std::span<const double> groups) {
  for (size_t i = 0; i < groups.size(); ++i)
    require(std::isfinite(groups[i]), MERCER_INVALID_ARGUMENT, at_row(i),
            "groups is of group %g, expected a finite number", groups[i]);
  require(groups.empty() || std::ranges::count(groups, groups[0]) < std::ssize(groups),
          MERCER_INVALID_ARGUMENT, "every row is of group %g, expected at least two groups",
          groups.empty() ? 0.0 : groups[0]);
  require(groups.empty() || !selecting.ordered, MERCER_UNSUPPORTED,
          "groups of rows with ordered = true, expected one of the two");
  const bool alone =
      selecting.selection == Selection::leave_one_out || selecting.selection == Selection::gcv;
  require(!alone || (groups.empty() && !selecting.ordered), MERCER_UNSUPPORTED,
          "select.by = %s of rows in groups or in the order of time, expected folds or held_out: "
          "each row would be predicted from its like",
          selecting.selection == Selection::leave_one_out ? "leave_one_out" : "gcv");
}

void check_shapes(const TargetOptions& coding, int64_t rows, int64_t inputs,
                  MatrixView<const double> Y) {
  check_rows("X", rows, static_cast<double>(rows));
  require(inputs >= 1, MERCER_INVALID_ARGUMENT, "X.d = %ld, expected at least 1", inputs);
  require(coding.targets != Targets::given || Y.rows == rows, MERCER_DIMENSION_MISMATCH,
          "Y.n = %ld, expected %ld as in X", Y.rows, rows);
  check_target_columns(coding, "Y.d", Y.cols);
}

void check_inputs(int64_t inputs, int64_t columns) {
  require(inputs == columns, MERCER_DIMENSION_MISMATCH, "X.d = %ld, expected the map's %ld inputs",
          columns, inputs);
}

void check_row_norms(const kernel::Kernel& kernel, const Preparation& preparation) {
  require(!kernel.traits().needs_unit_rows || preparation.row_norm == 1, MERCER_INVALID_ARGUMENT,
          "kernel %s takes rows of norm 1, expected unit_rows = true of the kernel or of prepare",
          std::string(kernel.name()).c_str());
}

void check_outputs(const kernel::Kernel& kernel, const FitOptions& asked) {
  const kernel::MatrixKernel* const matrix = kernel.matrix();
  require(matrix == nullptr || asked.outputs.structure == OutputStructure::independent,
          MERCER_UNSUPPORTED,
          "outputs beside kernel %s, which says how they belong together, expected one of both",
          std::string(kernel.name()).c_str());
  require(matrix == nullptr || asked.coding.targets == Targets::given, MERCER_UNSUPPORTED,
          "kernel %s of several outputs in a model of rows alone, expected a kernel of one",
          std::string(kernel.name()).c_str());
  require(matrix == nullptr || !asked.estimate.entry->separate_classes, MERCER_UNSUPPORTED,
          "kernel %s of several outputs with model = %s, expected a kernel of one: each class has "
          "its own process",
          std::string(kernel.name()).c_str(), asked.estimate.entry->name);
  if (matrix == nullptr || !matrix->is_of_directions()) return;
  const PreparationOptions& prepare = asked.prepare;
  const bool one_unit =
      !prepare.standardize || prepare.scale == Scale::common || prepare.scale == Scale::center;
  require(one_unit && prepare.transform == Transform::none && !prepare.unit_rows &&
              prepare.buckets == 0 && prepare.missing != Missing::flag,
          MERCER_UNSUPPORTED,
          "prepare of a field: its inputs are directions, expected scale common or center, or "
          "standardize = false, and no transform, unit_rows or flags");
}

void check_numbers(Missing missing, const Rows& X) {
  require_summable("X", X,
                   missing == Missing::refuse ? MissingNumbers::refused : MissingNumbers::allowed);
}

bool may_miss_targets(const TargetOptions& coding, const ModelEntry& entry) {
  return coding.task == Task::regression && entry.sums_over_outputs;
}

void check_targets(const TargetOptions& coding, MatrixView<const double> Y, bool may_miss) {
  for (int64_t i = 0; i < Y.rows && !may_miss && coding.task == Task::regression; ++i)
    for (int64_t k = 0; k < Y.cols; ++k)
      require(!std::isnan(Y(i, k)), MERCER_INVALID_ARGUMENT, at(i, k),
              "Y is NaN, expected a number: targets may be missing in regressions by ridge, gp and "
              "logistic alone");
  require_summable("Y", Y, may_miss ? MissingNumbers::allowed : MissingNumbers::refused);
  if (coding.task == Task::regression) return;
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double label = Y(i, 0);
    require(label >= 0 && label < static_cast<double>(coding.classes) && label == std::floor(label),
            MERCER_INVALID_ARGUMENT, at_row(i),
            "Y has class %g, expected a whole number from 0 to %ld", label, coding.classes - 1);
  }
}

void ObservedTargets::add(MatrixView<const double> Y, std::span<const double> weights) {
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols && solver::weight_at(weights, i) > 0; ++k) {
      const double y = Y(i, k);
      ++counts_[std::isnan(y) ? Y.cols : k];
      if (!std::isnan(y)) largest_[k] = std::max(largest_[k], std::abs(y));
    }
}

void ObservedTargets::keep(StateBytes& state) {
  state.numbers(std::span(counts_));
  state.numbers(std::span(largest_));
}

void check_data(const FitOptions& asked, const TargetedRows& rows) {
  solver::require_weights(rows.weights, rows.X.rows());
  check_rows("X", rows.X.rows(), solver::total_weight(rows.weights, rows.X.rows()));
  check_folds(asked.select, rows.X.rows());
  check_dependence(asked.select, rows.groups);
  check_numbers(asked.prepare.missing, rows.X);
  check_targets(asked.coding, rows.Y, may_miss_targets(asked.coding, *asked.estimate.entry));
}

void check_streamed(const FitOptions& asked, bool shared, bool prepared) {
  const PreparationOptions& prepare = asked.prepare;
  require(prepare.missing != Missing::flag || prepared, MERCER_UNSUPPORTED,
          "missing = flag of a stream, whose flags cannot be counted before it is read, expected "
          "refuse or fill");
  const OutputStructure outputs = asked.outputs.structure;
  require(
      outputs == OutputStructure::independent || outputs == OutputStructure::given,
      MERCER_UNSUPPORTED,
      "outputs of a stream, expected independent or given: how they belong together is found in "
      "targets, of a sample of the rows in memory say");
  check_dependence(asked.select, {});
  require(!asks_local(asked.estimate.parameters), MERCER_UNSUPPORTED,
          "local fits of a stream, expected rows in memory, or local = \"off\"");
  require(!learns_kernel(asked.estimate), MERCER_UNSUPPORTED,
          "hyperparameters = learnt of a stream, whose rows come in one order, expected rows in "
          "memory, or given");
  if (!shared) return;
  require(!asked.select.ordered, MERCER_UNSUPPORTED,
          "ordered = true of rows that several processes share, expected false: each holds out "
          "rows of its own");
  if (prepared) return;
  require(
      prepare.missing == Missing::refuse, MERCER_UNSUPPORTED,
      "missing = fill of rows that several processes share, expected refuse: medians would take "
      "a column's numbers in one process");
  require(prepare.scale == Scale::standard, MERCER_UNSUPPORTED,
          "scale = %s of rows that several processes share, expected standard: it would take a "
          "column's numbers in one process",
          word_of(prepare.scale));
  require(prepare.transform == Transform::none && prepare.target_transform == Transform::none,
          MERCER_UNSUPPORTED,
          "transform or target_transform of rows that several processes share, expected none: "
          "curves would take a column's numbers in one process");
}

ObservedTargets observed_of(MatrixView<const double> Y, std::span<const double> weights) {
  ObservedTargets observed(Y.cols);
  observed.add(Y, weights);
  return observed;
}

void ObservedTargets::reduce(solver::Reduction& reduction) {
  std::vector<double> sums = counts_;
  sums.insert(sums.end(), largest_.begin(), largest_.end());
  reduction.sum(sums);
  std::copy_n(sums.begin(), counts_.size(), counts_.begin());
  std::copy_n(sums.end() - std::ssize(largest_), largest_.size(), largest_.begin());
}

void ObservedTargets::require_some() const {
  constexpr double kLeastTarget = 1e-150;  // whose square is a number yet
  for (size_t k = 0; k < largest_.size(); ++k) {
    require(counts_[k] > 0, MERCER_INVALID_ARGUMENT, at_column(k),
            "Y is NaN in every row that has a weight, expected some target");
    require(largest_[k] == 0 || largest_[k] >= kLeastTarget, MERCER_INVALID_ARGUMENT, at_column(k),
            "Y is %g at most, expected numbers whose squares are not 0, such as 1e-150: another "
            "unit",
            largest_[k]);
  }
}

void ObservedTargets::warn(FitReport& report) const {
  warn_of_missing(counts_.back(), std::reduce(counts_.begin(), counts_.end()), report);
}

void warn_of_missing(double missing, double targets, FitReport& report) {
  constexpr const char kMissing[] =
      " targets are NaN: missing, and left out of the fit and its scores";
  if (missing == 0) return;
  std::erase_if(report.warnings, [&](const std::string& one) { return one.ends_with(kMissing); });
  report.warnings.push_back(std::to_string(static_cast<int64_t>(missing)) + " of " +
                            std::to_string(static_cast<int64_t>(targets)) + kMissing);
}

namespace {

constexpr int64_t kSampledRows = 64;
constexpr double kKept = 0.1;   // of k(x, x)
constexpr double kMany = 0.25;  // of the rows

/// out: ||z(x)||^2 / k(x, x) for each row of X; 1 where k is 0. Of a map of several outputs of the
/// map of one output that it is made of: the roots multiply both sides alike.
void kept_variances(const Model& model, const Rows& X, Context& context, MatrixView<double> out) {
  const feature::FeatureMap& map = model.map->scalar();
  const Matrix<double> x(1, map.inputs(), context, "a prepared row"),
      z(1, map.row_length(), context, "features of a row");
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      prepare_row(model.preparation, rows, i, x.view().row(0));
      map.apply(Rows(MatrixView<const double>(x.view())), {0, map.features()}, context, z.view());
      double square = 0;
      for (int64_t j = 0; j < z.cols(); ++j) square += z(0, j) * z(0, j);
      double k = 0;
      kernel::diagonal(map.kernel(), x.view(), {&k, 1});
      out(i, 0) = k > 0 ? square / k : 1;
    }
  });
}

/// Local fits about each predicted row keep its variance.
bool may_vanish(const Model& model) {
  return model.fit.coding.targets == Targets::given && !model.map->scalar().has_kernel_columns() &&
         (model.local == nullptr || !model.local->fits.empty());
}

}  // namespace

void warn_of_vanishing(Model& model, const Rows& X, Context& context) {
  if (!may_vanish(model)) return;
  const CopiedRows sample(X, sample_rows(all_rows(X.rows()), kSampledRows, model.fit.select.seed),
                          context);
  const Matrix<double> kept(sample.rows().rows(), 1);
  if (model.local == nullptr) {
    kept_variances(model, sample.rows(), context, kept.view());
  } else {
    predict_locally(model, sample.rows(), context, kept.view(),
                    [&](const Model& near, const Rows& rows, MatrixView<double> part) {
                      kept_variances(near, rows, context, part);
                    });
  }
  // Lambda makes up for what all rows lose.
  const std::span<const double> shares(kept.data(), static_cast<size_t>(kept.rows()));
  const double most = std::min(1.0, std::ranges::max(shares));
  const auto few =
      std::ranges::count_if(shares, [most](double share) { return share <= kKept * most; });
  if (!(static_cast<double>(few) > kMany * static_cast<double>(kept.rows()))) return;
  const bool centers = model.local == nullptr &&
                       model.fit.estimate.parameters.find("local") != nullptr &&
                       model.map->kernel().is_shift_invariant();
  model.report.warnings.push_back(
      "features keep less than a tenth of the kernel's variance k(x, x) at " +
      std::to_string(100 * few / kept.rows()) +
      " % of the rows: predictions there are near the mean whatever the targets, and variances too "
      "small; expected more features, " +
      (centers ? "\"local\" fits about several centers, " : "") +
      "another map, or a longer lengthscale");
}

}  // namespace mercer::model
