// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Packs columns of W, divided by 2 pi for Fourier maps (see transform/epilogue.h), into panels in
// groups, so that a slice of columns needs its own groups only and a precision that is never used
// costs nothing.
#include "projection/dense.h"

#include <algorithm>
#include <utility>

#include "base/aligned.h"
#include "base/parallel.h"
#include "projection/lazy_groups.h"
#include "transform/dense_panel.h"
#include "transform/panel_transpose.h"
#include "transform/sparse_panel.h"

namespace mercer::projection {
namespace {

constexpr int64_t kGroupPanels = 32;
// Frequencies drawn in double at a time: beside the packed ones of wide rows they would weigh most.
constexpr int64_t kDrawnBytes = int64_t{64} << 20;

int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// The panels of one precision, in groups.
template <class T>
class PackedPanels {
 public:
  PackedPanels(int64_t d, int64_t F, double unit)
      : depth_(d),
        count_(F),
        unit_(unit),
        groups_(ceil_divide(ceil_divide(F, kWidth), kGroupPanels)) {}

  void prepare(Blocks panels, const FrequencySource& source, Context& context) {
    const Blocks groups{panels.begin / kGroupPanels, ceil_divide(panels.end, kGroupPanels)};
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
    return std::min(kGroupPanels, ceil_divide(count_, kWidth) - g * kGroupPanels);
  }

  // The frequencies are drawn in double beside the packed panels.
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

class Dense final : public Projection, public SparseProjection {
 public:
  Dense(int64_t d, int64_t F, std::unique_ptr<const FrequencySource> source, double unit)
      : Projection(d, F), source_(std::move(source)), single_(d, F, unit), double_(d, F, unit) {}

  BlockShape shape(float) const noexcept override { return kShape<float>; }
  BlockShape shape(double) const noexcept override { return kShape<double>; }
  void prepare(Blocks panels, float, Context& context) const override {
    single_.prepare(panels, *source_, context);
  }
  void prepare(Blocks panels, double, Context& context) const override {
    double_.prepare(panels, *source_, context);
  }
  void project(MatrixView<const float> X, int64_t panel, float* P, float*) const noexcept override {
    transform::project_panel(X, single_.panel(panel), P);
  }
  void project(MatrixView<const double> X, int64_t panel, double* P,
               double*) const noexcept override {
    transform::project_panel(X, double_.panel(panel), P);
  }
  void project_transpose(const float* G, int64_t panel, MatrixView<float> X,
                         float* scratch) const noexcept override {
    transform::project_panel_transpose(G, single_.panel(panel), X, scratch);
  }
  void project_transpose(const double* G, int64_t panel, MatrixView<double> X,
                         double* scratch) const noexcept override {
    transform::project_panel_transpose(G, double_.panel(panel), X, scratch);
  }

  const SparseProjection* sparse() const noexcept override { return this; }
  void project_sparse(const CsrView<float>& X, int64_t panel, float* P,
                      float*) const noexcept override {
    transform::project_panel(X, single_.panel(panel), P);
  }
  void project_sparse(const CsrView<double>& X, int64_t panel, double* P,
                      double*) const noexcept override {
    transform::project_panel(X, double_.panel(panel), P);
  }

 private:
  template <class T>
  static constexpr BlockShape kShape = {transform::kPanelColumns<T>, transform::kTileRows, 0,
                                        transform::kPanelTransposeScratch<T>};

  std::unique_ptr<const FrequencySource> source_;
  mutable PackedPanels<float> single_;
  mutable PackedPanels<double> double_;
};

}  // namespace

std::unique_ptr<Projection> make_dense(int64_t d, int64_t F,
                                       std::unique_ptr<const FrequencySource> source, Unit unit) {
  return std::make_unique<Dense>(d, F, std::move(source), factor_of(unit));
}

}  // namespace mercer::projection
