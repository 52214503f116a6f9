// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// SORF and Fastfood with given ingredients against the reference numbers; what they refuse.
#include "projection/hadamard_blocks.h"

#include "feature/fourier.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "transform/hadamard.h"

namespace hadamard_blocks_test {
using namespace mercer;
using namespace mercer::projection;
using test::Reference;

std::vector<double> list(const Reference& numbers) { return numbers.get<std::vector<double>>(); }

double worst_difference(const std::vector<double>& a, const Reference& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::fabs(a[i] - b[i].get<double>()));
  return worst;
}

mercer_status status_of(const std::string& projection, const kernel::Kernel& kernel, Radius radius,
                        std::string* message) {
  feature::FourierOptions options;
  options.projection = projection;
  options.radius = radius;
  try {
    feature::make_fourier(kernel, 20, 64, options);
  } catch (const Error& error) {
    *message = error.what();
    return error.status();
  }
  return MERCER_OK;
}

TEST_CASE("structured blocks: reference numbers") {
  for (const Reference& entry : test::oracle("transforms")["structured"]) {
    const int64_t n = entry["d"];
    const auto size = static_cast<size_t>(n);
    const std::vector<double> x = list(entry["x"]), g = list(entry["g"]), s = list(entry["s"]),
                              b = list(entry["b"]);
    const std::vector<int64_t> permutation = entry["perm"].get<std::vector<int64_t>>();
    double squares = 0;
    for (const double value : g) squares += value * value;
    std::vector<double> scale(size), scratch(size), out(size);
    for (size_t i = 0; i < size; ++i) scale[i] = s[i] / std::sqrt(squares * static_cast<double>(n));
    fastfood_blocks(x.data(), b.data(), permutation.data(), g.data(), scale.data(), n, 1,
                    scratch.data(), out.data());
    CHECK(worst_difference(out, entry["fastfood"]) <= 1e-13);
    // The reference lists D1, D2, D3 of H D1 H D2 H D3; blocks take the first applied, D3, first.
    std::vector<double> signs;
    for (int k = 2; k >= 0; --k) {
      const std::vector<double> diagonal = list(entry["sorf_signs"][k]);
      signs.insert(signs.end(), diagonal.begin(), diagonal.end());
    }
    // sqrt(d) (H/sqrt d)^3 = H^3 / d.
    scale.assign(size, 1.0 / static_cast<double>(n));
    sorf_blocks(x.data(), signs.data(), scale.data(), n, 1, out.data());
    CHECK(worst_difference(out, entry["sorf"]) <= 1e-13);
  }
}

TEST_CASE("structured blocks: padding to at least 16, groups of whole panels") {
  CHECK(padded_dimension(1) == 16);
  CHECK(padded_dimension(16) == 16);
  CHECK(padded_dimension(17) == 32);
  CHECK(padded_dimension(1000) == 1024);
  CHECK_THROWS_AS(padded_dimension((int64_t{1} << 28) + 1), Error);
  for (const int64_t padded : {16, 32, 64, 1024, 4096}) {
    for (const int64_t F : {1, 15, 33, 100, 5000}) {
      const int64_t columns = hadamard_groups(padded, F).columns();
      CAPTURE(padded, F, columns);
      CHECK(columns % 32 == 0);
      CHECK(columns <= std::max<int64_t>({1024, padded, 32}));
    }
  }
}

TEST_CASE("structured blocks: laws that are not rotation-invariant are refused by name") {
  std::string message;
  for (const char* projection : {"sorf", "fastfood"}) {
    CAPTURE(projection);
    CHECK(status_of(projection, *kernel::make_laplacian({1.0}, 1.0), Radius::drawn, &message) ==
          MERCER_UNSUPPORTED);
    CHECK(message.find("laplacian") != std::string::npos);
    CHECK(message.find(projection) != std::string::npos);
    CHECK(status_of(projection, *kernel::make_matern(1.5, {1.0}, 1.0), Radius::fixed, &message) ==
          MERCER_UNSUPPORTED);
    CHECK(message.find("radius = fixed") == 0);
    CHECK(status_of(projection, *kernel::make_matern(1.5, {1.0}, 1.0), Radius::drawn, &message) ==
          MERCER_OK);
    CHECK(status_of(projection, *kernel::make_gaussian({1.0}, 1.0), Radius::fixed, &message) ==
          MERCER_OK);
  }
  CHECK(status_of("dense", *kernel::make_gaussian({1.0}, 1.0), Radius::fixed, &message) ==
        MERCER_UNSUPPORTED);
  CHECK(message.find("dense") != std::string::npos);
  CHECK(status_of("dance", *kernel::make_gaussian({1.0}, 1.0), Radius::drawn, &message) ==
        MERCER_INVALID_ARGUMENT);
  CHECK(message.find("sorf") != std::string::npos);
}

}  // namespace hadamard_blocks_test
