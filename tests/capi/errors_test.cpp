// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of kernels, maps, statistics and ridge: status, and a message that names
// function, argument and value. Handles become NULL and outputs stay untouched.
#include <limits>

#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
const double kNaN = std::nan("");

TEST_CASE("kernel constructors refuse bad parameters and set the handle to NULL", "[capi]") {
  mercer_kernel* const before = reinterpret_cast<mercer_kernel*>(8);
  mercer_kernel* out = before;
  const double good[] = {1, 2};
  const double zero = 0, infinite = INFINITY;
  const auto refused = [&](mercer_status status, auto... parts) {
    const std::string text = fault(status, MERCER_INVALID_ARGUMENT, parts...);
    const bool is_null = out == nullptr;
    out = before;
    return is_null ? text : "handle not NULL";
  };
  CHECK(refused(mercer_kernel_gaussian(&kNaN, 1, &out), "mercer_kernel_gaussian", "lengthscale",
                "nan") == "");
  CHECK(refused(mercer_kernel_gaussian(&zero, 1, &out), "lengthscale", "0") == "");
  CHECK(refused(mercer_kernel_gaussian(nullptr, 1, &out), "lengthscale = NULL") == "");
  CHECK(refused(mercer_kernel_gaussian(good, 0, &out), "count = 0") == "");
  CHECK(refused(mercer_kernel_gaussian(good, -1, &out), "count = -1") == "");
  CHECK(refused(mercer_kernel_gaussian(good, kHuge, &out), "count = 9223372036854775807") == "");
  CHECK(refused(mercer_kernel_laplacian(&infinite, 1, &out), "mercer_kernel_laplacian", "inf") ==
        "");
  CHECK(refused(mercer_kernel_cauchy(&zero, 1, &out), "mercer_kernel_cauchy", "lengthscale") == "");
  CHECK(refused(mercer_kernel_matern(-1, good, 1, &out), "mercer_kernel_matern", "nu = -1") == "");
  CHECK(refused(mercer_kernel_rational_quadratic(kNaN, good, 1, &out),
                "mercer_kernel_rational_quadratic", "alpha = nan") == "");
  CHECK(refused(mercer_kernel_generalized_gaussian_spectrum(0, good, 1, &out),
                "mercer_kernel_generalized_gaussian_spectrum", "order = 0") == "");
  CHECK(refused(mercer_kernel_skewed_chi2(0, &out), "mercer_kernel_skewed_chi2", "c = 0") == "");
  CHECK(refused(mercer_kernel_bilinear(0, &out), "mercer_kernel_bilinear", "left = 0") == "");
  CHECK(refused(mercer_kernel_bilinear(2147483647, &out), "left = 2147483647", "2147483646") == "");
  CHECK(refused(mercer_kernel_with_variance(gaussian().get(), 0, &out),
                "mercer_kernel_with_variance", "variance = 0") == "");
  CHECK(refused(mercer_kernel_with_variance(nullptr, 1, &out), "kernel = NULL") == "");
  CHECK(refused(mercer_kernel_from_spec(nullptr, &out), "mercer_kernel_from_spec", "json = NULL") ==
        "");
  CHECK(refused(mercer_kernel_from_spec("{\"kernel\":\"gaussian\",\"width\":2}", &out), "width") ==
        "");
  CHECK(fault(mercer_kernel_gaussian(good, 1, nullptr), MERCER_INVALID_ARGUMENT, "out = NULL") ==
        "");
  CHECK(fault(mercer_kernel_from_spec("{\"mercer\":9,\"kernel\":\"sign\"}", &out),
              MERCER_NEWER_VERSION, "9") == "");
}

