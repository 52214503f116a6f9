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
///   template <class T> void image_rows(size_t f, const FactorRows<T>&, bool moves, Planes<T>,
///                                      T* scratch) noexcept;
///   template <class T> void pull_image(size_t f, Planes<const T>, Planes<T>, T* scratch) noexcept;
/// and where images are no columns those that are below, too.
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

  void prepare_images(float, Context& context) const final {
    own().template prepare_all_images<float>(context);
  }
  void prepare_images(double, Context& context) const final {
    own().template prepare_all_images<double>(context);
  }
  void image(size_t f, const FactorRows<float>& rows, bool moves, Planes<float> out,
             float* scratch) const noexcept final {
    own().image_rows(f, rows, moves, out, scratch);
  }
  void image(size_t f, const FactorRows<double>& rows, bool moves, Planes<double> out,
             double* scratch) const noexcept final {
    own().image_rows(f, rows, moves, out, scratch);
  }
  void image_adjoint(size_t f, Planes<const float> g, Planes<float> out,
                     float* scratch) const noexcept final {
    own().pull_image(f, g, out, scratch);
  }
  void image_adjoint(size_t f, Planes<const double> g, Planes<double> out,
                     double* scratch) const noexcept final {
    own().pull_image(f, g, out, scratch);
  }
  void back(Planes<const float> products, Planes<float> Z, float* scratch) const noexcept final {
    own().back_rows(products, Z, scratch);
  }
  void back(Planes<const double> products, Planes<double> Z, double* scratch) const noexcept final {
    own().back_rows(products, Z, scratch);
  }
  void back_adjoint(Planes<const float> g, Planes<float> products,
                    float* scratch) const noexcept final {
    own().pull_back_rows(g, products, scratch);
  }
  void back_adjoint(Planes<const double> g, Planes<double> products,
                    double* scratch) const noexcept final {
    own().pull_back_rows(g, products, scratch);
  }

 protected:
  using Multilinear::Multilinear;
  template <class T>
  void prepare_all_images(Context& context) const {
    own().template prepare_columns<T>({0, columns()}, context);
  }
  template <class T>
  void back_rows(Planes<const T> products, Planes<T> Z, T*) const noexcept {
    for (int64_t i = 0; i < Z.re.rows; ++i) {
      put_row(products.re.row(i), Z.re.cols, Z.re.row(i), Z.around_caches);
      if (Z.im.data != nullptr)
        put_row(products.im.row(i), Z.im.cols, Z.im.row(i), Z.around_caches);
    }
  }
  template <class T>
  void pull_back_rows(Planes<const T> g, Planes<T> products, T* scratch) const noexcept {
    TypedMultilinear::back_rows(g, products, scratch);
  }
  const Own& own() const noexcept { return static_cast<const Own&>(*this); }
};

}  // namespace mercer::projection
