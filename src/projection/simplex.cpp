// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Simplex coupling (Reid, Choromanski, Likhosherstov, Weller, "Simplex random features", ICML 2023):
// d columns at a time point to the corners of a regular simplex, R s_i with inner products -1/(d -
// 1), R a Haar-distributed rotation,
//   s_i = sqrt(d/(d-1)) e_i - (sqrt(d) + 1) (d-1)^{-3/2} (e_1 + ... + e_{d-1}),  i < d,
//   s_d = (d-1)^{-1/2} (e_1 + ... + e_{d-1}),
// each with a norm of its own from the radial law. Two columns of a block are as far apart as can
// be, which among all couplings of directions is best for positive features; cosines do not see the
// sign of a column. Norms, rotations and incomplete blocks are those of `orthogonal`.
#include <cmath>
#include <span>

#include "projection/frequency_scale.h"
#include "projection/rotated_frequencies.h"

namespace mercer::projection {
namespace {

class CornerFrequencies final : public RotatedFrequencies {
 public:
  explicit CornerFrequencies(const ProjectionArguments& arguments)
      : RotatedFrequencies(arguments, arguments.d) {}

 private:
  void fill_block(int64_t block, int64_t first, MatrixView<const double> Q,
                  MatrixView<double> omega) const override {
    const bool single = d_ == 1;  // a simplex of one corner: as orthogonal
    const auto d = static_cast<double>(d_), rest = single ? 1 : d - 1;
    const double own = single ? 1 : std::sqrt(d / rest);
    const double shared = single ? 0 : -(std::sqrt(d) + 1) / (rest * std::sqrt(rest));
    std::vector<double> sum(d_, 0.0);
    for (int64_t k = 0; k + 1 < d_; ++k)
      for (int64_t c = 0; c < d_; ++c) sum[c] += Q(k, c);
    for (int64_t i = 0; i < omega.rows; ++i) {
      const int64_t corner = first + i;
      const auto j = static_cast<uint64_t>(block * d_ + corner);
      const double radius = law_->radius(random::Stream(seed_, random::Tag::radius, j), d_);
      const std::span column(omega.row(i), d_);
      const bool last = !single && corner + 1 == d_;
      for (int64_t c = 0; c < d_; ++c)
        column[c] =
            radius * (last ? sum[c] / std::sqrt(rest) : own * Q(corner, c) + shared * sum[c]);
      divide_by_lengthscale(lengthscale_, column);
    }
  }
};

int64_t corner_block(int64_t d) { return d; }

}  // namespace

const ProjectionEntry kSimplex = {
    .name = "simplex",
    .help = "blocks of d columns to the corners of a simplex, for map positive; as orthogonal",
    .need = LawNeed::isotropic,
    .block = corner_block,
    .squared_norm = squared_radius,
    .maker = make_dense_of<CornerFrequencies>,
};

}  // namespace mercer::projection
