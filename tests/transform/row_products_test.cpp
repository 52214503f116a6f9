// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Inner products of rows against long doubles, and a row alone against the row among others, on
// every target.
#include <cmath>
#include <cstring>
#include <limits>

#include "base/aligned.h"
#include "support/dense.h"
#include "support/worst.h"
#include "transform/narrow_products.h"
#include "transform/on_every_target.h"

using namespace mercer;
using namespace mercer::test;

namespace {

template <class T>
void check(int64_t rows, int64_t cols, int64_t outputs) {
  const Matrix<T> Z = random_matrix<T>(rows, cols, 1), W = random_matrix<T>(outputs, cols, 2);
  Matrix<T> out(rows, outputs), alone(1, 1);
  transform::row_products(transform::RowProducts<T>{Z.view(), W.view(), out.view()});
  double worst = 0;
  bool same = true;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t o = 0; o < outputs; ++o) {
      long double exact = 0, size = 0;
      for (int64_t j = 0; j < cols; ++j) {
        const long double term =
            static_cast<long double>(Z(i, j)) * static_cast<long double>(W(o, j));
        exact += term;
        size += std::fabs(term);
      }
      const auto error = static_cast<double>(std::fabs(out(i, o) - exact));
      const auto bound = static_cast<double>(static_cast<long double>(cols) *
                                             std::numeric_limits<T>::epsilon() * size);
      keep_worst(worst, cols == 0 ? error : error / bound);
      transform::row_products(transform::RowProducts<T>{
          Z.view().block_rows(i, i + 1), W.view().block_rows(o, o + 1), alone.view()});
      same = same && std::memcmp(alone.data(), &out(i, o), sizeof(T)) == 0;
    }
  }
  INFO(rows << " x " << cols << " x " << outputs);
  CHECK(worst <= 1);
  CHECK(same);
}

}  // namespace

TEST_CASE("inner products of rows", "[transform]") {
  on_every_target([] {
    for (const int64_t cols : {0, 1, 7, 33, 512, 513, 1500}) {
      for (const int64_t outputs : {1, 2, 3, 8}) {
        check<float>(7, cols, outputs);
        check<double>(7, cols, outputs);
      }
    }
  });
}
