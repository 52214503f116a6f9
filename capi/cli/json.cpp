// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "json.h"

namespace mercer::cli {

Json parse_json(const std::string& text) { return Json::parse(text); }

Json json_or_discarded(const std::string& text) { return Json::parse(text, nullptr, false); }

std::string json_text(const Json& json, int indent) { return json.dump(indent); }

}  // namespace mercer::cli
