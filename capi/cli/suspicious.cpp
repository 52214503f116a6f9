// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "suspicious.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_set>

#include "failure.h"

namespace mercer::cli {

namespace {

constexpr int64_t kFewRows = 20;  // so few may be all distinct or in order by chance
constexpr double kLargestWhole = 9007199254740992.0;
constexpr const char* kKindNames[] = {"code", "type", "kind", "categ", "class", "region", "zip"};

double at(const Dataset& data, int64_t i, int64_t j) { return data.X.at(i * data.d + j); }

// Most columns fail within the first rows.
template <class Holds>
bool all_rows(const Dataset& data, int64_t j, Holds holds) {
  for (int64_t i = 0; i < data.n; ++i)
    if (!holds(at(data, i, j), i)) return false;
  return true;
}

bool counts_rows(const Dataset& data, int64_t j) {
  const double first = at(data, 0, j);
  return all_rows(data, j,
                  [=](double x, int64_t i) { return x == first + static_cast<double>(i); });
}

bool distinct_whole(const Dataset& data, int64_t j) {
  std::unordered_set<double> seen;
  return all_rows(data, j, [&](double x, int64_t) {
    return x == std::floor(x) && std::fabs(x) < kLargestWhole && seen.insert(x).second;
  });
}

bool is_compact_date(double x) {
  if (x != std::floor(x) || x < 18000101 || x > 22001231) return false;
  const auto whole = static_cast<int64_t>(x);
  const int64_t day = whole % 100, month = whole / 100 % 100;
  return day >= 1 && day <= 31 && month >= 1 && month <= 12;
}

std::string lower(std::string name) {
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

bool is_id(const std::string& given) {
  const std::string name = lower(given);
  for (const char* known : {"id", "index", "idx", "row", "rowid", "row_id", "key", "uid"})
    if (name == known) return true;
  return name.ends_with("_id") || name.ends_with(" id");
}

/// Few whole numbers, each in several rows, under a name that kinds have.
bool are_codes(const Dataset& data, int64_t j) {
  constexpr size_t kMostCodes = 100;
  const std::string name = lower(input_name(data, j));
  std::unordered_set<double> seen;
  const auto names_kind = [&](const char* word) { return name.find(word) != name.npos; };
  return std::ranges::any_of(kKindNames, names_kind) &&
         all_rows(data, j,
                  [&](double x, int64_t) {
                    seen.insert(x);
                    return x == std::floor(x) && seen.size() <= kMostCodes;
                  }) &&
         seen.size() > 2 && std::ssize(seen) * 5 <= data.n;
}

// A data frame writes its index without a name, as the first column; read and written again it is
// "Unnamed: 0".
bool is_unnamed(const Dataset& data, int64_t j) {
  const auto k = static_cast<size_t>(j);
  return k < data.input_names.size() &&
         data.input_names[k] == name_of_unnamed(column_of(data, j) - 1);
}

/// What is wrong with an input: nothing where it is empty.
std::string suspicion(const Dataset& data, int64_t j) {
  const auto k = static_cast<size_t>(j);
  if (is_unnamed(data, j) && distinct_whole(data, j))
    return "has no name and numbers the rows, as the index of a data frame does";
  if (data.n < kFewRows) return "";
  if (counts_rows(data, j)) return "counts the rows; unless it is a time";
  if (k < data.input_names.size() && is_id(data.input_names[k]) && distinct_whole(data, j))
    return "is another whole number in every row, as ids are";
  if (all_rows(data, j, [](double x, int64_t) { return is_compact_date(x); }))
    return "holds what look like dates, whose differences are no days";
  return "";
}

bool is_constant(const Dataset& data, int64_t j) {
  const double first = at(data, 0, j);
  return all_rows(data, j, [=](double x, int64_t) { return x == first; });
}

}  // namespace

std::vector<std::string> suspicious_inputs(const Dataset& data) {
  std::vector<std::string> warnings, constants;
  if (data.X.sparse || data.n < 2) return warnings;
  for (int64_t j = 0; j < data.d; ++j) {
    const bool text = std::ranges::any_of(data.text_inputs,
                                          [=](const TextColumn& one) { return one.column == j; });
    const std::string what = text ? "" : suspicion(data, j);
    const std::string name = input_name(data, j);
    if (is_constant(data, j)) constants.push_back(name);
    if (!text && what.empty() && are_codes(data, j))
      warnings.push_back("input " + name +
                         " holds few whole numbers, as codes of kinds do: --text " + typed(name) +
                         " treats them so");
    if (what.empty()) continue;
    warnings.push_back("input " + name + " " + what + ": --ignore " + typed(name) +
                       " leaves it out");
  }
  const auto count = std::ssize(constants);
  if (count > 0)
    warnings.push_back(counted(count, "input") +
                       (count == 1 ? " is the same in every row and says nothing: "
                                   : " are the same in every row and say nothing: ") +
                       listed(constants));
  return warnings;
}

}  // namespace mercer::cli
