// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Dense projections: W is given column by column, and packed group by group when first used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/aligned.h"
#include "base/parallel.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"
#include "random/stream.h"
#include "transform/panel.h"

namespace mercer::projection {

/// Where columns of W come from: i.i.d. draws from a distribution, or the caller's numbers.
class FrequencySource {
 public:
  virtual ~FrequencySource() = default;
  /// Row j - j0 of `omega` becomes omega_j, in radians per unit of input, for j in [j0, j0 +
  /// omega.rows). Calling thread only, one call at a time; may use the context's threads. A
  /// frequency depends on j alone, not on the range.
  virtual void fill(int64_t j0, Context& context, MatrixView<double> omega) const = 0;
};

/// Columns i.i.d. from arguments.law, over the lengthscale: column j is a function of seed and j.
std::unique_ptr<const FrequencySource> drawn_columns(const ProjectionArguments& arguments);

/// P = XW in `unit`, W of F columns from `source`; d*F multiply-adds per row, nnz*F for sparse
/// rows. Memory: d*F numbers per precision in use.
std::unique_ptr<Projection> make_dense(int64_t d, int64_t F,
                                       std::shared_ptr<const FrequencySource> source, Unit unit);

/// Makes the projection of an entry: as above, with a Source made from the arguments.
template <class Source>
std::unique_ptr<Projection> make_dense_of(const ProjectionArguments& arguments) {
  return make_dense(arguments.d, arguments.F, std::make_unique<Source>(arguments), arguments.unit);
}

// Orthogonal columns (orthogonal.cpp).

/// Fills the square Q from the stream's normals: Q'Q = I to rounding. 4/3 d^3 operations, d =
/// Q.rows, and 32 d numbers of memory; runs on the context's threads and polls it; the bytes do not
/// depend on threads. Errors: INVALID_ARGUMENT (not square), OUT_OF_MEMORY (memory cap), CANCELLED.
void fill_haar_orthogonal(const random::Stream& stream, Context& context, MatrixView<double> Q);

// Columns of a matrix packed into panels (transform/panel.h), in groups: a slice of columns
// packs its own groups only, and a precision that is never used costs nothing.

/// The number of panels of `size` columns that hold `count` columns.
constexpr int64_t panels_for(int64_t count, int64_t size) noexcept {
  return count / size + (count % size != 0 ? 1 : 0);
}

inline constexpr int64_t kGroupPanels = 32;
// Bytes of frequencies drawn in double at a time: for wide rows they would take more than the
// packed ones.
inline constexpr int64_t kDrawnBytes = int64_t{64} << 20;

// The panels of one precision, in groups.
template <class T>
class PackedPanels {
 public:
  PackedPanels(int64_t d, int64_t F, double unit)
      : depth_(d),
        count_(F),
        unit_(unit),
        groups_(panels_for(panels_for(F, kWidth), kGroupPanels)) {}

  void prepare(Blocks panels, const FrequencySource& source, Context& context) {
    const Blocks groups{panels.begin / kGroupPanels, panels_for(panels.end, kGroupPanels)};
    groups_.require_room(groups, cost_of(panels_of(0)), context);
    Stage stage(context, groups.end - groups.begin);
    for (int64_t g = groups.begin; g < groups.end; ++g) {
      stage.share(1);
      groups_.prepare(g, cost_of(panels_of(g)), context,
                      [&](int64_t group) { return pack(group, source, context); });
      stage.advance(1);
    }
  }

  const T* panel(int64_t p) const noexcept {
    return groups_[p / kGroupPanels].data() + (p % kGroupPanels) * depth_ * kWidth;
  }

 private:
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

  int64_t panels_of(int64_t g) const noexcept {
    return std::min(kGroupPanels, panels_for(count_, kWidth) - g * kGroupPanels);
  }

  // Drawing takes doubles beside the packed panels.
  GroupCost cost_of(int64_t panels) const {
    const int64_t size = checked_multiply(panels * kWidth, depth_, "packed W");
    return {checked_multiply(size, sizeof(T), "packed W"),
            std::min(panels, drawn_panels()) * panel_bytes(), "a group of packed frequencies"};
  }

  int64_t panel_bytes() const {
    return checked_multiply(kWidth * static_cast<int64_t>(sizeof(double)), depth_, "frequencies");
  }
  int64_t drawn_panels() const {
    return std::clamp<int64_t>(kDrawnBytes / panel_bytes(), 1, kGroupPanels);
  }

  AlignedBuffer<T> pack(int64_t g, const FrequencySource& source, Context& context) const {
    const int64_t panels = panels_of(g);
    AlignedBuffer<T> storage(panels * kWidth * depth_);
    const int64_t step = std::min(panels, drawn_panels());
    const Matrix<double> drawn(std::min(step * kWidth, count_), depth_);
    for (int64_t first = 0; first < panels; first += step) {
      const int64_t some = std::min(step, panels - first);
      const int64_t j0 = (g * kGroupPanels + first) * kWidth;
      const MatrixView<double> omega =
          drawn.view().block_rows(0, std::min(some * kWidth, count_ - j0));
      source.fill(j0, context, omega);
      parallel_for(context, some, [&](int64_t p, int) noexcept {
        pack_panel(omega, p * kWidth, storage.data() + (first + p) * depth_ * kWidth);
      });
    }
    return storage;
  }

  void pack_panel(MatrixView<const double> omega, int64_t j0, T* panel) const noexcept {
    for (int64_t c = 0; c < kWidth; ++c) {
      for (int64_t k = 0; k < depth_; ++k) {
        panel[k * kWidth + c] =
            j0 + c < omega.rows ? static_cast<T>(omega(j0 + c, k) * unit_) : T{0};
      }
    }
  }

  int64_t depth_;
  int64_t count_;
  double unit_;
  LazyGroups<AlignedBuffer<T>> groups_;
};

}  // namespace mercer::projection
