// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is said of a command line that has no command, or words that its command does not know.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace mercer::cli {

/// argv[1] is no command, or there is none.
std::string command_fault(const CLI::App& app, int argc, char** argv);

/// Is one of the words that the command does not know like an option?
bool has_unknown_option(const CLI::App& command);

/// Words of a command that are neither its options nor its files.
std::string surplus_fault(const CLI::App& command);

}  // namespace mercer::cli
