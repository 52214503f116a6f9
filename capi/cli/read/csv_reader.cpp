// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CSV: one row per line. The first lines say what separates fields, whether there is a header
// (csv_header.h), whether lines end in a separator, and whether rows begin with a name that the
// header has no word for, as R writes them.
#include <algorithm>
#include <utility>

#include "failure.h"
#include "read/csv_cells.h"
#include "read/csv_fields.h"
#include "read/csv_header.h"
#include "read/line_reader.h"
#include "read/number.h"
#include "read/table.h"

namespace mercer::cli {

namespace {

class CsvReader {
 public:
  CsvReader(ByteSource& source, const TextRule& text_rule, const CsvOptions& options)
      : lines_(source), cells_(&table_, options), options_(options) {
    table_.name = lines_.name();
    table_.format = Format::csv;
    read_first_lines(text_rule);
    std::string_view line;
    while (next_line(&line)) add_line(line, lines_.number());
    if (table_.rows == 0) fail_at(table_.name, 0, 0, "no rows after the header");
    cells_.finish();
  }
  Table take() { return std::move(table_); }

 private:
  // Blank lines are fine at the end only.
  bool next_line(std::string_view* line) {
    int64_t blank = 0;
    while (lines_.next(line)) {
      if (!without_blanks(*line).empty()) {
        if (blank != 0) fail_at(table_.name, blank, 0, "blank line between rows");
        return true;
      }
      if (blank == 0) blank = lines_.number();
    }
    return false;
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

  void read_first_lines(const TextRule& text_rule) {
    std::string_view line;
    if (!next_line(&line) || !take_declaration(&line)) fail_at(table_.name, 0, 0, "empty file");
    const int64_t number = lines_.number();
    const std::string first(line);
    if (first.find('\r') != first.npos)
      fail_at(table_.name, 1, 0, "lines end in CR alone: save the file with LF or CRLF");
    fields_.separate_by(options_.separator != 0 ? options_.separator : separator_of(first));
    Fields head = fields_of(first, number);
    const bool more = next_line(&line);
    const std::string second(more ? line : std::string_view());
    const Fields below = more ? fields_of(second, lines_.number()) : Fields();
    const bool header = options_.header == Header::yes ||
                        (options_.header == Header::automatic && looks_like_header(head, below));
    trailing_ = (!header || head.size() + 1 != below.size()) && head.size() > 1 &&
                head.back().empty() && (!more || below.back().empty());
    if (trailing_) head.pop_back();
    if (header && !trailing_ && below.size() == head.size() + 1) {
      trailing_ = below.back().empty();
      if (!trailing_) head.insert(head.begin(), "");  // names of rows
    }
    columns_ = head.size();
    ColumnNames names;
    if (header) names = column_names(head);
    table_.names = names.names;
    table_.columns = static_cast<int64_t>(columns_);
    cells_.permit(text_rule(table_.names, table_.columns), columns_);
    refuse_repeated(names, number);
    table_.words_first = !header && options_.header == Header::automatic && holds_words(head);
    if (!header) add_line(first, number);
    if (more) add_line(second, lines_.number());
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
    fields_.split(line, table_.name, number);
    const bool ends = trailing_ && fields_.size() == columns_ + 1;
    if (ends && !fields_[columns_].empty()) {
      fail_at(table_.name, number, static_cast<int64_t>(columns_) + 1,
              shown(fields_[columns_]) + " in a column that is empty in the first lines");
    }
    if (fields_.size() != columns_ && !ends) {
      fail_at(table_.name, number, 0,
              std::to_string(fields_.size()) + " fields, expected " + std::to_string(columns_));
    }
    cells_.add_row(fields_, number);
  }

  LineReader lines_;
  CsvFields fields_;
  Table table_;
  CsvCells cells_;
  CsvOptions options_;
  size_t columns_ = 0;
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
