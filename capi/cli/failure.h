// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What ends a command early: the exception whose text is the line on standard error, and signals.
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

/// The name with this index, or the index from 1 behind a prefix where there is none.
std::string name_or_number(const std::vector<std::string>& names, size_t index,
                           const char* prefix = "");

/// Bytes of the machine; 0 if it does not say.
int64_t physical_memory();
/// Fails with "WHAT needs 3.2 GB, this machine has 2": else systems that overcommit kill us later.
void require_memory(const std::string& what, double bytes, int64_t machine = physical_memory());

/// A word as it is typed at a shell: in single quotes where it needs them.
std::string typed(std::string_view word);

bool is_utf8(const std::string& text);
/// Fails naming the file and the first text that is not, as older spreadsheets write it.
void require_utf8(const std::string& file, const std::vector<std::string>& texts);

std::string lower(std::string_view text);
/// The known word with the fewest changes of letters from `word`, upper or lower case alike, and
/// neighbours that changed places as one; "" where that is more than a third of its letters.
std::string nearest(std::string_view word, const std::vector<std::string>& known);
/// "; did you mean 'fit'?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

/// The first Ctrl-C or SIGTERM stops call or reader, a second the process; SIGPIPE: a write error.
void install_interrupt_handler();
/// What a signal cancels, by cancel(running), which must be safe in a signal handler; or nullptr.
void set_interruptible(void* running, void (*cancel)(void*));
bool interrupted();
/// Throws Failure(kInterruptedText) after a signal.
void stop_if_interrupted();

}  // namespace mercer::cli
