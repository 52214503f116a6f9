// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a prediction met outside the training range, and how it is told.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "mercer/mercer.hpp"

namespace mercer::cli {

/// "clip", "free" or "refuse" as a mercer_extrapolation; "" is the default.
int32_t extrapolation_of(const std::string& word);

struct OutsideCounts {
  explicit OutsideCounts(int64_t inputs) : per_input(static_cast<size_t>(inputs)) {}
  /// Options that count here.
  mercer_predict_options options(int32_t extrapolation);
  /// A line, unless all rows lay inside or the ranges are not known. names: of the inputs, or none.
  void tell(int64_t n, const std::vector<std::string>& names, bool clipped, std::FILE* out) const;

 private:
  int64_t rows = 0;
  int64_t predictions = 0;
  std::vector<int64_t> per_input;
};

}  // namespace mercer::cli
