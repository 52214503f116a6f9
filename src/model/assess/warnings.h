// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Warnings about a fit for its user.
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "base/parameters.h"
#include "base/views.h"
#include "model/prepare/coding.h"
#include "model/report.h"

namespace mercer::model {

/// A warning of up to 319 characters, formatted as by printf.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// About the data: few rows, constant targets or inputs, targets that vary in few rows alone, a
/// class of one row; rows with equal inputs, and the best score if their targets differ, unless the
/// score of a regression exceeds it. Folds may separate equal rows: inputs with few values repeat
/// in new rows, too.
std::vector<std::string> data_warnings(const Coding& coding, const Rows& X,
                                       MatrixView<const double> Y, const Assessment& assessment,
                                       Context& context);

/// About the choice.
std::vector<std::string> choice_warnings(const FitReport& report, bool lengthscale_at_edge);

/// Hyper-parameters by the evidence of too few features for a fit of so many degrees of freedom.
std::vector<std::string> evidence_warnings(double dimension, int64_t features);

/// The score compared with the baselines. own: the estimator's parameters.
std::vector<std::string> score_warnings(const Parameters& own, Task task,
                                        const Assessment& assessment);

}  // namespace mercer::model
