// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Phi itself, for callers that ask for it.
#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "base/size.h"
#include "feature/feature_blocks.h"
#include "feature/field/field_map.h"

namespace mercer::feature {

Matrix<double> FieldMap::root_table(int64_t first, int64_t last, Context& context) const {
  const FrequencyRoot& B = root(context);
  const int64_t p = outputs(), q = width();
  Matrix<double> table(last - first, checked_multiply(p, q, "B(omega)"), context, "B(omega)");
  std::vector<double> unit(q, 0.0), column(p);
  for (int64_t c = first; c < last; ++c) {
    for (int64_t b = 0; b < q; ++b) {
      unit[b] = 1;
      B.spread(frequency_of(c), unit.data(), column.data());
      unit[b] = 0;
      for (int64_t o = 0; o < p; ++o) table(c - first, o * q + b) = column[o];
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

}  // namespace mercer::feature
