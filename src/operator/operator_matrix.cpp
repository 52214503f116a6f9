// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Phi itself and its Gram matrix, for those who ask for them.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "linalg/blas.h"
#include "operator/feature_blocks.h"
#include "operator/operator_map.h"

namespace mercer::operators {
namespace {

using Long = long long;

/// B_j of every frequency as numbers: row j is p x q.
Matrix<double> root_table(const FrequencyRoot& root, int64_t F, Context& context) {
  const int64_t p = root.outputs(), q = root.width();
  Matrix<double> table(F, checked_multiply(p, q, "B(omega)"), context, "B(omega)");
  std::vector<double> unit(static_cast<size_t>(q), 0.0), column(static_cast<size_t>(p));
  for (int64_t j = 0; j < F; ++j) {
    for (int64_t b = 0; b < q; ++b) {
      unit[static_cast<size_t>(b)] = 1;
      root.spread(j, unit.data(), column.data());
      unit[static_cast<size_t>(b)] = 0;
      for (int64_t o = 0; o < p; ++o) table(j, o * q + b) = column[static_cast<size_t>(o)];
    }
  }
  return table;
}

}  // namespace

void OperatorMap::matrix(const Rows& X, Context& context, MatrixView<double> out) const {
  const int64_t p = outputs(), q = width(), D = features(), F = D / 2;
  require(X.cols() == inputs() && out.rows == checked_multiply(X.rows(), p, "Phi") &&
              out.cols == coefficients(),
          MERCER_DIMENSION_MISMATCH,
          "X is %lld x %lld and Phi %lld x %lld, expected %lld inputs and (n p) x r = %lld x %lld",
          Long{X.rows()}, Long{X.cols()}, Long{out.rows}, Long{out.cols}, Long{inputs()},
          Long{X.rows() * p}, Long{coefficients()});
  const Matrix<double> B = root_table(root(context), F, context);
  X.visit([&](const auto& rows) {
    for_each_block(scalar(), rows, context, [&](int64_t first, const auto& Z) {
      parallel_for(context, Z.rows, [&](int64_t i, int) noexcept {
        for (int64_t o = 0; o < p; ++o) {
          double* to = out.row((first + i) * p + o);
          for (int64_t c = 0; c < D; ++c)
            for (int64_t b = 0; b < q; ++b)
              *to++ = static_cast<double>(Z(i, c)) * B(c % F, o * q + b);
        }
      });
    });
  });
}

// Z'Z entry by entry times B_c'B_e: no row of Phi is formed.
void OperatorMap::gram(const Rows& X, Context& context, MatrixView<double> H) const {
  const int64_t p = outputs(), q = width(), D = features(), F = D / 2;
  require(X.cols() == inputs() && H.rows == coefficients() && H.cols == coefficients(),
          MERCER_DIMENSION_MISMATCH,
          "X has %lld columns and H is %lld x %lld, expected %lld inputs and r x r, r = %lld",
          Long{X.cols()}, Long{H.rows}, Long{H.cols}, Long{inputs()}, Long{coefficients()});
  const Matrix<double> B = root_table(root(context), F, context);
  const Matrix<double> S(D, D, context, "the Gram matrix of scalar features");
  S.fill(0);
  X.visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    for_each_block(scalar(), rows, context, [&](int64_t, MatrixView<const T> Z) {
      if constexpr (std::is_same_v<T, double>) {
        linalg::rank_update(1.0, Z, S.view());
      } else {
        const Matrix<double> wide(Z.rows, D, context, "a block of features");
        for (int64_t i = 0; i < Z.rows; ++i) std::copy_n(Z.row(i), D, wide.view().row(i));
        linalg::rank_update(1.0, MatrixView<const double>(wide.view()), S.view());
      }
    });
  });
  parallel_for(context, D, [&](int64_t c, int) noexcept {
    for (int64_t e = 0; e < D; ++e) {
      const double s = c >= e ? S(c, e) : S(e, c);
      for (int64_t b = 0; b < q; ++b) {
        for (int64_t g = 0; g < q; ++g) {
          double sum = 0;
          for (int64_t o = 0; o < p; ++o) sum += B(c % F, o * q + b) * B(e % F, o * q + g);
          H(c * q + b, e * q + g) = s * sum;
        }
      }
    }
  });
}

}  // namespace mercer::operators
