// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps, statistics, sums of tests and attention states in files, and what a file says of itself.
#include "io/object_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attention/attention.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/parameters.h"
#include "base/size.h"
#include "feature/feature_map.h"
#include "io/container.h"
#include "solver/row_statistics.h"
#include "spec/json.h"
#include "spec/report_spec.h"
#include "spec/spec.h"
#include "spec/test_spec.h"

namespace mercer::io {

// Maps in files.

/// CORRUPT_FILE naming the input for a spec or numbers that make no map.
std::unique_ptr<feature::FeatureMap> read_map(const SectionReader& file);

/// The sections of a map file, in order.
inline constexpr std::initializer_list<const char*> kMapSections = {"spec", "numbers"};

// Sums of a test of two samples in files.

/// CORRUPT_FILE naming the input for anything that no rows have as sums.
std::unique_ptr<spec::RowsSums> read_rows_sums(const SectionReader& file);

/// The sections of such a file, in order.
inline constexpr std::initializer_list<const char*> kRowsSumsSections = {"test", "sizes", "scales",
                                                                         "counts", "sums"};

// The shape of row statistics as it stands in a file.

struct StatisticsShape {
  int64_t features = 0, outputs = 0, rows = 0;
};
/// CORRUPT_FILE naming the input for anything that load_statistics refuses.
StatisticsShape read_shape(const SectionReader& file);

/// CORRUPT_FILE unless the sections of a statistics file are there, in order.
void require_statistics_sections(const SectionReader& file);

// States of attention in files.

/// CORRUPT_FILE naming the input for anything that makes no state.
std::unique_ptr<attention::Attention> read_attention(const SectionReader& file);

/// The sections of such a file, in order: those of its map come first.
inline constexpr std::initializer_list<const char*> kAttentionSections = {"spec", "numbers",
                                                                          "shape", "sums", "most"};

// What a file holds, as JSON. Maps and models are read as load does, so what is described can be
// loaded; making a map draws no frequency. Statistics are read whole, since loading refuses sums
// that are not finite.

namespace {

using Object = std::shared_ptr<const Parameters>;

Parameters envelope(const Container& container) {
  Parameters out;
  out.set("kind", container.kind);
  out.set("version", static_cast<int64_t>(container.version));
  out.set("bytes", container.file_bytes);
  return out;
}

std::string describe_parts(const Container& container, const Parameters& spec,
                           std::span<const NumberArray> arrays) {
  int64_t numbers = 0;
  for (const NumberArray& array : arrays) numbers += count_of(array.shape);
  Parameters out = envelope(container);
  out.set("spec", Object(std::make_shared<Parameters>(spec::versioned(spec))));
  out.set("numbers", numbers);
  return print_object(out);
}

std::string describe_map(const SectionReader& file) {
  const auto read = read_map(file);
  return describe_parts(file.container(), read->parameters(), read->numbers());
}

/// Ranges of inputs or targets: a list for each bound.
Object describe_ranges(const std::vector<model::Range>& ranges) {
  std::vector<double> lowest, low, high, highest;
  for (const model::Range& r : ranges) {
    lowest.push_back(r.lowest);
    low.push_back(r.low);
    high.push_back(r.high);
    highest.push_back(r.highest);
  }
  Parameters out;
  out.set("lowest", lowest);
  out.set("low", low);
  out.set("high", high);
  out.set("highest", highest);
  return std::make_shared<Parameters>(std::move(out));
}

/// The scores of the lambdas of a path: squared error, soft error, error rate or 1 - R^2; less is
/// better.
void add_path(const model::Model& model, Parameters* out) {
  std::vector<double> lambdas, scores;
  for (const model::PathPoint& point : model.path) {
    lambdas.push_back(point.lambda);
    scores.push_back(point.score);
  }
  out->set("path_lambda", lambdas);
  out->set("path_error", scores);
}

std::string describe_model(const SectionReader& file) {
  const std::unique_ptr<model::Model> read = read_model(file);
  const model::Model& model = *read;
  Parameters out = envelope(file.container());
  const Parameters spec = spec::fitted_parameters(model.map->parameters(), model.fit);
  out.set("spec", Object(std::make_shared<Parameters>(spec::versioned(spec))));
  out.set("rows", model.rows);
  if (model.preparation.hashing.buckets > 0) {
    Parameters hashed;
    hashed.set("inputs", model.preparation.hashing.inputs);
    hashed.set("buckets", model.preparation.hashing.buckets);
    out.set("hashed", Object(std::make_shared<Parameters>(std::move(hashed))));
  }
  out.set("outputs", model.outputs());
  out.set("classes", model.fit.coding.classes);
  out.set("selection", model::word_of(model.fit.select.selection));
  add_path(model, &out);
  if (model.ranges.known()) {
    out.set("inputs", describe_ranges(model.ranges.inputs));
    out.set("targets", describe_ranges(model.ranges.targets));
  }
  if (model.report.known())
    out.set("report", spec::print_report(model.report, model.fit.coding.task));
  out.set("metadata", model.metadata);
  return print_object(out);
}

std::string describe_attention(const SectionReader& file) {
  const auto read = read_attention(file);
  Parameters out = envelope(file.container());
  out.set("spec", Object(std::make_shared<Parameters>(spec::versioned(read->map().parameters()))));
  out.set("batch", read->batch());
  out.set("heads", read->heads());
  out.set("values", read->values());
  out.set("keys", read->keys());
  return print_object(out);
}

std::string describe_rows_sums(const SectionReader& file) {
  const auto read = read_rows_sums(file);
  Parameters out = envelope(file.container());
  out.set("spec", Object(std::make_shared<Parameters>(spec::versioned(read->asked()))));
  out.set("inputs", read->sizes().inputs);
  out.set("x_rows", read->sizes().rows[0]);
  out.set("y_rows", read->sizes().rows[1]);
  out.set("x_added", read->added(0));
  out.set("y_added", read->added(1));
  return print_object(out);
}

std::string describe_statistics(const SectionReader& file) {
  const StatisticsShape shape = read_shape(file);
  Parameters out = envelope(file.container());
  out.set("features", shape.features);
  out.set("outputs", shape.outputs);
  out.set("rows", shape.rows);
  return print_object(out);
}

}  // namespace

std::string describe_file(Input& file) {
  Container container = read_container(file, "");
  if (container.kind == "map")
    return describe_map({file.name(), std::move(container), kMapSections});
  if (container.kind == "model") return describe_model({file.name(), std::move(container)});
  if (container.kind == "statistics") {
    return describe_statistics({file.name(), std::move(container)});
  }
  if (container.kind == "attention")
    return describe_attention({file.name(), std::move(container), kAttentionSections});
  if (container.kind == "rows_sums")
    return describe_rows_sums({file.name(), std::move(container), kRowsSumsSections});
  fail(MERCER_INVALID_ARGUMENT,
       "%s: holds a %s, expected a map, model, statistics, attention or rows_sums",
       file.name().c_str(), container.kind.c_str());
}

// Map files: the canonical spec, and the numbers that a spec cannot hold (none for maps drawn from
// a seed).

void save(const feature::FeatureMap& map, Output& output) {
  const std::string spec = spec::to_spec(map);
  const std::vector<std::byte> numbers = encode(map.numbers());
  const SectionView sections[] = {{"spec", bytes_of(spec)}, {"numbers", numbers}};
  write_container(output, "map", sections);
}

std::unique_ptr<feature::FeatureMap> read_map(const SectionReader& file) {
  return parsed_from(file.input(), [&] {
    return spec::map_from_spec_and_numbers(file.text("spec"), decode(file.bytes("numbers")));
  });
}

std::unique_ptr<feature::FeatureMap> load_map(Input& input) {
  return read_map({input, "map", kMapSections});
}

// Sums of a test: its spec, the sizes of the samples, the scales of kernels that are not given, the
// rows of each group and their sums. Every double is kept bit for bit.

namespace {

constexpr double kMostRows = 0x1p53;
constexpr double kMostInputs = 2147483647;  // what LP64 BLAS can address

/// Empty where kernels are given.
std::vector<double> numbers_of(const statistic::Scales& scales) {
  std::vector<double> out = scales.columns;
  if (!out.empty()) out.insert(out.end(), {scales.euclidean, scales.absolute});
  return out;
}

statistic::Scales scales_of(std::vector<double> numbers, bool needed, int64_t inputs) {
  require_count("section scales", std::ssize(numbers), needed ? inputs + 2 : 0);
  if (!needed) return {};
  for (const double scale : numbers)
    require(scale > 0 && std::isfinite(scale), MERCER_INVALID_ARGUMENT,
            "section scales holds %g, expected numbers > 0", scale);
  statistic::Scales out;
  out.absolute = numbers.back();
  out.euclidean = numbers[numbers.size() - 2];
  numbers.resize(numbers.size() - 2);
  out.columns = std::move(numbers);
  return out;
}

spec::SampleSizes sizes_of(const std::vector<double>& numbers) {
  require_count("section sizes", std::ssize(numbers), 3);
  for (size_t i = 0; i < 3; ++i)
    require(numbers[i] >= 1 && numbers[i] <= (i < 2 ? kMostRows : kMostInputs) &&
                numbers[i] == std::floor(numbers[i]),
            MERCER_INVALID_ARGUMENT, "section sizes holds %g, expected a count from 1", numbers[i]);
  return {{static_cast<int64_t>(numbers[0]), static_cast<int64_t>(numbers[1])},
          static_cast<int64_t>(numbers[2])};
}

}  // namespace

void save(const spec::RowsSums& sums, Output& output) {
  sums.require_whole();
  const std::string test = print_object(sums.asked());
  const auto& rows = sums.sizes().rows;
  const double sizes[] = {static_cast<double>(rows[0]), static_cast<double>(rows[1]),
                          static_cast<double>(sums.sizes().inputs)};
  const std::vector<double> scales = numbers_of(sums.scales()), counts = sums.counts();
  const int64_t lengths[] = {std::ssize(test), 8 * 3, 8 * std::ssize(scales),
                             8 * std::ssize(counts), 8 * sums.count_of_numbers()};
  if (!output.begin(container_length(lengths))) return;  // before all sums are copied
  const std::vector<double> numbers = sums.numbers();
  require_finite(numbers, "sums");
  const SectionView sections[] = {{"test", bytes_of(test)},
                                  {"sizes", bytes_of(sizes)},
                                  {"scales", bytes_of(scales)},
                                  {"counts", bytes_of(counts)},
                                  {"sums", bytes_of(numbers)}};
  write_sections(output, "rows_sums", sections);
}

std::unique_ptr<spec::RowsSums> read_rows_sums(const SectionReader& file) {
  return parsed_from(file.input(), [&] {
    const spec::SampleSizes sizes = sizes_of(file.doubles("sizes"));
    spec::TestRequest test = spec::parse_test(file.text("test"));
    spec::require_summed(test);
    statistic::Scales scales =
        scales_of(file.doubles("scales"), spec::needs_scales(test.asked), sizes.inputs);
    auto sums = std::make_unique<spec::RowsSums>(std::move(test), sizes, std::move(scales));
    // Before anything is allocated for them.
    require_count("section counts", file.count("counts"), sums->count_of_counts());
    require_count("section sums", file.count("sums"), sums->count_of_numbers());
    Context context;
    sums->clear(context);
    const std::vector<double> numbers = file.doubles("sums");
    require_finite(numbers, "sums");
    sums->set(file.doubles("counts"), numbers);
    return sums;
  });
}

std::unique_ptr<spec::RowsSums> load_rows_sums(Input& input) {
  return read_rows_sums({input, "rows_sums", kRowsSumsSections});
}

// Statistics files: the number of rows, the lower triangle of the Gram matrix, cross products, sums
// and the origin they are about, and the rows' weight where it is not their number. Every double is
// kept bit for bit.

namespace {

constexpr double kMostExtent =
    2147483647;  // what LP64 BLAS can address: products below cannot overflow 64 bits

std::vector<Field> shape_fields() {
  const auto extent = [](const char* key, double least, double most) {
    return Field{
        .key = key, .type = FieldType::integer, .fallback = {}, .least = least, .most = most};
  };
  return {extent("features", 1, kMostExtent), extent("outputs", 0, kMostExtent),
          extent("rows", 0, kInfinity)};
}

/// The lower triangle, row by row.
std::vector<double> packed(MatrixView<const double> gram) {
  std::vector<double> lower;
  lower.reserve(gram.rows * (gram.rows + 1) / 2);
  for (int64_t i = 0; i < gram.rows; ++i)
    lower.insert(lower.end(), gram.row(i), gram.row(i) + i + 1);
  return lower;
}

void unpack(const std::vector<double>& lower, MatrixView<double> gram) {
  auto next = lower.begin();
  for (int64_t i = 0; i < gram.rows; ++i, next += i) std::copy(next, next + i + 1, gram.row(i));
}

std::vector<double> rows_of(MatrixView<const double> matrix) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < matrix.rows; ++i)
    numbers.insert(numbers.end(), matrix.row(i), matrix.row(i) + matrix.cols);
  return numbers;
}

