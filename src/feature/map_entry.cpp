// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From the parameters of a map to its entry and to the map.
#include "feature/map_entry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "base/parameters.h"
#include "feature/composed_map.h"
#include "feature/field_fourier.h"
#include "feature/sketch.h"
#include "kernel/custom.h"
#include "kernel/kernel.h"
#include "kernel/matrix_kernel.h"

namespace mercer::feature {
namespace {

const Field& map_name_field() {
  static const Field field = name_field("map", map_table(), "which map");
  return field;
}

Field sketch_name_field() {
  std::vector<const char*> names;
  for (const MapEntry& entry : map_table()) {
    if (entry.base) names.push_back(entry.name);
  }
  return name_field("map", std::move(names), "which sketch");
}

// Extents go to BLAS, whose LP64 interface has 32-bit integers.
constexpr double kMostExtent = kMostFeatures;

/// What every map has besides its name.
std::array<Field, 4> common_fields() {
  return {{
      {.key = "kernel",
       .type = FieldType::kernel,
       .fallback = {},
       .help = "the kernel to approximate",
       .canonical = kernel::canonical_kernel},
      count_field("inputs", {}, kMostExtent, "d, numbers per row of X"),
      count_field("features", {}, kMostExtent,
                  "D, columns of Z (complex columns of a complex map)"),
      {.key = "seed",
       .type = FieldType::seed,
       .fallback = uint64_t{0},
       .help = "fixes every random number"},
  }};
}

std::vector<Field> fields_for(const MapEntry& entry, kernel::OutputCount outputs) {
  std::vector<Field> fields{map_name_field()};
  for (const Field& field : common_fields()) fields.push_back(field);
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  if (outputs == kernel::OutputCount::inputs)
    fields.insert(fields.end(), entry.root_fields.begin(), entry.root_fields.end());
  return fields;
}

// Where no map is named, the kernel's default map.
Parameters with_map(const Parameters& given, const std::string& path) {
  const Value* const kernel = given.find("kernel");
  if (given.find("map") != nullptr || kernel == nullptr) return given;
  const Field field = common_fields()[0];
  const Parameters checked = check_fields({{field.key, *kernel}}, {&field, 1}, path);
  Parameters filled = given;
  filled.set("map", std::string(kernel::default_map(checked.object(field.key), "")));
  return filled;
}

bool is_metric(const Parameters& kernel) { return kernel.find("of") != nullptr; }

/// The kernel of one output that a map of `kernel` is made with, of canonical Parameters.
const Parameters& plain_kernel(const Parameters& kernel) {
  return kernel::kernel_entry(kernel).outputs == kernel::OutputCount::gamma
             ? kernel.object("scalar")
             : kernel;
}

/// Fills in "parts" that are left out, at every depth, by the default maps of the parts of the
/// kernel, a sum or product like the map. Lists that do not match the kernel's are refused where
/// the map is made.
Parameters with_parts(Parameters map, const Parameters& kernel) {
  if (is_metric(kernel)) return with_parts(std::move(map), kernel.object("of"));
  if (kernel.find("parts") == nullptr || map.text("map") != kernel.text("kernel")) return map;
  const ObjectList& kernels = kernel.objects("parts");
  ObjectList maps(kernels.size());
  if (map.find("parts") != nullptr) maps = map.objects("parts");
  if (maps.size() != kernels.size()) return map;
  for (size_t i = 0; i < maps.size(); ++i) {
    Parameters part = maps[i] != nullptr
                          ? *maps[i]
                          : Parameters{{"map", std::string(kernel::default_map(*kernels[i], ""))}};
    maps[i] =
        std::make_shared<const Parameters>(with_parts(std::move(part), plain_kernel(*kernels[i])));
  }
  map.set("parts", std::move(maps));
  return map;
}

// The field whose choice has the map learn from targets; null: none.
const Field* learning_field(const MapEntry& entry, const Parameters& canonical) {
  for (const Field& field : entry.fields) {
    if (field.targets_choice != nullptr && canonical.text(field.key) == field.targets_choice)
      return &field;
  }
  return nullptr;
}

bool any_part(const Parameters& canonical, bool (*is)(const Parameters&)) {
  return canonical.find("parts") != nullptr &&
         std::ranges::any_of(canonical.objects("parts"),
                             [&](const auto& part) { return is(*part); });
}

// Whether a choice of an entry's makes it learn from rows.
bool chooses_rows(const MapEntry& entry, const Parameters& canonical) {
  return std::ranges::any_of(entry.fields, [&](const Field& field) {
    return field.rows_choice != nullptr && canonical.text(field.key) == field.rows_choice;
  });
}

// Checks rows that are given.
void check_rows(const MapEntry& entry, const Parameters& canonical, const Rows& rows) {
  require(rows.cols() == canonical.integer("inputs"), MERCER_DIMENSION_MISMATCH,
          "rows have %ld columns, expected inputs = %ld", rows.cols(), canonical.integer("inputs"));
  const int64_t most =
      entry.row_per_feature ? most_features(canonical, rows.rows()) : kMostFeatures;
  require(
      canonical.integer("features") <= most, MERCER_INVALID_ARGUMENT,
      "features = %ld, expected at most %ld, the number of rows%s: map %s takes one row for each "
      "feature",
      canonical.integer("features"), most, most > rows.rows() ? " times outputs" : "", entry.name);
}

void check_data(const MapEntry& entry, const Parameters& canonical, const MapData& data) {
  const bool needs_data = canonical.find("needs") != nullptr;
  require(needs_data || data.numbers.empty(), MERCER_INVALID_ARGUMENT,
          "map %s: %zu arrays of numbers given, expected none without \"needs\":\"data\"",
          entry.name, data.numbers.size());
  const bool kept = needs_data && !chooses_rows(entry, canonical);  // what rows gave
  require(!needs_rows(canonical) || kept || data.rows != nullptr, MERCER_UNSUPPORTED,
          "map %s is made from rows, expected mercer_map_fit with X, or a fit, which makes it of "
          "its own",
          entry.name);
  const Field* const learns = learning_field(entry, canonical);
  require(learns == nullptr || (data.rows != nullptr && data.targets != nullptr),
          MERCER_UNSUPPORTED,
          "map %s with %s = %s learns from rows and targets, expected mercer_map_fit with "
          "both, whose map then has a spec of its own",
          entry.name, learns == nullptr ? "" : learns->key,
          learns == nullptr ? "" : learns->targets_choice);
  require(learns != nullptr || data.targets == nullptr, MERCER_UNSUPPORTED,
          "map %s does not learn from targets", entry.name);
  if (data.rows != nullptr) check_rows(entry, canonical, *data.rows);
}

// Calls use(arguments) with the arguments that canonical Parameters say.
template <class Use>
auto with_arguments(const MapEntry& entry, const Parameters& canonical,
                    const kernel::Kernel& kernel, const MapData& data, const Use& use) {
  Parameters own;
  for (const auto& fields : {std::span(entry.fields), std::span(entry.root_fields)})
    for (const Field& field : fields)
      if (const Value* value = canonical.find(field.key)) own.set(field.key, *value);
  return use({canonical.text("map"), kernel, canonical.integer("inputs"),
              canonical.integer("features"), canonical.seed("seed"), own, data});
}

using kernel::OutputCount;

/// The outputs of the kernel in `given`; one where there is no kernel, or none that exists.
OutputCount outputs_of(const Parameters& given) {
  const Value* const value = given.find("kernel");
  const auto* const kernel =
      value == nullptr ? nullptr : std::get_if<std::shared_ptr<const Parameters>>(value);
  const Value* const name = kernel == nullptr ? nullptr : (*kernel)->find("kernel");
  for (const kernel::KernelEntry& entry : kernel::kernel_table())
    if (name != nullptr && *name == Value(std::string(entry.name))) return entry.outputs;
  return OutputCount::one;
}

/// Canonical Parameters of the map of k where the kernel is k Gamma, and q, the rank of Gamma.
struct ScalarPart {
  Parameters canonical;
  int64_t rank;
};
ScalarPart scalar_part(const Parameters& canonical, const kernel::MatrixKernel& kernel) {
  ScalarPart part{canonical, kernel.root()->B.cols()};
  part.canonical.set("kernel", std::make_shared<const Parameters>(kernel.scalar().parameters()));
  part.canonical.set("features", std::max<int64_t>(1, canonical.integer("features") / part.rank));
  return part;
}

std::unique_ptr<FeatureMap> decomposable_map(const Parameters& canonical,
                                             std::shared_ptr<const kernel::Kernel> kernel,
                                             const MapData& data) {
  const ScalarPart part = scalar_part(canonical, *kernel->matrix());
  require(canonical.integer("features") % part.rank == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected a multiple of %ld, the columns of the root of gamma",
          canonical.integer("features"), part.rank);
  return make_decomposable_map(std::move(kernel), make_map(part.canonical, data));
}

/// Calls body(column, value) for the numbers of row i. `sums`: a zero for each column of sparse
/// rows, which are zeros again afterwards.
template <class T, class Body>
void for_each_number(const MatrixView<const T>& X, int64_t i, std::vector<double>&,
                     const Body& body) {
  for_each_stored(X, i, body);
}
template <class T, class Body>
void for_each_number(const CsrView<T>& X, int64_t i, std::vector<double>& sums, const Body& body) {
  sums.resize(X.cols);
  add_row(X, i, sums.data());
  for_each_stored(X, i, [&](int64_t j, T) { body(j, sums[j]); });
  clear_row(X, i, sums.data());
}

}  // namespace

const MapEntry& map_entry(const Parameters& given, const std::string& path) {
  return named_entry(given, map_name_field(), map_table(), path);
}

std::vector<Field> map_fields(const MapEntry& entry) {
  std::vector<Field> fields = fields_for(entry, OutputCount::one);
  fields.insert(fields.end(), entry.root_fields.begin(), entry.root_fields.end());
  return fields;
}

Parameters canonical_map(const Parameters& given, const std::string& path, Data data) {
  const Envelope envelope = open_envelope(given, path);
  require(
      !envelope.needs_data || data == Data::allowed, MERCER_UNSUPPORTED,
      "%sneeds = \"data\": the map holds numbers that a spec cannot: save it to a file, or leave "
      "\"needs\" and what was learnt out to make it anew from rows",
      path.c_str());
  const Parameters body = with_map(envelope.body, path);
  const MapEntry& entry = map_entry(body, path);
  const std::vector<Field> fields = fields_for(entry, outputs_of(body));
  Parameters canonical = check_fields(body, fields, path);
  if (entry.sizes != nullptr) {
    const Parameters kernel = plain_kernel(canonical.object("kernel"));
    canonical = check_fields(with_parts(std::move(canonical), kernel), fields, path);
  }
  if (envelope.needs_data) canonical.set("needs", "data");
  return canonical;
}

Parameters canonical_sketch(const Parameters& given, const std::string& path) {
  const Envelope envelope = open_envelope(given, path);
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "%sneeds = \"data\": a sketch inside a map is drawn from the map's seed", path.c_str());
  std::vector<Field> fields{sketch_name_field()};
  const MapEntry& entry = named_entry(envelope.body, fields[0], map_table(), path);
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  return check_fields(envelope.body, fields, path);
}

