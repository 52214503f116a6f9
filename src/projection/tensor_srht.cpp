// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSRHT (Ahle et al. 2020; complex signs, stacked and upsampled forms: Wacker, Kanagawa,
// Filippone 2022): S(u)_l = m^{-1/2} prod_i (H D_i u_i)[index_i(l)] in d dimensions, d the power of
// two that holds every u_i; D_i random signs, +-1 or {1, -1, i, -i} (then two real transforms per
// factor). The blocks of the stacked form share their signs: a sum over all rows of H D_i is
// deterministic, so permuting them independently is enough to make blocks uncorrelated. Rows are
// computed as lanes of a batch, or one at a time where they are few or the transforms of all
// factors large: a factor's transform then stays in cache while all columns gather from it. The
// bits are the same.
#include "projection/tensor_srht.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "projection/lazy_groups.h"
#include "projection/sketch_kind.h"
#include "random/distributions.h"
#include "transform/elements.h"
#include "transform/hadamard.h"
#include "transform/lanes.h"
#include "transform/stream_copy.h"

namespace mercer::projection {
namespace {

// upsampled (Wacker, Kanagawa, Filippone 2022): for each factor the indices 0..d-1, each ceil(m/d)
// times, shuffled, and the first m of them. stacked (the same paper): a permutation for each factor
// and block of d columns. tuple (Ahle et al. 2020, who draw with replacement): m distinct elements of
// [d]^p.

// With more bits than this, [d]^p is sampled by rejection.
constexpr int64_t kMostEnumeratedBits = 62;
// Columns of stacked blocks drawn together: fewer would make a gather too short.
constexpr int64_t kIndexColumns = 1024;

// Steps of a shuffle, and tuples, between two checks for cancellation.
constexpr size_t kStepsTogether = size_t{1} << 16;
constexpr int64_t kTuplesTogether = 4096;
// Indices that a type can hold.
template <class T>
constexpr int64_t kMostOf = int64_t{1} << 8 * sizeof(T);

int64_t copies_of(const IndexLaw& law) noexcept { return (law.columns - 1) / law.d + 1; }

int64_t bits_of(int64_t d) noexcept { return std::countr_zero(static_cast<uint64_t>(d)); }

random::Cursor cursor_of(const IndexLaw& law, int64_t factor, int64_t block) {
  const auto number = static_cast<uint64_t>(law.first_factor + factor) << 32;
  return random::Cursor(
      random::Stream(law.seed, random::Tag::permutation, number | static_cast<uint64_t>(block)));
}

// Indices are shuffled in as few bytes as they need: with many columns nearly every swap waits for
// memory.
template <class T>
void shuffle_copies(const IndexLaw& law, Context& context, std::span<int32_t> index) {
  std::vector<T> order(copies_of(law) * law.d);
  Stage stage(context, checked_multiply(law.factors, std::ssize(order), "indices"));
  for (int64_t i = 0; i < law.factors; ++i) {
    for (size_t l = 0; l < order.size(); ++l)
      order[l] = static_cast<T>(static_cast<int64_t>(l) & (law.d - 1));
    random::Cursor cursor = cursor_of(law, i, 0);
    for (size_t begin = 0; begin < order.size(); begin += kStepsTogether) {
      const size_t end = std::min(begin + kStepsTogether, order.size());
      random::shuffle(cursor, std::span(order), begin, std::min(end, order.size() - 1));
      stage.advance(static_cast<int64_t>(end - begin));
      context.checkpoint();
    }
    std::copy_n(order.begin(), law.columns, index.begin() + i * law.columns);
  }
}

void draw_upsampled(const IndexLaw& law, Context& context, std::span<int32_t> index) {
  if (law.d <= kMostOf<uint8_t>) return shuffle_copies<uint8_t>(law, context, index);
  if (law.d <= kMostOf<uint16_t>) return shuffle_copies<uint16_t>(law, context, index);
  shuffle_copies<int32_t>(law, context, index);
}

void draw_stacked(const IndexLaw& law, int64_t group, std::span<int32_t> index) {
  const int64_t n = index_block(law), blocks = n / law.d;
  std::vector<int64_t> order(law.d);
  for (int64_t i = 0; i < law.factors; ++i) {
    for (int64_t b = 0; b < blocks; ++b) {
      random::Cursor cursor = cursor_of(law, i, group * blocks + b);
      random::permutation(cursor, order);
      std::copy(order.begin(), order.end(), index.begin() + i * n + b * law.d);
    }
  }
}

// A tuple is a number below d^p, its digits the indices.
void draw_enumerated(const IndexLaw& law, Context& context, std::span<int32_t> index) {
  const int64_t bits = bits_of(law.d);
  std::vector<int64_t> tuples(law.columns);
  random::Cursor cursor = cursor_of(law, 0, 0);
  random::sample_without_replacement(cursor, int64_t{1} << (bits * law.factors), tuples, &context);
  for (int64_t i = 0; i < law.factors; ++i) {
    for (int64_t l = 0; l < law.columns; ++l)
      index[i * law.columns + l] = static_cast<int32_t>((tuples[l] >> (bits * i)) & (law.d - 1));
  }
}

// Tuples one after another, each drawn again while it is equal to an earlier one.
void draw_rejected(const IndexLaw& law, Context& context, std::span<int32_t> index) {
  const auto at = [&](int64_t i, int64_t l) -> int32_t& { return index[i * law.columns + l]; };
  const auto hash = [&](int64_t l) {
    uint64_t h = 0;
    for (int64_t i = 0; i < law.factors; ++i)
      h = (h ^ static_cast<uint64_t>(at(i, l))) * 0x9E3779B97F4A7C15u + (h >> 29);
    return static_cast<size_t>(h);
  };
  const auto equal = [&](int64_t a, int64_t b) {
    for (int64_t i = 0; i < law.factors; ++i) {
      if (at(i, a) != at(i, b)) return false;
    }
    return true;
  };
  std::unordered_set<int64_t, decltype(hash), decltype(equal)> seen(
      static_cast<size_t>(law.columns), hash, equal);
  random::Cursor cursor = cursor_of(law, 0, 0);
  Stage stage(context, law.columns);
  for (int64_t l = 0; l < law.columns; ++l) {
    if (l % kTuplesTogether == kTuplesTogether - 1) {
      stage.advance(kTuplesTogether);
      context.checkpoint();
    }
    do {
      for (int64_t i = 0; i < law.factors; ++i)
        at(i, l) =
            static_cast<int32_t>(random::uniform_below(cursor, static_cast<uint64_t>(law.d)));
    } while (!seen.insert(l).second);
  }
}

// TensorSRHT of several rows at once, a lane for each row (transform/lanes.h): a gather within a
// row costs several cycles a number, loading the numbers of eight rows costs one.

// Columns gathered together before they are put in their rows.
constexpr int64_t kLaneColumns = 128;

using transform::kLanes;

// Bytes of a part that is transformed at once.
constexpr int64_t kPartBytes = int64_t{24} << 10;

template <class T>
void load_sparse(const CsrView<T>& X, int64_t i0, int64_t n, T* u) noexcept {
  X.indices.visit([&](const auto* indices) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t at = X.begin(i0 + i); at < X.end(i0 + i); ++at)
        u[indices[at] * kLanes<T> + i] += X.values[at];
    }
  });
}