void require_count(const SectionReader& file, const char* section, int64_t expected) {
  const int64_t count = file.count(section);
  require(count == expected, MERCER_CORRUPT_FILE, "section %s has %ld numbers, expected %ld",
          section, count, expected);
}

/// Files of 0.1.0 have no origin.
bool about_zero(const SectionReader& file, int64_t features, int64_t outputs) {
  return file.count("sums") == features + 2 * outputs;
}

/// Requires sections of the sizes that the file says.
StatisticsShape parse_shape(const SectionReader& file) {
  const Parameters shape = check_fields(spec::parse_object(file.text("shape")), shape_fields(), "");
  const int64_t D = shape.integer("features"), m = shape.integer("outputs");
  require_count(file, "gram", D * (D + 1) / 2);
  require_count(file, "cross", D * m);
  if (!about_zero(file, D, m)) require_count(file, "sums", 2 * D + 3 * m);
  if (file.has("weight")) require_count(file, "weight", 1);
  return {D, m, shape.integer("rows")};
}

void fill(std::span<double> to, std::span<const double>& from) {
  std::copy_n(from.begin(), to.size(), to.begin());
  from = from.subspan(to.size());
}

std::unique_ptr<solver::RowStatistics> parse_statistics(const SectionReader& file) {
  const StatisticsShape shape = parse_shape(file);
  const int64_t D = shape.features, m = shape.outputs;
  const std::vector<double> gram = file.doubles("gram"), cross = file.doubles("cross"),
                            sums = file.doubles("sums");
  auto statistics = std::make_unique<solver::RowStatistics>(D, m);
  if (shape.rows == 0) return statistics;  // without rows the sums mean nothing
  auto parts = statistics->parts();
  parts.rows = shape.rows;
  parts.weight = file.has("weight") ? file.doubles("weight")[0] : static_cast<double>(shape.rows);
  require(parts.weight >= 0, MERCER_INVALID_ARGUMENT, "weight = %g, expected a number >= 0",
          parts.weight);
  unpack(gram, parts.gram);
  for (int64_t i = 0; i < D; ++i) std::copy_n(cross.begin() + i * m, m, parts.cross.row(i));
  std::span<const double> rest = sums;
  fill(parts.sum_features, rest);
  fill(parts.sum_outputs, rest);
  fill(parts.sum_squared_outputs, rest);
  if (!about_zero(file, D, m)) {
    fill(parts.origin_features, rest);
    fill(parts.origin_outputs, rest);
  }
  statistics->require_finite();
  solver::require_squares(*statistics);
  return statistics;
}

}  // namespace