Parameters canonical_part(const Parameters& given, const std::string& path) {
  const Envelope envelope = open_envelope(given, path);
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "%sneeds = \"data\": the numbers of a part are those of the whole", path.c_str());
  const MapEntry& entry = map_entry(envelope.body, path);
  require(!entry.keeps_all_rows, MERCER_UNSUPPORTED,
          "%smap = %s as a part, expected a map of features: its columns are kernel values",
          path.c_str(), entry.name);
  std::vector<Field> fields{map_name_field()};
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  for (Field of_root : entry.root_fields) {  // the whole knows whether they are read
    of_root.fallback = std::nan("");
    fields.push_back(std::move(of_root));
  }
  return check_fields(envelope.body, fields, path);
}

std::vector<double> for_each_input(std::span<const double> numbers, int64_t d, const char* key) {
  const int64_t count = std::ssize(numbers);
  require(count == d || count <= 1, MERCER_DIMENSION_MISMATCH,
          "%s holds %ld numbers, expected one or inputs = %ld", key, count, d);
  std::vector<double> all(numbers.begin(), numbers.end());
  if (count == 1) all.resize(d, numbers[0]);
  return all;
}

Value shortest(const std::vector<double>& numbers) {
  const bool equal = std::ranges::all_of(numbers, [&](double x) { return x == numbers[0]; });
  return equal ? Value(numbers[0]) : Value(numbers);
}

