// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of kernels, Gram matrices and lengthscales: status, and a message that
// names function, argument and value. Handles become NULL and outputs stay untouched.
#include <cmath>

#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

const double kNaN = std::nan("");

TEST_CASE("kernel specs refuse bad parameters and set the handle to NULL", "[capi]") {
  Slot<mercer_kernel> slot;
  const auto make = [&](const char* spec, auto... parts) {
    const std::string json = std::string("{\"kernel\":") + spec + "}";
    return slot.refused(mercer_kernel_from_spec(json.c_str(), slot.out()),
                        "mercer_kernel_from_spec: ", parts...);
  };
  CHECK(make(R"("laplacian","lengthscale":1e301)", "lengthscale", "1e+301") == "");
  CHECK(make(R"("laplacian","lengthscale":[1,-2])", "lengthscale", "-2") == "");
  CHECK(make(R"("cauchy","lengthscale":0)", "lengthscale", "0") == "");
  CHECK(make(R"("gaussian","lengthscale":[])", "lengthscale") == "");
  CHECK(make(R"("matern","nu":-1)", "nu = -1") == "");
  CHECK(make(R"("rational_quadratic","alpha":0)", "alpha = 0") == "");
  CHECK(make(R"("generalized_gaussian_spectrum","order":0)", "order = 0") == "");
  CHECK(make(R"("generalized_gaussian_spectrum","order":17)", "order = 17") == "");
  CHECK(make(R"("skewed_chi2","c":0)", "c = 0") == "");
  CHECK(make(R"("spectral_mixture","weights":[1],"means":[0])", "\"variances\" is missing") == "");
  CHECK(make(R"("spectral_mixture","weights":[1,0],"means":[0,1],"variances":[1,1])",
             "weights[1] = 0") == "");
  CHECK(make(R"("spectral_mixture","weights":[1,1],"means":[[0,1],[2]],"variances":[1,1])",
             "means[1] = a list of 1 numbers, expected 2") == "");
  CHECK(make(R"("spectral_mixture","weights":[[1]],"means":[0],"variances":[1])",
             "weights = a list of 1 lists, expected a list of numbers") == "");
  CHECK(make(R"("bilinear","left":0)", "left = 0") == "");
  CHECK(make(R"("bilinear","left":2147483647)", "left = 2147483647", "2147483646") == "");
  CHECK(make(R"("gaussian","variance":0)", "variance = 0") == "");
  CHECK(make(R"("gaussian","width":2)", "width") == "");
  CHECK(make(R"("polynomial","degree":0)", "degree = 0") == "");
  CHECK(make(R"("polynomial","degree":1025)", "degree = 1025") == "");
  CHECK(make(R"("polynomial","degree":2,"gamma":0)", "gamma = 0") == "");
  CHECK(make(R"("polynomial","degree":2,"gamma":NaN)") == "");
  CHECK(make(R"("polynomial","degree":2,"offset":-1)", "offset = -1") == "");
  CHECK(slot.refused(mercer_kernel_from_spec(nullptr, slot.out()), "json = NULL") == "");
  CHECK(refused(mercer_kernel_from_spec("{}", nullptr), "out = NULL") == "");
  CHECK(slot.fault(mercer_kernel_from_spec("{\"mercer\":9,\"kernel\":\"sign\"}", slot.out()),
                   MERCER_NEWER_VERSION, "9") == "");
}

TEST_CASE("Gram matrices refuse bad shapes", "[capi]") {
  const auto one = gaussian();
  const auto X = numbers(4, 3);
  const auto good = rows_of(X, 3);
  double K[16] = {77};
  const auto gram = [&](const mercer_kernel* k, const RowsView& x, const ResultView& result,
                        mercer_status expected, auto... parts) {
    return fault(mercer_kernel_gram(k, x, good, {}, nullptr, result), expected,
                 "mercer_kernel_gram: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, mismatch = MERCER_DIMENSION_MISMATCH;
  const auto fits = result_of(K, 4, 4);
  CHECK(gram(one.get(), rows_of(X.data(), 4, 0), fits, invalid, "X.d = 0") == "");
  CHECK(gram(one.get(), rows_of(X.data(), -1, 3), fits, invalid, "X.n = -1") == "");
  CHECK(gram(one.get(), rows_of<double>(nullptr, 4, 3), fits, invalid, "X.values = NULL") == "");
  CHECK(gram(one.get(), rows_of(X.data(), 4, 3, 2), fits, invalid, "ld = 2") == "");
  CHECK(gram(one.get(), rows_of(X.data(), 6, 2), fits, mismatch, "Y.d = 3", "2") == "");
  CHECK(gram(one.get(), rows_of(X.data(), 3, 3), fits, mismatch, "K is 4 x 4, expected 3 x 4") ==
        "");
  CHECK(gram(one.get(), good, result_of(K, 4, 4, 3), invalid, "ld = 3") == "");
  CHECK(gram(one.get(), good, result_of(K, 4, 4, -1, true), invalid, "K.number = 3") == "");
  CHECK(gram(one.get(), rows_of(X.data(), kHuge / 16, 3), fits, invalid,
             "n = 576460752303423487") == "");
  CHECK(gram(nullptr, good, fits, invalid, "kernel = NULL") == "");
  CHECK(gram(one.get(), good, result_of(const_cast<double*>(X.data()), 4, 4, 3), invalid, "K") ==
        "");
  const auto two = gaussian({1, 2});
  CHECK(gram(two.get(), good, fits, mismatch, "2", "3") == "");
  CHECK(gram(bilinear(3).get(), good, fits, mismatch, "d = 3", "3 inputs of the left") == "");
  CHECK(K[0] == 77);
}

TEST_CASE("the median heuristic refuses what has no answer", "[capi]") {
  double l = 77;
  const auto X = numbers(4, 3);
  const auto good = rows_of(X, 3);
  const std::vector<double> constant(12, 1.0);
  const auto still = rows_of(constant, 3);
  const auto median = [&](const RowsView& rows, int64_t pairs) {
    return mercer_lengthscale_median(rows, pairs, 0, nullptr, &l);
  };
  CHECK(refused(median(rows_of(X.data(), 1, 3), 10), "mercer_lengthscale_median", "X.n = 1") == "");
  CHECK(refused(median(good, 0), "max_pairs = 0") == "");
  CHECK(refused(median(still, 10), "median") == "");
  CHECK(refused(median(rows_of(X.data(), 4, 0), 10), "X.d = 0") == "");
  CHECK(l == 77);
}

}  // namespace
