// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z = sqrt(variance gamma / D) X W with Gaussian or Rademacher W (Johnson, Lindenstrauss 1984;
// Achlioptas 2003) or the SRHT (Ailon, Chazelle 2006), in tiles like every projected map; and
// Z = sqrt(variance gamma / s) XS with S an OSNAP (Nelson, Nguyen 2013), s additions per entry of
// X; at s = 1 it is the CountSketch.
#include "feature/linear.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "base/parallel.h"
#include "feature/derivative_calls.h"
#include "feature/map_entry.h"
#include "feature/projected_map.h"
#include "feature/tile_loop.h"
#include "moment/linear_variance.h"
#include "projection/osnap.h"
#include "projection/projections.h"
#include "projection/srht.h"

namespace mercer::feature {
namespace {

// The limit of specs, and so of files.
constexpr int64_t kMostColumns = (int64_t{1} << 31) - 1;
constexpr const char* kNames[] = {"gaussian", "rademacher", "srht", "countsketch", "osnap"};
// Non-zeros of an OSNAP that are not asked for otherwise.
constexpr int64_t kNonzeros = 4;

struct LinearLaw {
  std::shared_ptr<const kernel::Kernel> kernel;
  int64_t d;
  int64_t D;
  LinearOptions options;

  /// Of x'y in the kernel.
  double factor() const { return kernel->variance() * kernel->parameters().number("gamma"); }
};

// What both ways have in common; Base says how rows are mapped.
template <class Base>
class Linear : public Base {
 public:
  std::string_view name() const noexcept final { return "linear"; }
  const kernel::Kernel& kernel() const noexcept final { return *law_.kernel; }

  Parameters parameters() const final {
    Parameters spec;
    spec.set("map", std::string(name()));
    spec.set("kernel", std::make_shared<const Parameters>(kernel().parameters()));
    spec.set("inputs", law_.d);
    spec.set("features", law_.D);
    spec.set("seed", law_.options.seed);
    spec.set("projection", std::string(kNames[static_cast<int>(law_.options.projection)]));
    if (law_.options.projection == LinearProjection::osnap)
      spec.set("nonzeros", law_.options.nonzeros);
    return spec;
  }

  void variance(MatrixView<const double> X, MatrixView<const double> Y,
                std::span<double> out) const final {
    for (int64_t i = 0; i < X.rows; ++i) {
      const moment::PairSums sums = moment::pair_sums(X.cols, X.row(i), Y.row(i));
      out[static_cast<size_t>(i)] = law_.factor() * law_.factor() * plain_variance(sums);
    }
  }
  // OSNAP's blocks of columns differ by one in size unless the nonzeros divide D: the entries of an
  // input have one expectation over a block, not over all columns.
  ColumnForm column_form() const noexcept final {
    const bool unequal =
        law_.options.projection == LinearProjection::osnap && law_.D % law_.options.nonzeros != 0;
    return unequal ? ColumnForm::joint : ColumnForm::real;
  }
  ColumnMoments column_moments(const double* x, const double* y) const final {
    const LinearProjection projection = law_.options.projection;
    const bool independent =
        projection == LinearProjection::gaussian || projection == LinearProjection::rademacher;
    return independent ? Base::independent_columns(x, y) : Base::column_moments(x, y);
  }

 protected:
  template <class... Arguments>
  explicit Linear(LinearLaw law, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), law_(std::move(law)) {}
  const LinearLaw& law() const noexcept { return law_; }

 private:
  // Of the estimate of x'y.
  double plain_variance(const moment::PairSums& sums) const {
    switch (law_.options.projection) {
      case LinearProjection::gaussian:
        return moment::gaussian_entries_variance(sums, law_.D);
      case LinearProjection::srht:
        return moment::srht_variance(sums, projection::srht_dimension(law_.d), law_.D);
      case LinearProjection::osnap:
        return moment::osnap_variance(sums, law_.options.nonzeros, law_.D);
      case LinearProjection::rademacher:
      case LinearProjection::countsketch:
        break;
    }
    return moment::rademacher_entries_variance(sums, law_.D);
  }

  LinearLaw law_;
};

std::unique_ptr<const projection::Projection> make_projection(const LinearLaw& law) {
  if (law.options.projection == LinearProjection::srht) {
    return projection::make_srht(law.d, law.D, law.options.seed);
  }
  const bool gaussian = law.options.projection == LinearProjection::gaussian;
  return projection::kDense.make({gaussian ? random::normal_law() : random::sign_law(),
                                  {},
                                  projection::Unit::plain,
                                  law.d,
                                  law.D,
                                  law.options.seed});
}

ProjectedParts projected(const LinearLaw& law) {
  ProjectedParts made;
  made.projections.push_back(make_projection(law));
  made.epilogue = transform::scale_epilogue();
  made.columns = {std::sqrt(law.factor() / static_cast<double>(law.D))};
  return made;
}

class ProjectedLinear final : public Linear<ProjectedMap> {
 public:
  explicit ProjectedLinear(const LinearLaw& law) : Linear(law, projected(law)) {}
};

constexpr const char* kImages = "the images of all inputs";
// Rows of a tile: about this many numbers are read or written.
constexpr int64_t kTileNumbers = int64_t{1} << 16;

template <class T>
int64_t numbers_per_row(MatrixView<const T> X) {
  return X.cols;
}
template <class T>
int64_t numbers_per_row(const CsrView<T>& X) {
  return X.nonzeros() / std::max<int64_t>(X.rows, 1);
}

class SketchedLinear final : public Linear<FeatureMap> {
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

