// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Optimal string alignment distance (Boytsov 2011, section 2.1): Levenshtein's with transpositions.
#include "nearest.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "failure.h"

namespace mercer::cli {

namespace {

constexpr size_t kLongest = 64;  // longer words are no typing errors of each other

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

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

}  // namespace

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

}  // namespace mercer::cli
