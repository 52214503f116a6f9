// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Phi itself and its Gram matrix, for those who ask for them.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/feature_blocks.h"
#include "feature/feature_products.h"
#include "feature/field/field_map.h"

namespace mercer::feature {

Matrix<double> FieldMap::root_table(int64_t first, int64_t last, Context& context) const {
  const FrequencyRoot& B = root(context);
  const int64_t p = outputs(), q = width();
  Matrix<double> table(last - first, checked_multiply(p, q, "B(omega)"), context, "B(omega)");
  std::vector<double> unit(static_cast<size_t>(q), 0.0), column(static_cast<size_t>(p));
  for (int64_t c = first; c < last; ++c) {
    for (int64_t b = 0; b < q; ++b) {
      unit[static_cast<size_t>(b)] = 1;
      B.spread(frequency_of(c), unit.data(), column.data());
      unit[static_cast<size_t>(b)] = 0;
      for (int64_t o = 0; o < p; ++o) table(c - first, o * q + b) = column[static_cast<size_t>(o)];
    }
  }
  return table;
}

Matrix<double> FieldMap::roots(Context& context) const {
  prepare(Precision::f64, context);
  return root_table(0, shared_root().rows > 0 ? 1 : scalar().features(), context);
}

void FieldMap::apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const {
  const int64_t p = outputs(), q = width();
  const Columns own{c.begin / q, ceil_divide(c.end, q)};  // columns of z
  if (X.rows() == 0 || c.begin == c.end) return;
  const Matrix<double> B = root_table(own.begin, own.end, context);
  X.visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    const MatrixView<T> out = result_of<T>(Z);
    for_each_block(scalar(), rows, own, context, [&](int64_t first, MatrixView<const T> z) {
      parallel_for(context, z.rows, [&](int64_t i, int) noexcept {
        for (int64_t o = 0; o < p; ++o) {
          T* to = out.row((first + i) * p + o);
          for (int64_t s = own.begin; s < own.end; ++s) {
            const auto value = static_cast<double>(z(i, s - own.begin));
            const double* const root = B.view().row(s - own.begin) + o * q;
            const int64_t end = std::min(q, c.end - s * q);
            for (int64_t b = std::max<int64_t>(0, c.begin - s * q); b < end; ++b)
              *to++ = static_cast<T>(value * root[b]);
          }
        }
      });
    });
  });
}

// Z'Z entry by entry times B_c'B_e: no row of Phi is formed.
void FieldMap::gram(const Rows& X, Context& context, MatrixView<double> H) const {
  check_gram(X, H);
  const int64_t p = outputs(), q = width(), D = scalar().features();
  const Matrix<double> B = root_table(0, D, context);
  const Matrix<double> S(D, D, context, "the Gram matrix of scalar features");
  S.fill(0);
  add_feature_gram(scalar(), X, context, S.view());
  parallel_for(context, D, [&](int64_t c, int) noexcept {
    for (int64_t e = 0; e < D; ++e) {
      const double s = c >= e ? S(c, e) : S(e, c);
      for (int64_t b = 0; b < q; ++b) {
        for (int64_t g = 0; g < q; ++g) {
          double sum = 0;
          for (int64_t o = 0; o < p; ++o) sum += B(c, o * q + b) * B(e, o * q + g);
          H(c * q + b, e * q + g) = s * sum;
        }
      }
    }
  });
}

}  // namespace mercer::feature
