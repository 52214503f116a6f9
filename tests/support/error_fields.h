// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Do the fields of an error, as the library's JSON, say what a test expects? Of the sentence that is
// made of them nothing is read: tests/base/error_test.cpp has its words.
#pragma once

#include "support/catch.h"

namespace mercer::test {

/// A field of the object; "" where there is none.
inline std::string field_of(const std::string& json, const std::string& name) {
  const std::string key = "\"" + name + "\":";
  size_t at = json.find(key);
  if (at == json.npos) return "";
  at += key.size();
  if (json[at] != '"') return json.substr(at, json.find_first_of(",}", at) - at);
  std::string text;
  for (++at; json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
    text += json[at];
  }
  return text;
}

/// Takes `start` from the front of `text` if it stands there as a whole word.
inline bool take(std::string_view* text, const std::string& start) {
  const std::string_view rest = text->starts_with(start) ? text->substr(start.size()) : "x";
  const bool whole = !start.empty() && (rest.empty() || !std::isalnum(rest[0]));
  if (whole) *text = rest;
  return whole;
}

/// A part is an argument, or the last of its names, its place and the beginning of what is said of
/// it, "features = 3", "nnz = -7" of X.nnz, "X: row 3, column 2 is nan", with or without ", expected " and how that begins; or words of one
/// field.
inline bool says(const std::string& json, std::string_view part) {
  const auto field = [&](const char* name) { return field_of(json, name); };
  constexpr std::string_view kExpected = ", expected";
  if (part.starts_with(kExpected.substr(2)))
    return field("expected").starts_with(part.substr(std::min(part.size(), kExpected.size() - 1)));
  const size_t end = std::min(part.find(kExpected), part.size());
  std::string_view rest = part.substr(0, end);
  if (end + kExpected.size() + 1 < part.size() &&
      !field("expected").starts_with(part.substr(end + kExpected.size() + 1)))
    return false;
  for (const char* around : {"function", "place"})
    if (take(&rest, field(around))) rest.remove_prefix(std::min<size_t>(2, rest.size()));
  const std::string_view words = rest;
  const std::string noun = field("noun"), argument = field("argument");
  if (!noun.empty()) take(&rest, noun), rest.remove_prefix(rest.starts_with(" ") ? 1 : 0);
  bool found = take(&rest, noun.empty() ? argument : "\"" + argument + "\"");
  for (size_t i = 1; i < argument.size() && !found; ++i) {
    const bool begins = argument[i] == '.' || argument[i - 1] == '.' || argument[i - 1] == '>';
    found = begins && take(&rest, argument.substr(i));
  }
  const std::string row = field("row"), column = field("column");
  const bool apart = found && rest.starts_with(": ") && !(row + column).empty();
  if (apart) rest.remove_prefix(2);
  const bool at_row = !row.empty() && take(&rest, "row " + row);
  if (at_row && rest.starts_with(", column ")) rest.remove_prefix(2);
  const bool at_column = !column.empty() && take(&rest, "column " + column);
  if (at_row || at_column) take(&rest, " (counted from 0)");
  found = found || at_row || at_column;
  if (found && rest.starts_with(" ")) rest.remove_prefix(1);
  const std::string problem = field("problem");
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool cut = !rest.empty() && digit(rest.back()) && problem.size() > rest.size() &&
                   digit(problem[rest.size()]);
  if (found && problem.starts_with(rest) && !cut) return true;
  return std::ranges::any_of(
      std::array{"function", "place", "argument", "value", "problem", "expected"},
      [&](const char* name) { return field(name).find(words) != std::string::npos; });
}

}  // namespace mercer::test
