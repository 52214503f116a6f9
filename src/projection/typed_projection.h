// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A projection written once for both precisions: the functions of Projection for float and double
// call templates of the class itself.
#pragma once

#include "projection/projection.h"

namespace mercer::projection {

/// What a projection keeps for either precision.
template <template <class> class Kept>
class PerPrecision {
 public:
  template <class... Arguments>
  explicit PerPrecision(const Arguments&... arguments)
      : single_(arguments...), double_(arguments...) {}
  template <class T>
  Kept<T>& of() noexcept {
    if constexpr (sizeof(T) == sizeof(float)) {
      return single_;
    } else {
      return double_;
    }
  }

 private:
  Kept<float> single_;
  Kept<double> double_;
};

/// Own: for T float and double, const members
///   template <class T> BlockShape shape_of() noexcept;
///   template <class T> void prepare_blocks(Blocks, Context&);
///   template <class T> void project_rows(const Rows&, int64_t block, T* P, T* scratch) noexcept;
///   template <class T> void add_rows(const T* G, int64_t block, MatrixView<T> X, T*) noexcept;
/// Rows are MatrixView<const T>, and CsrView<T> of a TypedSparseProjection.
template <class Own>
class TypedProjection : public Projection {
 public:
  BlockShape shape(float) const noexcept final { return own().template shape_of<float>(); }
  BlockShape shape(double) const noexcept final { return own().template shape_of<double>(); }
  void prepare(Blocks blocks, float, Context& context) const final {
    own().template prepare_blocks<float>(blocks, context);
  }
  void prepare(Blocks blocks, double, Context& context) const final {
    own().template prepare_blocks<double>(blocks, context);
  }
  void project(MatrixView<const float> X, int64_t block, float* P,
               float* scratch) const noexcept final {
    own().project_rows(X, block, P, scratch);
  }
  void project(MatrixView<const double> X, int64_t block, double* P,
               double* scratch) const noexcept final {
    own().project_rows(X, block, P, scratch);
  }
  void project_transpose(const float* G, int64_t block, MatrixView<float> X,
                         float* scratch) const noexcept final {
    own().add_rows(G, block, X, scratch);
  }
  void project_transpose(const double* G, int64_t block, MatrixView<double> X,
                         double* scratch) const noexcept final {
    own().add_rows(G, block, X, scratch);
  }

 protected:
  using Projection::Projection;
  const Own& own() const noexcept { return static_cast<const Own&>(*this); }
};

/// A projection that reads sparse rows, too.
template <class Own>
class TypedSparseProjection : public TypedProjection<Own>, public SparseProjection {
 public:
  const SparseProjection* sparse() const noexcept final { return this; }
  void project_sparse(const CsrView<float>& X, int64_t block, float* P,
                      float* scratch) const noexcept final {
    this->own().project_rows(X, block, P, scratch);
  }
  void project_sparse(const CsrView<double>& X, int64_t block, double* P,
                      double* scratch) const noexcept final {
    this->own().project_rows(X, block, P, scratch);
  }

 protected:
  using TypedProjection<Own>::TypedProjection;
};

}  // namespace mercer::projection
