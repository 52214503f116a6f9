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
#include <cmath>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/size.h"
#include "projection/lazy_groups.h"
#include "projection/tensor_srht_lanes.h"
#include "projection/tensor_srht_row.h"
#include "projection/typed_multilinear.h"
#include "random/distributions.h"
#include "transform/fwht.h"
#include "transform/lanes.h"
#include "transform/product.h"
#include "transform/stream_copy.h"

namespace mercer::projection {
namespace {

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

  // Up to kLanes rows from i on.
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

  // The factor of every column.
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

}  // namespace

std::unique_ptr<Multilinear> make_tensor_srht(const SketchShape& shape, SrhtRows rows) {
  return std::make_unique<TensorSrht>(shape, rows);
}

}  // namespace mercer::projection
