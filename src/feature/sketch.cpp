// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Polynomial sketches as feature maps: tiles of rows through a tree of multilinear maps.
#include "feature/sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "base/size.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/linear.h"
#include "feature/sketch_tree.h"
#include "feature/tiles.h"
#include "transform/elements.h"

namespace mercer::feature {
namespace {

// From options to the tree of a sketch, its name and its parameters in specs.

// What the leaves of a sketch read: one row for all p factors, or the two parts of a row.
struct SketchLeaves {
  int64_t degree;
  bool two;
  projection::FactorShape first;
  projection::FactorShape second;
  double scale;  // of every column
};

// Hierarchical sketches: Ahle, Kapralov, Knudsen, Pagh, Velingkar, Woodruff, Zandieh 2020; CRAFT:
// Hamid, Xiao, Gittens, DeCoste 2014. Factors are numbered across the tree, so that every node has
// its own streams.
using projection::FactorShape;
using projection::SketchKind;

constexpr int64_t kMostPlanned = 2147483647;

// INVALID_ARGUMENT if `count` is not in 1, ..., 2^31 - 1, the limit of specs; products of a few
// such sizes are checked for overflow.
void check_sketch_columns(const char* name, int64_t count) {
  require(count >= 1 && count <= kMostPlanned, MERCER_INVALID_ARGUMENT,
          "%s = %ld, expected 1 to %ld", name, count, kMostPlanned);
}

class Planner {
 public:
  Planner(const SketchLeaves& leaves, int64_t D, const SketchOptions& options)
      : leaves_(leaves),
        options_(options),
        complex_(options.field != SketchField::real),
        columns_(projects_reals() ? D : tree_columns("features", D)),
        inner_(tree_columns("intermediate", intermediate_of(options, D))) {}

  SketchTree plan() {
    switch (options_.composition) {
      case Composition::plain:
        add_plain(columns_, leaves_.scale);
        break;
      case Composition::hierarchical:
        add_tree();
        break;
      case Composition::craft:
        add_craft();
        break;
    }
    return SketchTree(std::move(nodes_));
  }

  static int64_t intermediate_of(const SketchOptions& options, int64_t D) {
    if (options.intermediate != 0) return options.intermediate;
    return options.composition == Composition::craft ? checked_multiply(4, D, "intermediate") : D;
  }

 private:
  // A CRAFT of field complex_to_real reads its wide sketch as [Re | Im]: everything after it is
  // real.
  bool projects_reals() const {
    return options_.composition == Composition::craft &&
           options_.field == SketchField::complex_to_real;
  }

  // The tree's complex columns for so many features.
  int64_t tree_columns(const char* name, int64_t count) const {
    check_sketch_columns(name, count);
    if (options_.field != SketchField::complex_to_real) return count;
    require(count % 2 == 0, MERCER_INVALID_ARGUMENT,
            "%s = %ld, expected an even number for field = complex_to_real", name, count);
    return count / 2;
  }

  int64_t add(const SketchKind& kind, bool complex, std::vector<FactorShape> factors,
              std::vector<int64_t> children, int64_t columns, double scale) {
    projection::SketchShape shape{&kind,        complex, std::move(factors), columns, options_.seed,
                                  next_factor_, scale};
    next_factor_ += static_cast<int64_t>(shape.factors.size());
    nodes_.push_back({projection::make_multilinear(shape), std::move(children), false});
    return static_cast<int64_t>(nodes_.size()) - 1;
  }

  int64_t add_plain(int64_t columns, double scale) {
    if (leaves_.two) {
      return add(*options_.kind, complex_, {leaves_.first, leaves_.second},
                 {kFirstInput, kSecondInput}, columns, scale);
    }
    const auto p = static_cast<size_t>(leaves_.degree);
    return add(*options_.kind, complex_, std::vector<FactorShape>(p, leaves_.first),
               std::vector<int64_t>(p, kFirstInput), columns, scale);
  }

