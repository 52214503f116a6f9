// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/composed_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/size.h"
#include "feature/derivatives.h"
#include "feature/field_map.h"
#include "kernel/composed_kernel.h"
#include "random/stream.h"

namespace mercer::feature {
namespace {

constexpr uint64_t kMapPart = 1;
// Keys of a part that the whole map fixes.
constexpr const char* kFixed[] = {"kernel", "inputs", "features", "seed", "needs"};

// Limits on all parts at any depth, so that what can be made can be saved: files hold three arrays
// of numbers for each part under names with a prefix for each level (io/container.cpp), and the
// spec of a model, with two levels of JSON for each level of parts and five more, must not nest
// deeper than JSON may (spec/json.h).
constexpr int64_t kMostPartsInAll = 1024;
constexpr int64_t kMostNested = 13;

struct Extent {
  int64_t parts = 1;
  int64_t depth = 0;
};

Extent extent_of(const kernel::Kernel& kernel) {
  const std::optional<kernel::Composition> composition = kernel.composition();
  if (!composition) return {};
  Extent all{0, 0};
  for (const auto& part : composition->parts) {
    const Extent own = extent_of(*part);
    all = {all.parts + own.parts, std::max(all.depth, own.depth + 1)};
  }
  return all;
}

void check_extent(const kernel::Kernel& whole) {
  const Extent extent = extent_of(whole);
  require(extent.parts <= kMostPartsInAll, MERCER_INVALID_ARGUMENT,
          "kernel %s has %ld parts in all, expected at most %ld for a map",
          std::string(whole.name()).c_str(), extent.parts, kMostPartsInAll);
  require(extent.depth <= kMostNested, MERCER_INVALID_ARGUMENT,
          "kernel %s is nested %ld deep, expected at most %ld for a map",
          std::string(whole.name()).c_str(), extent.depth, kMostNested);
}

// The variance of a part that carries that of the whole.
double borne_variance(size_t part, double own, double whole) {
  const double borne = own * whole;
  require(borne > 0 && std::isfinite(borne), MERCER_INVALID_ARGUMENT,
          "parts[%zu]: variance = %g times the %g of the whole is %g, expected a finite number > 0",
          part, own, whole, borne);
  return borne;
}

/// k I of a kernel k of one output, which is a part of a sum of several.
Parameters of_each_output(const Parameters& kernel, int64_t p) {
  std::vector<double> identity(static_cast<size_t>(p * p), 0.0);
  for (int64_t o = 0; o < p; ++o) identity[o * p + o] = 1;
  return {{"kernel", std::string("decomposable")},
          {"scalar", std::make_shared<const Parameters>(kernel)},
          {"gamma", std::move(identity)}};
}

// Names of numbers hold letters alone: aa_, ab_, ...
std::string prefix_of(size_t part) {
  return {static_cast<char>('a' + part / 26), static_cast<char>('a' + part % 26), '_'};
}

std::vector<NumberArray> numbers_of(size_t part, std::span<const NumberArray> all) {
  const std::string prefix = prefix_of(part);
  std::vector<NumberArray> own;
  for (const NumberArray& array : all) {
    if (array.name.starts_with(prefix))
      own.push_back({array.name.substr(prefix.size()), array.shape, array.values});
  }
  return own;
}

// Each part gets its least features and then whole steps of its share of the rest, rounded down.
// What that leaves is given step by step to the part that is furthest below its share.
struct Rest {
  int64_t columns;  // less the least of each part
  double share;     // of the parts with steps together
};

Rest rest_of(int64_t total, const std::vector<PartSize>& sizes) {
  int64_t least = 0;
  double share = 0;
  for (const PartSize& size : sizes) {
    least = checked_add(least, size.least, "features");
    if (size.step > 0) share += size.share;
  }
  require(share > 0 || total == least, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: the inputs decide how many each part has", total, least);
  require(total >= least, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected at least %ld for the parts of the map", total, least);
  require(share <= std::numeric_limits<double>::max(), MERCER_INVALID_ARGUMENT,
          "shares add up to %g, expected a finite sum", share);
  return {total - least, share};
}

// Features of sums of kernels: those of the parts side by side, each with its own seed. Means,
// biases and variances of the estimate add up, since the parts are independent.
constexpr auto kSumRule = kernel::Composition::Rule::sum;
// Bytes of derivatives of one part at a time, before they are copied to their columns.
constexpr int64_t kSumBytes = int64_t{8} << 20;

class Sum final : public ComposedMap {
 public:
  Sum(const MapArguments& arguments, PartMaps maps, bool is_complex, std::vector<double> shares)
      : ComposedMap(arguments, std::move(maps), is_complex), shares_(std::move(shares)) {}

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      const auto out = result_of<RowNumberOf<decltype(rows)>>(Z);
      if (rows.rows == 0 || c.begin == c.end) return;
      apply_side_by_side(parts(), 0, X, c, context, out);
    });
  }

