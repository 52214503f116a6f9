// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Units of targets and of outputs.
#include "model/estimator/loss_search.h"
#include "model/outputs/outputs.h"
#include "model/select/judge.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/matrix_source.h"

namespace target_units_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

TEST_CASE("weighted medians are those of repeated numbers", "[model][units]") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto count = static_cast<int64_t>(1 + seed % 9);
    const Matrix<double> random = random_matrix(count, 2, seed);
    std::vector<WeightedNumber> weighed, repeated;
    for (int64_t i = 0; i < count; ++i) {
      const double value = std::round(4 * random(i, 0)), times = std::ceil(2 + 2 * random(i, 1));
      weighed.push_back({value, times});
      for (int c = 0; c < static_cast<int>(times); ++c) repeated.push_back({value, 1});
    }
    CAPTURE(seed);
    CHECK(median(weighed) == median(repeated));
    CHECK(robust_scale(weighed) == robust_scale(repeated));
  }
  std::vector<WeightedNumber> none, even = {{3, 1}, {1, 1}, {10, 1}, {2, 1}};
  CHECK(median(none) == 0);
  CHECK(median(even) == 2.5);
}

TEST_CASE("units of weighted targets are those of repeated ones", "[model][units]") {
  const double y[] = {0, 1, 7, 30}, weights[] = {1, 2, 3, 0};
  const double repeated[] = {0, 1, 1, 7, 7, 7}, z[] = {1, 1, 1, 1, 1, 1};
  Context context;
  const TargetUnits found = robust_units(
      MatrixSource({z, 4, 1}, {y, 4, 1}, 2, false, {weights, weights + 4}), true, context);
  const TargetUnits expected =
      robust_units(MatrixSource({z, 6, 1}, {repeated, 6, 1}, 2, false), true, context);
  CHECK(found.median[0] == 4);
  CHECK(found.median == expected.median);
  CHECK(found.scale == expected.scale);
}

TEST_CASE("a row with a NaN score is wrong, whichever class it is of", "[loss]") {
  const double code[] = {0, 1, 0};
  for (int64_t k = 0; k < 3; ++k) {
    double scores[] = {0.1, 0.9, 0.2};
    CHECK(margin(scores, code, 3) == 0.9 - 0.2);
    scores[k] = std::nan("");
    CAPTURE(k);
    CHECK(std::isnan(margin(scores, code, 3)));
    CHECK(soft_error(margin(scores, code, 3)) == 1);
  }
}

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

model::OutputMoments moments_of(const Matrix<double>& Y, int64_t o = 0) {
  return model::output_moments(Y.view(), o, {});
}

TEST_CASE("output units: means and deviations are those of the formulas, gaps left out") {
  Matrix<double> Y = random_matrix(50, 2, 1);
  for (int64_t i = 0; i < 50; i += 3) Y(i, 1) = kMissing;
  const model::OutputUnits own = model::output_units(Y.view(), {});
  for (int64_t o = 0; o < 2; ++o) {
    double sum = 0, count = 0, square = 0;
    for (int64_t i = 0; i < 50; ++i)
      if (!std::isnan(Y(i, o))) sum += Y(i, o), ++count;
    for (int64_t i = 0; i < 50; ++i)
      if (!std::isnan(Y(i, o))) square += std::pow(Y(i, o) - sum / count, 2);
    const auto k = static_cast<size_t>(o);
    CHECK(std::abs(own.mean[k] - sum / count) < 1e-14);
    CHECK(std::abs(own.scale[k] - std::sqrt(square / count)) < 1e-14);
  }
}

TEST_CASE("output units: what differs by rounding alone does not vary") {
  for (const int64_t n : {3, 300, 1500, 40000}) {
    const Matrix<double> flat = filled(n, 1, [](int64_t, int64_t) { return 0.1; });
    CHECK((moments_of(flat).mean == 0.1 && moments_of(flat).deviation == 0));
    CHECK(model::output_units(flat.view(), {}).scale[0] == 1);
    const Matrix<double> rounded =
        filled(n, 1, [](int64_t i, int64_t) { return i % 2 ? 1e20 : std::nextafter(1e20, 0); });
    CHECK(moments_of(rounded).deviation == 0);
    Context context;
    const model::OutputUnits units = model::output_units(rounded.view(), {});
    CHECK(largest(in_units(rounded.view(), units, context).view()) < 1e-14);
  }
  const Matrix<double> none = filled(4, 1, [](int64_t, int64_t) { return kMissing; });
  CHECK((moments_of(none).observed == 0 && moments_of(none).deviation == 0));
}

TEST_CASE("output units: no square of a deviation underflows or overflows") {
  const Matrix<double> Y = random_matrix(40, 1, 2);
  const double deviation = moments_of(Y).deviation;
  for (const double by : {1e-170, 1e-300, 1e140}) {
    const Matrix<double> far = filled(40, 1, [&](int64_t i, int64_t) { return by * Y(i, 0); });
    CHECK(std::abs(moments_of(far).deviation / by - deviation) < 1e-13 * deviation);
    CHECK(std::abs(model::output_units(far.view(), {}).scale[0] / by - deviation) <
          1e-13 * deviation);
  }
}

}  // namespace target_units_test
