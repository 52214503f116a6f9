// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <algorithm>
#include <cctype>

#include "fitting.h"
#include "mercer/kernel.hpp"
#include "message.h"

namespace mercer::cli {
namespace {

constexpr const char* kAuto = "auto";

/// What the library says of a kernel of several outputs.
Json kernel_of_outputs(const Json& name, const std::string& specs) {
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
  kernel_of_outputs(spec.value("kernel", Json()), specs);
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

/// Of each row and column of a graph's file the target it is of: by the header, else in order.
std::vector<size_t> order_of(const Table& table, const std::vector<std::string>& targets,
                             size_t m) {
  std::vector<size_t> order;
  for (size_t k = 0; k < m; ++k) {
    const std::string name = table.names.empty() ? "" : table.names[k];
    const auto found = std::ranges::find(targets, name);
    if (!name.empty() && found == targets.end())
      fail_at(table.name, 1, static_cast<int64_t>(k + 1),
              "column " + shown(name) + " is no target, expected " + listed(targets) +
                  did_you_mean(name, targets));
    order.push_back(name.empty() ? k : static_cast<size_t>(found - targets.begin()));
  }
  return order;
}

void check_weights(const Table& table, int64_t m) {
  const auto place = [](int64_t k, int64_t l) {
    return " in row " + std::to_string(k + 1) + ", column " + std::to_string(l + 1);
  };
  for (int64_t k = 0; k < m; ++k)
    for (int64_t l = 0; l < m; ++l) {
      const double w = table.numbers.at(k * m + l), back = table.numbers.at(l * m + k);
      const std::string what = "weight " + number_text(w) + place(k, l);
      if (k != l && !(w >= 0)) fail_at(table.name, 0, 0, what + ", expected finite numbers >= 0");
      if (w != back)
        fail_at(table.name, 0, 0,
                what + ", but " + number_text(back) + place(l, k) + ", expected the same");
    }
}

/// Weights between targets as a matrix in their order.
Json read_graph(const std::string& path, const std::vector<std::string>& targets, int64_t m) {
  const auto no_text = [](const auto&, int64_t) { return TextPermission{}; };
  const Table table = read_table(path, no_text);
  if (table.numbers.sparse || table.rows != m || table.columns != m)
    fail_at(table.name, 0, 0,
            std::to_string(table.rows) + " rows and " + std::to_string(table.columns) +
                " columns, expected a weight between each two of the " + std::to_string(m) +
                " targets");
  check_weights(table, m);
  const std::vector<size_t> order = order_of(table, targets, static_cast<size_t>(m));
  std::vector<std::vector<double>> rows(order.size(), std::vector<double>(order.size()));
  for (size_t k = 0; k < order.size(); ++k)
    for (size_t l = 0; l < order.size(); ++l)
      rows[order[k]][order[l]] = table.numbers.at(static_cast<int64_t>(k * order.size() + l));
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
  const Json entry = kernel_of_outputs(name, specs);
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
    (*spec)["outputs"]["matrix"] =
        read_graph(option.graph, set.K > 0 ? set.metadata.classes : set.metadata.targets, outputs);
}

}  // namespace mercer::cli
