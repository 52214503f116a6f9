// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer info: what a file holds, as indented "key value" lines.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "commands.h"
#include "failure.h"
#include "json.h"
#include "loaded_model.h"
#include "mercer/mercer.hpp"

namespace mercer::cli {

namespace {

bool is_plain(const Json& value) { return !value.is_object() && !value.is_array(); }

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

// Long lists are cut: a model of 1000 inputs has 1000 names.
std::string list_text(const Json& list) {
  constexpr size_t kShown = 12;
  std::string text;
  for (size_t k = 0; k < list.size() && k < kShown; ++k)
    text.append(k > 0 ? ", " : "").append(plain_text(list[k]));
  if (list.size() > kShown) text += ", ... (" + std::to_string(list.size()) + ")";
  return text.empty() ? "-" : text;
}

// What the lambdas of a model's path were compared by.
std::string error_name(const Json& model) {
  const bool classification = model.value("classes", 0) > 0;
  const std::string selection = model.value("selection", "");
  const std::string by = selection == "loo"     ? " by leave-one-out"
                         : selection == "gcv"   ? " by generalised cross-validation"
                         : selection == "kfold" ? " over folds"
                                                : " on held-out rows";
  if (model.contains("report")) return (classification ? "error rate" : "1 - R^2") + by;
  if (classification && selection == "loo") return "soft error" + by;
  return (classification && selection != "gcv" ? "error rate" : "squared error") + by;
}

// The range of each column, by its name if there is one, else its number from 1.
Json ranges_by_name(const Json& ranges, const std::vector<std::string>& names) {
  constexpr size_t kMostShown = 100;
  const size_t count = ranges.value("lowest", Json::array()).size();
  Json table = Json::array();
  for (size_t j = 0; j < std::min(count, kMostShown); ++j) {
    const bool named = names.size() == count;
    table.push_back({{"name", named ? names[j] : std::to_string(j + 1)},
                     {"lowest", ranges["lowest"][j]},
                     {"1 %", ranges["low"][j]},
                     {"99 %", ranges["high"][j]},
                     {"highest", ranges["highest"][j]}});
  }
  if (count > kMostShown) table.push_back("and " + std::to_string(count - kMostShown) + " more");
  return table;
}

/// Without names where it is damaged, which info shows as it is.
Metadata metadata_of(const Json& described) {
  try {
    return parse_metadata(described.value("metadata", ""), described.value("classes", 0) > 0,
                          described.value("outputs", int64_t{1}));
  } catch (const Failure&) {
    return {};
  }
}

// Names for what is shown, and columns counted from 1, as the options of fit do.
Json named(const Json& described) {
  Json result;
  for (const auto& [key, value] : described.items()) {
    if (key == "path_lambda") {
      if (!value.empty()) result["lambdas tried"] = value;
    } else if (key == "path_error") {
      if (!value.empty()) result["their " + error_name(described)] = value;
    } else if (key == "inputs" && value.is_object()) {
      result["ranges of inputs"] = ranges_by_name(value, input_names(metadata_of(described)));
    } else if (key == "targets" && value.is_object()) {
      const Json table = ranges_by_name(value, metadata_of(described).targets);
      if (!table.empty()) result["ranges of targets"] = table;
    } else {
      result[key] = value;
    }
  }
  return result;
}

Json counted_from_one(Json inner) {
  if (!inner.contains("schema") || !inner["schema"].is_object()) return inner;
  Json& metadata = inner["schema"];
  for (const char* key : {"target_columns", "ignored_columns"}) {
    const auto columns = metadata.find(key);
    if (columns == metadata.end() || !columns->is_array()) continue;
    for (Json& column : *columns)
      if (column.is_number_integer()) column = column.get<int64_t>() + 1;
  }
  return inner;
}

void print_object(const Json& object, int depth) {
  size_t width = 0;
  for (const auto& [key, value] : object.items()) width = std::max(width, key.size());
  for (const auto& [key, value] : object.items()) {
    // Metadata and reports are JSON inside a string.
    const Json inner = value.is_string() ? json_or_discarded(value.get<std::string>()) : Json();
    const Json shown_value = inner.is_object() ? counted_from_one(inner) : value;
    if (shown_value.is_object()) {
      std::printf("%*s%s\n", 2 * depth, "", key.c_str());
      print_object(shown_value, depth + 1);
      continue;
    }
    if (shown_value.is_array() && !shown_value.empty() && !is_plain(shown_value[0])) {
      std::printf("%*s%s\n", 2 * depth, "", key.c_str());
      for (const Json& item : shown_value)
        std::printf("%*s%s\n", 2 * (depth + 1), "", json_text(item).c_str());
      continue;
    }
    const std::string text =
        is_plain(shown_value) ? plain_text(shown_value) : list_text(shown_value);
    std::printf("%*s%-*s  %s\n", 2 * depth, "", static_cast<int>(width), key.c_str(), text.c_str());
  }
}

}  // namespace

namespace {

/// The library describes files alone: a stream is copied into one in memory.
std::string info_of(const std::string& path) {
  struct stat status = {};
  if (path != "-" && (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)))
    return file_info(path);
  const std::string bytes = read_bytes(path);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> copy(std::tmpfile(), std::fclose);
  if (copy == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), copy.get()) < bytes.size() ||
      std::fflush(copy.get()) != 0)
    fail_at(path, 0, 0, std::strerror(errno));
  const std::string name = "/proc/self/fd/" + std::to_string(::fileno(copy.get()));
  try {
    return file_info(name);
  } catch (const Error& error) {
    std::string text = message_of(error);
    const std::string quoted = "\"" + name + "\"";
    if (const size_t at = text.find(quoted); at != text.npos)
      text.replace(at, quoted.size(), name_of_file(path));
    throw Failure(text);
  }
}

}  // namespace

void run_info(const std::string& path, bool json) {
  Json described = parse_json(info_of(path));
  if (!json) return print_object(named(described), 0);
  for (const char* key : {"metadata", "report", "spec"}) {  // JSON inside a string
    if (!described.contains(key) || !described[key].is_string()) continue;
    const Json inner = json_or_discarded(described[key].get<std::string>());
    if (inner.is_object()) described[key] = inner;
  }
  std::printf("%s\n", json_text(described, 1).c_str());
}

}  // namespace mercer::cli
