// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "processes.h"

#include <algorithm>
#include <vector>

namespace mercer::cli {
namespace {

Processes one;
Processes* current = &one;

}  // namespace

Processes& processes() { return *current; }
void use_processes(Processes* all) { current = all; }

Processes::Count Processes::count_of(int64_t own) {
  std::vector<double> counts(static_cast<size_t>(count()), 0.0);
  counts[static_cast<size_t>(rank())] = static_cast<double>(own);
  sum(counts);
  Count found;
  for (int64_t k = 0; k < count(); ++k) {
    const auto of_k = static_cast<int64_t>(counts[static_cast<size_t>(k)]);
    found.all += of_k;
    if (k < rank()) found.before += of_k;
  }
  return found;
}

// A number holds any byte, and sums with zeros are exact.
std::string Processes::joined(const std::string& own) {
  if (count() == 1) return own;
  const Count length = count_of(std::ssize(own));
  std::vector<double> bytes(static_cast<size_t>(length.all), 0.0);
  std::ranges::transform(own, bytes.begin() + length.before,
                         [](char c) { return static_cast<unsigned char>(c); });
  if (!bytes.empty()) sum(bytes);
  std::string all(bytes.size(), ' ');
  std::ranges::transform(bytes, all.begin(), [](double b) { return static_cast<char>(b); });
  return all;
}

}  // namespace mercer::cli