template <class T>
void scale_elements(T scale, int64_t count, T* u) noexcept {
  if (scale == T{1}) return;
  for (int64_t k = 0; k < count * kLanes<T>; ++k) u[k] *= scale;
}

// Elements [k0, k0 + n) of D u and their transform, depth first, so that each part is finished in
// the first-level cache.
template <class T>
void transform_part(const SrhtFactor<T>& factor, const T* u_re, const T* u_im, int64_t k0,
                    int64_t n, T* table) noexcept {
  const int64_t width = (factor.complex ? 2 : 1) * kLanes<T>;
  if (n >= 8 && n * width * static_cast<int64_t>(sizeof(T)) > kPartBytes) {
    for (int64_t part = 0; part < 8; ++part)
      transform_part(factor, u_re, u_im, k0 + part * (n / 8), n / 8, table);
    return transform::fwht_interleaved_eight(table + k0 * width, n, width);
  }
  const transform::Diagonal<T> signs{factor.signs + k0,
                                     factor.complex ? factor.signs + factor.d + k0 : nullptr};
  transform::multiply_lanes(u_re + k0 * kLanes<T>,
                            u_im == nullptr ? nullptr : u_im + k0 * kLanes<T>, signs, n,
                            table + k0 * width);
  transform::fwht_interleaved(table + k0 * width, n, width);
}

