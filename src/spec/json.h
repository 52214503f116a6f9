// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// JSON text <-> Parameters, in UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/parameters.h"

namespace mercer::spec {

// Checks UTF-8: specs and metadata come from outside and are printed as JSON, which must be UTF-8.

/// True for well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

// Parses JSON text to a tree of Parameters; base/parameters.h prints it. The parser knows nothing
// of kernels or maps; it limits size, depth and shape, so that its result is safe to check. Only
// json.cpp and report_spec.cpp include the JSON header.

inline constexpr int64_t kMostSpecBytes = int64_t{1} << 20;
inline constexpr int kMostDepth = 32;
inline constexpr int kMostObjects = 1024;  // in a list
inline constexpr size_t kMostNameBytes = 60;
inline constexpr int kMostKeys = 64;     // of an object: bounds the search for duplicates
inline constexpr int kMostLists = 1024;  // in a list: "[]" is two bytes of text, 24 in memory

/// The object that `text` holds. Integers become int64_t (uint64_t above 2^63 - 1), other numbers
/// double, lists of numbers std::vector<double>, lists of such lists NumberLists, lists of objects
/// ObjectList, null std::monostate. Errors, all INVALID_ARGUMENT: more than most_bytes, a NUL byte,
/// invalid UTF-8, syntax (with line and column), a duplicate key, nesting deeper than kMostDepth,
/// more than kMostKeys keys, a list of anything but numbers, at most kMostLists lists of numbers or
/// at most kMostObjects objects, a number beyond the range of double.
/// A text in place of a kernel's object is its name, {"kernel":NAME}; rbf is read as gaussian.
Parameters parse_object(std::string_view text, int64_t most_bytes = kMostSpecBytes);
/// The same of a kernel's own object, or of a name alone.
Parameters parse_kernel(std::string_view text);

}  // namespace mercer::spec
