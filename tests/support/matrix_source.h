// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of features that lie in memory as a source of blocks.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/aligned.h"
#include "solver/block_source.h"

namespace mercer::test {

/// Blocks of `size` rows; single: features rounded to float; complex: re and im in turn. References
/// are kept.
class MatrixSource final : public solver::BlockSource {
 public:
  MatrixSource(MatrixView<const double> Z, MatrixView<const double> Y, int64_t size, bool single,
               std::vector<double> weights = {}, solver::Reduction* reduction = nullptr,
               bool complex = false)
      : Z_(Z),
        Y_(Y),
        size_(size),
        single_(single),
        weights_(std::move(weights)),
        reduction_(reduction),
        complex_(complex),
        set_(Z.rows) {}

  int64_t features() const override { return Z_.cols; }
  int64_t outputs() const override { return Y_.cols; }
  int64_t rows() const override { return set_.count; }
  int64_t block_rows() const override { return std::min(size_, rows()); }
  solver::Reduction* reduction() const override { return reduction_; }
  bool is_complex() const override { return complex_; }
  bool is_complete() const override {
    for (int64_t i = 0; i < rows(); ++i)
      for (int64_t k = 0; k < Y_.cols; ++k)
        if (Y_(set_[i], k) != Y_(set_[i], k)) return false;
    return true;
  }

  void for_each(Context& context, const Body& body) const override {
    for (int64_t first = 0; first < rows(); first += size_) {
      context.checkpoint();
      const int64_t count = std::min(size_, rows() - first);
      Matrix<double> Z(count, Z_.cols), Y(count, Y_.cols);
      Matrix<float> rounded(count, Z_.cols);
      std::vector<double> weights;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = set_[first + i];
        std::copy_n(Z_.row(row), Z_.cols, Z.view().row(i));
        std::transform(Z_.row(row), Z_.row(row) + Z_.cols, rounded.view().row(i),
                       [](double z) { return static_cast<float>(z); });
        std::copy_n(Y_.row(row), Y_.cols, Y.view().row(i));
        if (!weights_.empty()) weights.push_back(weights_[row]);
      }
      solver::FeatureBlock block{first, {}, {}, Y.view(), weights};
      if (single_) {
        block.Z32 = rounded.view();
      } else {
        block.Z64 = Z.view();
      }
      body(block);
    }
  }

  std::unique_ptr<BlockSource> subset(solver::RowSet rows) const override {
    auto part =
        std::make_unique<MatrixSource>(Z_, Y_, size_, single_, weights_, reduction_, complex_);
    part->set_ = set_.choose(rows);
    return part;
  }

 private:
  MatrixView<const double> Z_, Y_;
  int64_t size_;
  bool single_;
  std::vector<double> weights_;
  solver::Reduction* reduction_;
  bool complex_;
  solver::ChosenRows set_;
};

}  // namespace mercer::test
