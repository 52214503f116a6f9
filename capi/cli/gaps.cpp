// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "gaps.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

#include "failure.h"

namespace mercer::cli {
namespace {

/// The number of the level "", which stands for a missing text; -1: none was met.
std::vector<double> missing_levels(const Dataset& data) {
  std::vector<double> levels(data.d, -1);
  for (const TextColumn& text : data.text_inputs) {
    const auto place = std::ranges::find(text.levels, "");
    if (place != text.levels.end())
      levels[text.column] = static_cast<double>(place - text.levels.begin());
  }
  return levels;
}

bool has_target(const Dataset& test, int64_t i, double least) {
  const double* const row = test.Y.data() + i * test.m;
  return std::any_of(row, row + test.m, [=](double y) { return y >= least; });  // NaN is not
}

}  // namespace

MissingInputs missing_inputs(const Dataset& data) {
  MissingInputs missing;
  missing.per_input.assign(data.d, 0);
  for (int64_t i = 0; data.X.sparse && i < data.n; ++i) {
    bool any = false;
    for (int64_t p = data.X.offsets[i]; p < data.X.offsets[i + 1]; ++p) {
      if (!std::isnan(data.X.at(p))) continue;
      ++missing.per_input[data.X.indices[p]];
      any = true;
    }
    missing.rows += any;
  }
  if (data.X.sparse) return missing;
  const std::vector<double> levels = missing_levels(data);
  for (int64_t i = 0; i < data.n; ++i) {
    bool any = false;
    for (int64_t j = 0; j < data.d; ++j) {
      const double x = data.X.at(i * data.d + j);
      const auto k = static_cast<size_t>(j);
      if (!std::isnan(x) && (levels[k] < 0 || x != levels[k])) continue;
      ++missing.per_input[k];
      any = true;
    }
    missing.rows += any;
  }
  return missing;
}

void tell_missing(const MissingInputs& missing, int64_t n, const std::vector<std::string>& names,
                  std::FILE* out) {
  if (missing.rows == 0 || out == nullptr) return;
  std::vector<std::string> counts;
  for (size_t j = 0; j < missing.per_input.size(); ++j)
    if (missing.per_input[j] > 0)
      counts.push_back(name_or_number(names, j) + ": " + std::to_string(missing.per_input[j]));
  std::fprintf(out, "note: %" PRId64 " of %" PRId64 " rows lack inputs (%s), filled\n",
               missing.rows, n, listed(counts).c_str());
}

TargetRows rows_with_targets(const Matrix<double>& numbers, const Dataset& test, double least) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < test.n; ++i)
    if (has_target(test, i, least)) kept.push_back(i);
  TargetRows rows{Matrix<double>(std::ssize(kept), numbers.cols()), {}, test.m};
  for (int64_t to = 0; to < rows.rows(); ++to) {
    const int64_t i = kept[to];
    for (int64_t k = 0; k < numbers.cols(); ++k) rows.numbers(to, k) = numbers(i, k);
    for (int64_t k = 0; k < test.m; ++k) rows.targets.push_back(test.Y[i * test.m + k]);
    if (!test.weights.empty()) rows.weights.push_back(test.weights[i]);
  }
  return rows;
}

std::string TargetRows::text(const Dataset& test) const {
  std::string text;
  if (rows() < test.n)
    text = " (" + std::to_string(test.n - rows()) + " without a target left out)";
  if (std::ranges::any_of(targets, [](double y) { return std::isnan(y); }))
    text += ", each target where it is known";
  return test.weights.empty() ? text : text + ", by their weights";
}

std::string missing_targets(const Dataset& data) {
  std::string text;
  for (int64_t k = 0; k < data.m; ++k) {
    int64_t missing = 0;
    for (int64_t i = 0; i < data.n; ++i) missing += std::isnan(data.Y[i * data.m + k]);
    const std::string name = target_name(data, k);
    if (missing == data.n) fail_at(data.name, 0, 0, "target " + name + " has no values");
    if (missing > 0)
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(missing) + " of " +
              std::to_string(data.n) + " missing";
  }
  return text;
}

}  // namespace mercer::cli
