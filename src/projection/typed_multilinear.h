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
// What the base asks for in one precision.
#define MERCER_MULTILINEAR_OF(T)                                                              \
  int64_t scratch(int64_t rows, int64_t width, T) const final {                               \
    return own().template scratch_of<T>(rows, width);                                         \
  }                                                                                           \
  void prepare(Blocks c, T, Context& context) const final {                                   \
    own().template prepare_columns<T>(c, context);                                            \
  }                                                                                           \
  void apply(std::span<const FactorRows<T>> rows, Blocks c, Planes<T> Z, T* scratch)          \
      const noexcept final {                                                                  \
    own().apply_rows(rows, c, Z, scratch);                                                    \
  }                                                                                           \
  void apply_sum(std::span<const FactorRows<T>> rows, Blocks c, Planes<T> Z, T* scratch)      \
      const noexcept final {                                                                  \
    own().sum_rows(rows, c, Z, scratch);                                                      \
  }                                                                                           \
  void prepare_images(T, Context& context) const final {                                      \
    own().template prepare_all_images<T>(context);                                            \
  }                                                                                           \
  void image(size_t f, const FactorRows<T>& rows, bool moves, Planes<T> out, T* scratch)      \
      const noexcept final {                                                                  \
    own().image_rows(f, rows, moves, out, scratch);                                           \
  }                                                                                           \
  void image_adjoint(size_t f, Planes<const T> g, Planes<T> out, T* scratch)                  \
      const noexcept final {                                                                  \
    own().pull_image(f, g, out, scratch);                                                     \
  }                                                                                           \
  void back(Planes<const T> products, Planes<T> Z, T* scratch) const noexcept final {         \
    own().back_rows(products, Z, scratch);                                                    \
  }                                                                                           \
  void back_adjoint(Planes<const T> g, Planes<T> products, T* scratch) const noexcept final { \
    own().pull_back_rows(g, products, scratch);                                               \
  }
  MERCER_MULTILINEAR_OF(float)
  MERCER_MULTILINEAR_OF(double)
#undef MERCER_MULTILINEAR_OF

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
