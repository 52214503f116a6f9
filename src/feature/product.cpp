// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of products of kernels: with z^i the features of part i, N columns each,
//   Z_j = N^{(P-1)/2} prod_{i < P} z^i_j,
// unbiased because the parts are drawn independently and each of their columns alone estimates its
// kernel. Columns [cos | sin] or [Re | Im] are multiplied as complex numbers: for
// two Fourier parts exp(i w1'x) exp(i w2'x) = exp(i (w1 + w2)'x), whose frequencies follow the
// product's spectral law. Variances: feature/feature_map.h.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "feature/composed_map.h"
#include "feature/derivatives.h"
#include "feature/map_entry.h"
#include "feature/tiles.h"
#include "kernel/composed_kernel.h"

namespace mercer::feature {
namespace {

// Products of sums, multiplied out: the columns of a sum estimate its kernel only together, so they
// cannot be multiplied, but those of its parts can.

// (a + b) c = a c + b c. Each product draws features of its own, so that variances add up, and its
// columns lie beside those of the others. No feature of a kernel is shared by two
// products.
using Rule = kernel::Composition::Rule;
using Spec = std::shared_ptr<const Parameters>;

struct Term {
  double variance = 1;
  double share = 1;
  ObjectList kernels = {}, maps = {};  // those of its factors
};

/// Whether a kernel and a map are both made by `rule`, part by part.
bool is_made_by(Rule rule, const Parameters& kernel, const Parameters& map) {
  return map_entry(map).rule == rule && map.text("map") == kernel.text("kernel") &&
         map.find("parts") != nullptr &&
         map.objects("parts").size() == kernel.objects("parts").size();
}

std::vector<double> shares_of_terms(const Parameters& map, size_t count) {
  std::vector<double> shares(count, 1.0);
  // A list of another length is refused when the sum is made.
  if (map.find("shares") != nullptr && map.numbers("shares").size() == count)
    shares = map.numbers("shares");
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& one : shares) one /= sum;
  return shares;
}

std::vector<Term> terms_of(const Spec& kernel, const Spec& map);

std::vector<Term> terms_of_sum(const Parameters& kernel, const Parameters& map) {
  const ObjectList &kernels = kernel.objects("parts"), &maps = map.objects("parts");
  const std::vector<double> shares = shares_of_terms(map, maps.size());
  std::vector<Term> all;
  for (size_t i = 0; i < maps.size(); ++i) {
    for (Term& term : terms_of(kernels[i], maps[i])) {
      term.variance *= kernel.number("variance");
      term.share *= shares[i];
      all.push_back(std::move(term));
    }
  }
  return all;
}

std::vector<Term> multiplied(const std::vector<Term>& left, const std::vector<Term>& right) {
  const size_t count = left.size() * right.size();
  require(count <= kernel::kMostParts, MERCER_INVALID_ARGUMENT,
          "map product: multiplied out, the sums inside are %zu products and more, expected at "
          "most %d",
          count, kernel::kMostParts);
  std::vector<Term> all;
  for (const Term& a : left) {
    for (const Term& b : right) {
      Term term = a;
      term.variance *= b.variance;
      term.share *= b.share;
      term.kernels.insert(term.kernels.end(), b.kernels.begin(), b.kernels.end());
      term.maps.insert(term.maps.end(), b.maps.begin(), b.maps.end());
      all.push_back(std::move(term));
    }
  }
  return all;
}

std::vector<Term> terms_of_product(const Parameters& kernel, const Parameters& map) {
  const ObjectList &kernels = kernel.objects("parts"), &maps = map.objects("parts");
  std::vector<Term> all{{.variance = kernel.number("variance")}};
  for (size_t i = 0; i < maps.size(); ++i) all = multiplied(all, terms_of(kernels[i], maps[i]));
  return all;
}

/// A single term of one factor for a map without sums inside.
std::vector<Term> terms_of(const Spec& kernel, const Spec& map) {
  if (is_made_by(Rule::sum, *kernel, *map)) return terms_of_sum(*kernel, *map);
  if (is_made_by(Rule::product, *kernel, *map)) {
    std::vector<Term> terms = terms_of_product(*kernel, *map);
    if (terms.size() > 1) return terms;
  }
  return {{.kernels = {kernel}, .maps = {map}}};
}

Spec composed(const char* key, const char* rule, ObjectList parts) {
  Parameters whole{{key, std::string(rule)}};
  whole.set("parts", std::move(parts));
  return std::make_shared<const Parameters>(std::move(whole));
}

/// The map of the sum under the name and kernel of the product.
class ExpandedProduct final : public FeatureMap {
 public:
  ExpandedProduct(const MapArguments& a, std::unique_ptr<FeatureMap> sum)
      : FeatureMap(a.inputs, a.features, sum->is_complex()),
        name_(a.map),
        kernel_(a.kernel.copy()),
        seed_(a.seed),
        parts_(a.own.objects("parts")),
        sum_(std::move(sum)) {}

