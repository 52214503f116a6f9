// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A chunk of work is a tile of rows times a range of the projection's blocks. Whole blocks inside
// the slice are finished straight into Z; blocks that the slice or the end of W cuts go through a
// buffer, and so do all of them when a Z that is written around the cache does not start at a cache
// line (a NumPy array, say).
#include "feature/tile.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/aligned.h"
#include "base/parallel.h"
#include "transform/dense_panel.h"
#include "transform/sparse_panel.h"
#include "transform/stream_copy.h"

namespace mercer::feature {
namespace {

// Fewer multiply-adds than this do not pay for waking a worker.
constexpr int64_t kSerialWork = int64_t{1} << 20;
constexpr int64_t kMinimumChunks = 16;
// Columns that are buffered before a row of them is streamed: the two broken lines at the ends then
// weigh little.
constexpr int64_t kBufferedColumns = 256;

int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// Frequencies [begin, end) of one part of the columns, and where the first of them goes in a row of
// Z.
struct Part {
  int64_t begin;
  int64_t end;
  int64_t offset;
};

// What the loop asks of its rows, dense or sparse: rows of a tile, numbers read per row, how a
// block of P comes about.
template <class T>
constexpr int64_t tile_rows(MatrixView<const T>) {
  return transform::kTileRows;
}
template <class T>
constexpr int64_t tile_rows(const CsrView<T>&) {
  return transform::kSparseTileRows;
}
template <class T>
double row_work(MatrixView<const T> X) {
  return static_cast<double>(X.cols);
}
template <class T>
double row_work(const CsrView<T>& X) {
  return static_cast<double>(X.nonzeros()) / static_cast<double>(X.rows);
}
template <class T>
void project(const projection::Projection& projection, MatrixView<const T> X, int64_t block, T* P,
             T* scratch) noexcept {
  projection.project(X, block, P, scratch);
}
template <class T>
void project(const projection::Projection& projection, const CsrView<T>& X, int64_t block, T* P,
             T* scratch) noexcept {
  projection.sparse()->project_sparse(X, block, P, scratch);
}

// Rows: MatrixView<const T> or CsrView<T>.
template <class T, class Rows>
class TileLoop {
 public:
  TileLoop(const projection::Projection& projection, const Finish<T>& finish, const Rows& X,
           Columns c, MatrixView<T> Z)
      : projection_(projection),
        finish_(finish),
        X_(X),
        Z_(Z),
        F_(projection.outputs()),
        shape_(projection.shape(T{})),
        width_(shape_.columns) {
    int64_t first = F_;
    int64_t last = 0;
    for (int p = 0; p < finish.parts; ++p) {
      const int64_t begin = std::clamp(c.begin - p * F_, int64_t{0}, F_);
      const int64_t end = std::clamp(c.end - p * F_, begin, F_);
      parts_[p] = {begin, end, (p * F_ + begin - c.begin) * finish.reals};
      if (begin == end) continue;
      first = std::min(first, begin);
      last = std::max(last, end);
    }
    blocks_ = {first / width_, ceil_divide(last, width_)};
    stream_ = Z.rows * Z.cols * static_cast<int64_t>(sizeof(T)) >= transform::kStreamBytes;
    direct_ = !stream_ || is_aligned();
    group_ = direct_ ? 1 : ceil_divide(kBufferedColumns, width_);
  }

  void run(Context& context) {
    if (X_.rows == 0 || blocks_.begin >= blocks_.end) return;
    projection_.prepare(blocks_, T{}, context);
    finish_.columns.prepare(blocks_, context);
    plan_chunks();
    const int64_t chunks = row_tiles_ * column_ranges_;
    const int workers = worker_count(context, chunks);
    // P, the buffer of a group of finished blocks, the projection's own, a warped tile of X.
    const int64_t warped =
        finish_.warp.log_shift ? checked_multiply(transform::kTileRows, X_.cols, "tile") : 0;
    const int64_t per_worker = checked_add(warp_offset(), round_up(warped), "tile");
    const int64_t total = checked_multiply(workers, per_worker, "tile");
    const MemoryCharge charge =
        context.charge(checked_multiply(total, sizeof(T), "tile"), "the tiles of all threads");
    const AlignedBuffer<T> scratch(total);
    parallel_for(context, chunks, [&](int64_t chunk, int worker) noexcept {
      run_chunk(chunk / column_ranges_, chunk % column_ranges_,
                scratch.data() + worker * per_worker);
    });
  }