void require_statistics_sections(const SectionReader& file) {
  std::vector<const char*> names = {"shape", "gram", "cross", "sums"};
  if (file.has("weight")) names.push_back("weight");
  file.require_sections(names);
}

StatisticsShape read_shape(const SectionReader& file) {
  require_statistics_sections(file);
  return parsed_from(file.input(), [&] {
    parse_statistics(file);  // refuses sums that are not finite
    return parse_shape(file);
  });
}

void save(const solver::RowStatistics& statistics, Output& output) {
  Parameters shape;
  shape.set("features", statistics.features());
  shape.set("outputs", statistics.outputs());
  shape.set("rows", statistics.rows());
  const std::string text = print_object(shape);
  const double weight = statistics.weight();
  const bool weighs = weight != static_cast<double>(statistics.rows());
  const int64_t D = statistics.features(), m = statistics.outputs();
  std::vector<int64_t> lengths = {std::ssize(text), 4 * D * (D + 1), 8 * D * m,
                                  8 * (2 * D + 3 * m)};
  if (weighs) lengths.push_back(8);
  if (!output.begin(container_length(lengths))) return;  // before the Gram matrix is packed
  const std::vector<double> gram = packed(statistics.gram()), cross = rows_of(statistics.cross());
  std::vector<double> sums;
  for (const auto part :
       {statistics.sum_features(), statistics.sum_outputs(), statistics.sum_squared_outputs(),
        statistics.origin_features(), statistics.origin_outputs()}) {
    sums.insert(sums.end(), part.begin(), part.end());
  }
  std::vector<SectionView> sections = {{"shape", bytes_of(text)},
                                       {"gram", bytes_of(gram)},
                                       {"cross", bytes_of(cross)},
                                       {"sums", bytes_of(sums)}};
  if (weighs) sections.push_back({"weight", bytes_of(std::span(&weight, 1))});
  write_sections(output, "statistics", sections);
}

