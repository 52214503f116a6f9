// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "operator_request.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "failure.h"
#include "json.h"
#include "plan.h"
#include "read/number.h"

namespace mercer::cli {

namespace {

/// Options that a fit of targets together has no use for, and what they are where not given.
void refuse_others(const FitRequest& request) {
  const PreparationRequest& p = request.learn.preparation;
  const std::pair<bool, const char*> given[] = {
      {!request.learn.plan.map.empty(), "--map (its spec stands in --operator)"},
      {request.learn.task == "classification", "--task classification"},
      {request.ard == "on", "--ard on"},
      {request.estimator != "auto", "--estimator"},
      {request.learn.class_weight != "none", "--class-weight"},
      {!request.learn.columns.weights.empty(), "--weights"},
      {p.raw || p.scale != "standard", "--scale and --no-standardize"},
      {p.missing != "refuse", "--missing"},
      {p.transform != "auto" && p.transform != "none", "--transform"},
      {p.target_transform != "none", "--target-transform"},
      {p.unit_rows, "--unit-rows"},
      {request.learn.extrapolation == "clip", "--extrapolation clip (it keeps no ranges)"},
      {request.learn.extrapolation == "refuse", "--extrapolation refuse (it keeps no ranges)"}};
  for (const auto& [is_given, option] : given)
    if (is_given) throw Failure(std::string("--operator: does not go with ") + option);
  for (const std::string& path : request.report)
    if (path.ends_with(".html"))
      throw Failure("--report " + shown(path) + ": with --operator JSON alone is written");
}

/// The spec of a map, from that, or from its kernel's name or spec.
Json spec_of(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos ||
      text[text.find_first_not_of(" \t\r\n")] != '{')
    return {{"kernel", {{"kernel", text}}}};
  const Json spec = json_or_discarded(text);
  if (!spec.is_object())
    throw Failure("--operator: malformed JSON in " + shown(text) +
                  R"(; at a shell it stands in single quotes: --operator '{"kernel":"NAME"}')");
  if (!spec.value("kernel", Json()).is_object()) return {{"kernel", spec}};
  for (const char* key : {"inputs", "features", "seed"})
    if (spec.contains(key))
      throw Failure(std::string("--operator: leave \"") + key +
                    "\" out; the data, --features and --seed say it");
  return spec;
}

/// What stands behind the colon of NAME:DETAIL.
void read_detail(const std::string& name, const std::string& detail, Json* spec,
                 OperatorRequest* read) {
  if (read->separable) {
    read->similarity = detail == "similarity";
    if (detail != "similarity" && detail != "covariance") read->graph = detail;
    return;
  }
  double share = 0;
  if (read->shape.empty())
    throw Failure("--operator " + shown(name + ":" + detail) + ": expected " + shown(name) +
                  " alone");
  std::string place = read->shape;
  std::ranges::transform(place, place.begin(), [](unsigned char c) { return std::toupper(c); });
  if (parse_number(detail, &share) != NumberKind::finite || share < 0 || share > 1)
    throw Failure("--operator " + shown(name + ":" + detail) + ": expected " + name + ":" + place +
                  ", a number from 0 to 1");
  (*spec)["kernel"][read->shape] = share;
}

/// What the library says of the spec's kernel, of those of several outputs.
Json entry_of(const Json& spec, const std::string& specs) {
  const Json all = json_or_discarded(specs);
  const Json given = spec.at("kernel").value("kernel", Json(""));
  const std::string name = given.is_string() ? given.get<std::string>() : json_text(given);
  std::string names;
  for (const Json& entry : all.value("kernels", Json::array())) {
    if (entry.value("outputs", "one") == "one") continue;
    if (entry.value("name", Json()) == given) return entry;
    names += (names.empty() ? "" : ", ") + entry.value("name", "");
  }
  throw Failure("--operator " + shown(name) + ": expected one of " + names);
}

}  // namespace

OperatorRequest read_operator(const FitRequest& request, const std::string& specs) {
  refuse_others(request);
  OperatorRequest read;
  const std::string& text = request.operation;
  const bool json = text.find('{') != text.npos;
  const size_t colon = json ? text.npos : text.find(':');
  Json spec = spec_of(text.substr(0, colon));
  const Json entry = entry_of(spec, specs);
  const auto name = entry.at("name").get<std::string>();
  read.field = entry.value("outputs", "") == "inputs";
  read.separable = entry.value("outputs", "") == "gamma";
  read.shape = entry.value("shape", "");
  if (colon != text.npos) read_detail(name, text.substr(colon + 1), &spec, &read);
  const bool given = !request.learn.plan.kernel.empty();
  if (given && spec["kernel"].contains("scalar"))
    throw Failure("--kernel: the spec of --operator already holds one, \"scalar\"");
  const Plan plan = read_plan(request.learn.plan, specs);
  if (plan.per_input)
    throw Failure(
        "--kernel: a lengthscale for each input does not go with --operator, whose units "
        "a search finds: leave it out, or give it in units of the data, in the spec of "
        "--operator");
  if (plan.lambda == 0) throw Failure("--lambda 0: with --operator expected auto or a number > 0");
  if (given) {
    Json& scalar = spec["kernel"]["scalar"];
    scalar = parse_json(kernel_of(plan.map, 0));
    // A number is in units of the inputs, as --lengthscale is.
    if (plan.lengthscale > 0) scalar.erase("lengthscale");
  }
  if (plan.lengthscale > 0) read.lengthscales = {plan.lengthscale};
  if (plan.lambda >= 0) read.lambdas = {plan.lambda};
  if (request.features) spec["features"] = *request.features;
  spec["seed"] = std::to_string(request.learn.seed);
  read.spec = json_text(spec);
  return read;
}

}  // namespace mercer::cli
