// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How epilogues write rows of a finished block to Z: stored, streamed around the caches, or
// streamed with carrying the cache lines shared with neighbouring blocks. Compiled per target; the
// include guard is Highway's toggle.
#if defined(MERCER_TRANSFORM_EPILOGUE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MERCER_TRANSFORM_EPILOGUE_INL_H
#undef MERCER_TRANSFORM_EPILOGUE_INL_H
#else
#define MERCER_TRANSFORM_EPILOGUE_INL_H
#endif

#include "transform/epilogue.h"
#include "transform/panel.h"
#include "transform/stream_copy.h"

MERCER_SIMD_BEGIN();

enum class Way { store, stream, carry };

// Writes one part of a row to Z, vector by vector.
template <Way way, class D>
class RowStore {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

 public:
  HWY_INLINE RowStore(D tag, const EpilogueBlock<T>& block, int64_t i, int part)
      : tag_(tag), to_(block.out + part * block.part_step + i * block.ld) {}
  HWY_INLINE void Put(V value, int64_t j) {
    if constexpr (way == Way::stream) {
      hn::Stream(value, tag_, to_ + j);
    } else {
      hn::StoreU(value, tag_, to_ + j);
    }
  }
  HWY_INLINE void Finish() {}

 private:
  D tag_;
  T* to_;
};

// Lane numbers twice: from place lanes - into on they are rotated by `into`. Kept in a table
// because rows have few vectors, and computing them per row would cost as much as one.
template <class D>
struct LaneNumbers {
  using Index = hwy::MakeUnsigned<hn::TFromD<D>>;
  static constexpr size_t kLanes = hn::MaxLanes(D());
  alignas(64) Index twice[2 * kLanes];
};
template <class D>
constexpr LaneNumbers<D> MakeLaneNumbers() {
  LaneNumbers<D> numbers{};
  for (size_t i = 0; i < 2 * numbers.kLanes; ++i)
    numbers.twice[i] = static_cast<typename LaneNumbers<D>::Index>(i % numbers.kLanes);
  return numbers;
}
template <class D>
constexpr LaneNumbers<D> kLaneNumbers = MakeLaneNumbers<D>();

// For rows that begin within a cache line: each stored vector is the end of one vector and the
// beginning of the next, both rotated.
template <class D>
class RowStore<Way::carry, D> {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  using Unsigned = hn::RebindToUnsigned<D>;

 public:
  HWY_INLINE RowStore(D tag, const EpilogueBlock<T>& block, int64_t i, int part)
      : tag_(tag),
        to_(block.out + part * block.part_step + i * block.ld),
        into_(into_line(to_)),
        carry_(block.carry + i * block.carry_step + (part + 1) * kLineNumbers<T> - Lanes()),
        turn_(hn::IndicesFromVec(tag, TurnBy(into_))),
        from_before_(hn::FirstN(tag, static_cast<size_t>(into_))),
        last_(hn::Load(tag, carry_)),
        before_(hn::TableLookupLanes(last_, turn_)) {}
  HWY_INLINE void Put(V value, int64_t j) {
    const V turned = hn::TableLookupLanes(value, turn_);
    hn::Stream(hn::IfThenElse(from_before_, before_, turned), tag_, to_ + j - into_);
    before_ = turned;
    last_ = value;
  }
  HWY_INLINE void Finish() { hn::Store(last_, tag_, carry_); }

 private:
  static HWY_INLINE int64_t Lanes() { return static_cast<int64_t>(hn::Lanes(D())); }
  static HWY_INLINE hn::Vec<Unsigned> TurnBy(int64_t into) {
    return hn::LoadU(Unsigned(), kLaneNumbers<D>.twice + Lanes() - into);
  }

  D tag_;
  T* to_;
  int64_t into_;
  T* carry_;
  decltype(hn::IndicesFromVec(D(), hn::Zero(Unsigned()))) turn_;
  hn::Mask<D> from_before_;
  V last_;
  V before_;
};