TEST_CASE("Gram matrices refuse bad shapes", "[capi]") {
  const auto kernel = gaussian();
  const auto X = numbers(4, 3);
  double K[16] = {77};
  const auto gram = [&](int64_t d, int64_t n, const double* x, int64_t ldx, double* k,
                        int64_t ldk) {
    return mercer_kernel_gram_f64(kernel.get(), d, n, x, ldx, 4, X.data(), 3, k, ldk);
  };
  const auto refused = [](mercer_status status, const char* part) {
    return fault(status, MERCER_INVALID_ARGUMENT, "mercer_kernel_gram_f64", part);
  };
  CHECK(refused(gram(0, 4, X.data(), 3, K, 4), "d = 0") == "");
  CHECK(refused(gram(3, -1, X.data(), 3, K, 4), "n = -1") == "");
  CHECK(refused(gram(3, 4, nullptr, 3, K, 4), "X = NULL") == "");
  CHECK(refused(gram(3, 4, X.data(), 2, K, 4), "ldx = 2") == "");
  CHECK(refused(gram(3, 4, X.data(), 3, K, 3), "ldk = 3") == "");
  CHECK(refused(gram(3, kHuge / 16, X.data(), 3, K, 4), "n = 576460752303423487") == "");
  CHECK(refused(mercer_kernel_gram_f64(nullptr, 3, 1, X.data(), 3, 1, X.data(), 3, K, 1),
                "kernel = NULL") == "");
  CHECK(K[0] == 77);
  const double ard[] = {1, 2};
  mercer_kernel* two = nullptr;
  REQUIRE(mercer_kernel_gaussian(ard, 2, &two) == MERCER_OK);
  const KernelHandle owned(two);
  CHECK(fault(mercer_kernel_gram_f64(two, 3, 4, X.data(), 3, 4, X.data(), 3, K, 4),
              MERCER_DIMENSION_MISMATCH, "mercer_kernel_gram_f64", "2", "3") == "");
  mercer_kernel* bilinear = nullptr;
  REQUIRE(mercer_kernel_bilinear(3, &bilinear) == MERCER_OK);
  const KernelHandle three(bilinear);
  CHECK(fault(mercer_kernel_gram_f64(bilinear, 3, 4, X.data(), 3, 4, X.data(), 3, K, 4),
              MERCER_DIMENSION_MISMATCH, "mercer_kernel_gram_f64", "d = 3",
              "3 inputs of the left") == "");
  CHECK(K[0] == 77);
}

TEST_CASE("lengthscale conversions refuse what has no answer", "[capi]") {
  double l = 77;
  const auto X = numbers(4, 3);
  const std::vector<double> constant(12, 1.0);
  const auto refused = [](mercer_status status, auto... parts) {
    return fault(status, MERCER_INVALID_ARGUMENT, parts...);
  };
  CHECK(refused(mercer_lengthscale_from_gamma(0, &l), "mercer_lengthscale_from_gamma", "gamma") ==
        "");
  CHECK(refused(mercer_lengthscale_from_gamma(INFINITY, &l), "gamma", "inf") == "");
  CHECK(refused(mercer_lengthscale_from_gamma(1, nullptr), "lengthscale = NULL") == "");
  CHECK(refused(mercer_lengthscale_from_sigma(kNaN, &l), "mercer_lengthscale_from_sigma", "sigma",
                "nan") == "");
  CHECK(refused(mercer_lengthscale_from_scale_f64(4, 3, constant.data(), 3, &l),
                "mercer_lengthscale_from_scale_f64") == "");
  CHECK(refused(mercer_lengthscale_median_f64(1, 3, X.data(), 3, 10, 0, nullptr, &l),
                "mercer_lengthscale_median_f64", "n = 1") == "");
  CHECK(refused(mercer_lengthscale_median_f64(4, 3, X.data(), 3, 0, 0, nullptr, &l),
                "max_pairs = 0") == "");
  CHECK(refused(mercer_lengthscale_median_f64(4, 3, constant.data(), 3, 10, 0, nullptr, &l),
                "median") == "");
  CHECK(l == 77);
}

TEST_CASE("map constructors refuse bad sizes", "[capi]") {
  const auto kernel = gaussian();
  mercer_map* const before = reinterpret_cast<mercer_map*>(8);
  mercer_map* out = before;
  const auto refused = [&](mercer_status status, mercer_status expected, auto... parts) {
    const std::string text = fault(status, expected, parts...);
    const bool is_null = out == nullptr;
    out = before;
    return is_null ? text : "handle not NULL";
  };
  const auto create = [&](int64_t d, int64_t D) {
    return mercer_fourier_create(kernel.get(), d, D, nullptr, &out);
  };
  CHECK(refused(create(0, 8), MERCER_INVALID_ARGUMENT, "mercer_fourier_create", "d = 0") == "");
  CHECK(refused(create(3, 0), MERCER_INVALID_ARGUMENT, "D = 0") == "");
  CHECK(refused(create(3, 7), MERCER_INVALID_ARGUMENT, "7", "even") == "");
  CHECK(refused(create(3, kHuge - 1), MERCER_INVALID_ARGUMENT, "2147483647") == "");
  CHECK(refused(create(kHuge / 2, 8), MERCER_INVALID_ARGUMENT, "2147483647") == "");
  CHECK(refused(mercer_fourier_create(nullptr, 3, 8, nullptr, &out), MERCER_INVALID_ARGUMENT,
                "kernel = NULL") == "");
  CHECK(refused(mercer_map_from_spec("{", &out), MERCER_INVALID_ARGUMENT, "mercer_map_from_spec") ==
        "");
  const double ard[] = {1, 2};
  mercer_kernel* two = nullptr;
  REQUIRE(mercer_kernel_gaussian(ard, 2, &two) == MERCER_OK);
  const KernelHandle owned(two);
  CHECK(refused(mercer_fourier_create(two, 3, 8, nullptr, &out), MERCER_DIMENSION_MISMATCH, "2",
                "3") == "");
}

