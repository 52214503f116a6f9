// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which columns are targets, and where the labels of IDX images are.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "dataset.h"
#include "failure.h"

namespace mercer::cli {

namespace {

bool is_target_name(const std::string& name) {
  return !name.empty() && name[0] == 'y' &&
         std::all_of(name.begin() + 1, name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

int64_t find_column(const std::string& option, const std::vector<std::string>& names,
                    int64_t columns, const std::string& wanted) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found != names.end()) return found - names.begin();
  int64_t number = 0;
  const char* end = wanted.data() + wanted.size();
  const std::from_chars_result result = std::from_chars(wanted.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) {
    throw Failure(option + " " + shown(wanted) + ": " +
                  (names.empty() ? "the file has no header; give a column number from 1"
                                 : "no column of that name"));
  }
  if (number < 1 || number > columns) {
    throw Failure(option + " " + wanted + ": expected a column from 1 to " +
                  std::to_string(columns));
  }
  return number - 1;
}

}  // namespace

char read_delimiter(const std::string& text) {
  if (text == "auto") return 0;
  if (text == "comma") return ',';
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "semicolon") return ';';
  if (text == "space") return ' ';
  const bool single = text.size() == 1 && std::isalnum(static_cast<unsigned char>(text[0])) == 0;
  if (single && text != "\"" && text != "." && text != "-" && text != "+") return text[0];
  throw Failure("--delimiter " + shown(text) +
                ": expected auto, comma, tab, semicolon, space, or one character that is no part "
                "of a number");
}

std::vector<int64_t> find_columns(const char* option, const std::vector<std::string>& names,
                                  int64_t columns, const std::vector<std::string>& requested) {
  std::vector<int64_t> found;
  for (const std::string& wanted : requested) {
    const int64_t column = find_column(option, names, columns, wanted);
    if (std::find(found.begin(), found.end(), column) != found.end()) {
      throw Failure(std::string(option) + " " + shown(wanted) + ": given twice");
    }
    found.push_back(column);
  }
  return found;
}

std::vector<int64_t> choose_targets(const std::vector<std::string>& names, int64_t columns,
                                    const std::vector<std::string>& requested) {
  std::vector<int64_t> targets = find_columns("--target", names, columns, requested);
  if (!requested.empty()) return targets;
  for (size_t j = 0; j < names.size(); ++j) {
    if (is_target_name(names[j])) targets.push_back(static_cast<int64_t>(j));
  }
  if (targets.empty()) targets.push_back(columns - 1);
  return targets;
}

std::string labels_name_of(const std::string& images) {
  const std::string from = "images-idx3";
  const size_t at = images.rfind(from);
  if (at == images.npos) return "";
  return std::string(images).replace(at, from.size(), "labels-idx1");
}

}  // namespace mercer::cli
