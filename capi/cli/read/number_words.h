// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Words among a column's numbers: few distinct ones in few rows say that the number is missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::cli {

struct WordRows {
  std::string word;
  int64_t rows = 0;
  int64_t first = -1;  // row
};

/// Words of one column.
struct ColumnWords {
  int64_t column = 0;
  std::vector<WordRows> words;
};

/// At most two words, in at most one of twenty rows that are not empty.
bool are_missing_words(const std::vector<WordRows>& words, int64_t numbers);

/// Counts a word, one of those known or another. False where it is one too many, distinct or in
/// number: too many even if all rows so far, and a thousand more, held numbers.
bool count_word(std::string_view word, int64_t row, bool may_be_new, std::vector<WordRows>* words);

int64_t rows_of(const std::vector<WordRows>& words);

/// "'unknown' in 3 and '-' in 1 of 900 rows".
std::string words_text(const std::vector<WordRows>& words, int64_t rows);

}  // namespace mercer::cli
