// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Hashing keeps squared distances in the mean, with the variance of signed random buckets; rows
// prepared sparse and dense are the same.
#include "model/prepare/hashing.h"

#include <cmath>
#include <vector>

#include "model/prepare/row_coding.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/sparse.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

TEST_CASE("hashed rows keep squared norms: mean and variance of the closed form", "[model]") {
  // |Sx|^2 = |x|^2 + 2 sum_{j<k} s_j s_k [h_j = h_k] x_j x_k: unbiased, its variance
  // 2 (|x|^4 - sum_j x_j^4) / m for pairwise independent signs and buckets.
  constexpr int64_t kCount = 30, kBuckets = 64, kSeeds = 4000;
  std::vector<double> x;
  double squares = 0, fourth = 0;
  for (int64_t j = 0; j < kCount; ++j) {
    x.push_back(1 + 0.1 * static_cast<double>(j % 7));
    squares += x.back() * x.back();
    fourth += std::pow(x.back(), 4);
  }
  const double variance = 2 * (squares * squares - fourth) / kBuckets;
  double sum = 0, spread = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Hashing hashing{100000, kBuckets, seed};
    std::vector<double> to(kBuckets, 0.0);
    for (int64_t j = 0; j < kCount; ++j) {
      const Hashing::Place place = hashing.of(977 * j);
      REQUIRE((place.bucket >= 0 && place.bucket < kBuckets));
      to[static_cast<size_t>(place.bucket)] += place.sign * x[static_cast<size_t>(j)];
    }
    double norm = 0;
    for (const double t : to) norm += t * t;
    sum += norm - squares;
    spread += (norm - squares) * (norm - squares);
  }
  // Six standard errors; the fourth moment of the deviation is taken for 15 times variance^2 at
  // most (30 rows share 64 buckets).
  CHECK(std::abs(sum / kSeeds) < 6 * std::sqrt(variance / kSeeds));
  CHECK(std::abs(spread / kSeeds - variance) < 6 * variance * std::sqrt(14.0 / kSeeds));
}

TEST_CASE("hashed rows are the same sparse and dense, in units of norms, too", "[model]") {
  const auto rows = sparse_rows<double>(40, 50, 6, 7);
  for (const double norm : {0.0, 1.0}) {
    Preparation by{std::vector<double>(50, 0.0), std::vector<double>(50, 2.0)};
    by.row_norm = norm;
    by.hashing = {50, 16, 3};
    CHECK(by.prepared(50) == 16);
    CHECK(by.inputs_of(16) == 50);
    std::vector<double> sums(50, 0.0);
    for (int64_t i = 0; i < 40; ++i) {
      std::vector<double> dense(50, 0.0), listed(16, 0.0), from_dense(16), from_sparse(16);
      add_row(rows.view(), i, dense.data());
      const MatrixView<const double> one{dense.data(), 1, 50, 50};
      for_each_prepared(by, rows.view(), i, sums.data(),
                        [&](int64_t j, double t) { listed[static_cast<size_t>(j)] += t; });
      prepare_row(by, one, 0, sums.data(), from_dense.data());
      prepare_row(by, rows.view(), i, sums.data(), from_sparse.data());
      for (size_t j = 0; j < 16; ++j) {
        CHECK(std::abs(listed[j] - from_dense[j]) < 1e-14);
        CHECK(std::abs(from_sparse[j] - from_dense[j]) < 1e-14);
      }
    }
  }
}
