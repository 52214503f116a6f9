// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products with the features of rows, formed block by block and never as a whole.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/aligned.h"
#include "base/views.h"
#include "feature/feature_map.h"

namespace mercer::feature {

// What can be computed from a learnt function f(x) = Phi(x)'theta of p outputs.

enum class FieldKind {
  value,       // f_o: p numbers
  jacobian,    // d f_o / d x_l at o d + l: p d numbers
  divergence,  // sum_o d f_o / d x_o: one number; p = d, here and below
  curl,  // d = 2: d_1 f_2 - d_2 f_1; d = 3: the vector; else d_k f_l - d_l f_k, k < l, row by row
  potential,  // phi with grad phi the curl-free part of f, of mean 0: one
  stream      // d = 2: psi with (d_2 psi, -d_1 psi) the divergence-free part of f, of mean 0: one
};

/// How many numbers that is at a point. UNSUPPORTED, naming p and d, where it does not exist.
int64_t field_numbers(FieldKind kind, int64_t p, int64_t d);

/// out row i: for each column theta_k of theta (D x m) the numbers of `kind` of the field f_k(x) =
/// Phi(x)'theta_k at X_i, one after the other; of the precision of X. A row of out depends on its
/// row of X alone, bit for bit, whatever the split of rows and the number of threads; NaN stays in
/// its row. Errors: DIMENSION_MISMATCH; UNSUPPORTED for complex maps, for kinds other than value
/// unless features are cosines and sines of frequencies() side by side or those of kernel_field.h,
/// and where field_numbers says so; OUT_OF_MEMORY, CANCELLED.
void multiply(const FeatureMap& map, const Rows& X, MatrixView<const double> theta, FieldKind kind,
              Context& context, const ResultView& out);
/// theta (D x m) = sum_i Phi(X_i) Y_i, a row of Y holding m vectors of p numbers one after the
/// other; Y dense, of the precision of X. The number of threads changes no bit. Cost and errors
/// as of multiply.
void adjoint(const FeatureMap& map, const Rows& X, const Rows& Y, Context& context,
             MatrixView<double> theta);

// The products for a real map of one output; X has its inputs.

/// out = Z W, W D x c. With B (w x q), every q numbers of a row of Z W are multiplied by B' (the
/// operators of Brault et al. 2016, appendix D).
void multiply_features(const FeatureMap& map, const Rows& X, MatrixView<const double> W,
                       MatrixView<const double> B, Context& context, const ResultView& out);

/// sums (c x D) += Y'Z, Y n x c. With B (p x q), every p numbers of a row of Y are multiplied by B'
/// first. UNSUPPORTED for a Y that is not dense or not of the precision of X.
void add_feature_sums(const FeatureMap& map, const Rows& X, const Rows& Y,
                      MatrixView<const double> B, Context& context, MatrixView<double> sums);

// The features of rows, some rows at a time, so that they stay in cache until they are used.

inline constexpr int64_t kBlockBytes = int64_t{1} << 21;
inline constexpr int64_t kLeastBlockRows = 32;
inline constexpr int64_t kMostBlockRows = 4096;

/// body(first, Z) for blocks of rows and columns c of their features, of the precision of X. The
/// map is real and of one output.
template <class View, class Body>
void for_each_block(const FeatureMap& map, const View& X, Columns c, Context& context,
                    const Body& body) {
  using T = RowNumberOf<View>;
  const int64_t D = c.end - c.begin;
  const int64_t fitting = kBlockBytes / (D * static_cast<int64_t>(sizeof(T)));
  const int64_t size = std::min(X.rows, std::clamp(fitting, kLeastBlockRows, kMostBlockRows));
  const Matrix<T> Z(size, D, context, "a block of features");
  Stage stage(context, X.rows);
  for (int64_t first = 0; first < X.rows; first += size) {
    const int64_t count = std::min(size, X.rows - first);
    const MatrixView<T> block = Z.view().block_rows(0, count);
    stage.share(count);
    map.apply(X.block_rows(first, first + count), c, context, block);
    body(first, MatrixView<const T>(block));
    stage.advance(count);
    context.checkpoint();
  }
}
/// As above, with all features.
template <class View, class Body>
void for_each_block(const FeatureMap& map, const View& X, Context& context, const Body& body) {
  for_each_block(map, X, Columns{0, map.features()}, context, body);
}

}  // namespace mercer::feature
