// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Statistics files: the number of rows, the lower triangle of the Gram matrix, cross products, sums
// and the origin they are about, and the rows' weight where it is not their number. Every double is
// kept bit for bit.
#include "io/statistics_file.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "io/object_file.h"
#include "solver/plain_sums.h"
#include "spec/json.h"

namespace mercer::io {
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

}  // namespace mercer::io
