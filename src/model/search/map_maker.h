// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The maps that a search tries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/error.h"
#include "base/rows.h"
#include "feature/feature_map.h"
#include "model/prepare/found.h"

namespace mercer::model {

/// `make(lengthscale, D)` builds the candidate: the caller knows kernel and projection.
struct MapMaker {
  virtual ~MapMaker() = default;
  /// False: the kernel has no lengthscale, make() ignores its first argument and lambda alone is
  /// searched.
  virtual bool has_lengthscale() const { return true; }
  virtual std::shared_ptr<const feature::FeatureMap> make(double lengthscale,
                                                          int64_t features) const = 0;
  /// make(lengthscale, D) at x is make(1, D) at x / lengthscale, so that trials of many
  /// lengthscales share one map's draws. False: every candidate is made for itself.
  virtual bool scales_inputs() const { return !needs_rows(); }
  /// Whether there is a candidate of that lengthscale: where not, a search goes no further.
  virtual bool has_candidate(double /*lengthscale*/) const { return true; }
  /// Where a search for the lengthscale starts; 0: at the median distance of rows.
  virtual double start() const { return 0; }
  /// Of the kernel of every candidate; none where all numbers are inputs.
  virtual std::optional<InputDomain> domain() const { return std::nullopt; }
  /// A lengthscale for each input: at x it is make(1, D) at x_j / lengthscales[j]. UNSUPPORTED
  /// unless has_input_lengthscales().
  virtual bool has_input_lengthscales() const { return false; }
  virtual std::shared_ptr<const feature::FeatureMap> make_per_input(std::span<const double>,
                                                                    int64_t) const {
    fail(MERCER_UNSUPPORTED, "a lengthscale for each input, expected one for all");
  }
  /// True: candidates are made from the standardised rows that they are trained on and their coded
  /// targets, by make_from alone.
  virtual bool needs_rows() const { return false; }
  /// D of what make_from makes from so many rows where so many features are wanted.
  virtual int64_t features_of(int64_t wanted, int64_t /*rows*/) const { return wanted; }
  /// It is made from all rows of the fit, those that are scored among them: a column for each.
  virtual bool keeps_all_rows() const { return false; }
  virtual std::shared_ptr<const feature::FeatureMap> make_from(double lengthscale, int64_t features,
                                                               const Rows&,
                                                               const MatrixView<const double>&,
                                                               Context&) const {
    return make(lengthscale, features);
  }
  /// Of a kernel with a share that is left open (KernelEntry::shape): those to try, the first a
  /// fair one, and the maps of one of them.
  virtual std::vector<double> shapes() const { return {}; }
  virtual std::unique_ptr<MapMaker> at_shape(double) const { return nullptr; }
  /// Where the kernel is left open: maps of others that are tried, too, of x / l like these.
  virtual std::vector<std::unique_ptr<MapMaker>> other_kernels() const { return {}; }
  /// Of a kernel of several outputs: those of its scalar kernel. Null: it has one.
  virtual std::unique_ptr<MapMaker> of_scalar() const { return nullptr; }
};

}  // namespace mercer::model
