// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/modulus.cpp"
#include "transform/simd.h"
//
#include <cmath>
#include <limits>

#include "transform/modulus.h"
#include "transform/row_store-inl.h"

MERCER_SIMD_BEGIN();

// P_0^2 + P_1^2 to the power `half`, times first.
template <class V>
HWY_INLINE V Modulus(V re, V im, V first, int64_t half) {
  const V square = hn::MulAdd(re, re, hn::Mul(im, im));
  V value = hn::Mul(first, square);
  for (int64_t n = 1; n < half; ++n) value = hn::Mul(value, square);
  return value;
}

struct ModulusRow {
  template <Way way, class T>
  static HWY_INLINE void Finish(const EpilogueBlock<T>& block, int64_t i, int64_t half) {
    const hn::CappedTag<T, kPanelColumns<T>> tag;
    RowStore<way, decltype(tag)> row(tag, block, i, 0);
    const T* const re = block.P + i * block.columns;
    const T* const im = re + block.factor_step;
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      row.Put(Modulus(hn::Load(tag, re + j), hn::Load(tag, im + j), hn::Load(tag, block.scale + j),
                      half),
              j);
    }
    row.Finish();
  }
};

struct RecordedRow {
  template <Way way, class T>
  static HWY_INLINE void Finish(const EpilogueBlock<T>& block, int64_t i, int64_t half, double gain,
                                double most) {
    const hn::CappedTag<T, kPanelColumns<T>> tag;
    const auto per = hn::Set(tag, static_cast<T>(gain)), top = hn::Set(tag, static_cast<T>(most));
    RowStore<way, decltype(tag)> row(tag, block, i, 0);
    const T* const re = block.P + i * block.columns;
    const T* const im = re + block.factor_step;
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      const auto value = Modulus(hn::Load(tag, re + j), hn::Load(tag, im + j), per, half);
      // A comparison, so that NaN passes; values beyond the top are not rounded.
      const auto level = hn::IfThenElse(hn::Gt(value, top), top, value);
      row.Put(hn::Mul(hn::Load(tag, block.scale + j), hn::Round(level)), j);
    }
    row.Finish();
  }
};

void FinishModulusF32(const EpilogueBlock<float>& block, int64_t half) {
  FinishBlock<ModulusRow>(block, half);
}
void FinishModulusF64(const EpilogueBlock<double>& block, int64_t half) {
  FinishBlock<ModulusRow>(block, half);
}

void FinishRecordedF32(const EpilogueBlock<float>& block, int64_t half, double gain, double most) {
  FinishBlock<RecordedRow>(block, half, gain, most);
}
void FinishRecordedF64(const EpilogueBlock<double>& block, int64_t half, double gain, double most) {
  FinishBlock<RecordedRow>(block, half, gain, most);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(FinishModulus);
MERCER_SIMD_EXPORT(FinishRecorded);

namespace {

struct PowerOfModulus {
  int64_t half;
  void operator()(const EpilogueBlock<float>& block) const noexcept {
    HWY_DYNAMIC_DISPATCH(FinishModulusF32)(block, half);
  }
  void operator()(const EpilogueBlock<double>& block) const noexcept {
    HWY_DYNAMIC_DISPATCH(FinishModulusF64)(block, half);
  }
};

struct Recorded {
  int64_t half;
  double gain;
  double most;
  void operator()(const EpilogueBlock<float>& block) const noexcept {
    HWY_DYNAMIC_DISPATCH(FinishRecordedF32)(block, half, gain, most);
  }
  void operator()(const EpilogueBlock<double>& block) const noexcept {
    HWY_DYNAMIC_DISPATCH(FinishRecordedF64)(block, half, gain, most);
  }
};

}  // namespace

std::unique_ptr<const Epilogue> modulus_epilogue(int64_t half) {
  return make_epilogue({.factors = 2, .carries = true}, PowerOfModulus{half});
}

std::unique_ptr<const Epilogue> recorded_modulus_epilogue(int64_t half, double gain, double most) {
  return make_epilogue({.factors = 2, .carries = true}, Recorded{half, gain, most});
}

std::shared_ptr<const RowPrologue> finite_prologue() {
  return make_prologue({.rewrites = true, .keeps_zeros = true},
                       []<class T>(const T* x, int64_t count, T* out, T*) noexcept {
                         for (int64_t k = 0; k < count; ++k)
                           out[k] =
                               std::isfinite(x[k]) ? x[k] : std::numeric_limits<T>::quiet_NaN();
                       });
}

}  // namespace mercer::transform
#endif