void require_features(bool has, const kernel::Kernel& kernel, const char* what,
                      const char* expected) {
  require(has, MERCER_UNSUPPORTED, "kernel %s has no %s features, expected %s",
          std::string(kernel.name()).c_str(), what, expected);
}

bool needs_rows(const Parameters& canonical) {
  const MapEntry& entry = map_entry(canonical, "");
  return entry.needs_rows || chooses_rows(entry, canonical) || learns_ranges(canonical) ||
         any_part(canonical, needs_rows);
}

bool takes_rows(const Parameters& canonical) {
  const auto follows = map_entry(canonical, "").follows_rows;
  return needs_rows(canonical) || (follows != nullptr && follows(canonical)) ||
         any_part(canonical, takes_rows);
}

bool learns_ranges(const Parameters& canonical) {
  const auto own = map_entry(canonical, "").learns_ranges;
  return (own != nullptr && own(canonical)) || any_part(canonical, learns_ranges);
}

bool learns_from_targets(const Parameters& canonical) {
  return learning_field(map_entry(canonical, ""), canonical) != nullptr;
}

MapSizes map_sizes(const Parameters& canonical, int64_t rows) {
  const MapEntry& entry = map_entry(canonical, "");
  if (outputs_of(canonical) == OutputCount::gamma) {
    const auto kernel = kernel::make_kernel(canonical.object("kernel"));
    const auto [part, rank] = scalar_part(canonical, *kernel->matrix());
    const MapSizes sizes = map_sizes(part, rows);
    return {rank * sizes.least, rank * sizes.step,
            rank * std::min(sizes.most, kMostFeatures / rank)};
  }
  if (is_metric(canonical.object("kernel"))) return map_sizes(in_metric(canonical), rows);
  if (entry.sizes != nullptr) return entry.sizes(canonical, rows);
  const auto kernel = kernel::make_kernel(canonical.object("kernel"));
  return with_arguments(
      entry, canonical, *kernel, {}, [&](const MapArguments& arguments) -> MapSizes {
        const int64_t only = entry.only_features == nullptr ? 0 : entry.only_features(arguments);
        if (only > 0) return {only, 0, only};
        const int64_t step = entry.features_step == nullptr ? 1 : entry.features_step(arguments);
        const bool few = entry.row_per_feature && rows < kMostFeatures / step;
        return {step, step, few ? rows * step : kMostFeatures};
      });
}

