// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one file that includes nlohmann-json; its parser and printer compile once, in json.cpp.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace mercer::cli {

using Json = nlohmann::ordered_json;

/// Throws Json::parse_error.
Json parse_json(const std::string& text);
/// What is no JSON is Json::is_discarded().
Json json_or_discarded(const std::string& text);

/// The number, or NaN for what is none.
inline double number_of(const Json& value) { return value.is_number() ? value.get<double>() : NAN; }

/// In one line, or with `indent` spaces a level.
std::string json_text(const Json& json, int indent = -1);

}  // namespace mercer::cli