  // Every sketch keeps a table of what it has drawn, some bytes for every few columns: a spec of
  // one line must not ask for a thousand tables of a gigabyte.
  void add_tree() {
    const auto leaves = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(leaves_.degree)));
    const int64_t inner = 2 * leaves - 2;
    const int64_t per_column = options_.field == SketchField::complex_to_real ? 2 : 1;
    require(inner == 0 || inner_ <= kMostPlanned / inner, MERCER_INVALID_ARGUMENT,
            "intermediate = %ld, expected at most %ld for a tree of %ld inner sketches",
            per_column * inner_, per_column * (kMostPlanned / std::max(inner, int64_t{1})), inner);
    add_subtree(0, leaves, columns_, leaves_.scale);
  }

  // Leaves [first, first + count) of the tree; leaves past the degree are e_1.
  int64_t add_subtree(int64_t first, int64_t count, int64_t columns, double scale) {
    if (count == 1) {
      const bool second = leaves_.two && first == 1;
      const FactorShape shape = first >= leaves_.degree ? FactorShape{0, 1, 1}
                                : second                ? leaves_.second
                                                        : leaves_.first;
      return add(projection::single_kind(*options_.kind), complex_, {shape},
                 {second ? kSecondInput : kFirstInput}, columns, scale);
    }
    const int64_t left = add_subtree(first, count / 2, inner_, 1);
    const int64_t right = add_subtree(first + count / 2, count / 2, inner_, 1);
    return add(*options_.kind, complex_, {{inner_}, {inner_}}, {left, right}, columns, scale);
  }

  void add_craft() {
    const int64_t wide = add_plain(inner_, 1);
    const bool as_real = projects_reals();
    add(*options_.down, complex_ && !as_real, {{as_real ? 2 * inner_ : inner_}}, {wide}, columns_,
        leaves_.scale);
    nodes_.back().children_as_real = as_real;
  }

  const SketchLeaves& leaves_;
  const SketchOptions& options_;
  bool complex_;
  int64_t columns_;
  int64_t inner_;
  int64_t next_factor_ = 0;
  std::vector<SketchNode> nodes_;
};

// The fields of a plain sketch, in table order.
void add_plain_parameters(const SketchOptions& options, Parameters& spec) {
  if (projection::family_of(*options.kind).kinds.size() > 1) spec.set("kind", options.kind->name);
  projection::kSketchField.write(spec, options.field);
}

double root_of(const char* name, double value) {
  require(std::isfinite(value) && value > 0 && std::sqrt(value) > 0, MERCER_INVALID_ARGUMENT,
          "%s = %g, expected a positive finite number", name, value);
  return std::sqrt(value);
}

// Errors: UNSUPPORTED for a kernel that is neither polynomial nor bilinear; INVALID_ARGUMENT for
// an amplitude or gamma whose root is no positive finite number.
SketchLeaves sketch_leaves(const kernel::Kernel& kernel, int64_t d) {
  const std::optional<kernel::InnerPower> power = kernel.traits().inner_power;
  require(power.has_value(), MERCER_UNSUPPORTED,
          "kernel %s has no polynomial sketch, expected polynomial or bilinear",
          std::string(kernel.name()).c_str());
  const double scale = root_of("variance", kernel.variance());
  FactorShape first{d, root_of("gamma", power->gamma), std::sqrt(power->offset)}, second = first;
  const int64_t left = kernel.traits().left_inputs;
  if (left > 0) {
    first.inputs = left;
    second.inputs = d - left;
  }
  return {power->degree, left > 0, first, second, scale};
}

// The tree for D features; errors as for make_sketch. All inner sketches of a hierarchical one
// together have at most 2^31 - 1 columns.
SketchTree plan_sketch(const SketchLeaves& leaves, int64_t D, const SketchOptions& options) {
  return Planner(leaves, D, options).plan();
}

// "product_sketch", ...
const char* sketch_name(const SketchOptions& options) {
  return options.composition == Composition::hierarchical ? "hierarchical_sketch"
         : options.composition == Composition::craft      ? "craft"
                                                     : projection::family_of(*options.kind).name;
}