int64_t features_near(const Parameters& canonical, int64_t wanted) {
  const MapSizes sizes = map_sizes(canonical, kMostFeatures);
  if (sizes.step == 0) return sizes.least;
  // For a plain map a wrong number is the caller's error.
  if (map_entry(canonical, "").sizes == nullptr) return wanted;
  return sizes.least + std::max<int64_t>(wanted - sizes.least, 0) / sizes.step * sizes.step;
}

int64_t most_features(const Parameters& canonical, int64_t rows) {
  return map_sizes(canonical, rows).most;
}

std::unique_ptr<FeatureMap> make_map(const Parameters& canonical, const MapData& data) {
  return make_map_of(kernel::make_kernel(canonical.object("kernel")), canonical, data);
}

std::unique_ptr<FeatureMap> make_map_of(std::shared_ptr<const kernel::Kernel> kernel,
                                        const Parameters& canonical, const MapData& data) {
  const kernel::CustomPin pin(*kernel);
  if (kernel->matrix() != nullptr && kernel->matrix()->root() != nullptr)
    return decomposable_map(canonical, std::move(kernel), data);
  if (kernel->traits().metric != nullptr)
    return make_metric_map(canonical, std::move(kernel), data);
  const MapEntry& entry = map_entry(canonical, "");
  check_data(entry, canonical, data);
  const StandardRounding rounding;  // the same numbers whatever the caller's mode
  require(
      kernel->matrix() == nullptr || entry.of_outputs || !entry.root_fields.empty(),
      MERCER_UNSUPPORTED,
      "map %s does not serve kernel %s, whose frequencies have roots, expected fourier or exact",
      entry.name, std::string(kernel->name()).c_str());
  return with_arguments(entry, canonical, *kernel, data, [&](const MapArguments& arguments) {
    // Checks all rows, whichever of them the map uses.
    if (data.rows != nullptr && (takes_rows(canonical) || learns_from_targets(canonical)))
      require_inputs(arguments.kernel, *data.rows);
    return entry.make(arguments);
  });
}

