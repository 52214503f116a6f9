// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Linear maps, beside the contract: exact Gram matrices of whole blocks, columns that a larger map
// keeps, refusals.
#include "feature/linear.h"

#include "projection/srht.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::feature;
using test::features_of;

namespace {

constexpr LinearProjection kProjections[] = {
    LinearProjection::gaussian, LinearProjection::rademacher, LinearProjection::srht,
    LinearProjection::countsketch, LinearProjection::osnap};
const char* const kNames[] = {"gaussian", "rademacher", "srht", "countsketch", "osnap"};

std::unique_ptr<FeatureMap> map_of(LinearProjection projection, int64_t d, int64_t D, uint64_t seed,
                                   double gamma = 1, double variance = 1) {
  return make_linear(*kernel::make_polynomial(1, gamma, 0, variance), d, D, {projection, seed});
}

double inner(MatrixView<const double> Z) {
  double sum = 0;
  for (int64_t j = 0; j < Z.cols; ++j) sum += Z(0, j) * Z(1, j);
  return sum;
}

}  // namespace

TEST_CASE("linear: Gram of whole SRHT blocks is exact, d = 1 to 70") {
  double worst = 0;
  for (int64_t d = 1; d <= 70; ++d) {
    const Matrix<double> X = test::random_matrix(2, d, static_cast<uint64_t>(d));
    const auto map = map_of(LinearProjection::srht, d, 2 * projection::srht_dimension(d), 3);
    const double k = map->kernel().value(d, X.view().row(0), X.view().row(1));
    const double error = std::fabs(inner(features_of<double>(*map, X.view()).view()) - k);
    // Entries of norm <= sqrt(d) pass log2(128) additions in H each, products are summed over 256
    // columns: 300 u d at most.
    worst = std::max(worst, error / (300 * 0x1p-53 * static_cast<double>(d)));
  }
  CHECK(worst <= 1);
}

TEST_CASE("linear: more features keep the first ones, another seed is another map") {
  const Matrix<double> X = test::random_matrix(5, 9, 3);
  for (const LinearProjection projection : kProjections) {
    // Whose buckets are a function of D.
    if (projection == LinearProjection::countsketch || projection == LinearProjection::osnap)
      continue;
    const Matrix<double> small = features_of<double>(*map_of(projection, 9, 10, 9), X.view());
    const Matrix<double> large = features_of<double>(*map_of(projection, 9, 90, 9), X.view());
    double worst = 0;
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 10; ++j)
        worst = std::max(worst, std::fabs(large(i, j) * 3 - small(i, j)));
    }
    CAPTURE(kNames[static_cast<int>(projection)]);
    CHECK(worst <= 1e-14);  // two roundings of numbers below 10
    CHECK(!test::equal_bytes(small, features_of<double>(*map_of(projection, 9, 10, 10), X.view())));
  }
  for (const LinearProjection sketch : {LinearProjection::countsketch, LinearProjection::osnap}) {
    CHECK(!test::equal_bytes(features_of<double>(*map_of(sketch, 9, 10, 1), X.view()),
                             features_of<double>(*map_of(sketch, 9, 10, 2), X.view())));
  }
}

TEST_CASE("linear: osnap with one non-zero is the countsketch, 4 are the default") {
  const Matrix<double> X = test::random_matrix(5, 9, 3);
  const auto plain = kernel::make_polynomial(1, 1, 0, 1);
  const auto osnap = [&](int64_t D, int64_t nonzeros) {
    return make_linear(*plain, 9, D, {LinearProjection::osnap, 7, nonzeros});
  };
  CHECK(test::equal_bytes(
      features_of<double>(*osnap(10, 1), X.view()),
      features_of<double>(*map_of(LinearProjection::countsketch, 9, 10, 7), X.view())));
  CHECK(osnap(10, 0)->parameters().integer("nonzeros") == 4);
  CHECK(osnap(3, 0)->parameters().integer("nonzeros") == 3);
  CHECK(osnap(10, 10)->parameters().integer("nonzeros") == 10);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, osnap(10, 11), "nonzeros = 11", "1 to 10");
  CHECK_REFUSED(MERCER_UNSUPPORTED, make_linear(*plain, 9, 10, {LinearProjection::srht, 7, 2}),
                "nonzeros = 2 does not apply to projection = srht");
}

TEST_CASE("linear: kernels and sizes it refuses") {
  const auto refused = [](mercer_status status, const kernel::Kernel& kernel, int64_t d, int64_t D,
                          LinearProjection projection, auto... parts) {
    return test::refusal_fault(
        status,
        [&] {
          make_linear(kernel, d, D, {projection, 0});
        },
        parts...);
  };
  const auto plain = kernel::make_polynomial(1, 1, 0, 1);
  for (const LinearProjection p : kProjections) {
    CHECK(refused(MERCER_UNSUPPORTED, *kernel::make_gaussian({1}, 1), 3, 4, p, "gaussian",
                  "degree 1 and offset 0") == "");
    CHECK(refused(MERCER_UNSUPPORTED, *kernel::make_polynomial(2, 1, 0, 1), 3, 4, p, "degree = 2",
                  "degree 1") == "");
    CHECK(refused(MERCER_UNSUPPORTED, *kernel::make_polynomial(1, 1, 0.5, 1), 3, 4, p,
                  "offset = 0.5", "offset 0") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *kernel::make_polynomial(1, 1e200, 0, 1e200), 3, 4, p,
                  "gamma * variance = inf") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 0, 4, p, "d = 0") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 3, 0, p, "features = 0") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 3, INT64_MAX, p, "features", "2147483647") ==
          "");
  }
  CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, int64_t{1} << 29, 4, LinearProjection::srht,
                "inputs = 536870912") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 3, int64_t{1} << 32, LinearProjection::countsketch,
                "features = 4294967296") == "");
}