TEST_CASE("supplied frequencies are checked", "[capi]") {
  const auto kernel = gaussian();
  const auto W = numbers(4, 3);
  const double negative[] = {1, 1, -1, 1};
  mercer_map* out = nullptr;
  const auto refused = [](mercer_status status, auto... parts) {
    return fault(status, MERCER_INVALID_ARGUMENT, parts...);
  };
  const auto supply = [&](int64_t F, const double* w, int64_t ldw, const double* weights) {
    return mercer_fourier_create_supplied(kernel.get(), 3, F, w, ldw, weights, nullptr, &out);
  };
  CHECK(refused(supply(0, W.data(), 3, nullptr), "mercer_fourier_create_supplied", "F = 0") == "");
  CHECK(refused(supply(4, nullptr, 3, nullptr), "frequencies = NULL") == "");
  CHECK(refused(supply(4, W.data(), 2, nullptr), "ldw = 2") == "");
  CHECK(refused(supply(4, W.data(), 3, negative), "weight", "-1") == "");
  const auto ask = [&](mercer_frequency_callback fill) {
    return mercer_fourier_create_callback(kernel.get(), 3, 4, fill, nullptr, nullptr, nullptr,
                                          &out);
  };
  CHECK(refused(ask(nullptr), "mercer_fourier_create_callback", "fill = NULL") == "");
  CHECK(refused(ask([](void*, int64_t, int64_t, double*) -> int32_t { return 9; }),
                "fill returned 9") == "");
  CHECK(out == nullptr);
}

int32_t count_calls(void* user, int64_t, int64_t, double*) {
  ++*static_cast<int*>(user);
  return 0;
}

TEST_CASE("a callback for frequencies is not asked for what will be refused", "[capi]") {
  const auto kernel = gaussian();
  mercer_kernel* other = nullptr;
  REQUIRE(mercer_kernel_polynomial(2, 1, 0, &other) == MERCER_OK);
  const KernelHandle polynomial(other);
  const double negative[] = {1, -1};
  auto fixed = fourier_options();
  fixed.radius = MERCER_RADIUS_FIXED;
  mercer_map* out = nullptr;
  int calls = 0;
  const auto ask = [&](const mercer_kernel* k, int64_t d, int64_t F, const double* weights,
                       const mercer_fourier_options* options) {
    return mercer_fourier_create_callback(k, d, F, count_calls, &calls, weights, options, &out);
  };
  CHECK(fault(ask(polynomial.get(), 3, 2, nullptr, nullptr), MERCER_UNSUPPORTED,
              "mercer_fourier_create_callback", "polynomial") == "");
  CHECK(fault(ask(kernel.get(), 3, int64_t{1} << 31, nullptr, nullptr), MERCER_INVALID_ARGUMENT,
              "F = 2147483648") == "");
  CHECK(fault(ask(kernel.get(), int64_t{1} << 31, 2, nullptr, nullptr), MERCER_INVALID_ARGUMENT,
              "inputs = 2147483648") == "");
  CHECK(fault(ask(kernel.get(), 3, 2, negative, nullptr), MERCER_INVALID_ARGUMENT,
              "weights[1] = -1") == "");
  CHECK(fault(ask(kernel.get(), 3, 2, nullptr, &fixed), MERCER_UNSUPPORTED, "radius") == "");
  CHECK(calls == 0);
  CHECK(ask(kernel.get(), 3, 2, nullptr, nullptr) == MERCER_OK);
  mercer_map_free(out);
  CHECK(calls == 1);
}

