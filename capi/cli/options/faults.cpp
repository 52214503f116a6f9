// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <algorithm>

#include "failure.h"
#include "options/shared.h"

namespace mercer::cli {
namespace {

// CLI11 says only that one is required.
std::string command_fault(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  const std::string first = argc < 2 ? "" : argv[1];
  if (first.starts_with("-"))
    return first + " is no option of mercer" + did_you_mean(first, {"--help", "--version"}) +
           " (mercer --help says more)";
  const std::string expected =
      "expected one of " + CLI::detail::join(commands, ", ") + " (mercer --help says more)";
  return argc < 2 ? "no command, " + expected
                  : shown(first) + " is no command, " + expected + did_you_mean(first, commands);
}

/// Of words that nothing takes the first that looks like an option, else "".
std::string unknown_option(const CLI::App& command) {
  for (const std::string& word : command.remaining())
    if (word.starts_with("--")) return word;
  return "";
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  return known;
}

/// The commands that have the option.
std::vector<std::string> owners_of(const CLI::App& app, const std::string& option) {
  std::vector<std::string> owners;
  for (const CLI::App* one : app.get_subcommands({}))
    if (std::ranges::count(options_of(*one), option) > 0)
      owners.push_back("mercer " + one->get_name());
  return owners;
}

std::string surplus_fault(const CLI::App& app, const CLI::App& command) {
  std::string word = unknown_option(command);
  if (word.empty() && command.remaining().empty()) return "an argument was not expected";
  if (word.empty()) word = command.remaining().front();
  word = word.substr(0, word.find('='));
  if (word.size() < 2 || word[0] != '-')
    return shown(word) + " was not expected (mercer " + command.get_name() + " --help)";
  const std::vector<std::string> owners = owners_of(app, word);
  return word + " is no option of " + command.get_name() +
         (owners.empty() ? did_you_mean(word, options_of(command)) : ", but of " + listed(owners)) +
         " (mercer " + command.get_name() + " --help lists them)";
}

}  // namespace

std::string command_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? "" : chosen.front()->get_name();
}

std::string fault_of(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (app.get_subcommands().empty()) return command_fault(app, argc, argv);
  // A word that is no option is reported before an option that is missing.
  const CLI::App& command = *app.get_subcommands().front();
  const bool surplus = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (surplus || !unknown_option(command).empty()) return surplus_fault(app, command);
  const std::string text = error.what();
  const std::string option = text.substr(0, text.find(':'));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && option.size() < text.size())
    return option + (text.find("received") == text.npos ? ": expected a value behind it"
                                                        : ": given more than once");
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return text.substr(0, text.find(' ')) + ": does not go with" + text.substr(text.rfind(' '));
  return text;
}

}  // namespace mercer::cli
