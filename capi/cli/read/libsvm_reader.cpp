// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// libsvm: "label qid:number index:value ...", indices from 1 or 0, ascending; qid, which groups
// rows, may be absent; "#" is a comment. Rows become CSR.
#include <algorithm>
#include <cmath>

#include "failure.h"
#include "read/table.h"

namespace mercer::cli {
namespace {

constexpr int64_t kMostColumns = INT32_MAX;  // of a map

class LibsvmReader {
 public:
  LibsvmReader(std::string_view text, const std::string& name, const CsvOptions& options)
      : options_(options) {
    table_.name = name;
    table_.format = Format::libsvm;
    table_.numbers.sparse = true;
    table_.numbers.offsets.push_back(0);
    line_ = std::max<int64_t>(options.rows_line - 1, 0);
    const bool block = options.rows_line > 0;
    while (!text.empty()) {
      const size_t feed = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, feed);
      text.remove_prefix(std::min(feed + 1, text.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (++line_ % 4096 == 0) stop_if_interrupted();
      add_row(without_blanks(line.substr(0, line.find('#'))));
    }
    if (table_.rows == 0 && !block) fail_at(table_.name, 0, 0, "empty file");
    if (table_.numbers.indices.empty() && !block)
      fail_at(table_.name, 0, 0, "no index:value entries in any row");
    count_columns();
  }
  Table take() { return std::move(table_); }

 private:
  [[noreturn]] void complain(const std::string& what) const {
    fail_at(table_.name, line_, field_, what);
  }

  std::string_view next_token(std::string_view* rest) {
    *rest = without_blanks(*rest);
    const std::string_view token = rest->substr(0, rest->find_first_of(" \t"));
    rest->remove_prefix(token.size());
    ++field_;
    return token;
  }

  double number(std::string_view text) const {
    double value = 0;
    const NumberKind kind = parse_number(text, &value);
    if (kind != NumberKind::finite) complain(complaint(kind, text));
    return value;
  }

  double entry(std::string_view text) const {
    return options_.missing && is_missing(text) ? std::nan("") : number(text);
  }

  /// Indices as columns from 0.
  void count_columns() {
    const bool from_0 = least_ == 0;
    table_.first_index = options_.first_index >= 0 ? options_.first_index : from_0 ? 0 : 1;
    if (from_0 && table_.first_index == 1)
      fail_at(
          table_.name, 0, 0,
          "some row lists the index 0, but indices start at 1 (--index-base 0 takes them from 0)");
    for (int64_t& index : table_.numbers.indices) index -= table_.first_index;
    table_.columns = std::max(largest_ + 1 - table_.first_index, options_.least_columns);
  }

  /// Takes "qid:3" off the line, which all rows have or none.
  void take_query(std::string_view* rest) {
    const bool has = rest->starts_with("qid:");
    if (table_.rows > 0 && has == table_.queries.empty())
      complain(has ? "a qid, which rows before have not" : "no qid, which rows before have");
    if (has) table_.queries.push_back(number(next_token(rest).substr(4)));
    *rest = without_blanks(*rest);
  }

  void add_row(std::string_view rest) {
    if (rest.empty()) return;  // comments and blank lines
    field_ = 0;
    table_.labels.push_back(number(next_token(&rest)));
    int64_t previous = -1;
    rest = without_blanks(rest);
    take_query(&rest);
    for (; !rest.empty(); rest = without_blanks(rest))
      previous = add_entry(next_token(&rest), previous);
    table_.numbers.offsets.push_back(std::ssize(table_.numbers.indices));
    ++table_.rows;
  }

  int64_t add_entry(std::string_view token, int64_t previous) {
    const size_t colon = token.find(':');
    if (colon == token.npos) complain(shown(token) + " is not index:value");
    int64_t index = 0;
    if (!parse_whole(token.substr(0, colon), &index))
      complain(shown(token.substr(0, colon)) + " is not a whole-number index");
    if (index < 0) complain("index " + std::to_string(index) + ", but indices start at 0 or 1");
    if (index > kMostColumns)
      complain("index " + std::to_string(index) + ", expected at most " +
               std::to_string(kMostColumns));
    if (index <= previous)
      complain("index " + std::to_string(index) + " after " + std::to_string(previous) +
               ", expected ascending");
    table_.numbers.indices.push_back(index);
    table_.numbers.values.push_back(entry(token.substr(colon + 1)));
    least_ = std::min(least_, index);
    largest_ = std::max(largest_, index);
    return index;
  }

  CsvOptions options_;
  int64_t line_ = 0, least_ = kMostColumns, largest_ = 0;
  Table table_;
  int64_t field_ = 0;
};

}  // namespace

Table read_libsvm(const std::string& text, const std::string& name, const CsvOptions& options) {
  return LibsvmReader(text, name, options).take();
}

}  // namespace mercer::cli
