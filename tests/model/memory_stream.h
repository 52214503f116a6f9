// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows in memory as a stream hands them over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/row_stream.h"

namespace mercer::test {

/// Rows in memory, in blocks of several sizes.
class MemoryStream : public model::RowStream {
 public:
  MemoryStream(Rows X, MatrixView<const double> Y, std::vector<int64_t> sizes)
      : X_(X), Y_(Y), sizes_(std::move(sizes)) {}
  int64_t passes = 0;
  int64_t drop_after_first = 0;  // rows that later passes lack
  std::span<const double> weights;
  solver::Reduction* shared = nullptr;  // with other processes

 private:
  solver::Reduction* reduction() const override { return shared; }
  bool weighted() const override { return !weights.empty(); }
  void rewind() override {
    ++passes;
    at_ = turn_ = 0;
  }
  Block next() override {
    const int64_t end = X_.rows() - (passes > 1 ? drop_after_first : 0);
    const int64_t first = at_;
    at_ = std::min(end, at_ + sizes_[static_cast<size_t>(turn_++) % sizes_.size()]);
    const auto of_block = weights.empty() ? weights : weights.subspan(first, at_ - first);
    return {X_.block_rows(first, at_), Y_.block_rows(first, at_), of_block};
  }
  Rows X_;
  MatrixView<const double> Y_;
  std::vector<int64_t> sizes_;
  int64_t at_ = 0, turn_ = 0;
};

}  // namespace mercer::test
