// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Dense projection with i.i.d. columns: omega_j from the spectral density of a kernel (Rahimi,
// Recht 2007), normal (Johnson, Lindenstrauss 1984) or random signs (Achlioptas 2003), divided by
// the lengthscale. Column j is a function of seed and j alone.
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
