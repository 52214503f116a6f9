// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/codes.h: the kernel comes back from codes of either precision, dense and sparse; refusals.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "fixture.h"
#include "support/catch.h"

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

// Shares by their series, of values of the exact kernel on a line.
TEST_CASE("codes: sums and products of isotropic kernels come back from the series", "[capi]") {
  constexpr int64_t kTerms = 6000;
  constexpr int32_t kBits = 1 << 30;
  const std::string bell = R"({"kernel":"gaussian","lengthscale":0.7,"variance":0.8})",
                    tail = R"({"kernel":"rational_quadratic","alpha":2.5,"lengthscale":1.6})";
  for (const std::string& spec :
       {R"("sum","parts":[)" + bell + "," + tail + R"(],"variance":1.5)",
        R"("product","parts":[)" + bell + "," + tail + "]",
        R"("sum","parts":[)" + bell + R"(,{"kernel":"product","parts":[)" + tail + "," + bell +
            "]}]"}) {
    INFO(spec);
    const auto kernel = make_kernel(spec);
    for (const double t : {0.3, 0.9, 2.0}) {
      std::vector<double> line(kTerms + 1), k(kTerms + 1);
      for (int64_t m = 0; m <= kTerms; ++m)
        line[static_cast<size_t>(m)] = t * static_cast<double>(m);
      const double origin = 0;
      REQUIRE(mercer_kernel_gram(kernel.get(), rows_of(&origin, 1, 1), rows_of(line, 1), {},
                                 nullptr, result_of(k.data(), 1, kTerms + 1)) == MERCER_OK);
      double sum = 1 / (4.0 * kTerms + 2);  // of the terms behind, where k is 0
      for (int64_t m = kTerms; m >= 1; --m) {
        const auto x = static_cast<double>(m);
        sum += (1 - k[static_cast<size_t>(m)] / k[0]) / (4 * x * x - 1);
      }
      const double share = 8 / (std::numbers::pi * std::numbers::pi) * sum;
      const auto distance = static_cast<int32_t>(std::lround(share * kBits));
      double value = 0;
      REQUIRE(mercer_codes_kernel(kernel.get(), kBits, 1, &distance, &value) == MERCER_OK);
      CHECK(value == Approx(k[1]).epsilon(1e-6));
    }
  }
  // One that is a Gaussian, whose inverse is in closed form.
  const auto product = make_kernel(R"("product","parts":[{"kernel":"gaussian","lengthscale":2},)"
                                   R"({"kernel":"gaussian","lengthscale":3}])"),
             whole = gaussian(1);
  for (int32_t distance = 0; distance <= 1000; distance += 50) {
    double value = 0, expected = 0;
    REQUIRE(mercer_codes_kernel(product.get(), 1000, 1, &distance, &value) == MERCER_OK);
    REQUIRE(mercer_codes_kernel(whole.get(), 1000, 1, &distance, &expected) == MERCER_OK);
    CHECK(std::fabs(value - expected) <= 1e-8);
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
