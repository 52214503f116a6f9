// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Projections: rows x in R^d to P = xW in turns (angle / 2 pi), one panel of kPanelColumns<T> columns at a time, so that
// whoever finishes a panel finds it in cache. F columns in all; the last panel is padded.
#pragma once

#include <cstdint>

#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::projection {

/// Panels [begin, end).
struct Panels {
  int64_t begin;
  int64_t end;
};

class Projection {
 public:
  virtual ~Projection() = default;
  int64_t inputs() const noexcept { return inputs_; }    // d
  int64_t outputs() const noexcept { return outputs_; }  // F

  /// Draws and packs what project needs for these panels and this precision, once; thread-safe; may fail (memory,
  /// cancellation) and be retried. Other panels are not drawn.
  virtual void prepare(Panels panels, float tag, Context& context) const = 0;
  virtual void prepare(Panels panels, double tag, Context& context) const = 0;

  /// P (X.rows x kPanelColumns<T>, contiguous, 64-byte aligned) of a prepared panel. X.rows <= transform::kTileRows.
  virtual void project(MatrixView<const float> X, int64_t panel, float* P) const noexcept = 0;
  virtual void project(MatrixView<const double> X, int64_t panel, double* P) const noexcept = 0;

 protected:
  Projection(int64_t inputs, int64_t outputs) : inputs_(inputs), outputs_(outputs) {}

 private:
  int64_t inputs_;
  int64_t outputs_;
};

}  // namespace mercer::projection
