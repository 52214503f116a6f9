// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "read/number_words.h"

#include <algorithm>

#include "failure.h"

namespace mercer::cli {

namespace {

constexpr size_t kMostWords = 2;
constexpr int64_t kNumbersPerWord = 19;
constexpr int64_t kRowsAhead = 1000;

}  // namespace

int64_t rows_of(const std::vector<WordRows>& words) {
  int64_t rows = 0;
  for (const WordRows& one : words) rows += one.rows;
  return rows;
}

bool are_missing_words(const std::vector<WordRows>& words, int64_t numbers) {
  return !words.empty() && words.size() <= kMostWords &&
         numbers >= kNumbersPerWord * rows_of(words);
}

bool count_word(std::string_view word, int64_t row, bool may_be_new, std::vector<WordRows>* words) {
  const auto known = std::ranges::find(*words, word, &WordRows::word);
  if (known == words->end()) {
    if (!may_be_new || words->size() == kMostWords) return false;
    words->push_back({std::string(word), 1, row});
    return true;
  }
  if (known->first < 0) known->first = row;
  ++known->rows;
  return !may_be_new || (kNumbersPerWord + 1) * rows_of(*words) <= row + kRowsAhead;
}

std::string words_text(const std::vector<WordRows>& words, int64_t rows) {
  std::string text;
  for (const WordRows& one : words) {
    if (!text.empty()) text += " and ";
    text += shown(one.word);
    text += " in ";
    text += std::to_string(one.rows);
  }
  return text + " of " + counted(rows, "row");
}

}  // namespace mercer::cli
