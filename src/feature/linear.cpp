// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z = sqrt(variance gamma / D) X W with Gaussian or Rademacher W (Johnson, Lindenstrauss 1984;
// Achlioptas 2003) or the SRHT (Ailon, Chazelle 2006), in tiles like every projected map; or by
// sketches (SketchedLinear).
#include "feature/linear.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "base/parallel.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "feature/projected_map.h"
#include "feature/tiles.h"
#include "projection/hadamard_blocks.h"
#include "projection/osnap.h"
#include "projection/projection.h"

namespace mercer::feature {
namespace {

// E (w'x w'y)^2 by fourth moments of the entries (Wacker, Kanagawa, Filippone 2022, Theorems 3.1
// and 3.4 at degree 1). CountSketch with m buckets: x'y plus, over k < l, [h(k) = h(l)] s_k s_l
// (x_k y_l + x_l y_k), uncorrelated terms of mean 0 and E [h(k) = h(l)] = 1/m: the variance of m
// columns of signs. OSNAP is the mean of s independent ones. The stacked formula v/D - c/D^2
// v/(d - 1), c = floor(D/d) d (d - 1) + r(r - 1), is v/D^2 (D - floor(D/d) d - r(r - 1)/(d - 1)) =
// v/D^2 r (d - r)/(d - 1), which does not cancel.

// sum over k < l of (x_k y_l + x_l y_k)^2 in another form: negative by rounding only. std::max in
// this order keeps a NaN.
double rademacher_column_variance(const PairSums& sums) noexcept {
  return std::max(sums.N + sums.s * sums.s - 2 * sums.Q, 0.0);
}

// The base of linear maps, however they map rows.

// The kernel, sizes and options that such a map is drawn by.
struct LinearLaw {
  std::shared_ptr<const kernel::Kernel> kernel;
  int64_t d;
  int64_t D;
  LinearOptions options;

  // The factor of x'y in the kernel.
  double factor() const { return kernel->variance() * kernel->traits().inner_power->gamma; }
};

// What differs between the projections.
struct LinearKind {
  const char* name;
  double (*variance)(const LinearLaw&, const PairSums&);  // of the estimate of x'y
  // Null: a sketch (SketchedLinear).
  std::unique_ptr<const projection::Projection> (*make)(const LinearLaw&) = nullptr;
  // The size of blocks of dependent columns; null: all are independent.
  int64_t (*block)(const LinearLaw&) = nullptr;
  bool has_nonzeros = false;
};
const LinearKind& linear_kind(LinearProjection projection) noexcept;

// Base maps the rows.
template <class Base>
class Linear : public Base, public Moments {
 public:
  std::string_view name() const noexcept final { return "linear"; }
  const kernel::Kernel& kernel() const noexcept final { return *law_.kernel; }

  Parameters parameters() const final {
    Parameters spec = Base::common_parameters(law_.options.seed);
    spec.set("projection", std::string(kind().name));
    if (kind().has_nonzeros) spec.set("nonzeros", law_.options.nonzeros);
    return spec;
  }

  const Moments& moments() const final { return *this; }
  double variance_at(const double* x, const double* y) const final {
    return law_.factor() * law_.factor() * kind().variance(law_, pair_sums(law_.d, x, y));
  }
  // OSNAP's blocks of columns differ by one in size unless the nonzeros divide D: the entries of an
  // input have one expectation over a block, not over all columns.
  ColumnForm column_form() const noexcept final {
    const bool unequal = kind().has_nonzeros && law_.D % law_.options.nonzeros != 0;
    return unequal ? ColumnForm::joint : ColumnForm::real;
  }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const final {
    if (kind().block == nullptr) return independent_columns(*this, x, y);
    const PairSums sums = pair_sums(law_.d, x, y);
    const int64_t block = kind().block(law_);
    const double f = law_.factor(),
                 square = f * f *
                          (kind().make == nullptr ? hashed_column_square(sums, block)
                                                  : signs_column_square(sums));
    const double variance = f * f * kind().variance(law_, sums);
    return dependent_columns({f * sums.s, square, square}, block, true, variance, variance, law_.D);
  }

 protected:
  template <class... Arguments>
  explicit Linear(LinearLaw law, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), law_(std::move(law)) {}
  const LinearLaw& law() const noexcept { return law_; }

 private:
  const LinearKind& kind() const noexcept { return linear_kind(law_.options.projection); }

