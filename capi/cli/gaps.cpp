// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "gaps.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

namespace mercer::cli {

namespace {

constexpr size_t kNamed = 6;  // inputs that are listed

/// The number of the level "", which stands for a missing text; -1: none was met.
std::vector<double> missing_levels(const Dataset& data) {
  std::vector<double> levels(static_cast<size_t>(data.d), -1);
  for (const TextColumn& text : data.text_inputs) {
    const auto place = std::ranges::find(text.levels, "");
    if (place != text.levels.end())
      levels[static_cast<size_t>(text.column)] = static_cast<double>(place - text.levels.begin());
  }
  return levels;
}

bool has_target(const Dataset& test, int64_t i, double least) {
  for (int64_t k = 0; k < test.m; ++k) {
    const double y = test.Y[static_cast<size_t>(i * test.m + k)];
    if (!(y >= least)) return false;  // nor is NaN
  }
  return true;
}

}  // namespace

MissingInputs missing_inputs(const Dataset& data) {
  MissingInputs missing;
  missing.per_input.assign(static_cast<size_t>(data.d), 0);
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
  std::string text;
  size_t met = 0;
  for (size_t j = 0; j < missing.per_input.size(); ++j) {
    if (missing.per_input[j] == 0 || ++met > kNamed) continue;
    text += (met > 1 ? ", " : "") + (j < names.size() ? names[j] : std::to_string(j + 1)) + ": " +
            std::to_string(missing.per_input[j]);
  }
  if (met > kNamed) text += " and " + std::to_string(met - kNamed) + " more";
  std::fprintf(out, "note: %" PRId64 " of %" PRId64 " rows lack inputs (%s), filled\n",
               missing.rows, n, text.c_str());
}

TargetRows rows_with_targets(const Matrix<double>& numbers, const Dataset& test, double least) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < test.n; ++i)
    if (has_target(test, i, least)) kept.push_back(i);
  TargetRows rows{Matrix<double>(std::ssize(kept), numbers.cols()), {}, test.m};
  for (int64_t to = 0; to < rows.rows(); ++to) {
    const int64_t i = kept[static_cast<size_t>(to)];
    for (int64_t k = 0; k < numbers.cols(); ++k) rows.numbers(to, k) = numbers(i, k);
    for (int64_t k = 0; k < test.m; ++k)
      rows.targets.push_back(test.Y[static_cast<size_t>(i * test.m + k)]);
    if (!test.weights.empty()) rows.weights.push_back(test.weights[static_cast<size_t>(i)]);
  }
  return rows;
}

TargetRows rows_with_target(const Matrix<double>& numbers, const Dataset& test, int64_t o,
                            int64_t first) {
  std::vector<int64_t> kept;
  const auto target = [&](int64_t i) {
    return test.Y[static_cast<size_t>((first + i) * test.m + o)];
  };
  for (int64_t i = 0; i < numbers.rows(); ++i)
    if (!std::isnan(target(i))) kept.push_back(i);
  TargetRows rows{Matrix<double>(std::ssize(kept), 1), {}, 1};
  for (int64_t to = 0; to < rows.rows(); ++to) {
    const int64_t i = kept[static_cast<size_t>(to)];
    rows.numbers(to, 0) = numbers(i, o);
    rows.targets.push_back(target(i));
    if (!test.weights.empty()) rows.weights.push_back(test.weights[static_cast<size_t>(first + i)]);
  }
  return rows;
}

MeanR2 mean_r2(const Matrix<double>& numbers, const Dataset& test,
               const std::vector<std::string>& names, int64_t first) {
  double sum = 0;
  int64_t scored = 0;
  std::string left_out;
  for (int64_t o = 0; o < test.m; ++o) {
    const TargetRows rows = rows_with_target(numbers, test, o, first);
    const double r2 = rows.rows() == 0 ? std::nan("")
                                       : prediction_score(rows.numbers, rows.truth(), 0,
                                                          rows.options(MERCER_METRIC_R2));
    const auto at = static_cast<size_t>(o);
    if (std::isnan(r2)) {
      left_out +=
          (left_out.empty() ? "" : ", ") + (at < names.size() ? names[at] : std::to_string(o + 1));
      continue;
    }
    sum += r2;
    ++scored;
  }
  if (scored == 0) return {std::nan(""), ""};
  if (!left_out.empty()) left_out = " (without " + left_out + ": no values, or they do not vary)";
  return {sum / static_cast<double>(scored), left_out};
}

bool has_partial_targets(const Dataset& test) {
  for (int64_t i = 0; i < test.n; ++i) {
    int64_t known = 0;
    for (int64_t o = 0; o < test.m; ++o)
      known += !std::isnan(test.Y[static_cast<size_t>(i * test.m + o)]);
    if (known > 0 && known < test.m) return true;
  }
  return false;
}

}  // namespace mercer::cli