// The fields of the map's table row; D is the number of features.
void add_sketch_parameters(const SketchOptions& options, int64_t D, Parameters& spec) {
  if (options.composition == Composition::plain) return add_plain_parameters(options, spec);
  Parameters base{{"map", projection::family_of(*options.kind).name}};
  add_plain_parameters(options, base);
  spec.set("base", std::make_shared<const Parameters>(std::move(base)));
  spec.set("intermediate", Planner::intermediate_of(options, D));
  if (options.composition == Composition::craft) spec.set("projection", options.down->projection);
}

// Tiles of rows through a tree of sketches, with columns laid out as the field asks.
// Complex-to-real (Wacker, Ohana, Filippone 2023): the real part of a complex estimate is the inner
// product of [Re | Im].

// Rows of Z in a tile, and rows that the tree sees at once.
struct SketchRows {
  int64_t tile;
  int64_t together;
};

// body(i0, i1, range, planes, work) fills the planes with columns `range` of the tree for rows
// [i0, i1) of Z.
template <class T, class Body>
class SketchTiles final : public TileWork {
 public:
  SketchTiles(const SketchTree& tree, SketchField field, SketchRows rows, Columns c,
              MatrixView<T> Z, const Body& body)
      : tree_(tree),
        rows_(rows),
        Z_(Z),
        body_(body),
        slice_(tree.root().columns(), field == SketchField::complex_to_real ? 2 : 1,
               field == SketchField::complex ? 2 : 1, c),
        store_(slice_, Z),
        range_(slice_.hull()),
        direct_(slice_.reals() == 1 && slice_.covers(range_)) {}

  void prepare(Context& context) const override { tree_.prepare<T>(range_, context); }

  TileCut cut() const override {
    const int64_t buffered = checked_multiply(buffer_numbers(), rows_.tile, kWhat);
    return {Z_.rows,
            rows_.tile,
            {0, 1},
            1,
            checked_add(workspace_bytes(), checked_multiply(buffered, sizeof(T), kWhat), kWhat)};
  }

  void begin(std::byte* scratch) const noexcept override { tree_.begin_workspace<T>(scratch); }

  void run(const Tile& tile) const noexcept override {
    const SketchTree::Workspace<T> work = tree_.workspace<T>(tile.scratch);
    const MatrixView<T> Z = Z_.block_rows(tile.i0, tile.i1);
    const BlockBuffer<T> buffer{reinterpret_cast<T*>(tile.scratch + workspace_bytes()), Z.rows,
                                round_up(width())};
    body_(tile.i0, tile.i1, range_, direct_ ? planes_of(Z) : planes_of(buffer), work);
    if (direct_) return;
    if (slice_.reals() == 2) return interleave(buffer, Z);
    store_.put(buffer, range_, range_, tile.i0, nullptr);
    if (store_.streams()) transform::finish_streaming();
  }

 private:
  static constexpr const char* kWhat = "a tile of Z";
  int64_t width() const noexcept { return range_.end - range_.begin; }
  int64_t workspace_bytes() const { return tree_.workspace_bytes<T>(rows_.together, width()); }
  // Numbers of a row, for both planes; none where the tree writes into Z.
  int64_t buffer_numbers() const noexcept {
    return direct_ ? 0 : 2 * (round_up(width()) + transform::kLineNumbers<T>);
  }

  projection::Planes<T> planes_of(MatrixView<T> Z) const noexcept {
    if (slice_.parts() == 1) return {Z, {}, store_.streams()};
    return {Z.block_cols(0, width()), Z.block_cols(width(), 2 * width()), store_.streams()};
  }
  projection::Planes<T> planes_of(const BlockBuffer<T>& buffer) const noexcept {
    return {{buffer.row(0, 0), buffer.rows, width(), buffer.ld()},
            {buffer.row(1, 0), buffer.rows, width(), buffer.ld()}};
  }

