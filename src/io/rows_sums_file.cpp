// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums of a test: its spec, the sizes of the samples, the scales of kernels that are not given, the
// rows of each group and their sums. Every double is kept bit for bit.
#include "io/rows_sums_file.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/parameters.h"
#include "io/checks.h"
#include "io/object_file.h"

namespace mercer::io {
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
    spec::AskedTest test = spec::asked_test(file.text("test"));
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

}  // namespace mercer::io