// u of rows [i0, i0 + n), n <= kLanes<T>, as lanes: d elements, then, if the rows are complex, d
// elements of imaginary parts. Lanes past n are zero.
template <class T>
void load_lanes(const FactorRows<T>& rows, const FactorShape& factor, int64_t i0, int64_t n,
                int64_t d, T* u) noexcept {
  const auto scale = static_cast<T>(factor.scale);
  const MatrixView<const T> re = rows.dense.re, im = rows.dense.im;
  const int64_t k = factor.inputs;
  const bool imaginary = im.data != nullptr;
  std::fill(u, u + (imaginary ? 2 : 1) * d * kLanes<T>, T{0});
  if (rows.sparse != nullptr) {
    load_sparse(*rows.sparse, i0, n, u);
  } else if (k > 0) {
    transform::transpose(re.row(i0), n, k, re.ld, u, kLanes<T>);
  }
  scale_elements(scale, k, u);
  if (factor.constant != 0) {
    std::fill_n(u + k * kLanes<T>, kLanes<T>, static_cast<T>(factor.constant));
  }
  if (!imaginary) return;
  T* const v = u + d * kLanes<T>;
  transform::transpose(im.row(i0), n, k, im.ld, v, kLanes<T>);
  scale_elements(scale, k, v);
}

// srht_table of every lane: d elements of kLanes<T> real parts and, if complex, as many imaginary
// parts. imaginary: u holds imaginary parts.
template <class T>
void srht_lane_table(const SrhtFactor<T>& factor, const T* u, bool imaginary, T* table) noexcept {
  const T* const u_im = imaginary ? u + factor.d * kLanes<T> : nullptr;
  transform_part(factor, u, u_im, 0, factor.d, table);
}

using transform::kLanes;

// Most bytes of the transforms of all factors of a batch: larger ones evict each other from the
// caches.
constexpr int64_t kMostTableBytes = int64_t{4} << 20;

class TensorSrht final : public TypedMultilinear<TensorSrht> {
  friend TypedMultilinear<TensorSrht>;

 public:
  TensorSrht(const SketchShape& sketch, SrhtRows rows)
      : TypedMultilinear(sketch),
        parts_(sketch.complex ? 2 : 1),
        p_(static_cast<int64_t>(sketch.factors.size())),
        d_(sketch_dimension(sketch.factors)),
        law_{rows, p_, d_, sketch.columns, sketch.seed, sketch.first_factor},
        block_(index_block(law_)),
        signs_(1),
        index_((sketch.columns - 1) / block_ + 1) {
    check_index(law_);
  }

  int64_t tile_rows() const noexcept override { return 64; }
  ImageShape images() const noexcept override { return {columns(), parts_ == 2, share<double>()}; }
  int64_t image_scratch(int64_t) const override { return (2 + parts_) * round_up(d_); }

 private:
  template <class T>
  using Signs = LazyGroups<AlignedBuffer<T>>;

  // Scratch. One row: padded u (two planes), its transform, a row of Z. A batch: the same for all
  // lanes, the transforms of all factors, some columns.
  template <class T>
  int64_t scratch_of(int64_t rows, int64_t width) const {
    const int64_t padded = checked_multiply(2 + parts_, round_up(d_), "TensorSRHT");
    const int64_t one =
        checked_add(padded, checked_multiply(parts_, round_up(width), "TensorSRHT"), "TensorSRHT");
    if (!in_lanes<T>(rows)) return one;
    return std::max(one, (2 * d_ + p_ * parts_ * d_ + 3 * kLaneColumns) * kLanes<T>);
  }

  template <class T>
  bool in_lanes(int64_t rows) const noexcept {
    return 2 * rows >= kLanes<T> &&
           p_ <= kMostTableBytes / (kLanes<T> * static_cast<int64_t>(sizeof(T)) * parts_) / d_;
  }

  template <class T>
  void prepare_columns(Blocks c, Context& context) const {
    const int64_t size = checked_multiply(checked_multiply(p_, parts_, "signs"), d_, "signs");
    const GroupCost signs_cost{checked_multiply(size, sizeof(T), "signs"),
                               checked_multiply(parts_ * d_, sizeof(double), "signs"),
                               "the signs of a sketch"};
    signs_.of<T>().prepare(0, signs_cost, context, [&](int64_t) { return draw_signs<T>(size); });
    const int64_t indices = checked_multiply(p_, block_, "indices");
    const GroupCost cost{checked_multiply(indices, sizeof(int32_t), "indices"),
                         index_scratch_bytes(law_), "the indices of a sketch"};
    const Blocks blocks{c.begin / block_, ceil_divide(c.end, block_)};
    index_.prepare_all(blocks, cost, context, [&](int64_t block) {
      AlignedBuffer<int32_t> index(indices);
      draw_index(law_, block, context, std::span(index.data(), indices));
      return index;
    });
  }

