// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Johnson-Lindenstrauss projections with Gaussian entries (Johnson, Lindenstrauss 1984) and with
// random signs (Achlioptas 2003), unscaled. Column j is a function of seed and j alone.
#include "projection/random_entries.h"

#include <span>

#include "base/parallel.h"
#include "projection/dense.h"
#include "random/distributions.h"

namespace mercer::projection {
namespace {

class DrawnEntries final : public FrequencySource {
 public:
  DrawnEntries(EntryLaw law, uint64_t seed) : law_(law), seed_(seed) {}

  void fill(int64_t j0, Context& context, MatrixView<double> W) const override {
    parallel_for(context, W.rows, [&](int64_t row, int) noexcept {
      const random::Stream stream(seed_, random::Tag::frequency, static_cast<uint64_t>(j0 + row));
      const std::span column(W.row(row), static_cast<size_t>(W.cols));
      if (law_ == EntryLaw::gaussian) random::fill_normal(stream, 0, column);
      if (law_ == EntryLaw::rademacher) random::fill_rademacher(stream, 0, column);
    });
  }

 private:
  EntryLaw law_;
  uint64_t seed_;
};

}  // namespace

std::unique_ptr<Projection> make_random_entries(EntryLaw law, int64_t d, int64_t D, uint64_t seed) {
  return make_dense(d, D, std::make_unique<DrawnEntries>(law, seed), Unit::plain);
}

}  // namespace mercer::projection
