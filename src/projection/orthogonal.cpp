// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Orthogonal random features (Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, NIPS 2016) for every
// isotropic law: d columns at a time have the directions of a Haar-distributed orthogonal
// matrix, each a norm of its own from the radial law. Every single column then has the spectral
// law, so the estimate is unbiased, and the directions of a block are spread evenly. Block b is a
// function of seed and b alone, norm j of seed and j. A last, incomplete block is the beginning of
// a whole one, at the cost of a whole one.
#include "random/orthogonal.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/aligned.h"
#include "base/size.h"
#include "projection/dense.h"
#include "projection/frequency_scale.h"
#include "projection/projections.h"

namespace mercer::projection {
namespace {

class OrthogonalFrequencies final : public FrequencySource {
 public:
  explicit OrthogonalFrequencies(const ProjectionArguments& arguments)
      : law_(arguments.law),
        lengthscale_(arguments.lengthscale),
        seed_(arguments.seed),
        d_(arguments.d),
        F_(arguments.F) {}

  void fill(int64_t j0, Context& context, MatrixView<double> omega) const override {
    // f32 and f64 columns may be packed at the same time.
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t j1 = j0 + omega.rows;
    const int64_t blocks = (j1 - 1) / d_ - j0 / d_ + 1;
    // A single block reports its own progress.
    std::optional<Stage> stage;
    if (blocks > 1) stage.emplace(context, blocks);
    for (int64_t j = j0; j < j1;) {
      const int64_t end = std::min(j1, (j / d_ + 1) * d_);
      draw_block(j / d_, context);
      fill_rows(j, omega.block_rows(j - j0, end - j0));
      if (end % d_ == 0 || end == F_) drop_block();
      j = end;
      if (stage) stage->advance(1);
      context.checkpoint();
    }
  }

 private:
  /// Directions of `block`, which the range filled last may have left unfinished.
  void draw_block(int64_t block, Context& context) const {
    if (block_ == block) return;
    drop_block();
    const int64_t entries = checked_multiply(d_, d_, "a block of orthogonal frequencies");
    MemoryCharge charge = context.charge(
        checked_multiply(entries, sizeof(double), "a block of orthogonal frequencies"),
        "a block of orthogonal frequencies");
    Matrix<double> directions(d_, d_);
    const random::Stream stream(seed_, random::Tag::direction, static_cast<uint64_t>(block));
    random::fill_haar_orthogonal(stream, context, directions.view());
    directions_ = std::move(directions);
    charge_ = std::move(charge);
    block_ = block;
  }

  void drop_block() const {
    directions_ = {};
    charge_ = {};
    block_ = -1;
  }

  void fill_rows(int64_t j0, MatrixView<double> omega) const {
    for (int64_t i = 0; i < omega.rows; ++i) {
      const random::Stream stream(seed_, random::Tag::radius, static_cast<uint64_t>(j0 + i));
      const double radius = law_->radius(stream, d_);
      const std::span column(omega.row(i), static_cast<size_t>(d_));
      const double* direction = directions_.view().row((j0 + i) % d_);
      for (size_t k = 0; k < column.size(); ++k) column[k] = radius * direction[k];
      divide_by_lengthscale(lengthscale_, column);
    }
  }

  std::shared_ptr<const random::Law> law_;
  std::vector<double> lengthscale_;
  uint64_t seed_;
  int64_t d_;
  int64_t F_;
  mutable std::mutex mutex_;
  mutable Matrix<double> directions_;  // of block_, or nothing
  mutable MemoryCharge charge_;
  mutable int64_t block_ = -1;
};

int64_t block_of_inputs(int64_t d) { return d; }

}  // namespace

// d x d doubles while a block is drawn, and after it for as long as the block is not finished.
const ProjectionEntry kOrthogonal = {
    .name = "orthogonal",
    .help =
        "blocks of d orthogonal columns, norms drawn; 4/3 d^3 operations a "
        "block, once",
    .need = LawNeed::isotropic,
    .block = block_of_inputs,
    .maker = make_dense_of<OrthogonalFrequencies>,
};

}  // namespace mercer::projection
