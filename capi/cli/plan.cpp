// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options to specs. Only their outer shape is looked at here; the library judges names and values.
#include <algorithm>
#include <utility>

#include "commands.h"
#include "failure.h"
#include "mercer/mercer.hpp"

namespace mercer::cli {
namespace {

constexpr const char* kUsualMap = "fourier";  // where none is named

// "gaussian" or {"kernel":"gaussian",...}
Json object_of(const std::string& text, const char* option, const char* key) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] != '{')
    return Json{{key, text == "rbf" ? "gaussian" : text}};
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
Json entry_of(const char* section, const Json& name) {
  static const Json all = parse_json(specs());
  for (const Json& entry : all.value(section, Json::array()))
    if (entry.value("name", Json()) == name) return entry;
  return Json::object();
}

// The name of one kind of thing where another is meant: the library would list those it knows.
void check_kind(const PlanRequest& request) {
  const auto is = [](const char* section, const std::string& name) {
    return !entry_of(section, name).empty();
  };
  const std::string &kernel = request.kernel, &map = request.map;
  if (is("maps", kernel) && !is("kernels", kernel))
    throw Failure("--kernel " + kernel + ": this is a map: --map " + kernel);
  if (is("kernels", map) && !is("maps", map))
    throw Failure("--map " + map + ": this is a kernel: --kernel " + map);
  if (is("projections", map) && !is("maps", map))
    throw Failure("--map " + map + R"(: this is a projection: --map '{"map":"fourier",)" +
                  R"("projection":")" + map + "\"}'");
  if (entry_of("kernels", kernel).value("outputs", "one") != "one")
    throw Failure("--kernel " + kernel + ": it has several outputs: --operator");
}

double number_or_auto(const std::string& text, const char* option, bool zero_allowed,
                      double automatic) {
  if (text == "auto") return automatic;
  double value = 0;
  const bool number = parse_number(text, &value) == NumberKind::finite;
  if (!number || value < 0 || (value == 0 && !zero_allowed))
    throw Failure(std::string("--") + option + " " + shown(text) + ": expected auto or a number " +
                  (zero_allowed ? ">= 0" : "> 0"));
  return value;
}

void check_lengthscale(const Json& kernel, const PlanRequest& request) {
  if (!kernel.is_object() || request.lengthscale == "auto") return;
  if (kernel.contains("parts")) throw Failure("--lengthscale: the parts of the kernel hold theirs");
  if (kernel.contains("lengthscale"))
    throw Failure("--lengthscale: the spec of the kernel already holds one");
}

}  // namespace

Plan read_plan(const PlanRequest& request) {
  check_kind(request);
  Json map = request.map.empty() ? Json::object() : object_of(request.map, "map", "map");
  for (const char* key : {"inputs", "features", "seed"})
    if (map.contains(key))
      throw Failure(std::string("--map: leave \"") + key +
                    "\" out; the data, --features and --seed say it");
  if (map.contains("kernel") && !request.kernel.empty())
    throw Failure("--kernel: the spec of --map already holds one");
  if (!request.kernel.empty()) map["kernel"] = object_of(request.kernel, "kernel", "kernel");
  const bool open = !map.contains("kernel") && map.value("map", Json(kUsualMap)) == Json(kUsualMap);
  if (open) map["kernel"] = {{"kernel", "gaussian"}};
  check_lengthscale(map.value("kernel", Json()), request);
  return {json_text(map), number_or_auto(request.lengthscale, "lengthscale", false, 0),
          number_or_auto(request.lambda, "lambda", true, -1), open};
}

void check_plan(const Plan& plan, int64_t features) {
  constexpr int64_t kInputs = 1000;  // any that every map takes
  Json map = parse_json(plan.map);
  Json& kernel = map["kernel"];
  if (kernel.is_null()) map.erase("kernel");
  const Json lengthscale = map.value("/kernel/lengthscale"_json_pointer, Json());
  const Json name = map.value("/kernel/kernel"_json_pointer, Json());
  if (!map.contains("map")) map["map"] = entry_of("kernels", name).value("default_map", kUsualMap);
  const Json entry = entry_of("maps", map["map"]);
  if (entry.value("one_size", false)) return;
  if (!map.contains("kernel")) map["kernel"] = entry.value("default_kernel", Json::object());
  const bool listed = lengthscale.is_array() && !lengthscale.empty();
  map.update({{"inputs", listed ? std::ssize(lengthscale) : kInputs}, {"features", features}});
  try {
    Map::from_spec(json_text(map));
  } catch (const Error& error) {
    constexpr const char* kLearnt[] = {"threshold_from", "weights"};
    const bool needs_rows =
        entry.value("needs_rows", false) || map.value("projection", Json()) == "grid" ||
        std::ranges::any_of(kLearnt, [&](const char* key) { return map.contains(key); });
    const bool unsupported = error.status() == MERCER_UNSUPPORTED && !needs_rows;
    if (unsupported || error.status() == MERCER_INVALID_ARGUMENT) throw;
  }
}

uint64_t read_seed(const std::string& text) {
  uint64_t seed = 0;
  if (!parse_whole(text, &seed))
    throw Failure("--seed " + shown(text) +
                  ": expected a whole number from 0 to 18446744073709551615");
  return seed;
}

double read_fraction(const char* option, const std::string& text) {
  double fraction = 0;
  const bool number = parse_number(text, &fraction) == NumberKind::finite;
  const bool percent = number && fraction >= 1 && fraction < 100;
  if (!number || fraction < 0 || fraction >= 1)
    throw Failure(std::string(option) + " " + shown(text) + ": expected a number >= 0 and < 1" +
                  (percent ? "; did you mean " + rounded(fraction / 100, 6) + "?" : ""));
  return fraction;
}

int64_t read_folds(const std::string& text) {
  if (text == "loo") return 0;
  int64_t folds = 0;
  if (!parse_whole(text, &folds) || folds < 2)
    throw Failure("--folds " + shown(text) +
                  ": expected a whole number of at least 2, or loo: as many as rows");
  return folds;
}

std::string lengthscale_text(const std::string& map) {
  const Json json = json_or_discarded(map);
  const Json whole = json.is_object() ? json.value("kernel", Json::object()) : Json::object();
  const Json kernel = whole.value("of", whole.value("scalar", whole));
  const Json value = kernel.value("lengthscale", Json());
  if (value.is_number()) return rounded(value.get<double>(), 4);
  if (map.find("\"lengthscale\"") == map.npos) return "-";
  return kernel.contains("parts") ? "per part" : "per input";
}

std::string kernel_name(const std::string& map) {
  const Json json = json_or_discarded(map);
  if (!json.is_object() || !json.contains("kernel") || !json["kernel"].is_object()) return "?";
  const Json& kernel = json["kernel"];
  std::string name = kernel.value("kernel", "?");
  const char* const inner = kernel.contains("of") ? "of" : "scalar";
  if (!kernel.contains(inner)) return name;
  const std::string shape = entry_of("kernels", name).value("shape", "");
  if (!shape.empty()) name += ":" + rounded(kernel.value(shape, 0.0), 4);
  return name + " of " + kernel[inner].value("kernel", "?");
}

}  // namespace mercer::cli