  double variance_at(const double* x, const double* y) const override {
    return add_up(&Moments::variance_at, x, y);
  }
  double pseudo_variance_at(const double* x, const double* y) const override {
    return add_up(&Moments::pseudo_variance_at, x, y);
  }
  double bias_at(const double* x, const double* y) const override {
    return add_up(&Moments::bias_at, x, y);
  }

  double estimated_kernel(const double* x, const double* y) const override {
    if (!shows_other_rows()) return kernel().value(inputs(), x, y);
    double sum = 0;
    for (const auto& part : parts()) sum += part->estimated_kernel(x, y);
    return sum;
  }

  MERCER_DERIVATIVE_CALLS

 private:
  void add_parameters(Parameters& spec) const override {
    if (!shares_.empty()) spec.set("shares", shares_);
  }

  /// body(part, its first column).
  template <class Body>
  void for_each_part(const Body& body) const {
    int64_t begin = 0;
    for (const auto& part : parts()) {
      body(*part, begin);
      begin += part->features();
    }
  }
  /// As above, as one stage of the context, whose progress counts real numbers of a row.
  template <class Body>
  void for_each_stage(Context& context, const Body& body) const {
    Stage stage(context, row_length());
    const int64_t reals = is_complex() ? 2 : 1;
    for_each_part([&](const FeatureMap& part, int64_t begin) {
      stage.share(part.row_length());
      body(part, begin * reals, begin * reals + part.row_length());
      stage.advance(part.row_length());
      context.checkpoint();
    });
  }

  double add_up(double (Moments::*moment)(const double*, const double*) const, const double* x,
                const double* y) const {
    double sum = 0;
    for (const auto& part : parts()) sum += (part->moments().*moment)(x, y);
    return sum;
  }

  template <class T>
  void pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                      MatrixView<T> out) const {
    const Matrix<T> own(X.rows, inputs(), context, "the gradient of one part");
    for_each_stage(context, [&](const FeatureMap& part, int64_t begin, int64_t end) {
      if (begin == 0)
        return part.derivatives()->pull_back(X, G.block_cols(begin, end), context, out);
      part.derivatives()->pull_back(X, G.block_cols(begin, end), context, own.view());
      for (int64_t i = 0; i < out.rows; ++i)
        for (int64_t k = 0; k < out.cols; ++k) out(i, k) += own(i, k);
    });
  }

