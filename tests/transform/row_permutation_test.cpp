// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Columns of several rows permuted at once, against number by number, on every target.
#include "transform/row_permutation.h"

#include <type_traits>
#include <vector>

#include "base/aligned.h"
#include "on_every_target.h"
#include "support/catch.h"

using namespace mercer;
using namespace mercer::transform;

TEST_CASE("row permutation: every number arrives where it belongs, and nothing else is touched",
          "[transform]") {
  test::on_every_target_in_both([](auto number) {
    using T = decltype(number);
    using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    constexpr int64_t kRows = kPermutedRows<T>;
    for (const int64_t n : {16, 32, 64, 512}) {
      const int64_t ld_in = n + 5, ld_out = n + 3;
      const AlignedBuffer<T> in(kRows * ld_in), elements(kRows * n), out(kRows * ld_out);
      for (int64_t k = 0; k < kRows * ld_in; ++k) in[k] = static_cast<T>(k + 1);
      std::fill(out.begin(), out.end(), T{-1});
      std::vector<Index> index(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i)
        index[static_cast<size_t>(i)] = static_cast<Index>((i * 37 + 11) % n);
      interleave_rows(in.data(), ld_in, n, elements.data());
      permute_rows(elements.data(), index.data(), n, out.data(), ld_out);
      int64_t wrong = 0;
      for (int64_t r = 0; r < kRows; ++r) {
        for (int64_t i = 0; i < ld_out; ++i) {
          wrong += out[r * ld_out + i] !=
                   (i < n ? in[r * ld_in + index[static_cast<size_t>(i)]] : T{-1});
        }
        for (int64_t k = 0; k < n; ++k) wrong += elements[kRows * k + r] != in[r * ld_in + k];
      }
      CAPTURE(n);
      CHECK(wrong == 0);
    }
  });
}
