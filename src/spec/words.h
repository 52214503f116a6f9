// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The words of specs and files for what is one of a few, in the order of its enumerators, and how
// rows are prepared in these words.
#pragma once

#include <iterator>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/parameters.h"
#include "model/model.h"

namespace mercer::spec {

inline constexpr const char* kSelections[] = {"fixed", "held_out", "kfold", "gcv", "loo"};
inline constexpr const char* kExtrapolations[] = {"clip", "free", "refuse"};
inline constexpr const char* kScales[] = {"standard", "robust", "center"};
inline constexpr const char* kMissing[] = {"refuse", "fill", "flag"};
inline constexpr const char* kTransforms[] = {"none", "log", "rank"};

/// As the choices of a Field.
template <size_t N>
std::vector<const char*> choices_of(const char* const (&words)[N]) {
  return {std::begin(words), std::end(words)};
}

/// The enumerator of a word, which was checked against the choices.
template <class Enum, size_t N>
Enum enumerator_of(const char* const (&words)[N], std::string_view word) {
  for (size_t i = 0; i < N; ++i) {
    if (word == words[i]) return static_cast<Enum>(i);
  }
  fail(MERCER_INTERNAL, "no enumerator for a word that was checked");
}

template <class Enum, size_t N>
const char* word_of(const char* const (&words)[N], Enum value) noexcept {
  return words[static_cast<size_t>(value)];
}

/// The keys of how rows are prepared and guarded, the same in specs and files.
std::vector<Field> preparation_fields();
void set_preparation(const model::FitOptions& options, Parameters& to);
void read_preparation(const Parameters& from, model::FitOptions& options);

}  // namespace mercer::spec
