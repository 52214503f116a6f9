// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which columns are meant, and which are targets.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "dataset.h"
#include "failure.h"
#include "nearest.h"
#include "read/csv_header.h"

namespace mercer::cli {

namespace {

bool is_target_name(const std::string& name) {
  return !name.empty() && name[0] == 'y' &&
         std::all_of(name.begin() + 1, name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_unnamed(const std::vector<std::string>& names, int64_t j) {
  return names[static_cast<size_t>(j)] == name_of_unnamed(j);
}

// The one column without a name, as the header has it: "".
int64_t find_unnamed(const std::string& option, const std::vector<std::string>& names) {
  int64_t found = -1, count = 0;
  for (int64_t j = 0; j < std::ssize(names); ++j) {
    if (!is_unnamed(names, j)) continue;
    found = j;
    ++count;
  }
  if (count == 1) return found;
  throw Failure(option + " '': " + std::to_string(count) + " columns have no name; give a number");
}

std::vector<int64_t> columns_called(const std::vector<std::string>& names,
                                    const std::string& wanted) {
  std::vector<int64_t> found;
  for (size_t j = 0; j < names.size(); ++j)
    if (names[j] == wanted) found.push_back(static_cast<int64_t>(j));
  return found;
}

/// What may have been meant, else what there is.
std::string meant_column(const std::string& wanted, const std::vector<std::string>& names) {
  const std::string meant = did_you_mean(wanted, names);
  return meant.empty() ? "; the columns are " + listed(names, 12) : meant;
}

int64_t find_number(const std::string& option, const std::vector<std::string>& names,
                    int64_t columns, const std::string& wanted) {
  int64_t number = 0;
  const char* end = wanted.data() + wanted.size();
  const std::from_chars_result result = std::from_chars(wanted.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) {
    throw Failure(option + " " + shown(wanted) + ": " +
                  (names.empty() ? "the file has no header; give a column number from 1"
                                 : "no column of that name" + meant_column(wanted, names)));
  }
  if (number < 1 || number > columns) {
    throw Failure(option + " " + wanted + ": expected a column from 1 to " +
                  std::to_string(columns));
  }
  return number - 1;
}

/// All of a name that repeats; one of them is called a.1 where messages name it.
std::vector<int64_t> find_column(const std::string& option, const std::vector<std::string>& names,
                                 int64_t columns, const std::string& wanted) {
  std::vector<int64_t> found = columns_called(names, wanted);
  if (found.empty()) found = columns_called(column_names(names).names, wanted);
  if (!found.empty()) return found;
  if (wanted.empty()) return {find_unnamed(option, names)};
  return {find_number(option, names, columns, wanted)};
}

}  // namespace

char read_delimiter(const std::string& text) {
  if (text == "auto") return 0;
  if (text == "comma") return ',';
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "semicolon") return ';';
  if (text == "space") return ' ';
  const bool single = text.size() == 1 && std::isalnum(static_cast<unsigned char>(text[0])) == 0;
  if (single && text != "\"" && text != "." && text != "-" && text != "+") return text[0];
  throw Failure("--delimiter " + shown(text) +
                ": expected auto, comma, tab, semicolon, space, or one character that is no part "
                "of a number");
}

CsvOptions csv_options(const ColumnRequest& request) {
  CsvOptions options;
  options.separator = read_delimiter(request.delimiter);
  options.missing = request.missing;
  options.missing_words = request.missing_words;
  options.header = request.header == "yes"  ? Header::yes
                   : request.header == "no" ? Header::no
                                            : Header::automatic;
  options.decimal = request.decimal == "comma" ? ',' : request.decimal == "point" ? '.' : '\0';
  return options;
}

void require_csv(const Table& table, const ColumnRequest& request) {
  if (table.format == Format::csv) return;
  const char* option = !request.text.empty()            ? "--text"
                       : !request.ids.empty()           ? "--id"
                       : !request.missing_words.empty() ? "--missing-word"
                                                        : nullptr;
  if (option != nullptr)
    throw Failure(std::string(option) + ": " + table.name + " is no CSV and holds numbers alone");
}

namespace {

// "u,v" is two columns unless one is called that.
std::vector<std::string> separate(const std::vector<std::string>& names,
                                  const std::vector<std::string>& requested) {
  std::vector<std::string> wanted;
  for (std::string text : requested) {
    const bool whole = std::find(names.begin(), names.end(), text) != names.end();
    for (size_t comma = text.find(','); !whole && comma != text.npos; comma = text.find(',')) {
      wanted.push_back(text.substr(0, comma));
      text.erase(0, comma + 1);
    }
    wanted.push_back(text);
  }
  return wanted;
}

}  // namespace

std::vector<int64_t> find_columns(const char* option, const std::vector<std::string>& names,
                                  int64_t columns, const std::vector<std::string>& requested) {
  std::vector<int64_t> found;
  for (const std::string& wanted : separate(names, requested)) {
    for (const int64_t column : find_column(option, names, columns, wanted)) {
      if (std::find(found.begin(), found.end(), column) != found.end())
        throw Failure(std::string(option) + " " + shown(wanted) + ": given twice");
      found.push_back(column);
    }
  }
  return found;
}

std::vector<int64_t> choose_targets(const std::vector<std::string>& names, int64_t columns,
                                    const std::vector<std::string>& requested,
                                    const std::vector<int64_t>& ignored) {
  if (!requested.empty()) return find_columns("--target", names, columns, requested);
  const auto left_out = [&](int64_t j) {
    return std::find(ignored.begin(), ignored.end(), j) != ignored.end();
  };
  std::vector<int64_t> targets;
  for (size_t j = 0; j < names.size(); ++j) {
    const auto column = static_cast<int64_t>(j);
    if (is_target_name(names[j]) && !left_out(column)) targets.push_back(column);
  }
  for (int64_t j = columns - 1; j >= 0 && targets.empty(); --j)
    if (!left_out(j) && (names.empty() || !is_unnamed(names, j))) targets.push_back(j);
  for (int64_t j = columns - 1; j >= 0 && targets.empty(); --j)
    if (!left_out(j)) targets.push_back(j);
  return targets;
}

}  // namespace mercer::cli
