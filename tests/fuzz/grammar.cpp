// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "fuzz/grammar.h"

#include <algorithm>
#include <cmath>

#include "mercer/mercer.h"

namespace mercer::fuzz {
namespace {

const Json& tables() {
  static const Json all = [] {
    int64_t needed = 0;
    require(mercer_specs("", nullptr, 0, &needed) == MERCER_OK, "mercer_specs has no size");
    std::string text(static_cast<size_t>(needed), ' ');
    require(mercer_specs("", text.data(), needed, nullptr) == MERCER_OK, "mercer_specs fails");
    text.pop_back();
    return Json::parse(text);
  }();
  return all;
}

const Json& entry_named(const char* table, const std::string& name) {
  for (const Json& entry : tables().at(table))
    if (entry.at("name") == name) return entry;
  defect("mercer_specs has no " + std::string(table) + " " + name);
}

Json strange(Bytes& bytes) {
  static const Json all = Json::parse(
      R"([0,-1,1,1e-300,1e300,-1e300,1e18,9007199254740993,18446744073709551615,-9223372036854775808,
          2147483648,4294967296,1e-9,0.1,65536,1048576,"","x",null,true,[],{},[0],[1,2,3,4,5,6,7,8],
          [[1,2],[3]],[1e300,-1e300],{"kernel":"gaussian"},{"map":"fourier"},[{}],[null]])");
  return bytes.pick(all);
}

constexpr double kNoLimit = -2;  // some numbers below 0 beside those above

double least_of(const Json& field) {
  const bool limited = field.at("least").is_number() && field.at("least").get<double>() > -1000;
  return limited ? field.at("least").get<double>() : kNoLimit;
}
double most_of(const Json& field) {
  return field.at("most").is_number() ? field.at("most").get<double>() : 1e300;
}

double number(Bytes& bytes, const Json& field) {
  const double least = least_of(field), most = most_of(field);
  constexpr double kSteps[] = {0.5, 1, 0, 0.25, 2, 0.1, 1.5, 0.03};
  const double given = bytes.pick(kSteps);
  const bool open = field.at("least_open") == true;
  const double value =
      least == kNoLimit
          ? given
          : least + (given == 0 && (open || (least > 0 && least < 1e-3)) ? 0.7 : given);
  return value < most || (value == most && field.at("most_open") != true) ? value
                                                                          : (least + most) / 2;
}
int64_t integer(Bytes& bytes, const Json& field) {
  const int64_t least = static_cast<int64_t>(least_of(field));
  const int64_t value = least + bytes.below(7);
  return static_cast<int64_t>(std::min(static_cast<double>(value), most_of(field)));
}

Json list(int length, const auto& make) {
  Json out = Json::array();
  for (int i = 0; i < length; ++i) out.push_back(make());
  return out;
}

Json fields_of(Bytes& bytes, const Json& fields, const Wish& wish, int depth);
Json kernel_at(Bytes& bytes, const Wish& wish, int depth);
Json map_at(Bytes& bytes, const Wish& wish, int depth, bool part);

/// An entry of a table with the keys of its own.
Json entry_of(Bytes& bytes, const Wish& wish, const char* table, const char* key, int depth) {
  const Json& entry = bytes.pick(tables().at(table));
  Json out;
  out[key] = entry.at("name");
  out.update(fields_of(bytes, entry.at("parameters"), wish, depth));
  return out;
}

Json value_of(Bytes& bytes, const Json& field, const Wish& wish, int depth) {
  if (!wish.tame && bytes.chance(20)) return strange(bytes);
  const std::string type = field.at("type"), key = field.at("key");
  const auto one = [&] { return Json(number(bytes, field)); };
  const auto length = [&] { return bytes.chance(200) ? wish.inputs : 1 + bytes.below(4); };
  if (type == "boolean") return bytes.byte() % 2 == 1;
  if (type == "integer") return integer(bytes, field);
  if (type == "seed") return bytes.byte();
  if (type == "number") return one();
  if (type == "text")
    return field.at("choices").empty() ? Json(kCustomName) : bytes.pick(field.at("choices"));
  if (type == "number_or_numbers" && bytes.chance(160)) return one();
  if (type == "number_or_numbers" || type == "numbers") return list(length(), one);
  if (type == "numbers_or_lists") {
    const int inner = length();
    if (bytes.chance(100)) return list(inner, one);
    return list(1 + bytes.below(3), [&] { return list(inner, one); });
  }
  if (type == "kernel") return kernel_at(bytes, wish, depth + 1);
  if (type == "map") return map_at(bytes, wish, depth + 1, true);
  if (type == "sketch") {
    const std::string name = bytes.pick(field.at("choices"));
    Json out = {{"map", name}};
    out.update(fields_of(bytes, entry_named("maps", name).at("parameters"), wish, depth + 2));
    for (const char* own : {"kernel", "inputs", "features", "seed"}) out.erase(own);
    return out;
  }
  if (type == "kernels")
    return list(1 + bytes.below(3), [&] { return kernel_at(bytes, wish, depth + 1); });
  if (type == "maps")
    return list(1 + bytes.below(3), [&] { return map_at(bytes, wish, depth + 1, true); });
  if (type != "object") defect("a field of the unknown type " + type);
  if (key == "outputs") return entry_of(bytes, wish, "outputs", "structure", depth + 1);
  if (key == "select") return entry_of(bytes, wish, "selections", "by", depth + 1);
  return field.contains("fields") ? fields_of(bytes, field.at("fields"), wish, depth + 1)
                                  : Json::object();
}

Json fields_of(Bytes& bytes, const Json& fields, const Wish& wish, int depth) {
  Json out = Json::object();
  for (const Json& field : fields) {
    const bool required = field.at("required") == true;
    if (required ? !wish.tame && bytes.chance(4) : !bytes.chance(depth > 1 ? 20 : 70)) continue;
    out[field.at("key").get<std::string>()] = value_of(bytes, field, wish, depth);
  }
  if (!wish.tame && bytes.chance(6)) out["unknown"] = strange(bytes);
  return out;
}

Json kernel_at(Bytes& bytes, const Wish& wish, int depth) {
  if (depth > 3) return {{"kernel", "gaussian"}};
  return entry_of(bytes, wish, "kernels", "kernel", depth);
}

/// Parts have neither inputs nor features; their kernel is mostly left out.
Json map_at(Bytes& bytes, const Wish& wish, int depth, bool part) {
  if (depth > 3) return {{"map", "fourier"}};
  const Json& entry = bytes.pick(tables().at("maps"));
  Json out = {{"map", entry.at("name")}};
  Json own = fields_of(bytes, entry.at("parameters"), wish, depth);
  for (const char* key : {"kernel", "inputs", "features"}) own.erase(key);
  if (!part || bytes.chance(60))
    out["kernel"] = bytes.chance(150) ? entry.at("default_kernel") : kernel_at(bytes, wish, depth);
  if (!part) out["inputs"] = wish.inputs;
  if (entry.at("one_size") != true && (!part || bytes.chance(60))) out["features"] = wish.features;
  out.update(own);
  return out;
}

}  // namespace