  std::string_view name() const noexcept override { return name_; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override {
    Parameters spec = common_parameters(seed_);
    spec.set("parts", parts_);
    return spec;
  }
  void prepare(Precision precision, Context& context) const override {
    sum_->prepare(precision, context);
  }
  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    sum_->apply(X, c, context, Z);
  }

  const Moments& moments() const override { return sum_->moments(); }
  const Derivatives* derivatives() const noexcept override { return sum_->derivatives(); }
  int64_t incomplete_block() const override { return sum_->incomplete_block(); }
  bool is_of_scaled_inputs() const override { return sum_->is_of_scaled_inputs(); }

 private:
  std::string name_;
  std::unique_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
  ObjectList parts_;
  std::unique_ptr<FeatureMap> sum_;
};

// Given canonical Parameters of a map "product": the map "sum", with the same seed, inputs and
// features, of all products of one part of each sum inside, at every depth; nothing where there is
// no sum inside. The share of features and the variance of each product are those of its factors,
// multiplied. Errors: INVALID_ARGUMENT for more products than a sum may have parts.
std::optional<Parameters> expanded_product(const Parameters& canonical) {
  const Parameters& kernel = canonical.object("kernel");
  if (!is_made_by(Rule::product, kernel, canonical)) return std::nullopt;
  const std::vector<Term> terms = terms_of_product(kernel, canonical);
  if (terms.size() == 1) return std::nullopt;
  ObjectList kernels, maps;
  std::vector<double> shares;
  for (const Term& term : terms) {
    Parameters product = *composed("kernel", "product", term.kernels);
    product.set("variance", term.variance);
    kernels.push_back(std::make_shared<const Parameters>(std::move(product)));
    maps.push_back(composed("map", "product", term.maps));
    shares.push_back(term.share);
  }
  Parameters sum{{"map", std::string("sum")},
                 {"kernel", composed("kernel", "sum", std::move(kernels))},
                 {"inputs", canonical.integer("inputs")}};
  for (const char* key : {"features", "seed"})
    if (const Value* value = canonical.find(key)) sum.set(key, *value);
  sum.set("parts", std::move(maps));
  sum.set("shares", std::move(shares));
  return canonical_map(sum, "", Data::refused);
}

// The map of `expanded` under the name and parameters that `arguments` say.
std::unique_ptr<FeatureMap> make_expanded_product(const MapArguments& arguments,
                                                  const Parameters& expanded) {
  try {
    return std::make_unique<ExpandedProduct>(arguments, make_map(expanded, arguments.data));
  } catch (const Error& error) {
    throw error.within("product of sums, made as the sum of " +
                       std::to_string(expanded.objects("parts").size()) + " products");
  }
}

// Bytes of the features of one part at a time, which are multiplied while in the cache; but not so
// few rows that threads have nothing to share.
constexpr int64_t kProductBytes = int64_t{1} << 21;
constexpr int64_t kLeastProductRows = 128;
constexpr int64_t kProductChunk = 16;

class Product final : public ComposedMap {
 public:
  /// `form` is that of the product. At least one part has it, the others have it or real columns.
  Product(const MapArguments& arguments, PartMaps maps, ColumnForm form)
      : ComposedMap(arguments, std::move(maps), form == ColumnForm::complex), form_(form) {
    order_.resize(parts().size());
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = parts()[i].get();
    std::stable_partition(order_.begin(), order_.end(),
                          [form](const FeatureMap* part) { return part->column_form() == form; });
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      using T = RowNumberOf<decltype(rows)>;
      const MatrixView<T> out = result_of<T>(Z);
      if (rows.rows == 0 || c.begin == c.end) return;
      if (form_ != ColumnForm::halves) return multiply_parts(X, c, context, Factor<T>{form_, out});
      for_each_piece(c, columns(), context, [&](Columns piece) {
        apply_halves(X, piece, context, out.block_cols(piece.begin - c.begin, piece.end - c.begin));
      });
    });
  }

  double variance_at(const double* x, const double* y) const override {
    const ColumnMoments a = moments_of(x, y);
    // Rounding can take a variance of 0 below it; std::max in this order keeps a NaN.
    return std::max((columns_variance(a, columns()) + columns_pseudo_variance(a, columns())) / 2,
                    0.0);
  }
  double pseudo_variance_at(const double* x, const double* y) const override {
    if (!is_complex()) return variance_at(x, y);
    return columns_pseudo_variance(moments_of(x, y), columns());
  }
  double bias_at(const double* x, const double* y) const override {
    double mean = 1, exact = 1;
    for (const auto& part : parts()) {
      const double k = part->estimated_kernel(x, y);
      mean *= k + part->moments().bias_at(x, y);
      exact *= k;
    }
    return mean - exact;
  }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    return moments_of(x, y);
  }

  MERCER_DERIVATIVE_CALLS

  ColumnForm column_form() const noexcept override { return form_; }

 private:
  ColumnProduct product() const noexcept { return {order_, form_, columns(), row_length()}; }
  // Partial derivatives are computed block by block, since each has its own rule.
  template <class T>
  void differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                          MatrixView<T> out) const {
    if (what.kind != Derivative::Kind::partials)
      return feature::differentiate_rows(product(), what, X, context, out);
    Stage stage(context, std::ssize(what.partials));
    for (int64_t b = 0; b < std::ssize(what.partials); ++b) {
      const MultiIndex& p = what.partials[b];
      const MatrixView<T> block = out.block_cols(b * row_length(), (b + 1) * row_length());
      stage.share(1);
      if (p.empty()) {
        apply(X, {0, features()}, context, block);
      } else {
        feature::differentiate_rows(product(), {what.kind, {p}}, X, context, block);
      }
      stage.advance(1);
    }
  }
  template <class T>
  void push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
    feature::push_rows_forward(product(), X, V, context, out);
  }
  template <class T>
  void pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                      MatrixView<T> out) const {
    feature::pull_rows_back(product(), X, G, context, out);
  }

  int64_t columns() const noexcept {
    return form_ == ColumnForm::halves ? features() / 2 : features();
  }

  ColumnMoments moments_of(const double* x, const double* y) const {
    std::vector<ColumnMoments> own;
    for (const auto& part : parts()) {
      const std::optional<ColumnMoments> columns = part->moments().columns_at(x, y);
      require(columns.has_value(), MERCER_UNSUPPORTED,
              "the columns of map %s depend on each other in ways of no closed form",
              std::string(part->name()).c_str());
      own.push_back(*columns);
    }
    return multiplied(own, columns());
  }

  template <class T>
  static int64_t tile_rows(int64_t width, int64_t n) noexcept {
    return std::min(n,
                    std::max(kLeastProductRows, kProductBytes / (2 * width * int64_t{sizeof(T)})));
  }
  /// Room for `rows` rows of any factor.
  template <class T>
  static Factor<T> in_room(const Matrix<T>& room, ColumnForm form, int64_t rows, int64_t width) {
    const MatrixView<T> all = room.view().block_rows(0, rows);
    if (form == ColumnForm::real) return {form, all.block_cols(0, width)};
    if (form == ColumnForm::complex) return {form, all};
    return {form, all.block_cols(0, width), all.block_cols(width, 2 * width)};
  }

  template <class T>
  static void apply_part(const FeatureMap& part, const Rows& X, Columns h, Context& context,
                         const Factor<T>& to) {
    const int64_t F = part.features() / 2;
    const bool halves = to.form == ColumnForm::halves;
    // If all columns are asked for, both halves lie side by side and come from one projection.
    if (halves && h.end - h.begin == F)
      return part.apply(X, {0, 2 * F}, context,
                        MatrixView<T>(to.first.data, to.first.rows, 2 * F, to.first.ld));
    part.apply(X, h, context, to.first);
    if (halves) part.apply(X, {F + h.begin, F + h.end}, context, to.second);
  }

  /// Z = the products of columns h of all parts; for halves, of columns h of the first half and
  /// their partners.
  template <class T>
  void multiply_parts(const Rows& X, Columns h, Context& context, const Factor<T>& Z) const {
    const int64_t n = X.rows(), width = h.end - h.begin, tile = tile_rows<T>(width, n);
    const Matrix<T> room(tile, 2 * width, context, "the features of one part");
    Stage stage(context, n * std::ssize(order_));
    for (int64_t i0 = 0; i0 < n; i0 += tile) {
      const int64_t count = std::min(tile, n - i0);
      const Rows rows = X.block_rows(i0, i0 + count);
      const Factor<T> product = Z.block_rows(i0, i0 + count);
      for (const FeatureMap* part : order_) {
        stage.share(count);
        if (part == order_.front()) {
          apply_part(*part, rows, h, context, product);
        } else {
          const Factor<T> own = in_room(room, part->column_form(), count, width);
          apply_part(*part, rows, h, context, own);
          multiply_rows(product, own, width, count, context);
        }
        stage.advance(count);
        context.checkpoint();
      }
    }
  }

  template <class T>
  void multiply_rows(const Factor<T>& product, const Factor<T>& by, int64_t width, int64_t rows,
                     Context& context) const {
    const T scale = static_cast<T>(std::sqrt(static_cast<double>(columns())));
    parallel_for(context, (rows - 1) / kProductChunk + 1, [&](int64_t chunk, int) noexcept {
      const int64_t end = std::min(rows, (chunk + 1) * kProductChunk);
      for (int64_t i = chunk * kProductChunk; i < end; ++i)
        multiply_row(product, by, scale, width, i);
    });
  }

  /// In Z itself where it has both halves of all columns, else through a tile that has them.
  template <class T>
  void apply_halves(const Rows& X, Columns c, Context& context, MatrixView<T> Z) const {
    const ColumnSlice slice(columns(), 2, 1, c);
    const projection::Blocks hull = slice.hull();
    const Columns h{hull.begin, hull.end};
    const int64_t n = X.rows(), width = h.end - h.begin;
    if (slice.covers(hull))
      return multiply_parts<T>(
          X, h, context, {form_, Z.block_cols(0, width), Z.block_cols(Z.cols - width, Z.cols)});
    const int64_t tile = tile_rows<T>(width, n);
    const Matrix<T> room(tile, 2 * width, context, "both halves of some columns");
    Stage stage(context, n);
    for (int64_t i0 = 0; i0 < n; i0 += tile) {
      const int64_t count = std::min(tile, n - i0);
      const Factor<T> both = in_room(room, form_, count, width);
      stage.share(count);
      multiply_parts(X.block_rows(i0, i0 + count), h, context, both);
      copy_part(both.first, slice, 0, h, Z.block_rows(i0, i0 + count));
      copy_part(both.second, slice, 1, h, Z.block_rows(i0, i0 + count));
      stage.advance(count);
    }
  }

  template <class T>
  static void copy_part(MatrixView<T> from, const ColumnSlice& slice, int p, Columns h,
                        MatrixView<T> Z) noexcept {
    const projection::Blocks own = slice.part(p);
    if (own.begin == own.end) return;
    for (int64_t i = 0; i < from.rows; ++i)
      std::copy_n(from.row(i) + (own.begin - h.begin), own.end - own.begin,
                  Z.row(i) + slice.offset(p, own.begin));
  }

  ColumnForm form_;
  std::vector<const FeatureMap*> order_;  // the parts, those of the form first
};

