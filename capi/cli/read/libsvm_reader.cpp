// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// libsvm: "label index:value ...", indices from 1, ascending; "#" is a comment. Rows become CSR.
#include <algorithm>

#include "failure.h"
#include "read/table.h"

namespace mercer::cli {
namespace {

constexpr int64_t kMostColumns = INT32_MAX;  // of a map

class LibsvmReader {
 public:
  LibsvmReader(std::string_view text, const std::string& name) {
    table_.name = name;
    table_.format = Format::libsvm;
    table_.numbers.sparse = true;
    table_.numbers.offsets.push_back(0);
    while (!text.empty()) {
      const size_t feed = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, feed);
      text.remove_prefix(std::min(feed + 1, text.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (++line_ % 4096 == 0) stop_if_interrupted();
      add_row(without_blanks(line.substr(0, line.find('#'))));
    }
    if (table_.rows == 0) fail_at(table_.name, 0, 0, "empty file");
    if (table_.columns == 0) fail_at(table_.name, 0, 0, "no index:value entries in any row");
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

  void add_row(std::string_view rest) {
    if (rest.empty()) return;  // comments and blank lines
    field_ = 0;
    table_.labels.push_back(number(next_token(&rest)));
    int64_t previous = 0;
    for (rest = without_blanks(rest); !rest.empty(); rest = without_blanks(rest))
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
    if (index < 1) complain("index " + std::to_string(index) + ", but indices start at 1");
    if (index > kMostColumns)
      complain("index " + std::to_string(index) + ", expected at most " +
               std::to_string(kMostColumns));
    if (index <= previous)
      complain("index " + std::to_string(index) + " after " + std::to_string(previous) +
               ", expected ascending");
    table_.numbers.indices.push_back(index - 1);
    table_.numbers.values.push_back(number(token.substr(colon + 1)));
    table_.columns = std::max(table_.columns, index);
    return index;
  }

  int64_t line_ = 0;
  Table table_;
  int64_t field_ = 0;
};

}  // namespace

Table read_libsvm(const std::string& text, const std::string& name) {
  return LibsvmReader(text, name).take();
}

}  // namespace mercer::cli