Json kernel_spec(Bytes& bytes, const Wish& wish) { return kernel_at(bytes, wish, 0); }

Json map_spec(Bytes& bytes, const Wish& wish) {
  Json out = map_at(bytes, wish, 0, false);
  if (!wish.tame && bytes.chance(30))
    out[bytes.chance(128) ? "features" : "inputs"] = strange(bytes);
  return out;
}

Json fit_spec(Bytes& bytes, const Wish& wish) {
  const Json& model = bytes.pick(tables().at("models"));
  Json out = {{"model", model.at("name")}};
  Json keys = fields_of(bytes, entry_named("fits", "fit").at("parameters"), wish, 1);
  keys.erase("model");
  if (wish.tame) keys.erase("map");
  out.update(keys);
  out.update(fields_of(bytes, model.at("parameters"), wish, 0));
  if (bytes.chance(160)) {
    Json map = map_at(bytes, wish, 1, true);
    map["features"] = wish.features;
    out["map"] = map;
  }
  if (bytes.chance(190)) out["search"] = false;
  return out;
}

Json question_spec(Bytes& bytes, const Wish& wish, const char* table, const char* key) {
  return entry_of(bytes, wish, table, key, 0);
}

Json keys_spec(Bytes& bytes, const Wish& wish, const char* name) {
  return fields_of(bytes, entry_named("fits", name).at("parameters"), wish, 0);
}

std::string text_of(const Json& json, Bytes& bytes, const Wish& wish) {
  std::string text = json.dump();
  if (wish.tame || !bytes.chance(40)) return text;
  static constexpr std::string_view kPieces[] = {
      "{", "}", "[", "]", "\"", ",", ":", "1e999", "\\u0000", "\xff", "-", ".", "null", " "};
  const auto at = static_cast<size_t>(bytes.below(65536)) % text.size();
  if (bytes.chance(128))
    text.replace(at, static_cast<size_t>(bytes.below(9)), bytes.pick(kPieces));
  else
    text.resize(at);
  return text;
}

}  // namespace mercer::fuzz