template <class T, class Apply>
void check_apply_refusals(Apply apply, const mercer_map* map, const char* function) {
  const auto X = numbers<T>(4, 3);
  std::vector<T> Z(64, T{77});
  const auto refused = [&](mercer_status status, auto... parts) {
    return fault(status, MERCER_INVALID_ARGUMENT, function, parts...);
  };
  CHECK(refused(apply(map, -1, X.data(), 3, Z.data(), 8), "n = -1") == "");
  CHECK(refused(apply(map, 4, nullptr, 3, Z.data(), 8), "X = NULL") == "");
  CHECK(refused(apply(map, 4, X.data(), 3, nullptr, 8), "Z = NULL") == "");
  CHECK(refused(apply(map, 4, X.data(), 2, Z.data(), 8), "ldx = 2", "3") == "");
  CHECK(refused(apply(map, 4, X.data(), 3, Z.data(), 7), "ldz = 7", "8") == "");
  CHECK(refused(apply(map, kHuge, X.data(), 3, Z.data(), 8), "n = 9223372036854775807") == "");
  CHECK(refused(apply(map, 2, X.data(), 3, Z.data(), kHuge), "ldz = 9223372036854775807") == "");
  CHECK(refused(apply(nullptr, 4, X.data(), 3, Z.data(), 8), "map = NULL") == "");
  const auto odd = reinterpret_cast<T*>(reinterpret_cast<char*>(Z.data()) + 1);
  CHECK(refused(apply(map, 1, X.data(), 3, odd, 8), "Z = ", "alignment") == "");
  CHECK(std::count(Z.begin(), Z.end(), T{77}) == 64);
  CHECK(apply(map, 0, nullptr, 0, nullptr, 0) == MERCER_OK);
}

TEST_CASE("applying a map refuses bad arguments and touches nothing", "[capi]") {
  const auto real = fourier(3, 8);
  const auto complex = fourier(3, 8, MERCER_FORM_COMPLEX);
  check_apply_refusals<float>(mercer_map_apply_f32, real.get(), "mercer_map_apply_f32");
  check_apply_refusals<double>(mercer_map_apply_f64, real.get(), "mercer_map_apply_f64");
  check_apply_refusals<float>(mercer_map_apply_c32, complex.get(), "mercer_map_apply_c32");
  check_apply_refusals<double>(mercer_map_apply_c64, complex.get(), "mercer_map_apply_c64");
}

TEST_CASE("real functions refuse complex maps and the reverse, naming the right one", "[capi]") {
  const auto real = fourier(3, 8);
  const auto complex = fourier(3, 8, MERCER_FORM_COMPLEX);
  const auto X = numbers<float>(4, 3);
  const auto Y = numbers(4, 3);
  std::vector<float> Z(64);
  std::vector<double> V(64);
  CHECK(fault(mercer_map_apply_f32(complex.get(), 4, X.data(), 3, Z.data(), 8), MERCER_UNSUPPORTED,
              "_c32") == "");
  CHECK(fault(mercer_map_apply_f64(complex.get(), 4, Y.data(), 3, V.data(), 8), MERCER_UNSUPPORTED,
              "_c64") == "");
  CHECK(fault(mercer_map_apply_c32(real.get(), 4, X.data(), 3, Z.data(), 8), MERCER_UNSUPPORTED,
              "_f32") == "");
  CHECK(fault(mercer_map_apply_c64(real.get(), 4, Y.data(), 3, V.data(), 8), MERCER_UNSUPPORTED,
              "_f64") == "");
}

TEST_CASE("column ranges, precision and variances are checked", "[capi]") {
  const auto map = fourier(3, 8);
  const auto X = numbers(4, 3);
  std::vector<double> Z(64);
  const auto columns = [&](int64_t j0, int64_t j1) {
    return mercer_map_apply_columns_f64(map.get(), j0, j1, 4, X.data(), 3, nullptr, Z.data(), 8);
  };
  const auto refused = [](mercer_status status, auto... parts) {
    return fault(status, MERCER_INVALID_ARGUMENT, parts...);
  };
  CHECK(refused(columns(0, 9), "mercer_map_apply_columns_f64", "j1 = 9") == "");
  CHECK(refused(columns(-1, 4), "j0 = -1") == "");
  CHECK(refused(columns(5, 4), "j0 = 5") == "");
  CHECK(columns(3, 3) == MERCER_OK);
  CHECK(refused(mercer_map_prepare(map.get(), 2, nullptr), "mercer_map_prepare", "precision = 2") ==
        "");
  CHECK(refused(mercer_map_variance_f64(map.get(), 4, X.data(), 3, X.data(), 2, Z.data()),
                "mercer_map_variance_f64", "ldy = 2") == "");
  CHECK(refused(mercer_map_variance_f64(map.get(), 4, X.data(), 3, X.data(), 3, nullptr),
                "variance = NULL") == "");
  CHECK(refused(mercer_map_pseudo_variance_f64(map.get(), -4, X.data(), 3, X.data(), 3, Z.data()),
                "mercer_map_pseudo_variance_f64", "n = -4") == "");
}

