// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Bytes of a file or of standard input ("-"), gunzipped when they start with gzip's magic number,
// whatever the name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::cli {

class ByteSource {
 public:
  enum class Decode { gzip, nothing };
  /// Fails naming the path and the system's reason.
  explicit ByteSource(const std::string& path, Decode decode = Decode::gzip);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to `count` bytes; fewer only at the end of the data. Fails on read errors and on malformed
  /// or truncated gzip.
  size_t read(char* out, size_t count);
  /// Fills `out` or fails with "the file ends after N bytes, expected `what`".
  void read_exactly(char* out, size_t count, std::string_view what);
  /// The first bytes, at most `count`, without consuming them.
  std::string_view peek(size_t count);
  bool at_end();

  /// What messages call it: the path, or "standard input".
  const std::string& name() const { return name_; }
  uint64_t bytes_read() const { return consumed_; }

 private:
  struct Inflater;
  size_t read_raw(char* out, size_t count);
  size_t read_decoded(char* out, size_t count);
  bool fill_raw();
  void next_member();

  std::string name_;
  int descriptor_ = -1;
  std::vector<char> raw_;
  size_t raw_begin_ = 0;
  size_t raw_end_ = 0;
  std::unique_ptr<Inflater> inflater_;
  std::string ahead_;
  size_t ahead_begin_ = 0;
  uint64_t consumed_ = 0;
};

}  // namespace mercer::cli
