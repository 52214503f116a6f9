// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sparse rows and linear maps through the C API: every documented error, and that all eight
// functions give what the dense ones give.
#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>

#include "fixture.h"
#include "mercer/mercer.hpp"
#include "support/catch.h"

using namespace mercer::test;

namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

KernelHandle polynomial(int64_t degree = 1, double gamma = 1, double offset = 0) {
  mercer_kernel* kernel = nullptr;
  mercer_kernel_polynomial(degree, gamma, offset, &kernel);
  return KernelHandle(kernel);
}

MapHandle linear(int64_t d, int64_t D, int32_t projection) {
  const mercer_linear_options options = {sizeof options, projection, 5};
  mercer_map* map = nullptr;
  mercer_linear_create(polynomial().get(), d, D, &options, &map);
  return MapHandle(map);
}

// Four rows of three columns: [1 0 2], [0 0 0], [0 -1 0] (from two entries), [4 5 6].
template <class T, class Index>
struct Rows {
  int64_t n = 4, nnz = 7;
  std::vector<Index> offsets{0, 2, 2, 4, 7};
  std::vector<Index> indices{2, 0, 1, 1, 0, 1, 2};
  std::vector<T> values{2, 1, -3, 2, 4, 5, 6};
  std::vector<T> dense{1, 0, 2, 0, 0, 0, 0, -1, 0, 4, 5, 6};
};

template <class T, class Index, class Csr, class Dense>
void check_equal_to_dense(const mercer_map* map, int64_t reals, Csr csr, Dense dense) {
  const Rows<T, Index> X;
  int64_t D = 0;
  REQUIRE(mercer_map_features(map, &D) == MERCER_OK);
  std::vector<T> sparse(static_cast<size_t>(4 * D * reals)), expected(sparse.size());
  REQUIRE(csr(map, X.n, X.nnz, X.offsets.data(), X.indices.data(), X.values.data(), nullptr,
              sparse.data(), D) == MERCER_OK);
  REQUIRE(dense(map, 4, X.dense.data(), 3, expected.data(), D) == MERCER_OK);
  double worst = 0;
  for (size_t i = 0; i < sparse.size(); ++i) {
    worst = std::max(worst,
                     std::fabs(static_cast<double>(sparse[i]) - static_cast<double>(expected[i])));
  }
  // Angles: 8 u sum |x||w| with sum |x| <= 15 and |w| < 8; linear maps the same without sine and
  // cosine.
  const double u = std::numeric_limits<T>::epsilon() / 2;
  CHECK(worst <= 8 * u * 15 * 8 + 8 * u);
  // Offsets need not start at 0: the last two rows alone, bit for bit.
  std::vector<T> tail(static_cast<size_t>(2 * D * reals));
  REQUIRE(csr(map, 2, X.nnz, X.offsets.data() + 2, X.indices.data(), X.values.data(), nullptr,
              tail.data(), D) == MERCER_OK);
  CHECK(std::memcmp(tail.data(), sparse.data() + 2 * D * reals, tail.size() * sizeof(T)) == 0);
}

