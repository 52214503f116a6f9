// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSketch (Pham, Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD
// 2013; Pagh 2013; of two inputs summed over locations: compact bilinear pooling, Gao et al. 2016):
// the circular convolution of CountSketches of the factors. h and s are fully independent rather
// than of limited independence.
//
// Few terms are convolved as lists, many in the Fourier domain: the choice follows from the number
// of terms that the row stores, so a row's bits depend on it alone.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/aligned.h"
#include "base/context.h"
#include "base/error.h"
#include "base/size.h"
#include "projection/lazy_groups.h"
#include "projection/osnap.h"
#include "projection/sketch_kind.h"
#include "random/distributions.h"
#include "random/scalar_math.h"
#include "transform/elements.h"
#include "transform/fft.h"
#include "transform/spectrum.h"

namespace mercer::projection {

#ifdef MERCER_WITH_FFTW
namespace {

// Circular convolution of several vectors of m real or complex numbers, in the Fourier domain. A
// product of spectra is linear in each of them, so products may be added before the inverse
// transform.

/// Immutable plans. Arrays are 64-byte aligned and do not overlap; complex numbers are interleaved.
template <class T>
class CircularProduct {
 public:
  /// Errors: INVALID_ARGUMENT (m beyond 2^31 - 1); OUT_OF_MEMORY.
  CircularProduct(int64_t m, bool complex);

  /// Numbers in a spectrum, rounded up so that arrays of them keep their alignment.
  static int64_t spectrum_size(int64_t m, bool complex) noexcept;

  void forward(const T* x, T* spectrum) const noexcept;
  /// The product of `count` spectra, spectrum_size apart.
  void multiply(const T* spectra, int64_t count, T* product) const noexcept;
  /// The vector x whose spectrum is `product`, up to a constant factor; of complex numbers the
  /// conjugates. Destroys the product.
  void inverse(T* product, T* x) const noexcept;

 private:
  int64_t m_;
  bool complex_;
  // Real vectors of even length are transformed as m/2 complex numbers, those of odd length as they
  // are.
  std::unique_ptr<const transform::ComplexFft<T>> pairs_;
  std::unique_ptr<const transform::RealFft<T>> real_;
  AlignedBuffer<T> twiddle_;
};

// Fourier transforms of vectors of m numbers, so that circular convolution is a product element by
// element. Real and imaginary parts are apart; of a real vector half the transform is kept, which
// determines the rest. CircularProduct is faster, but packs vectors so that its products are not
// element by element.

/// Immutable plans. Complex vectors are interleaved; a vector and a spectrum are 64-byte aligned
/// scratch.
template <class T>
class ConvolutionImages {
 public:
  /// Errors: INVALID_ARGUMENT (m beyond 2^31 - 1); OUT_OF_MEMORY.
  ConvolutionImages(int64_t m, bool complex);

  static int64_t elements(int64_t m, bool complex) noexcept { return complex ? m : m / 2 + 1; }
  /// Numbers in a spectrum, rounded up to whole cache lines.
  static int64_t spectrum_size(int64_t m, bool complex) noexcept {
    return (2 * elements(m, complex) + 15) / 16 * 16;
  }

  void image(const T* vector, T* spectrum, T* re, T* im) const noexcept;
  /// Z = m times the vectors whose images these are.
  void back(Planes<const T> images, Planes<T> Z, T* vector, T* spectrum) const noexcept;
  /// Sets images to those of the vectors Z, whose real and imaginary parts are apart: the adjoint
  /// of back, in which an element that stands for two counts twice. In the same way back is the
  /// adjoint of image.
  void back_adjoint(Planes<const T> Z, Planes<T> images, T* vector, T* spectrum) const noexcept;

 private:
  int64_t m_;
  std::unique_ptr<const transform::RealFft<T>> real_;
  std::unique_ptr<const transform::ComplexFft<T>> complex_;  // one of the two is set
};

// Circular convolution of vectors that are mostly zeros, each a list of terms: products of
// polynomials mod x^m - 1, at the cost of their terms.

/// A real term is value * x^slot, slot < m; a complex one value * i^(slot mod 2) * x^(slot / 2),
/// slot < 2m. Slots may repeat.
template <class T>
struct Terms {
  uint32_t* slots;
  T* values;
  int64_t count = 0;
};

/// out = a b; the a.count * b.count terms do not overlap the factors.
template <class T>
void multiply_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, bool complex,
                    Terms<T>& out) noexcept;

/// Adds the coefficients of a b to re and im, m each (real terms: im is null).
template <class T>
void add_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, T* re, T* im) noexcept;

// A real vector is packed as a complex one of half the length, even and odd entries as real and
// imaginary parts. Packing two rows together would carry rounding and NaNs of one into the other.
// FFTW's complex transforms are much faster than its real ones, and the pass that separates the
// halves also multiplies.

