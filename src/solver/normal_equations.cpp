// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Each process sums about a row of its own, so that means far from zero cost no digits; sums about
// its mean are then moved to the mean of all.
#include "solver/normal_equations.h"

#include "solver/row_tiles.h"

namespace mercer::solver {
namespace {

constexpr const char* kEquations = "the right-hand side of ridge";

/// Sums of one process about `origin`: a row for each target's deviation, then one for the weights.
struct OwnSums {
  OwnSums(const BlockSource& rows, Context& context)
      : products(rows.outputs() + 1, rows.features(), context, kEquations),
        origin{std::vector<double>(rows.features(), 0.0), std::vector<double>(rows.outputs(), 0.0)},
        outputs(rows.outputs(), 0.0) {
    products.fill(0);
  }
  Matrix<double> products;
  MeanRow origin;
  std::vector<double> outputs;
  double weight = 0;
};

template <class T>
void add_rows(const FeatureBlock& block, MatrixView<const T> Z, RowTiles& tiles, Context& context,
              OwnSums& to) {
  const int64_t m = block.Y.cols;
  if (block.first == 0) {
    std::copy_n(Z.row(0), Z.cols, to.origin.features.data());
    std::copy_n(block.Y.row(0), m, to.origin.outputs.data());
  }
  const auto factors = [&](int64_t first, MatrixView<const double> tile,
                           MatrixView<double> u) noexcept {
    for (int64_t i = 0; i < tile.rows; ++i) {
      u(i, m) = block.weight(first + i);
      for (int64_t o = 0; o < m; ++o)
        u(i, o) = u(i, m) * (block.Y(first + i, o) - to.origin.outputs[o]);
    }
  };
  tiles.add(Z, to.origin.features.data(), context, factors, to.products.view());
  for (int64_t i = 0; i < Z.rows; ++i) {
    for (int64_t o = 0; o < m; ++o) to.outputs[o] += tiles.factors()(i, o);
    to.weight += tiles.factors()(i, m);
  }
}

OwnSums own_sums(const BlockSource& rows, Context& context, const RowsDone& done) {
  OwnSums sums(rows, context);
  if (rows.rows() == 0) return sums;
  RowTiles tiles(rows.block_rows(), rows.features(), rows.outputs() + 1, context);
  rows.for_each(context, [&](const FeatureBlock& block) {
    block.visit([&](auto Z) { add_rows(block, Z, tiles, context, sums); });
    if (done) done(block.rows());
  });
  return sums;
}

/// sum + weight origin: the sum about zero.
std::vector<double> about_zero(const double* sums, const std::vector<double>& origin,
                               double weight) {
  std::vector<double> all(origin);
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = sums[j] + weight * origin[j];
  return all;
}

}  // namespace

NormalEquations normal_equations(const BlockSource& rows, bool center, Context& context,
                                 const RowsDone& done) {
  const OwnSums own = own_sums(rows, context, done);
  const int64_t D = rows.features(), m = rows.outputs();
  const double* const of_features = own.products.view().row(m);
  NormalEquations all{own.weight,
                      {about_zero(of_features, own.origin.features, own.weight),
                       about_zero(own.outputs.data(), own.origin.outputs, own.weight)},
                      Matrix<double>(D, m, context, kEquations)};
  reduce(rows, {&all.weight, 1});
  reduce(rows, all.mean.features);
  reduce(rows, all.mean.outputs);
  const double share = center && all.weight > 0 ? 1 / all.weight : 0;
  for (double& mean : all.mean.features) mean *= share;
  for (double& mean : all.mean.outputs) mean *= share;
  // Moved by m and b, S = sum w z y becomes S - s_z b - m (s_y - n b).
  for (int64_t j = 0; j < D; ++j) {
    const double by = all.mean.features[j] - own.origin.features[j];
    for (int64_t o = 0; o < m; ++o) {
      const double by_output = all.mean.outputs[o] - own.origin.outputs[o];
      all.cross(j, o) = own.products(o, j) - of_features[j] * by_output -
                        by * (own.outputs[o] - own.weight * by_output);
    }
  }
  reduce(rows, {all.cross.data(), static_cast<std::size_t>(D * m)});
  return all;
}

NormalEquations normal_equations(RowStatistics& sums, bool center, Context& context) {
  NormalEquations all{sums.weight(), center_in_place(sums, center).row,
                      Matrix<double>(sums.features(), sums.outputs(), context, kEquations)};
  std::copy_n(sums.cross().data, sums.features() * sums.outputs(), all.cross.data());
  return all;
}

}  // namespace mercer::solver