  template <class T>
  AlignedBuffer<T> draw_signs(int64_t size) const {
    AlignedBuffer<T> signs(size);
    std::vector<double> drawn(parts_ * d_);
    for (int64_t i = 0; i < p_; ++i) {
      const random::Stream stream(shape().seed, random::Tag::sign,
                                  static_cast<uint64_t>(shape().first_factor + i) << 32);
      shape().complex ? random::fill_complex_rademacher(stream, 0, drawn)
                      : random::fill_rademacher(stream, 0, drawn);
      for (int64_t k = 0; k < d_; ++k) {
        for (int64_t part = 0; part < parts_; ++part)
          signs[(i * parts_ + part) * d_ + k] = static_cast<T>(drawn[parts_ * k + part]);
      }
    }
    return signs;
  }

  template <class T>
  void apply_rows(std::span<const FactorRows<T>> rows, Blocks c, Planes<T> Z,
                  T* scratch) const noexcept {
    int64_t i = 0;
    for (; in_lanes<T>(Z.re.rows - i); i += std::min(kLanes<T>, Z.re.rows - i))
      apply_lanes(rows, i, c, Z, scratch);
    for (; i < Z.re.rows; ++i) {
      apply_row(rows, i, c, Z.re.row(i), Z.im.data == nullptr ? nullptr : Z.im.row(i), scratch);
    }
  }

  // Transforms up to kLanes rows from row i on.
  template <class T>
  void apply_lanes(std::span<const FactorRows<T>> rows, int64_t i, Blocks c, Planes<T> Z,
                   T* scratch) const noexcept {
    const int64_t n = std::min(kLanes<T>, Z.re.rows - i);
    T *const u = scratch, *const tables = u + 2 * d_ * kLanes<T>;
    for (int64_t f = 0; f < p_; ++f) {
      const FactorRows<T>& one = rows[f];
      if (f == 0 || !reads_as_before(rows, static_cast<size_t>(f)))
        load_lanes(one, shape().factors[f], i, n, d_, u);
      srht_lane_table(factor_of<T>(f), u, one.dense.im.data != nullptr,
                      tables + f * parts_ * d_ * kLanes<T>);
    }
    gather_columns(tables, i, n, c, Z, tables + p_ * parts_ * d_ * kLanes<T>);
  }

  template <class T>
  void gather_columns(const T* tables, int64_t i, int64_t n, Blocks c, Planes<T> Z,
                      T* re) const noexcept {
    T *const im = re + kLaneColumns * kLanes<T>, *const turned = im + kLaneColumns * kLanes<T>;
    const transform::LaneGather gather{p_, parts_ * d_ * kLanes<T>, block_,
                                       static_cast<int>(parts_)};
    for (int64_t l = c.begin; l < c.end;) {
      const int64_t b = l / block_, at = l - c.begin;
      const int64_t count = std::min({kLaneColumns, (b + 1) * block_ - l, c.end - l});
      transform::gather_lanes(gather, tables, index_[b].data() + (l - b * block_), share<T>(),
                              count, re, im);
      put_in_rows(re, count, n, Z.re.row(i) + at, Z.re.ld, Z.around_caches, turned);
      if (Z.im.data != nullptr)
        put_in_rows(im, count, n, Z.im.row(i) + at, Z.im.ld, Z.around_caches, turned);
      l += count;
    }
    if (Z.around_caches) transform::finish_streaming();
  }

  template <class T>
  static void put_in_rows(const T* lanes, int64_t count, int64_t n, T* rows, int64_t ld,
                          bool around_caches, T* turned) noexcept {
    if (!around_caches) return transform::transpose(lanes, count, n, kLanes<T>, rows, ld);
    transform::transpose(lanes, count, n, kLanes<T>, turned, kLaneColumns);
    for (int64_t i = 0; i < n; ++i)
      transform::stream_copy(turned + i * kLaneColumns, count, rows + i * ld);
  }