constexpr int64_t kLine = 16;

// -i exp(2 pi i k/m)/2 for k <= m/4, parts apart.
template <class T>
AlignedBuffer<T> packing_twiddles(int64_t m) {
  const int64_t count = m / 4 + 1;
  AlignedBuffer<T> out(2 * count);
  for (int64_t k = 0; k < count; ++k) {
    const random::SinCos angle =
        random::portable_sincos_turns(static_cast<double>(k) / static_cast<double>(m));
    out[k] = static_cast<T>(0.5 * angle.sin);
    out[count + k] = static_cast<T>(-0.5 * angle.cos);
  }
  return out;
}

// Calls put(slot, value) for every term of a b. Sums of slots are taken mod `period` without
// overflow; periods are even where slots carry a power of i in their lowest bit. Values that depend
// on bits of a slot are looked up: branches would be mispredicted half of the time.
template <bool kComplex, class T, class Put>
void for_each_product(const Terms<T>& a, const Terms<T>& b, uint32_t period, Put put) noexcept {
  for (int64_t q = 0; q < b.count; ++q) {
    const uint32_t turn = kComplex ? b.slots[q] & 1 : 0;
    const uint32_t shift = b.slots[q] - turn, wrap = period - shift;
    const T value[] = {b.values[q], turn != 0 ? -b.values[q] : b.values[q]};  // i * i = -1
    for (int64_t p = 0; p < a.count; ++p) {
      const uint32_t slot = a.slots[p];
      const uint32_t sum = slot - wrap + (period & -static_cast<uint32_t>(slot < wrap));
      put(sum ^ turn, a.values[p] * value[kComplex ? slot & 1 : 0]);
    }
  }
}

template <bool kComplex, class T>
void multiply(const Terms<T>& a, const Terms<T>& b, uint32_t period, Terms<T>& out) noexcept {
  int64_t count = 0;
  for_each_product<kComplex>(a, b, period, [&](uint32_t slot, T value) {
    out.slots[count] = slot;
    out.values[count++] = value;
  });
  out.count = count;
}

template <class T>
CircularProduct<T>::CircularProduct(int64_t m, bool complex) : m_(m), complex_(complex) {
  if (complex) {
    pairs_ = std::make_unique<const transform::ComplexFft<T>>(m);
  } else if (m % 2 == 0) {
    pairs_ = std::make_unique<const transform::ComplexFft<T>>(m / 2);
    twiddle_ = packing_twiddles<T>(m);
  } else {
    real_ = std::make_unique<const transform::RealFft<T>>(m, 1);
  }
}

template <class T>
int64_t CircularProduct<T>::spectrum_size(int64_t m, bool complex) noexcept {
  const int64_t numbers = complex ? 2 * m : m + 1;  // m + 1: the spectrum of an odd real vector
  return round_up(numbers, kLine);
}

template <class T>
void CircularProduct<T>::forward(const T* x, T* spectrum) const noexcept {
  real_ ? real_->forward(x, spectrum) : pairs_->transform(x, spectrum);
}

template <class T>
void CircularProduct<T>::multiply(const T* spectra, int64_t count, T* product) const noexcept {
  const transform::Spectra<T> all = {spectra, count, spectrum_size(m_, complex_)};
  const T share = static_cast<T>(1.0 / static_cast<double>(m_));
  if (real_) {
    transform::multiply_spectra(all, m_ / 2 + 1, share, false, product);
  } else if (complex_) {
    transform::multiply_spectra(all, m_, share, true, product);
  } else {
    transform::multiply_packed_spectra(all, m_ / 2, twiddle_.data(), 2 * share, product);
  }
}

template <class T>
void CircularProduct<T>::inverse(T* product, T* x) const noexcept {
  real_ ? real_->inverse(product, x) : pairs_->transform(product, x);
}

// Complex vectors have one direction of transform: the way back conjugates before and after it.

template <class T>
ConvolutionImages<T>::ConvolutionImages(int64_t m, bool complex) : m_(m) {
  if (complex) {
    complex_ = std::make_unique<const transform::ComplexFft<T>>(m);
  } else {
    real_ = std::make_unique<const transform::RealFft<T>>(m, 1);
  }
}

template <class T>
void ConvolutionImages<T>::image(const T* vector, T* spectrum, T* re, T* im) const noexcept {
  real_ ? real_->forward(vector, spectrum) : complex_->transform(vector, spectrum);
  for (int64_t k = 0; k < elements(m_, complex_ != nullptr); ++k) {
    re[k] = spectrum[2 * k];
    im[k] = spectrum[2 * k + 1];
  }
}