  template <class T>
  void push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
    for_each_stage(context, [&](const FeatureMap& part, int64_t begin, int64_t end) {
      part.derivatives()->push_forward(X, V, context, out.block_cols(begin, end));
    });
  }

  // The blocks of a part lie side by side in a tile.
  template <class T>
  void differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                          MatrixView<T> out) const {
    const int64_t blocks = what.blocks(inputs());
    for_each_stage(context, [&](const FeatureMap& part, int64_t begin, int64_t end) {
      const int64_t width = end - begin;
      const int64_t row_bytes = std::max<int64_t>(blocks * width, 1) * int64_t{sizeof(T)};
      const int64_t rows =
          std::clamp(kSumBytes / row_bytes, int64_t{1}, std::max<int64_t>(X.rows, 1));
      const Matrix<T> tile(rows, blocks * width, context, "the derivatives of one part");
      for (int64_t i0 = 0; i0 < X.rows; i0 += rows) {
        const int64_t count = std::min(rows, X.rows - i0);
        part.derivatives()->differentiate(what, X.block_rows(i0, i0 + count), context,
                                          tile.view().block_rows(0, count));
        for (int64_t i = 0; i < count; ++i)
          for (int64_t b = 0; b < blocks; ++b)
            std::copy_n(&tile(i, b * width), width, out.row(i0 + i) + b * row_length() + begin);
        context.checkpoint();
      }
    });
  }

  std::vector<double> shares_;  // as given
};

bool have_complex_columns(const PartMaps& maps) {
  const auto kind = [](const auto& map) { return map->is_complex() ? "complex" : "real"; };
  for (size_t i = 1; i < maps.size(); ++i) {
    require(maps[i]->is_complex() == maps[0]->is_complex(), MERCER_UNSUPPORTED,
            "parts[%zu] has %s columns and parts[0] %s ones, expected one kind", i, kind(maps[i]),
            kind(maps[0]));
  }
  return maps[0]->is_complex();
}

std::vector<double> shares_of(const Parameters& own, size_t count) {
  if (own.find("shares") == nullptr) return {};
  std::vector<double> shares = own.numbers("shares");
  require(shares.size() == count, MERCER_INVALID_ARGUMENT,
          "shares = a list of %zu numbers, expected %zu, one for each part", shares.size(), count);
  return shares;
}

struct Sizes {
  std::vector<PartSize> parts;
  std::vector<int64_t> most;  // of each part
};

Sizes sizes_of(const std::vector<MapSizes>& parts, const std::vector<double>& shares) {
  Sizes sizes;
  for (size_t i = 0; i < parts.size(); ++i) {
    sizes.parts.push_back({shares.empty() ? 1 : shares[i], parts[i].least, parts[i].step});
    sizes.most.push_back(parts[i].most);
  }
  return sizes;
}

bool fits(int64_t total, const Sizes& sizes) {
  const std::vector<int64_t> features = allot(total, sizes.parts);
  for (size_t i = 0; i < features.size(); ++i)
    if (features[i] > sizes.most[i]) return false;
  return true;
}

