// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSketch (Pham, Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD
// 2013; Pagh 2013; of two inputs summed over locations: compact bilinear pooling, Gao et al. 2016):
// the circular convolution of CountSketches of the factors. h and s are fully independent rather
// than of limited independence; a complex sketch has s uniform on {1, -1, i, -i}.
//
// Few terms are convolved as lists, many in the Fourier domain: which, follows from the numbers of
// terms that the row lists, so that a row's bits are its own.
#include "projection/tensor_sketch.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "projection/circular_product.h"
#include "projection/count_sketch.h"
#include "projection/hashed_terms.h"
#include "projection/lazy_groups.h"
#include "projection/term_product.h"
#include "random/distributions.h"
#include "transform/spectrum.h"

namespace mercer::projection {
namespace {

// A term of a list costs what kTermCost of the (p + 1) m log2 m steps of p + 1 transforms do, about
// half a nanosecond (measured, m = 64 to 4,096).
constexpr double kTermCost = 16;
// Sums over rows run one inverse transform per call.
constexpr int64_t kTileRows = 32;

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

template <class T>
bool is_aligned(const T* address) noexcept {
  return reinterpret_cast<uintptr_t>(address) % kAlignment == 0;
}

class TensorSketch final : public Multilinear {
 public:
  explicit TensorSketch(const SketchShape& shape)
      : Multilinear(shape), hashes_(1), single_(1), double_(1) {
    const double steps =
        static_cast<double>(columns()) * std::bit_width(static_cast<uint64_t>(columns()));
    budget_ = static_cast<double>(factors() + 1) * steps / kTermCost;
  }
  TensorSketch(const SketchShape& shape, std::vector<TensorHash> hashes) : TensorSketch(shape) {
    Context unlimited;
    hashes_.prepare(0, {}, unlimited, [&](int64_t) { return std::move(hashes); });
  }

  int64_t tile_rows() const noexcept override { return kTileRows; }
  int64_t scratch(int64_t, int64_t, float) const override { return scratch_size(); }
  int64_t scratch(int64_t, int64_t, double) const override { return scratch_size(); }
  void prepare(Blocks, float, Context& context) const override { prepare_in(single_, context); }
  void prepare(Blocks, double, Context& context) const override { prepare_in(double_, context); }

  void apply(std::span<const FactorRows<float>> rows, Blocks c, Planes<float> Z,
             float* scratch) const noexcept override {
    apply_rows(single_[0], rows, c, Z, scratch);
  }
  void apply(std::span<const FactorRows<double>> rows, Blocks c, Planes<double> Z,
             double* scratch) const noexcept override {
    apply_rows(double_[0], rows, c, Z, scratch);
  }
  void apply_sum(std::span<const FactorRows<float>> rows, Blocks c, Planes<float> Z,
                 float* scratch) const noexcept override {
    sum_rows(single_[0], rows, c, Z, scratch);
  }
  void apply_sum(std::span<const FactorRows<double>> rows, Blocks c, Planes<double> Z,
                 double* scratch) const noexcept override {
    sum_rows(double_[0], rows, c, Z, scratch);
  }

 private:
  template <class T>
  struct Prepared {
    std::unique_ptr<const CircularProduct<T>> product;  // none for one factor
    std::vector<AlignedBuffer<T>> multipliers;
    std::vector<PackedFactor<T>> factors;
  };

