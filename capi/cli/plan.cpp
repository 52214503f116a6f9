// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options to specs. Only their outer shape is looked at here; the library judges names and values.
#include "plan.h"

#include <charconv>

#include "failure.h"
#include "json.h"
#include "mercer/mercer.hpp"
#include "read/number.h"

namespace mercer::cli {

namespace {

// "gaussian" or {"kernel":"gaussian",...}
Json object_of(const std::string& text, const char* option, const char* key) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] != '{') return Json{{key, text}};
  try {
    return parse_json(text);
  } catch (const Json::parse_error& error) {
    throw Failure(std::string("--") + option + ": malformed JSON at character " +
                  std::to_string(error.byte) + " of " + shown(text) +
                  "; at a shell it stands in single quotes: --" + option + " '{\"" + key +
                  "\":\"NAME\"}'");
  }
}

// What the library says of a name: empty if it does not list it, which is the library's to refuse.
Json entry_of(const char* section, const Json& name, const std::string& specs) {
  const Json all = json_or_discarded(specs);
  if (!all.is_object()) return Json::object();
  for (const Json& entry : all.value(section, Json::array())) {
    if (entry.value("name", Json()) == name) return entry;
  }
  return Json::object();
}

// Where the map is left to the kernel, of one output.
Json default_map(const Json& kernel, const std::string& specs) {
  const Json name = kernel.is_object() ? kernel.value("kernel", Json()) : Json();
  const Json entry = entry_of("kernels", name, specs);
  if (entry.value("outputs", "one") != "one")
    throw Failure("--kernel " + json_text(name) + ": it has several outputs: --operator");
  return entry.value("default_map", Json("fourier"));
}

bool lists(const Json& specs, const char* section, const std::string& name) {
  for (const Json& entry : specs.value(section, Json::array()))
    if (entry.value("name", "") == name) return true;
  return false;
}

// The name of one kind of thing where another is meant: the library would list those it knows.
void check_kind(const PlanRequest& request, const std::string& specs) {
  const Json all = json_or_discarded(specs);
  if (!all.is_object()) return;
  if (lists(all, "maps", request.kernel) && !lists(all, "kernels", request.kernel))
    throw Failure("--kernel " + request.kernel + ": this is a map: --map " + request.kernel);
  if (lists(all, "kernels", request.map) && !lists(all, "maps", request.map))
    throw Failure("--map " + request.map + ": this is a kernel: --kernel " + request.map);
  if (lists(all, "projections", request.map) && !lists(all, "maps", request.map))
    throw Failure("--map " + request.map + R"(: this is a projection: --map '{"map":"fourier",)" +
                  R"("projection":")" + request.map + "\"}'");
}

Json with_lengthscale(const Json& map, double lengthscale) {
  Json result = map;
  if (lengthscale > 0) result["kernel"]["lengthscale"] = lengthscale;
  return result;
}

bool can_be_made(const Json& map) {
  try {
    Map::from_spec(json_text(map));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// As the library's search has it: the first that it lists for so many inputs and that takes the
// kernel.
void choose_projection(Json* map, int64_t inputs) {
  const Json entry = entry_of("maps", map->value("map", Json()), specs());
  for (const Json& rule : entry.value("chosen_projections", Json::array())) {
    if (inputs < rule.at("least_inputs") || inputs > rule.at("most_inputs")) continue;
    (*map)["projection"] = rule.at("projection");
    if (can_be_made(*map)) return;
  }
  map->erase("projection");
}

double number_or_auto(const std::string& text, const char* option, bool zero_allowed,
                      double automatic) {
  if (text == "auto") return automatic;
  double value = 0;
  const bool number = parse_number(text, &value) == NumberKind::finite;
  if (!number || value < 0 || (value == 0 && !zero_allowed)) {
    throw Failure(std::string("--") + option + " " + shown(text) + ": expected auto or a number " +
                  (zero_allowed ? ">= 0" : "> 0"));
  }
  return value;
}

void take_lengthscale(const Json& kernel, const PlanRequest& request, Plan* plan) {
  if (!kernel.is_object()) return;
  if (kernel.contains("parts") && request.lengthscale != "auto")
    throw Failure("--lengthscale: the parts of the kernel hold theirs");
  if (!kernel.contains("lengthscale")) return;
  if (request.lengthscale != "auto") {
    throw Failure("--lengthscale: the spec of the kernel already holds one");
  }
  const Json& inside = kernel["lengthscale"];
  plan->per_input = inside.is_array();
  // The search replaces the lengthscale by this number; what is no number is left for the library
  // to refuse.
  if (inside.is_number()) plan->lengthscale = number_or_auto(json_text(inside), "kernel", false, 0);
}

}  // namespace

Plan read_plan(const PlanRequest& request, const std::string& specs) {
  check_kind(request, specs);
  Json map = request.map.empty() ? Json::object() : object_of(request.map, "map", "map");
  for (const char* key : {"inputs", "features", "seed"}) {
    if (map.contains(key)) {
      throw Failure(std::string("--map: leave \"") + key +
                    "\" out; the data, --features and --seed say it");
    }
  }
  if (map.contains("kernel") && !request.kernel.empty())
    throw Failure("--kernel: the spec of --map already holds one");
  Json kernel = map.value("kernel", Json::object());
  if (!request.kernel.empty()) kernel = object_of(request.kernel, "kernel", "kernel");
  const Json usual = default_map(kernel, specs);
  if (!map.contains("map")) map["map"] = usual;
  const Json entry = entry_of("maps", map["map"], specs);
  const bool no_kernel = !map.contains("kernel") && request.kernel.empty();
  map["kernel"] = no_kernel ? entry.value("default_kernel", Json{{"kernel", "gaussian"}}) : kernel;
  Plan plan;
  plan.learns_threshold = map.value("threshold_from", Json()) == "targets";
  plan.needs_rows = entry.value("needs_rows", false) || plan.learns_threshold;
  plan.row_per_feature = entry.value("row_per_feature", false);
  plan.one_size = entry.value("one_size", false);
  plan.map = json_text(map);
  plan.lengthscale = number_or_auto(request.lengthscale, "lengthscale", false, 0);
  plan.lambda = number_or_auto(request.lambda, "lambda", true, -1);
  take_lengthscale(map["kernel"], request, &plan);
  return plan;
}

uint64_t read_seed(const std::string& text) {
  uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, seed);
  if (result.ec != std::errc() || result.ptr != end) {
    throw Failure("--seed " + shown(text) +
                  ": expected a whole number from 0 to 18446744073709551615");
  }
  return seed;
}

