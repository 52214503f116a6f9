// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/simplex_code.h"

#include "support/catch.h"
#include "support/dense.h"
#include "support/reference.h"
#include "support/refusal.h"

namespace mercer::test {

TEST_CASE("simplex codes are the reference numbers and what they are for", "[model]") {
  for (int64_t classes = 2; classes <= 6; ++classes) {
    Matrix<double> code(classes - 1, classes);
    model::simplex_code(code.view());
    const Reference& expected = oracle("operator_kernels")["simplex"][std::to_string(classes)];
    CHECK(difference(code.view(),
                     filled(classes - 1, classes,
                            [&](int64_t i, int64_t j) { return expected[i][j].get<double>(); })
                         .view(),
                     1e-14) == "");
    const auto T = static_cast<double>(classes);
    const Matrix<double> inner = product(transposed(code.view()).view(), code.view());
    CHECK(difference(inner.view(),
                     filled(classes, classes,
                            [&](int64_t i, int64_t j) { return i == j ? 1 : -1 / (T - 1); })
                         .view(),
                     1e-14) == "");
  }
  Matrix<double> wrong(2, 2);
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { model::simplex_code(wrong.view()); }, "2 x 2") == "");
}

}  // namespace mercer::test
