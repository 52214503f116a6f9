// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Shared parts of register-blocked products: initial sums, loops over groups of outputs, and the
// innermost loop of products with panels, rows by two vectors of columns. Included once per target,
// after simd.h.
#if defined(MERCER_TRANSFORM_REGISTER_BLOCK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MERCER_TRANSFORM_REGISTER_BLOCK_INL_H
#undef MERCER_TRANSFORM_REGISTER_BLOCK_INL_H
#else
#define MERCER_TRANSFORM_REGISTER_BLOCK_INL_H
#endif

MERCER_SIMD_BEGIN();

// Zero sums.
template <int kRows, int kCols, class D, class V>
HWY_INLINE void SetZero(D tag, V (&sums)[kRows][kCols]) {
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kCols; ++j) sums[i][j] = hn::Zero(tag);
  }
}

// A number of outputs known at compile time.
template <int kCount>
struct Outputs {
  static constexpr int count = kCount;
};

// Calls block(Outputs<k>(), o) for k outputs from o on to cover [0, count): kMost at a time, then
// the remaining one to three.
template <int kMost, class Block>
HWY_INLINE void ForOutputs(int64_t count, const Block& block) {
  static_assert(kMost == 3 || kMost == 4);
  int64_t o = 0;
  for (; o + kMost <= count; o += kMost) block(Outputs<kMost>(), o);
  if (count - o == 3) block(Outputs<3>(), o);
  if (count - o == 2) block(Outputs<2>(), o);
  if (count - o == 1) block(Outputs<1>(), o);
}

// Rows of a block with two vectors of columns: its accumulators and three operands fill the
// register file.
constexpr int kRegisterRows = kManyRegisters ? 12 : 6;

// (low, high)[i] += X(i, k) (w, w + one vector)(k, :), k < depth; X has row step x_step and
// adjacent columns, w has row step w_step.
template <int kBlockRows, class D, class T, class V>
HWY_INLINE void AddOuterProducts(D tag, const T* HWY_RESTRICT X, int64_t x_step,
                                 const T* HWY_RESTRICT w, int64_t w_step, int64_t depth,
                                 V (&low)[kBlockRows], V (&high)[kBlockRows]) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t k = 0; k < depth; ++k) {
    const V w_low = hn::Load(tag, w + k * w_step);
    const V w_high = hn::Load(tag, w + k * w_step + lanes);
#pragma GCC unroll 16
    for (int i = 0; i < kBlockRows; ++i) {
      const V x = hn::Set(tag, X[i * x_step + k]);
      low[i] = hn::MulAdd(x, w_low, low[i]);
      high[i] = hn::MulAdd(x, w_high, high[i]);
    }
  }
}

MERCER_SIMD_END();
#endif
