// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "base/finite.h"

#include "support/dense.h"
#include "support/refusal.h"
#include "support/sparse.h"

using namespace mercer;

TEST_CASE("the first entry whose square cannot be summed is named, dense or sparse", "[base]") {
  for (const double bad : {std::nan(""), -HUGE_VAL, 1.01e150, -1e308}) {
    Matrix<double> X = test::random_matrix(40, 23, 1);
    require_summable("X", X.view());
    X(17, 22) = bad;
    X(30, 0) = bad;
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, require_summable("X", X.view()), "X: row 17",
                  "column 22");
    auto S = test::sparse_rows<double>(50, 30, 5, 2);
    require_summable("S", S.view());
    const auto last = S.values.size() - 1;
    S.values[last] = bad;
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, require_summable("S", S.view()),
                  "column " + std::to_string(S.indices[last]));
  }
  Matrix<double> edge(1, 2);
  edge.fill(-1e150);
  require_summable("edge", edge.view());
}

TEST_CASE("every finite float can be summed", "[base]") {
  Matrix<float> X = test::random_matrix<float>(3, 9, 1);
  X(2, 3) = std::numeric_limits<float>::max();
  require_summable("X", X.view());
  X(2, 4) = std::numeric_limits<float>::infinity();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, require_summable("X", X.view()), "row 2", "column 4");
}