template <class T>
void ConvolutionImages<T>::back(Planes<const T> images, Planes<T> Z, T* vector,
                                T* spectrum) const noexcept {
  for (int64_t i = 0; i < Z.re.rows; ++i) {
    transform::interleave(images.re.row(i), images.im.row(i), images.re.cols, spectrum);
    if (real_) {
      real_->inverse(spectrum, vector);
      put_row(vector, m_, Z.re.row(i), Z.around_caches);
      continue;
    }
    for (int64_t k = 0; k < m_; ++k) spectrum[2 * k + 1] = -spectrum[2 * k + 1];
    complex_->transform(spectrum, vector);
    transform::split_conjugate(vector, m_, Z.re.row(i), Z.im.row(i));
  }
}

template <class T>
void ConvolutionImages<T>::back_adjoint(Planes<const T> Z, Planes<T> images, T* vector,
                                        T* spectrum) const noexcept {
  for (int64_t i = 0; i < Z.re.rows; ++i) {
    if (real_) {
      put_row(Z.re.row(i), m_, vector, false);
    } else {
      transform::interleave(Z.re.row(i), Z.im.row(i), m_, vector);
    }
    image(vector, spectrum, images.re.row(i), images.im.row(i));
  }
}

template <class T>
void multiply_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, bool complex,
                    Terms<T>& out) noexcept {
  if (complex) {
    multiply<true>(a, b, static_cast<uint32_t>(2 * m), out);
  } else {
    multiply<false>(a, b, static_cast<uint32_t>(m), out);
  }
}

template <class T>
void add_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, T* re, T* im) noexcept {
  if (im != nullptr) {
    T* const planes[] = {re, im};
    for_each_product<true>(a, b, static_cast<uint32_t>(2 * m),
                           [&](uint32_t slot, T value) { planes[slot & 1][slot >> 1] += value; });
  } else {
    for_each_product<false>(a, b, static_cast<uint32_t>(m),
                            [=](uint32_t slot, T value) { re[slot] += value; });
  }
}

// The terms of a CountSketch C u, u = [scale x, constant], in the order in which x is stored,
// whether dense, complex or sparse; some callers scatter them, others make lists of them.

// A factor with its hash: a number x_k adds multipliers[k] x_k to a slot.
template <class T>
struct PackedFactor {
  const uint32_t* slots;
  const T* multipliers;
  int64_t inputs;
  bool has_constant;
};

// Calls body(slot, value) for every term of C u, u made from row i.
template <class T, class Body>
void for_each_term(const PackedFactor<T>& factor, const FactorRows<T>& rows, int64_t i,
                   Body body) noexcept {
  const uint32_t* const slots = factor.slots;
  const T* const multipliers = factor.multipliers;
  if (rows.sparse != nullptr) {
    rows.sparse->indices.visit([&](const auto* indices) {
      const T* const values = rows.sparse->values;
      for (int64_t p = rows.sparse->begin(i); p < rows.sparse->end(i); ++p)
        body(slots[indices[p]], multipliers[indices[p]] * values[p]);
    });
  } else if (factor.inputs > 0) {
    const T* const re = rows.dense.re.row(i);
    for (int64_t k = 0; k < factor.inputs; ++k) body(slots[k], multipliers[k] * re[k]);
    if (rows.dense.im.data != nullptr) {
      const T* const im = rows.dense.im.row(i);
      for (int64_t k = 0; k < factor.inputs; ++k) {  // i * i = -1
        const T value = multipliers[k] * im[k];
        body(slots[k] ^ 1, (slots[k] & 1) != 0 ? -value : value);
      }
    }
  }
  if (factor.has_constant) body(slots[factor.inputs], multipliers[factor.inputs]);
}

// The number of calls of for_each_term.
template <class T>
int64_t count_terms(const FactorShape& factor, const FactorRows<T>& rows, int64_t i) noexcept {
  const int64_t constant = factor.constant != 0 ? 1 : 0;
  if (rows.sparse != nullptr) return rows.sparse->end(i) - rows.sparse->begin(i) + constant;
  return factor.inputs * (rows.dense.im.data != nullptr ? 2 : 1) + constant;
}

// Factors without inputs have no rows of their own.
template <class T>
int64_t count_rows(std::span<const FactorRows<T>> rows) noexcept {
  int64_t count = 0;
  for (const FactorRows<T>& factor : rows)
    count = std::max(count, factor.sparse != nullptr ? factor.sparse->rows : factor.dense.re.rows);
  return count;
}

// The bucket and unit of coordinate k of a factor's u. Real: bucket slots[k], unit signs[k].
// Complex: bucket slots[k] / 2, unit signs[k] i^(slots[k] mod 2).
struct TensorHash {
  std::vector<uint32_t> slots;
  std::vector<int8_t> signs;
};

