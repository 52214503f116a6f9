// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Operators against the matrices that they are: products, adjoints, shapes.
#include "linalg/linear_operator.h"

#include "support/catch.h"
#include "support/dense.h"
#include "support/dense_operator.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::linalg;
using namespace mercer::test;

TEST_CASE("a dense operator multiplies by its matrix and by the transpose", "[linalg]") {
  Context context;
  const Matrix<double> A = random_matrix(7, 5, 1), X = random_matrix(5, 3, 2),
                       U = random_matrix(7, 3, 3);
  const DenseOperator op(A.view());
  Matrix<double> AX(7, 3), AtU(5, 3);
  op.apply(X.view(), context, AX.view());
  op.apply_transpose(U.view(), context, AtU.view());
  CHECK(difference(AX.view(), product(A.view(), X.view()).view(), 1e-14) == "");
  CHECK(difference(AtU.view(), product(transposed(A.view()).view(), U.view()).view(), 1e-14) == "");
}

TEST_CASE("operators refuse vectors of another size", "[linalg]") {
  Context context;
  const Matrix<double> A = random_matrix(4, 3, 6), x = random_matrix(3, 2, 7);
  const DenseOperator op(A.view());
  Matrix<double> y(4, 2), narrow(4, 1);
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { op.apply(x.view(), context, narrow.view()); },
            "4 and 3 rows for Y = A X") == "");
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { op.apply_transpose(x.view(), context, y.view()); },
            "3 and 4 rows for Y = A' X") == "");
}
