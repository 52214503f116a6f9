// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A sketch written once for both precisions, as projections are (typed_projection.h).
#pragma once

#include "projection/multilinear.h"
#include "projection/typed_projection.h"

namespace mercer::projection {

/// Own: for T float and double, const members
///   template <class T> int64_t scratch_of(int64_t rows, int64_t width);
///   template <class T> void prepare_columns(Blocks, Context&);
///   template <class T> void apply_rows(std::span<const FactorRows<T>>, Blocks, Planes<T>,
///                                      T* scratch) noexcept;
///   template <class T> void sum_rows(std::span<const FactorRows<T>>, Blocks, Planes<T>,
///                                    T* scratch) noexcept;
template <class Own>
class TypedMultilinear : public Multilinear {
 public:
  int64_t scratch(int64_t rows, int64_t width, float) const final {
    return own().template scratch_of<float>(rows, width);
  }
  int64_t scratch(int64_t rows, int64_t width, double) const final {
    return own().template scratch_of<double>(rows, width);
  }
  void prepare(Blocks c, float, Context& context) const final {
    own().template prepare_columns<float>(c, context);
  }
  void prepare(Blocks c, double, Context& context) const final {
    own().template prepare_columns<double>(c, context);
  }
  void apply(std::span<const FactorRows<float>> rows, Blocks c, Planes<float> Z,
             float* scratch) const noexcept final {
    own().apply_rows(rows, c, Z, scratch);
  }
  void apply(std::span<const FactorRows<double>> rows, Blocks c, Planes<double> Z,
             double* scratch) const noexcept final {
    own().apply_rows(rows, c, Z, scratch);
  }
  void apply_sum(std::span<const FactorRows<float>> rows, Blocks c, Planes<float> Z,
                 float* scratch) const noexcept final {
    own().sum_rows(rows, c, Z, scratch);
  }
  void apply_sum(std::span<const FactorRows<double>> rows, Blocks c, Planes<double> Z,
                 double* scratch) const noexcept final {
    own().sum_rows(rows, c, Z, scratch);
  }

 protected:
  using Multilinear::Multilinear;
  const Own& own() const noexcept { return static_cast<const Own&>(*this); }
};

}  // namespace mercer::projection