std::optional<BadInput> find_bad_input(const kernel::Kernel& kernel, const Rows& X, int64_t begin,
                                       int64_t end) {
  const std::optional<kernel::InputBound> bound = kernel.traits().input_bound;
  std::optional<BadInput> found;
  std::vector<double> sums;
  X.visit([&](const auto& rows) {
    for (int64_t i = begin; i < end && !found; ++i) {
      for_each_number(rows, i, sums, [&](int64_t j, double x) {
        if (!found && (!std::isfinite(x) || (bound && bound->excludes(j, x)))) found = {i, j, x};
      });
    }
  });
  return found;
}

void refuse(const kernel::Kernel& kernel, const BadInput& bad) {
  const ErrorDetail place = at(bad.row, bad.column);
  require(std::isfinite(bad.value), MERCER_INVALID_ARGUMENT, place,
          "X is %g, expected finite numbers: leave the row out", bad.value);
  const kernel::InputBound bound = kernel.traits().input_bound.value_or(kernel::InputBound{});
  fail(MERCER_INVALID_ARGUMENT, place,
       "X is %g, expected a number %s %g, as kernel %s takes: leave the row out", bad.value,
       bound.open ? ">" : ">=", bound.at(bad.column), std::string(kernel.name()).c_str());
}

void require_inputs(const kernel::Kernel& kernel, const Rows& X) {
  const std::optional<BadInput> bad = find_bad_input(kernel, X, 0, X.rows());
  if (bad) refuse(kernel, *bad);
  kernel::check_unit_rows(kernel, "X", X);
}

// The maps, each in the file of its name, with the composed ones at the end; a new one is declared
// and listed here. Then the sketches, one for each family (projection/sketch_kind.cpp).
MapEntry fourier_entry(), linear_entry(), positive_entry(), arc_cosine_entry(), sign_entry(),
    optical_entry(), nystroem_entry(), exact_entry(), additive_entry(), laplace_entry(),
    anova_entry(), poisson_entry(), eigenfunctions_entry(), random_binning_entry(),
    weighted_minhash_entry(), exact_polynomial_entry(), maclaurin_entry(), custom_entry(),
    sum_entry(), product_entry();

static std::vector<MapEntry> make_entries() {
  std::vector<MapEntry> table = {fourier_entry(),
                                 linear_entry(),
                                 positive_entry(),
                                 arc_cosine_entry(),
                                 sign_entry(),
                                 optical_entry(),
                                 nystroem_entry(),
                                 exact_entry(),
                                 additive_entry(),
                                 laplace_entry(),
                                 anova_entry(),
                                 poisson_entry(),
                                 eigenfunctions_entry(),
                                 random_binning_entry(),
                                 weighted_minhash_entry(),
                                 exact_polynomial_entry(),
                                 maclaurin_entry(),
                                 custom_entry(),
                                 sum_entry(),
                                 product_entry()};
  for (MapEntry& entry : sketch_entries()) table.push_back(std::move(entry));
  return table;
}

std::span<const MapEntry> map_table() { return made_once<make_entries>(); }

}  // namespace mercer::feature