// One output column per projected column: Value::Of(tag, P, scale), of P plus its phase if phased.
template <class Value, bool phased = false>
struct ElementRow {
  template <Way way, class T>
  static HWY_INLINE void Finish(const EpilogueBlock<T>& block, int64_t i) {
    const hn::CappedTag<T, kPanelColumns<T>> tag;
    RowStore<way, decltype(tag)> row(tag, block, i, 0);
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      auto P = hn::Load(tag, block.P + i * block.columns + j);
      if constexpr (phased) P = hn::Add(P, hn::Load(tag, block.phase + j));
      row.Put(Value::Of(tag, P, hn::Load(tag, block.scale + j)), j);
    }
    row.Finish();
  }
};

// Kind::Finish<way>(block, i, more...) finishes row i.
template <class Kind, Way way, class T, class... More>
HWY_INLINE void FinishRows(const EpilogueBlock<T> block, More... more) {
  for (int64_t i = 0; i < block.rows; ++i) Kind::template Finish<way>(block, i, more...);
}

template <class Kind, class T, class... More>
HWY_INLINE void FinishBlock(const EpilogueBlock<T>& block, More... more) {
  if (!block.stream) {
    FinishRows<Kind, Way::store>(block, more...);
  } else if (block.carry == nullptr) {
    FinishRows<Kind, Way::stream>(block, more...);
  } else {
    FinishRows<Kind, Way::carry>(block, more...);
  }
}

MERCER_SIMD_END();

// Selects the HWY_EXPORTed version of an epilogue, for either precision.
#ifndef MERCER_EPILOGUE
#define MERCER_EPILOGUE(Name)                                            \
  struct Name {                                                          \
    void operator()(const EpilogueBlock<float>& block) const noexcept {  \
      HWY_DYNAMIC_DISPATCH(Finish##Name##F32)(block);                    \
    }                                                                    \
    void operator()(const EpilogueBlock<double>& block) const noexcept { \
      HWY_DYNAMIC_DISPATCH(Finish##Name##F64)(block);                    \
    }                                                                    \
  };

// Defines one gradient, for either precision, from the HWY_EXPORTed PullBackPullF32 ...
// SlopesSlopeF64.
#define MERCER_SLOPES(Slope)                                      \
  void slopes(const SlopeRow<float>& row) const noexcept final {  \
    HWY_DYNAMIC_DISPATCH(Slopes##Slope##F32)(row);                \
  }                                                               \
  void slopes(const SlopeRow<double>& row) const noexcept final { \
    HWY_DYNAMIC_DISPATCH(Slopes##Slope##F64)(row);                \
  }

#define MERCER_GRADIENT(function, Pull, Slope, parts, in_turns, second, most_order) \
  const EpilogueGradient& function() {                                              \
    class Gradient final : public EpilogueGradient {                                \
     public:                                                                        \
      Gradient() : EpilogueGradient(parts, in_turns, second, most_order) {}         \
      void pull_back(const GradientBlock<float>& block) const noexcept final {      \
        HWY_DYNAMIC_DISPATCH(PullBack##Pull##F32)(block);                           \
      }                                                                             \
      void pull_back(const GradientBlock<double>& block) const noexcept final {     \
        HWY_DYNAMIC_DISPATCH(PullBack##Pull##F64)(block);                           \
      }                                                                             \
      MERCER_SLOPES(Slope)                                                          \
    };                                                                              \
    static const Gradient gradient;                                                 \
    return gradient;                                                                \
  }

// A gradient that is pulled back by its slopes.
#define MERCER_SLOPE_GRADIENT(function, Slope, parts, in_turns, second, most_order) \
  const EpilogueGradient& function() {                                              \
    class Gradient final : public EpilogueGradient {                                \
     public:                                                                        \
      Gradient() : EpilogueGradient(parts, in_turns, second, most_order) {}         \
      MERCER_SLOPES(Slope)                                                          \
    };                                                                              \
    static const Gradient gradient;                                                 \
    return gradient;                                                                \
  }
#endif
#endif
