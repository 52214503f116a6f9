// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/codes.h: the kernel comes back from codes of either precision, dense and sparse; refusals.
#include "fixture.h"

using namespace mercer::test;

namespace {

constexpr int64_t n = 12, d = 3, D = 20000, words = 313;

MapHandle phase_map(const mercer_kernel* kernel, int64_t features = D) {
  mercer_map* map = nullptr;
  make_fourier(kernel, d, features, form_key("phase"), &map);
  return MapHandle(map);
}

std::vector<uint64_t> codes_of(const mercer_map* map, const RowsView& X) {
  std::vector<uint64_t> codes(static_cast<size_t>(n * words));
  CHECK(mercer_map_codes(map, X, words, nullptr, codes.data()) == MERCER_OK);
  return codes;
}

}  // namespace

// A share h of D bits has the deviation sqrt(h(1 - h)/D): of two rows the kernel value of the share
// seen lies between those of shares five deviations away, but for one of 2e6 pairs.
TEST_CASE("codes give kernels that fall with a norm back, from rows of either precision",
          "[capi]") {
  const auto x = numbers(n, d);
  const std::vector<float> x32(x.begin(), x.end());
  for (const char* spec :
       {R"("gaussian","lengthscale":1.4,"variance":2)",
        R"("laplacian","lengthscale":[1.4,2,0.7],"variance":2)",
        R"("matern","nu":0.5,"variance":2)", R"("matern","nu":2.5,"lengthscale":0.8,"variance":2)",
        R"("rational_quadratic","alpha":0.6,"variance":2)",
        R"("generalized_gaussian_spectrum","order":1,"variance":2)",
        R"("sum","parts":[{"kernel":"gaussian","lengthscale":0.6},{"kernel":"matern","nu":1.5}])",
        R"("product","parts":[{"kernel":"rational_quadratic","lengthscale":1.2},)"
        R"({"kernel":"gaussian","lengthscale":1.7}],"variance":2)"}) {
    INFO(spec);
    const auto kernel = make_kernel(spec);
    const auto map = phase_map(kernel.get());
    std::vector<double> K(n * n);
    REQUIRE(mercer_kernel_gram(kernel.get(), rows_of(x, d), rows_of(x, d), {}, nullptr,
                               result_of(K.data(), n, n)) == MERCER_OK);
    for (const auto& codes :
         {codes_of(map.get(), rows_of(x, d)), codes_of(map.get(), rows_of(x32, d))}) {
      std::vector<int32_t> distances(n * n), near(n * n), far(n * n);
      std::vector<double> most(n * n), least(n * n), values(n * n);
      REQUIRE(mercer_codes_hamming(words, n, codes.data(), n, codes.data(), nullptr,
                                   distances.data()) == MERCER_OK);
      for (size_t i = 0; i < distances.size(); ++i) {
        const double h = distances[i] / double{D};
        const auto bits = static_cast<int32_t>(std::ceil(5 * std::sqrt(h * (1 - h) * double{D})));
        near[i] = std::max(0, distances[i] - bits);
        far[i] = std::min(static_cast<int32_t>(D), distances[i] + bits);
      }
      const auto kernel_of = [&](const std::vector<int32_t>& of, std::vector<double>& out) {
        REQUIRE(mercer_codes_kernel(kernel.get(), D, n * n, of.data(), out.data()) == MERCER_OK);
      };
      kernel_of(distances, values);
      kernel_of(near, most);
      kernel_of(far, least);
      for (size_t i = 0; i < K.size(); ++i) {
        CHECK(least[i] <= K[i] + 1e-12);
        CHECK(K[i] <= most[i] + 1e-12);
        CHECK(most[i] - least[i] < 0.7);  // slope by k/k(0) at least 0.27, ten deviations of 0.0035
      }
      for (size_t i = 0; i < n; ++i) CHECK(values[i * n + i] == 2);
    }
  }
}

TEST_CASE("codes: arguments that are refused", "[capi]") {
  const auto kernel = gaussian();
  const auto map = phase_map(kernel.get());
  auto x = numbers(n, d);
  std::vector<uint64_t> codes(static_cast<size_t>(n * words));
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
