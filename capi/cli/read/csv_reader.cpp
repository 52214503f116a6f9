// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CSV: the first lines tell separator, header, and whether lines end in a separator.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "failure.h"
#include "read/csv.h"

namespace mercer::cli {
namespace {

enum class FieldKind { number, text, missing };

FieldKind kind_of(std::string_view field) {
  if (is_missing(field)) return FieldKind::missing;
  double value;
  const bool number = parse_number(field, &value) != NumberKind::not_a_number ||
                      parse_decimal(field, ',', &value) == NumberKind::finite;
  return number ? FieldKind::number : FieldKind::text;
}

bool begins_like_number(std::string_view field) {
  return !field.empty() && std::isdigit(static_cast<unsigned char>(field[0])) != 0;
}

bool holds(const Fields& fields, FieldKind kind) {
  return std::ranges::any_of(fields, [=](const auto& one) { return kind_of(one) == kind; });
}

/// The fields of a line that are numbers, by column; NaN where there is none.
std::vector<double> numbers_of(const Fields& fields, char decimal) {
  std::vector<double> numbers;
  for (const std::string_view field : fields) {
    double x = 0;
    const bool number = parse_decimal(field, decimal, &x) == NumberKind::finite;
    numbers.push_back(number ? x : std::nan(""));
  }
  return numbers;
}

/// Whole numbers that follow each other by one, at least two from 0 or 1 on, as programs write for
/// columns without names, or three years. What is no number may stand between them.
enum class Sequence { none, places, years };
Sequence counting(const std::vector<double>& numbers) {
  std::vector<double> known;
  for (const double x : numbers)
    if (!std::isnan(x)) known.push_back(x);
  for (size_t k = 0; k < known.size(); ++k)
    if (known[k] != std::floor(known[0]) + static_cast<double>(k)) return Sequence::none;
  if (known.size() < 2) return Sequence::none;
  if (known[0] == 0 || known[0] == 1) return Sequence::places;
  const bool years = known.size() >= 3 && known[0] >= 1000 && known.back() < 3000;
  return years ? Sequence::years : Sequence::none;
}

/// Collects lines below a first one of numbers, which is one of names if none of them is like it:
/// if it counts on and they do not as it does, or if it lies far from the numbers below it in each
/// column.
class BelowNames {
 public:
  explicit BelowNames(std::vector<double> first)
      : first_(std::move(first)), counts_(counting(first_)), low_(first_), high_(first_) {
    std::ranges::fill(low_, kInfinity);
    std::ranges::fill(high_, -kInfinity);
  }
  void add(const std::vector<double>& row) {
    ++rows_;
    bool same = row.size() == first_.size();
    for (size_t j = 0; j < std::min(row.size(), first_.size()); ++j) {
      same = same && (row[j] == first_[j] || std::isnan(first_[j]));
      fractions_ = fractions_ || (!std::isnan(row[j]) && row[j] != std::floor(row[j]));
      low_[j] = std::fmin(low_[j], row[j]);
      high_[j] = std::fmax(high_[j], row[j]);
    }
    for (size_t j = 0; rows_ == 2 && j < std::min(row.size(), above_.size()); ++j)
      alike_ = alike_ || goes_on(first_[j], above_[j], row[j]);
    above_ = row;
    above_.resize(first_.size());
    alike_ = alike_ || same || (counts_ != Sequence::none && counting(row) == counts_);
  }
  bool are_below() const {
    if (rows_ == 0 || alike_) return false;
    // Few rows of whole numbers may have begun so by chance.
    const bool counts = counts_ == Sequence::years ||
                        (counts_ == Sequence::places && (fractions_ || rows_ >= kFewWhole));
    return counts || (rows_ >= kFewRows && is_far());
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr int64_t kFewRows = 10, kFewWhole = 5;
  static constexpr double kFar = 10;  // ranges of the rows below

  /// Equal steps that are no whole numbers, as of the abscissas of a curve.
  static bool goes_on(double first, double second, double third) {
    constexpr double kRounding = 1e-6;
    const double step = second - first;
    return step != std::floor(step) &&
           std::fabs(third - second - step) <= kRounding * std::fabs(step);
  }

  bool is_far() const {
    size_t far = 0, known = 0;
    for (size_t j = 0; j < first_.size(); ++j) {
      if (std::isnan(first_[j])) continue;
      ++known;
      const double range = high_[j] - low_[j];
      const bool whole = first_[j] == std::floor(first_[j]);
      far += whole && range > 0 &&
             (first_[j] < low_[j] - kFar * range || first_[j] > high_[j] + kFar * range);
    }
    return known >= 2 && far == known;
  }

  std::vector<double> first_, above_;  // above_: the row before
  Sequence counts_;
  std::vector<double> low_, high_;
  int64_t rows_ = 0;
  bool alike_ = false, fractions_ = false;
};

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name, const CsvOptions& options)
      : records_(text, name), columns_(&table_, &records_, options), options_(options) {
    table_.name = name;
  }

