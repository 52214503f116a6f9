// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Text in another encoding than UTF-8, as older spreadsheets write it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mercer::cli {

/// Well-formed (RFC 3629): shortest forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

/// Fails naming the file and the first text that is not.
void require_utf8(const std::string& file, const std::vector<std::string>& texts);

}  // namespace mercer::cli
