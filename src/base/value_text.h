// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Parameters as canonical text, which is JSON: for specs, files and messages.
#pragma once

#include <string>
#include <string_view>

#include "base/parameters.h"

namespace mercer {

/// No spaces, keys in their order. Doubles as the shortest decimal that reads back bit for bit,
/// seeds (uint64_t) as numbers below 2^53 and as strings from there on. NaN and infinities, which
/// JSON lacks, and monostate print as null.
std::string print_object(const Parameters& object);

/// Appends the text of one value.
void append_value(std::string& out, const Value& value);
void append_text(std::string& out, std::string_view text);  // quoted and escaped

}  // namespace mercer
