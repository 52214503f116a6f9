// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Records of CSV (RFC 4180) in a text that is held in memory: commas or another separator, fields in
// double quotes with "" for a quote. A quoted field may hold line breaks, up to a hundred: more are
// a forgotten quote.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::cli {

class CsvRecords {
 public:
  struct Place {
    size_t at = 0;
    int64_t line = 1;
  };

  /// Views of fields live as long as the text and this object. `file` is for messages.
  CsvRecords(std::string_view text, const std::string& file) : text_(text), file_(file) {}
  /// A separator of ' ' is any run of blanks.
  void separate_by(char separator) { separator_ = separator; }
  char separator() const { return separator_; }
  Place place() const { return place_; }
  void go_to(const Place& place) { place_ = place; }

  /// Passes lines that are blank by. False at the end of the text.
  bool find_line();
  /// The line at the place.
  std::string_view line() const;
  /// Splits the record at the place, which moves behind it. Fails at file:line:field for a quote
  /// that is not closed or is followed by more text.
  void read();
  void pass_line() { end_line(text_.find('\n', place_.at)); }

  size_t size() const { return fields_.size(); }
  std::string_view operator[](size_t j) const { return fields_[j]; }
  const std::vector<std::string_view>& fields() const { return fields_; }
  /// The field as it stands in the text, with blanks and quotes around it.
  std::string_view raw(size_t j) const { return raw_[j]; }

 private:
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  bool ends_line(size_t at) const;
  size_t after_blanks(size_t at) const;
  size_t closing_quote(size_t at, bool* doubled);
  void take_quoted(size_t* at);
  void take_plain(size_t* at);
  void end_line(size_t feed);

  std::string_view text_;
  std::string file_;
  char separator_ = ',';
  Place place_;
  int64_t breaks_ = 0;  // inside the record
  std::vector<std::string_view> fields_, raw_;
  std::deque<std::string> unquoted_;  // fields that held ""
};

/// What separates the fields of a line: the tab if there is one, else the more frequent of
/// semicolon and comma (the semicolon where commas look decimal), else blanks between words; quoted
/// text does not count. The comma for one field.
char separator_of(std::string_view line);

/// Well-formed (RFC 3629): shortest forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);
/// Fails naming the file and the first text that is not, as older spreadsheets write it.
void require_utf8(const std::string& file, const std::vector<std::string>& texts);

/// The field as CSV writes it: quoted if it holds a comma, a quote, a line break or outer blanks.
std::string csv_field(std::string_view text);

/// A raw field of a line with any separator as CSV with commas writes it: byte for byte, but quoted
/// if it holds a comma outside quotes.
std::string csv_copy(std::string_view raw);

}  // namespace mercer::cli
