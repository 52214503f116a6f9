// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A chunk of work is a tile of rows times a range of the projection's blocks. Whole blocks inside the slice are finished
// straight into Z; blocks that the slice or the end of W cuts go through a small buffer.
#include "feature/tile.h"

#include <algorithm>
#include <cmath>

#include "base/aligned.h"
#include "base/parallel.h"
#include "transform/dense_panel.h"

namespace mercer::feature {
namespace {

// Z larger than this does not stay in a last-level cache anyway: write around it.
constexpr int64_t kStreamBytes = int64_t{32} << 20;
// Fewer multiply-adds than this do not pay for waking a worker.
constexpr int64_t kSerialWork = int64_t{1} << 20;
constexpr int64_t kMinimumChunks = 16;

int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// Frequencies [begin, end) of one part of the columns, and where the first of them goes in a row of Z.
struct Part {
  int64_t begin;
  int64_t end;
  int64_t offset;
};

template <class T>
class TileLoop {
 public:
  
  TileLoop(const projection::Projection& projection, const Finish<T>& finish, MatrixView<const T> X, Columns c,
           MatrixView<T> Z)
      : projection_(projection), finish_(finish), X_(X), Z_(Z), F_(projection.outputs()), shape_(projection.shape(T{})), width_(shape_.columns) {
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
    stream_ = can_stream();
  }

  void run(Context& context) {
    if (X_.rows == 0 || blocks_.begin >= blocks_.end) return;
    projection_.prepare(blocks_, T{}, context);
    plan_chunks();
    const int64_t chunks = row_tiles_ * column_ranges_;
    const int workers = worker_count(context, chunks);
    // P, then two finished blocks of up to two reals per column, the projection's own, a warped tile of X.
    const int64_t warped = finish_.warp.log_shift ? checked_multiply(transform::kTileRows, X_.cols, "tile") : 0;
    const int64_t per_worker =
        checked_add(5 * block_size() + round_up(shape_.scratch), round_up(warped), "tile");
    const AlignedBuffer<T> scratch(checked_multiply(workers, per_worker, "tile"));
    parallel_for(context, chunks, [&](int64_t chunk, int worker) noexcept {
      run_chunk(chunk / column_ranges_, chunk % column_ranges_, scratch.data() + worker * per_worker);
    });
  }

 private:
  int64_t block_size() const noexcept { return shape_.rows * width_; }
  static int64_t round_up(int64_t count) noexcept { return (count + 15) / 16 * 16; }

  bool can_stream() const {
    const auto aligned = [](int64_t count) { return count * static_cast<int64_t>(sizeof(T)) % 64 == 0; };
    bool ok = finish_.reals == 1 && Z_.rows * Z_.cols * static_cast<int64_t>(sizeof(T)) >= kStreamBytes &&
              reinterpret_cast<uintptr_t>(Z_.data) % 64 == 0 && aligned(Z_.ld);
    for (int p = 0; p < finish_.parts; ++p) ok = ok && aligned(parts_[p].offset - parts_[p].begin);
    return ok;
  }

  void plan_chunks() {
    row_tiles_ = ceil_divide(X_.rows, transform::kTileRows);
    const int64_t blocks = blocks_.end - blocks_.begin;
    const double work = static_cast<double>(X_.rows) * static_cast<double>(blocks * width_) *
                        static_cast<double>(X_.cols + 16);
    const int64_t wanted = work < kSerialWork ? 1 : ceil_divide(kMinimumChunks, row_tiles_);
    blocks_per_range_ = ceil_divide(blocks, std::min(blocks, wanted));
    column_ranges_ = ceil_divide(blocks, blocks_per_range_);
  }

