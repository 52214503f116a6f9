// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Commands with their options, and what is said of a command line that is wrong. The one file that
// includes CLI11, which takes seconds.
#pragma once

#include <CLI/CLI.hpp>
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

/// An option that reads a text, and one that keeps it.
CLI::Option* add_reader(CLI::App* app, const char* name, const char* type, const char* help,
                        const std::function<void(const std::string&)>& read);
CLI::Option* add_text(CLI::App* app, const char* name, std::string* to, const char* type,
                      const char* help);
/// An option that takes one of these words.
void add_choice(CLI::App* app, const char* name, std::string* to, const Words& words,
                const char* help);
/// --threads, --quiet, --json.
void add_run_options(CLI::App* app, RunRequest* run);
/// --ignore, --delimiter, --header, --skip, --decimal, --missing-word.
void add_column_options(CLI::App* app, ColumnRequest* columns);
/// --dates, --numbers: of files whose columns no model knows.
void add_form_options(CLI::App* app, ColumnRequest* columns);
/// --kernel, --map, --lengthscale.
void add_plan_options(CLI::App* app, PlanRequest* plan, const char* lengthscale,
                      bool has_map = true);
void add_seed(CLI::App* app, uint64_t* seed);
/// An option that takes one word each time, and repeats: a list of columns, say.
void add_list(CLI::App* app, const char* name, std::vector<std::string>* to, const char* type,
              const char* help);

/// A whole number that a key of a spec becomes, from 1, or 0 where that has a meaning.
CLI::Option* add_whole(CLI::App* app, const char* name, Json* spec, const char* key, int64_t most,
                       const std::string& help, int64_t least = 1);

/// Each command with its options, and what it runs.
void add_fit(CLI::App& app);
void add_cv(CLI::App& app);
void add_predict(CLI::App& app);
void add_score(CLI::App& app);
void add_update(CLI::App& app);
void add_compare(CLI::App& app);
void add_relevance(CLI::App& app);
void add_transform(CLI::App& app);
void add_recommend(CLI::App& app);
/// mmd, kid and hsic.
void add_two_samples(CLI::App& app);
/// info, specs and doctor, which print what the library says.
void add_info_commands(CLI::App& app);
void add_export(CLI::App& app);

/// The command's name, or nothing where none was chosen.
std::string command_of(const CLI::App& app);

/// One line, in words of our own.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv);

}  // namespace mercer::cli
