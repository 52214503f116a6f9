// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "support/reference.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>

namespace mercer::test {
namespace {

using Json = nlohmann::json;

Reference from(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return Reference::Value(json.get<bool>());
  if (json.is_number()) return Reference::Value(json.get<double>());
  if (json.is_string()) return Reference::Value(json.get<std::string>());
  if (json.is_array()) {
    Reference::List list;
    for (const Json& element : json) list.push_back(from(element));
    return Reference::Value(std::move(list));
  }
  Reference::Object object;
  for (const auto& [key, value] : json.items()) {
    object.keys.push_back(key);
    object.parts.push_back(from(value));
  }
  return Reference::Value(std::move(object));
}

Json to_json(const Reference::Value& value) {
  if (const auto* list = std::get_if<Reference::List>(&value)) {
    Json out = Json::array();
    for (const Reference& element : *list) out.push_back(to_json(element.value()));
    return out;
  }
  if (const auto* object = std::get_if<Reference::Object>(&value)) {
    Json out = Json::object();
    for (std::size_t i = 0; i < object->keys.size(); ++i)
      out[object->keys[i]] = to_json(object->parts[i].value());
    return out;
  }
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  return nullptr;
}

}  // namespace

Reference Reference::parse(const std::string& text) { return from(Json::parse(text)); }

bool Reference::contains(std::string_view key) const {
  const auto& keys = std::get<Object>(value_).keys;
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::size_t Reference::size() const {
  return is_object() ? std::get<Object>(value_).keys.size() : std::get<List>(value_).size();
}

const Reference& Reference::at(std::string_view key) const {
  const auto& [keys, parts] = std::get<Object>(value_);
  const auto found = std::find(keys.begin(), keys.end(), key);
  if (found == keys.end()) throw std::out_of_range("no key " + std::string(key));
  return parts[found - keys.begin()];
}

const Reference& Reference::at(std::size_t i) const { return std::get<List>(value_).at(i); }

Reference Reference::with(std::string key, Reference value) const {
  Object object = std::get<Object>(value_);
  object.keys.push_back(std::move(key));
  object.parts.push_back(std::move(value));
  return Value(std::move(object));
}

std::ostream& operator<<(std::ostream& out, const Reference& reference) {
  return out << to_json(reference.value()).dump();
}

const Reference& oracle(const std::string& name) {
  static std::map<std::string, Reference> parsed;
  const auto found = parsed.find(name);
  if (found != parsed.end()) return found->second;
  const std::string path = std::string(MERCER_ORACLE_DIR) + "/" + name + ".json";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("reference numbers not found: " + path);
  return parsed.emplace(name, from(Json::parse(file))).first->second;
}

}  // namespace mercer::test