  void run_chunk(int64_t row_tile, int64_t range, T* scratch) const noexcept {
    const int64_t i0 = row_tile * transform::kTileRows;
    const int64_t i1 = std::min(i0 + transform::kTileRows, X_.rows);
    MatrixView<const T> X = X_.block_rows(i0, i1);
    if (finish_.warp.log_shift) X = warp(X, scratch + 5 * block_size() + round_up(shape_.scratch));
    const MatrixView<T> Z = Z_.block_rows(i0, i1);
    const int64_t first = blocks_.begin + range * blocks_per_range_;
    const int64_t last = std::min(first + blocks_per_range_, blocks_.end);
    for (int64_t block = first; block < last; ++block) {
      for (int64_t i = 0; i < X.rows; i += shape_.rows) {
        const int64_t end = std::min(i + shape_.rows, X.rows);
        projection_.project(X.block_rows(i, end), block, scratch, scratch + 5 * block_size());
        finish_block(block, Z.block_rows(i, end), scratch);
      }
    }
    if (stream_) transform::finish_streaming();
  }

  MatrixView<const T> warp(MatrixView<const T> X, T* out) const noexcept {
    const double shift = finish_.warp.shift;
    for (int64_t i = 0; i < X.rows; ++i) {
      for (int64_t k = 0; k < X.cols; ++k) out[i * X.cols + k] = static_cast<T>(std::log(static_cast<double>(X(i, k)) + shift));
    }
    return {out, X.rows, X.cols};
  }

  bool covers(const Part& part, int64_t block) const noexcept {
    return part.begin <= block * width_ && (block + 1) * width_ <= part.end;
  }

  void finish_block(int64_t block, MatrixView<T> Z, T* scratch) const noexcept {
    const int64_t j = block * width_;
    bool direct = covers(parts_[0], block);
    if (finish_.parts == 2) direct = direct && covers(parts_[1], block);
    transform::BlockOutput<T> out;
    if (direct) {
      out = {target(0, j, Z), finish_.parts == 2 ? target(1, j, Z) : nullptr, Z.ld, stream_};
    } else {
      out = {scratch + block_size(), scratch + 3 * block_size(), width_ * finish_.reals, false};
    }
    finish_.epilogue(scratch, Z.rows, width_, finish_.scale + j, finish_.phase + j, out);
    if (direct) return;
    copy_part(0, j, out.first, Z);
    if (finish_.parts == 2) copy_part(1, j, out.second, Z);
  }

  T* target(int p, int64_t j, MatrixView<T> Z) const noexcept {
    return Z.data + parts_[p].offset + (j - parts_[p].begin) * finish_.reals;
  }

  void copy_part(int p, int64_t j, const T* from, MatrixView<T> Z) const noexcept {
    const int64_t begin = std::max(j, parts_[p].begin);
    const int64_t end = std::min(j + width_, parts_[p].end);
    if (begin >= end) return;
    for (int64_t i = 0; i < Z.rows; ++i) {
      const T* row = from + (i * width_ + begin - j) * finish_.reals;
      std::copy(row, row + (end - begin) * finish_.reals, target(p, begin, Z) + i * Z.ld);
    }
  }

  const projection::Projection& projection_;
  const Finish<T>& finish_;
  MatrixView<const T> X_;
  MatrixView<T> Z_;
  int64_t F_;
  projection::BlockShape shape_;
  int64_t width_;
  Part parts_[2] = {};
  projection::Blocks blocks_{};
  bool stream_ = false;
  int64_t row_tiles_ = 0;
  int64_t column_ranges_ = 0;
  int64_t blocks_per_range_ = 0;
};

}  // namespace

void apply_tiles(const projection::Projection& projection, const Finish<float>& finish, MatrixView<const float> X,
                 Columns c, Context& context, MatrixView<float> Z) {
  TileLoop<float>(projection, finish, X, c, Z).run(context);
}

void apply_tiles(const projection::Projection& projection, const Finish<double>& finish, MatrixView<const double> X,
                 Columns c, Context& context, MatrixView<double> Z) {
  TileLoop<double>(projection, finish, X, c, Z).run(context);
}

}  // namespace mercer::feature
