// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checks UTF-8: specs and metadata come from outside and are printed as JSON, which must be UTF-8.
#pragma once

#include <string_view>

namespace mercer::spec {

/// True for well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

}  // namespace mercer::spec
