// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One line of CSV into fields (RFC 4180): commas or another separator, fields in double quotes with
// "" for a quote.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::cli {

class CsvFields {
 public:
  /// A separator of ' ' is any run of blanks.
  void separate_by(char separator) { separator_ = separator; }
  char separator() const { return separator_; }
  /// Splits; the views live until the line or this object changes. False for a quote that is not
  /// closed, in the last field. Fails at file:line:field for one that is followed by more text.
  bool split(std::string_view line, const std::string& file, int64_t line_number);
  size_t size() const { return fields_.size(); }
  std::string_view operator[](size_t j) const { return fields_[j]; }
  /// The field as it stands in the line, with blanks and quotes around it.
  std::string_view raw(size_t j) const { return raw_[j]; }

 private:
  std::string_view take_quoted(std::string_view line, size_t* at, const std::string& file,
                               int64_t line_number);

  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  size_t after_blanks(std::string_view line, size_t at) const;
  void take_plain(std::string_view line, size_t* at);

  char separator_ = ',';
  std::vector<std::string_view> fields_, raw_;
  std::vector<std::string> unquoted_;  // storage of fields that held ""
  size_t unquoted_used_ = 0;
};

/// What separates the fields of a line: the tab if there is one, else the more frequent of
/// semicolon and comma (the semicolon where commas look decimal), else blanks between words; quoted
/// text does not count. The comma for one field.
char separator_of(std::string_view line);

/// The field as CSV writes it: quoted if it holds a comma, a quote, a line break or outer blanks.
std::string csv_field(std::string_view text);

/// A raw field of a line with any separator as CSV with commas writes it: byte for byte, but quoted
/// if it holds a comma outside quotes.
std::string csv_copy(std::string_view raw);

}  // namespace mercer::cli