  Table read(const TextRule& text_rule) {
    read_first_lines(text_rule);
    while (next_row()) {
      if (table_.rows % 4096 == 0) stop_if_interrupted();
      add_row();
    }
    if (table_.rows == 0 && (!options_.no_rows || table_.names.empty()))
      fail_at(table_.name, 0, 0, "no rows after the header");
    columns_.finish();
    return std::move(table_);
  }

 private:
  using Place = CsvRecords::Place;

  // Blank lines are passed by, but in a column of its own where a line may be what is missing.
  bool next_row() {
    const int64_t line = records_.place().line;
    if (!records_.find_line()) return false;
    const int64_t blank = records_.place().line - line;
    if (blank > 0 && table_.rows > 0 && width_ == 1)
      fail_at(table_.name, line, 0, "blank line between rows");
    if (table_.rows > 0) table_.blank_lines += blank;
    return true;
  }

  /// Whether the first line, of numbers, is one of names by the lines below it.
  bool names_are_numbers(const Fields& first) {
    constexpr int64_t kLines = 1000;
    BelowNames below(numbers_of(first, options_.decimal));
    const Place place = records_.place();
    for (int64_t k = 0; k < kLines && records_.find_line(); ++k) {
      records_.read();
      below.add(numbers_of(records_.fields(), options_.decimal));
    }
    records_.go_to(place);
    return below.are_below();
  }

  Fields fields_at(const Place& place) {
    records_.go_to(place);
    records_.read();
    return records_.fields();
  }

  /// Moves to the first line that is neither blank nor a comment.
  void find_first_line() {
    for (int64_t k = 0; k < options_.skip && !records_.at_end(); ++k) records_.pass_line();
    bool more = records_.find_line();
    for (; more && is_comment(records_.line()); more = records_.find_line()) {
      ++table_.comments;
      records_.pass_line();
    }
    if (!more) fail_at(table_.name, 0, 0, table_.comments > 0 ? "comments alone" : "empty file");
    if (records_.line().find('\r') != std::string_view::npos)
      fail_at(table_.name, 1, 0, "lines end in CR alone: save the file with LF or CRLF");
  }

  struct Head {
    Place first_row;
    Fields fields, below;  // of the line of names, or the first row, and the one below
    bool is_header = false;
    int64_t line = 0;
  };

  Head read_head() {
    find_first_line();
    Head head;
    const Place first = records_.place();
    records_.separate_by(options_.separator != 0 ? options_.separator
                                                 : separator_of(records_.line(), options_.decimal));
    head.line = first.line;
    head.fields = fields_at(first);
    const Place second = records_.place();
    if (records_.find_line()) head.below = fields_at(records_.place());
    const bool automatic = options_.header == Header::automatic;
    head.is_header =
        options_.header == Header::yes || (automatic && looks_like_header(head.fields, head.below));
    if (automatic && !head.is_header) {
      records_.go_to(second);
      head.is_header = names_are_numbers(head.fields);
    }
    head.first_row = head.is_header ? second : first;
    return head;
  }

  void read_first_lines(const TextRule& text_rule) {
    Head head = read_head();
    require_utf8(table_.name, {head.fields.begin(), head.fields.end()});
    settle_columns(head);
    ColumnNames names;
    if (head.is_header) names = column_names(head.fields);
    table_.names = names.names;
    table_.columns = static_cast<int64_t>(width_);
    const TextPermission permission = text_rule(names.written, table_.columns);
    columns_.permit(permission, width_);
    kept_ = permission.kept;
    table_.kept.resize(kept_.size());
    refuse_repeated(names, head.line);
    const bool automatic = options_.header == Header::automatic;
    table_.words_first = !head.is_header && automatic && holds(head.fields, FieldKind::text);
    table_.numbers_first = head.is_header && automatic && holds(head.fields, FieldKind::number);
    table_.rows_at = head.first_row.at;
    if (options_.rows_line > 0) head.first_row.line = options_.rows_line;
    records_.go_to(head.first_row);
  }

