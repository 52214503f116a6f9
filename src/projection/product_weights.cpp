// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Entry k of w_il is variate k of stream (seed, frequency, (first_factor + i) 2^32 + l). Weights
// are packed with a factor's scale inside them and its constant as a bias, so that rows are read as
// they are.
#include "projection/product_weights.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/size.h"
#include "random/distributions.h"

namespace mercer::projection {
namespace {}  // namespace

ProductWeights::ProductWeights(const SketchShape& shape, bool gaussian)
    : shape_(shape), gaussian_(gaussian), parts_(shape.complex ? 2 : 1), groups_(shape.columns) {
  for (const FactorShape& factor : shape.factors)
    inputs_ = checked_add(inputs_, factor.inputs, "weights");
}

template <class T>
void ProductWeights::prepare(Blocks c, Context& context) const {
  const int64_t width = kGroupPanels * kWidth<T>;
  const Blocks groups{c.begin / width, ceil_divide(c.end, width)};
  groups_.of<T>().prepare_all(groups, cost<T>(context), context,
                              [&](int64_t group) { return draw_group<T>(group, context); });
}

// Panels of the group that begins with panel `first`.
template <class T>
int64_t ProductWeights::panels_from(int64_t first) const noexcept {
  return std::min(kGroupPanels, ceil_divide(shape_.columns, kWidth<T>) - first);
}

// The cost of the largest group.
template <class T>
GroupCost ProductWeights::cost(const Context& context) const {
  const int64_t panels = panels_from<T>(0);
  const int64_t weights = checked_multiply(inputs_, parts_ * kWidth<T>, "weights");
  const int64_t kept =
      checked_multiply(panels, checked_add(weights, bias_size<T>(), "weights"), "weights");
  const int64_t drawn =
      checked_multiply(longest_column(), worker_count(context, panels), "weights");
  return {checked_multiply(kept, sizeof(T), "weights"),
          checked_multiply(drawn, sizeof(double), "weights"), "a group of weights"};
}

// Numbers of one weight vector as drawn.
int64_t ProductWeights::longest_column() const noexcept {
  int64_t longest = 0;
  for (const FactorShape& factor : shape_.factors) longest = std::max(longest, factor.inputs + 1);
  return parts_ * longest;
}

template <class T>
auto ProductWeights::draw_group(int64_t group, Context& context) const -> Panels<T> {
  const int64_t first = group * kGroupPanels, panels = panels_from<T>(first);
  Panels<T> made{AlignedBuffer<T>(panels * panel_size<T>()),
                 AlignedBuffer<T>(panels * bias_size<T>())};
  const Matrix<double> columns_drawn(worker_count(context, panels), longest_column());
  parallel_for(context, panels, [&](int64_t p, int worker) noexcept {
    draw_panel((first + p) * kWidth<T>, columns_drawn.view().row(worker),
               made.weights.data() + p * panel_size<T>(), made.biases.data() + p * bias_size<T>());
  });
  return made;
}

// Columns past the last are zero.
template <class T>
void ProductWeights::draw_panel(int64_t j0, double* column, T* panel, T* bias) const noexcept {
  for (size_t i = 0; i < shape_.factors.size(); ++i) {
    const FactorShape& factor = shape_.factors[i];
    for (int64_t l = 0; l < kWidth<T>; ++l) {
      if (j0 + l < shape_.columns) {
        draw_column(static_cast<int64_t>(i), j0 + l, column);
      } else {
        std::fill(column, column + parts_ * (factor.inputs + 1), 0.0);
      }
      for (int64_t part = 0; part < parts_; ++part) {
        T* const to = panel + part * factor.inputs * kWidth<T> + l;
        for (int64_t k = 0; k < factor.inputs; ++k)
          to[k * kWidth<T>] = static_cast<T>(factor.scale * column[parts_ * k + part]);
        bias[part * kWidth<T> + l] =
            static_cast<T>(factor.constant * column[parts_ * factor.inputs + part]);
      }
    }
    panel += parts_ * factor.inputs * kWidth<T>;
    bias += parts_ * kWidth<T>;
  }
}

// Interleaved if complex; the constant's weight last.
void ProductWeights::draw_column(int64_t factor, int64_t l, double* column) const noexcept {
  const FactorShape& one = shape_.factors[factor];
  const random::Stream stream(
      shape_.seed, random::Tag::frequency,
      static_cast<uint64_t>(shape_.first_factor + factor) << 32 | static_cast<uint64_t>(l));
  const std::span out(column, parts_ * (one.inputs + 1));
  if (shape_.complex) {
    gaussian_ ? random::fill_complex_normal(stream, 0, out)
              : random::fill_complex_rademacher(stream, 0, out);
  } else {
    gaussian_ ? random::fill_normal(stream, 0, out) : random::fill_rademacher(stream, 0, out);
  }
}

template void ProductWeights::prepare<float>(Blocks, Context&) const;
template void ProductWeights::prepare<double>(Blocks, Context&) const;

}  // namespace mercer::projection
