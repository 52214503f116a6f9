// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "read/text_levels.h"

#include "read/number.h"
#include "read/number_form.h"

namespace mercer::cli {

namespace {

bool is_number(std::string_view text) {
  double value;
  return parse_number(text, &value) == NumberKind::finite || read_written(text).has_value();
}

}  // namespace

size_t TextLevels::number_of(std::string_view text, int64_t row) {
  const auto known = places_.find(text);
  if (known != places_.end()) {
    ++rows_[known->second];
    return known->second;
  }
  places_.emplace(text, texts_.size());
  texts_.emplace_back(text);
  rows_.push_back(1);
  first_.push_back(row);
  return texts_.size() - 1;
}

/// Three where there are more than two; numbers: rows of them, if no more.
std::vector<WordRows> TextLevels::first_words(int64_t* numbers) const {
  constexpr size_t kTooMany = 3;
  std::vector<WordRows> words;
  *numbers = 0;
  for (size_t k = 0; k < texts_.size() && words.size() < kTooMany; ++k) {
    if (texts_[k].empty()) continue;
    if (is_number(texts_[k])) {
      *numbers += rows_[k];
    } else {
      words.push_back({texts_[k], rows_[k], first_[k]});
    }
  }
  return words;
}

std::vector<WordRows> TextLevels::words_among_numbers() const {
  int64_t numbers = 0;
  const std::vector<WordRows> words = first_words(&numbers);
  return are_missing_words(words, numbers) ? words : std::vector<WordRows>();
}

std::vector<WordRows> TextLevels::words_beside_numbers() const {
  int64_t numbers = 0;
  const std::vector<WordRows> words = first_words(&numbers);
  return words.size() < 3 && numbers > rows_of(words) ? words : std::vector<WordRows>();
}

bool TextLevels::have_doubled() {
  if (texts_.size() < next_) return false;
  next_ = 2 * texts_.size();
  return true;
}

}  // namespace mercer::cli
