// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer specs: every kernel, map and model with its parameters, as a table.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "library.h"

namespace mercer::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// "one of a, b", ">= 1", "1 to 10", or nothing.
std::string range_text(const Json& parameter) {
  const auto choices = parameter.find("choices");
  if (choices != parameter.end() && choices->is_array() && !choices->empty()) {
    std::string text;
    for (const Json& choice : *choices) {
      text.append(text.empty() ? "" : "|").append(choice.is_string() ? choice.get<std::string>() : choice.dump());
    }
    return text;
  }
  const std::string least = text_at(parameter, "least");
  const std::string most = text_at(parameter, "most");
  if (least.empty() && most.empty()) return "";
  if (most.empty()) return ">= " + least;
  return least.empty() ? "<= " + most : least + " to " + most;
}

void print_entry(const Json& entry) {
  std::printf("%s\n    %s\n", text_at(entry, "name").c_str(), text_at(entry, "help").c_str());
  const auto parameters = entry.find("parameters");
  if (parameters == entry.end()) return;
  for (const Json& parameter : *parameters) {
    const std::string fallback = text_at(parameter, "default");
    std::printf("    %-16s %-10s %-24s %-12s %s\n", text_at(parameter, "key").c_str(), text_at(parameter, "type").c_str(),
                range_text(parameter).c_str(), fallback.empty() ? "required" : fallback.c_str(),
                text_at(parameter, "help").c_str());
  }
}

void print_all(const Json& json) {
  for (const auto& [section, entries] : json.items()) {
    if (!entries.is_array()) continue;
    std::printf("%s (parameter, type, range, default, meaning)\n\n", section.c_str());
    for (const Json& entry : entries) print_entry(entry);
    std::printf("\n");
  }
}

}  // namespace

void run_specs(const std::string& name) {
  const std::string text =
      text_of([&](char* b, int64_t c, int64_t* needed) { return mercer_specs(name.c_str(), b, c, needed); });
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw Failure("the library's description is no JSON object: " + shown(text));
  if (json.contains("name")) {
    print_entry(json);
  } else {
    print_all(json);
  }
}

}  // namespace mercer::cli
