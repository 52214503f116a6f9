// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Defines one gradient, for either precision, from the HWY_EXPORTed PullBackPullF32 ...
// SlopesSlopeF64.
#pragma once

#define MERCER_SLOPES(Slope)                                      \
  void slopes(const SlopeRow<float>& row) const noexcept final {  \
    HWY_DYNAMIC_DISPATCH(Slopes##Slope##F32)(row);                \
  }                                                               \
  void slopes(const SlopeRow<double>& row) const noexcept final { \
    HWY_DYNAMIC_DISPATCH(Slopes##Slope##F64)(row);                \
  }

#define MERCER_GRADIENT(function, Pull, Slope, parts, in_turns, second, most_order) \
  const EpilogueGradient& function() {                                              \
    class Made final : public EpilogueGradient {                                    \
     public:                                                                        \
      Made() : EpilogueGradient(parts, in_turns, second, most_order) {}             \
      void pull_back(const GradientBlock<float>& block) const noexcept final {      \
        HWY_DYNAMIC_DISPATCH(PullBack##Pull##F32)(block);                           \
      }                                                                             \
      void pull_back(const GradientBlock<double>& block) const noexcept final {     \
        HWY_DYNAMIC_DISPATCH(PullBack##Pull##F64)(block);                           \
      }                                                                             \
      MERCER_SLOPES(Slope)                                                          \
    };                                                                              \
    static const Made gradient;                                                     \
    return gradient;                                                                \
  }

// A gradient that is pulled back by its slopes.
#define MERCER_SLOPE_GRADIENT(function, Slope, parts, in_turns, second, most_order) \
  const EpilogueGradient& function() {                                              \
    class Made final : public EpilogueGradient {                                    \
     public:                                                                        \
      Made() : EpilogueGradient(parts, in_turns, second, most_order) {}             \
      MERCER_SLOPES(Slope)                                                          \
    };                                                                              \
    static const Made gradient;                                                     \
    return gradient;                                                                \
  }