  void interleave(const BlockBuffer<T>& buffer, MatrixView<T> Z) const noexcept {
    for (int64_t i = 0; i < Z.rows; ++i)
      transform::interleave(buffer.row(0, i), buffer.row(1, i), width(), Z.row(i));
  }

  const SketchTree& tree_;
  SketchRows rows_;
  MatrixView<T> Z_;
  const Body& body_;
  ColumnSlice slice_;
  ColumnStore<T> store_;
  projection::Blocks range_;
  bool direct_;
};

using projection::Blocks;
using projection::Planes;

// Chunks of rows that a small call is cut into.
constexpr int64_t kLeastChunks = 8;
// With fewer products over the factors than this one worker does all.
constexpr double kSerialSketch = 1 << 15;

template <class T>
using Work = SketchTree::Workspace<T>;

class Sketch final : public FeatureMap, public Derivatives, public Moments, public PairMap {
 public:
  Sketch(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D,
         const SketchOptions& options)
      : FeatureMap(d, D, options.field == SketchField::complex),
        kernel_(std::move(kernel)),
        options_(options),
        leaves_(sketch_leaves(*kernel_, d)),
        tree_(plan_sketch(leaves_, D, options)) {}

  std::string_view name() const noexcept override { return sketch_name(options_); }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override {
    Parameters spec;
    spec.set("map", std::string(name()));
    spec.set("kernel", std::make_shared<const Parameters>(kernel_->parameters()));
    spec.set("inputs", inputs());
    spec.set("features", features());
    spec.set("seed", options_.seed);
    add_sketch_parameters(options_, features(), spec);
    return spec;
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      using T = RowNumberOf<decltype(rows)>;
      apply_rows(rows, c, context, result_of<T>(Z));
    });
  }
  const PairMap* pair() const noexcept override { return leaves_.two ? this : nullptr; }
  void apply_pair(const Rows& X, const Rows& Y, int64_t locations, Columns c, Context& context,
                  const ResultView& Z) const override {
    X.visit([&](const auto& left) {
      using View = std::remove_cvref_t<decltype(left)>;
      using T = RowNumberOf<View>;
      const View* const right = Y.get_if<View>();
      if constexpr (!kIsSparse<View>) {
        if (right != nullptr)
          return apply_two(left, *right, locations, c, context, result_of<T>(Z));
      }
      fail(MERCER_UNSUPPORTED, "rows in two parts are not both dense and of one precision");
    });
  }
  int64_t right_inputs() const noexcept override { return leaves_.second.inputs; }

  const Derivatives* derivatives() const noexcept override { return this; }
  MERCER_DERIVATIVE_CALLS_BY(parts())

  void prepare(Precision precision, Context& context) const override {
    const Blocks all{0, tree_.root().columns()};
    if (precision == Precision::f32) tree_.prepare<float>(all, context);
    if (precision == Precision::f64) tree_.prepare<double>(all, context);
  }

  const Moments& moments() const override { return *this; }
  double variance_at(const double* x, const double* y) const override {
    return amplitude() * real_variance(pair_moments(x, y));
  }
  double pseudo_variance_at(const double* x, const double* y) const override {
    if (!is_complex()) return variance_at(x, y);
    return amplitude() * feature::pseudo_variance(pair_moments(x, y));
  }

  // Single columns estimate the kernel, whatever they have in common with others.
  ColumnForm column_form() const noexcept override {
    switch (layout_field()) {
      case SketchField::real:
        return ColumnForm::real;
      case SketchField::complex:
        return ColumnForm::complex;
      case SketchField::complex_to_real:
        break;
    }
    return ColumnForm::halves;
  }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    const projection::SketchShape& root = tree_.root().shape();
    const PairMoments own = pair_moments(x, y);
    const double scale = amplitude() * static_cast<double>(root.columns);
    const ColumnMoments one{kernel_->value(inputs(), x, y), scale * own.Q, scale * own.T};
    // Columns of a composition have their inputs in common, whatever is drawn at the root.
    const bool composed = options_.composition != Composition::plain;
    if (root.kind->independent && !composed) return one;
    const bool blocks = root.kind->blocks && !composed;
    const double pseudo = feature::pseudo_variance(own);
    return dependent_columns(
        one, blocks ? projection::sketch_dimension(root.factors) : root.columns,
        root.kind->alike && (blocks || !root.kind->blocks),
        amplitude() * (2 * real_variance(own) - pseudo), amplitude() * pseudo, root.columns);
  }

  // Moments of products are those of pairs with y z in place of y y, in which they are linear.
  std::optional<double> covariance_at(const double* x, const double* y,
                                      const double* z) const override {
    const int64_t left = leaves_.first.inputs, right = inputs() - left;
    const PairMoments both =
        tree_.moments(triple_sums(left, x, y, z), triple_sums(right, x + left, y + left, z + left));
    return amplitude() * (both.S + both.R) / 2 -
           kernel_->value(inputs(), x, y) * kernel_->value(inputs(), x, z);
  }

  int64_t incomplete_block() const override {
    const projection::SketchShape& root = tree_.root().shape();
    if (!root.kind->blocks) return 0;
    return root.columns % projection::sketch_dimension(root.factors);
  }

 private:
  SketchParts parts() const { return {tree_, leaves_.first.inputs, layout_field()}; }

  // A projection of [Re | Im] is real.
  SketchField layout_field() const {
    return tree_.root().is_complex() ? options_.field : SketchField::real;
  }

  // Variances are those without the kernel's amplitude.
  double amplitude() const { return kernel_->variance() * kernel_->variance(); }

  PairMoments pair_moments(const double* x, const double* y) const {
    const int64_t left = leaves_.first.inputs;
    return tree_.moments(pair_sums(left, x, y), pair_sums(inputs() - left, x + left, y + left));
  }

  template <class T>
  LeafRows<T> leaf_rows(MatrixView<const T> X) const noexcept {
    if (!leaves_.two) return {{{X, {}}, nullptr}, {}};
    const int64_t left = leaves_.first.inputs;
    return {{{X.block_cols(0, left), {}}, nullptr}, {{X.block_cols(left, X.cols), {}}, nullptr}};
  }

  template <class T>
  void apply_rows(MatrixView<const T> X, Columns c, Context& context, MatrixView<T> Z) const {
    run(X.rows, c, context, Z,
        [&](int64_t i0, int64_t i1, Blocks range, Planes<T> planes, const Work<T>& work) noexcept {
          tree_.evaluate(leaf_rows(X.block_rows(i0, i1)), i1 - i0, range, planes, work);
        });
  }

  template <class T>
  void apply_rows(const CsrView<T>& X, Columns c, Context& context, MatrixView<T> Z) const {
    // In sparse rows the parts of a two-input row are not apart.
    if (leaves_.two) return apply_by_dense_tiles(X, c, context, Z);
    run(X.rows, c, context, Z,
        [&](int64_t i0, int64_t i1, Blocks range, Planes<T> planes, const Work<T>& work) noexcept {
          const CsrView<T> rows = X.block_rows(i0, i1);
          tree_.evaluate(LeafRows<T>{{{}, &rows}, {}}, i1 - i0, range, planes, work);
        });
  }

  template <class T>
  void apply_two(MatrixView<const T> X, MatrixView<const T> Y, int64_t locations, Columns c,
                 Context& context, MatrixView<T> Z) const {
    if (locations == 1) {
      return run(Z.rows, c, context, Z,
                 [&](int64_t i0, int64_t i1, Blocks range, Planes<T> planes,
                     const Work<T>& work) noexcept {
                   const LeafRows<T> rows{{{X.block_rows(i0, i1), {}}, nullptr},
                                          {{Y.block_rows(i0, i1), {}}, nullptr}};
                   tree_.evaluate(rows, i1 - i0, range, planes, work);
                 });
    }
    const int64_t tile = std::min(tree_.tile_rows(), std::max<int64_t>(locations, 1));
    run_pieces(
        {1, tile}, c, context, Z,
        [&](int64_t i, int64_t, Blocks range, Planes<T> planes, const Work<T>& work) noexcept {
          std::fill_n(planes.re.data, planes.re.cols, T{0});
          if (planes.im.data != nullptr) std::fill_n(planes.im.data, planes.im.cols, T{0});
          for (int64_t l = i * locations; l < (i + 1) * locations; l += tile) {
            const int64_t end = std::min(l + tile, (i + 1) * locations);
            const LeafRows<T> rows{{{X.block_rows(l, end), {}}, nullptr},
                                   {{Y.block_rows(l, end), {}}, nullptr}};
            tree_.evaluate_sum(rows, end - l, range, planes, work);
          }
        });
  }

  // Calls body(i0, i1, range, planes, work), which fills the planes of rows [i0, i1).
  template <class T, class Body>
  void run(int64_t n, Columns c, Context& context, MatrixView<T> Z, const Body& body) const {
    // Little work is not worth waking a worker.
    const double work = static_cast<double>(n) * static_cast<double>(c.end - c.begin) *
                        static_cast<double>(leaves_.degree);
    const int64_t chunks = work < kSerialSketch ? 1 : kLeastChunks;
    const int64_t tile = std::clamp(ceil_divide(n, chunks), int64_t{1}, tree_.tile_rows());
    run_pieces({tile, tile}, c, context, Z, body);
  }

  template <class T, class Body>
  void run_pieces(SketchRows rows, Columns c, Context& context, MatrixView<T> Z,
                  const Body& body) const {
    if (Z.rows == 0 || c.begin == c.end) return;
    const SketchField field = layout_field();
    const int64_t reals = field == SketchField::complex ? 2 : 1;
    for_each_piece(c, tree_.root().columns(), context, [&](Columns piece) {
      const MatrixView<T> own =
          Z.block_cols((piece.begin - c.begin) * reals, (piece.end - c.begin) * reals);
      run_tiles(SketchTiles<T, Body>(tree_, field, rows, piece, own, body), context);
    });
  }

  std::unique_ptr<const kernel::Kernel> kernel_;
  SketchOptions options_;
  SketchLeaves leaves_;
  SketchTree tree_;
};

