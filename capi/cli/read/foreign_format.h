// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Formats that are not read, known by their first bytes.
#pragma once

#include <string>
#include <string_view>

namespace mercer::cli {

/// "a Parquet file: export it as CSV", or nothing for a start that may be read.
std::string foreign_format(std::string_view start);

/// Holds a NUL, or more control characters than text has.
bool is_binary(std::string_view start);

}  // namespace mercer::cli
