// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer specs: every kernel, map, projection, model and bound, and what a fit reads, with its parameters, as a table.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "commands.h"
#include "failure.h"
#include "json.h"
#include "mercer/mercer.hpp"

namespace mercer::cli {

namespace {

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : json_text(*found);
}

struct Line {
  std::string cells[4];  // key, default, what is allowed, meaning
};

// The library words what a parameter may be ("a number > 0"), which names its type and range.
// Fields of an object stand below it, by their path.
std::vector<Line> lines_of(const Json& parameters, const std::string& path = "") {
  std::vector<Line> lines;
  for (const Json& parameter : parameters) {
    const std::string fallback = text_at(parameter, "default");
    const bool required = parameter.value("required", fallback.empty());
    const std::string key = path + text_at(parameter, "key");
    lines.push_back({{key,
                      required           ? "required"
                      : fallback.empty() ? "none"
                                         : fallback,
                      text_at(parameter, "expected"), text_at(parameter, "help")}});
    const std::vector<Line> inner = lines_of(parameter.value("fields", Json::array()), key + ".");
    lines.insert(lines.end(), inner.begin(), inner.end());
  }
  return lines;
}

// {"kernel":"gaussian"} is what --kernel gaussian says.
std::string kernel_text(const Json& kernel) {
  if (!kernel.is_object()) return "";
  return kernel.size() == 1 ? text_at(kernel, "kernel") : json_text(kernel);
}

void print_entry(const Json& entry) {
  std::printf("  %s - %s\n", text_at(entry, "name").c_str(), text_at(entry, "help").c_str());
  const std::string kernel = kernel_text(entry.value("default_kernel", Json()));
  if (!kernel.empty()) std::printf("      without --kernel: %s\n", kernel.c_str());
  const std::string map = text_at(entry, "default_map");
  if (!map.empty()) std::printf("      without --map: %s\n", map.c_str());
  const int64_t step =
      entry.value("features_step", Json()).is_number() ? entry["features_step"].get<int64_t>() : 1;
  if (step > 1) std::printf("      features: a multiple of %lld\n", static_cast<long long>(step));
  const std::string outputs = text_at(entry, "outputs");
  if (!outputs.empty() && outputs != "one")
    std::printf("      outputs: %s\n", outputs == "inputs" ? "as many as inputs" : outputs.c_str());
  const std::vector<Line> lines = lines_of(entry.value("parameters", Json::array()));
  size_t width[3] = {0, 0, 0};
  for (const Line& line : lines) {
    for (size_t k = 0; k < 3; ++k) width[k] = std::max(width[k], line.cells[k].size());
  }
  for (const Line& line : lines) {
    std::printf("     ");
    for (size_t k = 0; k < 3; ++k)
      std::printf(" %-*s ", static_cast<int>(width[k]), line.cells[k].c_str());
    std::printf(" %s\n", line.cells[3].c_str());
  }
}

void print_all(const Json& json) {
  for (const auto& [section, entries] : json.items()) {
    if (!entries.is_array() || entries.empty()) continue;
    std::printf("%s (each parameter: default, what is allowed, meaning)\n\n", section.c_str());
    for (const Json& entry : entries) {
      print_entry(entry);
      std::printf("\n");
    }
  }
}

// The library says only that there is none of this name.
[[noreturn]] void refuse_name(const std::string& name) {
  std::vector<std::string> known;
  for (const Json& entries : json_or_discarded(specs("")))
    for (const Json& entry : entries)
      if (entry.is_object()) known.push_back(text_at(entry, "name"));
  throw Failure(shown(name) + " is no kernel, map, projection, model, bound or part of a fit" +
                did_you_mean(name, known) + " (mercer specs lists all)");
}

std::string text_of(const std::string& name) {
  try {
    return specs(name);
  } catch (const Error& error) {
    if (error.status() != MERCER_INVALID_ARGUMENT) throw;
    refuse_name(name);
  }
}

}  // namespace

void run_specs(const std::string& name, bool json) {
  const std::string text = text_of(name);
  if (!json) return print_all(parse_json(text));
  std::printf("%s\n", text.c_str());
}

}  // namespace mercer::cli
