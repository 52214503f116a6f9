// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checking a parsed object against a table of Fields: unknown keys, types and ranges are refused,
// defaults filled in, keys put in table order. A fallback of NaN makes a number or an integer
// optional without a default: it stays away when not given.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/parameters.h"

namespace mercer::spec {

/// `path` stands before keys in messages, such as "map.kernel."; empty at the top. Errors:
/// INVALID_ARGUMENT naming key, value and what is allowed; those of nested specs.
Parameters check_fields(const Parameters& given, std::span<const Field> fields,
                        const std::string& path);

/// The keys every spec may carry beside its own: "mercer" (the version of the vocabulary) and
/// "needs".
struct Envelope {
  Parameters body;  // without the two
  bool needs_data = false;
};
/// Errors: VERSION for a newer "mercer", INVALID_ARGUMENT for one that is no positive integer and
/// for "needs" other than "data".
Envelope open_envelope(const Parameters& given, const std::string& path);

/// What a field accepts, for messages and help: "an integer >= 1", "one of \"pair\", \"phase\"".
std::string expectation(const Field& field);

/// The Field of the key that names a kernel, map or model: required, one of `names`.
Field name_field(const char* key, std::vector<const char*> names, const char* help);

}  // namespace mercer::spec
