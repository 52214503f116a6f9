// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Numbers as people and spreadsheets write them: 1,5 and 1.234,50 and 1,234.5, 12%, $ 5, 5 EUR.
// Which mark is the decimal one, and what stands beside the number, is a property of a column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::cli {

/// What a field says by itself.
struct WrittenNumber {
  double value = 0;        // an undecided mark taken as one between groups of digits
  std::string_view affix;  // "%", "€", "USD", ...; empty: none
  char decimal = 0;        // the mark before the fraction, where that is certain
  char group = 0;          // the mark between groups of three digits, where that is certain
  char undecided = 0;      // the one mark, before three digits: 1,234
};

/// Nothing for text.
std::optional<WrittenNumber> read_written(std::string_view field);

/// How a column's numbers are written, beside plain ones.
struct ColumnForm {
  int64_t column = 0;
  std::string affix;
  char decimal = 0;     // '.' or ','; 0: not known
  std::string example;  // a field
  double value = 0;     // and how it is read
};

/// The form of one column as its fields tell it.
class NumberForm {
 public:
  enum class Reading { number, text, conflict };

  bool active() const { return active_; }
  /// The decimal mark and what stands beside numbers is known before the first of them.
  void expect_decimal(char mark);
  void expect_affix(const std::string& affix);
  /// Later numbers are of the form of plain ones above, some of them with a point or none.
  void follow_plain(bool points);
  /// Reads a field. A number whose mark is undecided still is taken as whole, and its row kept.
  Reading read(std::string_view field, int64_t row, double* value);
  const std::string& conflict() const { return conflict_; }
  /// Rows whose number is 1000 times too large once the comma is known to be decimal.
  std::vector<int64_t> take_undecided();
  bool undecided() const { return !rows_.empty(); }
  char decimal() const { return decimal_; }
  char group() const { return group_; }
  void settle(char decimal) { decimal_ = decimal; }
  ColumnForm described(int64_t column) const;
  int64_t example_row() const { return example_row_; }

 private:
  bool read_known(std::string_view field, double* value) const;
  bool agrees(const WrittenNumber& written, std::string_view field);
  double settled(const WrittenNumber& written, int64_t row);

  bool active_ = false;
  bool affix_known_ = false;
  std::string affix_;
  char decimal_ = 0, group_ = 0;
  std::vector<int64_t> rows_;
  std::string example_;
  int64_t example_row_ = -1;
  std::string conflict_;
};

}  // namespace mercer::cli