template <class T, class Index, class Csr>
void check_refusals(const mercer_map* map, const char* function, Csr csr) {
  std::vector<T> Z(64, T{77});
  const auto refused = [&](const auto& change, auto... parts) {
    Rows<T, Index> X;
    change(X);
    return fault(csr(map, X.n, X.nnz, X.offsets.data(), X.indices.data(), X.values.data(), nullptr,
                     Z.data(), 8),
                 MERCER_INVALID_ARGUMENT, function, parts...);
  };
  using R = Rows<T, Index>;
  CHECK(refused([](R& X) { X.n = -1; }, "n = -1") == "");
  CHECK(refused([](R& X) { X.nnz = -7; }, "nnz = -7") == "");
  CHECK(refused([](R& X) { X.n = kHuge; }, "n = 9223372036854775807") == "");
  CHECK(refused([](R& X) { X.n = kHuge / 2; }, "n + 1 = 4611686018427387904") == "");
  CHECK(refused([](R& X) { X.nnz = kHuge; }, "nnz = 9223372036854775807") == "");
  CHECK(refused([](R& X) { X.offsets[0] = -1; }, "offsets[0] = -1", "0 to nnz = 7") == "");
  CHECK(refused([](R& X) { X.offsets[4] = 8; }, "offsets[4] = 8", "nnz = 7") == "");
  CHECK(refused([](R& X) { X.offsets[2] = 1; }, "offsets[2] = 1", "offsets[1] = 2", "row 1") == "");
  CHECK(refused([](R& X) { X.offsets[1] = 6; }, "offsets[2] = 2", "offsets[1] = 6", "row 1") == "");
  CHECK(refused([](R& X) { X.indices[3] = 3; }, "indices[3] = 3", "row 2, entry 1", "0 to 2",
                "d = 3") == "");
  CHECK(refused([](R& X) { X.indices[6] = -1; }, "indices[6] = -1", "row 3, entry 2") == "");
  // The first of several faults.
  CHECK(refused([](R& X) { X.indices = {0, 9, 8, 7, 0, 0, 0}; }, "indices[1] = 9",
                "row 0, entry 1") == "");
  const R X;
  const auto call = [&](const Index* offsets, const Index* indices, const T* values, T* z,
                        int64_t ldz) {
    return fault(csr(map, X.n, X.nnz, offsets, indices, values, nullptr, z, ldz),
                 MERCER_INVALID_ARGUMENT);
  };
  const Index *o = X.offsets.data(), *k = X.indices.data();
  const auto with = [&](const std::string& text, const char* part) {
    return text.empty() ? std::string(mercer_last_error()).find(part) != std::string::npos : false;
  };
  CHECK(with(call(nullptr, k, X.values.data(), Z.data(), 8), "offsets = NULL"));
  CHECK(with(call(o, nullptr, X.values.data(), Z.data(), 8), "indices = NULL"));
  CHECK(with(call(o, k, nullptr, Z.data(), 8), "values = NULL"));
  CHECK(with(call(o, k, X.values.data(), nullptr, 8), "Z = NULL"));
  CHECK(with(call(o, k, X.values.data(), Z.data(), 7), "ldz = 7"));
  const auto odd = reinterpret_cast<const Index*>(reinterpret_cast<const char*>(o) + 1);
  CHECK(with(call(odd, k, X.values.data(), Z.data(), 8), "alignment"));
  CHECK(with(call(o, k, Z.data() + 3, Z.data(), 8), "Z overlaps values"));
  CHECK(std::count(Z.begin(), Z.end(), T{77}) == 64);
  CHECK(fault(csr(nullptr, X.n, X.nnz, o, k, X.values.data(), nullptr, Z.data(), 8),
              MERCER_INVALID_ARGUMENT, "map = NULL") == "");
  CHECK(csr(map, 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr, 0) == MERCER_OK);
}

TEST_CASE("sparse rows give the features of the dense rows", "[capi]") {
  std::vector<MapHandle> maps;
  for (const int32_t p : {MERCER_LINEAR_GAUSSIAN, MERCER_LINEAR_RADEMACHER, MERCER_LINEAR_SRHT,
                          MERCER_LINEAR_COUNTSKETCH}) {
    maps.push_back(linear(3, 8, p));
  }
  maps.push_back(fourier(3, 8));
  maps.push_back(fourier(3, 8, MERCER_FORM_PHASE));
  for (const MapHandle& map : maps) {
    REQUIRE(map != nullptr);
    check_equal_to_dense<float, int32_t>(map.get(), 1, mercer_map_apply_csr32_f32,
                                         mercer_map_apply_f32);
    check_equal_to_dense<float, int64_t>(map.get(), 1, mercer_map_apply_csr64_f32,
                                         mercer_map_apply_f32);
    check_equal_to_dense<double, int32_t>(map.get(), 1, mercer_map_apply_csr32_f64,
                                          mercer_map_apply_f64);
    check_equal_to_dense<double, int64_t>(map.get(), 1, mercer_map_apply_csr64_f64,
                                          mercer_map_apply_f64);
  }
  const auto complex = fourier(3, 8, MERCER_FORM_COMPLEX);
  check_equal_to_dense<float, int32_t>(complex.get(), 2, mercer_map_apply_csr32_c32,
                                       mercer_map_apply_c32);
  check_equal_to_dense<float, int64_t>(complex.get(), 2, mercer_map_apply_csr64_c32,
                                       mercer_map_apply_c32);
  check_equal_to_dense<double, int32_t>(complex.get(), 2, mercer_map_apply_csr32_c64,
                                        mercer_map_apply_c64);
  check_equal_to_dense<double, int64_t>(complex.get(), 2, mercer_map_apply_csr64_c64,
                                        mercer_map_apply_c64);
}

