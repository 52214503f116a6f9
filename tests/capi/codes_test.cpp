// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Codes and their kernels; fast Walsh-Hadamard transforms.
#include "fixture.h"

namespace codes_test {
using namespace mercer::test;

constexpr int64_t n = 12, d = 3, D = 20000, words = 313;

MapHandle phase_map(const mercer_kernel* kernel, int64_t features = D) {
  mercer_map* map = nullptr;
  make_fourier(kernel, d, features, form_key("phase"), &map);
  return MapHandle(map);
}

std::vector<uint64_t> codes_of(const mercer_map* map, const RowsView& X) {
  std::vector<uint64_t> codes(n * words);
  CHECK(mercer_map_codes(map, X, words, nullptr, codes.data()) == MERCER_OK);
  return codes;
}

// Of 20,000 bits a share has a deviation below 0.0036, which slopes of at most 4 make 0.015 of k.
TEST_CASE("codes give a kernel that falls with a norm back, from rows of either precision") {
  const auto x = numbers(n, d);
  const std::vector<float> x32(x.begin(), x.end());
  const auto kernel = make_kernel(R"("matern","nu":2.5,"lengthscale":0.8,"variance":2)");
  const auto map = phase_map(kernel.get());
  std::vector<double> K(n * n), values(n * n);
  REQUIRE(mercer_kernel_gram(kernel.get(), rows_of(x, d), rows_of(x, d), {}, nullptr,
                             result_of(K.data(), n, n)) == MERCER_OK);
  for (const RowsView& rows : {rows_of(x, d), rows_of(x32, d)}) {
    const auto codes = codes_of(map.get(), rows);
    std::vector<int32_t> distances(n * n);
    REQUIRE(mercer_codes_hamming(words, n, codes.data(), n, codes.data(), nullptr,
                                 distances.data()) == MERCER_OK);
    REQUIRE(mercer_codes_kernel(kernel.get(), D, n * n, distances.data(), values.data()) ==
            MERCER_OK);
    for (size_t i = 0; i < K.size(); ++i) CHECK(std::abs(values[i] - K[i]) < 5 * 0.015 * 2);
    for (size_t i = 0; i < n; ++i) CHECK(values[i * n + i] == 2);
  }
}

TEST_CASE("codes: arguments that are refused") {
  const auto kernel = gaussian();
  const auto map = phase_map(kernel.get());
  auto x = numbers(n, d);
  std::vector<uint64_t> codes(n * words);
  const auto make = [&](int64_t count, uint64_t* out) {
    return mercer_map_codes(map.get(), rows_of(x, d), count, nullptr, out);
  };
  CHECK(fault(make(words - 1, codes.data()), MERCER_DIMENSION_MISMATCH, "words = 312",
              "expected 313") == "");
  CHECK(refused(make(words, nullptr), "codes = NULL") == "");
  CHECK(refused(make(words, reinterpret_cast<uint64_t*>(x.data())), "overlap") == "");
  CHECK(refused(mercer_map_codes(nullptr, rows_of(x, d), words, nullptr, codes.data()),
                "map = NULL") == "");
  x[4 * d + 1] = NAN;
  CHECK(refused(make(words, codes.data()), "row 4, column 1", "nan") == "");
  const auto pairs = make_map(R"("fourier","kernel":{"kernel":"gaussian"})", d, 64);
  CHECK(fault(mercer_map_codes(pairs.get(), rows_of(x, d), 1, nullptr, codes.data()),
              MERCER_UNSUPPORTED, "form = phase") == "");

  std::vector<int32_t> distances(n * n, 5);
  const auto hamming = [&](int64_t count, int64_t rows, const uint64_t* a, int32_t* out) {
    return mercer_codes_hamming(count, rows, a, 1, codes.data(), nullptr, out);
  };
  CHECK(refused(hamming(0, 1, codes.data(), distances.data()), "words = 0") == "");
  CHECK(refused(hamming(int64_t{1} << 40, 1, codes.data(), distances.data()), "words = ") == "");
  CHECK(refused(hamming(1, -1, codes.data(), distances.data()), "n = -1") == "");
  CHECK(refused(hamming(1, 1, nullptr, distances.data()), "A = NULL") == "");
  CHECK(refused(hamming(1, 1, codes.data(), nullptr), "distances = NULL") == "");
  CHECK(refused(hamming(1, 1, codes.data(), reinterpret_cast<int32_t*>(codes.data())), "overlap") ==
        "");
  CHECK(hamming(1, 0, nullptr, nullptr) == MERCER_OK);

  std::vector<double> values(n * n);
  const auto value = [&](const mercer_kernel* of, int64_t bits, int64_t count) {
    return mercer_codes_kernel(of, bits, count, distances.data(), values.data());
  };
  CHECK(refused(value(kernel.get(), 0, 1), "bits = 0") == "");
  CHECK(refused(value(kernel.get(), 4, 3), "distances[0] = 5", "0 to bits = 4") == "");
  distances[2] = -1;
  CHECK(refused(value(kernel.get(), 9, 3), "distances[2] = -1") == "");
  CHECK(refused(value(kernel.get(), 9, -1), "count = -1") == "");
  for (const char* other :
       {R"("cauchy")", R"("polynomial")", R"("generalized_gaussian_spectrum")",
        R"("sum","parts":[{"kernel":"laplacian"},{"kernel":"gaussian"}])",
        R"("product","parts":[{"kernel":"gaussian","lengthscale":[1,2,1]},{"kernel":"gaussian"}])"})
    CHECK(fault(value(make_kernel(other).get(), 9, 1), MERCER_UNSUPPORTED,
                "expected one that falls with a norm") == "");
}

template <class T>
std::vector<T> integers(int64_t rows, int64_t ld) {
  std::vector<T> X(rows * ld);
  for (size_t i = 0; i < X.size(); ++i)
    X[i] = static_cast<T>(static_cast<double>(i * i % 101) - 50);
  return X;
}

template <class T>
void check_twice(int64_t n) {
  std::vector<T> X = integers<T>(70, n + 3);
  const std::vector<T> before = X;
  const auto view = result_of(X.data(), 70, n, n + 3);
  REQUIRE(mercer_fwht(view, nullptr) == MERCER_OK);
  REQUIRE(mercer_fwht(view, nullptr) == MERCER_OK);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 70; ++i) {
    for (int64_t j = 0; j < n + 3; ++j) {
      const auto at = static_cast<size_t>(i * (n + 3) + j);
      wrong += X[at] != (j < n ? static_cast<T>(n) * before[at] : before[at]);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("fwht: small integers are exact, twice is n times, gaps are left alone") {
  for (const int64_t n : {1, 2, 8, 64, 1024}) {
    check_twice<double>(n);               // entries stay below 2^53: every addition is exact
    if (n <= 256) check_twice<float>(n);  // 50 n^2 < 2^24
  }
}

TEST_CASE("fwht: threads give the same bytes") {
  std::vector<double> once = integers<double>(3000, 64), twice = once;
  CHECK(mercer_fwht(result_of(once, 64), nullptr) == MERCER_OK);
  CHECK(mercer_fwht(result_of(twice, 64), context(7).get()) == MERCER_OK);
  CHECK(std::memcmp(once.data(), twice.data(), once.size() * sizeof(double)) == 0);
}

TEST_CASE("fwht: bad sizes are named") {
  float X[4] = {77, 0, 0, 0};
  const auto says = [](const mercer_matrix& matrix, auto... parts) {
    return refused(mercer_fwht(matrix, nullptr), "mercer_fwht: ", parts...);
  };
  CHECK(says(result_of(X, 1, 3), "X.cols = 3, expected a power of two") == "");
  CHECK(says(result_of(X, 1, 0, 3), "X.cols = 0") == "");
  CHECK(says(result_of(X, 1, -4), "X.cols = -4") == "");
  CHECK(says(result_of(X, 1, 4, 2), "X.ld = 2") == "");
  CHECK(says(result_of(X, -1, 4), "X.rows = -1") == "");
  CHECK(says(result_of<float>(nullptr, 1, 4), "X.data = NULL") == "");
  CHECK(says(result_of(X, 1, 2, -1, true), "X.number = 2") == "");
  CHECK(says(result_of(X, kHuge / 2, 4), "X.rows = 4611686018427387903") == "");
  CHECK(says(mercer_matrix{}, "X is missing, expected a matrix") == "");
  CHECK(X[0] == 77);
  CHECK(mercer_fwht(result_of<float>(nullptr, 0, 4), nullptr) == MERCER_OK);
  const auto running = context();
  mercer_context_cancel(running.get(), 1);
  CHECK(fault(mercer_fwht(result_of(X, 1, 4), running.get()), MERCER_CANCELLED, "mercer_fwht") ==
        "");
}

}  // namespace codes_test
