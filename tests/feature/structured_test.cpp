// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Structured projections under the Fourier map, beside the contract: progress, incomplete blocks,
// columns that a larger map keeps.
#include <cmath>
#include <string>

#include "base/aligned.h"
#include "base/error.h"
#include "feature/fourier.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::feature;

namespace {

struct Case {
  const char* projection;
  projection::Radius radius;
};
const Case kCases[] = {
    {"sorf", projection::Radius::drawn},
    {"sorf", projection::Radius::fixed},
    {"fastfood", projection::Radius::drawn},
    {"fastfood", projection::Radius::fixed},
};

std::unique_ptr<FeatureMap> map_of(const Case& c, const kernel::Kernel& kernel, FourierForm form,
                                   int64_t d, int64_t D, uint64_t seed, bool whole_blocks = false) {
  FourierOptions options;
  options.projection = c.projection;
  options.radius = c.radius;
  options.form = form;
  options.seed = seed;
  options.whole_blocks = whole_blocks;
  return make_fourier(kernel, d, D, options);
}

}  // namespace

TEST_CASE("structured projections: preparing reports progress and can be cancelled") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  for (const Case& c : kCases) {
    const auto map = map_of(c, *kernel, FourierForm::pair, 64, 16384, 1);
    struct Seen {
      int64_t calls = 0, last = 0, total = 0;
      int64_t stop_at = 1 << 30;
    } seen;
    Context context;
    context.user = &seen;
    context.progress = [](void* user, int64_t done, int64_t total) -> int32_t {
      Seen& s = *static_cast<Seen*>(user);
      s.calls += 1;
      s.last = done;
      s.total = total;
      return s.calls >= s.stop_at ? 1 : 0;
    };
    CAPTURE(c.projection);
    seen.stop_at = 2;
    CHECK_THROWS_AS(map->prepare(Precision::f32, context), Error);
    CHECK(seen.calls == 2);
    context.clear_cancelled();
    seen = Seen{};
    map->prepare(Precision::f32, context);
    CHECK(seen.calls >= 8);
    CHECK(seen.last == seen.total);
  }
}

TEST_CASE("structured projections: incomplete blocks are reported and can be rounded away") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const Case& sorf = kCases[0];
  CHECK(map_of(sorf, *kernel, FourierForm::pair, 20, 128, 0)->incomplete_block() == 0);
  CHECK(map_of(sorf, *kernel, FourierForm::pair, 20, 150, 0)->incomplete_block() == 11);
  const auto rounded = map_of(sorf, *kernel, FourierForm::pair, 20, 150, 0, true);
  CHECK(rounded->features() == 128);
  CHECK(rounded->incomplete_block() == 0);
  // Never fewer than one block.
  CHECK(map_of(sorf, *kernel, FourierForm::phase, 20, 5, 0, true)->features() == 32);
  FourierOptions dense;
  dense.whole_blocks = true;
  CHECK_THROWS_AS(make_fourier(*kernel, 20, 64, dense), Error);
}

TEST_CASE("structured projections: whole blocks are kept by a map with more features") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const Matrix<double> X = test::random_matrix(2, 20, 1);
  for (const Case& c : kCases) {
    const auto at = [&](int64_t D) {
      return test::features_of(*map_of(c, *kernel, FourierForm::phase, 20, D, 5), X);
    };
    const Matrix<double> few = at(64), many = at(640);
    double worst = 0;
    for (int64_t j = 0; j < 64; ++j)
      test::keep_worst(worst, std::fabs(many(0, j) * std::sqrt(10.0) - few(0, j)));
    CHECK(worst <= 1e-15);
  }
}