TEST_CASE("sparse rows are checked before any work, and the fault named", "[capi]") {
  const auto real = fourier(3, 8);
  const auto complex = fourier(3, 8, MERCER_FORM_COMPLEX);
  check_refusals<float, int32_t>(real.get(), "mercer_map_apply_csr32_f32",
                                 mercer_map_apply_csr32_f32);
  check_refusals<double, int32_t>(real.get(), "mercer_map_apply_csr32_f64",
                                  mercer_map_apply_csr32_f64);
  check_refusals<float, int64_t>(real.get(), "mercer_map_apply_csr64_f32",
                                 mercer_map_apply_csr64_f32);
  check_refusals<double, int64_t>(real.get(), "mercer_map_apply_csr64_f64",
                                  mercer_map_apply_csr64_f64);
  check_refusals<float, int32_t>(complex.get(), "mercer_map_apply_csr32_c32",
                                 mercer_map_apply_csr32_c32);
  check_refusals<double, int32_t>(complex.get(), "mercer_map_apply_csr32_c64",
                                  mercer_map_apply_csr32_c64);
  check_refusals<float, int64_t>(complex.get(), "mercer_map_apply_csr64_c32",
                                 mercer_map_apply_csr64_c32);
  check_refusals<double, int64_t>(complex.get(), "mercer_map_apply_csr64_c64",
                                  mercer_map_apply_csr64_c64);
}

TEST_CASE("the fault named is the first, whatever the threads", "[capi]") {
  const auto map = linear(10, 4, MERCER_LINEAR_COUNTSKETCH);
  constexpr int64_t n = 300000;
  std::vector<int32_t> offsets(n + 1), indices(n, 3);
  for (int64_t i = 0; i <= n; ++i) offsets[static_cast<size_t>(i)] = static_cast<int32_t>(i);
  std::vector<float> values(n, 1), Z(n * 4);
  const auto apply = [&](mercer_context* context) {
    return mercer_map_apply_csr32_f32(map.get(), n, n, offsets.data(), indices.data(),
                                      values.data(), context, Z.data(), 4);
  };
  for (const int32_t threads : {1, 2, 7}) {
    const auto running = context(threads);
    CHECK(apply(running.get()) == MERCER_OK);
    indices[70000] = 10;
    indices[250000] = -1;
    CHECK(fault(apply(running.get()), MERCER_INVALID_ARGUMENT,
                "indices[70000] = 10 (row 70000, entry 0)") == "");
    indices[70000] = indices[250000] = 0;
    offsets[280000] = -5;
    CHECK(fault(apply(running.get()), MERCER_INVALID_ARGUMENT, "offsets[280000] = -5") == "");
    offsets[280000] = 280000;
  }
}

TEST_CASE("sparse functions of the wrong field name the right one; cancelled calls stop",
          "[capi]") {
  const Rows<float, int32_t> X;
  float Z[64];
  const auto real = fourier(3, 8), complex = fourier(3, 8, MERCER_FORM_COMPLEX);
  const auto apply = [&](auto csr, const MapHandle& map, mercer_context* context) {
    return csr(map.get(), X.n, X.nnz, X.offsets.data(), X.indices.data(), X.values.data(), context,
               Z, 8);
  };
  CHECK(fault(apply(mercer_map_apply_csr32_f32, complex, nullptr), MERCER_UNSUPPORTED, "_c32") ==
        "");
  CHECK(fault(apply(mercer_map_apply_csr32_c32, real, nullptr), MERCER_UNSUPPORTED, "_f32") == "");
  const auto stopped = context(1, 0, [](void*, int64_t, int64_t) -> int32_t { return 1; });
  CHECK(fault(apply(mercer_map_apply_csr32_f32, real, stopped.get()), MERCER_CANCELLED,
              "mercer_map_apply_csr32_f32") == "");
}

template <class U, class T, class Index>
void check_wrapper(const mercer::Map& map) {
  const Rows<T, Index> X;
  mercer::Matrix<U> sparse(4, map.features()), dense(4, map.features());
  map.apply(
      mercer::CsrView<T, Index>{X.n, X.nnz, X.offsets.data(), X.indices.data(), X.values.data()},
      sparse.view());
  map.apply(mercer::MatrixView<const T>(X.dense.data(), 4, 3), dense.view());
  double worst = 0;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < map.features(); ++j)
      worst = std::max<double>(worst, std::abs(sparse(i, j) - dense(i, j)));
  }
  // As above; a complex number has two parts.
  const double u = std::numeric_limits<T>::epsilon() / 2;
  CHECK(worst <= 2 * (8 * u * 15 * 8 + 8 * u));
}