// The entries of sketches: one for each family, made from its description, and those composed of
// them.
using projection::SketchFamily;
using projection::SketchKind;

// Extents go to BLAS, whose LP64 interface has 32-bit integers.
constexpr double kMostLocation = 2147483647;

/// The first choice is the default.
Field choice(const char* key, std::vector<const char*> choices, const char* help) {
  Value first = std::string(choices.front());
  return {.key = key,
          .type = FieldType::text,
          .fallback = std::move(first),
          .choices = std::move(choices),
          .help = help};
}

/// The default is the first.
std::vector<Field> family_fields(const SketchFamily& family) {
  std::vector<Field> fields;
  if (family.kinds.size() > 1) {
    std::vector<const char*> kinds;
    for (const SketchKind& kind : family.kinds) kinds.push_back(kind.name);
    fields.push_back(choice("kind", std::move(kinds), family.kinds_help));
    fields.back().former = family.kinds_former;
  }
  fields.push_back(projection::kSketchField.field_of(family.fields));
  return fields;
}

std::vector<const char*> family_names() {
  std::vector<const char*> names;
  for (const SketchFamily& family : projection::sketch_families()) names.push_back(family.name);
  return names;
}

/// Kinds that can be projections of one factor, cheapest first.
std::vector<const SketchKind*> projections() {
  std::vector<const SketchKind*> kinds;
  const auto families = projection::sketch_families();
  for (auto family = families.rbegin(); family != families.rend(); ++family) {
    for (const SketchKind& kind : family->kinds) {
      if (kind.projection != nullptr) kinds.push_back(&kind);
    }
  }
  return kinds;
}

