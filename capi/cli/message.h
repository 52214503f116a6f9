// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the command says of a failed call of the library: in words of options, files and columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "failure.h"
#include "json.h"
#include "mercer/base.hpp"

namespace mercer::cli {

/// The fields of an error with its argument as an option of the command or as what it holds, rows and
/// columns counted from 1 or by `names`. rows: where they stood in the file, from 0; empty: in order.
std::string in_words(const Json& fields, const std::vector<std::string>& names = {},
                     std::span<const int64_t> rows = {});

/// "interrupted" for a cancelled call.
std::string message_of(const Error& error, const std::vector<std::string>& names = {},
                       std::span<const int64_t> rows = {});

/// Runs a call on a file's rows; where it fails its columns and the option or the file are named.
template <class Call>
auto in_words_of(const std::string& file, const std::vector<std::string>& names, Call&& call,
                 std::span<const int64_t> rows = {}) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.status() != MERCER_INVALID_ARGUMENT) throw;
    const std::string text = message_of(error, names, rows);
    throw Failure(text.starts_with("--") ? text : file + ": " + text);
  }
}

}  // namespace mercer::cli
