// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kinds of random multilinear maps. A family is a map of its own and one line of the table; its
// kinds differ in the distribution of what they draw.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/views.h"
#include "projection/projection.h"

namespace mercer::projection {

// Random multilinear maps, the building blocks of polynomial sketches: rows
// (u_1, ..., u_p), one per factor, to m columns S(u_1, ..., u_p), linear in each factor, with
//   E S(u)' conj S(v) = prod_i u_i' conj v_i.
// A sketch of (x'y)^p is one whose factors all read x; compositions feed one into another.

struct SketchKind;

/// The vector that a factor reads: u = [scale * x, constant], the last coordinate only if constant
/// != 0. inputs = 0 with constant = 1 is the vector e_1.
struct FactorShape {
  int64_t inputs;
  double scale = 1;
  double constant = 0;
  /// Length of u.
  int64_t dimension() const noexcept { return inputs + (constant != 0 ? 1 : 0); }
};

/// A tile of real rows (im.data null) or of complex ones, real and imaginary parts apart.
template <class T>
struct Planes {
  MatrixView<T> re;
  MatrixView<T> im = {};
  bool around_caches = false;  // a result too large for the caches is written past them
};

/// Stores n numbers of a result. If they are stored around the caches, transform::finish_streaming
/// has to follow.
template <class T>
void put_row(const T* from, int64_t n, T* to, bool around_caches) noexcept;

/// The x of one factor for a tile of rows: dense planes, or sparse real rows if `sparse` is set.
template <class T>
struct FactorRows {
  Planes<const T> dense;
  const CsrView<T>* sparse = nullptr;
};

struct SketchShape {
  const SketchKind* kind;
  bool complex;                      // complex weights, complex columns
  std::vector<FactorShape> factors;  // p >= 1
  int64_t columns;                   // m
  uint64_t seed;
  int64_t first_factor = 0;  // factor i draws from streams of index (first_factor + i) 2^32 + ...
  double scale = 1;          // of every column, in addition to m^{-1/2}
};

/// How S is made: S(u_1, ..., u_p) = back(share prod_i image_i(u_i)), products element by element
/// of images that are linear in u. Power series of rows are multiplied as images.
struct ImageShape {
  int64_t elements;
  bool complex;
  double share;
};

/// Immutable, except for what is drawn or packed on first use, under a lock.
class Multilinear {
 public:
  virtual ~Multilinear() = default;
  const SketchShape& shape() const noexcept { return shape_; }
  int64_t columns() const noexcept { return shape_.columns; }
  bool is_complex() const noexcept { return shape_.complex; }

  /// Rows per call at which apply is fastest.
  virtual int64_t tile_rows() const noexcept = 0;
  /// Numbers that apply and apply_sum need beside Z for `rows` rows and a slice of `width` columns,
  /// 64-byte aligned. The argument of type float or double tells the precision.
  virtual int64_t scratch(int64_t rows, int64_t width, float) const = 0;
  virtual int64_t scratch(int64_t rows, int64_t width, double) const = 0;

  /// Draws and packs what columns [c.begin, c.end) need for this precision, once; thread-safe; may
  /// fail (memory, cancellation) and be retried.
  virtual void prepare(Blocks c, float, Context& context) const = 0;
  virtual void prepare(Blocks c, double, Context& context) const = 0;

  /// Z = columns [c.begin, c.end) of S(u) for every row; all prepared. rows[i] belongs to factor i;
  /// complex rows are for complex sketches only. Z has two planes iff the sketch is complex. The
  /// bits of a row of Z depend on its rows of u alone. Z does not overlap the inputs.
  virtual void apply(std::span<const FactorRows<float>> rows, Blocks c, Planes<float> Z,
                     float* scratch) const noexcept = 0;
  virtual void apply(std::span<const FactorRows<double>> rows, Blocks c, Planes<double> Z,
                     double* scratch) const noexcept = 0;

  /// Adds the sum of those rows to Z(0, :). In bilinear pooling rows are locations.
  virtual void apply_sum(std::span<const FactorRows<float>> rows, Blocks c, Planes<float> Z,
                         float* scratch) const noexcept = 0;
  virtual void apply_sum(std::span<const FactorRows<double>> rows, Blocks c, Planes<double> Z,
                         double* scratch) const noexcept = 0;

