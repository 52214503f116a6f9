// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Search for lengthscale, lambda and shape (Gamma's, or the mixture of fields) of a model of
// several outputs, a fit on all rows, and a score of rows that no choice has seen beside
// independent outputs and means.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "model/outputs/operator_maker.h"
#include "model/outputs/operator_model.h"

namespace mercer::model {

struct OperatorCandidate {
  double lengthscale = 0;  // in units of the inputs; 0: the spec's own
  double lambda = 0;       // the best for it
  double shape = 0;
  double error = std::numeric_limits<double>::infinity();  // over the targets' variance
  bool left_out = false;  // by rows left out one by one; else by a fifth held out
  int64_t features = 0, rows = 0;
};

struct OperatorSearchOptions {
  std::vector<double> lengthscales = {};  // empty: searched; one: kept
  std::vector<double> lambdas = {};       // empty: searched
  std::vector<double> shapes = {};        // empty: OperatorMaker::shapes
  bool assess = true;
  void (*report)(void* user, const OperatorCandidate& candidate) = nullptr;  // must not throw
  void* user = nullptr;
};

/// R^2, the mean of the outputs', of rows that no choice has seen. NaN: not known.
struct OperatorScore {
  int64_t rows = 0;     // 0: there is none
  bool nested = false;  // every row, by five searches that had not seen it
  double score = std::numeric_limits<double>::quiet_NaN();
  double standard_error = std::numeric_limits<double>::quiet_NaN();
  double independent = std::numeric_limits<double>::quiet_NaN();  // of outputs each by itself
  double constant = std::numeric_limits<double>::quiet_NaN();     // of the means
};

struct OperatorReport {
  OperatorCandidate chosen;  // of the final fit
  bool has_shape = false;
  OperatorScore score;
  std::vector<OperatorCandidate> trials;
  std::vector<std::string> warnings;
};

/// Squares. lambda by leave-one-out on up to 2,000 rows where the map is decomposable and no target
/// is missing, or one side of the problem is at most 1,300 wide; else by rows held out. Lengthscale
/// by a walk from the median distance in factors of 2, then of sqrt(2), with at most 4,000 rows
/// and, where rows are more than coefficients, features for about 1,000 coefficients, the same
/// draws for all; then the shape; then lambda again with all rows and features. Score: up to 400
/// rows with a target by five folds, each with a search of its own; more: a fifth of them (above
/// 5,000 a tenth, at most 10,000) is kept away, scored, and then part of the fit. None below 10
/// rows. Errors: those of OperatorMaker, of the fits; INVALID_ARGUMENT for an empty or infinite
/// number.
OperatorModel search_operator(const OperatorPlan& plan, const OperatorSearchOptions& options,
                              MatrixView<const double> X, MatrixView<const double> Y,
                              Context& context, OperatorReport& report);

}  // namespace mercer::model
