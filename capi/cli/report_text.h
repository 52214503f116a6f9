// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a fit's report says about its model, in a few lines.
#pragma once

#include <string>
#include <vector>

namespace mercer::cli {

/// "honest score: ...", baselines, the inputs by relevance where that was learnt, a line for each
/// warning; nothing for "{}". inputs: their names, or none.
/// targets: the same of them, for warnings.
std::string report_text(const std::string& report, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& targets = {});

/// The lines of warnings alone.
std::string warnings_text(const std::string& report, const std::vector<std::string>& targets = {});

}  // namespace mercer::cli
