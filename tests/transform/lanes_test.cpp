// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Batches with rows as lanes: every lane has the bits that its row alone gets, on every target.
#include "transform/lanes.h"

#include "base/aligned.h"
#include "support/simd_target.h"
#include "transform/elements.h"
#include "transform/hadamard.h"

namespace lanes_test {
using namespace mercer;
using namespace mercer::transform;

template <class T>
AlignedBuffer<T> numbers(int64_t n, uint64_t state) {
  AlignedBuffer<T> out(n);
  for (T& x : out) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<T>(static_cast<double>(static_cast<int64_t>(state)) * 0x1p-62);
  }
  return out;
}

template <class T>
bool same(const T* a, const T* b, int64_t n) {
  return std::memcmp(a, b, static_cast<size_t>(n) * sizeof(T)) == 0;
}

template <class T>
void check_transpose() {
  for (const int64_t rows : {1, 3, 4, 8, 17}) {
    for (const int64_t cols : {0, 1, 2, 7, 8, 33}) {
      const auto in = numbers<T>(rows * (cols + 3), 5);
      const AlignedBuffer<T> out(cols * (rows + 1) + 1);
      std::fill(out.begin(), out.end(), T{7});
      transpose(in.data(), rows, cols, cols + 3, out.data(), rows + 1);
      int64_t wrong = 0;
      for (int64_t j = 0; j < cols; ++j) {
        for (int64_t i = 0; i < rows; ++i)
          wrong += out[j * (rows + 1) + i] != in[i * (cols + 3) + j];
        wrong += out[j * (rows + 1) + rows] != T{7};
      }
      CAPTURE(rows, cols, sizeof(T));
      CHECK(wrong == 0);
    }
  }
}

// Lane i of the elements of a batch, `parts` planes apart.
template <class T>
AlignedBuffer<T> lane(const T* batch, int64_t n, int64_t parts, int64_t part, int64_t i) {
  AlignedBuffer<T> out(n);
  for (int64_t k = 0; k < n; ++k) out[k] = batch[(k * parts + part) * kLanes<T> + i];
  return out;
}

template <class T>
void check_fwht() {
  for (const int64_t parts : {1, 2}) {
    const int64_t width = parts * kLanes<T>;
    for (const int64_t n : {1, 2, 4, 8, 64, 512}) {
      const auto x = numbers<T>(n * width, 9);
      const AlignedBuffer<T> y(n * width), z(n * width);
      std::copy(x.begin(), x.end(), y.begin());
      std::copy(x.begin(), x.end(), z.begin());
      fwht_interleaved(y.data(), n, width);
      if (n >= 8) {
        for (int64_t part = 0; part < 8; ++part)
          fwht_interleaved(z.data() + part * (n / 8) * width, n / 8, width);
        fwht_interleaved_eight(z.data(), n, width);
        CHECK(same(y.data(), z.data(), n * width));
      }
      CAPTURE(n, parts, sizeof(T));
      for (int64_t i = 0; i < width; ++i) {
        const auto one = lane(x.data(), n, parts, i / kLanes<T>, i % kLanes<T>);
        fwht(one.data(), n, 1);
        const auto got = lane(y.data(), n, parts, i / kLanes<T>, i % kLanes<T>);
        REQUIRE(same(one.data(), got.data(), n));
      }
    }
  }
}

template <class T>
void check_multiply() {
  constexpr int64_t n = 37;
  const auto u = numbers<T>(n * kLanes<T>, 1), v = numbers<T>(n * kLanes<T>, 2);
  const auto a = numbers<T>(n, 3), b = numbers<T>(n, 4);
  const AlignedBuffer<T> real(n * kLanes<T>), complex(2 * n * kLanes<T>), both(2 * n * kLanes<T>);
  multiply_lanes(u.data(), static_cast<const T*>(nullptr), Diagonal<T>{a.data(), nullptr}, n,
                 real.data());
  multiply_lanes(u.data(), static_cast<const T*>(nullptr), Diagonal<T>{a.data(), b.data()}, n,
                 complex.data());
  multiply_lanes(u.data(), v.data(), Diagonal<T>{a.data(), b.data()}, n, both.data());
  int64_t wrong = 0;
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i = 0; i < kLanes<T>; ++i) {
      const T x = u[k * kLanes<T> + i], y = v[k * kLanes<T> + i];
      const int64_t at = 2 * k * kLanes<T> + i;
      wrong += real[k * kLanes<T> + i] != a[k] * x;
      wrong += complex[at] != a[k] * x || complex[at + kLanes<T>] != b[k] * x;
      // Signs make these exact; here they are rounded twice.
      wrong += std::abs(both[at] - (a[k] * x - b[k] * y)) > T(1e-6);
      wrong += std::abs(both[at + kLanes<T>] - (a[k] * y + b[k] * x)) > T(1e-6);
    }
  }
  CHECK(wrong == 0);
}

// Against the gathers within a row, for every number of factors that is done in another way.
template <class T>
void check_gather(int64_t factors, int parts) {
  constexpr int64_t d = 16, n = 19, L = kLanes<T>;
  const auto tables = numbers<T>(factors * d * parts * L, 11);
  std::vector<int32_t> index(factors * (n + 2));
  for (size_t k = 0; k < index.size(); ++k) index[k] = static_cast<int32_t>(k * 7 % d);
  const T scale = T(0.3);
  const AlignedBuffer<T> re(n * L), im(n * L);
  gather_lanes({factors, d * parts * L, n + 2, parts}, tables.data(), index.data(), scale, n,
               re.data(), parts == 2 ? im.data() : nullptr);
  CAPTURE(factors, parts, sizeof(T));
  for (int64_t i = 0; i < L; ++i) {
    const AlignedBuffer<T> x(n), y(n);
    for (int64_t f = 0; f < factors; ++f) {
      const T* table = tables.data() + f * d * parts * L;
      const int32_t* k = index.data() + f * (n + 2);
      const auto a = lane(table, d, parts, 0, i);
      const auto b = lane(table, d, parts, parts - 1, i);
      if (f == 0) {
        scale_gathered(a.data(), k, scale, n, x.data());
        scale_gathered(b.data(), k, scale, n, y.data());
      } else if (parts == 1) {
        multiply_gathered(a.data(), k, n, x.data());
      } else {
        multiply_gathered(a.data(), b.data(), k, n, x.data(), y.data());
      }
    }
    REQUIRE(same(x.data(), lane(re.data(), n, 1, 0, i).data(), n));
    if (parts == 2) REQUIRE(same(y.data(), lane(im.data(), n, 1, 0, i).data(), n));
  }
}

TEST_CASE("lanes: transpose, on every target") {
  test::on_every_target_in_both([](auto zero) { check_transpose<decltype(zero)>(); });
}

TEST_CASE("lanes: interleaved Walsh-Hadamard transforms have the bits of single ones") {
  test::on_every_target_in_both([](auto zero) { check_fwht<decltype(zero)>(); });
}

TEST_CASE("lanes: diagonals") {
  test::on_every_target_in_both([](auto zero) { check_multiply<decltype(zero)>(); });
}

TEST_CASE("lanes: gathered products have the bits of those within a row") {
  test::on_every_target([] {
    for (int64_t factors = 1; factors <= 9; ++factors) {
      for (const int parts : {1, 2}) {
        check_gather<float>(factors, parts);
        check_gather<double>(factors, parts);
      }
    }
  });
}

}  // namespace lanes_test
