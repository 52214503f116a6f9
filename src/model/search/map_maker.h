// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Makes the maps that a search tries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/error.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "model/prepare/input_domain.h"

namespace mercer::model {

/// `make(lengthscale, D)` builds a candidate; kernel and projection are the maker's.
struct MapMaker {
  virtual ~MapMaker() = default;
  /// False: the kernel has no lengthscale; make() ignores it, and only lambda is searched.
  virtual bool has_lengthscale() const { return true; }
  virtual std::shared_ptr<const feature::FeatureMap> make(double lengthscale,
                                                          int64_t features) const = 0;
  /// Whether make(lengthscale, D) at x is make(1, D) at x / lengthscale, so that all lengthscales
  /// share one map's draws. False: every candidate is made by itself.
  virtual bool scales_inputs() const { return !needs_rows(); }
  /// Whether there is a candidate of that lengthscale; if not, a search goes no further.
  virtual bool has_candidate(double /*lengthscale*/) const { return true; }
  /// Where a search for the lengthscale starts; 0: at the median distance of rows.
  virtual double start() const { return 0; }
  /// The input domain of every candidate's kernel; none if it is unbounded.
  virtual std::optional<InputDomain> domain() const { return std::nullopt; }
  /// A lengthscale for each input: make(1, D) at x_j / lengthscales[j]. UNSUPPORTED unless
  /// has_input_lengthscales().
  virtual bool has_input_lengthscales() const { return false; }
  virtual std::shared_ptr<const feature::FeatureMap> make_per_input(std::span<const double>,
                                                                    int64_t) const {
    fail(MERCER_UNSUPPORTED, "a lengthscale for each input, expected one for all");
  }
  /// Whether the gradient of features in inputs gives that in the lengthscale.
  virtual bool learns_lengthscale() const { return has_input_lengthscales(); }
  /// True: candidates are made by make_from alone, from their standardised training rows and coded
  /// targets.
  virtual bool needs_rows() const { return false; }
  /// make_from reads all of them: a sample would not do.
  virtual bool reads_all_rows() const { return false; }
  /// The number of features that make_from gives for so many wanted and so many rows.
  virtual int64_t features_of(int64_t wanted, int64_t /*rows*/) const { return wanted; }
  /// The map has a column for each row of the fit, held-out ones included.
  virtual bool keeps_all_rows() const { return false; }
  virtual std::shared_ptr<const feature::FeatureMap> make_from(double lengthscale, int64_t features,
                                                               const Rows&,
                                                               const MatrixView<const double>&,
                                                               Context&) const {
    return make(lengthscale, features);
  }
  /// For a kernel whose mixture is left open (KernelEntry::shape): the values to try, the first a
  /// default, and the maker for one of them.
  virtual std::vector<double> shapes() const { return {}; }
  virtual std::unique_ptr<MapMaker> at_shape(double) const { return nullptr; }
  /// If the kernel is left open: makers for other kernels to try, of x / l as well.
  virtual std::vector<std::unique_ptr<MapMaker>> other_kernels() const { return {}; }
  /// If the projection is left open: the maker for frequencies on a grid, of the same lengthscales.
  /// Null: not for this map, or for so many inputs.
  virtual std::unique_ptr<MapMaker> on_grid() const { return nullptr; }
  /// For a kernel of several outputs: the maker for its scalar kernel, which leaves open what the
  /// spec does. Null: one output.
  virtual std::unique_ptr<MapMaker> of_scalar() const { return nullptr; }
};

}  // namespace mercer::model
