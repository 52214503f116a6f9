// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one file of the command that includes nlohmann-json, and the kind it uses: keys keep their
// order. Precompiled, as it takes seconds.
#pragma once

#include <nlohmann/json.hpp>

namespace mercer::cli {

using Json = nlohmann::ordered_json;

}  // namespace mercer::cli