// Features of products of kernels, from the maps of the parts.

// Which parts can be multiplied, and with how many columns each: parts of one kind of column,
// complex or halves, and real ones; sums are multiplied out.
constexpr auto kRule = kernel::Composition::Rule::product;

const char* words(ColumnForm form) noexcept {
  return form == ColumnForm::complex ? "complex columns" : "columns in halves [Re | Im]";
}

/// The form of the product: complex or halves if a part is. Errors: UNSUPPORTED for parts of both
/// kinds, and for columns that do not estimate the kernel singly.
ColumnForm form_of(const PartMaps& maps) {
  ColumnForm form = ColumnForm::real;
  for (size_t i = 0; i < maps.size(); ++i) {
    const ColumnForm own = maps[i]->column_form();
    require(own != ColumnForm::joint, MERCER_UNSUPPORTED,
            "parts[%zu]: no column of this map %s estimates the kernel alone: it cannot be "
            "multiplied",
            i, std::string(maps[i]->name()).c_str());
    require(own == form || own == ColumnForm::real || form == ColumnForm::real, MERCER_UNSUPPORTED,
            "parts[%zu] has %s and one before it %s, expected one kind beside real columns", i,
            words(own), words(form));
    if (own != ColumnForm::real) form = own;
  }
  return form;
}

