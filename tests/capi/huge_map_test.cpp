// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A spec is one line, whatever number of columns it asks for: making or loading the map costs
// nothing to speak of, and a slice of columns costs its own columns.
#include "fixture.h"
#include "support/making_cost.h"

namespace huge_map_test {
using namespace mercer::test;

struct Huge {
  const char* map;  // a spec without inputs and features
  int64_t inputs;
  int64_t features;
};

constexpr int64_t kMost = 2147483647, kEven = kMost - 1;
#define POLYNOMIAL R"("kernel":{"kernel":"polynomial","degree":3,"offset":1})"
#define LINEAR R"("kernel":{"kernel":"polynomial","degree":1,"offset":0})"
#define GAUSSIAN R"("kernel":{"kernel":"gaussian"})"

std::vector<Huge> huge_maps() {
  return {
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"dense")", 3, kEven},
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"dense","form":"phase")", 3, kMost},
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"dense","form":"complex")", 3, kMost},
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"dense")", 1000000, kEven},
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"orthogonal")", 3, kEven},
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"sorf","form":"phase")", 3, kMost},
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"sorf")", int64_t{1} << 28, kEven},
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"fastfood")", 100, kEven},
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"circulant")", 3, kEven},
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"sobol")", 1024, 1 << 29},
      {R"("map":"fourier",)" GAUSSIAN R"(,"projection":"halton","form":"phase")", 6542, 1 << 28},
      {R"("map":"linear",)" LINEAR R"(,"projection":"gaussian")", 3, kMost},
      {R"("map":"linear",)" LINEAR R"(,"projection":"rademacher")", 3, kMost},
      {R"("map":"linear",)" LINEAR R"(,"projection":"srht")", 3, kMost},
      {R"("map":"linear",)" LINEAR R"(,"projection":"srht")", int64_t{1} << 28, kMost},
      {R"("map":"linear",)" LINEAR R"(,"projection":"countsketch")", kMost, kMost},
      {R"("map":"exact_polynomial",)" POLYNOMIAL, 280, 3737581},
      {R"("map":"product_sketch",)" POLYNOMIAL, 3, kMost},
      {R"("map":"product_sketch",)" POLYNOMIAL R"(,"kind":"gaussian","field":"complex")", 3, kMost},
      {R"("map":"tensor_sketch",)" POLYNOMIAL, kEven, kMost},
      {R"("map":"tensor_srht",)" POLYNOMIAL R"(,"kind":"upsampled")", 3, kEven},
      {R"("map":"tensor_srht",)" POLYNOMIAL R"(,"kind":"stacked")", 3, kEven},
      {R"("map":"tensor_srht",)" POLYNOMIAL R"(,"kind":"tuple")", 2000, kEven},
      {R"("map":"hierarchical_sketch",)" POLYNOMIAL R"(,"intermediate":300000000)", 3, kEven},
      {R"("map":"hierarchical_sketch",)" POLYNOMIAL
       R"(,"base":{"map":"product_sketch","field":"real"},"intermediate":300000000)",
       3, kMost},
      {R"("map":"hierarchical_sketch","kernel":{"kernel":"polynomial","degree":1024},)"
       R"("base":{"map":"tensor_srht","kind":"stacked"},"intermediate":1000000)",
       3, kEven},
      {R"("map":"craft",)" POLYNOMIAL R"(,"intermediate":200000000)", 3, kMost},
      {R"("map":"craft",)" POLYNOMIAL R"(,"intermediate":2000000000,"projection":"gaussian")", 3,
       kMost},
  };
}

std::string spec_of_size(const Huge& huge) {
  return std::string("{") + huge.map + ",\"inputs\":" + std::to_string(huge.inputs) +
         ",\"features\":" + std::to_string(huge.features) + "}";
}

// Columns [j0, j1) of one row.
std::vector<float> slice(const Huge& huge, const mercer_map* map, mercer_context* context,
                         int64_t j0, int64_t j1, mercer_status* status) {
  const auto X = numbers<float>(1, huge.inputs);
  const int32_t is_complex = info_of(map).is_complex;
  std::vector<float> Z((j1 - j0) * (1 + is_complex), 7.0f);
  *status = mercer_map_transform(map, rows_of(X, huge.inputs), columns(j0, j1), context,
                                 result_of(Z.data(), 1, j1 - j0, -1, is_complex == 1));
  return Z;
}

TEST_CASE("the last columns of a huge map cost what they are") {
  constexpr int64_t kCap = 8 << 20;
  for (const Huge& huge : huge_maps()) {
    const std::string spec = spec_of_size(huge);
    CAPTURE(spec);
    // What is shuffled, hashed or composed as a whole is drawn as a whole.
    const bool whole = spec.find("tensor_sketch") != std::string::npos ||
                       spec.find("exact_polynomial") != std::string::npos ||
                       spec.find("upsampled") != std::string::npos ||
                       spec.find("tuple") != std::string::npos ||
                       spec.find("intermediate") != std::string::npos;
    if (whole || huge.inputs > 10000) continue;
    mercer_map* map = nullptr;
    const mercer_status made = mercer_map_from_spec(spec.c_str(), &map);
    if (made == MERCER_UNSUPPORTED) continue;
    const MapHandle owned(map);
    const int64_t D = huge.features;
    const auto capped = context(1, kCap * std::max<int64_t>(1, huge.inputs / 500));
    mercer_status status = MERCER_OK;
    const auto last = slice(huge, map, capped.get(), D - 40, D, &status);
    CHECK(fault(status, MERCER_OK) == "");
    const auto few = slice(huge, map, capped.get(), D - 3, D, &status);
    CHECK(status == MERCER_OK);
    CHECK(std::equal(few.begin(), few.end(), last.end() - std::ssize(few)));
    CHECK(std::all_of(last.begin(), last.end(), [](float z) { return std::abs(z) < 1; }));
    CHECK(std::any_of(last.begin(), last.end(), [](float z) { return z != 0; }));
  }
}

}  // namespace huge_map_test
