// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The rule that chooses the task, and class numbering.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "failure.h"
#include "metadata.h"

namespace mercer::cli {
namespace {

constexpr size_t kMostClasses = 100;
constexpr int64_t kRowsPerClass = 20;
constexpr int64_t kRowsOfTwo = 10;   // 0 and 1, or -1 and 1, are hardly ever anything but classes
constexpr size_t kFewestCounts = 6;  // fewer numbers that thin out are as likely classes
constexpr double kThinning = 20;     // rows of the most frequent number over those of an end
constexpr size_t kMostUnasked = 30;  // classes that nobody named; the alphabet has 26

using Rows = std::map<double, int64_t>;  // of each number

// Distinct targets, or none as soon as one is not whole or there are too many to be classes.
Rows few_whole_numbers(const Dataset& data) {
  Rows seen;
  for (int64_t i = 0; i < data.n; ++i) {
    const double y = data.Y[i];
    if (std::isnan(y)) continue;
    if (y != std::floor(y)) return {};
    ++seen[y];
    if (seen.size() > kMostClasses) return {};
  }
  return seen;
}

std::string class_range(const Rows& seen) {
  if (seen.size() < 2) return "";
  const auto K = static_cast<double>(seen.size());
  const double least = seen.begin()->first;
  const double most = seen.rbegin()->first;
  if (least == 0 && most == K - 1) return "0.." + number_text(K - 1);
  if (least == 1 && most == K) return "1.." + number_text(K);
  if (K == 2 && least == -1 && most == 1) return "-1 and 1";
  return "";
}

// Counts of things rise to one most frequent number and fall to nearly none; classes do by chance
// once in K!/2^(K-1) times (23 for 6). Rises within twice their own chance are none.
bool thins_out(const std::vector<double>& rows) {
  const auto top = std::ranges::max_element(rows);
  if (kThinning * std::min(rows.front(), rows.back()) > *top) return false;
  const auto rises = [](double before, double after) {
    return after > before + 2 * std::sqrt(before + after);
  };
  for (auto at = rows.begin(); at != top; ++at)
    if (rises(*(at + 1), *at)) return false;
  for (auto at = top; at + 1 != rows.end(); ++at)
    if (rises(*at, *(at + 1))) return false;
  return true;
}

bool looks_like_counts(const Rows& seen) {
  if (seen.size() < kFewestCounts) return false;
  std::vector<double> rows;
  for (const auto& [number, count] : seen) rows.push_back(static_cast<double>(count));
  return thins_out(rows);
}

Task automatic(const Dataset& data) {
  if (data.text) return {true, "the labels are text"};
  if (data.m != 1) return {false, "there are several targets"};
  const Rows seen = few_whole_numbers(data);
  const std::string range = class_range(seen);
  if (range.empty()) {
    const std::string others = "the targets are not whole numbers 0..K-1, 1..K or -1 and 1";
    const bool few = seen.size() > 1 && seen.size() <= kMostUnasked &&
                     data.n >= kRowsPerClass * static_cast<int64_t>(seen.size());
    return {false, few ? others + ", but " + std::to_string(seen.size()) + " from " +
                             number_text(seen.begin()->first) + " to " +
                             number_text(seen.rbegin()->first) +
                             "; --task classification if they are classes"
                       : others};
  }
  const bool two = seen.size() == 2 && seen.rbegin()->first == 1;
  if (two && data.n < kRowsOfTwo)
    return {false, "there are fewer than 10 rows of the whole numbers " + range};
  if (!two && data.n < kRowsPerClass * static_cast<int64_t>(seen.size())) {
    return {false, "there are fewer than 20 rows for each of the whole numbers " + range};
  }
  if (looks_like_counts(seen)) {
    return {false, "the whole numbers " + range +
                       " thin out as counts do; --task classification if they "
                       "are classes"};
  }
  Task task{true, "the targets are the whole numbers " + range};
  if (seen.size() > kMostUnasked)
    task.warning = std::to_string(seen.size()) +
                   " whole numbers are taken as classes; if their order means something, "
                   "--task regression";
  return task;
}

// Class numbers of the distinct whole numbers, ascending.
std::map<double, int64_t> number_classes_of(const Dataset& data) {
  std::map<double, int64_t> classes;
  for (int64_t i = 0; i < data.n; ++i) {
    const double y = data.Y[i];
    if (std::isnan(y)) continue;
    if (y != std::floor(y)) {
      throw Failure("--task classification: the target of row " + std::to_string(row_of(data, i)) +
                    " is " + number_text(y) + ", expected whole numbers or text");
    }
    classes.emplace(y, 0);
  }
  int64_t next = 0;
  for (auto& [value, number] : classes) number = next++;
  return classes;
}

// Of those that rows hold; rows of weight 0, which are left out, may have held others.
std::vector<std::string> sort_texts(Dataset* data) {
  std::map<std::string, double> numbers;
  for (const double y : data->Y)
    if (!std::isnan(y)) numbers[data->texts[y]] = 0;
  std::vector<std::string> classes;
  for (auto& [text, number] : numbers) {
    number = static_cast<double>(classes.size());
    classes.push_back(text);
  }
  for (double& y : data->Y)
    if (!std::isnan(y)) y = numbers.at(data->texts[y]);
  data->texts = classes;
  return classes;
}

// Labels read as text on request, all of which are numbers, are numbers.
void texts_to_numbers(Dataset* data) {
  std::vector<double> values(data->texts.size());
  for (size_t k = 0; k < values.size(); ++k) {
    if (parse_number(data->texts[k], &values[k]) == NumberKind::finite) continue;
    if (!is_missing(data->texts[k])) return;
    values[k] = std::nan("");
  }
  for (double& y : data->Y)
    if (!std::isnan(y)) y = values[y];
  data->text = false;
  data->texts.clear();
}

/// Of a label the number of its class, -1 where no class has it.
template <class Classes, class Label>
double class_of(const Classes& classes, const Label& label) {
  const auto found = classes.find(label);
  return found == classes.end() ? -1 : found->second;
}

}  // namespace

Task choose_task(const Dataset& data, const std::string& wanted) {
  if (wanted == "auto") return automatic(data);
  if (wanted == "regression") {
    if (data.text) throw Failure("--task regression: the target holds text");
    return {false, "as asked"};
  }
  if (data.m != 1)
    throw Failure("--task classification: expected one target, got " + std::to_string(data.m));
  return {true, "as asked"};
}

std::vector<std::string> number_classes(Dataset* data) {
  if (data->text) texts_to_numbers(data);
  std::vector<std::string> names;
  if (data->text) {
    names = sort_texts(data);
  } else {
    const std::map<double, int64_t> classes = number_classes_of(*data);
    for (double& y : data->Y)
      if (!std::isnan(y)) y = static_cast<double>(classes.at(y));
    for (const auto& [value, number] : classes) names.push_back(number_text(value));
  }
  if (names.size() == 1)
    throw Failure(data->name + ": one class only (" + names.at(0) + "), expected at least two");
  return names;
}

int64_t number_known_classes(const std::vector<std::string>& classes, bool text_labels,
                             Dataset* data) {
  std::unordered_map<std::string, double> by_text;
  std::map<double, double> by_number;
  for (size_t k = 0; k < classes.size(); ++k) {
    double value = 0;
    by_text[classes[k]] = static_cast<double>(k);
    if (!text_labels && parse_number(classes[k], &value) == NumberKind::finite)
      by_number[value] = static_cast<double>(k);
  }
  int64_t unknown = 0;
  for (size_t i = 0; i < data->Y.size(); ++i) {
    double& y = data->Y[i];
    if (std::isnan(y)) continue;  // no target
    if (!text_labels || !data->text) {
      y = text_labels ? -1 : class_of(by_number, y);
    } else {
      const std::string& label = data->texts[y];
      y = class_of(by_text, label);
      if (y < 0 && is_missing(label)) y = std::numeric_limits<double>::quiet_NaN();
    }
    unknown += y < 0;
  }
  return unknown;
}

}  // namespace mercer::cli
