// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/feature_map.h"

#include <algorithm>
#include <string>

#include "base/aligned.h"
#include "base/error.h"
#include "feature/field/field_map.h"
#include "feature/moments.h"
#include "kernel/unit_rows.h"

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

}  // namespace mercer::feature