// Buckets and signs are those of a CountSketch per factor; a complex sketch has units uniform on
// {1, -1, i, -i}, whose powers of i go into the slots.
TensorHash draw_hash(const SketchShape& shape, int64_t factor, int64_t dimension) {
  const int64_t stream = shape.first_factor + factor;
  const CountSketch sketch = CountSketch::draw(shape.seed, stream, dimension, shape.columns);
  const auto size = static_cast<size_t>(dimension);
  TensorHash hash = {std::vector<uint32_t>(size), sketch.signs()};
  for (size_t k = 0; k < size; ++k) hash.slots[k] = static_cast<uint32_t>(sketch.buckets()[k]);
  if (!shape.complex) return hash;
  std::vector<double> units(2 * size);
  random::fill_complex_rademacher(
      random::Stream(shape.seed, random::Tag::sign, static_cast<uint64_t>(stream)), 0, units);
  for (size_t k = 0; k < size; ++k) {
    const bool imaginary = units[2 * k] == 0;
    hash.slots[k] = 2 * hash.slots[k] + (imaginary ? 1 : 0);
    hash.signs[k] = static_cast<int8_t>(units[2 * k + (imaginary ? 1 : 0)]);
  }
  return hash;
}

// `each` bytes for every coordinate of all factors.
int64_t coordinate_bytes(const SketchShape& shape, int64_t each, const char* what) {
  int64_t count = 0;
  for (const FactorShape& factor : shape.factors)
    count = checked_add(count, factor.dimension(), what);
  return checked_multiply(count, each, what);
}

// Hashes of all factors, as a stage of the context.
std::vector<TensorHash> draw_tensor_hashes(const SketchShape& shape, Context& context) {
  Stage stage(context, std::ssize(shape.factors));
  std::vector<TensorHash> hashes;
  for (const FactorShape& factor : shape.factors) {
    hashes.push_back(draw_hash(shape, std::ssize(hashes), factor.dimension()));
    stage.advance(1);
    context.checkpoint();
  }
  return hashes;
}

// Bytes of those hashes: for each coordinate a slot and a sign.
int64_t tensor_hash_bytes(const SketchShape& shape, const char* what) {
  return coordinate_bytes(shape, 5, what);
}

// Bytes that drawing them takes in addition, for the form in which one factor's hash is drawn.
int64_t tensor_hash_drawing_bytes(const SketchShape& shape, const char* what) {
  int64_t longest = 0;
  for (const FactorShape& factor : shape.factors) longest = std::max(longest, factor.dimension());
  return checked_multiply(longest, 27, what);
}

// Refers to the slots of the hashes that it was made from.
template <class T>
struct PackedFactors {
  std::vector<AlignedBuffer<T>> multipliers;
  std::vector<PackedFactor<T>> factors;
};

// The scale of the sketch goes with its first factor.
template <class T>
PackedFactors<T> pack_factors(const SketchShape& shape, std::span<const TensorHash> hashes) {
  PackedFactors<T> packed;
  for (size_t f = 0; f < hashes.size(); ++f) {
    const FactorShape& factor = shape.factors[f];
    const double scale = f == 0 ? shape.scale : 1.0;
    AlignedBuffer<T> multipliers(factor.dimension());
    for (int64_t k = 0; k < factor.dimension(); ++k) {
      const double own = k < factor.inputs ? factor.scale : factor.constant;
      multipliers[k] = static_cast<T>(scale * own * hashes[f].signs[k]);
    }
    packed.factors.push_back(
        {hashes[f].slots.data(), multipliers.data(), factor.inputs, factor.constant != 0});
    packed.multipliers.push_back(std::move(multipliers));
  }
  return packed;
}

// Bytes of packed factors.
template <class T>
int64_t packed_bytes(const SketchShape& shape, const char* what) {
  return coordinate_bytes(shape, sizeof(T), what);
}

// TensorSketch of rows with few terms: factors are lists of terms, convolved one after the other.
class SparseConvolution {
 public:
  explicit SparseConvolution(const SketchShape& shape) : shape_(shape) {
    const double steps = static_cast<double>(m()) * std::bit_width(static_cast<uint64_t>(m()));
    budget_ = static_cast<double>(shape.factors.size() + 1) * steps / kTermCost;
  }

  // Whether row i costs less as lists than in the Fourier domain.
  template <class T>
  bool pays(std::span<const FactorRows<T>> rows, int64_t i) const noexcept {
    if (rows.size() == 1) return true;
    int64_t terms = 1, work = 0;
    for (size_t f = 0; f < rows.size(); ++f) {
      const int64_t own = count_terms(shape_.factors[f], rows[f], i);
      if (terms > room() || own > room()) return false;
      terms *= own;
      work += terms;
    }
    return static_cast<double>(work) <= budget_;
  }

