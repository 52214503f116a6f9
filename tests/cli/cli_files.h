// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files for the reader tests, and the message of a refusal.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "failure.h"
#include "read/table.h"
#include "support/temporary_directory.h"

namespace mercer::test {

/// The Failure's text, or "accepted".
template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const cli::Failure& failure) {
    return failure.what();
  }
  return "accepted";
}

/// The same from the name of a file on, without its folder and, where it stands, ": " after it.
template <class Call>
std::string refusal_in(const std::string& file, Call&& call) {
  const std::string text = refusal(call);
  const size_t at = text.find("/" + file);
  if (at == text.npos) return text;
  const std::string rest = text.substr(at + 1);
  return rest.compare(file.size(), 2, ": ") == 0 ? rest.substr(file.size() + 2) : rest;
}

/// A text that is refused and what the message says behind the name of the file and a colon.
struct ReadError {
  std::string content;
  std::string says;
};

/// One gzip member.
inline std::string gzip(const std::string& content) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Bytes of a number, little- or big-endian.
template <class T>
std::string bytes_of(T value, bool big_endian = false) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return big_endian ? std::string(out.rbegin(), out.rend()) : out;
}

/// Dense or sparse numbers as rows x columns.
inline std::vector<double> spread(const cli::Numbers& values, int64_t rows, int64_t columns) {
  if (!values.sparse) return values.values;
  std::vector<double> table(rows * columns);
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<size_t>(i);
    for (int64_t p = values.offsets[row]; p < values.offsets[row + 1]; ++p)
      table[i * columns + values.indices[p]] = values.at(p);
  }
  return table;
}

inline std::vector<double> values_of(const cli::Table& table) {
  return spread(table.numbers, table.rows, table.columns);
}

/// No column may hold text.
inline cli::TextPermission no_text(const std::vector<std::string>&, int64_t) { return {}; }

/// What is read from a file of that name and content.
inline cli::Table read_content(const std::string& name, const std::string& content) {
  const TemporaryDirectory folder;
  return cli::read_table(folder.write(name, content), no_text);
}

/// The last column may.
inline cli::TextPermission last_is_text(const std::vector<std::string>&, int64_t columns) {
  return {{columns - 1}, false};
}

}  // namespace mercer::test
