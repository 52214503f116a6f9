// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of features and variances of dense rows: nothing is touched.
#include "fixture.h"

using namespace mercer::test;

namespace {

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

TEST_CASE("applying a map refuses bad arguments and touches nothing", "[capi]") {
  const auto real = fourier(3, 8);
  check_apply_refusals<float>(mercer_map_apply_f32, real.get(), "mercer_map_apply_f32");
  check_apply_refusals<double>(mercer_map_apply_f64, real.get(), "mercer_map_apply_f64");
}

TEST_CASE("the flat doors refuse complex maps", "[capi]") {
  const auto complex = fourier(3, 8, "complex");
  const auto X = numbers(4, 3);
  std::vector<double> Z(64);
  CHECK(fault(mercer_map_apply_f64(complex.get(), 4, X.data(), 3, nullptr, Z.data(), 8),
              MERCER_UNSUPPORTED, "mercer_map_apply_f64: ", "mercer_map_transform") == "");
}

TEST_CASE("a Z of another type is refused, naming the right one", "[capi]") {
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

TEST_CASE("column ranges, precision and variances are checked", "[capi]") {
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

TEST_CASE("overlapping inputs and outputs are refused, interleaved ones are not", "[capi]") {
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

}  // namespace
