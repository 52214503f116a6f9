// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Commands with their options, and what is said of a command line that is wrong.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "commands.h"

namespace mercer::cli {

using Words = std::vector<std::string>;

/// Checks of an option: a whole number within these; one of these words.
std::function<std::string(const std::string&)> whole_number(int64_t least, int64_t most);
std::function<std::string(const std::string&)> one_of(const Words& words);

/// "a|b|c".
std::string joined(const Words& words);
/// An option that takes one of these words.
void add_choice(CLI::App* app, const char* name, std::string* to, const Words& words,
                const char* help);
/// --threads, --quiet, --json.
void add_run_options(CLI::App* app, RunRequest* run);
/// --delimiter, --header, --decimal, --missing-word.
void add_column_options(CLI::App* app, ColumnRequest* columns);
/// --kernel, --map, --lengthscale.
void add_plan_options(CLI::App* app, PlanRequest* plan);
void add_seed(CLI::App* app, uint64_t* seed);
/// A list of columns in one word, which repeats.
CLI::Option* add_columns(CLI::App* app, const char* name, std::vector<std::string>* to,
                         const char* help);

/// Each command with its options, and what it runs.
void add_fit(CLI::App& app);
void add_cv(CLI::App& app);
void add_predict(CLI::App& app);
void add_score(CLI::App& app);
void add_compare(CLI::App& app);
void add_relevance(CLI::App& app);
void add_transform(CLI::App& app);
void add_info(CLI::App& app);
void add_specs(CLI::App& app);

/// The command's name, or nothing where none was chosen.
std::string command_of(const CLI::App& app);

/// One line, in words of our own.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv);

}  // namespace mercer::cli