  template <class T>
  SrhtFactor<T> factor_of(int64_t f) const noexcept {
    return {signs_.of<T>()[0].data() + f * parts_ * d_, d_, shape().complex};
  }

  // The factor by which every column is multiplied.
  template <class T>
  T share() const noexcept {
    return static_cast<T>(shape().scale / std::sqrt(static_cast<double>(columns())));
  }

  template <class T>
  void sum_rows(std::span<const FactorRows<T>> rows, Blocks c, Planes<T> Z,
                T* scratch) const noexcept {
    const int64_t n = rows[0].sparse != nullptr ? rows[0].sparse->rows : rows[0].dense.re.rows;
    T* const re = scratch + (2 + parts_) * round_up(d_);
    T* const im = parts_ == 2 ? re + round_up(c.end - c.begin) : nullptr;
    for (int64_t i = 0; i < n; ++i) {
      apply_row(rows, i, c, re, im, scratch);
      for (int64_t l = 0; l < c.end - c.begin; ++l) Z.re.data[l] += re[l];
      if (im == nullptr) continue;
      for (int64_t l = 0; l < c.end - c.begin; ++l) Z.im.data[l] += im[l];
    }
  }

  // Columns c of row i into re and im.
  template <class T>
  void apply_row(std::span<const FactorRows<T>> rows, int64_t i, Blocks c, T* re, T* im,
                 T* scratch) const noexcept {
    const int64_t stride = round_up(d_);
    T *const u_re = scratch, *const u_im = scratch + stride, *const table = scratch + 2 * stride;
    for (int64_t f = 0; f < p_; ++f) {
      const FactorRows<T>& one = rows[f];
      const FactorShape& factor = shape().factors[f];
      if (f == 0 || !reads_as_before(rows, static_cast<size_t>(f))) {
        load_row(one, factor, i, d_, u_re, u_im);
      }
      const bool imaginary = one.dense.im.data != nullptr;
      srht_table(factor_of<T>(f), u_re, imaginary ? u_im : nullptr, table);
      gather(f, c, table, re, im);
    }
  }

  // The image of factor f, row by row.
  template <class T>
  void image_rows(size_t f, const FactorRows<T>& rows, bool moves, Planes<T> out,
                  T* scratch) const noexcept {
    const int64_t stride = round_up(d_), factor = static_cast<int64_t>(f);
    T *const u_re = scratch, *const u_im = scratch + stride, *const table = scratch + 2 * stride;
    FactorShape shape_of_u = shape().factors[f];
    if (moves) shape_of_u.constant = 0;
    for (int64_t i = 0; i < out.re.rows; ++i) {
      load_row(rows, shape_of_u, i, d_, u_re, u_im);
      srht_table(factor_of<T>(factor), u_re, rows.dense.im.data != nullptr ? u_im : nullptr, table);
      for_each_run(factor, {0, columns()}, [&](int64_t at, const int32_t* index, int64_t n) {
        transform::scale_gathered(table, index, T{1}, n, out.re.row(i) + at);
        if (parts_ == 2) transform::scale_gathered(table + d_, index, T{1}, n, out.im.row(i) + at);
      });
    }
  }

  // Its adjoint; H is symmetric.
  template <class T>
  void pull_image(size_t f, Planes<const T> g, Planes<T> out, T* table) const noexcept {
    const auto factor = static_cast<int64_t>(f);
    const T *const s_re = factor_of<T>(factor).signs, *const s_im = s_re + d_;
    const auto scale = static_cast<T>(shape().factors[f].scale);
    for (int64_t i = 0; i < out.re.rows; ++i) {
      std::fill_n(table, parts_ * d_, T{0});
      for_each_run(factor, {0, columns()}, [&](int64_t at, const int32_t* index, int64_t n) {
        for (int64_t l = 0; l < n; ++l) table[index[l]] += g.re(i, at + l);
        for (int64_t l = 0; l < n && parts_ == 2; ++l) table[d_ + index[l]] += g.im(i, at + l);
      });
      transform::fwht(table, d_, parts_);
      for (int64_t k = 0; k < out.re.cols; ++k) {
        if (parts_ == 1) {
          out.re(i, k) += scale * (s_re[k] * table[k]);
          continue;
        }
        out.re(i, k) += scale * (s_re[k] * table[k] + s_im[k] * table[d_ + k]);
        if (out.im.data != nullptr)
          out.im(i, k) += scale * (s_re[k] * table[d_ + k] - s_im[k] * table[k]);
      }
    }
  }

