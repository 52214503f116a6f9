// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels, maps and their files: what goes in by one door comes out by another.
#include <cstring>

#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

std::vector<double> features(const mercer_map* map, int64_t D) {
  const auto X = numbers(7, 3);
  std::vector<double> Z(static_cast<size_t>(7 * D));
  if (mercer_map_apply_f64(map, 7, X.data(), 3, nullptr, Z.data(), D) != MERCER_OK) Z.clear();
  return Z;
}

TEST_CASE("typed constructor, spec and file make the same map", "[capi]") {
  const auto made = fourier(3, 8);
  mercer_map* from_spec = nullptr;
  REQUIRE(mercer_map_from_spec(spec_of(made.get()).c_str(), &from_spec) == MERCER_OK);
  const MapHandle parsed(from_spec);
  const MapHandle loaded = reloaded(made.get());
  REQUIRE(loaded);
  CHECK(spec_of(parsed.get()) == spec_of(made.get()));
  CHECK(spec_of(loaded.get()) == spec_of(made.get()));
  const auto Z = features(made.get(), 8);
  REQUIRE(Z.size() == 56);
  CHECK(features(parsed.get(), 8) == Z);
  CHECK(features(loaded.get(), 8) == Z);
}

TEST_CASE("the variance of a spec changes the amplitude alone", "[capi]") {
  const double x[] = {0.1, 0.2}, y[] = {-0.4, 0.9};
  const auto at = [&](const char* variance) {
    double k = -1;
    const auto matern =
        make_kernel(R"("matern","nu":2.5,"lengthscale":0.7,"variance":)" + std::string(variance));
    REQUIRE(mercer_kernel_gram(matern.get(), rows_of(x, 1, 2), rows_of(y, 1, 2), {}, nullptr,
                               result_of(&k, 1, 1)) == MERCER_OK);
    return k;
  };
  CHECK(at("3") == Approx(3 * at("1")).epsilon(4e-16));
  CHECK(at("1") > 0);
}

TEST_CASE("the bilinear kernel multiplies the inner products of the parts", "[capi]") {
  const auto kernel = bilinear(2);
  CHECK(spec_of(kernel.get()) == R"({"mercer":1,"kernel":"bilinear","left":2,"variance":1})");
  const double X[] = {1, 2, 3}, Y[] = {4, -5, 7};
  double K = 0;
  REQUIRE(mercer_kernel_gram(kernel.get(), rows_of(X, 1, 3), rows_of(Y, 1, 3), {}, nullptr,
                             result_of(&K, 1, 1)) == MERCER_OK);
  CHECK(K == (4 - 10) * 21);
}

TEST_CASE("Gram matrices with and without views have the same bits", "[capi]") {
  const auto kernel = gaussian(0.8);
  const auto X = numbers(6, 5), Y = numbers(4, 3);
  std::vector<double> flat(6 * 4), viewed(6 * 7, -9), x;
  for (size_t i = 0; i < 6; ++i) x.insert(x.end(), X.data() + 5 * i, X.data() + 5 * i + 3);
  REQUIRE(mercer_kernel_gram(kernel.get(), rows_of(x.data(), 6, 3), rows_of(Y.data(), 4, 3), {},
                             nullptr, result_of(flat.data(), 6, 4)) == MERCER_OK);
  REQUIRE(mercer_kernel_gram(kernel.get(), rows_of(X.data(), 6, 3, 5), rows_of(Y, 3), {}, nullptr,
                             result_of(viewed.data(), 6, 4, 7)) == MERCER_OK);
  int64_t wrong = 0;
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = 0; j < 7; ++j) wrong += viewed[7 * i + j] != (j < 4 ? flat[4 * i + j] : -9);
  }
  CHECK(wrong == 0);
}

TEST_CASE("what exists can be asked for", "[capi]") {
  const std::string all = text_of([](auto... buffer) { return mercer_specs(nullptr, buffer...); });
  CHECK(all.find("\"gaussian\"") != std::string::npos);
  CHECK(all.find("\"fourier\"") != std::string::npos);
  const std::string one = text_of([](auto... buffer) { return mercer_specs("matern", buffer...); });
  CHECK(one.find("\"nu\"") != std::string::npos);
  CHECK(one.find("\"laplacian\"") == std::string::npos);
  CHECK(one.find("\"projection\"") == std::string::npos);
}

}  // namespace
