// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A seed and a spec mean the same map whatever rounding mode the process is in, and the mode stays
// as it was.
#include <cfenv>

#include "fixture.h"

namespace rounding_test {
using namespace mercer::test;

constexpr int64_t n = 30, d = 5, D = 96;
constexpr int kModes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/// Runs body() under a rounding mode; false if it came back with another.
template <class Body>
bool under(int mode, const Body& body) {
  std::fesetround(mode);
  body();
  const bool kept = std::fegetround() == mode;
  std::fesetround(FE_TONEAREST);
  return kept;
}

std::vector<double> features_of(const mercer_map* map) {
  const auto X = numbers(n, d);
  std::vector<double> Z(n * D);
  if (mercer_map_apply_f64(map, n, X.data(), d, nullptr, Z.data(), D) != MERCER_OK) Z.clear();
  return Z;
}

bool same_bytes(const std::vector<double>& a, const std::vector<double>& b) {
  return !a.empty() && a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

MapHandle prepared(const std::string& spec) {
  mercer_map* map = nullptr;
  if (mercer_map_from_spec(spec.c_str(), &map) == MERCER_OK)
    mercer_map_prepare(map, MERCER_NUMBER_F64, nullptr);
  return MapHandle(map);
}

std::vector<std::string> all_specs() {
  std::vector<std::string> specs;
  const std::string sizes = R"(,"inputs":5,"features":96,"seed":3)";
  for (const char* kernel : {"gaussian", "matern", "laplacian", "rational_quadratic", "cauchy",
                             "generalized_gaussian_spectrum"}) {
    const std::string own = R"({"map":"fourier","kernel":{"kernel":")" + std::string(kernel) +
                            R"(","lengthscale":0.7})";
    for (const char* projection :
         {"dense", "orthogonal", "sorf", "fastfood", "sobol", "halton", "circulant"}) {
      for (const char* form : {"pair", "phase"}) {
        specs.push_back(own + sizes + R"(,"projection":")" + projection + R"(","form":")" + form +
                        "\"}");
      }
    }
  }
  const std::string polynomial =
      R"("kernel":{"kernel":"polynomial","degree":3,"gamma":0.3,"offset":0.7})";
  for (const char* map :
       {R"("product_sketch","kind":"gaussian")", R"("tensor_sketch")", R"("tensor_srht")",
        R"("hierarchical_sketch")", R"("craft","projection":"gaussian")"}) {
    specs.push_back(R"({"map":)" + std::string(map) + "," + polynomial + sizes + "}");
  }
  for (const char* projection : {"gaussian", "srht", "countsketch"}) {
    specs.push_back(
        R"({"map":"linear","kernel":{"kernel":"polynomial","degree":1,"gamma":0.3,"offset":0})" +
        sizes + R"(,"projection":")" + projection + "\"}");
  }
  return specs;
}

TEST_CASE("maps made and prepared under another rounding mode have the same bits") {
  for (const std::string& spec : all_specs()) {
    CAPTURE(spec);
    const MapHandle nearest = prepared(spec);
    if (nearest == nullptr) {
      mercer_map* none = nullptr;  // a kernel that the projection does not serve, and nothing else
      REQUIRE(mercer_map_from_spec(spec.c_str(), &none) == MERCER_UNSUPPORTED);
      continue;
    }
    const auto expected = features_of(nearest.get());
    for (const int mode : kModes) {
      MapHandle map;
      CHECK(under(mode, [&] { map = prepared(spec); }));
      REQUIRE(map != nullptr);
      CHECK(same_bytes(features_of(map.get()), expected));
    }
  }
}

/// Every mode makes the same map.
template <class Make>
void check_modes(const Make& make) {
  const auto expected = features_of(make().get());
  for (const int mode : kModes) {
    MapHandle map;
    CHECK(under(mode, [&] { map = make(); }));
    CHECK(same_bytes(features_of(map.get()), expected));
  }
}

TEST_CASE("a map made from rows under another rounding mode has the same bits") {
  const auto X = numbers(n, d);
  const auto made = [&] {
    mercer_map* map = nullptr;
    fit_map(
        R"({"map":"nystroem","kernel":{"kernel":"gaussian"},"inputs":5,"features":20,"seed":3})",
        rows_of(X, d), {}, nullptr, &map);
    return MapHandle(map);
  };
  check_modes(made);
}

TEST_CASE("kernels and maps of typed constructors, too") {
  const auto make = [&] {
    const auto kernel = make_kernel(R"("matern","nu":2.3,"lengthscale":0.7)");
    mercer_map* map = nullptr;
    make_fourier(kernel.get(), d, D, form_key("phase"), &map);
    mercer_map_prepare(map, MERCER_NUMBER_F64, nullptr);
    return MapHandle(map);
  };
  check_modes(make);
}

}  // namespace rounding_test
