// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A result that appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace mercer::cli {

/// Refuses a result path before any work is done: one that is an input too, or in a folder that
/// cannot be written to. "-" passes.
void check_output(const std::string& path, const std::string& input);

/// Collects text in a temporary file beside `path` and renames it on commit; without commit nothing
/// appears. "-" is standard output, and what is no regular file (a pipe, /dev/null) is written to
/// directly. Fails naming the path.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(std::string_view text);
  void commit();

 private:
  void flush();
  [[noreturn]] void fail_now() const;

  std::string path_;
  std::string temporary_;  // empty: writing directly
  std::string pending_;
  int descriptor_ = -1;
};

/// A path for things that only work on files: itself, or for "-" a temporary file that is removed
/// again.
class SpooledFile {
 public:
  /// read: standard input is copied into it first. Otherwise the file does not exist yet.
  SpooledFile(const std::string& path, bool read);
  ~SpooledFile();
  SpooledFile(const SpooledFile&) = delete;
  SpooledFile& operator=(const SpooledFile&) = delete;
  const std::string& path() const { return path_; }
  /// For "-": copies the file to standard output.
  void send();

 private:
  std::string path_;
  std::string folder_;  // empty: a path of the person's own
};

}  // namespace mercer::cli
