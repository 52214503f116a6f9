// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "failure.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>
#include <cstdio>

#include "json.h"

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

std::string name_or_number(const std::vector<std::string>& names, size_t index,
                           const char* prefix) {
  return index < names.size() ? names[index] : prefix + std::to_string(index + 1);
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

// The printer of JSON refuses what is not UTF-8.
bool is_utf8(const std::string& text) {
  try {
    return !json_text(text).empty();
  } catch (const Json::exception&) {
    return false;
  }
}

void require_utf8(const std::string& file, const std::vector<std::string>& texts) {
  const auto wrong = std::ranges::find_if_not(texts, is_utf8);
  if (wrong == texts.end()) return;
  std::string text = *wrong;
  for (char& c : text)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';  // a terminal shows no better
  fail_at(file, 0, 0,
          shown(text) +
              " is not UTF-8: save the file as UTF-8 (iconv -f WINDOWS-1252 -t UTF-8, if "
              "a spreadsheet wrote it)");
}

namespace {

constexpr size_t kLongest = 64;  // longer words are no typing errors of each other

// Optimal string alignment distance (Boytsov 2011, section 2.1): Levenshtein's with transpositions.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (size_t k = 0; k <= b.size(); ++k) above[k] = k;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) {
      row[k] = std::min({above[k] + 1, row[k - 1] + 1, above[k - 1] + (a[i - 1] != b[k - 1])});
      const bool swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
      if (swapped) row[k] = std::min(row[k], before[k - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

/// The one of the known that begins so, if it is one.
std::string completed(const std::string& start, const std::vector<std::string>& known) {
  constexpr size_t kShortest = 2;  // --x and fi
  std::string found;
  for (const std::string& one : known) {
    if (start.size() < kShortest || !lower(one).starts_with(start)) continue;
    if (!found.empty()) return "";
    found = one;
  }
  return found;
}

std::atomic<bool> seen{false};
std::atomic<void*> running{nullptr};
std::atomic<void (*)(void*)> cancel_running{nullptr};
static_assert(std::atomic<void*>::is_always_lock_free, "a signal handler uses it");

extern "C" void handle_signal(int) {
  seen = true;
  void* call = running;
  if (call != nullptr) cancel_running.load()(call);
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string found;
  const std::string wanted = lower(word);
  size_t least = wanted.size() / 3 + 1;
  if (wanted.empty() || wanted.size() > kLongest) return "";
  for (const std::string& one : known) {
    if (one.size() > kLongest || one.size() + least <= wanted.size() ||
        wanted.size() + least <= one.size())
      continue;
    const size_t changes = distance(wanted, lower(one));
    if (changes >= least) continue;
    least = changes;
    found = one;
  }
  return found.empty() ? completed(wanted, known) : found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = nearest(word, known);
  return meant.empty() ? "" : "; did you mean " + shown(meant) + "?";
}

void install_interrupt_handler() {
  struct sigaction action = {};
  action.sa_handler = handle_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void set_interruptible(void* call, void (*cancel)(void*)) {
  running = nullptr;
  cancel_running = cancel;
  running = call;
}

bool interrupted() { return seen; }

void stop_if_interrupted() {
  if (seen) throw Failure(kInterruptedText);
}

}  // namespace mercer::cli
