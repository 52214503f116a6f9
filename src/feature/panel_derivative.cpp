// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of panel maps: panel after panel of a row, products with the Jacobian from the
// panel's gradient while it is in the cache.
#include <algorithm>
#include <vector>

#include "base/aligned.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/panel_map.h"

namespace mercer::feature {
namespace {

constexpr const char* kPanelDerivatives = "the derivatives of a panel, of all threads";

template <class T>
constexpr int64_t kWidth = transform::kPanelColumns<T>;

}  // namespace

// Calls body(i, j0, columns, panel, scratch) for every row i and every panel of columns [j0, j0 +
// columns).
template <class T, class Body>
void PanelMap::for_each_panel(int64_t rows, int64_t column_numbers, Context& context,
                              const Body& body) const {
  const int64_t count = projection::panels_for(features(), kWidth<T>);
  panels<T>().prepare({0, count}, *columns_, context);
  if (rows == 0) return;
  const int64_t each = checked_add(checked_multiply(column_numbers, kWidth<T>, kPanelDerivatives),
                                   15, kPanelDerivatives) /
                       16 * 16;
  const AlignedBuffer<T> buffer(
      checked_multiply(worker_count(context, rows), each, kPanelDerivatives), context,
      kPanelDerivatives);
  parallel_for(context, rows, [&](int64_t i, int worker) noexcept {
    for (int64_t p = 0; p < count; ++p)
      body(i, p * kWidth<T>, std::min(kWidth<T>, features() - p * kWidth<T>), panels<T>().panel(p),
           buffer.data() + worker * each);
  });
}

// Calls body(i, j0, columns, dz) in the same way, dz the panel's gradient.
template <class T, class Body>
void PanelMap::for_each_gradient(MatrixView<const T> X, Context& context, const Body& body) const {
  const int64_t own = derivative_scratch();
  for_each_panel<T>(X.rows, checked_add(own, inputs(), kPanelDerivatives), context,
                    [&](int64_t i, int64_t j0, int64_t count, const T* W, T* scratch) noexcept {
                      T* const dz = scratch + own * kWidth<T>;
                      panel_gradient(X.row(i), W, dz, scratch);
                      body(i, j0, count, dz);
                    });
}

template <class T>
void PanelMap::differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                                  MatrixView<T> out) const {
  if (what.kind == Derivative::Kind::gradient)
    return for_each_gradient(
        X, context, [&](int64_t i, int64_t j0, int64_t count, const T* dz) noexcept {
          for (int64_t k = 0; k < inputs(); ++k)
            std::copy_n(dz + k * kWidth<T>, count, out.row(i) + k * features() + j0);
        });
  const std::vector<std::vector<MultiIndex>> blocks = partials_of(what, inputs());
  const int64_t own = derivative_scratch();
  for_each_panel<T>(X.rows, checked_add(own, 1, kPanelDerivatives), context,
                    [&](int64_t i, int64_t j0, int64_t count, const T* W, T* scratch) noexcept {
                      T *const z = scratch + own * kWidth<T>, *to = out.row(i) + j0;
                      for (const std::vector<MultiIndex>& block : blocks) {
                        std::fill_n(to, count, T{0});
                        for (const MultiIndex& p : block) {
                          panel_partial(p, X.row(i), W, z, scratch);
                          for (int64_t j = 0; j < count; ++j) to[j] += z[j];
                        }
                        to += features();
                      }
                    });
}

template <class T>
void PanelMap::push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                                 MatrixView<T> out) const {
  for_each_gradient(X, context, [&](int64_t i, int64_t j0, int64_t count, const T* dz) noexcept {
    T* const to = out.row(i) + j0;
    std::fill_n(to, count, T{0});
    for (int64_t k = 0; k < inputs(); ++k)
      for (int64_t j = 0; j < count; ++j) to[j] += V(i, k) * dz[k * kWidth<T> + j];
  });
}

template <class T>
void PanelMap::pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                              MatrixView<T> out) const {
  for (int64_t i = 0; i < X.rows; ++i) std::fill_n(out.row(i), inputs(), T{0});
  for_each_gradient(X, context, [&](int64_t i, int64_t j0, int64_t count, const T* dz) noexcept {
    for (int64_t k = 0; k < inputs(); ++k)
      for (int64_t j = 0; j < count; ++j) out(i, k) += G(i, j0 + j) * dz[k * kWidth<T> + j];
  });
}

MERCER_INSTANTIATE_DERIVATIVE_MEMBERS(PanelMap)

}  // namespace mercer::feature
