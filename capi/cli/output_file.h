// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A result that appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace mercer::cli {

/// "-", or a name the system has for standard output, such as /dev/stdout.
bool is_standard_output(const std::string& path);

/// Refuses a result path before any work is done: one that is an input too, is a directory, or lies
/// in a folder that cannot be written to. Standard output, pipes and character devices pass.
void check_output(const std::string& path, const std::string& input);

/// Whether two paths, of files that need not exist, are of one file; standard output is none.
bool is_one_file(const std::string& a, const std::string& b);

/// Renames a temporary file beside `path` (.mercer-XXXXXX.tmp) on commit; follows links, keeps their
/// permissions. Standard output, pipes, devices are written to directly. Fails naming the path.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(std::string_view text);
  /// Writes over the first bytes; no pipe or device lets that be done.
  void write_at_start(std::string_view text);
  void flush();
  void commit();

 private:
  void open_temporary();
  [[noreturn]] void fail_now() const;

  std::string path_;       // as given, for messages
  std::string target_;     // links followed
  std::string temporary_;  // empty: writing directly
  std::string pending_;
  int descriptor_ = -1;
};

/// Writes the file of a map or a model.
template <class Object>
void write_file(const Object& object, const std::string& path) {
  const auto bytes = object.to_bytes();
  OutputFile file(path);
  file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  file.commit();
}

}  // namespace mercer::cli
