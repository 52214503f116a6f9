// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows streamed in pieces: every number arrives once and nothing beside them is touched, whatever
// the alignment, the leading dimension and the cuts, on every target.
#include "transform/stream_copy.h"

#include "base/aligned.h"
#include "support/catch.h"
#include "support/simd_target.h"

namespace stream_copy_test {
using namespace mercer;
using namespace mercer::transform;

template <class T>
T number(int64_t i, int64_t j) {
  return static_cast<T>(1000 * i + j + 1);
}

// Rows of `width` numbers in pieces that end at the cuts; before each, the line's worth of numbers
// that it may have to carry. Returns the numbers that are wrong.
template <class T>
int64_t faults(int64_t shift, int64_t ld, const std::vector<int64_t>& cuts) {
  constexpr int64_t kRows = 5, kLine = kLineNumbers<T>;
  const int64_t width = cuts.back();
  const AlignedBuffer<T> to(shift + kRows * ld), from(kRows * (kLine + width));
  std::fill(to.begin(), to.end(), T{-1});
  for (size_t piece = 0; piece + 1 < cuts.size(); ++piece) {
    const int64_t j0 = cuts[piece], j1 = cuts[piece + 1];
    std::fill(from.begin(), from.end(), T{-2});  // what no piece may write
    for (int64_t i = 0; i < kRows; ++i)
      for (int64_t j = std::max<int64_t>(0, j0 - kLine); j < j1; ++j)
        from[i * (kLine + width) + kLine + j - j0] = number<T>(i, j);
    stream_piece({from.data() + kLine, kLine + width, to.data() + shift + j0, ld, kRows, j1 - j0,
                  j0, j1 == width});
  }
  finish_streaming();
  int64_t wrong = 0;
  for (int64_t k = 0; k < shift; ++k) wrong += to[k] != -1;
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < ld; ++j)
      wrong += to[shift + i * ld + j] != (j < width ? number<T>(i, j) : T{-1});
  return wrong;
}

template <class T>
std::string check_all() {
  std::string found;
  const std::vector<std::vector<int64_t>> cuts{
      {0, 32, 64, 96}, {0, 3, 35, 67, 70}, {0, 1, 17, 33, 34}, {0, 5}, {0, 16, 17}, {0, 7, 23, 60}};
  for (int64_t shift = 0; shift < kLineNumbers<T> + 2; ++shift) {
    for (const std::vector<int64_t>& own : cuts) {
      for (const int64_t pad : {0, 1, 16, 29}) {
        if (faults<T>(shift, own.back() + pad, own) != 0)
          found += std::to_string(shift) + "+" + std::to_string(own.back() + pad) + " ";
      }
    }
  }
  return found;
}

TEST_CASE(
    "stream_piece: every number once, at any alignment and cut, on every "
    "target") {
  test::on_every_target([] {
    CHECK(check_all<float>() == "");
    CHECK(check_all<double>() == "");
  });
}

}  // namespace stream_copy_test
