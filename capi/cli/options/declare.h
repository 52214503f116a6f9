// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Each command with its options, and what it runs.
#pragma once

#include <CLI/App.hpp>

namespace mercer::cli {

void add_fit(CLI::App& app);
void add_cv(CLI::App& app);
void add_predict(CLI::App& app);
void add_score(CLI::App& app);
void add_compare(CLI::App& app);
void add_relevance(CLI::App& app);
void add_info(CLI::App& app);
void add_specs(CLI::App& app);

}  // namespace mercer::cli