/// A total, from the least in steps, that gives no part more than it can have: the largest, except
/// for what the last steps of unequal shares may cost.
int64_t most_of(const MapSizes& all, const Sizes& sizes) {
  int64_t low = 0, high = std::max(kMostFeatures - all.least, int64_t{0}) / all.step;  // in steps
  while (low < high) {
    const int64_t middle = high - (high - low) / 2;
    if (fits(all.least + middle * all.step, sizes)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return all.least + low * all.step;
}

/// The smallest step of a part, whose multiples are all possible totals.
MapSizes total_sizes(const Parameters& canonical, int64_t rows) {
  const std::vector<MapSizes> parts = sizes_of_parts(canonical, rows);
  if (parts.empty()) return {1, 1, kMostFeatures};
  const Sizes sizes = sizes_of(parts, shares_of(canonical, parts.size()));
  MapSizes all{0, 0, kMostFeatures};
  bool limited = false;
  for (size_t i = 0; i < sizes.parts.size(); ++i) {
    const PartSize& part = sizes.parts[i];
    all.least = checked_add(all.least, part.least, "features");
    if (part.step == 0) continue;
    all.step = all.step == 0 ? part.step : std::min(all.step, part.step);
    limited = limited || sizes.most[i] < kMostFeatures;
  }
  if (all.step == 0) all.most = all.least;
  if (limited) all.most = most_of(all, sizes);
  return all;
}

std::unique_ptr<FeatureMap> sum_of_fields(const MapArguments& a, const PartMaps& maps,
                                          const std::vector<double>& shares) {
  FieldSum sum;
  PartMaps scalars;
  MapArguments of_scalars = a;
  of_scalars.features = 0;
  for (const auto& map : maps) {
    const FieldMap* const field = map->field();
    sum.parts.emplace_back(map, field);
    scalars.emplace_back(map, &field->scalar());
    of_scalars.features += field->scalar().features();
  }
  const Sum whole(a, maps, false, shares);
  sum.parameters = whole.parameters();
  sum.numbers = whole.numbers();
  sum.kernel = a.kernel.copy();
  sum.scalar = std::make_shared<const Sum>(of_scalars, std::move(scalars), false, shares);
  return make_field_sum(std::move(sum));
}

std::unique_ptr<FeatureMap> sum_from(const MapArguments& a) {
  const PartMaker maker(a, kSumRule);
  std::vector<double> shares = shares_of(a.own, maker.count());
  const std::vector<int64_t> features = allot(a.features, sizes_of(maker.sizes(), shares).parts);
  PartMaps maps;
  for (size_t i = 0; i < maker.count(); ++i) maps.push_back(maker.make(i, features[i]));
  const bool is_complex = have_complex_columns(maps);
  if (a.kernel.matrix() != nullptr) return sum_of_fields(a, maps, shares);
  return std::make_unique<Sum>(a, std::move(maps), is_complex, std::move(shares));
}

}  // namespace

PartMaker::PartMaker(const MapArguments& arguments, kernel::Composition::Rule rule)
    : arguments_(arguments) {
  const kernel::Kernel& whole = arguments.kernel;
  const std::optional<kernel::Composition> composition = whole.composition();
  require(composition && composition->rule == rule, MERCER_UNSUPPORTED,
          "kernel %s is not a %s of kernels, expected %s", std::string(whole.name()).c_str(),
          arguments.map.c_str(), arguments.map.c_str());
  const int64_t p = whole.outputs(arguments.inputs);
  check_extent(whole);
  for (const auto& part : composition->parts) {
    const bool bears = rule == kernel::Composition::Rule::sum || kernels_.empty();
    const bool apart = whole.matrix() != nullptr && part->matrix() == nullptr;
    const auto own =
        apart ? kernel::make_kernel(of_each_output(part->parameters(), p)) : part->copy();
    kernels_.push_back(own->with_variance(
        borne_variance(kernels_.size(), own->variance(), bears ? whole.variance() : 1)));
  }
  const size_t given = arguments.own.objects("parts").size();
  require(given == count(), MERCER_INVALID_ARGUMENT,
          "parts = a list of %zu maps, expected %zu, one for each part of kernel %s", given,
          count(), arguments.map.c_str());
}

Parameters PartMaker::spec(size_t part, int64_t features) const {
  Parameters given = *arguments_.own.objects("parts")[part];
  given.set("kernel", std::make_shared<const Parameters>(kernels_[part]->parameters()));
  given.set("inputs", arguments_.inputs);
  given.set("features", features);
  given.set("seed", random::child_seed(arguments_.seed, kMapPart, part));
  return canonical_map(given, "parts[" + std::to_string(part) + "].", Data::refused);
}

std::vector<MapSizes> PartMaker::sizes() const {
  Parameters whole = arguments_.own;
  whole.set("kernel", std::make_shared<const Parameters>(arguments_.kernel.parameters()));
  whole.set("inputs", arguments_.inputs);
  return sizes_of_parts(whole, kMostFeatures);
}

std::shared_ptr<const FeatureMap> PartMaker::make(size_t part, int64_t features) const {
  Parameters canonical = spec(part, features);
  require(
      !learns_from_targets(canonical), MERCER_UNSUPPORTED,
      "parts[%zu]: map %s is to learn from targets, which parts are made without, expected what "
      "it learns alone, as its spec then says it",
      part, canonical.text("map").c_str());
  if (arguments_.data.context != nullptr) arguments_.data.context->checkpoint();
  const std::vector<NumberArray> numbers = numbers_of(part, arguments_.data.numbers);
  if (!numbers.empty()) canonical.set("needs", std::string("data"));
  std::shared_ptr<const FeatureMap> map;
  try {
    map = make_map(canonical, {.numbers = numbers,
                               .rows = takes_rows(canonical) ? arguments_.data.rows : nullptr,
                               .context = arguments_.data.context});
  } catch (const Error& error) {
    throw error.within("parts[" + std::to_string(part) + "]");
  }
  require(map->features() == features, MERCER_INVALID_ARGUMENT,
          "parts[%zu]: map %s has %ld features, expected the %ld that it is to have", part,
          std::string(map->name()).c_str(), map->features(), features);
  return map;
}

std::vector<MapSizes> sizes_of_parts(const Parameters& canonical, int64_t rows) {
  const Parameters& kernel = canonical.object("kernel");
  if (canonical.find("parts") == nullptr || kernel.find("parts") == nullptr) return {};
  const ObjectList &maps = canonical.objects("parts"), &kernels = kernel.objects("parts");
  if (maps.size() != kernels.size()) return {};
  const int64_t d = canonical.integer("inputs");
  const bool joined = kernel::output_count(kernel) == kernel::OutputCount::parts;
  const int64_t p = joined ? kernel::make_kernel(kernel)->outputs(d) : 1;
  std::vector<MapSizes> sizes;
  for (size_t i = 0; i < maps.size(); ++i) {
    Parameters part = *maps[i];
    const bool apart = joined && kernel::output_count(*kernels[i]) == kernel::OutputCount::one;
    part.set("kernel", apart ? std::make_shared<const Parameters>(of_each_output(*kernels[i], p))
                             : kernels[i]);
    part.set("inputs", d);
    part.set("features", int64_t{1});
    part.set("seed", uint64_t{0});
    sizes.push_back(map_sizes(part, rows));
  }
  return sizes;
}

ComposedMap::ComposedMap(const MapArguments& arguments, PartMaps parts, bool is_complex)
    : FeatureMap(arguments.inputs, arguments.features, is_complex),
      name_(arguments.map),
      kernel_(arguments.kernel.copy()),
      seed_(arguments.seed),
      parts_(std::move(parts)) {
  size_t arrays = 0;
  for (size_t i = 0; i < parts_.size(); ++i) arrays += numbers_of(i, arguments.data.numbers).size();
  require(arrays == arguments.data.numbers.size(), MERCER_CORRUPT_FILE,
          "%zu arrays of numbers belong to no part of the map",
          arguments.data.numbers.size() - arrays);
}

Parameters ComposedMap::parameters() const {
  Parameters spec = common_parameters(seed_);
  ObjectList list;
  bool needs_data = false;
  for (const auto& part : parts_) {
    const Parameters whole = part->parameters();
    Parameters own;
    for (const auto& [key, value] : whole.entries()) {
      if (std::ranges::find(kFixed, key) == std::end(kFixed)) own.set(key, value);
    }
    needs_data = needs_data || whole.find("needs") != nullptr;
    list.push_back(std::make_shared<const Parameters>(std::move(own)));
  }
  spec.set("parts", std::move(list));
  add_parameters(spec);
  if (needs_data) spec.set("needs", std::string("data"));
  return spec;
}

void ComposedMap::prepare(Precision precision, Context& context) const {
  Stage stage(context, std::ssize(parts_));
  for (const auto& part : parts_) {
    stage.share(1);
    part->prepare(precision, context);
    stage.advance(1);
    context.checkpoint();
  }
}

int64_t ComposedMap::incomplete_block() const {
  int64_t most = 0;
  for (const auto& part : parts_) most = std::max(most, part->incomplete_block());
  return most;
}

const Derivatives* ComposedMap::derivatives() const noexcept {
  const auto has = [](const auto& part) { return part->derivatives() != nullptr; };
  return std::ranges::all_of(parts_, has) ? this : nullptr;
}

int64_t ComposedMap::most_order() const noexcept {
  int64_t least = kernel::kMostDerivatives;
  for (const auto& part : parts_) least = std::min(least, part->derivatives()->most_order());
  return least;
}

std::vector<NumberArray> ComposedMap::numbers() const {
  std::vector<NumberArray> all;
  for (size_t i = 0; i < parts_.size(); ++i) {
    for (NumberArray& array : parts_[i]->numbers()) {
      array.name = prefix_of(i) + array.name;
      all.push_back(std::move(array));
    }
  }
  return all;
}

bool ComposedMap::shows_other_rows() const noexcept {
  return std::ranges::any_of(parts_, [](const auto& part) { return part->shows_other_rows(); });
}

bool ComposedMap::is_of_scaled_inputs() const {
  return std::ranges::all_of(parts_, [](const auto& part) { return part->is_of_scaled_inputs(); });
}

Parameters composed_kernel(const char* name) {
  Parameters linear = kernel_named("polynomial");
  linear.set("degree", int64_t{1});
  return {{"kernel", name},
          {"parts", ObjectList{std::make_shared<const Parameters>(kernel_named("gaussian")),
                               std::make_shared<const Parameters>(std::move(linear))}}};
}

Field part_maps_field() {
  return {.key = "parts",
          .type = FieldType::maps,
          .fallback = std::nan(""),
          .least = 2,
          .most = kernel::kMostParts,
          .help =
              "the map of each part, without kernel, inputs, features and seed; left out: the "
              "default map of each part's kernel",
          .canonical = canonical_part};
}

std::vector<int64_t> allot(int64_t total, const std::vector<PartSize>& sizes) {
  const Rest rest = rest_of(total, sizes);
  std::vector<int64_t> features;
  std::vector<double> missing;
  int64_t left = rest.columns;
  for (const PartSize& size : sizes) {
    const double ideal = static_cast<double>(rest.columns) * (size.share / rest.share);
    const int64_t steps =
        size.step == 0 ? 0
                       : static_cast<int64_t>(std::floor(ideal / static_cast<double>(size.step)));
    features.push_back(size.least + steps * size.step);
    missing.push_back(ideal - static_cast<double>(steps * size.step));
    left -= steps * size.step;
  }
  while (left > 0) {
    size_t next = sizes.size();
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].step == 0 || sizes[i].step > left) continue;
      if (next == sizes.size() || missing[i] > missing[next]) next = i;
    }
    require(next < sizes.size(), MERCER_INVALID_ARGUMENT,
            "features = %ld, expected %ld less: those of a part come in steps of more", total,
            left);
    features[next] += sizes[next].step;
    missing[next] -= static_cast<double>(sizes[next].step);
    left -= sizes[next].step;
  }
  return features;
}

MapEntry sum_entry() {
  return {.name = "sum",
          .help = "the features of the parts of a sum of kernels side by side; their costs add up",
          .fields = {part_maps_field(),
                     {.key = "shares",
                      .type = FieldType::numbers,
                      .fallback = std::nan(""),
                      .least = 0,
                      .most = std::numeric_limits<double>::max(),
                      .least_open = true,
                      .help = "the share of each part in the features; left out: equal shares"}},
          .make = sum_from,
          .default_kernel = composed_kernel("sum"),
          .rule = kSumRule,
          .sizes = total_sizes,
          .of_outputs = true};
}

}  // namespace mercer::feature
