// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The distinct texts of a column, numbered in order of appearance, and how many of them are
// numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "read/number_words.h"

namespace mercer::cli {

class TextLevels {
 public:
  /// The number of the text, which one more row holds; "" stands for a missing one.
  size_t number_of(std::string_view text, int64_t row);
  std::vector<std::string>& texts() { return texts_; }
  /// Nothing, unless the texts are those of a column of numbers with a word or two for missing
  /// ones: these words then.
  std::vector<WordRows> words_among_numbers() const;
  /// The same where the words are too many for that, but less than the numbers.
  std::vector<WordRows> words_beside_numbers() const;
  /// True each time that the texts have doubled, from where they are many: the time to ask.
  bool have_doubled();

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::vector<WordRows> first_words(int64_t* numbers) const;

  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> places_;
  std::vector<std::string> texts_;
  std::vector<int64_t> rows_, first_;  // of each text
  size_t next_ = size_t{1} << 16;
};

}  // namespace mercer::cli