std::unique_ptr<solver::RowStatistics> load_statistics(Input& input) {
  const SectionReader file(input.name(), read_container(input, "statistics"));
  require_statistics_sections(file);
  return parsed_from(file.input(), [&] { return parse_statistics(file); });
}

// States of attention: the map as in its own file, how many sequences, heads, values and keys, the
// sums over keys of each head and the logarithm that they are relative to. Every double is kept bit
// for bit; sums may be NaN, as those of keys that were.

namespace {

std::vector<Field> attention_fields() {
  const auto count = [](const char* key, double least) {
    return Field{.key = key,
                 .type = FieldType::integer,
                 .fallback = {},
                 .least = least,
                 .most = static_cast<double>(std::numeric_limits<int32_t>::max())};
  };
  Field keys = count("keys", 0);
  keys.most = 0x1p53;
  return {count("batch", 1), count("heads", 1), count("values", 1), std::move(keys)};
}

std::span<const double> numbers_of(MatrixView<const double> A) {
  return {A.data, static_cast<size_t>(A.rows * A.cols)};
}

void fill(const std::vector<double>& from, MatrixView<double> to) {
  std::ranges::copy(from, to.data);
}

/// The largest logarithm of keys: of scaled rows -inf before the first, else always 0.
void require_logs(const std::vector<double>& most, bool scaled) {
  for (const double log : most)
    require(scaled ? log < std::numeric_limits<double>::infinity() : log == 0,
            MERCER_INVALID_ARGUMENT, "section most holds %g, expected %s", log,
            scaled ? "a number or -inf" : "0 for this map");
}

}  // namespace

