// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a report warns of: columns, repeated rows, order, drift, and what the fit met.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/parameters.h"
#include "base/views.h"
#include "model/prepare/preparation.h"
#include "model/report.h"

namespace mercer::model {

// Warnings about a fit for its user.

/// A warning of up to 319 characters, formatted as by printf.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// Of weights that rounding keeps from solving their equations (solver/iterative_system.cpp).
std::vector<std::string> residual_warnings(double residual, double lambda);

/// About the data: few rows, constant targets or inputs, targets that vary in few rows alone, a
/// class of one row; rows with equal inputs, and the best score if their targets differ, unless the
/// score of a regression exceeds it. Folds may separate equal rows: inputs with few values repeat
/// in new rows, too.
std::vector<std::string> data_warnings(const TargetOptions& coding, const Rows& X,
                                       MatrixView<const double> Y, const Assessment& assessment,
                                       Context& context);

/// About the choice.
std::vector<std::string> choice_warnings(const FitReport& report, bool lengthscale_at_edge);

/// Hyper-parameters by the evidence of too few features for a fit of so many degrees of freedom.
std::vector<std::string> evidence_warnings(double dimension, int64_t features);

/// The score compared with the baselines. own: the estimator's parameters.
std::vector<std::string> score_warnings(const Parameters& own, Task task,
                                        const Assessment& assessment);

// Warnings about single columns that suggest errors in the data.

/// Warns of codes for missing numbers in dense inputs and targets, of dense inputs that copy
/// others, and of single dense inputs that almost determine the target. Y: original targets, or
/// class numbers. Cost: two passes over the numbers, and a sort of 1,000 rows.
std::vector<std::string> column_warnings(Task task, const Rows& X, MatrixView<const double> Y,
                                         Context& context);

// Rows with equal inputs, whose targets bound the attainable score.

struct Repeats {
  int64_t rows = 0;           // whose inputs repeat an earlier row's
  int64_t contradictory = 0;  // in groups of equal inputs whose targets differ
  /// The best attainable score. Classification: the accuracy of predicting the largest class of
  /// every group of equal rows. Regression: R^2, averaged over the outputs that vary, if the pure
  /// error (squares within groups over rows minus groups) is the noise variance of all rows.
  double most = 1;
};

/// Compares rows by a 64-bit hash of their inputs. Memory: 16 bytes per row.
Repeats find_repeats(Task task, const Rows& X, MatrixView<const double> Y, Context& context);

// A test for drift. One fit predicts held-out rows after its training rows and held-out rows among
// them: if rows are exchangeable, both losses have the same distribution, so a rank test is valid
// whatever the fit.

/// The least number of losses of either kind for the normal approximation at level 1/1000.
inline constexpr size_t kLeastDriftRows = 20;
/// Whether losses are larger than others by the rank test of Mann and Whitney (1947) at level
/// 1/1000 in its normal approximation, ties counted half. False below kLeastDriftRows of either.
bool are_larger(std::span<const double> losses, std::span<const double> others);

}  // namespace mercer::model
