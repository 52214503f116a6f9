// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CSV (RFC 4180) in memory: records of fields, the line of names, and what each column holds.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "read/table.h"

namespace mercer::cli {

/// Commas or another separator between fields, which may stand in double quotes with "" for a quote.
/// A quoted field may hold line breaks, up to a hundred: more are a forgotten quote.
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

  /// Skips blank lines. False at the end of the text.
  bool find_line();
  /// The line at the place.
  std::string_view line() const;
  /// Splits the record, and moves behind it. Fails at file:line:field for quotes that do not match.
  void read();
  bool at_end() const { return place_.at >= text_.size(); }
  void pass_line() { end_line(text_.find('\n', place_.at)); }

  size_t size() const { return fields_.size(); }
  std::string_view operator[](size_t j) const { return fields_[j]; }
  const std::vector<std::string_view>& fields() const { return fields_; }

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
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  // fields that held ""
};

/// What separates fields: the tab if there is one, else the more frequent of semicolon and comma
/// (any semicolon beside decimal commas), else blanks, outside of quotes. The comma for one field.
char separator_of(std::string_view line, char decimal = '.');

/// The field as CSV writes it: quoted if it holds a comma, a quote, a line break or outer blanks.
std::string csv_field(std::string_view text);

using Fields = std::vector<std::string_view>;

/// "# made by hand", but not "#,x,y"; and "sep=;", as spreadsheets write before the header.
bool is_comment(std::string_view line);

/// True iff some field is text, and either no field is a number or text that begins like one, as
/// dates do, or some text stands above a number. `second` is empty where there is no second line.
bool looks_like_header(const Fields& first, const Fields& second);

/// Of a header. An empty name becomes name_of_unnamed; repeats get ".1", ".2", ... and are listed.
struct ColumnNames {
  std::vector<std::string> names;
  std::vector<std::string> written;  // the same with repeats
  std::vector<int64_t> repeated;     // columns
  std::vector<int64_t> first;        // where the name of each stood before
};
ColumnNames column_names(const Fields& fields);

/// Fields to numbers; what columns hold beside these is judged once, when all rows are there.
class CsvColumns {
 public:
  CsvColumns(Table* table, CsvRecords* records, const CsvOptions& options);
  /// What each column may hold.
  void permit(const TextPermission& permission, size_t columns);
  bool is_ignored(int64_t column) const;
  /// Adds the record that was read, which begins at this place.
  void add_row(const CsvRecords::Place& place);
  /// Fails at file:line:field for what is no number, word for a missing one, nor permitted text.
  void finish();

 private:
  enum class Role : uint8_t { number, input, number_input, text_input, target, label, ignored };
  struct Cell {  // that is no plain number
    int64_t row;
    std::string_view text;
  };
  struct Column {
    Role role = Role::number;
    bool may_lack = false;  // a target that rows may be without
    bool words = false;     // NA and its like are levels
    bool zeros = false;     // some number begins with a 0, as codes do
    bool date = false;      // all fields are dates or times
    std::optional<NumberForm> form = {};
    std::vector<Cell> cells;  // by row
  };

  double& number(int64_t row, size_t j);
  std::string text_at(int64_t row, size_t j);
  bool is_listed(std::string_view field) const;
  bool is_missing_here(std::string_view field) const;
  int64_t words_of(const Column& column) const;
  void judge(size_t j);
  std::vector<std::string> texts_of(size_t j);
  bool is_code(size_t j);
  bool find_form(size_t j);
  void find_dates(size_t j);
  void take_form(size_t j, const NumberForm& form);
  void make_numbers(size_t j);
  void make_text(size_t j);
  void number_texts(size_t j, std::vector<std::string>* texts, std::vector<int64_t>* lines);
  [[noreturn]] void refuse(size_t j, const Cell& cell, const std::string& what) const;
  [[noreturn]] void refuse_missing(size_t j, const Cell& cell) const;
  [[noreturn]] void refuse_word(size_t j, const Cell& cell) const;

  Table& table_;
  CsvRecords& records_;
  CsvOptions options_;
  const char* advice_ = nullptr;           // as of TextPermission
  bool known_ = false;                     // as of TextPermission
  bool numbers_listed_ = false;            // some word for what is missing is a number
  std::vector<CsvRecords::Place> places_;  // of rows
  std::vector<Column> columns_;
};

}  // namespace mercer::cli
