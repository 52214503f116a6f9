// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Dense projection with i.i.d. columns: omega_j from the kernel's spectral law (Rahimi, Recht
// 2007), coordinate by coordinate over the lengthscale. Column j is a function of seed and j alone.
#include "base/parallel.h"
#include "projection/dense.h"
#include "projection/frequency_scale.h"
#include "projection/projections.h"
#include "random/stream.h"

namespace mercer::projection {
namespace {

class DrawnFrequencies final : public FrequencySource {
 public:
  explicit DrawnFrequencies(const ProjectionArguments& arguments)
      : kernel_(arguments.kernel), seed_(arguments.seed) {}

  void fill(int64_t j0, Context& context, MatrixView<double> omega) const override {
    parallel_for(context, omega.rows, [&](int64_t row, int) noexcept {
      const random::Stream stream(seed_, random::Tag::frequency, static_cast<uint64_t>(j0 + row));
      const std::span column(omega.row(row), static_cast<size_t>(omega.cols));
      kernel_->spectral_law()->draw(stream, column);
      divide_by_lengthscale(kernel_->lengthscale(), column);
    });
  }

 private:
  std::shared_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
};

}  // namespace

std::unique_ptr<Projection> make_drawn(const ProjectionArguments& arguments) {
  return make_dense(arguments.d, arguments.F, std::make_unique<DrawnFrequencies>(arguments));
}

}  // namespace mercer::projection
