// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The library speaks of the arguments of its C functions and of keys: X.n, features, rows from 0.
#include "message.h"

#include <algorithm>

namespace mercer::cli {
namespace {

/// What an argument is to those who use the command.
struct Wording {
  std::string_view argument;
  const char* words;
  const char* counts = nullptr;  // what it is the number of; none: it is an option
};

constexpr Wording kWordings[] = {
    {"X.n", "the data has ", "row"},    {"source.n", "the data has ", "row"},
    {"X.d", "the data has ", "input"},  {"Y.n", "the targets have ", "row"},
    {"Y.d", "the data has ", "target"}, {"features", "--features"},
    {"model", "--estimator"},           {"extrapolation", "--extrapolation"},
    {"threads", "--threads"},           {"source->checkpoint", "--checkpoint"},
};
/// Keys of specs in what is expected.
constexpr std::pair<std::string_view, const char*> kKeys[] = {
    {"task = \"classification\"", "--task classification"}, {"model = ", "--estimator "}};

std::string text_of(const Json& fields, const char* key) {
  const Json value = fields.value(key, Json(""));
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

/// "row 3, column 'age' ", or by its number where it has no name; nothing of a whole argument.
std::string place_of(const Json& fields, const std::vector<std::string>& names,
                     std::span<const int64_t> rows) {
  const size_t none = ~size_t{0}, i = fields.value("row", none), j = fields.value("column", none);
  const std::string column = j < names.size() ? shown(names[j]) : std::to_string(j + 1);
  if (i == none) return j == none ? "" : "column " + column + " ";
  const auto line = static_cast<int64_t>(i < rows.size() ? rows[i] : i);
  return "row " + std::to_string(line + 1) + (j == none ? " " : ", column " + column + " ");
}

/// "--features 3 of 4", "the data has 1 row".
std::string said_of(const Wording& one, const Json& fields) {
  const std::string value = text_of(fields, "value"), problem = text_of(fields, "problem");
  const std::string rest =
      problem.substr(std::min(problem.find_first_of(" ,:", 2), problem.size()));
  if (one.counts != nullptr) return one.words + counted(std::stoll(value), one.counts) + rest;
  return std::string(one.words) + " " + (problem.starts_with("= ") ? value + rest : problem);
}

std::string predicate(const Json& fields, const std::vector<std::string>& names,
                      std::span<const int64_t> rows) {
  std::string argument = text_of(fields, "argument"), noun = text_of(fields, "noun");
  if (argument.starts_with("options->")) argument.erase(0, 9);
  const Wording* known = std::ranges::find(kWordings, argument, &Wording::argument);
  if (noun.empty() && known != std::end(kWordings)) return said_of(*known, fields);
  const bool joined = argument.starts_with("outputs") || argument == "prepare";
  const std::string place =
      place_of(fields, argument == "Y" ? std::vector<std::string>() : names, rows);
  const std::string said = place + text_of(fields, "problem");
  if (argument == "X" && (!place.empty() || said[0] == ':'))
    return said.substr(said[0] == ':' ? 2 : 0);
  if (argument == "Y") argument = "targets";
  if (argument.starts_with("X.")) argument = "the inputs";
  if (argument.starts_with("Y.")) argument = "the targets";
  if (!noun.empty()) argument = noun + " \"" + argument + "\"";
  if (joined) argument = "--operator: " + argument;
  if (!place.empty()) argument += ":";
  return argument + (argument.empty() || said[0] == ':' ? "" : " ") + said;
}

}  // namespace

std::string in_words(const Json& fields, const std::vector<std::string>& names,
                     std::span<const int64_t> rows) {
  std::string text = text_of(fields, "place");
  text += (text.empty() ? "" : ": ") + predicate(fields, names, rows);
  std::string expected = text_of(fields, "expected");
  for (const auto& [key, option] : kKeys)
    for (size_t at = 0; (at = expected.find(key, at)) != expected.npos;)
      expected.replace(at, key.size(), option);
  if (!expected.empty()) text += ", expected " + expected;
  const std::string word = text_of(fields, fields.contains("noun") ? "argument" : "value");
  return text + did_you_mean(word.substr(word.rfind('.') + 1),  // of an inner object: kernel.nu
                             fields.value("choices", std::vector<std::string>()));
}

std::string message_of(const Error& error, const std::vector<std::string>& names,
                       std::span<const int64_t> rows) {
  if (error.status() == MERCER_CANCELLED) return kInterruptedText;
  const Json fields = json_or_discarded(error.fields());  // long ones, and no UTF-8, have none
  return fields.size() > 1 ? in_words(fields, names, rows) : error.what();
}

}  // namespace mercer::cli
