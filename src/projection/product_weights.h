// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The weights of a product sketch, drawn in groups of panels of columns when first used.
#pragma once

#include <cstdint>

#include "base/aligned.h"
#include "base/context.h"
#include "projection/lazy_groups.h"
#include "projection/multilinear.h"
#include "projection/typed_projection.h"
#include "transform/dense_panel.h"

namespace mercer::projection {

/// The weights of a panel of columns m^{-1/2} scale prod_i (w_i'x_i + b_i): w factor by factor,
/// inputs x kPanelColumns<T>, and b, one row of a panel for each factor.
template <class T>
struct ProductPanel {
  const T* weights;
  const T* biases;
};

class ProductWeights {
 public:
  /// The shape must outlive it.
  ProductWeights(const SketchShape& shape, bool gaussian);

  template <class T>
  void prepare(Blocks c, Context& context) const;
  /// The panels of prepared columns; complex: a factor's imaginary parts follow its real ones.
  template <class T>
  ProductPanel<T> panel(int64_t panel) const noexcept {
    const Panels<T>& group = groups_.of<T>()[panel / kGroupPanels];
    return {group.weights.data() + panel % kGroupPanels * panel_size<T>(),
            group.biases.data() + panel % kGroupPanels * bias_size<T>()};
  }

 private:
  // Panels that are drawn together.
  static constexpr int64_t kGroupPanels = 16;
  template <class T>
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

  // One group: panel by panel, factor by factor, real part then imaginary part.
  template <class T>
  struct Panels {
    AlignedBuffer<T> weights;
    AlignedBuffer<T> biases;
  };
  template <class T>
  struct Groups : LazyGroups<Panels<T>> {
    explicit Groups(int64_t columns)
        : LazyGroups<Panels<T>>((columns - 1) / (kGroupPanels * kWidth<T>)+1) {}
  };

  template <class T>
  int64_t panel_size() const noexcept {
    return parts_ * inputs_ * kWidth<T>;
  }
  template <class T>
  int64_t bias_size() const noexcept {
    return parts_ * static_cast<int64_t>(shape_.factors.size()) * kWidth<T>;
  }
  template <class T>
  int64_t panels_from(int64_t first) const noexcept;
  template <class T>
  GroupCost cost(const Context& context) const;
  template <class T>
  Panels<T> draw_group(int64_t group, Context& context) const;
  template <class T>
  void draw_panel(int64_t j0, double* column, T* panel, T* bias) const noexcept;
  void draw_column(int64_t factor, int64_t l, double* column) const noexcept;
  int64_t longest_column() const noexcept;

  const SketchShape& shape_;
  bool gaussian_;
  int64_t parts_;       // 1, complex: 2
  int64_t inputs_ = 0;  // of all factors
  mutable PerPrecision<Groups> groups_;
};

}  // namespace mercer::projection
