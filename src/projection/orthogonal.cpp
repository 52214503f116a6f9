// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Orthogonal random features (Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, NIPS 2016) for every
// isotropic law: d columns at a time have the directions of a Haar-distributed orthogonal
// matrix, each a norm of its own from the radial law. Every single column then has the spectral
// law, so the estimate is unbiased, and the directions of a block are spread evenly. Block b is a
// function of seed and b alone, norm j of seed and j. A last, incomplete block is the beginning of
// a whole one, at the cost of a whole one.
#include <span>

#include "projection/frequency_scale.h"
#include "projection/rotated_frequencies.h"

namespace mercer::projection {
namespace {

class OrthogonalFrequencies final : public RotatedFrequencies {
 public:
  explicit OrthogonalFrequencies(const ProjectionArguments& arguments)
      : RotatedFrequencies(arguments, arguments.d) {}

 private:
  void fill_block(int64_t block, int64_t first, MatrixView<const double> Q,
                  MatrixView<double> omega) const override {
    for (int64_t i = 0; i < omega.rows; ++i) {
      const auto j = static_cast<uint64_t>(block * d_ + first + i);
      const double radius = law_->radius(random::Stream(seed_, random::Tag::radius, j), d_);
      const std::span column(omega.row(i), d_);
      const double* const direction = Q.row(first + i);
      for (size_t k = 0; k < column.size(); ++k) column[k] = radius * direction[k];
      divide_by_lengthscale(lengthscale_, column);
    }
  }
};

int64_t rotation_block(int64_t d) { return d; }

}  // namespace

// d x d doubles while a block is drawn, and after it for as long as the block is not finished.
const ProjectionEntry kOrthogonal = {
    .name = "orthogonal",
    .help =
        "blocks of d orthogonal columns, norms drawn; 4/3 d^3 operations a "
        "block, once",
    .need = LawNeed::isotropic,
    .block = rotation_block,
    .squared_norm = squared_radius,
    .maker = make_dense_of<OrthogonalFrequencies>,
};

}  // namespace mercer::projection