  // Adds S(u) of row i to re and im (null for real sketches). Storage: 3 m numbers, none for one
  // factor.
  template <class T>
  void add(std::span<const PackedFactor<T>> factors, std::span<const FactorRows<T>> rows, int64_t i,
           T* re, T* im, T* storage) const noexcept {
    if (factors.size() == 1) {
      T* const planes[] = {re, im};
      const int shift = im == nullptr ? 0 : 1;
      for_each_term(factors[0], rows[0], i,
                    [&](uint32_t slot, T value) { planes[slot & shift][slot >> shift] += value; });
      return;
    }
    Terms<T> all = list(storage, 0), own = list(storage, 1), next = list(storage, 2);
    collect(factors[0], rows[0], i, all);
    for (size_t f = 1; f + 1 < rows.size(); ++f) {
      collect(factors[f], rows[f], i, own);
      multiply_terms(all, own, m(), shape_.complex, next);
      std::swap(all, next);
    }
    collect(factors.back(), rows.back(), i, own);
    add_terms(all, own, m(), re, im);
  }

 private:
  // A transform takes m log2 m steps; a term of a list costs as much as kTermCost of the (p + 1) m
  // log2 m steps of p + 1 transforms, about half a nanosecond each (measured, m = 64 to 4,096).
  static constexpr double kTermCost = 16;

  int64_t m() const noexcept { return shape_.columns; }
  // Most terms of a list: three lists fit where spectra go.
  int64_t room() const noexcept { return m() / 2; }

  template <class T>
  Terms<T> list(T* storage, int64_t place) const noexcept {
    T* const slots = storage + 2 * place * room();
    return {reinterpret_cast<uint32_t*>(slots), slots + room()};
  }

  template <class T>
  static void collect(const PackedFactor<T>& factor, const FactorRows<T>& rows, int64_t i,
                      Terms<T>& terms) noexcept {
    terms.count = 0;
    for_each_term(factor, rows, i, [&terms](uint32_t slot, T value) {
      terms.slots[terms.count] = slot;
      terms.values[terms.count++] = value;
    });
  }

  const SketchShape& shape_;
  double budget_;
};

// Sums over rows run one inverse transform per call.
constexpr int64_t kTileRows = 32;

template <class T>
bool is_aligned(const T* address) noexcept {
  return reinterpret_cast<uintptr_t>(address) % kAlignment == 0;
}

class TensorSketch final : public TypedMultilinear<TensorSketch> {
  friend TypedMultilinear<TensorSketch>;

 public:
  explicit TensorSketch(const SketchShape& sketch)
      : TypedMultilinear(sketch), lists_(shape()), hashes_(1), prepared_(1), images_(1) {}

  int64_t tile_rows() const noexcept override { return kTileRows; }
  // A single factor is its own image, several are multiplied in the Fourier domain.
  ImageShape images() const noexcept override {
    if (factors() == 1) return {columns(), is_complex(), 1};
    const auto m = static_cast<double>(columns());
    return {ConvolutionImages<float>::elements(columns(), is_complex()), true, 1 / m};
  }
  int64_t image_scratch(int64_t) const override {
    return 2 * vector_size() + ConvolutionImages<float>::spectrum_size(columns(), is_complex());
  }

 private:
  template <class T>
  struct GroupFactors {
    std::unique_ptr<const CircularProduct<T>> product;  // none for one factor
    PackedFactors<T> packed;
  };
  template <class T>
  using LazyFactors = LazyGroups<GroupFactors<T>>;
  template <class T>
  using Images = LazyGroups<ConvolutionImages<T>>;

  // Scratch: vectors of m numbers (complex: 2m), then spectra.
  template <class T>
  struct Areas {
    T* vector;   // C u of a factor, then the row of Z
    T* sum;      // of rows convolved as lists
    T* product;  // spectra
    T* products;
    T* spectra;  // one per factor
  };

  int64_t factors() const noexcept { return static_cast<int64_t>(shape().factors.size()); }
  // Numbers in a vector, to whole cache lines.
  int64_t vector_size() const noexcept {
    return (columns() * (is_complex() ? 2 : 1) + 15) / 16 * 16;
  }
  int64_t spectrum_size() const noexcept {
    return CircularProduct<float>::spectrum_size(columns(), is_complex());
  }
  int64_t spectrum_numbers() const noexcept {
    return is_complex() ? 2 * columns() : columns() + columns() % 2;
  }
  template <class T>
  int64_t scratch_of(int64_t, int64_t) const {
    const int64_t spectra =
        factors() == 1 ? 0
                       : checked_multiply(factors() + 2, spectrum_size(), "spectra of a sketch");
    return checked_add(2 * vector_size(), spectra, "scratch of a sketch");
  }
  template <class T>
  Areas<T> areas(T* scratch) const noexcept {
    T* const product = scratch + 2 * vector_size();
    return {scratch, scratch + vector_size(), product, product + spectrum_size(),
            product + 2 * spectrum_size()};
  }

