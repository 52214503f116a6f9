// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The file of --operator decomposable:FILE: weights between targets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mercer::cli {

/// m x m in the order of the targets, whose names are `targets` (empty: they have none). A header
/// names columns and rows, in any order; without one they are in the order of the targets. Fails
/// naming file, and row and column from 1, for names that are no targets and weights that are no
/// graph's.
std::vector<double> read_graph(const std::string& path, const std::vector<std::string>& targets,
                               int64_t m);

}  // namespace mercer::cli
