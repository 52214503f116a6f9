// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Words of options that stand for enumerators of the library, in the order of their numbers: what
// an option takes and which number it means.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace mercer::cli {

using WordList = std::span<const char* const>;

inline constexpr const char* kScaleWords[] = {"standard", "robust", "center", "common", "none"};
inline constexpr const char* kUnscaled = kScaleWords[4];  // leave them
inline constexpr const char* kMissingWords[] = {"refuse", "fill", "flag"};
inline constexpr const char* kTransformWords[] = {"none", "log", "rank", "auto"};
inline constexpr const char* kExtrapolationWords[] = {"clip", "free", "refuse"};  // from 1
inline constexpr const char* kEstimatorWords[] = {"auto", "ridge", "logistic"};
inline constexpr const char* kLossWords[] = {"huber", "quantile", "poisson", "squared_hinge"};
inline constexpr const char* kArdWords[] = {"auto", "off", "on"};
inline constexpr const char* kClassWeightWords[] = {"none", "balanced"};

/// The number of a word, counted from `first`; 0, the library's default, of any other.
inline int32_t number_of(const std::string& word, WordList words, int32_t first = 0) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() ? 0 : first + static_cast<int32_t>(found - words.begin());
}

}  // namespace mercer::cli
