// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "projection/osnap.h"

#include <algorithm>

#include "base/size.h"

namespace mercer::projection {

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
