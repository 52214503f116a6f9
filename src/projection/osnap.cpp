// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "projection/osnap.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "random/distributions.h"

namespace mercer::projection {
namespace {

// CountSketch (Charikar, Chen, Farach-Colton 2002; as a projection Weinberger et al. 2009,
// Clarkson, Woodruff 2013), with fully independent h and s rather than hash functions of limited
// independence.

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

void check_extent(const char* name, int64_t value) {
  require(value <= kMost, MERCER_INVALID_ARGUMENT,
          "%s = %ld, expected at most %ld for a CountSketch", name, value, kMost);
}

// entry(p) is the coordinate of the p-th stored number.
template <class T, class Entry>
void add_stored(const int32_t* buckets, const int8_t* signs, const T* x, int64_t count, Entry entry,
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
    add_stored(
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
  add_stored(
      buckets_.data(), signs_.data(), x, inputs(), [](int64_t p) { return p; }, j0, j1, z);
}

void CountSketch::add(const double* x, int64_t j0, int64_t j1, double* z) const noexcept {
  add_stored(
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

Osnap::Osnap(int64_t d, int64_t m, int64_t nonzeros, uint64_t seed)
    : d_(d), m_(m), nonzeros_(nonzeros), seed_(seed), sketches_(nonzeros) {
  CountSketch::check_extents(d, m);
}

int64_t Osnap::begin_of(int64_t b) const noexcept {
  return b * (m_ / nonzeros_) + std::min(b, m_ % nonzeros_);
}

Blocks Osnap::touched(Blocks columns) const noexcept {
  const int64_t width = m_ / nonzeros_, wider = m_ % nonzeros_;
  const auto block_of = [=](int64_t j) {
    return j < wider * (width + 1) ? j / (width + 1) : (j - wider) / width;
  };
  return {block_of(columns.begin), block_of(columns.end - 1) + 1};
}

int64_t Osnap::blocks_of(Blocks columns) const noexcept {
  const Blocks blocks = touched(columns);
  return blocks.end - blocks.begin;
}

void Osnap::prepare(Blocks columns, Context& context) const {
  constexpr const char* kWhat = "a CountSketch";
  const GroupCost cost{checked_multiply(d_, CountSketch::kBytesKept, kWhat),
                       checked_multiply(d_, CountSketch::kBytesToDraw, kWhat), kWhat};
  sketches_.prepare_all(touched(columns), cost, context, [this](int64_t b) {
    return CountSketch::draw(seed_, b, d_, begin_of(b + 1) - begin_of(b));
  });
}

template <class Body>
void Osnap::for_each_sketch(int64_t j0, int64_t j1, const Body& body) const noexcept {
  const Blocks blocks = touched({j0, j1});
  for (int64_t b = blocks.begin; b < blocks.end; ++b) {
    const int64_t first = begin_of(b);
    const int64_t begin = std::max(j0, first), end = std::min(j1, begin_of(b + 1));
    body(sketches_[b], begin - first, end - first, begin - j0);
  }
}

template <class T>
void Osnap::add(const T* x, int64_t j0, int64_t j1, T* z) const noexcept {
  for_each_sketch(j0, j1, [&](const CountSketch& sketch, int64_t begin, int64_t end, int64_t at) {
    sketch.add(x, begin, end, z + at);
  });
}

template <class T>
void Osnap::add(const CsrView<T>& X, int64_t i, int64_t j0, int64_t j1, T* z) const noexcept {
  for_each_sketch(j0, j1, [&](const CountSketch& sketch, int64_t begin, int64_t end, int64_t at) {
    sketch.add(X, i, begin, end, z + at);
  });
}

template <class T>
void Osnap::add_transpose(const T* z, int64_t j0, int64_t j1, T* x) const noexcept {
  for_each_sketch(j0, j1, [&](const CountSketch& sketch, int64_t begin, int64_t end, int64_t at) {
    sketch.add_transpose(z + at, begin, end, x);
  });
}

#define MERCER_INSTANTIATE(T)                                                                \
  template void Osnap::add(const T*, int64_t, int64_t, T*) const noexcept;                   \
  template void Osnap::add(const CsrView<T>&, int64_t, int64_t, int64_t, T*) const noexcept; \
  template void Osnap::add_transpose(const T*, int64_t, int64_t, T*) const noexcept;
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::projection