  virtual ImageShape images() const noexcept = 0;
  /// Numbers of scratch that image and back need for `rows` rows, 64-byte aligned.
  virtual int64_t image_scratch(int64_t rows) const = 0;
  /// Draws and packs what image and back need, for all columns.
  virtual void prepare_images(float, Context& context) const = 0;
  virtual void prepare_images(double, Context& context) const = 0;
  /// out = image_f(u) for every row, u = [scale x, constant], or with `moves`, for directions, u =
  /// [scale x, 0]. Two planes iff images are complex. Bits as for apply.
  virtual void image(size_t f, const FactorRows<float>& rows, bool moves, Planes<float> out,
                     float* scratch) const noexcept = 0;
  virtual void image(size_t f, const FactorRows<double>& rows, bool moves, Planes<double> out,
                     double* scratch) const noexcept = 0;
  /// The adjoint of image along directions: adds to out the cotangents of rows, real or complex,
  /// given the cotangents g of their images (of complex numbers dL/dRe + i dL/dIm).
  virtual void image_adjoint(size_t f, Planes<const float> g, Planes<float> out,
                             float* scratch) const noexcept = 0;
  virtual void image_adjoint(size_t f, Planes<const double> g, Planes<double> out,
                             double* scratch) const noexcept = 0;
  /// All columns of Z from the products; a copy where images are columns. If it goes around the
  /// caches, the caller finishes the streaming.
  virtual void back(Planes<const float> products, Planes<float> Z,
                    float* scratch) const noexcept = 0;
  virtual void back(Planes<const double> products, Planes<double> Z,
                    double* scratch) const noexcept = 0;
  /// The adjoint of back, up to factors of elements that image_adjoint cancels.
  virtual void back_adjoint(Planes<const float> g, Planes<float> products,
                            float* scratch) const noexcept = 0;
  virtual void back_adjoint(Planes<const double> g, Planes<double> products,
                            double* scratch) const noexcept = 0;

 protected:
  explicit Multilinear(SketchShape shape) : shape_(std::move(shape)) {}

 private:
  SketchShape shape_;
};

/// The smallest power of two that holds every factor's u: the d of a TensorSRHT.
int64_t sketch_dimension(std::span<const FactorShape> factors);

/// Makes a sketch of the shape's kind. Errors: INVALID_ARGUMENT (m or d too large for the kind;
/// tuple: m > d^p); UNSUPPORTED (tensor_sketch in a build without FFTW).
std::unique_ptr<Multilinear> make_multilinear(const SketchShape& shape);

// A sketch written once for both precisions, as projections are (TypedProjection).

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
/// and, where images are not columns, those below as well.
template <class Own>
class TypedMultilinear : public Multilinear {
 public:
// What the base class calls, in one precision.
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

/// Expectations over a pair of random vectors u (made of x), v (made of y), possibly complex.
struct PairMoments {
  double mean;  // E <u, v>, <u, v> = sum_k u_k conj v_k
  double N;     // E ||u||^2 ||v||^2
  double S;     // E |<u, v>|^2
  double R;     // E <u, v>^2
  double Q;     // E sum_k |u_k|^2 |v_k|^2
  double T;     // E sum_k u_k^2 conj(v_k)^2
  double U;     // E sum_k u_k^2 v_k^2
};

/// The field of numbers of weights and columns. complex_to_real: D/2 complex columns laid out as
/// [Re | Im], D even.
enum class SketchField { real, complex, complex_to_real };
inline constexpr const char* kSketchFields[] = {"real", "complex", "complex_to_real"};
inline constexpr Choice<SketchField> kSketchField{
    "field", kSketchFields,
    "numbers of weights and columns; complex_to_real: [Re | Im] of features/2 complex columns, "
    "features even"};

/// One kind. Names are unique over all families.
struct SketchKind {
  const char* name;
  std::unique_ptr<Multilinear> (*make)(const SketchShape& shape);
  /// Moments of the columns of a sketch from those of its factors; `padded`: sketch_dimension.
  PairMoments (*moments)(bool complex, int64_t columns, int64_t padded,
                         std::span<const PairMoments> factors) noexcept;
  /// The kind of the same family that is used for a single factor; null: itself.
  const char* single = nullptr;
  /// Its name as a projection of one factor; null: not offered as one.
  const char* projection = nullptr;
  /// Columns come in independent blocks of sketch_dimension.
  bool blocks = false;
  /// Columns are i.i.d.
  bool independent = false;
  /// There are at most as many columns as tuples of indices, sketch_dimension^factors.
  bool limited = false;
  /// All pairs of columns, or of columns of a block where there are blocks, have the same moments.
  bool alike = true;
};

struct SketchFamily {
  const char* name;  // of the map
  const char* help;
  std::vector<SketchField> fields;     // the default first
  std::vector<SketchKind> kinds;       // the default first
  const char* kinds_help = "";         // help of the kinds, where there are several
  const char* kinds_former = nullptr;  // an earlier key for the kind in specs
};

/// In order of cost, the most expensive first.
std::span<const SketchFamily> sketch_families();

/// The kind of that name, null if there is none; and its family.
const SketchKind* sketch_kind(std::string_view name) noexcept;
const SketchFamily& family_of(const SketchKind& kind);

/// The kind used for a sketch of one factor.
const SketchKind& single_kind(const SketchKind& kind);

// Second moments of sketches whose columns are products, over the factors, of random weights.

/// How two distinct columns of a factor depend on each other: they are distinct members of an
/// orthogonal set of others + 1 columns.
struct Dependence {
  double fraction = 0;  // of all m^2 ordered pairs of columns; the other pairs are uncorrelated
  double others = kInfinity;  // where fraction = 0
  bool joint = false;         // the set is of tuples over all factors, not one set for each factor
};

/// Moments of m columns. unit_weights: every weight has magnitude 1, else they are normal.
PairMoments product_moments(bool unit_weights, const Dependence& pairs, bool complex, double m,
                            std::span<const PairMoments> factors) noexcept;

// TensorSketch, the circular convolution of CountSketches.

/// UNSUPPORTED in a build without Fourier transforms.
std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape& shape);

}  // namespace mercer::projection
