// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/feature_map.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/aligned.h"
#include "base/error.h"

namespace mercer::feature {
namespace {

// Of dense rows at a time: enough for every thread to have work, little beside what X and Z take.
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
          "map %s of kernel %s has %lld outputs of one kernel, expected a map of a kernel of one",
          std::string(name()).c_str(), std::string(kernel().name()).c_str(),
          static_cast<long long>(outputs()));
}

Matrix<double> FeatureMap::frequencies(Context&) const {
  fail(MERCER_UNSUPPORTED, "map %s has no frequencies, expected fourier",
       std::string(name()).c_str());
}

void FeatureMap::apply_pair(const Rows&, const Rows&, int64_t, Columns, Context&,
                            const ResultView&) const {
  fail(MERCER_UNSUPPORTED, "map %s takes one matrix, expected a sketch of kernel bilinear",
       std::string(name()).c_str());
}

void FeatureMap::refuse_derivatives() const {
  fail(MERCER_UNSUPPORTED,
       "map %s of kernel %s has no derivatives in its inputs, expected one of fourier, linear, "
       "positive (not stabilized), laplace, sketches, anova, poisson, additive, exact_polynomial, "
       "nystroem (of a kernel that has derivatives), arc_cosine of order 1 or 2, optical without "
       "bits, and sums and products of these",
       std::string(name()).c_str(), std::string(kernel().name()).c_str());
}

#define MERCER_REFUSE(T)                                                                           \
  void FeatureMap::pull_back(MatrixView<const T>, MatrixView<const T>, Context&, MatrixView<T>)    \
      const {                                                                                      \
    refuse_derivatives();                                                                          \
  }                                                                                                \
  void FeatureMap::push_forward(MatrixView<const T>, MatrixView<const T>, Context&, MatrixView<T>) \
      const {                                                                                      \
    refuse_derivatives();                                                                          \
  }                                                                                                \
  void FeatureMap::differentiate(const Derivative&, MatrixView<const T>, Context&, MatrixView<T>)  \
      const {                                                                                      \
    refuse_derivatives();                                                                          \
  }
MERCER_REFUSE(float)
MERCER_REFUSE(double)
#undef MERCER_REFUSE

template <class T>
void FeatureMap::check_vectors(MatrixView<const T> X, MatrixView<const T> vectors, int64_t cols,
                               MatrixView<T> out, int64_t out_cols) const {
  using Long = long long;
  if (!has_gradient()) refuse_derivatives();
  require(X.cols == inputs() && vectors.cols == cols && out.cols == out_cols &&
              vectors.rows == X.rows && out.rows == X.rows,
          MERCER_DIMENSION_MISMATCH,
          "X %lld x %lld, its vectors %lld x %lld, out %lld x %lld, expected as many rows each, "
          "%lld inputs, %lld numbers of a vector and %lld of out",
          Long{X.rows}, Long{X.cols}, Long{vectors.rows}, Long{vectors.cols}, Long{out.rows},
          Long{out.cols}, Long{inputs()}, Long{cols}, Long{out_cols});
}

template <class T>
void FeatureMap::check_derivative(const Derivative& what, MatrixView<const T> X,
                                  MatrixView<T> out) const {
  check_vectors(X, X, inputs(), out,
                checked_multiply(what.blocks(inputs()), row_length(), "derivatives"));
  require(what.highest() <= most_derivatives(), MERCER_UNSUPPORTED,
          "derivatives of order %lld of map %s of kernel %s, expected up to %lld",
          static_cast<long long>(what.highest()), std::string(name()).c_str(),
          std::string(kernel().name()).c_str(), static_cast<long long>(most_derivatives()));
}

// Not left to arithmetic: of a polynomial, derivatives are constants and zeros, too.
template <class T>
void FeatureMap::spread_nan(MatrixView<const T> X, MatrixView<T> out) noexcept {
  for (int64_t i = 0; i < X.rows; ++i) {
    const T* const x = X.row(i);
    bool any = false;
    for (int64_t k = 0; k < X.cols; ++k) any |= x[k] != x[k];
    if (any) std::fill_n(out.row(i), out.cols, std::numeric_limits<T>::quiet_NaN());
  }
}

#define MERCER_INSTANTIATE(T)                                                                \
  template void FeatureMap::spread_nan(MatrixView<const T>, MatrixView<T>) noexcept;         \
  template void FeatureMap::check_vectors(MatrixView<const T>, MatrixView<const T>, int64_t, \
                                          MatrixView<T>, int64_t) const;                     \
  template void FeatureMap::check_derivative(const Derivative&, MatrixView<const T>,         \
                                             MatrixView<T>) const;
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

void FeatureMap::variance(MatrixView<const double>, MatrixView<const double>,
                          std::span<double>) const {
  fail(MERCER_UNSUPPORTED, "the variance of map %s has no closed form",
       std::string(name()).c_str());
}

void FeatureMap::variances(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                           MatrixView<double> out) const {
  constexpr int64_t kBlock = 256;
  Stage stage(context, X.rows);
  std::vector<double> block(static_cast<size_t>(std::min(X.rows, kBlock)));
  for (int64_t first = 0; first < X.rows; first += kBlock) {
    const int64_t last = std::min(X.rows, first + kBlock);
    const std::span part(block.data(), static_cast<size_t>(last - first));
    variance(X.block_rows(first, last), Y.block_rows(first, last), part);
    for (int64_t i = first; i < last; ++i) out(i, 0) = part[static_cast<size_t>(i - first)];
    stage.advance(last - first);
    context.checkpoint();
  }
}

void FeatureMap::pseudo_variance(MatrixView<const double> X, MatrixView<const double> Y,
                                 std::span<double> out) const {
  if (!is_complex()) return variance(X, Y, out);
  fail(MERCER_UNSUPPORTED, "the pseudo-variance of map %s has no closed form",
       std::string(name()).c_str());
}

void FeatureMap::bias(MatrixView<const double>, MatrixView<const double>,
                      std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
}

ColumnMoments FeatureMap::column_moments(const double*, const double*) const {
  fail(MERCER_UNSUPPORTED, "the columns of map %s depend on each other in ways of no closed form",
       std::string(name()).c_str());
}

ColumnMoments FeatureMap::independent_columns(const double* x, const double* y) const {
  const MatrixView<const double> X(x, 1, inputs()), Y(y, 1, inputs());
  double of_real = 0, pseudo = 0;
  variance(X, Y, {&of_real, 1});
  pseudo_variance(X, Y, {&pseudo, 1});
  const double k = kernel().value(inputs(), x, y);
  const double count =
      static_cast<double>(features()) / (column_form() == ColumnForm::halves ? 2 : 1);
  return {k, count * (2 * of_real - pseudo) + k * k, count * pseudo + k * k};
}

}  // namespace mercer::feature
