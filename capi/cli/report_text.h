// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a fit's report says about its model, in a few lines.
#pragma once

#include <string>
#include <vector>

namespace mercer::cli {

/// Names that the library does not know, or none of them.
struct ReportNames {
  std::vector<std::string> inputs = {}, targets = {}, classes = {};
  bool balanced = false;  // classes weigh alike in fits: scores are means of recalls
};

/// "honest score: ...", baselines, the inputs by lengthscale where each has one, a line for each
/// warning; nothing for "{}".
std::string report_text(const std::string& report, const ReportNames& names = {});

/// The score and its baselines alone.
std::string score_lines_text(const std::string& report, const ReportNames& names = {});

/// The line of the honest score alone.
std::string honest_score_text(const std::string& report, const ReportNames& names = {});

/// The lines of warnings alone.
std::string warnings_text(const std::string& report, const ReportNames& names = {});

}  // namespace mercer::cli
