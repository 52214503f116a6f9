// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A parameter whose value is one of an enumeration: its key and its words, declared once. Parsing,
// printing, the Field of tables and the C API's numbers follow from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace mercer {

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
  /// Without a fallback.
  Field required_field() const {
    Field required = field();
    required.fallback = {};
    return required;
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
