// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer info, specs and doctor: what the library says of a file, of specs, and of this machine.
#include <algorithm>
#include <cstdio>

#include "commands.h"
#include "failure.h"
#include "mercer/mercer.hpp"
#include "message.h"
#include "metadata.h"
#include "report/document.h"

namespace mercer::cli {
namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

/// Nothing where there is none.
std::string text_at(const Json& object, const char* key) {
  const Json value = object.value(key, Json());
  return value.is_null() ? "" : text_of(value);
}

// Long lists are cut: a model of 1000 inputs has 1000 names.
std::string list_text(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& one : list) texts.push_back(text_of(one));
  return texts.empty() ? "-" : listed(texts, 12);
}

/// Metadata, reports and specs are JSON inside a string.
Json unpacked(const Json& value) {
  if (!value.is_string()) return value;
  const Json inner = json_or_discarded(value.get<std::string>());
  return inner.is_object() ? inner : value;
}

void print_object(const Json& object, int depth) {
  size_t width = 0;
  for (const auto& [key, value] : object.items()) width = std::max(width, key.size());
  for (const auto& [key, packed] : object.items()) {
    const Json value = unpacked(packed);
    const bool rows = value.is_array() && !value.empty() && value[0].is_structured();
    if (!rows && !value.is_object()) {
      std::printf("%*s%-*s  %s\n", 2 * depth, "", static_cast<int>(width), key.c_str(),
                  (value.is_array() ? list_text(value) : text_of(value)).c_str());
      continue;
    }
    std::printf("%*s%s\n", 2 * depth, "", key.c_str());
    if (value.is_object()) print_object(value, depth + 1);
    for (size_t k = 0; rows && k < value.size(); ++k)
      std::printf("%*s%s\n", 2 * (depth + 1), "", json_text(value[k]).c_str());
  }
}

/// The rows of a model, and how good it is.
void print_summary(const Json& model) {
  const int64_t classes = model.value("classes", int64_t{0});
  const Metadata metadata =
      parse_metadata(text_at(model, "metadata"), classes > 0,
                     classes > 0 ? classes : model.value("outputs", int64_t{1}));
  const auto line = [](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) std::printf("%s: %s\n", what, listed(names, 24).c_str());
  };
  std::vector<std::string> inputs = metadata.inputs;
  for (const Encoding& one : metadata.encodings)
    if (static_cast<size_t>(one.input) < inputs.size()) inputs[one.input] += " (text)";
  line("inputs", inputs);
  line("target", metadata.targets);
  line("classes", metadata.classes);
  const ReportText text =
      report_text(unpacked(model.value("report", Json::object())),
                  {input_names(metadata), metadata.targets, metadata.classes, false});
  std::printf("%s%s\n", text.score.c_str(), text.warnings.c_str());
}

/// Fields of an object stand below it, by their path.
void print_parameters(const Json& parameters, const std::string& path) {
  for (const Json& one : parameters) {
    const std::string key = path + text_at(one, "key"), usual = text_at(one, "default");
    const bool required = one.value("required", usual.empty());
    std::printf("      %s (%s; %s): %s\n", key.c_str(), text_at(one, "expected").c_str(),
                required        ? "required"
                : usual.empty() ? "no default"
                                : ("default " + usual).c_str(),
                text_at(one, "help").c_str());
    print_parameters(one.value("fields", Json::array()), key + ".");
  }
}

void print_entry(const Json& entry) {
  std::printf("  %s - %s\n", text_at(entry, "name").c_str(), text_at(entry, "help").c_str());
  for (const auto& [key, value] : entry.items())
    if (key != "name" && key != "help" && key != "parameters" &&
        !text_at(entry, key.c_str()).empty())
      std::printf("      %s: %s\n", key.c_str(), text_of(value).c_str());
  print_parameters(entry.value("parameters", Json::array()), "");
  std::printf("\n");
}

std::string specs_of(const std::string& name) {
  try {
    return specs(name == "rbf" ? "gaussian" : name);
  } catch (const Error& error) {
    if (error.status() != MERCER_INVALID_ARGUMENT) throw;
  }
  // The library says only that there is none of this name.
  std::vector<std::string> known;
  for (const Json& entries : parse_json(specs("")))
    for (const Json& entry : entries)
      if (entry.is_object()) known.push_back(text_at(entry, "name"));
  throw Failure(shown(name) + " is no kernel, map, projection, model, bound or part of a fit" +
                did_you_mean(name, known) + " (mercer specs lists all)");
}

}  // namespace

void run_info(const std::string& path, bool json) {
  if (path == "-") throw Failure("FILE: info describes a file, not standard input");
  Json described = parse_json(file_info(path));
  if (!json && described.value("kind", "") == "model") print_summary(described);
  if (!json) return print_object(described, 0);
  for (auto& [key, value] : described.items()) value = unpacked(value);
  std::printf("%s\n", json_text(described, 1).c_str());
}

void run_specs(const std::string& name, bool json) {
  const Json all = parse_json(specs_of(name));
  if (json) return void(std::printf("%s\n", json_text(all).c_str()));
  for (const auto& [section, entries] : all.items()) {
    if (!entries.is_array() || entries.empty()) continue;
    std::printf("%s (of each parameter: what is allowed, its default, its meaning)\n\n",
                section.c_str());
    for (const Json& entry : entries) print_entry(entry);
  }
}

void run_doctor(const std::string&, bool json) {
  Json report = parse_json(self_test());
  if (json) std::printf("%s\n", json_text(report, 1).c_str());
  for (const char* const key : {"samplers", "maps"}) {
    Json failed = Json::array();
    for (const Json& one : report[key])
      if (!one.value("passed", true)) failed.push_back(one);
    const std::string all = "all " + std::to_string(report[key].size()) + " as on every machine";
    report[key] = failed.empty() ? Json(all) : failed;
  }
  if (!json) print_object(report, 0);
  if (!report["passed"].get<bool>()) throw Failure("this machine does not compute what others do");
}

}  // namespace mercer::cli
