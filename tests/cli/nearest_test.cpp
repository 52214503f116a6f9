// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The word that was meant.

#include "failure.h"
#include "support/catch.h"

namespace mercer::cli::nearest_test {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("the nearest word is meant while few letters differ", "[cli]") {
  const Words kernels = {"gaussian", "matern", "laplacian"};
  CHECK(nearest("gausian", kernels) == "gaussian");
  CHECK(nearest("Matern", kernels) == "matern");
  CHECK(nearest("matren", kernels) == "matern");
  CHECK(nearest("polka", kernels) == "");
  CHECK(nearest("", kernels) == "");
  CHECK(nearest("id", {"ix"}) == "");  // half of it
  CHECK(nearest("ab", {"ba"}) == "");
  CHECK(nearest("fti", {"fit", "cv"}) == "fit");
  CHECK(nearest(std::string(1000, 'x'), {std::string(1000, 'x')}) == "");
  CHECK(did_you_mean("--feature", {"--features", "--folds"}) == "; did you mean '--features'?");
  CHECK(did_you_mean("nope", {"fit"}) == "");
  // A beginning, if it is that of one alone.
  CHECK(nearest("gauss", {"gaussian", "laplacian"}) == "gaussian");
  CHECK(nearest("fi", {"fit", "cv"}) == "fit");
  CHECK(nearest("--te", {"--text", "--test-fraction"}) == "");
}

}  // namespace
}  // namespace mercer::cli::nearest_test