void save(const attention::Attention& attention, Output& output) {
  const std::string spec = spec::to_spec(attention.map());
  const std::vector<std::byte> numbers = encode(attention.map().numbers());
  Parameters shape;
  shape.set("batch", attention.batch());
  shape.set("heads", attention.heads());
  shape.set("values", attention.values());
  shape.set("keys", attention.keys());
  const std::string text = print_object(shape);
  const SectionView sections[] = {{"spec", bytes_of(spec)},
                                  {"numbers", numbers},
                                  {"shape", bytes_of(text)},
                                  {"sums", bytes_of(numbers_of(attention.sums()))},
                                  {"most", bytes_of(numbers_of(attention.most()))}};
  write_container(output, "attention", sections);
}

std::unique_ptr<attention::Attention> read_attention(const SectionReader& file) {
  std::shared_ptr<const feature::FeatureMap> map = read_map(file);
  return parsed_from(file.input(), [&] {
    const Parameters shape =
        check_fields(spec::parse_object(file.text("shape")), attention_fields(), "");
    const int64_t values = shape.integer("values");
    const int64_t items = checked_multiply(shape.integer("batch"), shape.integer("heads"), "heads");
    const int64_t each = checked_multiply(values + 1, map->row_length(), "sums");
    // Before anything is allocated for them.
    require(file.count("most") == items && file.count("sums") / items == each &&
                file.count("sums") % items == 0,
            MERCER_CORRUPT_FILE,
            "sections sums and most have %ld and %ld numbers, expected %ld x %ld",
            file.count("sums"), file.count("most"), items, each);
    const std::vector<double> most = file.doubles("most");
    require_logs(most, map->row_scales() != nullptr);
    auto attention = std::make_unique<attention::Attention>(std::move(map), shape.integer("batch"),
                                                            shape.integer("heads"), values);
    fill(file.doubles("sums"), attention->sums());
    fill(most, attention->most());
    attention->set_keys(shape.integer("keys"));
    return attention;
  });
}

std::unique_ptr<attention::Attention> load_attention(Input& input) {
  return read_attention({input, "attention", kAttentionSections});
}

}  // namespace mercer::io
