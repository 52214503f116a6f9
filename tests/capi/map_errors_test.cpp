// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of kernels, Gram matrices, lengthscales, maps, features, variances and
// predicted errors: status, and a message that names function, argument and value. Handles become
// NULL and outputs stay untouched.
#include "fixture.h"
#include "sketches.h"
#include "support/reference.h"

namespace map_errors_test {
using namespace mercer::test;

TEST_CASE("kernel specs refuse bad parameters and set the handle to NULL") {
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
  CHECK(make(R"("spectral_mixture","weights":[1,1],"means":[[0,1],[2]],"variances":[1,1])",
             "means[1] = a list of 1 numbers, expected 2") == "");
  CHECK(make(R"("spectral_mixture","weights":[[1]],"means":[0],"variances":[1])",
             "weights = a list of 1 lists, expected a list of numbers") == "");
  CHECK(make(R"("polynomial","degree":2,"gamma":0)", "gamma = 0") == "");
  CHECK(make(R"("polynomial","degree":2,"gamma":NaN)") == "");
  CHECK(make(R"("polynomial","degree":2,"offset":-1)", "offset = -1") == "");
  CHECK(slot.refused(mercer_kernel_from_spec(nullptr, slot.out()), "json = NULL") == "");
  CHECK(refused(mercer_kernel_from_spec("{}", nullptr), "out = NULL") == "");
  CHECK(slot.fault(mercer_kernel_from_spec("{\"mercer\":9,\"kernel\":\"sign\"}", slot.out()),
                   MERCER_NEWER_VERSION, "9") == "");
}

TEST_CASE("Gram matrices refuse bad shapes") {
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
  CHECK(gram(one.get(), rows_of(X.data(), 6, 2), fits, mismatch, "Y.d = 3", "2") == "");
  CHECK(gram(one.get(), rows_of(X.data(), 3, 3), fits, mismatch, "K is 4 x 4, expected 3 x 4") ==
        "");
  CHECK(gram(nullptr, good, fits, invalid, "kernel = NULL") == "");
  CHECK(gram(one.get(), good, result_of(const_cast<double*>(X.data()), 4, 4, 3), invalid, "K") ==
        "");
  const auto two = gaussian({1, 2});
  CHECK(gram(two.get(), good, fits, mismatch, "2", "3") == "");
  CHECK(gram(bilinear(3).get(), good, fits, mismatch, "d = 3", "3 inputs of the left") == "");
  CHECK(K[0] == 77);
}

TEST_CASE("certificates of kernel errors: all rows, some rows, refusals") {
  const auto map = fourier(3, 64);
  const auto X = numbers(300, 3);
  const auto certified = [&](const char* json) {
    return Reference::parse(text_of([&](auto... buffer) {
      return mercer_map_certify(map.get(), rows_of(X, 3), json, nullptr, buffer...);
    }));
  };
  double measured = 0;
  REQUIRE(mercer_map_kernel_error(map.get(), rows_of(X, 3), MERCER_KERNEL_ERROR_MEASURED, nullptr,
                                  &measured) == MERCER_OK);
  const Reference all = certified(R"({"rows":300})"), some = certified("{\"seed\":2}");
  const auto number = [](const Reference& answer, const char* key) {
    return answer[key].get<double>();
  };
  CHECK(all["exact"] == true);
  CHECK(number(all, "frobenius_low") == Approx(measured).epsilon(1e-9));
  CHECK(some["exact"] == false);
  for (const std::string key : {"frobenius", "spectral", "relative_spectral"}) {
    const double low = number(some, (key + "_low").c_str());
    const double high = number(some, (key + "_high").c_str());
    CHECK((0 < low && low < high && high < 3 * low));
  }
  const auto refuses = [&](const char* json, auto... parts) {
    return refused(mercer_map_certify(map.get(), rows_of(X, 3), json, nullptr, nullptr, 0, nullptr),
                   "mercer_map_certify", parts...);
  };
  CHECK(refuses(nullptr, "json = NULL") == "");
  CHECK(refuses(R"({"level":1})", "level = 1") == "");
  CHECK(refuses(R"({"rows":8})", "rows = 8") == "");
  CHECK(refuses(R"({"row":80})", "row") == "");
}

TEST_CASE("the median heuristic refuses what has no answer") {
  double l = 77;
  const std::vector<double> constant(12, 1.0);
  const auto median = [&](int64_t n, int64_t columns) {
    return mercer_lengthscale_median(rows_of(constant.data(), n, columns), 10, 0, nullptr, &l);
  };
  CHECK(refused(median(1, 3), "mercer_lengthscale_median", "X.n = 1") == "");
  CHECK(refused(median(4, 3), "median") == "");
  CHECK(refused(median(4, 0), "X.d = 0") == "");
  CHECK(l == 77);
}

TEST_CASE("map constructors refuse bad sizes") {
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

TEST_CASE("supplied frequencies are checked") {
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

TEST_CASE("predicted errors: what is refused") {
  const auto map = sketch(kPolynomial, 3, 8, {});
  const auto X = numbers(4, 3);
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
  CHECK(says(map.get(), rows_of(X.data(), 4, 2), &error, MERCER_DIMENSION_MISMATCH, "X.d = 2",
             "inputs, 3") == "");
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

TEST_CASE("recommendations: what is refused") {
  auto X = numbers(4, 3);
  Slot<mercer_map> slot;
  char answer[16384] = "?";
  const std::string asked = R"({"kernel":{"kernel":"polynomial"},"features":8})";
  const auto says = [&](const std::string& json, const RowsView& rows, mercer_status expected,
                        auto... parts) {
    return slot.fault(mercer_map_recommend(json.c_str(), rows, nullptr, slot.out(), answer,
                                           sizeof answer, nullptr),
                      expected, "mercer_map_recommend: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const auto good = rows_of(X, 3);
  CHECK(says("{}", good, invalid, "kernel", "missing") == "");
  CHECK(says(R"({"kernel":{"kernel":"gaussian"}})", good, invalid, "error", "features") == "");
  CHECK(says(R"({"kernel":{"kernel":"gaussian"},"error":2})", good, invalid, "error = 2") == "");
  CHECK(says(R"({"kernel":{"kernel":"gaussian"},"features":0})", good, invalid, "features = 0") ==
        "");
  CHECK(says(R"({"kernel":{"kernel":"gausian"},"features":8})", good, invalid, "gausian") == "");
  CHECK(says(asked, rows_of(X.data(), 0, 3), invalid, "n = 0") == "");
  CHECK(says(asked, rows_of(X.data(), 4, 0), invalid, "d = 0") == "");
  X[5] = std::nan("");
  CHECK(says(asked, good, invalid, "finite") == "");
  CHECK(refused(mercer_map_recommend(asked.c_str(), good, nullptr, nullptr, answer, 1, nullptr),
                "out = NULL") == "");
  CHECK(std::string(answer) == "?");
}

template <class T, class Apply>
void check_apply_refusals(Apply apply, const mercer_map* map, const char* function) {
  const auto X = numbers<T>(4, 3);
  std::vector<T> Z(64, T{77});
  const auto says = [&](const mercer_map* on, int64_t n, const T* x, int64_t ldx, T* z, int64_t ldz,
                        auto... parts) {
    return refused(apply(on, n, x, ldx, nullptr, z, ldz), function, parts...);
  };
  const T* x = X.data();
  T* z = Z.data();
  CHECK(says(map, -1, x, 3, z, 8, "n = -1") == "");
  CHECK(says(map, 4, nullptr, 3, z, 8, "X = NULL") == "");
  CHECK(says(map, 4, x, 3, nullptr, 8, "Z = NULL") == "");
  CHECK(says(map, 4, x, 2, z, 8, "ldx = 2", "3") == "");
  CHECK(says(map, 4, x, 3, z, 7, "ldz = 7", "8") == "");
  CHECK(says(map, kHuge, x, 3, z, 8, "n = 9223372036854775807") == "");
  CHECK(says(map, 2, x, 3, z, kHuge, "ldz = 9223372036854775807") == "");
  CHECK(says(nullptr, 4, x, 3, z, 8, "map = NULL") == "");
  const auto odd = reinterpret_cast<T*>(reinterpret_cast<char*>(z) + 1);
  CHECK(says(map, 1, x, 3, odd, 8, "Z = ", "alignment") == "");
  CHECK(std::count(Z.begin(), Z.end(), T{77}) == 64);
  CHECK(apply(map, 0, nullptr, 0, nullptr, nullptr, 0) == MERCER_OK);
  const auto running = context();
  mercer_context_cancel(running.get(), 1);
  CHECK(fault(apply(map, 4, x, 3, running.get(), z, 8), MERCER_CANCELLED, function) == "");
}

TEST_CASE("applying a map refuses bad arguments and touches nothing") {
  const auto real = fourier(3, 8);
  check_apply_refusals<float>(mercer_map_apply_f32, real.get(), "mercer_map_apply_f32");
  check_apply_refusals<double>(mercer_map_apply_f64, real.get(), "mercer_map_apply_f64");
}

TEST_CASE("the flat doors refuse complex maps") {
  const auto complex = fourier(3, 8, "complex");
  const auto X = numbers(4, 3);
  std::vector<double> Z(64);
  CHECK(fault(mercer_map_apply_f64(complex.get(), 4, X.data(), 3, nullptr, Z.data(), 8),
              MERCER_UNSUPPORTED, "mercer_map_apply_f64: ", "mercer_map_transform") == "");
}

TEST_CASE("a Z of another type is refused, naming the right one") {
  const auto real = fourier(3, 8), complex = fourier(3, 8, "complex");
  const auto X = numbers<float>(4, 3);
  const auto Y = numbers(4, 3);
  const RowsView rows[] = {rows_of(X, 3), rows_of(Y, 3)};
  const char* const names[] = {"MERCER_NUMBER_F32", "MERCER_NUMBER_F64", "MERCER_NUMBER_C32",
                               "MERCER_NUMBER_C64"};
  std::vector<double> Z(64, 77);
  int32_t right = 0;
  for (const auto* map : {real.get(), complex.get()}) {
    for (const RowsView& x : rows) {
      for (int32_t number = 0; number < 4; ++number) {
        if (number == right) continue;
        const ResultView z = mercer_matrix_of(number, 4, 8, Z.data());
        CHECK(fault(mercer_map_transform(map, x, nullptr, nullptr, z), MERCER_UNSUPPORTED,
                    "mercer_map_transform: Z.number = " + std::string(names[number]),
                    "expected " + std::string(names[right])) == "");
      }
      ++right;
    }
  }
  CHECK(right == 4);
  CHECK(std::count(Z.begin(), Z.end(), 77) == 64);
}

TEST_CASE("column ranges, precision and variances are checked") {
  const auto map = fourier(3, 8);
  const auto X = numbers(4, 3);
  const auto good = rows_of(X, 3);
  std::vector<double> Z(64, 77);
  const auto transform = [&](int64_t begin, int64_t end) {
    return mercer_map_transform(map.get(), good, columns(begin, end), nullptr,
                                result_of(Z.data(), 4, std::max<int64_t>(0, end - begin), 8));
  };
  CHECK(refused(transform(0, 9), "mercer_map_transform", "options->end = 9") == "");
  CHECK(refused(transform(0, -2), "options->end = -2") == "");
  CHECK(refused(transform(-1, 4), "options->begin = -1") == "");
  CHECK(refused(transform(5, 4), "options->begin = 5") == "");
  CHECK(transform(3, 3) == MERCER_OK);
  CHECK(refused(mercer_map_prepare(map.get(), 2, nullptr), "mercer_map_prepare", "number = 2") ==
        "");
  const auto variance = [&](const RowsView& x, const RowsView& y, int32_t which, double* out) {
    return mercer_map_variance(map.get(), x, y, which, nullptr, out);
  };
  double* z = Z.data();
  CHECK(refused(variance(good, rows_of(X.data(), 4, 3, 2), 0, z), "mercer_map_variance: ", "ld = 2",
                "columns of Y") == "");
  CHECK(refused(variance(good, good, 0, nullptr), "variance = NULL") == "");
  CHECK(refused(variance(rows_of(X.data(), -4, 3), good, 1, z), "X.n = -4") == "");
  CHECK(refused(variance(good, good, 3, z), "which = 3") == "");
  CHECK(refused(variance(good, good, -1, z), "which = -1") == "");
  CHECK(refused(variance(rows_of(z, 4, 3), good, 0, z + 1), "variance overlaps X") == "");
  CHECK(fault(variance(good, rows_of(X.data(), 3, 3), 0, z), MERCER_DIMENSION_MISMATCH,
              "Y.n = 3, expected 4 as in X") == "");
  CHECK(fault(variance(rows_of(X.data(), 4, 2), good, 0, z), MERCER_DIMENSION_MISMATCH,
              "X.d = 2") == "");
  CHECK(std::count(Z.begin(), Z.end(), 77) == 64);
}

TEST_CASE("overlapping inputs and outputs are refused, interleaved ones are not") {
  const auto map = fourier(2, 4);
  std::vector<double> buffer = numbers(8, 6);  // rows of 2 inputs and 4 features
  double* const b = buffer.data();
  const auto apply = [&](int64_t n, const double* x, int64_t ldx, double* z, int64_t ldz) {
    const std::string flat = refused(mercer_map_apply_f64(map.get(), n, x, ldx, nullptr, z, ldz),
                                     "mercer_map_apply_f64", "Z overlaps X");
    return flat + refused(mercer_map_transform(map.get(), rows_of(x, n, 2, ldx), nullptr, nullptr,
                                               result_of(z, n, 4, ldz)),
                          "mercer_map_transform", "Z overlaps X");
  };
  CHECK(apply(8, b, 6, b, 6) == "");
  CHECK(apply(8, b, 6, b + 1, 6) == "");
  CHECK(apply(2, b + 4, 2, b, 5) == "");
  const std::vector<double> X = buffer;
  std::vector<double> Z(8 * 4);
  REQUIRE(mercer_map_apply_f64(map.get(), 8, X.data(), 6, nullptr, Z.data(), 4) == MERCER_OK);
  REQUIRE(mercer_map_apply_f64(map.get(), 8, b, 6, nullptr, b + 2, 6) == MERCER_OK);
  const auto same = [&] {
    bool equal = true;
    for (size_t i = 0; i < 8; ++i)
      equal = equal && std::equal(b + 6 * i + 2, b + 6 * i + 6, Z.data() + 4 * i);
    return equal;
  };
  CHECK(same());
  buffer = X;
  REQUIRE(mercer_map_transform(map.get(), rows_of(b, 8, 2, 6), nullptr, nullptr,
                               result_of(b + 2, 8, 4, 6)) == MERCER_OK);
  CHECK(same());
}

}  // namespace map_errors_test
