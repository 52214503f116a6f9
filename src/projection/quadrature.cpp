// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Stochastic spherical-radial rule of degree 3 (Genz, Monahan 1998; for random features Munkhoeva,
// Kapushev, Burnaev, Oseledets, "Quadrature-based features for kernel approximation", NeurIPS 2018,
// eq. 6): a block is the d + 1 vertices v_j of a regular simplex, turned by a Haar orthogonal
// matrix Q, at a radius rho, and the origin. With z = rho Q v_j
//   E f(z), z ~ N(0, I), is estimated by (1 - d/rho^2) f(0) + d/((d + 1) rho^2) sum_j f(rho Q v_j)
// exact for even polynomials of degree 3, and in the mean over Q for the radial part of every f.
// rho ~ chi(d + 2) makes it unbiased, but weights are squares of the features' scales: as in the
// paper rho is drawn again until rho^2 >= d, so that the origin's is not negative. What that costs:
// the estimate is k(tau) + c (1 - k(tau)) for far tau, c = E (1 - d/rho^2), which tends to
// 2/sqrt(pi d): 0.40 at d = 4, 0.24 at d = 16, 0.13 at d = 64, the same for every pair of far
// points; for near ones the rule's variance is a hundredth of that of independent columns and less,
// its bias below 3e-4 at k = 0.96 (measured, d = 4 to 64). A constant added to a kernel is taken up
// by an offset. Features f(w'x) of normal w that are homogeneous see powers of rho: the mean of
// arc-cosine features is (1 - c) k at order 0, k at order 1, whatever rho, and a k at order 2, a =
// E rho^2/(d + 2), 1.27 at d = 4, 1.12 at d = 64; that of signs k + c (1 - k), their product at the
// origin being 1. 1 - c = P(chi^2_d > d)/P(chi^2_{d+2} > d), a = P(chi^2_{d+4} > d)/P(chi^2_{d+2} >
// d). Positive features of s = ||u + v|| are too large by 0.2 % of k at s = 1/2, 2.6 % at s = 1, 21
// % at s = 2 and less (d = 4).
//
// Other isotropic laws are omega = s z with an s of its own for every column. A last, incomplete
// block has vertices alone, each with a norm of its own from the law and a weight like those of
// independent columns: it is unbiased.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "projection/frequency_scale.h"
#include "projection/rotated_frequencies.h"
#include "random/distributions.h"

namespace mercer::projection {
namespace {

int64_t simplex_block(int64_t d) { return d + 2; }

/// rho^2 of a whole block.
double squared_radius(uint64_t seed, int64_t d, int64_t block) {
  // Streams of columns have indices below 2^40; those of blocks begin there.
  random::Cursor cursor(random::Stream(seed, random::Tag::radius,
                                       (uint64_t{1} << 40) + static_cast<uint64_t>(block)));
  const auto dimension = static_cast<double>(d);
  for (;;) {
    const double squared = random::chi_squared(cursor, dimension + 2);
    if (squared >= dimension) return squared;
  }
}

class SimplexFrequencies final : public RotatedFrequencies {
 public:
  explicit SimplexFrequencies(const ProjectionArguments& arguments)
      : RotatedFrequencies(arguments, simplex_block(arguments.d)) {}

 private:
  // Q v_j = sum_{k<j} a_k q_k + b_j q_j, q_k the rows of Q, a_k < 0 < b_k, so that the sums go on
  // from vertex to vertex.
  void fill_block(int64_t block, int64_t first, MatrixView<const double> Q,
                  MatrixView<double> omega) const override {
    const bool whole = (block + 1) * width_ <= F_;
    const double rho = whole ? std::sqrt(squared_radius(seed_, d_, block)) : 0;
    std::vector<double> sum(d_, 0.0);
    const auto d = static_cast<double>(d_);
    for (int64_t v = 0; v < first + omega.rows; ++v) {
      const std::span<double> column =
          v < first ? std::span<double>() : std::span(omega.row(v - first), sum.size());
      if (v == d_ + 1) {  // the origin
        std::ranges::fill(column, 0.0);
        continue;
      }
      const double left = d - static_cast<double>(v);
      const double own = std::sqrt((d + 1) * left / (d * (left + 1)));
      for (size_t k = 0; k < column.size(); ++k)
        column[k] = v < d_ ? sum[k] + own * Q(v, static_cast<int64_t>(k)) : sum[k];
      if (!column.empty()) scale(column, block * width_ + v, rho);
      if (v == d_) continue;
      const double shared = -std::sqrt((d + 1) / (d * left * (left + 1)));
      for (size_t k = 0; k < sum.size(); ++k) sum[k] += shared * Q(v, static_cast<int64_t>(k));
    }
  }

  // Makes a unit vector column j.
  void scale(std::span<double> column, int64_t j, double rho) const {
    const random::Stream stream(seed_, random::Tag::radius, static_cast<uint64_t>(j));
    double norm = rho;
    if (rho > 0) {
      double u = 0;
      random::fill_uniform(stream, 0, {&u, 1});
      norm *= law_->scale_quantile(u);
    } else {
      norm = law_->radius(stream, d_);
    }
    for (double& value : column) value *= norm;
    divide_by_lengthscale(lengthscale_, column);
  }
};

/// The block's part of all columns, (d + 2)/F, divided as the rule's weights are.
double share_of(const ProjectionArguments& arguments, int64_t j) {
  const int64_t width = simplex_block(arguments.d), block = j / width;
  const auto F = static_cast<double>(arguments.F), d = static_cast<double>(arguments.d);
  if ((block + 1) * width > arguments.F) return 1 / F;
  const double weight = d / squared_radius(arguments.seed, arguments.d, block);
  const bool origin = j % width == width - 1;
  return (origin ? 1 - weight : weight / (d + 1)) * (d + 2) / F;
}

}  // namespace

const ProjectionEntry kQuadrature = {
    .name = "quadrature",
    .help =
        "spherical-radial rule of degree 3, d + 2 columns a block; for close points: far ones "
        "are biased",
    .need = LawNeed::normal_mixture,
    .block = simplex_block,
    .share = share_of,
    .maker = make_dense_of<SimplexFrequencies>,
};

}  // namespace mercer::projection