std::vector<const char*> projection_names() {
  std::vector<const char*> names;
  for (const SketchKind* kind : projections()) names.push_back(kind->projection);
  return names;
}

Field intermediate(const char* help) {
  return integer_field("intermediate", kOptional, 1, kMostLocation, help);
}

const SketchKind& kind_of(const std::string& map, const Parameters& own) {
  const Value* kind = own.find("kind");
  for (const SketchFamily& family : projection::sketch_families()) {
    if (map != family.name) continue;
    return kind == nullptr ? family.kinds.front()
                           : *projection::sketch_kind(std::get<std::string>(*kind));
  }
  fail(MERCER_INTERNAL, "map %s is no sketch", map.c_str());
}

SketchOptions plain_options(const std::string& map, const Parameters& own, uint64_t seed) {
  SketchOptions options;
  options.kind = &kind_of(map, own);
  options.field = projection::kSketchField.read(own);
  options.seed = seed;
  return options;
}

/// The step of a sketch, or of one made of it.
int64_t step_of(const MapArguments& a) {
  const Parameters& sketch = a.own.find("base") == nullptr ? a.own : a.own.object("base");
  return projection::kSketchField.read(sketch) == SketchField::complex_to_real ? 2 : 1;
}

std::unique_ptr<FeatureMap> plain_from(const MapArguments& a) {
  return make_sketch(a.kernel, a.inputs, a.features, plain_options(a.map, a.own, a.seed));
}

