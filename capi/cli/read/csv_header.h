// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the first lines of a CSV say: whether the first names the columns, and their names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "read/table.h"

namespace mercer::cli {

using Fields = std::vector<std::string_view>;

/// Is any field text?
bool holds_words(const Fields& fields);

/// A number?
bool holds_numbers(const Fields& fields);

/// "# made by hand", but not "#,x,y".
bool is_comment(std::string_view line);
/// Less the mark and blanks around.
std::string_view without_mark(std::string_view comment);

/// True iff some field is text, and either no field is a number or text that begins like one, as
/// dates do, or some text stands above a number. `second` is empty where there is no second line.
bool looks_like_header(const Fields& first, const Fields& second);

/// Columns of a header. An empty name becomes that of name_of_unnamed; a name that stood before
/// gets ".1", ".2", ... and is listed.
struct ColumnNames {
  std::vector<std::string> names;
  std::vector<std::string> written;  // the same with repeats
  std::vector<int64_t> repeated;     // columns
  std::vector<int64_t> first;        // where the name of each stood before
};
ColumnNames column_names(const Fields& fields);
ColumnNames column_names(const std::vector<std::string>& written);

/// "sep=;", as spreadsheets write before the header: the separator, else 0.
char declared_separator(std::string_view line);

}  // namespace mercer::cli
