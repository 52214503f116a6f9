// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CountSketch (Charikar, Chen, Farach-Colton 2002; as a projection Weinberger et al. 2009,
// Clarkson, Woodruff 2013), with fully independent h and s rather than hash functions of limited
// independence.
#include "projection/count_sketch.h"

#include <limits>
#include <utility>

#include "base/error.h"
#include "random/distributions.h"

namespace mercer::projection {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

void check_extent(const char* name, int64_t value) {
  require(value <= kMost, MERCER_INVALID_ARGUMENT,
          "%s = %ld, expected at most %ld for a CountSketch", name, value, kMost);
}

// entry(p) is the coordinate of the p-th number listed.
template <class T, class Entry>
void add_listed(const int32_t* buckets, const int8_t* signs, const T* x, int64_t count, Entry entry,
                int64_t j0, int64_t j1, T* z) noexcept {
  for (int64_t p = 0; p < count; ++p) {
    const int64_t k = entry(p);
    const int64_t j = buckets[k];
    if (j >= j0 && j < j1) z[j - j0] += static_cast<T>(signs[k]) * x[p];
  }
}

template <class T>
void add_picked(const std::vector<int32_t>& buckets, const std::vector<int8_t>& signs, const T* z,
                int64_t j0, int64_t j1, T* x) noexcept {
  for (size_t k = 0; k < buckets.size(); ++k) {
    const int64_t j = buckets[k];
    if (j >= j0 && j < j1) x[k] += static_cast<T>(signs[k]) * z[j - j0];
  }
}

template <class T>
void add_row(const std::vector<int32_t>& buckets, const std::vector<int8_t>& signs,
             const CsrView<T>& X, int64_t i, int64_t j0, int64_t j1, T* z) noexcept {
  X.indices.visit([&](const auto* indices) {
    const auto* k = indices + X.begin(i);
    add_listed(
        buckets.data(), signs.data(), X.values + X.begin(i), X.end(i) - X.begin(i),
        [k](int64_t p) { return static_cast<int64_t>(k[p]); }, j0, j1, z);
  });
}

}  // namespace

void CountSketch::check_extents(int64_t d, int64_t m) {
  check_extent("inputs", d);
  check_extent("features", m);
}

CountSketch CountSketch::draw(uint64_t seed, int64_t factor, int64_t d, int64_t m) {
  check_extents(d, m);
  const auto size = static_cast<size_t>(d);
  std::vector<int32_t> buckets(size);
  std::vector<int8_t> signs(size);
  for (size_t k = 0; k < size; ++k) {
    random::Cursor cursor(
        random::Stream(seed, random::Tag::hash, (static_cast<uint64_t>(factor) << 32) + k));
    buckets[k] = static_cast<int32_t>(random::uniform_below(cursor, static_cast<uint64_t>(m)));
  }
  std::vector<double> drawn(size);
  random::fill_rademacher(random::Stream(seed, random::Tag::sign, static_cast<uint64_t>(factor)), 0,
                          drawn);
  for (size_t k = 0; k < size; ++k) signs[k] = static_cast<int8_t>(drawn[k]);
  return {std::move(buckets), std::move(signs), m};
}

CountSketch::CountSketch(std::vector<int32_t> buckets, std::vector<int8_t> signs, int64_t m)
    : buckets_(std::move(buckets)), signs_(std::move(signs)), outputs_(m) {}

void CountSketch::add(const float* x, int64_t j0, int64_t j1, float* z) const noexcept {
  add_listed(
      buckets_.data(), signs_.data(), x, inputs(), [](int64_t p) { return p; }, j0, j1, z);
}

void CountSketch::add(const double* x, int64_t j0, int64_t j1, double* z) const noexcept {
  add_listed(
      buckets_.data(), signs_.data(), x, inputs(), [](int64_t p) { return p; }, j0, j1, z);
}

void CountSketch::add(const CsrView<float>& X, int64_t i, int64_t j0, int64_t j1,
                      float* z) const noexcept {
  add_row(buckets_, signs_, X, i, j0, j1, z);
}

void CountSketch::add(const CsrView<double>& X, int64_t i, int64_t j0, int64_t j1,
                      double* z) const noexcept {
  add_row(buckets_, signs_, X, i, j0, j1, z);
}

void CountSketch::add_transpose(const float* z, int64_t j0, int64_t j1, float* x) const noexcept {
  add_picked(buckets_, signs_, z, j0, j1, x);
}

void CountSketch::add_transpose(const double* z, int64_t j0, int64_t j1, double* x) const noexcept {
  add_picked(buckets_, signs_, z, j0, j1, x);
}

}  // namespace mercer::projection
