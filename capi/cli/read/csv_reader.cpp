// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CSV: one row per line. The first lines say what separates fields, whether there is a header
// (csv_header.h), whether lines end in a separator, and whether rows begin with a name that the
// header has no word for, as R writes them. A quoted field may hold line breaks, up to a hundred:
// more are a forgotten quote.
#include <algorithm>
#include <optional>
#include <utility>

#include "failure.h"
#include "read/csv_cells.h"
#include "read/csv_fields.h"
#include "read/csv_header.h"
#include "read/line_reader.h"
#include "read/number.h"
#include "read/table.h"
#include "read/utf8.h"

namespace mercer::cli {

namespace {

constexpr int kMostBreaks = 100;  // lines of one field

class CsvReader {
 public:
  CsvReader(ByteSource& source, const TextRule& text_rule, const CsvOptions& options)
      : lines_(source), cells_(&table_, options), options_(options) {
    table_.name = lines_.name();
    table_.format = Format::csv;
    read_first_lines(text_rule);
    std::string_view line;
    while (next_line(&line)) {
      const int64_t number = lines_.number();
      if (!kept_.empty() || !cells_.add_simple_line(line, fields_.separator(), number))
        add_line(line, number);
    }
    if (table_.rows == 0) fail_at(table_.name, 0, 0, "no rows after the header");
    cells_.finish();
  }
  Table take() { return std::move(table_); }

 private:
  // Blank lines are fine before the first row and at the end.
  bool next_line(std::string_view* line) {
    int64_t blank = 0;
    while (lines_.next(line)) {
      if (!without_blanks(*line).empty()) {
        if (blank != 0 && begun_) fail_at(table_.name, blank, 0, "blank line between rows");
        return true;
      }
      if (blank == 0) blank = lines_.number();
    }
    return false;
  }

  /// The line, which is split then, with those below that its quotes go on to.
  std::string_view whole(std::string_view line, int64_t number) {
    if (fields_.split(line, table_.name, number)) return line;
    const auto open = static_cast<int64_t>(fields_.size());
    joined_.assign(line);
    std::string_view next;
    for (int lines = 1; lines <= kMostBreaks && lines_.next(&next); ++lines) {
      joined_.append("\n").append(next);
      if (fields_.split(joined_, table_.name, number)) return joined_;
    }
    fail_at(table_.name, number, open,
            "the quote is not closed on this line nor on the " + std::to_string(kMostBreaks) +
                " below");
  }

  Fields fields_of(std::string_view line, int64_t number) {
    fields_.split(line, table_.name, number);
    Fields fields;
    for (size_t j = 0; j < fields_.size(); ++j) fields.emplace_back(fields_[j]);
    return fields;
  }

  bool take_declaration(std::string_view* line) {
    const char declared = declared_separator(*line);
    if (declared == 0) return true;
    if (options_.separator == 0) options_.separator = declared;
    return next_line(line);
  }

  struct Line {
    std::string text;
    int64_t number = 0;
  };

  /// The first line that is neither blank nor a comment; the last comment.
  Line first_line(Line* comment) {
    std::string_view line;
    bool more = next_line(&line) && take_declaration(&line);
    for (; more && is_comment(line); more = next_line(&line)) {
      *comment = {std::string(line), lines_.number()};
      ++table_.comments;
    }
    if (!more) fail_at(table_.name, 0, 0, table_.comments > 0 ? "comments alone" : "empty file");
    begun_ = true;
    if (line.find('\r') != line.npos)
      fail_at(table_.name, 1, 0, "lines end in CR alone: save the file with LF or CRLF");
    return {std::string(line), lines_.number()};
  }

  struct Head {
    Line line;
    std::vector<Line> rows;  // read below it
    Fields fields, below;    // of the line and the first of the rows
    bool is_header = false;
  };

  Head read_head() {
    Line comment;
    Head head;
    head.line = first_line(&comment);
    Line& first = head.line;
    fields_.separate_by(options_.separator != 0 ? options_.separator : separator_of(first.text));
    first.text = whole(first.text, first.number);
    std::string_view next;
    if (next_line(&next)) {
      const int64_t number = lines_.number();
      head.rows.push_back({std::string(whole(next, number)), number});
    }
    head.fields = fields_of(first.text, first.number);
    if (!head.rows.empty()) head.below = fields_of(head.rows[0].text, head.rows[0].number);
    head.is_header = options_.header == Header::yes || (options_.header == Header::automatic &&
                                                        looks_like_header(head.fields, head.below));
    if (!head.is_header && names_in_comment(comment, head.fields)) {
      head.is_header = true;
      --table_.comments;
      head.below = std::move(head.fields);
      head.fields = fields_of(without_mark(comment.text), comment.number);
      head.rows.insert(head.rows.begin(), std::exchange(first, comment));
    }
    return head;
  }