  // Scratch: vectors of m numbers (complex: 2m), then spectra.
  template <class T>
  struct Areas {
    T* vector;   // C u of a factor, then the row of Z
    T* sum;      // of what was convolved as lists
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
  int64_t scratch_size() const {
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

  // `each` bytes for every coordinate of all factors.
  int64_t coordinate_bytes(int64_t each, const char* what) const {
    int64_t count = 0;
    for (const FactorShape& factor : shape().factors)
      count = checked_add(count, factor.dimension(), what);
    return checked_multiply(count, each, what);
  }
  int64_t longest() const noexcept {
    int64_t most = 0;
    for (const FactorShape& factor : shape().factors) most = std::max(most, factor.dimension());
    return most;
  }

  void prepare_hashes(Context& context) const {
    constexpr const char* kWhat = "the hashes of a sketch";
    // A slot and a sign of each coordinate; for one factor at a time what they are drawn as.
    const GroupCost cost{coordinate_bytes(5, kWhat), checked_multiply(longest(), 27, kWhat), kWhat};
    hashes_.prepare(0, cost, context, [&](int64_t) {
      Stage stage(context, factors());
      std::vector<TensorHash> hashes;
      for (const FactorShape& factor : shape().factors) {
        hashes.push_back(
            draw_hash(shape(), static_cast<int64_t>(hashes.size()), factor.dimension()));
        stage.advance(1);
        context.checkpoint();
      }
      return hashes;
    });
  }

  template <class T>
  void prepare_in(LazyGroups<Prepared<T>>& store, Context& context) const {
    prepare_hashes(context);
    constexpr const char* kWhat = "the signs of a sketch, and its transforms";
    // Twiddles and FFTW's own stay, the arrays that it plans on go.
    const int64_t plans = factors() == 1 ? 0
                                         : checked_multiply(2 * vector_size(),
                                                            static_cast<int64_t>(sizeof(T)), kWhat);
    const GroupCost cost{checked_add(coordinate_bytes(sizeof(T), kWhat), plans, kWhat), plans,
                         kWhat};
    store.prepare(0, cost, context, [&](int64_t) {
      Prepared<T> made;
      for (int64_t f = 0; f < factors(); ++f) pack(f, made);
      if (factors() == 1) return made;
      made.product = std::make_unique<const CircularProduct<T>>(columns(), is_complex());
      return made;
    });
  }

  // The scale of the sketch goes with its first factor.
  template <class T>
  void pack(int64_t f, Prepared<T>& made) const {
    const FactorShape& factor = shape().factors[static_cast<size_t>(f)];
    const TensorHash& hash = hashes_[0][static_cast<size_t>(f)];
    const double scale = f == 0 ? shape().scale : 1.0;
    AlignedBuffer<T> multipliers(factor.dimension());
    for (int64_t k = 0; k < factor.dimension(); ++k) {
      const double own = k < factor.inputs ? factor.scale : factor.constant;
      multipliers[k] = static_cast<T>(scale * own * hash.signs[static_cast<size_t>(k)]);
    }
    made.factors.push_back(
        {hash.slots.data(), multipliers.data(), factor.inputs, factor.constant != 0});
    made.multipliers.push_back(std::move(multipliers));
  }

  // Terms that a list may have: three lists find room where spectra go.
  int64_t list_room() const noexcept { return columns() / 2; }

  template <class T>
  bool is_direct(std::span<const FactorRows<T>> rows, int64_t i) const noexcept {
    if (factors() == 1) return true;
    int64_t terms = 1, work = 0;
    for (size_t f = 0; f < rows.size(); ++f) {
      const int64_t own = count_terms(shape().factors[f], rows[f], i);
      if (terms > list_room() || own > list_room()) return false;
      terms *= own;
      work += terms;
    }
    return static_cast<double>(work) <= budget_;
  }

  template <class T>
  Terms<T> list(T* storage, int64_t place) const noexcept {
    T* const slots = storage + 2 * place * list_room();
    return {reinterpret_cast<uint32_t*>(slots), slots + list_room()};
  }

  template <class T>
  void collect(const PackedFactor<T>& factor, const FactorRows<T>& rows, int64_t i,
               Terms<T>& terms) const noexcept {
    terms.count = 0;
    for_each_term(factor, rows, i, [&terms](uint32_t slot, T value) {
      terms.slots[terms.count] = slot;
      terms.values[terms.count++] = value;
    });
  }

  // re, im += S(u) of row i, by lists.
  template <class T>
  void add_direct(const Prepared<T>& made, std::span<const FactorRows<T>> rows, int64_t i, T* re,
                  T* im, T* storage) const noexcept {
    if (factors() == 1) {
      T* const planes[] = {re, im};
      const int shift = im == nullptr ? 0 : 1;
      for_each_term(made.factors[0], rows[0], i,
                    [&](uint32_t slot, T value) { planes[slot & shift][slot >> shift] += value; });
      return;
    }
    Terms<T> all = list(storage, 0), own = list(storage, 1), next = list(storage, 2);
    collect(made.factors[0], rows[0], i, all);
    for (size_t f = 1; f + 1 < rows.size(); ++f) {
      collect(made.factors[f], rows[f], i, own);
      multiply_terms(all, own, columns(), is_complex(), next);
      std::swap(all, next);
    }
    collect(made.factors.back(), rows.back(), i, own);
    add_terms(all, own, columns(), re, im);
  }

  // The spectrum of S(u) of row i.
  template <class T>
  void transform(const Prepared<T>& made, std::span<const FactorRows<T>> rows, int64_t i,
                 const Areas<T>& at, T* product) const noexcept {
    for (size_t f = 0; f < rows.size(); ++f) {
      T* const vector = at.vector;
      std::fill(vector, vector + vector_size(), T{0});
      for_each_term(made.factors[f], rows[f], i,
                    [vector](uint32_t slot, T value) { vector[slot] += value; });
      made.product->forward(vector, at.spectra + static_cast<int64_t>(f) * spectrum_size());
    }
    made.product->multiply(at.spectra, factors(), product);
  }

  template <class T>
  void apply_rows(const Prepared<T>& made, std::span<const FactorRows<T>> rows, Blocks c,
                  Planes<T> Z, T* scratch) const noexcept {
    const Areas<T> at = areas(scratch);
    for (int64_t i = 0; i < Z.re.rows; ++i) {
      T* const re = Z.re.row(i);
      T* const im = is_complex() ? Z.im.row(i) : nullptr;
      if (is_direct(rows, i)) {
        apply_direct(made, rows, i, c, re, im, at);
      } else {
        transform(made, rows, i, at, at.product);
        invert(made, c, re, im, at);
      }
    }
  }

  bool is_whole(Blocks c) const noexcept { return c.begin == 0 && c.end == columns(); }

  template <class T>
  void apply_direct(const Prepared<T>& made, std::span<const FactorRows<T>> rows, int64_t i,
                    Blocks c, T* re, T* im, const Areas<T>& at) const noexcept {
    T* const to_re = is_whole(c) ? re : at.vector;
    T* const to_im = im == nullptr || is_whole(c) ? im : at.vector + columns();
    std::fill(to_re, to_re + columns(), T{0});
    if (to_im != nullptr) std::fill(to_im, to_im + columns(), T{0});
    add_direct(made, rows, i, to_re, to_im, at.product);
    if (is_whole(c)) return;
    std::copy(to_re + c.begin, to_re + c.end, re);
    if (im != nullptr) std::copy(to_im + c.begin, to_im + c.end, im);
  }

  // Columns c of what has the spectrum at.product.
  template <class T>
  void invert(const Prepared<T>& made, Blocks c, T* re, T* im, const Areas<T>& at) const noexcept {
    const bool in_place = im == nullptr && is_whole(c) && is_aligned(re);
    made.product->inverse(at.product, in_place ? re : at.vector);
    if (in_place) return;
    if (im != nullptr) {
      transform::split_conjugate(at.vector + 2 * c.begin, c.end - c.begin, re, im);
    } else {
      std::copy(at.vector + c.begin, at.vector + c.end, re);
    }
  }

  // Rows that are transformed meet in the Fourier domain, the others in at.sum.
  template <class T>
  void sum_rows(const Prepared<T>& made, std::span<const FactorRows<T>> rows, Blocks c, Planes<T> Z,
                T* scratch) const noexcept {
    const Areas<T> at = areas(scratch);
    T* const re = at.sum;
    T* const im = is_complex() ? at.sum + columns() : nullptr;
    std::fill(re, re + vector_size(), T{0});
    int64_t transformed = 0;
    const int64_t count = count_rows(rows);
    for (int64_t i = 0; i < count; ++i) {
      if (is_direct(rows, i)) {
        add_direct(made, rows, i, re, im, at.spectra);
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

  double budget_;
  mutable LazyGroups<std::vector<TensorHash>> hashes_;
  mutable LazyGroups<Prepared<float>> single_;
  mutable LazyGroups<Prepared<double>> double_;
};

void check(const SketchShape& shape) {
  for (const FactorShape& factor : shape.factors)
    CountSketch::check_extents(factor.dimension(), shape.columns);
}

}  // namespace

std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape& shape) {
  check(shape);
  return std::make_unique<TensorSketch>(shape);
}

std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape& shape,
                                                std::vector<TensorHash> hashes) {
  check(shape);
  return std::make_unique<TensorSketch>(shape, std::move(hashes));
}

}  // namespace mercer::projection
