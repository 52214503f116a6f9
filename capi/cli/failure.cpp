// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Texts of errors that point into a file.
#include "failure.h"

#include <unistd.h>

#include <cstdio>

namespace mercer::cli {

void fail_at(std::string_view file, int64_t line, int64_t field, std::string_view what) {
  std::string text(file);
  if (line > 0) text += ":" + std::to_string(line);
  if (field > 0) text += ":" + std::to_string(field);
  throw Failure(text.append(": ").append(what));
}

std::string shown(std::string_view text) {
  constexpr size_t kLongest = 40;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  if (text.size() > kLongest) out += "...";
  return out + "'";
}

std::string listed(const std::vector<std::string>& texts, size_t most) {
  std::string list;
  for (size_t k = 0; k < texts.size() && k < most; ++k)
    list.append(k > 0 ? ", " : "").append(texts[k]);
  return texts.size() > most ? list + " and " + std::to_string(texts.size() - most) + " more"
                             : list;
}

std::string counted(int64_t count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

std::string typed(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,:/@%=";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

int64_t physical_memory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

void require_memory(const std::string& what, double bytes, int64_t machine) {
  const auto held = static_cast<double>(machine);
  if (machine == 0 || bytes <= held) return;
  char sizes[96];
  std::snprintf(sizes, sizeof sizes, " needs %.3g GB, this machine has %.3g", bytes / 1e9,
                held / 1e9);
  throw Failure(what + sizes);
}

}  // namespace mercer::cli
