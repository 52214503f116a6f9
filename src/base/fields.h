// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checking a parsed object against a table of Fields: unknown keys, wrong types and ranges are
// refused, defaults filled in, keys put in table order. With a fallback of NaN, a number or an
// integer is optional without a default: it stays absent if not given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parameters.h"

namespace mercer {

/// Version of the vocabulary of specs, their key "mercer".
inline constexpr int64_t kVocabularyVersion = 1;

/// Fields without a limit, and fields without a default.
inline constexpr double kUnbounded = kInfinity;
inline constexpr double kOptional = kNaN;

/// `path` precedes keys in messages, such as "map.kernel."; empty at the top. Errors:
/// INVALID_ARGUMENT naming key, value and what is allowed; those of nested specs.
Parameters check_fields(const Parameters& given, std::span<const Field> fields,
                        const std::string& path);

/// The keys every spec may carry besides its own: "mercer" (version of the vocabulary) and "needs".
struct Envelope {
  Parameters body;  // without these two
  bool needs_data = false;
};
/// Errors: VERSION for a newer "mercer", INVALID_ARGUMENT if it is no positive integer or if
/// "needs" is not "data".
Envelope open_envelope(const Parameters& given, const std::string& path);

/// An integer in [1, most]; without a fallback it is required.
Field count_field(const char* key, Value fallback, double most, const char* help);

/// A number or an integer in [least, most].
Field number_field(const char* key, double fallback, double least, double most, const char* help);
Field integer_field(const char* key, Value fallback, double least, double most, const char* help);
/// A number in (least, most].
Field number_above_field(const char* key, double fallback, double least, double most,
                         const char* help);

/// One of `choices`.
Field choice_field(const char* key, const char* fallback, std::vector<const char*> choices,
                   const char* help);

/// The Field of the key that names a kernel, map or model: required, one of `names`.
Field name_field(const char* key, std::vector<const char*> names, const char* help);

/// The same for the names of a table's entries.
template <class Entry>
Field name_field(const char* key, std::span<const Entry> table, const char* help) {
  std::vector<const char*> names;
  for (const Entry& entry : table) names.push_back(entry.name);
  return name_field(key, std::move(names), help);
}

/// The text under the key of `field`, checked. Where it is missing the first other key is named:
/// it may be this one misspelt.
std::string name_of_entry(const Parameters& given, const Field& field, const std::string& path);

/// The entry of `table` named by `given` under the key of `field`. Errors: INVALID_ARGUMENT listing
/// the names that exist.
template <class Entry>
const Entry& named_entry(const Parameters& given, const Field& field, std::span<const Entry> table,
                         const std::string& path) {
  const std::string name = name_of_entry(given, field, path);
  for (const Entry& entry : table) {
    if (name == entry.name) return entry;
  }
  fail(MERCER_INTERNAL, "%s %s has no entry", field.key, name.c_str());
}

// Values and Fields in the words of messages and help.

/// A value as messages show it: long texts cut, lists and objects by their kind.
std::string shown(const Value& value);
std::string shown_text(const std::string& text);

/// What a field accepts, for messages and help: "an integer >= 1", "one of \"pair\", \"phase\"".
std::string expectation(const Field& field);

/// "a", "b", ...
std::string quoted_list(std::span<const char* const> names);

// A parameter whose value is one of an enumeration: its key and its words, declared once. Parsing,
// printing, the Field of tables and the C API's numbers follow from it.

template <class Enum>
struct Choice {
  const char* key;
  /// In the order of the enumerators, which count from 0 as in the C API.
  std::span<const char* const> words;
  const char* help = "";
  Enum fallback = Enum{};

  int32_t count() const noexcept { return static_cast<int32_t>(words.size()); }
  const char* word(Enum value) const noexcept { return words[static_cast<size_t>(value)]; }

  Field field() const {
    return choice_field(key, word(fallback), {words.begin(), words.end()}, help);
  }
  /// Accepts only some enumerators; the first is the fallback.
  Field field_of(std::span<const Enum> some) const {
    std::vector<const char*> names;
    for (const Enum one : some) names.push_back(word(one));
    const char* const first = names.front();
    return choice_field(key, first, std::move(names), help);
  }

  /// The enumerator in parameters that were checked against the field.
  Enum read(const Parameters& from) const {
    const auto found = std::ranges::find(words, std::string_view(from.text(key)));
    if (found == words.end()) fail(MERCER_INTERNAL, "%s: no enumerator of this word", key);
    return static_cast<Enum>(found - words.begin());
  }
  void write(Parameters& to, Enum value) const { to.set(key, std::string(word(value))); }
};

}  // namespace mercer
