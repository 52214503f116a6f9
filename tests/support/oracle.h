// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Reference numbers: oracle("kernels") is the parsed tests/oracle/kernels.json.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace mercer::test {

inline nlohmann::json oracle(const std::string& name) {
  const std::string path = std::string(MERCER_ORACLE_DIR) + "/" + name + ".json";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("reference numbers not found: " + path);
  return nlohmann::json::parse(file);
}

}  // namespace mercer::test