  /// Whether lines end in a separator.
  void settle_columns(Head& head) {
    Fields& fields = head.fields;
    const bool one_more = head.is_header && head.below.size() == fields.size() + 1;
    trailing_ = !one_more && fields.size() > 1 && fields.back().empty() &&
                (head.below.empty() || head.below.back().empty());
    if (trailing_) fields.pop_back();
    if (one_more && !head.below.back().empty())
      fail_at(table_.name, head.line + 1, 0,
              "rows have " + std::to_string(head.below.size()) + " fields, the header " +
                  std::to_string(fields.size()) +
                  " names: name every column (names of rows, too), and quote fields that hold "
                  "the separator (--skip N passes N lines above by)");
    trailing_ = trailing_ || one_more;
    width_ = fields.size();
  }

  void refuse_repeated(const ColumnNames& names, int64_t line) const {
    for (size_t k = 0; k < names.repeated.size(); ++k) {
      const int64_t column = names.repeated[k], before = names.first[k];
      if (columns_.is_ignored(column) || columns_.is_ignored(before)) continue;
      fail_at(table_.name, line, column + 1,
              "column name " + shown(table_.names[before]) + " appears twice (--ignore " +
                  std::to_string(column + 1) +
                  " leaves this one out; --header no takes the line as a row)");
    }
  }

  void add_row() {
    const Place place = records_.place();
    const bool comment = is_comment(records_.line());
    records_.read();
    const bool ends = trailing_ && records_.size() == width_ + 1;
    if (ends && !records_[width_].empty())
      fail_at(table_.name, place.line, static_cast<int64_t>(width_) + 1,
              shown(records_[width_]) + " in a column that is empty in the first lines");
    if (records_.size() != width_ && !ends)
      fail_at(table_.name, place.line, 0,
              counted(static_cast<int64_t>(records_.size()), "field") + ", expected " +
                  std::to_string(width_) +
                  (table_.rows < (table_.names.empty() ? 2 : 1)
                       ? " as in the first line (--skip N passes N lines above by)"
                       : "") +
                  (comment ? " (comments may stand before the first row only)" : ""));
    columns_.add_row(place);
    for (size_t k = 0; k < kept_.size(); ++k) table_.kept[k].emplace_back(records_[kept_[k]]);
  }

  CsvRecords records_;
  Table table_;
  CsvColumns columns_;
  CsvOptions options_;
  size_t width_ = 0;
  std::vector<int64_t> kept_;
  bool trailing_ = false;  // every line ends in a separator
};

}  // namespace

bool is_comment(std::string_view line) {
  constexpr std::string_view kSeparators = ",;\t|";
  line = without_blanks(line);
  if (line.size() == 5 && line.starts_with("sep=")) return true;
  return line.starts_with('#') &&
         (line.size() == 1 || kSeparators.find(line[1]) == kSeparators.npos);
}

bool looks_like_header(const Fields& first, const Fields& second) {
  int64_t words = 0, values = 0;
  bool above_number = false;
  for (size_t j = 0; j < first.size(); ++j) {
    const FieldKind kind = kind_of(first[j]);
    const bool word = kind == FieldKind::text;
    words += word;
    values += kind == FieldKind::number || begins_like_number(first[j]);
    above_number =
        above_number || (word && j < second.size() && kind_of(second[j]) == FieldKind::number);
  }
  return words > 0 && (values == 0 || above_number);
}

ColumnNames column_names(const Fields& fields) {
  ColumnNames columns;
  std::unordered_map<std::string, int64_t> places, copies;
  for (size_t j = 0; j < fields.size(); ++j) {
    const auto column = static_cast<int64_t>(j);
    std::string name = fields[j].empty() ? name_of_unnamed(column) : std::string(fields[j]);
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    columns.written.push_back(name);
    const auto [place, added] = places.try_emplace(name, column);
    if (!added) {
      columns.repeated.push_back(column);
      columns.first.push_back(place->second);
      int64_t& k = copies[name];
      do name = columns.written[j] + "." + std::to_string(++k);
      while (!places.try_emplace(name, column).second);
    }
    columns.names.push_back(std::move(name));
  }
  return columns;
}

Table read_csv(const std::string& text, const std::string& name, const TextRule& text_rule,
               const CsvOptions& options) {
  return CsvReader(text, name, options).read(text_rule);
}

}  // namespace mercer::cli