  void prepare_hashes(Context& context) const {
    constexpr const char* kWhat = "the hashes of a sketch";
    const GroupCost cost{tensor_hash_bytes(shape(), kWhat),
                         tensor_hash_drawing_bytes(shape(), kWhat), kWhat};
    hashes_.prepare(0, cost, context,
                    [&](int64_t) { return draw_tensor_hashes(shape(), context); });
  }

  template <class T>
  void prepare_columns(Blocks, Context& context) const {
    prepare_hashes(context);
    constexpr const char* kWhat = "the signs of a sketch, and its transforms";
    // FFTW's plans and twiddle factors are kept, the arrays that it plans on are freed.
    const int64_t plans = factors() == 1 ? 0
                                         : checked_multiply(2 * vector_size(),
                                                            static_cast<int64_t>(sizeof(T)), kWhat);
    const GroupCost cost{checked_add(packed_bytes<T>(shape(), kWhat), plans, kWhat), plans, kWhat};
    prepared_.of<T>().prepare(0, cost, context, [&](int64_t) {
      GroupFactors<T> made{nullptr, pack_factors<T>(shape(), hashes_[0])};
      if (factors() > 1)
        made.product = std::make_unique<const CircularProduct<T>>(columns(), is_complex());
      return made;
    });
  }

  template <class T>
  void prepare_all_images(Context& context) const {
    prepare_columns<T>({0, columns()}, context);
    if (factors() == 1) return;
    constexpr const char* kWhat = "the transforms of a sketch's derivatives";
    const int64_t plans = checked_multiply(2 * vector_size(), sizeof(T), kWhat);
    images_.of<T>().prepare(0, {plans, plans, kWhat}, context,
                            [&](int64_t) { return ConvolutionImages<T>(columns(), is_complex()); });
  }

  template <class T>
  void add_stored(const GroupFactors<T>& made, std::span<const FactorRows<T>> rows, int64_t i,
                  T* re, T* im, T* storage) const noexcept {
    lists_.add(std::span<const PackedFactor<T>>(made.packed.factors), rows, i, re, im, storage);
  }

  // The image of factor f; a complex C u is interleaved and transformed.
  template <class T>
  void image_rows(size_t f, const FactorRows<T>& rows, bool moves, Planes<T> out,
                  T* vector) const noexcept {
    PackedFactor<T> factor = prepared_.of<T>()[0].packed.factors[f];
    factor.has_constant = factor.has_constant && !moves;
    const int shift = is_complex() ? 1 : 0;
    for (int64_t i = 0; i < out.re.rows; ++i) {
      T* const planes[] = {out.re.row(i), is_complex() ? out.im.row(i) : nullptr};
      if (factors() == 1) {
        for (int part = 0; part <= shift; ++part) std::fill_n(planes[part], columns(), T{0});
        for_each_term(factor, rows, i, [&](uint32_t slot, T value) {
          planes[slot & shift][slot >> shift] += value;
        });
        continue;
      }
      std::fill_n(vector, vector_size(), T{0});
      for_each_term(factor, rows, i, [&](uint32_t slot, T value) { vector[slot] += value; });
      images_.of<T>()[0].image(vector, vector + vector_size(), out.re.row(i), out.im.row(i));
    }
  }

  // The adjoint: inverse transform, then each coordinate reads its bucket.
  template <class T>
  void pull_image(size_t f, Planes<const T> g, Planes<T> out, T* scratch) const noexcept {
    const PackedFactor<T>& factor = prepared_.of<T>()[0].packed.factors[f];
    const int shift = is_complex() ? 1 : 0;
    T *const vector = scratch + vector_size(), *const spectrum = vector + vector_size();
    for (int64_t i = 0; i < out.re.rows; ++i) {
      Planes<const T> own{g.re.block_rows(i, i + 1),
                          is_complex() ? g.im.block_rows(i, i + 1) : MatrixView<const T>()};
      if (factors() > 1) {
        const Planes<T> Z{{scratch, 1, columns()}, {scratch + shift * columns(), 1, columns()}};
        images_.of<T>()[0].back({g.re.block_rows(i, i + 1), g.im.block_rows(i, i + 1)}, Z, vector,
                                spectrum);
        own = {Z.re, Z.im};
      }
      for (int64_t k = 0; k < factor.inputs; ++k) {
        const int64_t bucket = factor.slots[k] >> shift;
        const bool turned = (factor.slots[k] & static_cast<uint32_t>(shift)) != 0;
        const T re = own.re.data[bucket], im = is_complex() ? own.im.data[bucket] : T{0};
        out.re(i, k) += factor.multipliers[k] * (turned ? im : re);
        if (out.im.data != nullptr) out.im(i, k) += factor.multipliers[k] * (turned ? -re : im);
      }
    }
  }

