// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Columns of W, divided by 2 pi for Fourier maps (see transform/epilogue.h), panel by panel.
#include "projection/dense.h"

#include <utility>

#include "base/parallel.h"
#include "projection/projection.h"
#include "random/stream.h"
#include "transform/panel.h"

namespace mercer::projection {
namespace {

class Dense final : public Projection, public SparseProjection {
 public:
  Dense(int64_t d, int64_t F, std::shared_ptr<const FrequencySource> source, double unit)
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

  void frequencies(int64_t j0, Context& context, MatrixView<double> omega) const override {
    source_->fill(j0, context, omega);
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

  std::shared_ptr<const FrequencySource> source_;
  mutable PackedPanels<float> single_;
  mutable PackedPanels<double> double_;
};

// Dense projection with i.i.d. columns: omega_j from the spectral density of a kernel (Rahimi,
// Recht 2007), normal (Johnson, Lindenstrauss 1984) or random signs (Achlioptas 2003), divided by
// the lengthscale. Column j is a function of seed and j alone.

class DrawnFrequencies final : public FrequencySource {
 public:
  explicit DrawnFrequencies(const ProjectionArguments& arguments)
      : law_(arguments.law), lengthscale_(arguments.lengthscale), seed_(arguments.seed) {}

  void fill(int64_t j0, Context& context, MatrixView<double> omega) const override {
    parallel_for(context, omega.rows, [&](int64_t row, int) noexcept {
      const random::Stream stream(seed_, random::Tag::frequency, static_cast<uint64_t>(j0 + row));
      const std::span column(omega.row(row), omega.cols);
      law_->draw(stream, column);
      divide_by_lengthscale(lengthscale_, column);
    });
  }

 private:
  std::shared_ptr<const random::Law> law_;
  std::vector<double> lengthscale_;
  uint64_t seed_;
};

double drawn_squared_norm(const ProjectionArguments& arguments, int64_t j) {
  std::vector<double> column(arguments.d);
  arguments.law->draw(
      random::Stream(arguments.seed, random::Tag::frequency, static_cast<uint64_t>(j)), column);
  double sum = 0;
  for (const double w : column) sum += w * w;
  return sum;
}

}  // namespace

std::unique_ptr<Projection> make_dense(int64_t d, int64_t F,
                                       std::shared_ptr<const FrequencySource> source, Unit unit) {
  return std::make_unique<Dense>(d, F, std::move(source), factor_of(unit));
}

std::unique_ptr<const FrequencySource> drawn_columns(const ProjectionArguments& arguments) {
  return std::make_unique<DrawnFrequencies>(arguments);
}

const ProjectionEntry kDense = {
    .name = "dense",
    .help = "i.i.d. columns from the distribution; d*F multiply-adds per row",
    .independent = true,
    .squared_norm = drawn_squared_norm,
    .maker = make_dense_of<DrawnFrequencies>,
};

}  // namespace mercer::projection