TEST_CASE("overlapping inputs and outputs are refused, interleaved ones are not", "[capi]") {
  const auto map = fourier(2, 4);
  std::vector<double> buffer = numbers(8, 6);  // rows of 2 inputs and 4 features
  CHECK(fault(mercer_map_apply_f64(map.get(), 8, buffer.data(), 6, buffer.data(), 6),
              MERCER_INVALID_ARGUMENT, "mercer_map_apply_f64", "Z overlaps X") == "");
  CHECK(fault(mercer_map_apply_f64(map.get(), 8, buffer.data(), 6, buffer.data() + 1, 6),
              MERCER_INVALID_ARGUMENT, "Z overlaps X") == "");
  CHECK(fault(mercer_map_apply_f64(map.get(), 2, buffer.data() + 4, 2, buffer.data(), 5),
              MERCER_INVALID_ARGUMENT, "Z overlaps X") == "");
  const std::vector<double> X = buffer;
  std::vector<double> Z(8 * 4);
  REQUIRE(mercer_map_apply_f64(map.get(), 8, X.data(), 6, Z.data(), 4) == MERCER_OK);
  REQUIRE(mercer_map_apply_f64(map.get(), 8, buffer.data(), 6, buffer.data() + 2, 6) == MERCER_OK);
  bool same = true;
  for (size_t i = 0; i < 8; ++i) {
    for (size_t j = 0; j < 4; ++j) same = same && buffer[6 * i + 2 + j] == Z[4 * i + j];
  }
  CHECK(same);
}

TEST_CASE("statistics refuse bad blocks", "[capi]") {
  mercer_statistics* out = nullptr;
  const auto refused = [](mercer_status status, auto... parts) {
    return fault(status, MERCER_INVALID_ARGUMENT, parts...);
  };
  CHECK(refused(mercer_statistics_create(0, 1, &out), "mercer_statistics_create", "D = 0") == "");
  CHECK(refused(mercer_statistics_create(3, -1, &out), "m = -1") == "");
  CHECK(fault(mercer_statistics_create(kHuge, 1, &out), MERCER_OUT_OF_MEMORY,
              "mercer_statistics_create") == "");
  const auto sums = small_statistics();
  const auto Z = numbers(10, 4);
  CHECK(refused(mercer_statistics_add_f64(sums.get(), 10, Z.data(), 3, Z.data(), 1, nullptr),
                "mercer_statistics_add_f64", "ldz = 3") == "");
  CHECK(refused(mercer_statistics_add_f64(sums.get(), 10, Z.data(), 4, nullptr, 1, nullptr),
                "Y = NULL") == "");
  CHECK(refused(mercer_statistics_remove_f64(sums.get(), -1, Z.data(), 4, Z.data(), 1, nullptr),
                "mercer_statistics_remove_f64", "n = -1") == "");
  const auto wider = small_statistics(10, 5);
  CHECK(fault(mercer_statistics_merge(sums.get(), wider.get()), MERCER_DIMENSION_MISMATCH,
              "mercer_statistics_merge", "4", "5") == "");
  CHECK(fault(mercer_statistics_subtract(sums.get(), wider.get()), MERCER_DIMENSION_MISMATCH,
              "mercer_statistics_subtract") == "");
  double gram[16] = {77};
  CHECK(
      refused(mercer_statistics_get_f64(sums.get(), gram, 3, nullptr, 0, nullptr, nullptr, nullptr),
              "mercer_statistics_get_f64", "ldg = 3") == "");
  CHECK(refused(mercer_statistics_get_f64(sums.get(), gram, 4, gram, 0, nullptr, nullptr, nullptr),
                "ldc = 0") == "");
  CHECK(gram[0] == 77);
}

