// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// z is linear in every input: its derivative in some inputs is the product of their w times the
// same polynomial of the other inputs, with the degree less by one for each. The polynomial of all
// inputs but k is sum_t e_t(before k) e_{m-1-t}(after k).
#include "feature/anova_derivative.h"

#include <algorithm>

#include "base/size.h"
#include "transform/dense_panel.h"

namespace mercer::feature {
namespace {

// e_0, ..., e_{most} of the inputs so far, for the columns of a panel; the product is e_0 alone.
template <class T>
class Symmetric {
 public:
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

  Symmetric(T* e, int64_t most, bool all) noexcept : e_(e), most_(most), all_(all) {}
  void begin() noexcept {
    std::fill_n(e_, (most_ + 1) * kWidth, T{0});
    std::fill_n(e_, kWidth, T{1});
  }
  void add(T x, const T* w) noexcept {
    if (all_) {
      for (int64_t j = 0; j < kWidth; ++j) e_[j] *= 1 + x * w[j];
      return;
    }
    for (int64_t t = most_; t > 0; --t)
      for (int64_t j = 0; j < kWidth; ++j)
        e_[t * kWidth + j] += e_[(t - 1) * kWidth + j] * (x * w[j]);
  }
  const T* at(int64_t t) const noexcept { return e_ + t * kWidth; }

 private:
  T* e_;
  int64_t most_;
  bool all_;
};

}  // namespace

int64_t anova_scratch(int64_t inputs, int64_t degree) {
  return checked_multiply(checked_add(inputs, 2, "a row"), degree + 1, "polynomials of a row");
}

template <class T>
void anova_partial(const AnovaPanel<T>& panel, const MultiIndex& p, T* out, T* scratch) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  const bool all = panel.degree == 0;
  const int64_t rest = all ? 0 : panel.degree - total_order(p);
  const bool linear =
      std::ranges::all_of(p, [](const PartialFactor& one) { return one.order < 2; });
  std::fill_n(out, kWidth, linear && rest >= 0 ? panel.scale : T{0});
  if (!linear || rest < 0) return;
  Symmetric<T> others(scratch, rest, all);
  others.begin();
  auto next = p.begin();
  for (int64_t k = 0; k < panel.inputs; ++k) {
    const T* const w = panel.W + k * kWidth;
    if (next != p.end() && next->input == k) {
      for (int64_t j = 0; j < kWidth; ++j) out[j] *= w[j];
      ++next;
    } else {
      others.add(panel.x[k], w);
    }
  }
  for (int64_t j = 0; j < kWidth; ++j) out[j] *= others.at(rest)[j];
}

template <class T>
void anova_gradient(const AnovaPanel<T>& panel, T* out, T* scratch) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  const bool all = panel.degree == 0;
  const int64_t most = all ? 0 : panel.degree - 1, state = (most + 1) * kWidth;
  // For every k, the polynomials of the inputs before k; then those of the inputs after it.
  T* before = scratch;
  Symmetric<T>(before, most, all).begin();
  for (int64_t k = 0; k + 1 < panel.inputs; ++k, before += state) {
    std::copy_n(before, state, before + state);
    Symmetric<T>(before + state, most, all).add(panel.x[k], panel.W + k * kWidth);
  }
  Symmetric<T> behind(scratch + panel.inputs * state, most, all);
  behind.begin();
  for (int64_t k = panel.inputs; k-- > 0;) {
    const T* const w = panel.W + k * kWidth;
    T* const z = out + k * kWidth;
    std::fill_n(z, kWidth, T{0});
    for (int64_t t = 0; t <= most; ++t)
      for (int64_t j = 0; j < kWidth; ++j) z[j] += before[t * kWidth + j] * behind.at(most - t)[j];
    for (int64_t j = 0; j < kWidth; ++j) z[j] *= panel.scale * w[j];
    behind.add(panel.x[k], w);
    if (k > 0) before -= state;
  }
}

#define MERCER_INSTANTIATE(T)                                                            \
  template void anova_partial(const AnovaPanel<T>&, const MultiIndex&, T*, T*) noexcept; \
  template void anova_gradient(const AnovaPanel<T>&, T*, T*) noexcept;
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::feature