SketchOptions composed_options(const MapArguments& a, Composition composition) {
  SketchOptions options = sketch_options(a.own.object("base"), a.seed);
  options.composition = composition;
  if (a.own.find("intermediate") != nullptr) options.intermediate = a.own.integer("intermediate");
  return options;
}

std::unique_ptr<FeatureMap> hierarchical_from(const MapArguments& a) {
  return make_sketch(a.kernel, a.inputs, a.features,
                     composed_options(a, Composition::hierarchical));
}

std::unique_ptr<FeatureMap> craft_from(const MapArguments& a) {
  SketchOptions options = composed_options(a, Composition::craft);
  for (const SketchKind* kind : projections()) {
    if (a.own.text("projection") == kind->projection) options.down = kind;
  }
  return make_sketch(a.kernel, a.inputs, a.features, options);
}

}  // namespace

std::unique_ptr<FeatureMap> make_sketch(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const SketchOptions& options) {
  kernel.check_dimension(d);
  check_sketch_columns("features", D);
  const StandardRounding rounding;
  return std::make_unique<Sketch>(kernel.with_variance(kernel.variance()), d, D, options);
}

Field sketch_field(const char* key, Parameters fallback, const char* help) {
  return {.key = key,
          .type = FieldType::sketch,
          .fallback = std::make_shared<const Parameters>(std::move(fallback)),
          .choices = family_names(),
          .help = help,
          .canonical = canonical_sketch};
}

SketchOptions sketch_options(const Parameters& sketch, uint64_t seed) {
  return plain_options(sketch.text("map"), sketch, seed);
}

std::vector<MapEntry> sketch_entries() {
  const Field base = sketch_field("base", {{"map", "tensor_srht"}}, "the sketch it is made of");
  std::vector<MapEntry> entries;
  for (const SketchFamily& family : projection::sketch_families()) {
    entries.push_back({.name = family.name,
                       .help = family.help,
                       .fields = family_fields(family),
                       .make = plain_from,
                       .base = true});
  }
  entries.push_back(
      {.name = "hierarchical_sketch",
       .help = "binary tree of sketches of two inputs each, for high degrees",
       .fields = {base, intermediate("columns of the inner sketches; none: features")},
       .make = hierarchical_from});
  entries.push_back(
      {.name = "craft",
       .help = "a wide sketch projected down to `features` columns",
       .fields = {base, intermediate("columns of the wide sketch; none: 4 * features"),
                  choice("projection", projection_names(), "from the wide sketch to the features")},
       .make = craft_from});
  for (MapEntry& entry : entries) {
    entry.default_kernel = kernel_named("polynomial");
    entry.features_step = step_of;
  }
  return entries;
}

}  // namespace mercer::feature
