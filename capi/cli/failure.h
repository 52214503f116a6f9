// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one exception of the command: its text becomes the one line on standard error.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::cli {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// All that is said after Ctrl-C.
inline constexpr const char* kInterruptedText = "interrupted";

/// Who reads standard output has gone: nothing is left to say.
struct ClosedPipe {};

/// Throws "file:line:field: what". Lines and fields count from 1; 0 leaves the part out.
[[noreturn]] void fail_at(std::string_view file, int64_t line, int64_t field,
                          std::string_view what);

/// A piece of input as it may be shown: quoted, at most 40 bytes, control characters as '?'.
std::string shown(std::string_view text);

/// "a, b and 3 more": at most so many.
std::string listed(const std::vector<std::string>& texts, size_t most = 6);

/// "1 row", "2 rows".
std::string counted(int64_t count, std::string_view noun);

/// Bytes of the machine; 0 if it does not say.
int64_t physical_memory();
/// Fails with "WHAT needs 3.2 GB, this machine has 2" when the bytes are more than those of the
/// machine: a system that overcommits would end the process half-way instead.
void require_memory(const std::string& what, double bytes, int64_t machine = physical_memory());

/// A word as it is typed at a shell: in single quotes where it needs them.
std::string typed(std::string_view word);

}  // namespace mercer::cli
