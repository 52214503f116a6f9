// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The roots B(omega_j), p x q, of all frequencies, as linear operators: they make a map of several
// outputs of a scalar one.
#pragma once

#include <cstdint>

#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::feature {

class FrequencyRoot {
 public:
  virtual ~FrequencyRoot() = default;
  int64_t outputs() const noexcept { return outputs_; }  // p
  int64_t width() const noexcept { return width_; }      // q
  /// Draws what the products need; thread-safe, and may fail and be retried.
  virtual void prepare(Context&) const {}
  /// out = B(omega_j) c. After prepare.
  virtual void spread(int64_t j, const double* c, double* out) const noexcept = 0;
  /// c = B(omega_j)' g. After prepare.
  virtual void gather(int64_t j, const double* g, double* c) const noexcept = 0;
  /// B where it is the same for all frequencies, else no rows.
  virtual MatrixView<const double> shared() const noexcept { return {}; }

 protected:
  FrequencyRoot(int64_t outputs, int64_t width) : outputs_(outputs), width_(width) {}

 private:
  int64_t outputs_;
  int64_t width_;
};

}  // namespace mercer::feature