TEST_CASE("the C++ wrapper takes sparse rows of either index and of either number", "[capi]") {
  mercer_linear_options options = mercer::linear_options();
  options.projection = MERCER_LINEAR_SRHT;
  const mercer::Map linear_map =
      mercer::Map::linear(mercer::Kernel::polynomial(1, 0.5, 0), 3, 6, options);
  check_wrapper<float, float, int32_t>(linear_map);
  check_wrapper<double, double, int64_t>(linear_map);
  mercer_fourier_options complex_form = mercer::fourier_options();
  complex_form.form = MERCER_FORM_COMPLEX;
  const mercer::Map complex_map =
      mercer::Map::fourier(mercer::Kernel::gaussian(1.0), 3, 6, complex_form);
  check_wrapper<std::complex<float>, float, int64_t>(complex_map);
  check_wrapper<std::complex<double>, double, int32_t>(complex_map);
  const Rows<float, int32_t> X;
  mercer::Matrix<float> Z(3, 6);
  CHECK_THROWS(linear_map.apply(mercer::CsrView<float, int32_t>{X.n, X.nnz, X.offsets.data(),
                                                                X.indices.data(), X.values.data()},
                                Z.view()));
}

TEST_CASE("linear maps refuse kernels, sizes and options they cannot serve", "[capi]") {
  mercer_map* const before = reinterpret_cast<mercer_map*>(8);
  mercer_map* out = before;
  const auto refused = [&](mercer_status status, mercer_status expected, auto... parts) {
    const std::string text = fault(status, expected, "mercer_linear_create", parts...);
    const bool is_null = out == nullptr;
    out = before;
    return is_null ? text : "handle not NULL";
  };
  const auto plain = polynomial();
  const mercer_linear_options fifth = {sizeof fifth, 4, 0}, short_size = {8, 0, 0};
  CHECK(refused(mercer_linear_create(nullptr, 3, 4, nullptr, &out), MERCER_INVALID_ARGUMENT,
                "kernel = NULL") == "");
  CHECK(refused(mercer_linear_create(plain.get(), 0, 4, nullptr, &out), MERCER_INVALID_ARGUMENT,
                "d = 0") == "");
  CHECK(refused(mercer_linear_create(plain.get(), 3, 0, nullptr, &out), MERCER_INVALID_ARGUMENT,
                "D = 0") == "");
  CHECK(refused(mercer_linear_create(plain.get(), 3, 4, &fifth, &out), MERCER_INVALID_ARGUMENT,
                "options->projection = 4") == "");
  CHECK(refused(mercer_linear_create(plain.get(), 3, 4, &short_size, &out), MERCER_INVALID_ARGUMENT,
                "struct_size = 8") == "");
  CHECK(refused(mercer_linear_create(gaussian().get(), 3, 4, nullptr, &out), MERCER_UNSUPPORTED,
                "gaussian") == "");
  CHECK(refused(mercer_linear_create(polynomial(2).get(), 3, 4, nullptr, &out), MERCER_UNSUPPORTED,
                "degree = 2") == "");
  CHECK(refused(mercer_linear_create(polynomial(1, 1, 3).get(), 3, 4, nullptr, &out),
                MERCER_UNSUPPORTED, "offset = 3") == "");
  const mercer_linear_options srht = {sizeof srht, MERCER_LINEAR_SRHT, 0};
  CHECK(refused(mercer_linear_create(plain.get(), int64_t{1} << 29, 4, &srht, &out),
                MERCER_INVALID_ARGUMENT, "inputs = 536870912") == "");
  const mercer_linear_options sketch = {sizeof sketch, MERCER_LINEAR_COUNTSKETCH, 0};
  CHECK(refused(mercer_linear_create(plain.get(), int64_t{1} << 32, 4, &sketch, &out),
                MERCER_INVALID_ARGUMENT, "inputs = 4294967296") == "");
  CHECK(refused(mercer_linear_create(plain.get(), 3, kHuge, &srht, &out), MERCER_INVALID_ARGUMENT,
                "2147483647") == "");
  CHECK(fault(mercer_linear_create(plain.get(), 3, 4, nullptr, nullptr), MERCER_INVALID_ARGUMENT,
              "out = NULL") == "");
}

TEST_CASE("the polynomial kernel refuses what is outside its domain", "[capi]") {
  mercer_kernel* out = nullptr;
  const auto refused = [&](int64_t degree, double gamma, double offset, const char* part) {
    return fault(mercer_kernel_polynomial(degree, gamma, offset, &out), MERCER_INVALID_ARGUMENT,
                 "mercer_kernel_polynomial", part);
  };
  CHECK(refused(0, 1, 0, "degree = 0") == "");
  CHECK(refused(1025, 1, 0, "degree = 1025") == "");
  CHECK(refused(2, 0, 0, "gamma = 0") == "");
  CHECK(refused(2, std::nan(""), 0, "gamma = nan") == "");
  CHECK(refused(2, 1, -1, "offset = -1") == "");
  CHECK(out == nullptr);
}

}  // namespace