/// The parts with D columns each. A part whose number is fixed gets that, for form_of to refuse.
/// Null for a part that cannot have D columns: it may be able to have D/2, and `error` says why not
/// D.
PartMaps parts_of(const PartMaker& maker, int64_t D, std::optional<Error>& error) {
  PartMaps maps;
  const std::vector<MapSizes> sizes = maker.sizes();
  for (size_t i = 0; i < maker.count(); ++i) {
    try {
      maps.push_back(maker.make(i, sizes[i].step == 0 ? sizes[i].least : D));
    } catch (const Error& refused) {
      if (refused.status() != MERCER_INVALID_ARGUMENT) throw;
      if (!error) error = refused;
      maps.push_back(nullptr);
    }
  }
  return maps;
}

/// A part with real columns beside halves [Re | Im] has D/2: as many as one half.
std::shared_ptr<const FeatureMap> half_of(const PartMaker& maker, size_t part, int64_t D) {
  const int64_t step = 2 * std::max<int64_t>(maker.sizes()[part].step, 1);
  require(D % step == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected a multiple of %ld: real columns of parts[%zu] go with halves "
          "[Re | Im] of the others, which have %ld columns each",
          D, step, part, D / 2);
  return maker.make(part, D / 2);
}

/// The canonical Parameters that expanded_product reads.
Parameters as_canonical(const MapArguments& a) {
  return {
      {"map", a.map},       {"kernel", std::make_shared<const Parameters>(a.kernel.parameters())},
      {"inputs", a.inputs}, {"features", a.features},
      {"seed", a.seed},     {"parts", a.own.objects("parts")}};
}

