// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// SRHT with given ingredients against the reference numbers and against the definition of H.
#include "projection/hadamard_blocks.h"
#include "support/dense.h"
#include "support/reference.h"
#include "support/refusal.h"

namespace srht_test {
using namespace mercer;
using namespace mercer::projection;
using test::Reference;

std::vector<double> padded(const Reference& x, size_t n) {
  auto out = x.get<std::vector<double>>();
  out.resize(n, 0.0);
  return out;
}

// The columns of W in plain numbers: P of the rows of the identity.
Matrix<double> columns_of(const Projection& projection) {
  const BlockShape shape = projection.shape(double{});
  const int64_t d = projection.inputs(), D = projection.outputs();
  Context context;
  Matrix<double> W(d, D), P(1, shape.columns), x(1, d);
  AlignedBuffer<double> scratch(shape.scratch);
  const int64_t blocks = (D - 1) / shape.columns + 1;
  projection.prepare({0, blocks}, double{}, context);
  for (int64_t k = 0; k < d; ++k) {
    x.fill(0);
    x(0, k) = 1;
    for (int64_t b = 0; b < blocks; ++b) {
      projection.project(MatrixView<const double>(x.view()), b, P.data(), scratch.data());
      for (int64_t j = b * shape.columns; j < std::min(D, (b + 1) * shape.columns); ++j) {
        W(k, j) = P(0, j - b * shape.columns);
      }
    }
  }
  return W;
}

TEST_CASE("srht: reference numbers, which are TensorSRHT of degree 1 with real signs") {
  int64_t compared = 0;
  for (const Reference& entry : test::oracle("transforms")["tensorsrht"]) {
    if (entry["p"] != 1 || entry["complex"] == true || entry["form"] == "tuple") continue;
    const bool stacked = entry["form"] == "stacked";
    const int64_t n = entry["d"], D = entry["D"];
    REQUIRE(D <= n);  // one block
    const auto size = static_cast<size_t>(n);
    const std::vector<double> x = padded(entry["x"], size);
    const Reference& given = stacked ? entry["permutations"][0][0] : entry["index"][0];
    auto index = given.get<std::vector<int32_t>>();
    index.resize(size, 0);
    const Reference& signs = stacked ? entry["signs"][0][0] : entry["signs"][0];
    std::vector<double> scratch(size), out(size);
    srht_blocks(x.data(), signs.get<std::vector<double>>().data(), index.data(), n, 1,
                scratch.data(), out.data());
    for (int64_t l = 0; l < D; ++l) {
      const double expected = entry["output"][l];
      // Four products of numbers below 2, each rounded at most four times.
      CHECK(std::fabs(out[l] / std::sqrt(static_cast<double>(D)) - expected) <= 1e-14);
      ++compared;
    }
  }
  CHECK(compared == 6);
}

TEST_CASE("srht: every block is rows of H times signs, each row once") {
  for (const int64_t d : {1, 2, 3, 5, 17, 64, 70}) {
    const int64_t n = srht_dimension(d);
    CHECK(n == static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(d))));
    const int64_t D = 2 * n + n / 2 + 1;
    const auto projection = make_srht(d, D, 11);
    const Matrix<double> W = columns_of(*projection);
    CAPTURE(d);
    int64_t not_signs = 0, repeated = 0, not_hadamard = 0;
    for (int64_t first = 0; first < D; first += n) {
      const int64_t last = std::min(first + n, D);
      std::set<std::vector<double>> ratios;
      for (int64_t j = first; j < last; ++j) {
        std::vector<double> ratio;  // of two columns of a block: signs cancel, a row of H remains
        for (int64_t k = 0; k < d; ++k) {
          not_signs += std::fabs(W(k, j)) != 1;
          ratio.push_back(W(k, j) * W(k, first));
        }
        repeated += !ratios.insert(ratio).second && n == d;
        // A character of (Z/2)^m: the value at k is the product of those at the bits of k.
        for (int64_t k = 1; k < d; ++k) {
          const int64_t low = k & -k;
          not_hadamard += ratio[k] != ratio[low] * ratio[k - low] * ratio[0];
        }
      }
    }
    CHECK(not_signs == 0);
    CHECK(repeated == 0);
    CHECK(not_hadamard == 0);
  }
}

TEST_CASE("srht: a map with more features keeps the blocks, blocks differ") {
  const Matrix<double> small = columns_of(*make_srht(20, 40, 5)),
                       large = columns_of(*make_srht(20, 3000, 5));
  CHECK(test::difference(small.view(), large.view().block_cols(0, 40), 0) == "");
  CHECK(test::difference(large.view().block_cols(0, 32), large.view().block_cols(32, 64), 0) != "");
  CHECK(test::difference(small.view(), columns_of(*make_srht(20, 40, 6)).view(), 0) != "");
}

TEST_CASE("srht: too many inputs") {
  const int64_t d = (int64_t{1} << 28) + 1;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_srht(d, 4, 1), "inputs = 268435457", "srht");
}

}  // namespace srht_test
