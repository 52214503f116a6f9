// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Streams for things that only work on files.
#pragma once

#include <string>

#include "failure.h"
#include "message.h"

namespace mercer::cli {

/// A path that is a regular file, or may become one: the person's own, or for "-", pipes and
/// character devices a temporary file (in a folder mercer-XXXXXX of the system's temporary one)
/// that is removed again.
class SpooledFile {
 public:
  enum class Use { read, write };
  /// read: a stream is copied into the file first. write: the file does not exist yet.
  SpooledFile(const std::string& path, Use use);
  ~SpooledFile();
  SpooledFile(const SpooledFile&) = delete;
  SpooledFile& operator=(const SpooledFile&) = delete;
  const std::string& path() const { return path_; }

  /// What call() returns; a Failure or Error of it names the stream that is read where it named the
  /// temporary file.
  template <class Call>
  auto naming_stream(Call&& call) const {
    try {
      return call();
    } catch (const Failure& failure) {
      throw Failure(renamed(failure.what()));
    } catch (const Error& error) {
      throw Failure(renamed(message_of(error)));
    }
  }

  /// Copies the file to the stream, if it stands for one.
  void send();

 private:
  std::string renamed(std::string message) const;
  void copy_input();
  void remove() noexcept;

  std::string given_;
  std::string path_;
  std::string folder_;  // empty: a path of the person's own
};

}  // namespace mercer::cli
