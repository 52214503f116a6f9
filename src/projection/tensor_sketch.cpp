// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSketch (Pham, Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD
// 2013; Pagh 2013; of two inputs summed over locations: compact bilinear pooling, Gao et al. 2016):
// the circular convolution of CountSketches of the factors. h and s are fully independent rather
// than of limited independence.
//
// Few terms are convolved as lists, many in the Fourier domain: the choice follows from the number
// of terms that the row lists, so a row's bits depend on it alone.
#include "projection/tensor_sketch.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "projection/circular_product.h"
#include "projection/convolution_images.h"
#include "projection/count_sketch.h"
#include "projection/lazy_groups.h"
#include "projection/listed_product.h"
#include "projection/typed_multilinear.h"
#include "transform/spectrum.h"

namespace mercer::projection {
namespace {

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
  TensorSketch(const SketchShape& sketch, std::vector<TensorHash> hashes) : TensorSketch(sketch) {
    Context unlimited;
    hashes_.prepare(0, {}, unlimited, [&](int64_t) { return std::move(hashes); });
  }

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
  struct Prepared {
    std::unique_ptr<const CircularProduct<T>> product;  // none for one factor
    PackedFactors<T> packed;
  };
  template <class T>
  using PreparedGroup = LazyGroups<Prepared<T>>;
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
      Prepared<T> made{nullptr, pack_factors<T>(shape(), hashes_[0])};
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
  void add_listed(const Prepared<T>& made, std::span<const FactorRows<T>> rows, int64_t i, T* re,
                  T* im, T* storage) const noexcept {
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
  void transform(const Prepared<T>& made, std::span<const FactorRows<T>> rows, int64_t i,
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
    const Prepared<T>& made = prepared_.of<T>()[0];
    const Areas<T> at = areas(scratch);
    for (int64_t i = 0; i < Z.re.rows; ++i) {
      T* const re = Z.re.row(i);
      T* const im = is_complex() ? Z.im.row(i) : nullptr;
      if (lists_.pays(rows, i)) {
        apply_listed(made, rows, i, c, re, im, at);
      } else {
        transform(made, rows, i, at, at.product);
        invert(made, c, re, im, at);
      }
    }
  }

  bool is_whole(Blocks c) const noexcept { return c.begin == 0 && c.end == columns(); }

  template <class T>
  void apply_listed(const Prepared<T>& made, std::span<const FactorRows<T>> rows, int64_t i,
                    Blocks c, T* re, T* im, const Areas<T>& at) const noexcept {
    T* const to_re = is_whole(c) ? re : at.vector;
    T* const to_im = im == nullptr || is_whole(c) ? im : at.vector + columns();
    std::fill(to_re, to_re + columns(), T{0});
    if (to_im != nullptr) std::fill(to_im, to_im + columns(), T{0});
    add_listed(made, rows, i, to_re, to_im, at.product);
    if (is_whole(c)) return;
    std::copy(to_re + c.begin, to_re + c.end, re);
    if (im != nullptr) std::copy(to_im + c.begin, to_im + c.end, im);
  }

  // Columns c of the vector whose spectrum is at.product.
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

  // Rows that are transformed are summed in the Fourier domain, the others in at.sum.
  template <class T>
  void sum_rows(std::span<const FactorRows<T>> rows, Blocks c, Planes<T> Z,
                T* scratch) const noexcept {
    const Prepared<T>& made = prepared_.of<T>()[0];
    const Areas<T> at = areas(scratch);
    T* const re = at.sum;
    T* const im = is_complex() ? at.sum + columns() : nullptr;
    std::fill(re, re + vector_size(), T{0});
    int64_t transformed = 0;
    const int64_t count = count_rows(rows);
    for (int64_t i = 0; i < count; ++i) {
      if (lists_.pays(rows, i)) {
        add_listed(made, rows, i, re, im, at.spectra);
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

  ListedProduct lists_;
  mutable LazyGroups<std::vector<TensorHash>> hashes_;
  mutable PerPrecision<PreparedGroup> prepared_;
  mutable PerPrecision<Images> images_;
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
