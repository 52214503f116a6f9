// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Weights of rows in metrics: n numbers >= 0, or none, which is 1 each.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>

namespace mercer::statistic {

class RowWeights {
 public:
  RowWeights(std::span<const double> weights, int64_t rows)
      : weights_(weights),
        total_(weights.empty() ? static_cast<double>(rows)
                               : std::accumulate(weights.begin(), weights.end(), 0.0)) {}
  double operator[](int64_t i) const noexcept { return weights_.empty() ? 1.0 : weights_[i]; }
  double total() const noexcept { return total_; }

 private:
  std::span<const double> weights_;
  double total_;
};

}  // namespace mercer::statistic