 private:
  // Every block becomes two numbers per frequency at most: parts * reals <= 2.
  int64_t block_size() const noexcept { return shape_.rows * width_; }
  int64_t own_offset() const noexcept { return block_size() * (1 + 2 * group_); }
  int64_t warp_offset() const noexcept { return own_offset() + round_up(shape_.scratch); }
  static int64_t round_up(int64_t count) noexcept { return (count + 15) / 16 * 16; }

  bool is_aligned() const {
    const auto aligned = [](int64_t count) {
      return count * static_cast<int64_t>(sizeof(T)) % 64 == 0;
    };
    bool ok =
        finish_.reals == 1 && reinterpret_cast<uintptr_t>(Z_.data) % 64 == 0 && aligned(Z_.ld);
    for (int p = 0; p < finish_.parts; ++p) ok = ok && aligned(parts_[p].offset - parts_[p].begin);
    return ok;
  }

  void plan_chunks() {
    row_tiles_ = ceil_divide(X_.rows, tile_rows(X_));
    const int64_t blocks = blocks_.end - blocks_.begin;
    const double work =
        static_cast<double>(X_.rows) * static_cast<double>(blocks * width_) * (row_work(X_) + 16);
    const int64_t wanted = work < kSerialWork ? 1 : ceil_divide(kMinimumChunks, row_tiles_);
    blocks_per_range_ = ceil_divide(blocks, std::min(blocks, wanted));
    column_ranges_ = ceil_divide(blocks, blocks_per_range_);
  }

  void run_chunk(int64_t row_tile, int64_t range, T* scratch) const noexcept {
    const int64_t i0 = row_tile * tile_rows(X_);
    const int64_t i1 = std::min(i0 + tile_rows(X_), X_.rows);
    Rows X = X_.block_rows(i0, i1);
    if constexpr (std::is_same_v<Rows, MatrixView<const T>>) {
      if (finish_.warp.log_shift) X = warp(X, scratch + warp_offset());
    }
    const MatrixView<T> Z = Z_.block_rows(i0, i1);
    const int64_t first = blocks_.begin + range * blocks_per_range_;
    const int64_t last = std::min(first + blocks_per_range_, blocks_.end);
    for (int64_t block = first; block < last; block += group_) {
      for (int64_t i = 0; i < X.rows; i += shape_.rows) {
        const int64_t end = std::min(i + shape_.rows, X.rows);
        run_group({block, std::min(block + group_, last)}, X.block_rows(i, end),
                  Z.block_rows(i, end), scratch);
      }
    }
    if (stream_) transform::finish_streaming();
  }

  MatrixView<const T> warp(MatrixView<const T> X, T* out) const noexcept {
    const double shift = finish_.warp.shift;
    for (int64_t i = 0; i < X.rows; ++i) {
      for (int64_t k = 0; k < X.cols; ++k)
        out[i * X.cols + k] = static_cast<T>(std::log(static_cast<double>(X(i, k)) + shift));
    }
    return {out, X.rows, X.cols};
  }

  bool covers(const Part& part, int64_t block) const noexcept {
    return part.begin <= block * width_ && (block + 1) * width_ <= part.end;
  }

  bool goes_direct(int64_t block) const noexcept {
    return direct_ && covers(parts_[0], block) && (finish_.parts == 1 || covers(parts_[1], block));
  }

