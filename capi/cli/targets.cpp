// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which columns are meant, and which are targets.
#include <algorithm>
#include <cctype>

#include "dataset.h"
#include "failure.h"
#include "read/csv.h"

namespace mercer::cli {
namespace {

bool is_target_name(const std::string& name) {
  return !name.empty() && (name[0] == 'y' || name[0] == 'Y') &&
         std::all_of(name.begin() + 1, name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Is y a coordinate, beside x and z?
bool is_place(const std::vector<std::string>& names) {
  return std::ranges::all_of(std::initializer_list<const char*>{"x", "y", "z"}, [&](auto name) {
    return std::ranges::find(names, name) != names.end();
  });
}

/// The last column that has a name if any has; -1: all are left out.
int64_t last_column(const std::vector<std::string>& names, int64_t columns,
                    const std::vector<int64_t>& ignored) {
  for (const bool any : {false, true})
    for (int64_t j = columns - 1; j >= 0; --j)
      if (!has(ignored, j) && (any || names.empty() || names[j] != name_of_unnamed(j))) return j;
  return -1;
}

/// Where a target could have been meant that was not taken.
std::string note_of_targets(const std::vector<std::string>& names,
                            const std::vector<int64_t>& targets, int64_t last, bool by_name) {
  std::vector<std::string> taken;
  for (const int64_t j : targets) taken.push_back(names.empty() ? "" : names[j]);
  const auto advice = [](const std::string& name) {
    return ": --target " + typed(name) + " takes it";
  };
  if (by_name && !has(targets, last))
    return "the target is " + listed(taken) + ", by name; the last column, " + names[last] +
           ", is an input" + advice(names[last]);
  if (is_place(names) && taken[0] != "y")
    return "the target is " + taken[0] + ", the last column; y, beside x and z, is an input" +
           advice("y");
  return "";
}

/// All of a name that repeats; one of them is called a.1 where messages name it.
std::vector<int64_t> columns_called(const std::vector<std::string>& names,
                                    const std::string& wanted) {
  std::vector<int64_t> found;
  const auto find = [&](const std::vector<std::string>& all) {
    for (size_t j = 0; j < all.size(); ++j)
      if (all[j] == wanted) found.push_back(static_cast<int64_t>(j));
  };
  find(names);
  if (found.empty()) find(column_names({names.begin(), names.end()}).names);
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
  if (!parse_whole(wanted, &number))
    throw Failure(option + " " + shown(wanted) + ": " +
                  (names.empty() ? "the file has no header; give a column number from 1"
                                 : "no column of that name" + meant_column(wanted, names)));
  if (number < 1 || number > columns)
    throw Failure(option + " " + wanted + ": expected a column from 1 to " +
                  std::to_string(columns));
  return number - 1;
}

std::vector<int64_t> find_column(const std::string& option, const std::vector<std::string>& names,
                                 int64_t columns, const std::string& wanted) {
  std::vector<int64_t> found = columns_called(names, wanted);
  if (found.empty()) found.push_back(find_number(option, names, columns, wanted));
  return found;
}

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
  options.decimal = request.decimal == "comma" ? ',' : '.';
  options.decimal_asked = request.decimal != "auto";
  options.skip = request.skip;
  options.text = request.content;
  options.rows_line = request.rows_line;
  options.least_columns = request.least_columns;
  if (request.index_base != "auto") options.first_index = request.index_base == "0" ? 0 : 1;
  return options;
}

void require_columns(const Table& table, const ColumnRequest& request,
                     const std::vector<std::string>& targets) {
  const auto refuse = [&](const char* option, bool given, const char* what) {
    if (given) throw Failure(std::string(option) + ": " + table.name + what);
  };
  refuse("--index-base", request.index_base != "auto" && table.format != Format::libsvm,
         " is no libsvm file, whose entries have indices");
  if (table.format == Format::csv) return;
  const char* const numbers = " is no CSV and holds numbers alone";
  refuse("--text", !request.text.empty(), numbers);
  refuse("--id", !request.ids.empty(), numbers);
  refuse("--missing-word", !request.missing_words.empty(), numbers);
  refuse("--dates", !request.dates.empty(), numbers);
  refuse("--numbers", !request.numbers.empty(), numbers);
  refuse("--skip", request.skip > 0, numbers);
  if (table.format != Format::libsvm) return;
  const char* const lines =
      " is a libsvm file, whose lines hold a target first and inputs behind it";
  refuse("--weights", !request.weights.empty(), lines);
  refuse("--groups", !request.groups.empty(), lines);
  refuse("--ignore", !request.ignore.empty(), lines);
  refuse("--target", !targets.empty(), lines);
}

std::vector<int64_t> find_columns(const char* option, const std::vector<std::string>& names,
                                  int64_t columns, const std::vector<std::string>& requested) {
  std::vector<int64_t> found;
  for (const std::string& wanted : separate(names, requested)) {
    for (const int64_t column : find_column(option, names, columns, wanted)) {
      if (has(found, column))
        throw Failure(std::string(option) + " " + shown(wanted) + ": given twice");
      found.push_back(column);
    }
  }
  return found;
}

std::vector<std::string> take_absent(const std::vector<std::string>& names,
                                     std::vector<std::string>* requested) {
  std::vector<std::string> there, absent;
  int64_t number = 0;
  for (const std::string& one : separate(names, *requested))
    (names.empty() || parse_whole(one, &number) || !columns_called(names, one).empty() ? there
                                                                                       : absent)
        .push_back(one);
  *requested = there;
  return absent;
}

void require_apart(const char* option, const std::vector<int64_t>& columns,
                   const std::vector<int64_t>& others, const char* what) {
  for (const int64_t column : columns)
    if (column >= 0 && has(others, column))
      throw Failure(std::string(option) + ": column " + std::to_string(column + 1) + what);
}

Layout asked_columns(const std::vector<std::string>& names, int64_t columns,
                     const ColumnRequest& wanted) {
  Layout asked;
  const auto one = [&](const char* option, const std::string& column) {
    return column.empty() ? -1 : find_columns(option, names, columns, {column})[0];
  };
  asked.ignored = find_columns("--ignore", names, columns, wanted.ignore);
  asked.text = find_columns("--text", names, columns, wanted.text);
  asked.ids = find_columns("--id", names, columns, wanted.ids);
  asked.dates = find_columns("--dates", names, columns, wanted.dates);
  asked.numbers = find_columns("--numbers", names, columns, wanted.numbers);
  asked.weights = one("--weights", wanted.weights);
  asked.groups = one("--groups", wanted.groups);
  require_apart("--dates", asked.dates, asked.text, " is text");
  require_apart("--numbers", asked.numbers, asked.text, " is text");
  require_apart("--ignore", asked.ignored, {asked.weights}, " holds the weights");
  require_apart("--ignore", asked.ignored, {asked.groups}, " holds the groups, which are no input");
  require_apart("--weights", {asked.weights}, {asked.groups}, " holds the groups");
  for (const int64_t column : {asked.weights, asked.groups})
    if (column >= 0) asked.ignored.push_back(column);
  std::ranges::sort(asked.ignored);
  return asked;
}

std::vector<int64_t> choose_targets(const std::vector<std::string>& names, int64_t columns,
                                    const std::vector<std::string>& requested,
                                    const std::vector<int64_t>& ignored, std::string* note) {
  if (!requested.empty()) return find_columns("--target", names, columns, requested);
  std::vector<int64_t> targets;
  const bool place = is_place(names);
  for (size_t j = 0; j < names.size(); ++j) {
    const auto column = static_cast<int64_t>(j);
    if (is_target_name(names[j]) && !(place && names[j] == "y") && !has(ignored, column))
      targets.push_back(column);
  }
  const int64_t last = last_column(names, columns, ignored);
  const bool by_name = !targets.empty();
  if (last >= 0 && !by_name) targets.push_back(last);
  if (note != nullptr && last >= 0) *note = note_of_targets(names, targets, last, by_name);
  return targets;
}

}  // namespace mercer::cli
