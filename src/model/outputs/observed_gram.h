// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of an explicit Phi by blocks, and the sum over observed targets that ridge takes of them.
#pragma once

#include <algorithm>

#include "base/aligned.h"
#include "base/context.h"
#include "feature/field/field_map.h"

namespace mercer::model {

/// No target is NaN; so of no rows.
bool is_complete(MatrixView<const double> Y);

inline constexpr int64_t kPhiNumbers = int64_t{1} << 20;  // of a block

/// body(first, Phi) for blocks of at most `most` rows, Phi their p rows each.
template <class Body>
void for_each_phi(const feature::FieldMap& map, MatrixView<const double> X, int64_t most,
                  Context& context, const Body& body) {
  const int64_t p = map.outputs(), r = map.features();
  const int64_t size = std::clamp<int64_t>(kPhiNumbers / (p * r), 1, most);
  const Matrix<double> Phi(p * std::min(size, X.rows), r, context, "a block of Phi");
  Stage stage(context, 2 * X.rows);
  for (int64_t first = 0; first < X.rows; first += size) {
    const int64_t last = std::min(X.rows, first + size);
    const MatrixView<double> block = Phi.view().block_rows(0, p * (last - first));
    stage.part(last - first, [&] { map.apply(X.block_rows(first, last), {0, r}, context, block); });
    stage.part(last - first, [&] { body(first, block); });
    context.checkpoint();
  }
}

/// The lower triangle of sum Phi_k(x_i) Phi_k(x_i)' over observed (i, k); Y without rows: all. N
/// D^2 without gaps, else N p r^2.
Matrix<double> observed_gram(const feature::FieldMap& map, MatrixView<const double> X,
                             MatrixView<const double> Y, Context& context);
/// What it takes while it is made, result and blocks.
int64_t bytes_of_gram(const feature::FieldMap& map, MatrixView<const double> Y);
/// The same sum of Phi_k(x_i) y_ik, r numbers.
std::vector<double> observed_sums(const feature::FieldMap& map, MatrixView<const double> X,
                                  MatrixView<const double> Y, Context& context);

}  // namespace mercer::model
