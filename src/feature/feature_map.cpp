// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/feature_map.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "feature/field_map.h"
#include "kernel/kernel.h"

namespace mercer::feature {
namespace {

// Bytes of rows made dense at a time: enough for every thread to have work, little beside X and Z.
constexpr int64_t kDenseBytes = int64_t{32} << 20;

template <class T>
void apply_tiles_of(const FeatureMap& map, const CsrView<T>& X, Columns c, Context& context,
                    MatrixView<T> Z) {
  if (X.rows == 0) return;
  const int64_t row_bytes = checked_multiply(X.cols, sizeof(T), "a dense row");
  const int64_t tile_rows = std::clamp(kDenseBytes / row_bytes, int64_t{1}, X.rows);
  const MemoryCharge charge = context.charge(checked_multiply(tile_rows, row_bytes, "dense rows"),
                                             "a tile of rows made dense");
  const Matrix<T> dense(tile_rows, X.cols);
  dense.fill(T{0});
  Stage stage(context, X.rows);
  for (int64_t i0 = 0; i0 < X.rows; i0 += tile_rows) {
    const int64_t i1 = std::min(i0 + tile_rows, X.rows);
    const MatrixView<T> tile = dense.view().block_rows(0, i1 - i0);
    for (int64_t i = i0; i < i1; ++i) add_row(X, i, tile.row(i - i0));
    stage.share(i1 - i0);
    map.apply(MatrixView<const T>(tile), c, context, Z.block_rows(i0, i1));
    for (int64_t i = i0; i < i1; ++i) clear_row(X, i, tile.row(i - i0));
    stage.advance(i1 - i0);
  }
}

void check_pairs(const FeatureMap& map, MatrixView<const double> X, MatrixView<const double> Y) {
  kernel::check_unit_rows(map.kernel(), "X", X);
  kernel::check_unit_rows(map.kernel(), "Y", Y);
}

void of_pairs(const FeatureMap& map, double (Moments::*at)(const double*, const double*) const,
              MatrixView<const double> X, MatrixView<const double> Y, std::span<double> out) {
  const Moments& moments = map.moments();
  check_pairs(map, X, Y);
  for (int64_t i = 0; i < X.rows; ++i) out[i] = (moments.*at)(X.row(i), Y.row(i));
}

// The estimate of a product of P independent maps is the mean of N products a_j = prod_p a^p_j, so
// that with c_ij = prod_p E a^p_i conj(a^p_j)
//   E |mean|^2 - k^2 = (1/N^2) sum_ij (c_ij - k^2)
//                    = (E |a_j|^2 - k^2)/N + (1/N^2) sum_{i != j} (c_ij - k^2).
// For two columns that are independent in every part c_ij = k^2. Columns of TensorSRHT are
// exchangeable, for upsampled and tuple all of them, for stacked those of a block of d. So its E
// a_i conj(a_j) is one number for such pairs, which follows from the variance of its own estimate.
// With one such part the mean over its pairs is enough; with several, blocks have to be nested, and
// pairs of a smaller block are correlated in the parts of larger ones, too. (Ours.)
double variance_of(double one, double pairs, double mean, int64_t block, int64_t N) noexcept {
  const auto n = static_cast<double>(N);
  const double k2 = mean * mean, own = (one - k2) / n;
  const double count = pairs_in_blocks(block, N);
  return count == 0 ? own : own + count / n * ((pairs - k2) / n);
}

bool is_dependent(const ColumnMoments& part, int64_t N) noexcept {
  return pairs_in_blocks(part.pairs.block, N) > 0;
}

/// Sizes of blocks of more than one column, ascending.
std::vector<int64_t> blocks_of(std::span<const ColumnMoments> parts, int64_t N) {
  std::vector<int64_t> blocks;
  int64_t dependent = 0;
  bool alike = true;
  for (const ColumnMoments& part : parts) {
    if (!is_dependent(part, N)) continue;
    ++dependent;
    alike = alike && part.pairs.alike;
    blocks.push_back(std::min(part.pairs.block, N));
  }
  require(
      dependent <= 1 || alike, MERCER_UNSUPPORTED,
      "the variance of a product of %ld parts whose columns depend on each other has no closed "
      "form where those of one differ from pair to pair, expected at most one beside parts of "
      "independent columns if it is tensor_sketch, or a composition that ends in it or in blocks",
      dependent);
  std::ranges::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  for (size_t i = 1; i < blocks.size(); ++i) {
    require(blocks[i] == N || blocks[i] % blocks[i - 1] == 0, MERCER_UNSUPPORTED,
            "the variance of a product of parts with blocks of %ld and of %ld dependent columns "
            "has no closed form, expected blocks that lie in each other",
            blocks[i - 1], blocks[i]);
  }
  return blocks;
}

}  // namespace

Parameters FeatureMap::common_parameters(uint64_t seed) const {
  return {{"map", std::string(name())},
          {"kernel", std::make_shared<const Parameters>(kernel().parameters())},
          {"inputs", inputs()},
          {"features", features()},
          {"seed", seed}};
}

void FeatureMap::apply_by_dense_tiles(const CsrView<float>& X, Columns c, Context& context,
                                      MatrixView<float> Z) const {
  apply_tiles_of(*this, X, c, context, Z);
}

void FeatureMap::apply_by_dense_tiles(const CsrView<double>& X, Columns c, Context& context,
                                      MatrixView<double> Z) const {
  apply_tiles_of(*this, X, c, context, Z);
}

void FeatureMap::require_one_output() const {
  require(outputs() == 1 && field() == nullptr, MERCER_UNSUPPORTED,
          "map %s of kernel %s has %ld outputs of one kernel, expected a map of a kernel of one",
          std::string(name()).c_str(), std::string(kernel().name()).c_str(), outputs());
}

Matrix<double> FeatureMap::frequencies(Context&) const {
  fail(MERCER_UNSUPPORTED, "map %s has no frequencies, expected fourier",
       std::string(name()).c_str());
}

const FeatureMap& FeatureMap::scalar() const noexcept {
  return field() != nullptr ? field()->scalar() : *this;
}

const Moments& FeatureMap::moments() const {
  fail(MERCER_UNSUPPORTED, "the variance of map %s has no closed form",
       std::string(name()).c_str());
}

void FeatureMap::variance(MatrixView<const double> X, MatrixView<const double> Y,
                          std::span<double> out) const {
  of_pairs(*this, &Moments::variance_at, X, Y, out);
}

void FeatureMap::pseudo_variance(MatrixView<const double> X, MatrixView<const double> Y,
                                 std::span<double> out) const {
  of_pairs(*this, &Moments::pseudo_variance_at, X, Y, out);
}

void FeatureMap::bias(MatrixView<const double> X, MatrixView<const double> Y,
                      std::span<double> out) const {
  of_pairs(*this, &Moments::bias_at, X, Y, out);
}

void FeatureMap::variances(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                           MatrixView<double> out) const {
  if (field() != nullptr) return field()->variances(X, Y, context, out);
  constexpr int64_t kBlock = 256;
  const Moments& own = moments();
  check_pairs(*this, X, Y);
  Stage stage(context, X.rows);
  for (int64_t first = 0; first < X.rows; first += kBlock) {
    const int64_t last = std::min(X.rows, first + kBlock);
    for (int64_t i = first; i < last; ++i) out(i, 0) = own.variance_at(X.row(i), Y.row(i));
    stage.advance(last - first);
    context.checkpoint();
  }
}

ColumnMoments independent_columns(const FeatureMap& map, const double* x, const double* y) {
  const Moments& own = map.moments();
  const double of_real = own.variance_at(x, y), pseudo = own.pseudo_variance_at(x, y);
  const double k = map.kernel().value(map.inputs(), x, y) + own.bias_at(x, y);
  const double count =
      static_cast<double>(map.features()) / (map.column_form() == ColumnForm::halves ? 2 : 1);
  return {k, count * (2 * of_real - pseudo) + k * k, count * pseudo + k * k};
}

double pairs_in_blocks(int64_t block, int64_t N) noexcept {
  const auto b = static_cast<double>(std::min(block, N));
  if (b < 1) return 0;
  const double whole = std::floor(static_cast<double>(N) / b);
  const double rest = static_cast<double>(N) - whole * b;
  return whole * b * (b - 1) + rest * (rest - 1);
}

ColumnMoments dependent_columns(const ColumnMoments& one, int64_t block, bool alike,
                                double variance, double pseudo_variance, int64_t N) noexcept {
  ColumnMoments all = one;
  const double count = pairs_in_blocks(block, N);
  if (count == 0) return all;
  const auto n = static_cast<double>(N);
  const double k2 = one.mean * one.mean;
  // The formula above, solved for c_ij - k^2.
  const auto pair = [&](double whole, double own) {
    return k2 + n / count * (n * whole - (own - k2));
  };
  all.pairs = {std::min(block, N), alike, pair(variance, one.square),
               pair(pseudo_variance, one.pseudo)};
  return all;
}

ColumnMoments multiplied(std::span<const ColumnMoments> parts, int64_t N) {
  ColumnMoments all{1, 1, 1};
  for (const ColumnMoments& part : parts) {
    all.mean *= part.mean;
    all.square *= part.square;
    all.pseudo *= part.pseudo;
  }
  const std::vector<int64_t> blocks = blocks_of(parts, N);
  double before = 0, squares = 0, pseudos = 0;
  for (const int64_t block : blocks) {
    // Pairs inside a block of this size and no smaller one.
    const double count = pairs_in_blocks(block, N);
    double square = 1, pseudo = 1;
    for (const ColumnMoments& part : parts) {
      const double k2 = part.mean * part.mean;
      const bool together = std::min(part.pairs.block, N) >= block;
      square *= together ? part.pairs.square : k2;
      pseudo *= together ? part.pairs.pseudo : k2;
    }
    squares += (count - before) * square;
    pseudos += (count - before) * pseudo;
    before = count;
  }
  if (before == 0) return all;
  const bool alike = blocks.size() == 1 &&
                     std::ranges::all_of(parts, [](const auto& part) { return part.pairs.alike; });
  all.pairs = {blocks.back(), alike, squares / before, pseudos / before};
  return all;
}

double columns_variance(const ColumnMoments& columns, int64_t N) noexcept {
  return variance_of(columns.square, columns.pairs.square, columns.mean, columns.pairs.block, N);
}

double columns_pseudo_variance(const ColumnMoments& columns, int64_t N) noexcept {
  return variance_of(columns.pseudo, columns.pairs.pseudo, columns.mean, columns.pairs.block, N);
}

}  // namespace mercer::feature
