// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of more than one command.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "commands.h"
#include "words.h"

namespace mercer::cli {

/// A check of an option: a whole number within these.
std::function<std::string(const std::string&)> whole_number(int64_t least, int64_t most);
/// An option that takes one of these words.
void add_choice(CLI::App* app, const char* name, std::string* to, WordList words, const char* help);
/// --threads, --quiet.
void add_run_options(CLI::App* app, int32_t* threads, bool* quiet);
/// --delimiter, --header, --decimal.
void add_column_options(CLI::App* app, ColumnRequest* columns);
/// Several columns behind one option. Without a limit on how many follow: settle_train gives back
/// the file that they took.
CLI::Option* add_columns(CLI::App* app, const char* name, std::vector<std::string>* to,
                         const std::string& help);

/// TRAIN, and what fit, cv and compare do with it.
void add_learn_options(CLI::App* app, LearnRequest* learn);
/// --target u v train.csv: the last word is no column but the file.
void settle_train(LearnRequest* learn);

}  // namespace mercer::cli