  LinearLaw law_;
};

// Z = sqrt(variance gamma / s) XS with S an OSNAP (Nelson, Nguyen 2013), s additions per entry of
// X; at s = 1 it is the CountSketch.
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

// The limit of specs, and so of files.
constexpr int64_t kMostColumns = (int64_t{1} << 31) - 1;
// The default number of non-zeros of an OSNAP.
constexpr int64_t kNonzeros = 4;

template <auto kEntries>
std::unique_ptr<const projection::Projection> make_dense(const LinearLaw& law) {
  return projection::kDense.make(
      {kEntries(), {}, projection::Unit::plain, law.d, law.D, law.options.seed});
}

std::unique_ptr<const projection::Projection> make_srht(const LinearLaw& law) {
  return projection::make_srht(law.d, law.D, law.options.seed);
}

double gaussian_variance(const LinearLaw& law, const PairSums& sums) {
  return gaussian_entries_variance(sums, law.D);
}
/// This holds for CountSketches, too.
double sign_variance(const LinearLaw& law, const PairSums& sums) {
  return rademacher_entries_variance(sums, law.D);
}
double srht_variance(const LinearLaw& law, const PairSums& sums) {
  return srht_variance(sums, projection::srht_dimension(law.d), law.D);
}
double osnap_variance(const LinearLaw& law, const PairSums& sums) {
  return osnap_variance(sums, law.options.nonzeros, law.D);
}

int64_t srht_block(const LinearLaw& law) { return projection::srht_dimension(law.d); }
int64_t all_columns(const LinearLaw& law) { return law.D; }
int64_t osnap_block(const LinearLaw& law) { return law.D / law.options.nonzeros; }

/// In the order of LinearProjection.
constexpr LinearKind kKinds[] = {
    {.name = "gaussian", .variance = gaussian_variance, .make = make_dense<random::normal_law>},
    {.name = "rademacher", .variance = sign_variance, .make = make_dense<random::sign_law>},
    {.name = "srht", .variance = srht_variance, .make = make_srht, .block = srht_block},
    {.name = "countsketch", .variance = sign_variance, .block = all_columns},
    {.name = "osnap", .variance = osnap_variance, .block = osnap_block, .has_nonzeros = true}};

const LinearKind& linear_kind(LinearProjection projection) noexcept {
  return kKinds[static_cast<size_t>(projection)];
}

std::vector<const char*> kind_names() {
  std::vector<const char*> names;
  for (const LinearKind& kind : kKinds) names.push_back(kind.name);
  return names;
}

ProjectedParts projected(const LinearLaw& law) {
  ProjectedParts made;
  made.projections.push_back(linear_kind(law.options.projection).make(law));
  made.epilogue = transform::scale_epilogue();
  made.columns = {std::sqrt(law.factor() / static_cast<double>(law.D))};
  return made;
}

class ProjectedLinear final : public Linear<ProjectedMap> {
 public:
  explicit ProjectedLinear(const LinearLaw& law) : Linear(law, projected(law)) {}
};

/// The options with the default of nonzeros filled in.
LinearOptions with_nonzeros(LinearOptions options, int64_t D) {
  const LinearKind& kind = linear_kind(options.projection);
  require(kind.has_nonzeros || options.nonzeros == 0, MERCER_UNSUPPORTED,
          "nonzeros = %ld does not apply to projection = %s, expected osnap", options.nonzeros,
          kind.name);
  if (kind.has_nonzeros && options.nonzeros == 0) options.nonzeros = std::min(kNonzeros, D);
  const int64_t most = std::min(D, projection::Osnap::kMostNonzeros);
  require(options.nonzeros <= most, MERCER_INVALID_ARGUMENT,
          "nonzeros = %ld, expected 1 to %ld: at most features = %ld and %ld", options.nonzeros,
          most, D, projection::Osnap::kMostNonzeros);
  return options;
}

void check_kernel(const kernel::Kernel& kernel) {
  const std::optional<kernel::InnerPower> power = kernel.traits().inner_power;
  require(power.has_value() && kernel.traits().left_inputs == 0, MERCER_UNSUPPORTED,
          "kernel %s has no linear map, expected polynomial with degree 1 and offset 0",
          std::string(kernel.name()).c_str());
  require(power->degree == 1 && power->offset == 0, MERCER_UNSUPPORTED,
          "kernel polynomial with degree = %ld and offset = %g has no linear map, expected degree "
          "1 and offset 0",
          power->degree, power->offset);
  const double factor = kernel.variance() * power->gamma;
  require(std::isfinite(factor) && factor > 0, MERCER_INVALID_ARGUMENT,
          "gamma * variance = %g, expected a positive finite number", factor);
}

std::unique_ptr<FeatureMap> linear_from(const MapArguments& arguments) {
  const std::string& name = arguments.own.text("projection");
  const auto* const found =
      std::ranges::find_if(kKinds, [&](const LinearKind& kind) { return name == kind.name; });
  const auto projection = static_cast<LinearProjection>(found - std::begin(kKinds));
  const Value* const nonzeros = arguments.own.find("nonzeros");
  return make_linear(
      arguments.kernel, arguments.inputs, arguments.features,
      {projection, arguments.seed, nonzeros == nullptr ? 0 : arguments.own.integer("nonzeros")});
}

/// The inner product: there is no linear map of the polynomial of the default degree 2.
Parameters inner_product() {
  Parameters kernel = kernel_named("polynomial");
  kernel.set("degree", int64_t{1});
  return kernel;
}

}  // namespace

PairSums pair_sums(int64_t d, const double* x, const double* y) noexcept {
  return triple_sums(d, x, y, y);
}
PairSums triple_sums(int64_t d, const double* x, const double* y, const double* z) noexcept {
  double s = 0, t = 0, xx = 0, yz = 0, Q = 0;
  for (int64_t k = 0; k < d; ++k) {
    const double first = x[k] * y[k], second = x[k] * z[k];
    s += first;
    t += second;
    xx += x[k] * x[k];
    yz += y[k] * z[k];
    Q += first * second;
  }
  return {s, xx * yz, Q, xx, yz, t};
}

double gaussian_entries_variance(const PairSums& sums, int64_t D) noexcept {
  return (sums.N + sums.s * sums.s) / static_cast<double>(D);
}

double rademacher_entries_variance(const PairSums& sums, int64_t D) noexcept {
  return rademacher_column_variance(sums) / static_cast<double>(D);
}

double osnap_variance(const PairSums& sums, int64_t nonzeros, int64_t D) noexcept {
  const auto w = static_cast<double>(D / nonzeros);
  const double p = static_cast<double>(D % nonzeros) / static_cast<double>(nonzeros);
  return rademacher_entries_variance(sums, D) * (1 + p * (1 - p) / (w * (w + 1)));
}

double signs_column_square(const PairSums& sums) noexcept {
  return sums.N + 2 * (sums.s * sums.s - sums.Q);
}

// Entries are random signs times bits that are 1 with probability 1/w: w^2 (Q/w + (N + 2 s^2 - 3
// Q)/w^2).
double hashed_column_square(const PairSums& sums, int64_t columns) noexcept {
  return signs_column_square(sums) + static_cast<double>(columns - 1) * sums.Q;
}

double srht_variance(const PairSums& sums, int64_t padded, int64_t D) noexcept {
  const int64_t left = D % padded;
  if (left == 0) return 0;
  const auto d = static_cast<double>(padded);
  const auto r = static_cast<double>(left);
  const auto columns = static_cast<double>(D);
  return rademacher_column_variance(sums) * (r / columns) * ((d - r) / (d - 1)) / columns;
}

std::unique_ptr<FeatureMap> make_linear(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const LinearOptions& options) {
  check_kernel(kernel);
  kernel.check_dimension(d);
  require(D >= 1 && D <= kMostColumns, MERCER_INVALID_ARGUMENT, "features = %ld, expected 1 to %ld",
          D, kMostColumns);
  const StandardRounding rounding;
  const LinearLaw law{kernel.with_variance(kernel.variance()), d, D, with_nonzeros(options, D)};
  if (linear_kind(options.projection).make == nullptr) return std::make_unique<SketchedLinear>(law);
  return std::make_unique<ProjectedLinear>(law);
}

MapEntry linear_entry() {
  return {
      "linear",
      "random projection that keeps inner products, for the kernel polynomial with degree 1 and "
      "offset 0",
      {choice_field("projection", kKinds[0].name, kind_names(),
                    "i.i.d. entries; srht: Hadamard blocks, D log d per row; countsketch: one "
                    "addition per non-zero; osnap: several"),
       count_field("nonzeros", std::nan(""), projection::Osnap::kMostNonzeros,
                   "osnap: non-zeros for every input; default 4, or features if they are fewer")},
      linear_from,
      inner_product()};
}

}  // namespace mercer::feature