std::unique_ptr<FeatureMap> product_from(const MapArguments& a) {
  const PartMaker maker(a, kRule);
  if (const auto expanded = expanded_product(as_canonical(a)))
    return make_expanded_product(a, *expanded);
  std::optional<Error> error;
  PartMaps maps = parts_of(maker, a.features, error);
  // Real columns go with both halves of the others.
  const bool halves = std::ranges::any_of(maps, [](const auto& map) {
    return map != nullptr && map->column_form() == ColumnForm::halves;
  });
  if (error && !halves) throw *error;
  for (size_t i = 0; halves && i < maps.size(); ++i) {
    if (maps[i] == nullptr || maps[i]->column_form() == ColumnForm::real)
      maps[i] = half_of(maker, i, a.features);
  }
  const ColumnForm form = form_of(maps);
  return std::make_unique<Product>(a, std::move(maps), form);
}

/// The common sizes of the parts whose inputs do not fix them; others cannot be multiplied.
MapSizes common_sizes(const Parameters& canonical, int64_t rows) {
  if (const auto expanded = expanded_product(canonical)) return map_sizes(*expanded, rows);
  MapSizes all{1, 1, kMostFeatures};
  for (const MapSizes& own : sizes_of_parts(canonical, rows)) {
    if (own.step == 0) continue;
    all = {std::max(all.least, own.least), std::max(all.step, own.step),
           std::min(all.most, own.most)};
  }
  return all;
}

}  // namespace

MapEntry product_entry() {
  return {.name = "product",
          .help =
              "the features of the parts of a product of kernels multiplied column by column; "
              "the costs of the parts add up",
          .fields = {part_maps_field()},
          .make = product_from,
          .default_kernel = composed_kernel("product"),
          .rule = kRule,
          .sizes = common_sizes};
}

}  // namespace mercer::feature
