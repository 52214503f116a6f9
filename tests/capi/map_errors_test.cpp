// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of kernels, Gram matrices, lengthscales, maps and predicted errors: status,
// and a message that names function, argument and value. Handles become NULL and outputs stay
// untouched.
#include "fixture.h"
#include "sketches.h"

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

TEST_CASE("map constructors refuse bad sizes", "[capi]") {
  const auto one = gaussian();
  Slot<mercer_map> slot;
  const auto create = [&](const mercer_kernel* kernel, int64_t d, int64_t D, mercer_status expected,
                          auto... parts) {
    return slot.fault(make_fourier(kernel, d, D, "", slot.out()), expected,
                      "mercer_map_fit: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(create(one.get(), 0, 8, invalid, "inputs = 0") == "");
  CHECK(create(one.get(), 3, 0, invalid, "features = 0") == "");
  CHECK(create(one.get(), 3, 7, invalid, "7", "even") == "");
  CHECK(create(one.get(), 3, kHuge - 1, invalid, "2147483647") == "");
  CHECK(create(one.get(), kHuge / 2, 8, invalid, "2147483647") == "");
  CHECK(slot.refused(mercer_map_from_spec("{", slot.out()), "mercer_map_from_spec") == "");
  const auto two = gaussian({1, 2});
  CHECK(create(two.get(), 3, 8, MERCER_DIMENSION_MISMATCH, "2", "3") == "");
}

TEST_CASE("supplied frequencies are checked", "[capi]") {
  const auto one = gaussian();
  const auto W = numbers(4, 3);
  const double negative[] = {1, 1, -1, 1};
  mercer_map* out = nullptr;
  const auto supply = [&](const mercer_rows& w, const double* weights,
                          const mercer_rows& roots = {}) {
    return make_supplied(one.get(), w, weights, roots, "", &out);
  };
  CHECK(refused(supply(rows_of(W.data(), 0, 3), nullptr), "mercer_map_fit", "frequencies.n = 0") ==
        "");
  CHECK(refused(supply(rows_of(W.data(), 4, 3, 2), nullptr), "frequencies.ld = 2") == "");
  CHECK(refused(supply(rows_of(W, 3), negative), "weight", "-1") == "");
  CHECK(fault(supply(rows_of(W, 3), nullptr, rows_of(W.data(), 6, 2)), MERCER_DIMENSION_MISMATCH,
              "6 x 2") == "");
  const auto with = [&](const char* keys) {
    return make_supplied(one.get(), rows_of(W, 3), nullptr, {}, keys, &out);
  };
  CHECK(fault(with(R"("projection":"sorf")"), MERCER_UNSUPPORTED, "projection = sorf") == "");
  CHECK(fault(with(R"("radius":"fixed")"), MERCER_UNSUPPORTED, "radius") == "");
  CHECK(fault(with(R"("map":"linear")"), MERCER_UNSUPPORTED, "map linear") == "");
  CHECK(fault(with(R"("inputs":4)"), MERCER_DIMENSION_MISMATCH, "inputs", "3") == "");
  CHECK(fault(with(R"("features":4)"), MERCER_DIMENSION_MISMATCH, "features", "8") == "");
  CHECK(refused(with(R"("kernel":{"kernel":"gaussian"})"), "\"kernel\"") == "");
  CHECK(fault(make_supplied(polynomial().get(), rows_of(W, 3), nullptr, {}, "", &out),
              MERCER_UNSUPPORTED, "mercer_map_fit", "polynomial") == "");
  CHECK(out == nullptr);
}

TEST_CASE("predicted errors: what is refused", "[capi]") {
  const auto map = sketch(kPolynomial, 3, 8, {});
  const auto X = numbers(4, 3);
  const std::vector<double> zeros(12);
  double error = 77;
  const auto says = [&](const mercer_map* on, const RowsView& rows, double* out,
                        mercer_status expected, auto... parts) {
    return fault(mercer_map_kernel_error(on, rows, MERCER_KERNEL_ERROR_PREDICTED, nullptr, out),
                 expected, "mercer_map_kernel_error: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const auto good = rows_of(X, 3);
  CHECK(says(nullptr, good, &error, invalid, "map = NULL") == "");
  CHECK(says(map.get(), good, nullptr, invalid, "error = NULL") == "");
  CHECK(says(map.get(), rows_of(X.data(), 0, 3), &error, invalid, "n = 0") == "");
  CHECK(says(map.get(), rows_of<double>(nullptr, 4, 3), &error, invalid, "X.values = NULL") == "");
  CHECK(says(map.get(), rows_of(X.data(), 4, 3, 2), &error, invalid, "ld = 2") == "");
  CHECK(says(map.get(), rows_of(X.data(), 4, 2), &error, MERCER_DIMENSION_MISMATCH, "X.d = 2",
             "inputs, 3") == "");
  CHECK(says(map.get(), rows_of(zeros, 3), &error, invalid, "0 for all pairs") == "");
  std::vector<double> broken = X;
  for (const double value : {double{NAN}, 1e200}) {
    broken[4] = value;
    CHECK(says(map.get(), rows_of(broken, 3), &error, invalid, "X", "finite") == "");
  }
  const double frequencies[] = {1, 2, 3};
  const auto owned = made<MapHandle>([&](auto out) {
    return make_supplied(gaussian().get(), rows_of(frequencies, 1, 3), nullptr, {}, "", out);
  });
  CHECK(says(owned.get(), good, &error, MERCER_UNSUPPORTED, "closed form") == "");
  CHECK(error == 77);
}

TEST_CASE("recommendations: what is refused", "[capi]") {
  auto X = numbers(4, 3);
  const std::vector<double> zeros(12);
  const auto kernel = polynomial();
  Slot<mercer_map> slot;
  double error = 77;
  const auto says = [&](const mercer_kernel* k, int64_t D, const RowsView& rows,
                        mercer_status expected, auto... parts) {
    return slot.fault(mercer_sketch_recommend(k, D, 0, rows, nullptr, &error, slot.out()), expected,
                      "mercer_sketch_recommend: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const auto good = rows_of(X, 3);
  CHECK(says(nullptr, 8, good, invalid, "kernel = NULL") == "");
  CHECK(says(kernel.get(), 0, good, invalid, "D = 0") == "");
  CHECK(says(kernel.get(), 8, rows_of(X.data(), 0, 3), invalid, "n = 0") == "");
  CHECK(says(kernel.get(), 8, rows_of(X.data(), 4, 0), invalid, "d = 0") == "");
  CHECK(says(kernel.get(), 8, rows_of<double>(nullptr, 4, 3), invalid, "X.values = NULL") == "");
  CHECK(says(kernel.get(), 8, rows_of(X.data(), 4, 3, 2), invalid, "ld = 2") == "");
  CHECK(says(kernel.get(), 8, rows_of(zeros, 3), invalid, "0 for all pairs") == "");
  CHECK(says(gaussian().get(), 8, good, MERCER_UNSUPPORTED, "kernel gaussian") == "");
  CHECK(says(bilinear(3).get(), 8, good, MERCER_DIMENSION_MISMATCH, "d = 3") == "");
  X[5] = std::nan("");
  CHECK(says(kernel.get(), 8, good, invalid, "finite") == "");
  CHECK(refused(mercer_sketch_recommend(kernel.get(), 8, 0, good, nullptr, &error, nullptr),
                "out = NULL") == "");
  CHECK(error == 77);
}

}  // namespace
