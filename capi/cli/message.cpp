// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The library speaks of the arguments of its C functions: X.n, options->lambda, rows from 0.
#include "message.h"

#include <regex>

namespace mercer::cli {
namespace {

struct Wording {
  const char* pattern;
  const char* words;
};

const Wording kWordings[] = {
    {R"(^mercer_\w+: )", ""},
    {R"(\boptions->(features|lambda|lengthscale|threads|seed|extrapolation|estimator|missing)\b)",
     "--$1"},
    {R"re(model = "?(\w+)"? (of|in a search of) a regression, expected task = "classification")re",
     "--estimator $1 $2 a regression, expected --task classification"},
    {R"re((--task classification, or )model = (\w+))re", "$1--estimator $2"},
    {R"(\boptions->)", ""},
    {R"(^(unknown key "outputs|outputs|prepare of a field)\b)", "--operator: $1"},
    {R"(\bX\.n = (\d+))", "the data has $1 rows"},
    {R"(\bX\.d = (\d+))", "the data has $1 inputs"},
    {R"(\bY\.n = (\d+))", "the targets have $1 rows"},
    {R"(\bY\.d = (\d+))", "the data has $1 targets"},
    {R"(\bX\.\w+\b)", "the inputs"},
    {R"(\bY\.\w+\b)", "the targets"},
    {R"(\bX has (\d+) rows)", "the data has $1 rows"},
    {R"(\bX has (\d+) columns)", "the data has $1 inputs"},
    {R"(\bY has (\d+) columns)", "the data has $1 targets"},
    {R"(^X: )", ""},
    {R"(^Y: )", "targets: "},
    {R"(\b1 (row|input|target)s\b)", "1 $1"},
};

/// Numbers of features in the option's words, those that a form has not with one that it has.
std::string with_even_features(const std::string& text) {
  static const std::regex odd("^features = (\\d+), expected an even number");
  std::smatch found;
  if (!std::regex_search(text, found, odd))
    return text.starts_with("features = ") ? "--" + text : text;
  return "--" + text + "; --features " + std::to_string(std::stoll(found[1]) + 1) + " is one";
}

/// 'sorrf', expected one of "dense", "sorf": what was meant.
std::string hint(const std::string& text) {
  static const std::regex value("(?:= |unknown key )\"([^\"]*)\".*expected one of (.*)$");
  static const std::regex quoted("\"([^\"]*)\"");
  std::smatch found;
  if (!std::regex_search(text, found, value)) return "";
  const std::string expected = found[2];
  std::vector<std::string> known;
  for (std::sregex_iterator one(expected.begin(), expected.end(), quoted), end; one != end; ++one)
    known.push_back((*one)[1]);
  const std::string word = found[1];  // of an inner object: kernel.nu
  return did_you_mean(word.substr(word.rfind('.') + 1), known);
}

}  // namespace

std::string with_numbers(const std::string& text, const char* word,
                         const std::function<std::string(uint64_t)>& told) {
  const std::regex place(std::string("\\b") + word + " (\\d+)");
  std::string out;
  auto from = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), place), end; found != end; ++found) {
    out.append(from, text.begin() + found->position(1));
    out += told(std::stoull((*found)[1]));
    from = text.begin() + found->position(1) + found->length(1);
  }
  return out.append(from, text.end());
}

std::string in_words(std::string text, const std::vector<std::string>& names,
                     std::span<const int64_t> rows) {
  for (const Wording& one : kWordings)
    text = std::regex_replace(text, std::regex(one.pattern), one.words);
  text = with_even_features(text);
  constexpr const char* kFromZero = " (counted from 0)";
  const size_t from_zero = text.find(kFromZero);
  if (from_zero == text.npos) return text + hint(text);
  text.erase(from_zero, std::string(kFromZero).size());
  const auto row = [&](uint64_t i) {
    return std::to_string((i < rows.size() ? static_cast<uint64_t>(rows[i]) : i) + 1);
  };
  const auto input = [&](uint64_t j) {
    return j < names.size() ? shown(names[j]) : std::to_string(j + 1);
  };
  text = with_numbers(with_numbers(text, "row", row), "input", input);
  return with_numbers(text, "column", input);
}

std::string message_of(const Error& error, const std::vector<std::string>& names,
                       std::span<const int64_t> rows) {
  return error.status() == MERCER_CANCELLED ? kInterruptedText
                                            : in_words(error.what(), names, rows);
}

}  // namespace mercer::cli
