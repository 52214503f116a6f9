// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Values and Fields in the words of messages and help.
#pragma once

#include <span>
#include <string>

#include "base/parameters.h"

namespace mercer {

/// A value as messages show it: long texts cut, lists and objects by their kind.
std::string shown(const Value& value);
std::string shown_text(const std::string& text);

/// What a field accepts, for messages and help: "an integer >= 1", "one of \"pair\", \"phase\"".
std::string expectation(const Field& field);

/// "a", "b", ...
std::string quoted_list(std::span<const char* const> names);

}  // namespace mercer