  // Whether factor f reads the same u as the factor before it.
  template <class T>
  bool reads_as_before(std::span<const FactorRows<T>> rows, size_t f) const noexcept {
    const FactorShape &a = shape().factors[f - 1], &b = shape().factors[f];
    const FactorRows<T>&x = rows[f - 1], &y = rows[f];
    return a.inputs == b.inputs && a.scale == b.scale && a.constant == b.constant &&
           x.sparse == y.sparse && same_view(x.dense.re, y.dense.re) &&
           same_view(x.dense.im, y.dense.im);
  }
  template <class T>
  static bool same_view(const MatrixView<const T>& a, const MatrixView<const T>& b) noexcept {
    return a.data == b.data && a.ld == b.ld;
  }

  template <class T>
  void gather(int64_t f, Blocks c, const T* table, T* re, T* im) const noexcept {
    for_each_run(f, c, [&](int64_t at, const int32_t* index, int64_t n) {
      if (f == 0) {
        transform::scale_gathered(table, index, share<T>(), n, re + at);
        if (im != nullptr) transform::scale_gathered(table + d_, index, share<T>(), n, im + at);
      } else if (im == nullptr) {
        transform::multiply_gathered(table, index, n, re + at);
      } else {
        transform::multiply_gathered(table, table + d_, index, n, re + at, im + at);
      }
    });
  }

  // body(at, index, n): columns [at, at + n) of the slice read these entries of factor f's table.
  template <class Body>
  void for_each_run(int64_t f, Blocks c, const Body& body) const noexcept {
    for (int64_t l = c.begin; l < c.end;) {
      const int64_t b = l / block_, end = std::min((b + 1) * block_, c.end);
      body(l - c.begin, index_[b].data() + f * block_ + (l - b * block_), end - l);
      l = end;
    }
  }

  int64_t parts_;
  int64_t p_;
  int64_t d_;  // padded
  IndexLaw law_;
  int64_t block_;
  mutable PerPrecision<Signs> signs_;
  mutable LazyGroups<AlignedBuffer<int32_t>> index_;
};

// The three forms of TensorSRHT as kinds of sketch, and the moments of their columns. Columns of H
// D_i are columns of signs; the forms differ in which two of them meet.

Dependence dependence(SrhtRows rows, double m, double d, std::size_t factors) noexcept {
  const auto among = [](double fraction, double size, bool joint) {
    return Dependence{fraction, size > 1 ? size - 1 : kInfinity, joint};
  };
  if (rows == SrhtRows::upsampled) return among(1 - 1 / m, std::ceil(m / d) * d, false);
  if (rows == SrhtRows::tuple) {
    return among(1 - 1 / m, std::pow(d, static_cast<double>(factors)), true);
  }
  const double blocks = std::floor(m / d), r = m - blocks * d;
  return among((blocks * d * (d - 1) + r * (r - 1)) / m / m, d, false);
}

template <SrhtRows rows>
std::unique_ptr<Multilinear> make_tensor_srht(const SketchShape& shape) {
  return make_tensor_srht(shape, rows);
}

template <SrhtRows rows>
PairMoments moments(bool complex, int64_t columns, int64_t padded,
                    std::span<const PairMoments> factors) noexcept {
  return product_moments(
      true,
      dependence(rows, static_cast<double>(columns), static_cast<double>(padded), factors.size()),
      complex, static_cast<double>(columns), factors);
}

}  // namespace

int64_t index_block(const IndexLaw& law) noexcept {
  if (law.rows != SrhtRows::stacked) return law.columns;
  return law.d * std::clamp<int64_t>(kIndexColumns / law.d, 1, (law.columns - 1) / law.d + 1);
}

int64_t index_scratch_bytes(const IndexLaw& law) {
  const auto each = static_cast<int64_t>(sizeof(int64_t));
  if (law.rows == SrhtRows::stacked) return checked_multiply(law.d, each, "a permutation");
  if (law.rows == SrhtRows::upsampled) {
    const int64_t own = law.d <= kMostOf<uint8_t> ? 1 : law.d <= kMostOf<uint16_t> ? 2 : 4;
    return checked_multiply(checked_multiply(copies_of(law), law.d, "a permutation"), own,
                            "a permutation");
  }
  // Bytes of a number, a bucket and an entry of a hash table.
  return checked_multiply(law.columns, 7 * each, "tuples");
}

