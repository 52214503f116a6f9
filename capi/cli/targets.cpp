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

int64_t find_target(const std::vector<std::string>& names, int64_t columns,
                    const std::string& wanted) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found != names.end()) return found - names.begin();
  int64_t number = 0;
  const char* end = wanted.data() + wanted.size();
  const std::from_chars_result result = std::from_chars(wanted.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) {
    throw Failure("--target " + shown(wanted) + ": " +
                  (names.empty() ? "the file has no header; give a column number from 1"
                                 : "no column of that name"));
  }
  if (number < 1 || number > columns) {
    throw Failure("--target " + wanted + ": expected a column from 1 to " +
                  std::to_string(columns));
  }
  return number - 1;
}

}  // namespace

std::vector<int64_t> choose_targets(const std::vector<std::string>& names, int64_t columns,
                                    const std::vector<std::string>& requested) {
  std::vector<int64_t> targets;
  for (const std::string& wanted : requested) {
    const int64_t column = find_target(names, columns, wanted);
    if (std::find(targets.begin(), targets.end(), column) != targets.end()) {
      throw Failure("--target " + shown(wanted) + ": given twice");
    }
    targets.push_back(column);
  }
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
