// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The bytes of a file or of standard input ("-"), as a whole.
#pragma once

#include <string>
#include <string_view>

namespace mercer::cli {

/// What messages call it: the path, or "standard input".
std::string name_of_file(const std::string& path);

/// Fails naming the path and the system's reason, and for more than the machine's memory.
std::string read_bytes(const std::string& path);

/// The same unpacked where they begin as gzip does (RFC 1952, several members allowed), whatever the
/// name. Fails for what is malformed or truncated.
std::string read_unpacked(const std::string& path);

/// Fails for files that are no table of numbers or text, by their first bytes: "a Parquet file:
/// export it as CSV".
void require_known_format(const std::string& name, std::string_view bytes);

/// Fails for bytes that are no text.
void require_text(const std::string& name, std::string_view bytes);

}  // namespace mercer::cli