void draw_index(const IndexLaw& law, int64_t group, Context& context, std::span<int32_t> index) {
  if (law.rows == SrhtRows::upsampled) return draw_upsampled(law, context, index);
  if (law.rows == SrhtRows::stacked) return draw_stacked(law, group, index);
  if (bits_of(law.d) * law.factors <= kMostEnumeratedBits)
    return draw_enumerated(law, context, index);
  draw_rejected(law, context, index);
}

void check_index(const IndexLaw& law) {
  const int64_t bits = bits_of(law.d) * law.factors;
  require(law.rows != SrhtRows::tuple || bits > kMostEnumeratedBits ||
              law.columns <= int64_t{1} << bits,
          MERCER_INVALID_ARGUMENT,
          "%ld columns (complex_to_real: half the features), expected at most d^p = %ld^%ld "
          "distinct tuples for kind = tuple",
          law.columns, law.d, law.factors);
}

template <class T>
void load_row(const FactorRows<T>& rows, const FactorShape& factor, int64_t i, int64_t d, T* re,
              T* im) noexcept {
  const auto scale = static_cast<T>(factor.scale);
  const int64_t k = factor.inputs;
  if (rows.sparse != nullptr) {
    std::fill(re, re + k, T{0});
    add_row(*rows.sparse, i, re);
  } else if (k > 0) {
    std::copy_n(rows.dense.re.row(i), k, re);
  }
  if (scale != T{1}) std::for_each(re, re + k, [scale](T& u) { u *= scale; });
  std::fill(re + k, re + d, T{0});
  if (factor.constant != 0) re[k] = static_cast<T>(factor.constant);
  if (rows.dense.im.data == nullptr) return;
  std::transform(rows.dense.im.row(i), rows.dense.im.row(i) + k, im,
                 [scale](T u) { return scale * u; });
  std::fill(im + k, im + d, T{0});
}

template <class T>
void srht_table(const SrhtFactor<T>& factor, const T* u_re, const T* u_im, T* table) noexcept {
  const int64_t d = factor.d;
  if (u_im == nullptr) {
    return transform::signed_fwht(u_re, 0, factor.signs, table, d, factor.complex ? 2 : 1);
  }
  const T *const s_re = factor.signs, *const s_im = factor.signs + d;
  for (int64_t k = 0; k < d; ++k) {
    table[k] = s_re[k] * u_re[k] - s_im[k] * u_im[k];
    table[d + k] = s_re[k] * u_im[k] + s_im[k] * u_re[k];
  }
  transform::fwht(table, d, 2);
}

template void load_row(const FactorRows<float>&, const FactorShape&, int64_t, int64_t, float*,
                       float*) noexcept;
template void load_row(const FactorRows<double>&, const FactorShape&, int64_t, int64_t, double*,
                       double*) noexcept;
template void srht_table(const SrhtFactor<float>&, const float*, const float*, float*) noexcept;
template void srht_table(const SrhtFactor<double>&, const double*, const double*, double*) noexcept;

std::unique_ptr<Multilinear> make_tensor_srht(const SketchShape& shape, SrhtRows rows) {
  return std::make_unique<TensorSrht>(shape, rows);
}

SketchFamily tensor_srht_entry() {
  return {.name = "tensor_srht",
          .help =
              "products of `degree` subsampled randomised Hadamard transforms; degree*(d log d "
              "+ D) per row",
          .fields = {SketchField::complex_to_real, SketchField::real, SketchField::complex},
          .kinds = {{.name = "upsampled",
                     .make = make_tensor_srht<SrhtRows::upsampled>,
                     .moments = moments<SrhtRows::upsampled>},
                    {.name = "stacked",
                     .make = make_tensor_srht<SrhtRows::stacked>,
                     .moments = moments<SrhtRows::stacked>,
                     .projection = "srht",
                     .blocks = true},
                    // Tuples of one index are rows drawn without replacement; if there are too few,
                    // blocks of them.
                    {.name = "tuple",
                     .make = make_tensor_srht<SrhtRows::tuple>,
                     .moments = moments<SrhtRows::tuple>,
                     .single = "stacked",
                     .limited = true}},
          .kinds_help =
              "how columns of the transforms meet; stacked: independent blocks; tuple: "
              "without replacement, features at most d^degree",
          .kinds_former = "variant"};
}

}  // namespace mercer::projection
