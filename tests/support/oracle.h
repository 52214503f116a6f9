// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Reference numbers: oracle("kernels") is the parsed tests/oracle/kernels.json.
#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace mercer::test {

/// Kept for the whole run: a range-for over a part of a temporary would read freed memory, or run
/// zero times.
inline const nlohmann::json& oracle(const std::string& name) {
  static std::map<std::string, nlohmann::json> parsed;
  const auto found = parsed.find(name);
  if (found != parsed.end()) return found->second;
  const std::string path = std::string(MERCER_ORACLE_DIR) + "/" + name + ".json";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("reference numbers not found: " + path);
  return parsed.emplace(name, nlohmann::json::parse(file)).first->second;
}

}  // namespace mercer::test
