// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "read/foreign_format.h"

#include <algorithm>

namespace mercer::cli {

namespace {

struct Row {
  std::string_view magic;
  const char* what;
};

constexpr Row kRows[] = {
    {{"PK\x03\x04", 4}, "a zip archive, as workbooks .xlsx are: export it as CSV"},
    {{"\xd0\xcf\x11\xe0", 4}, "a workbook of an old office program: export it as CSV"},
    {"PAR1", "a Parquet file: export it as CSV"},
    {"ARROW1", "an Arrow file: export it as CSV"},
    {"\x89HDF", "an HDF5 file: export it as CSV"},
    {"SQLite format 3", "an SQLite database: export a table as CSV"},
    {"BZh", "packed by bzip2: unpack it, or pack it by gzip"},
    {{"\xfd"
      "7zXZ",
      5},
     "packed by xz: unpack it, or pack it by gzip"},
    {"\x28\xb5\x2f\xfd", "packed by zstd: unpack it, or pack it by gzip"},
    {{"\xff\xfe", 2}, "text in UTF-16: save it as UTF-8"},
    {{"\xfe\xff", 2}, "text in UTF-16: save it as UTF-8"},
    {"@relation", "an ARFF file: take its lines behind @data as CSV, --header no"},
    {"@RELATION", "an ARFF file: take its lines behind @data as CSV, --header no"},
    {"%PDF", "a PDF document"},
    {"\x7f"
     "ELF",
     "a program"},
};

/// Without its mark: every other byte of letters and digits is 0.
bool is_wide_text(std::string_view start) {
  const auto zeros = [&](size_t first) {
    for (size_t k = 0; k < 8; ++k)
      if ((start[k] == 0) != (k % 2 == first)) return false;
    return true;
  };
  return start.size() >= 8 && (zeros(0) || zeros(1));
}

}  // namespace

bool is_binary(std::string_view start) {
  const auto controls = std::ranges::count_if(start, [](unsigned char c) {
    return c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v';
  });
  return start.find('\0') != start.npos || 20 * controls > std::ssize(start);
}

std::string foreign_format(std::string_view start) {
  for (const Row& row : kRows)
    if (start.starts_with(row.magic)) return row.what;
  return is_wide_text(start) ? "text in UTF-16: save it as UTF-8" : "";
}

}  // namespace mercer::cli
