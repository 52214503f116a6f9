// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Regression or classification, and labels to class numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset.h"

namespace mercer::cli {

struct Task {
  bool classification = false;
  std::string reason;        // one clause for the person who let it be chosen
  std::string warning = {};  // empty: none
};

/// wanted: "auto", "regression" or "classification". auto is classification iff labels are text, or
/// integers covering exactly 0..K-1, 1..K or {-1,1} with 2 <= K <= 100 and n >= 20K, but n >= 10
/// for {0,1} and {-1,1}, which are hardly ever anything else, unless their frequencies are those of
/// counts: rising to one mode and falling from it, at one end below a twentieth of it, and K >= 6;
/// or 3 <= K <= 5 from 0 on, the last below a twentieth, and near a Poisson law or, for K > 3, a
/// negative binomial.
/// Fails when the targets do not allow what is wanted.
Task choose_task(const Dataset& data, const std::string& wanted);

/// Replaces Y by class numbers 0..K-1 and returns the label of each class: texts sorted by bytes,
/// numbers by value. Fails for fewer than two classes and for numbers that are not whole.
std::vector<std::string> number_classes(Dataset* data);

/// Replaces Y by the class number of a model's label, -1 for a label it does not know; returns how
/// many those are. Missing labels stay or become NaN.
int64_t number_known_classes(const std::vector<std::string>& classes, bool text_labels,
                             Dataset* data);

}  // namespace mercer::cli