  void read_first_lines(const TextRule& text_rule) {
    Head head = read_head();
    require_utf8(table_.name, head.fields);
    settle_columns(head.is_header, head.below, &head.fields);
    ColumnNames names;
    if (head.is_header) names = column_names(head.fields);
    table_.names = names.names;
    table_.columns = static_cast<int64_t>(columns_);
    const TextPermission permission = text_rule(names.written, table_.columns);
    cells_.permit(permission, columns_);
    kept_ = permission.kept;
    table_.kept.resize(kept_.size());
    refuse_repeated(names, head.line.number);
    const bool automatic = options_.header == Header::automatic;
    table_.words_first = !head.is_header && automatic && holds_words(head.fields);
    table_.numbers_first = head.is_header && automatic && holds_numbers(head.fields);
    if (!head.is_header) add_line(head.line.text, head.line.number);
    for (const Line& row : head.rows) add_line(row.text, row.number);
  }

  bool names_in_comment(const Line& comment, const Fields& row) {
    const bool quoted = comment.text.find('"') != std::string::npos;
    if (comment.number == 0 || quoted || options_.header != Header::automatic) return false;
    const Fields names = fields_of(without_mark(comment.text), comment.number);
    return names.size() == row.size() && looks_like_header(names, row);
  }

  /// Whether lines end in a separator, or begin with names of rows.
  void settle_columns(bool header, const Fields& below, Fields* head) {
    trailing_ = (!header || head->size() + 1 != below.size()) && head->size() > 1 &&
                head->back().empty() && (below.empty() || below.back().empty());
    if (trailing_) head->pop_back();
    if (header && !trailing_ && below.size() == head->size() + 1) {
      trailing_ = below.back().empty();
      table_.row_names = !trailing_;
      if (!trailing_) take_row_names(below, head);
    }
    columns_ = head->size();
  }

  void take_row_names(const Fields& below, Fields* head) {
    const std::optional<size_t> split = split_number(below);
    if (split)
      fail_at(table_.name, lines_.number(), static_cast<int64_t>(*split) + 1,
              shown(below[*split]) + " and " + shown(below[*split + 1]) +
                  " are one number more likely than two, and the header names one column less: "
                  "quote fields that hold the separator");
    head->insert(head->begin(), "");
  }

  void refuse_repeated(const ColumnNames& names, int64_t line) const {
    for (size_t k = 0; k < names.repeated.size(); ++k) {
      const int64_t column = names.repeated[k], before = names.first[k];
      if (cells_.is_ignored(column) || cells_.is_ignored(before)) continue;
      fail_at(table_.name, line, column + 1,
              "column name " + shown(table_.names[static_cast<size_t>(before)]) +
                  " appears twice (--ignore " + std::to_string(column + 1) +
                  " leaves this one out; --header no takes the line as a row)");
    }
  }

  void add_line(std::string_view line, int64_t number) {
    whole(line, number);
    const bool ends = trailing_ && fields_.size() == columns_ + 1;
    if (ends && !fields_[columns_].empty()) {
      fail_at(table_.name, number, static_cast<int64_t>(columns_) + 1,
              shown(fields_[columns_]) + " in a column that is empty in the first lines");
    }
    if (fields_.size() != columns_ && !ends) {
      fail_at(table_.name, number, 0,
              counted(static_cast<int64_t>(fields_.size()), "field") + ", expected " +
                  std::to_string(columns_) +
                  (is_comment(line) ? " (comments may stand before the first row only)" : ""));
    }
    cells_.add_row(fields_, number);
    for (size_t k = 0; k < kept_.size(); ++k)
      table_.kept[k].emplace_back(fields_.raw(static_cast<size_t>(kept_[k])));
  }

  LineReader lines_;
  CsvFields fields_;
  Table table_;
  CsvCells cells_;
  CsvOptions options_;
  size_t columns_ = 0;
  std::vector<int64_t> kept_;
  std::string joined_;     // a row of several lines
  bool begun_ = false;     // the first row, or the header, was met
  bool trailing_ = false;  // every line ends in a separator
};

}  // namespace

bool is_missing(std::string_view field) {
  constexpr std::string_view kTexts[] = {"NA",  "NaN",  "nan",  "?",    "N/A",
                                         "n/a", "#N/A", "null", "NULL", "<NA>"};
  return field.empty() ||
         (field.size() <= 4 && std::ranges::find(kTexts, field) != std::end(kTexts));
}

std::string name_of_unnamed(int64_t column) { return "Unnamed: " + std::to_string(column); }

Table read_csv(ByteSource& source, const TextRule& text_rule, const CsvOptions& options) {
  return CsvReader(source, text_rule, options).take();
}

}  // namespace mercer::cli
