// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which reader a file needs: by magic numbers, then the name, then the first lines.
#include <algorithm>
#include <utility>

#include "failure.h"
#include "read/table.h"

namespace mercer::cli {

bool is_missing(std::string_view field) {
  constexpr std::string_view kTexts[] = {"NA",  "NaN",  "nan",  "?",    "N/A",
                                         "n/a", "#N/A", "null", "NULL", "<NA>"};
  return field.empty() ||
         (field.size() <= 4 && std::ranges::find(kTexts, field) != std::end(kTexts));
}

std::string column_name(const Table& table, int64_t column) {
  return table.names.empty() ? std::to_string(column + 1) : table.names[column];
}

std::string name_of_unnamed(int64_t column) { return "Unnamed: " + std::to_string(column); }

void densify_if_full(Numbers* numbers, int64_t rows, int64_t columns, double share) {
  const double all = static_cast<double>(rows) * static_cast<double>(columns);
  if (!numbers->sparse || static_cast<double>(numbers->values.size()) <= share * all) return;
  Numbers dense;
  dense.values.resize(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i)
    for (auto p = numbers->offsets[i]; p < numbers->offsets[i + 1]; ++p)
      dense.values[i * static_cast<size_t>(columns) +
                   static_cast<size_t>(numbers->indices[static_cast<size_t>(p)])] = numbers->at(p);
  *numbers = std::move(dense);
}

Numbers rows_in_order(const Numbers& numbers, int64_t columns, const std::vector<int64_t>& order) {
  Numbers taken;
  taken.sparse = numbers.sparse;
  if (numbers.sparse) taken.offsets.push_back(0);
  if (!numbers.sparse) taken.values.reserve(order.size() * static_cast<size_t>(columns));
  for (const int64_t i : order) {
    int64_t begin = i * columns, end = begin + columns;
    if (numbers.sparse) {
      begin = numbers.offsets[i];
      end = numbers.offsets[static_cast<size_t>(i) + 1];
      taken.indices.insert(taken.indices.end(), numbers.indices.begin() + begin,
                           numbers.indices.begin() + end);
    }
    taken.values.insert(taken.values.end(), numbers.values.begin() + begin,
                        numbers.values.begin() + end);
    if (numbers.sparse) taken.offsets.push_back(std::ssize(taken.values));
  }
  return taken;
}

namespace {

// "label 3:0.5 ..." : the second word is a whole number, a colon and something.
bool looks_like_libsvm(std::string_view line) {
  if (line.find(',') != line.npos) return false;
  const size_t blank = line.find_first_of(" \t");
  if (blank == line.npos) return false;
  const std::string_view word = without_blanks(line.substr(blank));
  const size_t colon = word.find(':');
  return colon != word.npos && colon > 0 &&
         (word.find_first_not_of("0123456789") == colon || word.starts_with("qid:"));
}

bool content_is_libsvm(std::string_view text) {
  while (!text.empty()) {
    const size_t feed = text.find('\n');
    if (looks_like_libsvm(without_blanks(text.substr(0, feed)))) return true;
    text.remove_prefix(feed == text.npos ? text.size() : feed + 1);
  }
  return false;
}

std::string read_rows(const std::string& path) {
  const std::unique_ptr<ArrayFile> array = open_hdf5(path);
  if (array == nullptr) return read_unpacked(path);
  constexpr size_t kBlock = size_t{1} << 20;
  std::string bytes;
  for (size_t at = 0; at < array->size();) {
    stop_if_interrupted();
    require_memory(path + ": as a whole", static_cast<double>(at));
    bytes.resize(std::min(at + kBlock, array->size()));
    at += array->read(bytes.data() + at, at, bytes.size() - at);
  }
  return bytes;
}

}  // namespace

Format format_of(std::string_view bytes, std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (bytes.starts_with("\x93NUMPY") || path.ends_with(".npy")) return Format::npy;
  for (const char* ending : {".svm", ".libsvm", ".svmlight"})
    if (path.ends_with(ending)) return Format::libsvm;
  if (path.ends_with(".csv") || path.ends_with(".CSV")) return Format::csv;
  return content_is_libsvm(bytes.substr(0, 4096)) ? Format::libsvm : Format::csv;
}

Table read_table(const std::string& path, const TextRule& text_rule, const CsvOptions& csv) {
  std::string bytes = csv.text != nullptr ? *csv.text : read_rows(path);
  const std::string name = name_of_file(path);
  require_known_format(name, bytes);
  const Format format = format_of(bytes, path);
  if (format == Format::npy) {
    Table table = read_npy(bytes, name, csv);
    text_rule({}, table.columns);
    return table;
  }
  require_text(name, bytes);
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.erase(0, 3);  // a byte order mark
  return format == Format::libsvm ? read_libsvm(bytes, name, csv)
                                  : read_csv(bytes, name, text_rule, csv);
}

Table read_column(const std::string& path, bool always_text, bool may_lack) {
  const auto rule = [&](const std::vector<std::string>&, int64_t columns) {
    TextPermission permission;
    if (columns == 1) permission = {{0}, always_text};
    if (may_lack) permission.may_lack = permission.columns;
    return permission;
  };
  Table table = read_table(path, rule, {.separator = ','});
  if (table.format == Format::libsvm || table.columns != 1)
    fail_at(table.name, 0, 0,
            "expected one column of labels, found " + std::to_string(table.columns) + table.shape);
  return table;
}

}  // namespace mercer::cli
