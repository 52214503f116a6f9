// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z = sqrt(variance gamma / s) XS with S an OSNAP (Nelson, Nguyen 2013), s additions per entry of
// X; at s = 1 it is the CountSketch.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/aligned.h"
#include "base/parallel.h"
#include "feature/derivative_calls.h"
#include "feature/linear_law.h"
#include "feature/tile_loop.h"
#include "projection/osnap.h"

namespace mercer::feature {
namespace {

constexpr const char* kImages = "the images of all inputs";
// Rows of a tile: about this many numbers are read or written.
constexpr int64_t kSketchedNumbers = int64_t{1} << 16;

template <class T>
int64_t numbers_per_row(MatrixView<const T> X) {
  return X.cols;
}
template <class T>
int64_t numbers_per_row(const CsrView<T>& X) {
  return X.nonzeros() / std::max<int64_t>(X.rows, 1);
}

class SketchedLinear final : public Linear<FeatureMap>, public Derivatives {
 public:
  explicit SketchedLinear(const LinearLaw& law)
      : Linear(law, law.d, law.D, false), sketch_(law.d, law.D, count_of(law), law.options.seed) {}

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      using View = std::remove_cvref_t<decltype(rows)>;
      if (rows.rows == 0 || c.begin == c.end) return;
      run_tiles(Tiles<View>(*this, rows, c, result_of<RowNumberOf<View>>(Z)), context);
    });
  }

  // One sketch serves both precisions.
  void prepare(Precision, Context& context) const override {
    sketch_.prepare({0, features()}, context);
  }

  const Derivatives* derivatives() const noexcept override { return this; }
  MERCER_DERIVATIVE_CALLS

 private:
  template <class T>
  void push_rows_forward(MatrixView<const T> /*X*/, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
    apply(V, {0, features()}, context, out);
  }
  template <class T>
  void pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                      MatrixView<T> out) const {
    sketch_.prepare({0, features()}, context);
    const T factor = static_cast<T>(scale());
    parallel_for(context, X.rows, [&](int64_t i, int) noexcept {
      T* const row = out.row(i);
      std::fill_n(row, out.cols, T{0});
      sketch_.add_transpose(G.row(i), 0, G.cols, row);
      for (int64_t k = 0; k < out.cols; ++k) row[k] *= factor;
    });
  }
  // Row k of the table is the image of input k.
  template <class T>
  void differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                          MatrixView<T> out) const {
    const std::vector<std::vector<MultiIndex>> blocks = partials_of(what, X.cols);
    const int64_t D = features();
    const Matrix<T> table(X.cols, D, context, kImages);
    std::vector<int64_t> places(static_cast<size_t>(X.cols) + 1);
    std::iota(places.begin(), places.end(), int64_t{0});
    const std::vector<T> ones(X.cols, T{1});
    apply(CsrView<T>{X.cols, X.cols, places.data(), places.data(), ones.data()}, {0, D}, context,
          table.view());
    for (int64_t b = 0; b < std::ssize(blocks); ++b) {
      const MultiIndex& p = blocks[b][0];
      const MatrixView<T> block = out.block_cols(b * D, (b + 1) * D);
      if (p.empty()) {
        apply(X, {0, D}, context, block);
        continue;
      }
      const T* const from = total_order(p) == 1 ? table.view().row(p[0].input) : nullptr;
      parallel_for(context, X.rows, [&](int64_t i, int) noexcept {
        from != nullptr ? std::copy_n(from, D, block.row(i)) : std::fill_n(block.row(i), D, T{0});
      });
    }
  }

  template <class View>
  class Tiles final : public TileWork {
    using T = RowNumberOf<View>;

   public:
    Tiles(const SketchedLinear& map, const View& X, Columns c, MatrixView<T> Z)
        : map_(map), X_(X), c_(c), Z_(Z), scale_(static_cast<T>(map.scale())) {}

    void prepare(Context& context) const override {
      map_.sketch_.prepare({c_.begin, c_.end}, context);
    }
    TileCut cut() const override {
      const int64_t reads = checked_multiply(numbers_per_row(X_),
                                             map_.sketch_.blocks_of({c_.begin, c_.end}), "a tile");
      return {X_.rows,
              kSketchedNumbers / (checked_add(reads, Z_.cols, "a tile") + 1) + 1,
              {0, 1},
              1,
              0};
    }
    void run(const Tile& tile) const noexcept override {
      for (int64_t i = tile.i0; i < tile.i1; ++i) {
        T* const z = Z_.row(i);
        std::fill(z, z + Z_.cols, T{0});
        map_.add_row(X_, i, c_, z);
        if (scale_ != T{1}) std::for_each(z, z + Z_.cols, [this](T& one) { one *= scale_; });
      }
    }

   private:
    const SketchedLinear& map_;
    View X_;
    Columns c_;
    MatrixView<T> Z_;
    T scale_;
  };

  static int64_t count_of(const LinearLaw& law) {
    return linear_kind(law.options.projection).has_nonzeros ? law.options.nonzeros : 1;
  }
  double scale() const { return std::sqrt(law().factor() / static_cast<double>(count_of(law()))); }

  template <class T>
  void add_row(MatrixView<const T> X, int64_t i, Columns c, T* z) const noexcept {
    sketch_.add(X.row(i), c.begin, c.end, z);
  }
  template <class T>
  void add_row(const CsrView<T>& X, int64_t i, Columns c, T* z) const noexcept {
    sketch_.add(X, i, c.begin, c.end, z);
  }

  projection::Osnap sketch_;
};

}  // namespace

std::unique_ptr<FeatureMap> make_sketched_linear(const LinearLaw& law) {
  return std::make_unique<SketchedLinear>(law);
}

}  // namespace mercer::feature