double read_test_fraction(const std::string& text) {
  double fraction = 0;
  const bool number = parse_number(text, &fraction) == NumberKind::finite;
  if (!number || fraction < 0 || fraction >= 1) {
    throw Failure("--test-fraction " + shown(text) + ": expected a number >= 0 and < 1");
  }
  return fraction;
}

int64_t read_folds(const std::string& text) {
  if (text == "loo") return 0;
  int64_t folds = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, folds);
  if (result.ec != std::errc() || result.ptr != end || folds < 2)
    throw Failure("--folds " + shown(text) +
                  ": expected a whole number of at least 2, or loo: as many as rows");
  return folds;
}

std::string complete_map(const std::string& map, double lengthscale, int64_t inputs,
                         int64_t features, uint64_t seed) {
  Json json = with_lengthscale(parse_json(map), lengthscale);
  json["inputs"] = inputs;
  json["features"] = features;
  json["seed"] = std::to_string(seed);
  if (!json.contains("projection")) choose_projection(&json, inputs);
  return json_text(json);
}

std::string kernel_of(const std::string& map, double lengthscale) {
  return json_text(with_lengthscale(parse_json(map), lengthscale).at("kernel"));
}

std::string with_kernel_of(const std::string& map, const std::string& spec) {
  Json json = parse_json(map);
  json["kernel"] = parse_json(spec).at("kernel");
  return json_text(json);
}

namespace {

/// Of a kernel of several outputs its scalar one, which has the lengthscale; null without any.
Json scalar_kernel(const std::string& map) {
  const Json json = json_or_discarded(map);
  const Json kernel = json.is_object() ? json.value("kernel", Json()) : Json();
  if (!kernel.is_object()) return nullptr;
  return kernel.value("scalar", kernel);
}

}  // namespace

double lengthscale_of(const std::string& map) {
  const Json kernel = scalar_kernel(map);
  const Json lengthscale = kernel.is_object() ? kernel.value("lengthscale", Json()) : Json();
  return lengthscale.is_number() ? lengthscale.get<double>() : 0;
}

int64_t listed_lengthscales(const std::string& map) {
  const Json lengthscale = parse_json(map).at("kernel").value("lengthscale", Json());
  return lengthscale.is_array() ? std::ssize(lengthscale) : 0;
}

std::string lengthscale_text(const std::string& map) {
  const double value = lengthscale_of(map);
  if (value > 0) return rounded(value, 4);
  if (map.find("\"lengthscale\"") == map.npos) return "-";
  return scalar_kernel(map).contains("parts") ? "per part" : "per input";
}

std::string kernel_name(const std::string& map) {
  const Json json = json_or_discarded(map);
  if (!json.is_object() || !json.contains("kernel") || !json["kernel"].is_object()) return "?";
  const Json& kernel = json["kernel"];
  std::string name = kernel.value("kernel", "?");
  if (!kernel.contains("scalar")) return name;
  const std::string shape = entry_of("kernels", name, specs()).value("shape", "");
  if (!shape.empty()) name += ":" + rounded(kernel.value(shape, 0.0), 4);
  return name + " of " + kernel["scalar"].value("kernel", "?");
}

}  // namespace mercer::cli
