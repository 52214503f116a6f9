// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one exception of the core: a status of the C API and what went wrong, as fields that programs
// read and as one sentence that is made of them.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mercer/base.h"

namespace mercer {

/// An empty text, a negative index and an empty list are of no such field.
struct ErrorFields {
  std::string place;     // around what is wrong: "parts[1]", the name of a file
  std::string noun;      // "unknown key" or "key", before the name of one in quotes
  std::string argument;  // "features", "X", "select.by"
  int64_t row = -1;      // of the argument, counted from 0
  int64_t column = -1;
  std::string value;     // "-3", "sorrf", "3 x 4"
  bool is_text = false;  // the value is a word that was given, not a number
  std::string problem;   // the predicate of the argument, with its value: "= -3", "has no rows"
  std::string expected;  // "a positive even number"
  std::vector<std::string> choices;  // the words that are accepted, where these can be listed
};

/// "parts[1]: X: row 3, column 2 (counted from 0) is nan, expected a finite number".
std::string sentence(const ErrorFields& fields);

/// One JSON object: "function", then the fields that there are. A value is a number where it is one.
std::string json_text(std::string_view function, const ErrorFields& fields);

class Error : public std::exception {
 public:
  Error(mercer_status status, ErrorFields fields)
      : status_(status), fields_(std::move(fields)), text_(sentence(fields_)) {}
  mercer_status status() const noexcept { return status_; }
  const ErrorFields& fields() const noexcept { return fields_; }
  const char* what() const noexcept override { return text_.c_str(); }
  /// The same failure, seen from outside of `place`.
  Error within(const std::string& place) const;

 private:
  mercer_status status_;
  ErrorFields fields_;
  std::string text_;
};

/// What a sentence does not say of an argument in words of its own: a place in a matrix or a list of
/// rows, counted from 0, or the words that are accepted, which the sentence says in its own way.
struct ErrorDetail {
  int64_t row = -1;
  int64_t column = -1;
  std::span<const char* const> choices = {};
};
template <class Index>
constexpr ErrorDetail at_row(Index row) noexcept {
  return {.row = static_cast<int64_t>(row)};
}
template <class Index>
constexpr ErrorDetail at_column(Index column) noexcept {
  return {.column = static_cast<int64_t>(column)};
}
constexpr ErrorDetail at(int64_t row, int64_t column) noexcept {
  return {.row = row, .column = column};
}
constexpr ErrorDetail among(std::span<const char* const> choices) noexcept {
  return {.choices = choices};
}

/// Throws Error. A printf format declares the fields: what stands before " = ", " is ", ": " or
/// another of the verbs in error.cpp is the argument, unless it is more than a word; what follows
/// the verb is the value; ", expected " begins the expectation. E.g. "features = %ld, expected an
/// even number", "%s is %g, expected a finite number", "kernel %s has no series, expected gaussian",
/// "unknown key %s = %s, expected ...", "key \"%s\" is missing, expected ...". A sentence of another
/// form has no argument. int64_t is printed with %ld: on every supported platform it is long.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(mercer_status status, const char* format, ...);
[[noreturn, gnu::format(printf, 3, 4)]] void fail(mercer_status status, ErrorDetail detail,
                                                  const char* format, ...);

/// fail(status, ...) unless ok. Arguments are evaluated in either case, so keep them cheap.
[[gnu::format(printf, 3, 4)]] void require(bool ok, mercer_status status, const char* format, ...);
[[gnu::format(printf, 4, 5)]] void require(bool ok, mercer_status status, ErrorDetail detail,
                                           const char* format, ...);

}  // namespace mercer