  void run_group(projection::Blocks blocks, const Rows& X, MatrixView<T> Z,
                 T* scratch) const noexcept {
    T* const P = scratch;
    T* const buffer = scratch + block_size();
    const int64_t buffer_ld = (blocks.end - blocks.begin) * width_ * finish_.reals;
    const bool direct = goes_direct(blocks.begin);
    for (int64_t block = blocks.begin; block < blocks.end; ++block) {
      const int64_t j = block * width_;
      project(projection_, X, block, P, scratch + own_offset());
      T* const first =
          direct ? target(0, j, Z) : buffer + (block - blocks.begin) * width_ * finish_.reals;
      T* const second = finish_.parts == 1 ? nullptr
                        : direct           ? target(1, j, Z)
                                           : first + Z.rows * buffer_ld;
      const transform::BlockOutput<T> out{first, second, direct ? Z.ld : buffer_ld,
                                          direct && stream_};
      finish_.epilogue(P, Z.rows, width_, finish_.columns.scale(block),
                       finish_.columns.phase(block), out);
    }
    if (direct) return;
    for (int p = 0; p < finish_.parts; ++p)
      copy_part(p, blocks, buffer + p * Z.rows * buffer_ld, buffer_ld, Z);
  }

  T* target(int p, int64_t j, MatrixView<T> Z) const noexcept {
    return Z.data + parts_[p].offset + (j - parts_[p].begin) * finish_.reals;
  }

  void copy_part(int p, projection::Blocks blocks, const T* from, int64_t ld,
                 MatrixView<T> Z) const noexcept {
    const int64_t begin = std::max(blocks.begin * width_, parts_[p].begin);
    const int64_t end = std::min(blocks.end * width_, parts_[p].end);
    if (begin >= end) return;
    const int64_t count = (end - begin) * finish_.reals;
    for (int64_t i = 0; i < Z.rows; ++i) {
      const T* row = from + i * ld + (begin - blocks.begin * width_) * finish_.reals;
      T* const to = target(p, begin, Z) + i * Z.ld;
      if (stream_) {
        transform::stream_copy(row, count, to);
      } else {
        std::copy(row, row + count, to);
      }
    }
  }

  const projection::Projection& projection_;
  const Finish<T>& finish_;
  Rows X_;
  MatrixView<T> Z_;
  int64_t F_;
  projection::BlockShape shape_;
  int64_t width_;
  Part parts_[2] = {};
  projection::Blocks blocks_{};
  bool stream_ = false;  // Z is written around the caches
  bool direct_ = true;   // whole blocks may be finished into Z
  int64_t group_ = 1;    // blocks finished together
  int64_t row_tiles_ = 0;
  int64_t column_ranges_ = 0;
  int64_t blocks_per_range_ = 0;
};

// A slice that takes the end of the cosines and the beginning of the sines needs no frequency in
// between: its two parts are then done one after the other.
template <class T, class Rows>
void apply_parts(const projection::Projection& projection, const Finish<T>& finish, const Rows& X,
                 Columns c, Context& context, MatrixView<T> Z) {
  const int64_t F = projection.outputs();
  const bool apart = finish.parts == 2 && c.begin < F && c.end > F && c.end - F < c.begin;
  if (!apart) return TileLoop<T, Rows>(projection, finish, X, c, Z).run(context);
  const int64_t cut = F - c.begin;
  TileLoop<T, Rows>(projection, finish, X, {c.begin, F}, Z.block_cols(0, cut)).run(context);
  TileLoop<T, Rows>(projection, finish, X, {F, c.end}, Z.block_cols(cut, Z.cols)).run(context);
}

}  // namespace

void apply_tiles(const projection::Projection& projection, const Finish<float>& finish,
                 MatrixView<const float> X, Columns c, Context& context, MatrixView<float> Z) {
  apply_parts(projection, finish, X, c, context, Z);
}

void apply_tiles(const projection::Projection& projection, const Finish<double>& finish,
                 MatrixView<const double> X, Columns c, Context& context, MatrixView<double> Z) {
  apply_parts(projection, finish, X, c, context, Z);
}

void apply_tiles(const projection::Projection& projection, const Finish<float>& finish,
                 const CsrView<float>& X, Columns c, Context& context, MatrixView<float> Z) {
  apply_parts(projection, finish, X, c, context, Z);
}

void apply_tiles(const projection::Projection& projection, const Finish<double>& finish,
                 const CsrView<double>& X, Columns c, Context& context, MatrixView<double> Z) {
  apply_parts(projection, finish, X, c, context, Z);
}

}  // namespace mercer::feature