  template <class T>
  void back_rows(Planes<const T> products, Planes<T> Z, T* scratch) const noexcept {
    if (factors() == 1) return TypedMultilinear::back_rows(products, Z, scratch);
    images_.of<T>()[0].back(products, Z, scratch, scratch + vector_size());
  }
  template <class T>
  void pull_back_rows(Planes<const T> g, Planes<T> products, T* scratch) const noexcept {
    if (factors() == 1) return TypedMultilinear::pull_back_rows(g, products, scratch);
    images_.of<T>()[0].back_adjoint(g, products, scratch, scratch + vector_size());
  }

  // The spectrum of S(u) of row i.
  template <class T>
  void transform(const GroupFactors<T>& made, std::span<const FactorRows<T>> rows, int64_t i,
                 const Areas<T>& at, T* product) const noexcept {
    for (size_t f = 0; f < rows.size(); ++f) {
      T* const vector = at.vector;
      std::fill(vector, vector + vector_size(), T{0});
      for_each_term(made.packed.factors[f], rows[f], i,
                    [vector](uint32_t slot, T value) { vector[slot] += value; });
      made.product->forward(vector, at.spectra + static_cast<int64_t>(f) * spectrum_size());
    }
    made.product->multiply(at.spectra, factors(), product);
  }

  template <class T>
  void apply_rows(std::span<const FactorRows<T>> rows, Blocks c, Planes<T> Z,
                  T* scratch) const noexcept {
    const GroupFactors<T>& made = prepared_.of<T>()[0];
    const Areas<T> at = areas(scratch);
    for (int64_t i = 0; i < Z.re.rows; ++i) {
      T* const re = Z.re.row(i);
      T* const im = is_complex() ? Z.im.row(i) : nullptr;
      if (lists_.pays(rows, i)) {
        apply_stored(made, rows, i, c, re, im, at);
      } else {
        transform(made, rows, i, at, at.product);
        invert(made, c, re, im, at);
      }
    }
  }

  bool is_whole(Blocks c) const noexcept { return c.begin == 0 && c.end == columns(); }

  template <class T>
  void apply_stored(const GroupFactors<T>& made, std::span<const FactorRows<T>> rows, int64_t i,
                    Blocks c, T* re, T* im, const Areas<T>& at) const noexcept {
    T* const to_re = is_whole(c) ? re : at.vector;
    T* const to_im = im == nullptr || is_whole(c) ? im : at.vector + columns();
    std::fill(to_re, to_re + columns(), T{0});
    if (to_im != nullptr) std::fill(to_im, to_im + columns(), T{0});
    add_stored(made, rows, i, to_re, to_im, at.product);
    if (is_whole(c)) return;
    std::copy(to_re + c.begin, to_re + c.end, re);
    if (im != nullptr) std::copy(to_im + c.begin, to_im + c.end, im);
  }

  // Columns c of the vector whose spectrum is at.product.
  template <class T>
  void invert(const GroupFactors<T>& made, Blocks c, T* re, T* im,
              const Areas<T>& at) const noexcept {
    const bool in_place = im == nullptr && is_whole(c) && is_aligned(re);
    made.product->inverse(at.product, in_place ? re : at.vector);
    if (in_place) return;
    if (im != nullptr) {
      transform::split_conjugate(at.vector + 2 * c.begin, c.end - c.begin, re, im);
    } else {
      std::copy(at.vector + c.begin, at.vector + c.end, re);
    }
  }

  // Rows that are transformed are summed in the Fourier domain, the others in at.sum.
  template <class T>
  void sum_rows(std::span<const FactorRows<T>> rows, Blocks c, Planes<T> Z,
                T* scratch) const noexcept {
    const GroupFactors<T>& made = prepared_.of<T>()[0];
    const Areas<T> at = areas(scratch);
    T* const re = at.sum;
    T* const im = is_complex() ? at.sum + columns() : nullptr;
    std::fill(re, re + vector_size(), T{0});
    int64_t transformed = 0;
    const int64_t count = count_rows(rows);
    for (int64_t i = 0; i < count; ++i) {
      if (lists_.pays(rows, i)) {
        add_stored(made, rows, i, re, im, at.spectra);
        continue;
      }
      transform(made, rows, i, at, transformed == 0 ? at.product : at.products);
      if (transformed++ > 0) transform::add_spectrum(at.products, spectrum_numbers(), at.product);
    }
    const int64_t width = c.end - c.begin;
    T* const out[] = {Z.re.row(0), im == nullptr ? nullptr : Z.im.row(0)};
    transform::add_spectrum(re + c.begin, width, out[0]);
    if (im != nullptr) transform::add_spectrum(im + c.begin, width, out[1]);
    if (transformed == 0) return;
    invert(made, c, re, im, at);
    transform::add_spectrum(re, width, out[0]);
    if (im != nullptr) transform::add_spectrum(im, width, out[1]);
  }

