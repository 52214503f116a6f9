// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What whoever uses a fit should know before trusting it.
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "base/parameters.h"
#include "base/rows.h"
#include "model/prepare/coding.h"
#include "model/report.h"

namespace mercer::model {

/// A warning of up to 319 characters, as printf writes it.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// Of the data: few rows, targets or inputs that do not vary, targets that vary by few rows alone,
/// a class of one row; rows that repeat the inputs of others, and what these allow where their
/// targets differ, unless the score of a regression shows that other rows are less noisy. Copies
/// are not kept together in folds: of inputs that take few values new rows repeat old ones, too.
std::vector<std::string> data_warnings(const Coding& coding, const Rows& X,
                                       MatrixView<const double> Y, const Assessment& assessment,
                                       Context& context);

/// Of what was chosen. fitted: the loss of rows that were fitted over that of the criterion, NaN
/// where no smaller lambda is wanted. largest: of the lambdas that were to be had; 0 for one that was
/// given.
std::vector<std::string> choice_warnings(const FitReport& report, double fitted,
                                         bool lengthscale_at_edge, double largest);

/// Of a Gaussian process that is too sure far from all rows (share_far_away).
std::vector<std::string> far_warnings(double share, int64_t features);
/// Of hyper-parameters by the evidence: half of the features ask for lengthscales and a noise (its
/// deviation) of so many times.
std::vector<std::string> evidence_warnings(double lengthscale, double noise, int64_t features);

/// Of the score beside the baselines'. own: the estimator's parameters.
std::vector<std::string> score_warnings(const Parameters& own, Task task,
                                        const Assessment& assessment);

}  // namespace mercer::model
