// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps whose feature j is a function of a row and of d numbers of column j other than their inner
// product. Columns are packed in panels; rows of every kind, slices and both precisions are handled
// here.
#pragma once

#include <cstdint>
#include <memory>

#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "projection/dense.h"

namespace mercer::feature {

class PanelMap : public FeatureMap, public Derivatives {
 public:
  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const final;
  void prepare(Precision precision, Context& context) const final;
  /// These go through the functions of one panel below.
  const Derivatives* derivatives() const noexcept final { return this; }
  MERCER_DERIVATIVE_CALLS

 protected:
  PanelMap(int64_t d, int64_t D, std::unique_ptr<const projection::FrequencySource> columns);

 private:
  template <class T>
  class Tiles;

  /// Numbers that a row is turned into before it meets the panels; 0: rows as they are.
  virtual int64_t prepared() const noexcept { return 0; }
  virtual void prepare_row(const float*, float*) const noexcept {}
  virtual void prepare_row(const double*, double*) const noexcept {}
  /// Numbers per element of P that finish needs, 64-byte aligned like P.
  virtual int64_t scratch() const noexcept { return 0; }
  /// P(i, :) = the features of one panel of columns (transform/panel.h) for the prepared row
  /// i of X. The bits of a row of P depend on its row of X alone.
  virtual void finish(MatrixView<const float> X, const float* panel, float* P,
                      float* scratch) const noexcept = 0;
  virtual void finish(MatrixView<const double> X, const double* panel, double* P,
                      double* scratch) const noexcept = 0;

  /// Scratch of the functions below, in numbers per column, 64-byte aligned.
  virtual int64_t derivative_scratch() const { return 0; }
  /// dz[k columns + j] = the derivative in input k of feature j of a panel at the row x.
  virtual void panel_gradient(const float* x, const float* panel, float* dz,
                              float* scratch) const noexcept = 0;
  virtual void panel_gradient(const double* x, const double* panel, double* dz,
                              double* scratch) const noexcept = 0;
  /// z = d^p of the panel's features.
  virtual void panel_partial(const MultiIndex& p, const float* x, const float* panel, float* z,
                             float* scratch) const noexcept = 0;
  virtual void panel_partial(const MultiIndex& p, const double* x, const double* panel, double* z,
                             double* scratch) const noexcept = 0;

  template <class T, class Body>
  void for_each_panel(int64_t rows, int64_t column_numbers, Context& context,
                      const Body& body) const;
  template <class T, class Body>
  void for_each_gradient(MatrixView<const T> X, Context& context, const Body& body) const;
  MERCER_DERIVATIVE_MEMBERS
  template <class T>
  projection::PackedPanels<T>& panels() const noexcept;

  std::unique_ptr<const projection::FrequencySource> columns_;
  mutable projection::PackedPanels<float> single_;
  mutable projection::PackedPanels<double> double_;
};

template <>
projection::PackedPanels<float>& PanelMap::panels() const noexcept;
template <>
projection::PackedPanels<double>& PanelMap::panels() const noexcept;

// The arguments of derivatives of one panel of features.

template <class T>
struct PanelRow {
  const T* x;      // the row
  const T* W;      // inputs x columns (transform/panel.h)
  int64_t inputs;  // d
};

}  // namespace mercer::feature
