// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// libsvm text: "label index:value ...", indices from 1, ascending; "#" starts a comment. Rows are
// held sparse while reading and spread into a dense table at the end: as float when every value is
// one (counts, 0/1), which halves it.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "failure.h"
#include "line_reader.h"
#include "number.h"
#include "table.h"

namespace mercer::cli {

namespace {

struct Entry {
  int64_t column;
  double value;
};

class LibsvmReader {
 public:
  explicit LibsvmReader(ByteSource& source) : lines_(source) {
    table_.name = lines_.name();
    table_.format = Format::libsvm;
    std::string_view line;
    while (lines_.next(&line)) add_row(without_blanks(line.substr(0, line.find('#'))));
    if (table_.rows == 0) fail_at(table_.name, 0, 0, "empty file");
    if (table_.columns == 0) fail_at(table_.name, 0, 0, "no index:value entries in any row");
    spread();
  }
  Table take() { return std::move(table_); }

 private:
  [[noreturn]] void complain(const std::string& what) const {
    fail_at(table_.name, lines_.number(), field_, what);
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
    for (rest = without_blanks(rest); !rest.empty(); rest = without_blanks(rest)) {
      previous = add_entry(next_token(&rest), previous);
    }
    starts_.push_back(entries_.size());
    ++table_.rows;
  }

  int64_t add_entry(std::string_view token, int64_t previous) {
    const size_t colon = token.find(':');
    if (colon == token.npos) complain(shown(token) + " is not index:value");
    int64_t index = 0;
    const char* end = token.data() + colon;
    const std::from_chars_result result = std::from_chars(token.data(), end, index);
    if (result.ec != std::errc() || result.ptr != end) {
      complain(shown(token.substr(0, colon)) + " is not a whole-number index");
    }
    if (index < 1) complain("index " + std::to_string(index) + ", but indices start at 1");
    if (index <= previous) {
      complain("index " + std::to_string(index) + " after " + std::to_string(previous) +
               ", expected ascending");
    }
    const double value = number(token.substr(colon + 1));
    entries_.push_back({index - 1, value});
    single_ = single_ && value == static_cast<double>(static_cast<float>(value));
    table_.columns = std::max(table_.columns, index);
    return index;
  }

  // One index like 2000000000 would ask for a table no memory holds: compared with the machine's
  // before allocating.
  void require_memory() const {
    const double bytes =
        static_cast<double>(table_.rows) * static_cast<double>(table_.columns) * (single_ ? 4 : 8);
    const double machine =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    if (bytes > machine) {
      fail_at(table_.name, 0, 0,
              "the dense table of " + std::to_string(table_.rows) + " rows and " +
                  std::to_string(table_.columns) + " columns (the largest index) needs " +
                  rounded(bytes / 1e9, 3) + " GB, this machine has " + rounded(machine / 1e9, 3));
    }
  }

  template <class T>
  void spread_into(GrowingBuffer<T>& values) {
    const auto columns = static_cast<size_t>(table_.columns);
    const auto rows = static_cast<size_t>(table_.rows);
    T* out = values.extend(rows * columns);
    std::fill(out, out + rows * columns, T{0});
    size_t k = 0;
    for (size_t i = 0; i < rows; ++i) {
      for (; k < starts_[i]; ++k) {
        out[i * columns + static_cast<size_t>(entries_[k].column)] =
            static_cast<T>(entries_[k].value);
      }
    }
  }

  void spread() {
    require_memory();
    table_.values.single = single_;
    if (single_) {
      spread_into(table_.values.f32);
    } else {
      spread_into(table_.values.f64);
    }
  }

  LineReader lines_;
  Table table_;
  GrowingBuffer<Entry> entries_;
  GrowingBuffer<size_t> starts_;  // one past the last entry of each row
  bool single_ = true;
  int64_t field_ = 0;
};

}  // namespace

Table read_libsvm(ByteSource& source) { return LibsvmReader(source).take(); }

}  // namespace mercer::cli
