// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "operator_option.h"

#include <algorithm>
#include <cctype>

#include "failure.h"
#include "mercer/kernel.hpp"
#include "message.h"
#include "operator_graph.h"
#include "read/number.h"

namespace mercer::cli {

namespace {

constexpr const char* kAuto = "auto";

/// What the library says of a kernel of several outputs.
Json entry_of(const Json& name, const std::string& specs) {
  std::string names = kAuto;
  const Json all = json_or_discarded(specs);
  for (const Json& entry : all.value("kernels", Json::array())) {
    if (entry.value("outputs", "one") == "one") continue;
    if (entry.value("name", Json()) == name) return entry;
    names += ", " + entry.value("name", "");
  }
  throw Failure("--operator " +
                shown(name.is_string() ? name.get<std::string>() : json_text(name)) +
                ": expected one of " + names);
}

/// The spec of a kernel, or of what the library calls outputs.
OperatorOption read_spec(const std::string& text, const std::string& specs) {
  const Json spec = json_or_discarded(text);
  if (!spec.is_object())
    throw Failure("--operator: malformed JSON in " + shown(text) +
                  R"(; at a shell it stands in single quotes: --operator '{"kernel":"NAME"}')");
  if (spec.contains("structure")) return {nullptr, spec, ""};
  entry_of(spec.value("kernel", Json()), specs);
  if (spec.contains("scalar")) throw Failure("--operator: leave \"scalar\" out; --kernel says it");
  Json whole = spec;
  whole["scalar"] = {{"kernel", "gaussian"}};
  try {
    Kernel::from_spec(json_text(whole));
  } catch (const Error& error) {
    throw Failure("--operator: " + message_of(error));
  }
  return {spec, nullptr, ""};
}

OperatorOption read_structure(const std::string& detail) {
  if (detail.empty() || detail == "covariance" || detail == "similarity")
    return {nullptr, {{"structure", detail.empty() ? "covariance" : detail}}, ""};
  return {nullptr, {{"structure", "graph"}}, detail};
}

/// The kernel of a field, with its share if it is given.
Json field_kernel(const std::string& name, const std::string& detail, const Json& entry) {
  Json kernel = {{"kernel", name}};
  if (detail.empty()) return kernel;
  std::string key = entry.value("shape", ""), place = key;
  if (key.empty())
    throw Failure("--operator " + shown(name + ":" + detail) + ": expected " + shown(name) +
                  " alone");
  std::ranges::transform(place, place.begin(), [](unsigned char c) { return std::toupper(c); });
  double share = 0;
  if (parse_number(detail, &share) != NumberKind::finite || share < 0 || share > 1)
    throw Failure("--operator " + shown(name + ":" + detail) + ": expected " + name + ":" + place +
                  ", a number from 0 to 1");
  kernel[key] = share;
  return kernel;
}

Json rows_of_graph(const std::string& path, const TrainingSet& set, int64_t outputs) {
  const std::vector<double> weights =
      read_graph(path, set.K > 0 ? set.metadata.classes : set.metadata.targets, outputs);
  Json rows = Json::array();
  for (auto at = weights.begin(); at != weights.end(); at += outputs)
    rows.push_back(std::vector<double>(at, at + outputs));
  return rows;
}

}  // namespace

OperatorOption read_operator(const std::string& text, const std::string& specs) {
  if (text.empty()) return {};
  if (text.find('{') != text.npos) return read_spec(text, specs);
  if (text == kAuto) return {nullptr, {{"structure", kAuto}}, ""};
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon);
  const std::string detail = colon < text.size() ? text.substr(colon + 1) : "";
  const Json entry = entry_of(name, specs);
  if (entry.value("outputs", "") == "gamma") return read_structure(detail);
  return {field_kernel(name, detail, entry), nullptr, ""};
}

void add_operator(const OperatorOption& option, const TrainingSet& set, Json* spec) {
  const Dataset& data = set.data;
  const int64_t outputs = set.K > 0 ? set.K : data.m;
  Json kernel = option.kernel;
  const bool any = option.outputs.is_object() && option.outputs.value("structure", "") == kAuto;
  if (any && outputs == data.d && (data.d == 2 || data.d == 3)) kernel = {{"kernel", "helmholtz"}};
  if (kernel.is_object()) {
    kernel["scalar"] = (*spec)["map"]["kernel"];
    (*spec)["map"]["kernel"] = kernel;
  }
  if (option.outputs.is_null()) return;
  if (outputs < 2) throw Failure("--operator: 1 target, expected at least 2 (--target)");
  (*spec)["outputs"] = option.outputs;
  if (!option.graph.empty())
    (*spec)["outputs"]["matrix"] = rows_of_graph(option.graph, set, outputs);
}

std::string found_operator(const Json& spec) {
  if (spec.contains("outputs")) return json_text(spec["outputs"]);
  Json kernel = spec.at("map").at("kernel");
  if (!kernel.contains("scalar")) return "";
  kernel.erase("scalar");
  kernel.erase("variance");  // a search sets it
  return json_text(kernel);
}

}  // namespace mercer::cli
