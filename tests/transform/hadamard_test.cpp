// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The Walsh-Hadamard transform against a scalar twin, bit for bit, on every target; algebra;
// reference numbers.
#include "transform/hadamard.h"

#include "base/aligned.h"
#include "support/reference.h"
#include "support/simd_target.h"

namespace hadamard_test {
using namespace mercer;
using namespace mercer::transform;

template <class T>
std::vector<T> numbers(int64_t n, uint64_t state) {
  std::vector<T> out(n);
  for (T& x : out) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<T>(static_cast<double>(static_cast<int64_t>(state)) * 0x1p-62);
  }
  return out;
}

// Stages h = 1, 2, 4, ...: the order of additions that every target keeps.
template <class T>
void scalar_twin(T* x, int64_t n) {
  for (int64_t h = 1; h < n; h *= 2) {
    for (int64_t i = 0; i < n; ++i) {
      if ((i & h) != 0) continue;
      const T a = x[i], b = x[i + h];
      x[i] = a + b;
      x[i + h] = a - b;
    }
  }
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
void check_bits(int64_t n, int64_t count) {
  std::vector<T> x = numbers<T>(n * count, static_cast<uint64_t>(n + count));
  std::vector<T> expected = x;
  for (int64_t c = 0; c < count; ++c) scalar_twin(expected.data() + c * n, n);
  std::vector<T> misaligned(x.size() + 1);
  std::copy(x.begin(), x.end(), misaligned.begin() + 1);
  fwht(x.data(), n, count);
  fwht(misaligned.data() + 1, n, count);
  CAPTURE(n, count, sizeof(T));
  REQUIRE(same_bytes(x, expected));
  REQUIRE(same_bytes(std::vector<T>(misaligned.begin() + 1, misaligned.end()), expected));
}

template <class T>
void check_signed(int64_t n, int64_t count) {
  const std::vector<T> in = numbers<T>(n, 3);
  std::vector<T> signs = numbers<T>(n * count, 9);
  for (T& s : signs) s = s < 0 ? T{-1} : T{1};
  std::vector<T> expected(signs.size()), out(signs.size());
  for (size_t i = 0; i < signs.size(); ++i) expected[i] = in[i % static_cast<size_t>(n)] * signs[i];
  std::vector<T> in_place(expected.size());
  for (size_t i = 0; i < signs.size(); ++i) in_place[i] = in[i % static_cast<size_t>(n)];
  for (int64_t c = 0; c < count; ++c) scalar_twin(expected.data() + c * n, n);
  signed_fwht(in.data(), 0, signs.data(), out.data(), n, count);
  signed_fwht(in_place.data(), n, signs.data(), in_place.data(), n, count);
  CAPTURE(n, count, sizeof(T));
  REQUIRE(same_bytes(out, expected));
  REQUIRE(same_bytes(in_place, expected));
}

template <class T>
void check_chain(int64_t n, int64_t count, DiagonalKind kind, int stages, bool scaled) {
  const std::vector<T> in = numbers<T>(n, 3), scale = numbers<T>(n * count, 4);
  std::vector<T> diagonals = numbers<T>(n * count * stages, 9);
  for (T& x : diagonals) {
    if (kind == DiagonalKind::signs) x = x < 0 ? T{-1} : T{1};
  }
  const size_t size = scale.size();
  std::vector<T> expected(size), out(size);
  for (size_t i = 0; i < size; ++i) expected[i] = in[i % in.size()];
  std::vector<T> in_place = expected;
  for (int s = 0; s < stages; ++s) {
    for (size_t i = 0; i < size; ++i) expected[i] *= diagonals[static_cast<size_t>(s) * size + i];
    for (int64_t c = 0; c < count; ++c) scalar_twin(expected.data() + c * n, n);
  }
  for (size_t i = 0; scaled && i < size; ++i) expected[i] *= scale[i];
  const T* const by = scaled ? scale.data() : nullptr;
  fwht_chain(in.data(), 0, diagonals.data(), kind, stages, by, out.data(), n, count);
  fwht_chain(in_place.data(), n, diagonals.data(), kind, stages, by, in_place.data(), n, count);
  CAPTURE(n, count, kind == DiagonalKind::signs, stages, scaled, sizeof(T));
  REQUIRE(same_bytes(out, expected));
  REQUIRE(same_bytes(in_place, expected));
}

TEST_CASE("fwht: chains with diagonals have the bits of the transforms one by one") {
  test::on_every_target([] {
    for (int64_t n = 1; n <= (1 << 14); n *= 2) {
      const int64_t count = n <= 512 ? 19 : 2;
      for (const bool scaled : {false, true}) {
        for (const DiagonalKind kind : {DiagonalKind::signs, DiagonalKind::any}) {
          check_chain<float>(n, count, kind, 1, scaled);
          check_chain<double>(n, count, kind, 1, scaled);
          check_chain<float>(n, count, kind, 3, scaled);
          check_chain<double>(n, count, kind, 3, scaled);
        }
      }
    }
  });
}

TEST_CASE("fwht: the bits of the scalar loop on every target, every length to 2^16") {
  test::on_every_target([&] {
    for (int64_t n = 1; n <= (1 << 16); n *= 2) {
      check_bits<float>(n, 1);
      check_bits<double>(n, 1);
      if (n > 4096) continue;
      check_bits<float>(n, 3);
      check_bits<double>(n, 3);
      check_signed<float>(n, 3);
      check_signed<double>(n, 3);
    }
  });
}

TEST_CASE("fwht: H H x = n x within rounding, entries are those of Sylvester's matrix") {
  for (int64_t n = 1; n <= 2048; n *= 2) {
    const std::vector<double> x = numbers<double>(n, 5);
    std::vector<double> twice = x;
    fwht(twice.data(), n, 1);
    fwht(twice.data(), n, 1);
    // Each of the 2 log2 n additions rounds by 2^-53 of a magnitude of at most n max|x|.
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      worst = std::max(worst, std::fabs(twice[at] - static_cast<double>(n) * x[at]));
      largest = std::max(largest, std::fabs(x[at]));
    }
    const double stages = 2 * std::log2(static_cast<double>(n));
    CHECK(worst <= stages * 0x1p-53 * static_cast<double>(n * n) * largest);
    for (const int64_t j : {int64_t{0}, n / 2, n - 1}) {
      std::vector<float> column(n, 0.0f);
      column[j] = 1;
      fwht(column.data(), n, 1);
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i) {
        wrong +=
            column[i] != (__builtin_popcountll(static_cast<uint64_t>(i & j)) % 2 ? -1.0f : 1.0f);
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("fwht: reference numbers") {
  for (const auto& entry : test::oracle("transforms")["fwht"]) {
    std::vector<double> x = entry["input"].get<std::vector<double>>();
    const std::vector<double> expected = entry["output"].get<std::vector<double>>();
    fwht(x.data(), static_cast<int64_t>(x.size()), 1);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::fabs(x[i] - expected[i]));
    CHECK(worst <= 1e-13);
  }
}

}  // namespace hadamard_test