  SparseConvolution lists_;
  mutable LazyGroups<std::vector<TensorHash>> hashes_;
  mutable PerPrecision<LazyFactors> prepared_;
  mutable PerPrecision<Images> images_;
};

}  // namespace

std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape& shape) {
  for (const FactorShape& factor : shape.factors)
    CountSketch::check_extents(factor.dimension(), shape.columns);
  return std::make_unique<TensorSketch>(shape);
}
#else
std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape&) {
  fail(MERCER_UNSUPPORTED, "tensor_sketch: this build of mercer lacks FFTW (MERCER_WITH_FFTW=OFF)");
}
#endif

namespace {

// TensorSketch as a kind of sketch, and the moments of its columns. For independent hashes and
// signs these are ours; Avron, Nguyen, Woodruff 2014 bound its variance by (2 + 3^p) N^p/D. The
// columns have the DFT prod_i F_i, F_i(w) = sum_k s_k u_k exp(2 pi i w h(k)/D), so that moments of
// columns are sums over frequencies of products over i, and the mean over the hashes vanishes
// except for pairs of coordinates at equal or opposite frequencies.
using Factors = std::span<const PairMoments>;

// Products over the factors that remain in these sums.
struct FrequencyProducts {
  double N, S, R, Q, T, U, mean;
  double NS;   // of N + S - Q
  double SS;   // of 2S - Q
  double RR;   // of 2R - T
  double NSS;  // of N + 2S - 2Q
};

FrequencyProducts frequency_products(Factors factors) noexcept {
  FrequencyProducts p{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (const PairMoments& u : factors) {
    p.N *= u.N;
    p.S *= u.S;
    p.R *= u.R;
    p.Q *= u.Q;
    p.T *= u.T;
    p.U *= u.U;
    p.mean *= u.mean;
    p.NS *= u.N + (u.S - u.Q);
    p.SS *= 2 * u.S - u.Q;
    p.RR *= 2 * u.R - u.T;
    p.NSS *= u.N + 2 * (u.S - u.Q);
  }
  return p;
}

// Among the D^2 pairs (w, w') a share `both` has w = w' = -w, `one` has only w = w', and as many
// only w = -w'.
PairMoments real_tensor_sketch(const FrequencyProducts& p, int64_t columns) noexcept {
  const auto D = static_cast<double>(columns);
  const double self_opposite = columns % 2 == 0 ? 2 : 1;
  const double both = self_opposite / D / D, one = (D - self_opposite) / D / D;
  const double none = 1 - 2 * one - both;
  PairMoments out;
  out.mean = p.mean;
  out.N = p.N + (2 * one * (p.NS - p.N) + both * (p.NSS - p.N));
  out.S = p.S + (one * ((p.NS - p.S) + (p.SS - p.S)) + both * (p.NSS - p.S));
  out.Q = p.Q + (none * (p.N + 2 * p.S - 3 * p.Q) + one * (2 * p.NS + p.SS - 3 * p.Q) +
                 both * (p.NSS - p.Q)) /
                    D;
  out.R = out.S;
  out.T = out.U = out.Q;
  return out;
}

// With complex signs opposite frequencies do not matter.
PairMoments complex_tensor_sketch(const FrequencyProducts& p, int64_t columns) noexcept {
  const auto D = static_cast<double>(columns);
  const double none = 1 - 1 / D;
  PairMoments out;
  out.mean = p.mean;
  out.N = p.N + (p.NS - p.N) / D;
  out.S = p.S + (p.NS - p.S) / D;
  out.R = p.R + (p.RR - p.R) / D;
  out.Q = p.Q + (none * (p.N + p.S - 2 * p.Q) + (p.NS - p.Q) / D) / D;
  out.T = p.T + (none * 2 * (p.R - p.T) + (p.RR - p.T) / D) / D;
  out.U = p.U;
  return out;
}

PairMoments tensor_sketch_moments(bool complex, int64_t columns, int64_t,
                                  Factors factors) noexcept {
  const FrequencyProducts p = frequency_products(factors);
  return complex ? complex_tensor_sketch(p, columns) : real_tensor_sketch(p, columns);
}

}  // namespace

SketchFamily tensor_sketch_entry() {
  return {.name = "tensor_sketch",
          .help =
              "circular convolution of `degree` CountSketches by FFT; degree*(nnz + D log D) "
              "per row, nnz non-zeros",
          .fields = {SketchField::real, SketchField::complex_to_real, SketchField::complex},
          .kinds = {{.name = "tensor_sketch",
                     .make = make_tensor_sketch,
                     .moments = tensor_sketch_moments,
                     .alike = false}}};
}

}  // namespace mercer::projection
