// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The door of every fit: what is asked, the data, and the model.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "model/row_stream.h"
#include "model/search/search.h"

namespace mercer::model {

/// The most rows that a search of rows not in memory samples.
inline constexpr int64_t kSearchedRows = 40000;

/// What is asked of a fit. What is open is decided by the map and the data; so is the number of
/// classes if it is 0.
struct FitPlan {
  Parameters map = {};          // may leave anything open (partial_map.h)
  SearchOptions search = {};    // search.fit serves a fit that chooses lambda alone, too
  bool searches = true;         // false, or where data exclude it: lambda alone is chosen
  bool names_model = true;      // false: the estimator of classes is open
  bool walks = false;           // set by settle_data: rows held out choose an open lengthscale
  bool open_selection = false;  // set by settle_spec: how lambda is chosen was left open
  /// Keys that were written: "lengthscale", "select", "select.by".
  std::vector<std::string> keys = {};
  int64_t sampled = kSearchedRows;  // rows in whose place a search of a source stands
};
/// Decides what needs no data, when a spec has been read (spec/spec.cpp): what an automatic
/// choice, a quick search and a model without targets come to. Errors: INVALID_ARGUMENT,
/// UNSUPPORTED for keys that exclude each other.
void settle_spec(FitPlan& plan);
/// The keys of a fit that say how choices are made, which a fitted model does not keep.
OptionTable<FitPlan> choice_options();

/// The caller's map; null: the plan's.
using GivenMap = std::shared_ptr<const feature::FeatureMap>;

/// Observations Y (rows of X x outputs) of d^partial f at X.
struct Observations {
  kernel::MultiIndex partial;  // empty: values
  double weight = 1;           // w_s > 0
  MatrixView<const double> X;
  MatrixView<const double> Y;
  std::span<const double> row_weights;  // one number >= 0 for each row, or empty: 1 each
};

/// Rows in memory, rows of a source, or sets of values and derivatives.
struct FitData {
  GivenMap map = nullptr;
  TargetedRows rows = {};
  RowStream* source = nullptr;
  int64_t inputs = 0, targets = 0;  // of the source
  std::optional<std::span<const Observations>> sets = {};
  std::shared_ptr<const Predictor> given = nullptr;  // weights of another solver
};

/// Fits a model: with a search (search.h; of a source, on a sample of its rows) or by lambda alone.
/// Weights: n numbers >= 0, or none: 1 each; a row of weight 2 counts as two equal rows that are
/// held out together. Groups: n numbers, or none; held out as a whole. Without a search, memory in
/// units of 8 D^2 bytes: 1 for fixed, 2.5 for gcv and leave_one_out, 3.5 for held_out and folds (2
/// above D = 4096, with a Cholesky factor per lambda instead of one eigendecomposition), and a row
/// block; n x D in the dual form alone, for n < D. Of a complex map models of least squares are
/// those of complex features, others take real and imaginary parts as features. Errors: UNSUPPORTED
/// for keys that do not belong to such a fit; fewer than 2 rows, NaN or Inf in X or Y (naming row
/// and column), class out of range; those of search and fit_hermite.
Model fit(FitPlan plan, const FitData& data, Context& context);

// Steps of a fit (fit_plan.cpp).

/// "rows that are not in memory", in refusals.
inline constexpr const char* kOfSource = "rows that are not in memory";

inline bool has_targets(const FitPlan& plan) {
  return plan.search.fit.coding.targets == Targets::given;
}

/// Decides what the data say: whether there is a search, of how many classes, and how lambda is
/// chosen, by folds for rows that are not exchangeable. Errors: UNSUPPORTED for keys that do not
/// belong to such a fit; INVALID_ARGUMENT for classes that cannot be counted.
void settle_data(FitPlan& plan, const FitData& data);
/// Of these what rows in memory decide, or the sample of a source that is searched: the number of
/// classes, and no more folds than rows.
void settle_rows(FitPlan& plan, const FitData& data);
/// The number of classes, if it is left open: from the largest number in Y. INVALID_ARGUMENT for a
/// source that is not searched, which cannot be counted; what its map excludes is said before.
void count_classes(FitPlan& plan, const FitData& data);
/// That number, from the largest class number and whether a row is of class 0; INVALID_ARGUMENT
/// unless classes are numbered from 0 to at most kMostClasses - 1, and targets Y, or a sample of
/// them, are of half of the numbers: a class without rows costs as much as any other.
inline constexpr int64_t kMostClasses = 1000000;
int64_t class_count(double largest, bool begins_at_0, MatrixView<const double> Y);

/// The map of a fit: one that is ready, or the plan's, for a search or to be made from rows.
struct Proposal {
  GivenMap map = nullptr;                         // null: made from rows
  std::unique_ptr<PartialMap> partial = nullptr;  // null: the caller's map
  double lengthscale = 0;                         // 0: the median distance of rows,
  double factor = 1;                              // times this
  int64_t features = 0;
};
Proposal propose(FitPlan& plan, const FitData& data);
/// Of sets of observations at these places, without a search.
Proposal propose(const FitPlan& plan, MatrixView<const double> places, const Context& context);

}  // namespace mercer::model