  // h and s serve both precisions.
  void prepare(Precision, Context& context) const override {
    sketch_.prepare({0, features()}, context);
  }

  int64_t most_derivatives() const noexcept override { return kernel::kMostDerivatives; }
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
    const std::vector<T> ones(static_cast<size_t>(X.cols), T{1});
    apply(CsrView<T>{X.cols, X.cols, places.data(), places.data(), ones.data()}, {0, D}, context,
          table.view());
    for (int64_t b = 0; b < std::ssize(blocks); ++b) {
      const MultiIndex& p = blocks[static_cast<size_t>(b)][0];
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
      return {
          X_.rows, kTileNumbers / (checked_add(reads, Z_.cols, "a tile") + 1) + 1, {0, 1}, 1, 0};
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
    return law.options.projection == LinearProjection::osnap ? law.options.nonzeros : 1;
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

/// The options with the non-zeros that they mean.
LinearOptions with_nonzeros(LinearOptions options, int64_t D) {
  const bool has_nonzeros = options.projection == LinearProjection::osnap;
  require(has_nonzeros || options.nonzeros == 0, MERCER_UNSUPPORTED,
          "nonzeros = %lld does not apply to projection = %s, expected osnap",
          static_cast<long long>(options.nonzeros), kNames[static_cast<int>(options.projection)]);
  if (has_nonzeros && options.nonzeros == 0) options.nonzeros = std::min(kNonzeros, D);
  const int64_t most = std::min(D, projection::Osnap::kMostNonzeros);
  require(options.nonzeros <= most, MERCER_INVALID_ARGUMENT,
          "nonzeros = %lld, expected 1 to %lld: at most features = %lld and %lld",
          static_cast<long long>(options.nonzeros), static_cast<long long>(most),
          static_cast<long long>(D), static_cast<long long>(projection::Osnap::kMostNonzeros));
  return options;
}

void check_kernel(const kernel::Kernel& kernel) {
  const std::optional<kernel::InnerPower> power = kernel.inner_power();
  require(power.has_value() && kernel.left_inputs() == 0, MERCER_UNSUPPORTED,
          "kernel %s has no linear map, expected polynomial with degree 1 and offset 0",
          std::string(kernel.name()).c_str());
  require(power->degree == 1 && power->offset == 0, MERCER_UNSUPPORTED,
          "kernel polynomial with degree = %lld and offset = %g has no linear map, expected degree "
          "1 and offset 0",
          static_cast<long long>(power->degree), power->offset);
  const double factor = kernel.variance() * power->gamma;
  require(std::isfinite(factor) && factor > 0, MERCER_INVALID_ARGUMENT,
          "gamma * variance = %g, expected a positive finite number", factor);
}

}  // namespace

std::unique_ptr<FeatureMap> make_linear(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const LinearOptions& options) {
  check_kernel(kernel);
  kernel.check_dimension(d);
  require(D >= 1 && D <= kMostColumns, MERCER_INVALID_ARGUMENT,
          "features = %lld, expected 1 to %lld", static_cast<long long>(D),
          static_cast<long long>(kMostColumns));
  const StandardRounding rounding;
  const LinearLaw law{kernel.with_variance(kernel.variance()), d, D, with_nonzeros(options, D)};
  if (options.projection == LinearProjection::countsketch ||
      options.projection == LinearProjection::osnap)
    return std::make_unique<SketchedLinear>(law);
  return std::make_unique<ProjectedLinear>(law);
}

namespace {

std::unique_ptr<FeatureMap> linear_from(const MapArguments& arguments) {
  const std::string& name = arguments.own.text("projection");
  const auto* const found =
      std::ranges::find_if(kNames, [&](const char* known) { return name == known; });
  const auto projection = static_cast<LinearProjection>(found - std::begin(kNames));
  const Value* const nonzeros = arguments.own.find("nonzeros");
  return make_linear(
      arguments.kernel, arguments.inputs, arguments.features,
      {projection, arguments.seed, nonzeros == nullptr ? 0 : arguments.own.integer("nonzeros")});
}

/// The inner product: the polynomial of the default degree 2 has no linear map.
Parameters inner_product() {
  Parameters kernel = kernel_named("polynomial");
  kernel.set("degree", int64_t{1});
  return kernel;
}

}  // namespace

MapEntry linear_entry() {
  return {
      "linear",
      "random projection that keeps inner products, for the kernel polynomial with degree 1 and "
      "offset 0",
      {choice_field("projection", "gaussian", {std::begin(kNames), std::end(kNames)},
                    "i.i.d. entries; srht: Hadamard blocks, D log d per row; countsketch: one "
                    "addition per non-zero; osnap: several"),
       count_field("nonzeros", std::nan(""), projection::Osnap::kMostNonzeros,
                   "of osnap, for every input; default 4, or features if they are fewer")},
      linear_from,
      inner_product()};
}

}  // namespace mercer::feature
