// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "index_column.h"

#include <cmath>
#include <cstdint>
#include <unordered_set>

#include "failure.h"

namespace mercer::cli {

namespace {

/// The distinct texts of the first column, or -1 where it holds numbers.
int64_t texts_of_first(const Table& table) {
  for (const TextColumn& text : table.text_inputs)
    if (text.column == 0) return std::ssize(text.levels);
  return -1;
}

bool counts_from(const Table& table, double first) {
  for (int64_t i = 0; i < table.rows; ++i)
    if (table.values.at(i * table.columns) != first + static_cast<double>(i)) return false;
  return true;
}

/// Is the first column another text, or another whole number, in every row?
bool is_distinct(const Table& table) {
  const int64_t texts = texts_of_first(table);
  if (texts >= 0) return texts == table.rows;
  std::unordered_set<double> seen;
  for (int64_t i = 0; i < table.rows; ++i) {
    const double x = table.values.at(i * table.columns);
    if (x != std::floor(x) || !seen.insert(x).second) return false;
  }
  return true;
}

}  // namespace

std::string index_column(const Table& table) {
  if (table.names.empty() || table.names[0] != name_of_unnamed(0)) return "";
  const bool index = texts_of_first(table) < 0 && (counts_from(table, 0) || counts_from(table, 1));
  if (!index && !table.row_names) return "";
  if (table.row_names && !is_distinct(table))
    fail_at(table.name, 0, 0,
            "rows have " + std::to_string(table.columns) + " fields, the header " +
                std::to_string(table.columns - 1) +
                " names; the first column would be the names of rows that R writes, but is not "
                "another whole number or text in every row: name every column, and quote fields "
                "that hold the separator");
  return table.row_names ? "the header has no name for the first column, taken as names of rows"
                         : "the first column has no name and counts the rows";
}

}  // namespace mercer::cli
