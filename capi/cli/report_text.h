// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a fit's report says about its model, in a few lines.
#pragma once

#include <string>

namespace mercer::cli {

/// "honest score: ...", "baselines ...", a line for each warning; nothing for "{}".
std::string report_text(const std::string& report);

}  // namespace mercer::cli