TEST_CASE("numbers whose squares cannot be summed are refused by row and column", "[capi]") {
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY), 1e200}) {
    const auto sums = small_statistics();
    auto Z = numbers(10, 4), Y = numbers(10, 1);
    const auto refused = [&](const char* what) {
      const std::string added =
          fault(mercer_statistics_add_f64(sums.get(), 10, Z.data(), 4, Y.data(), 1, nullptr),
                MERCER_INVALID_ARGUMENT, "mercer_statistics_add_f64", what);
      const std::string removed =
          fault(mercer_statistics_remove_f64(sums.get(), 10, Z.data(), 4, Y.data(), 1, nullptr),
                MERCER_INVALID_ARGUMENT, "mercer_statistics_remove_f64", what);
      double w[4] = {};
      const std::string dual = fault(mercer_ridge_dual_f64(10, 4, Z.data(), 4, 1, Y.data(), 1, 1,
                                                           1e-3, nullptr, w, 1, nullptr),
                                     MERCER_INVALID_ARGUMENT, "mercer_ridge_dual_f64", what);
      double residuals[10];
      const std::string left =
          fault(mercer_ridge_leave_one_out_f64(small_ridge().get(), 1e-3, 10, Z.data(), 4, Y.data(),
                                               1, residuals, 1),
                MERCER_INVALID_ARGUMENT, "mercer_ridge_leave_one_out_f64", what);
      return added + removed + dual + left;
    };
    Y[6] = bad;
    CHECK(refused("Y: row 6, column 0") == "");
    Y[6] = 0;
    Z[4 * 3 + 2] = bad;
    CHECK(refused("Z: row 3, column 2") == "");
    int64_t rows = 0;
    mercer_statistics_shape(sums.get(), &rows, nullptr, nullptr);
    CHECK(rows == 40);  // nothing was added
  }
}

TEST_CASE("ridge refuses bad lambdas and shapes", "[capi]") {
  const auto ridge = small_ridge();
  const auto refused = [](mercer_status status, auto... parts) {
    return fault(status, MERCER_INVALID_ARGUMENT, parts...);
  };
  double w[4] = {77}, b = 77;
  CHECK(refused(mercer_ridge_solve_f64(ridge.get(), -1, w, 1, &b), "mercer_ridge_solve_f64",
                "lambda = -1") == "");
  CHECK(refused(mercer_ridge_solve_f64(ridge.get(), kNaN, w, 1, &b), "lambda = nan") == "");
  CHECK(refused(mercer_ridge_solve_f64(ridge.get(), 1, w, 0, &b), "ldw = 0") == "");
  int64_t n = 77;
  CHECK(refused(mercer_ridge_shape(nullptr, &n, nullptr, nullptr), "mercer_ridge_shape",
                "ridge = NULL") == "");
  CHECK(n == 77);
  CHECK(refused(mercer_ridge_solve_f64(ridge.get(), 1, nullptr, 1, &b), "w = NULL") == "");
  CHECK(refused(mercer_ridge_solve_f64(ridge.get(), 1, w, 1, w + 2), "w overlaps intercept") == "");
  CHECK(refused(mercer_ridge_effective_dimension(ridge.get(), INFINITY, &b),
                "mercer_ridge_effective_dimension", "lambda = inf") == "");
  CHECK(refused(mercer_ridge_gcv_f64(ridge.get(), 1, nullptr), "mercer_ridge_gcv_f64",
                "gcv = NULL") == "");
  CHECK(refused(mercer_ridge_held_out_error_f64(ridge.get(), 1, nullptr, &b),
                "mercer_ridge_held_out_error_f64", "held_out = NULL") == "");
  CHECK(fault(mercer_ridge_held_out_error_f64(ridge.get(), 1, small_statistics(10, 5).get(), &b),
              MERCER_DIMENSION_MISMATCH, "mercer_ridge_held_out_error_f64") == "");
  CHECK((w[0] == 77 && b == 77));
  mercer_ridge* out = nullptr;
  CHECK(refused(mercer_ridge_create(nullptr, 1, nullptr, &out), "mercer_ridge_create",
                "statistics = NULL") == "");
  mercer_statistics* none = nullptr;
  CHECK(refused(mercer_ridge_create_consuming(&none, 1, nullptr, &out), "*statistics = NULL") ==
        "");
  const auto Z = numbers(10, 4);
  CHECK(refused(mercer_ridge_dual_f64(10, 4, Z.data(), 4, 1, Z.data(), 1, 1, 1, nullptr,
                                      const_cast<double*>(&Z[4]), 1, nullptr),
                "mercer_ridge_dual_f64", "w overlaps") == "");
  const mercer_statistics* folds[] = {nullptr, nullptr};
  CHECK(refused(mercer_ridge_kfold_f64(2, folds, 1, 1, &b, nullptr, w, 1), "mercer_ridge_kfold_f64",
                "folds[0] = NULL") == "");
  CHECK(refused(mercer_ridge_kfold_f64(1, folds, 1, 1, &b, nullptr, w, 1), "fold_count = 1") == "");
}

}  // namespace
