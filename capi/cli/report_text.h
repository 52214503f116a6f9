// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a fit's report says about its model, in a few lines.
#pragma once

#include <string>
#include <vector>

#include "json.h"

namespace mercer::cli {

/// Names that the library does not know, or none of them.
struct ReportNames {
  std::vector<std::string> inputs = {}, targets = {}, classes = {};
  bool balanced = false;  // classes weigh alike in fits: scores are means of recalls
};

/// Lines, each with its end.
struct ReportText {
  std::string score;      // "honest score: ...", and its baselines
  std::string shortness;  // the inputs by lengthscale where each has one
  std::string warnings;   // "warning: ..."
};
/// Nothing for an empty report.
ReportText report_text(const Json& report, const ReportNames& names = {});

}  // namespace mercer::cli
