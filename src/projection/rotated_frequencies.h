// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Frequencies in blocks, each rotated by a Haar-distributed orthogonal matrix: the base of the
// projections `orthogonal` and `quadrature`. Matrix b is a function of seed and b alone; one is
// kept at a time, until its block is finished.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/size.h"
#include "projection/dense.h"
#include "projection/projections.h"
#include "random/orthogonal.h"
#include "random/stream.h"

namespace mercer::projection {

/// ProjectionEntry::squared_norm of columns whose norms are drawn by their number.
inline double squared_radius(const ProjectionArguments& arguments, int64_t j) {
  const random::Stream stream(arguments.seed, random::Tag::radius, static_cast<uint64_t>(j));
  const double radius = arguments.law->radius(stream, arguments.d);
  return radius * radius;
}

class RotatedFrequencies : public FrequencySource {
 public:
  void fill(int64_t j0, Context& context, MatrixView<double> omega) const final {
    // f32 and f64 columns may be packed at the same time.
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t j1 = j0 + omega.rows;
    const int64_t blocks = (j1 - 1) / width_ - j0 / width_ + 1;
    // A single block reports its own progress.
    std::optional<Stage> stage;
    if (blocks > 1) stage.emplace(context, blocks);
    for (int64_t j = j0; j < j1;) {
      const int64_t block = j / width_, end = std::min(j1, (block + 1) * width_);
      draw_rotation(block, context);
      fill_block(block, j - block * width_, rotation_.view(), omega.block_rows(j - j0, end - j0));
      if (end % width_ == 0 || end == F_) drop_rotation();
      j = end;
      if (stage) stage->advance(1);
      context.checkpoint();
    }
  }

 protected:
  /// `width` columns to a block.
  RotatedFrequencies(const ProjectionArguments& arguments, int64_t width)
      : law_(arguments.law),
        lengthscale_(arguments.lengthscale),
        seed_(arguments.seed),
        d_(arguments.d),
        F_(arguments.F),
        width_(width) {}

  /// Columns first, first + 1, ... of a block, given its d x d matrix Q.
  virtual void fill_block(int64_t block, int64_t first, MatrixView<const double> Q,
                          MatrixView<double> omega) const = 0;

  const std::shared_ptr<const random::Law> law_;
  const std::vector<double> lengthscale_;
  const uint64_t seed_;
  const int64_t d_;
  const int64_t F_;
  const int64_t width_;

 private:
  void draw_rotation(int64_t block, Context& context) const {
    if (block_ == block) return;
    drop_rotation();
    constexpr const char* kWhat = "a block of orthogonal frequencies";
    const int64_t entries = checked_multiply(d_, d_, kWhat);
    MemoryCharge charge = context.charge(checked_multiply(entries, sizeof(double), kWhat), kWhat);
    Matrix<double> rotation(d_, d_);
    const random::Stream stream(seed_, random::Tag::direction, static_cast<uint64_t>(block));
    random::fill_haar_orthogonal(stream, context, rotation.view());
    rotation_ = std::move(rotation);
    charge_ = std::move(charge);
    block_ = block;
  }

  void drop_rotation() const {
    rotation_ = {};
    charge_ = {};
    block_ = -1;
  }

  mutable std::mutex mutex_;
  mutable Matrix<double> rotation_;  // that of block_, or empty
  mutable MemoryCharge charge_;
  mutable int64_t block_ = -1;
};

}  // namespace mercer::projection
