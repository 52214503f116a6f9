// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "contract/cells.h"

#include <cmath>
#include <cstdlib>
#include <random>

#include "contract/choices.h"
#include "contract/match.h"
#include "feature/map_entry.h"
#include "spec/json.h"

namespace mercer::test {
namespace {

Parameters sized(Parameters spec, int64_t d, int64_t D, uint64_t seed) {
  spec.set("inputs", d);
  spec.set("features", D);
  spec.set("seed", seed);
  return spec;
}

std::unique_ptr<FeatureMap> make_map(const KernelRow& row, const kernel::Kernel& kernel,
                                     const Parameters& spec, int64_t d, int64_t D, uint64_t seed) {
  for (const NumbersRow& numbers : numbers_rows()) {
    if (!holds(spec, numbers.match)) continue;
    Parameters with_data = sized(spec, d, D, seed);
    with_data.set("needs", std::string("data"));
    const std::vector<double> flat = numbers.numbers(kernel, d, D, seed, spec);
    const std::vector<NumberArray> unnamed = {{"", {static_cast<int64_t>(flat.size())}, flat}};
    return feature::make_map(with_data, {.numbers = unnamed});
  }
  const Parameters whole = sized(spec, d, D, seed);
  const bool learns = feature::learns_from_targets(whole);
  if (!feature::needs_rows(whole) && !learns) return feature::make_map(whole);
  const Value* const landmarks = spec.find("landmarks");
  const bool all = feature::map_entry(spec).keeps_all_rows ||
                   (landmarks != nullptr && *landmarks == Value(std::string("supplied")));
  const Value* const order = spec.find("order");  // of derivatives at landmarks, beside values
  const int64_t each = order != nullptr && *order == Value(int64_t{1}) ? d + 1 : 1;
  const Matrix<double> X = rows_for(row, all ? (D + each - 1) / each : 3 * D + 5, d, 31);
  const Rows rows = X.view();
  const MatrixView<const double> targets(X.data(), X.rows(), 1, X.cols());
  Context context;
  return feature::make_map(
      whole, {.rows = &rows, .targets = learns ? &targets : nullptr, .context = &context});
}

std::vector<Cell> cross() {
  std::vector<Cell> cells;
  for (const KernelRow& row : kernel_rows()) {
    const Parameters kernel = kernel::canonical_kernel(spec::parse_object(row.spec), "");
    const std::shared_ptr<const kernel::Kernel> object = kernel::make_kernel(kernel);
    for (const MapRow& map : map_rows()) {
      Parameters given = spec::parse_object(map.spec);
      given.set("kernel", std::make_shared<const Parameters>(kernel));
      for (const Parameters& spec : crossed(given)) cells.emplace_back(row, object, spec);
    }
  }
  return cells;
}

std::vector<Cell> those_made() {
  std::vector<Cell> made;
  for (const Cell& cell : all_cells()) {
    if (cell.attempt().status == MERCER_OK) made.push_back(cell);
  }
  return made;
}

}  // namespace

namespace {

// More columns take too long.
constexpr int64_t kMostColumns = 1000;

// N of "features = D, expected N" and perhaps ": why", or a multiple of it; none: the refusal is about something else.
std::optional<int64_t> features_named(const Outcome& refusal, int64_t D) {
  const std::string begin = "features = " + std::to_string(D) + ", expected ",
                    multiple = "a multiple of ";
  const size_t at = refusal.message.find(begin);
  if (refusal.status != MERCER_INVALID_ARGUMENT || at == std::string::npos) return std::nullopt;
  const char* from = refusal.message.c_str() + at + begin.size();
  const bool any = refusal.message.compare(at + begin.size(), multiple.size(), multiple) == 0;
  if (any) from += multiple.size();
  char* end = nullptr;
  const int64_t named = std::strtoll(from, &end, 10);
  if (any && named < 1) throw std::runtime_error("no number: " + refusal.message);
  if (any) return named * std::max<int64_t>(1, D / named);
  if (*end != ':' && *end != '\0') return std::nullopt;
  return named;
}

Parameters canonical(Parameters spec) {
  return feature::canonical_map(sized(std::move(spec), kInputs, kFeatures, 0), "",
                                feature::Data::refused);
}

}  // namespace

Outcome Cell::attempt() const {
  const Outcome first = outcome([&] { make(kInputs, kFeatures, 1); });
  const auto named = features_named(first, kFeatures);
  return named ? outcome([&] { make(kInputs, *named, 1); }) : first;
}

Cell::Cell(const KernelRow& row, std::shared_ptr<const kernel::Kernel> kernel, Parameters spec)
    : row_(&row), kernel_(std::move(kernel)), label_(mercer::print_object(spec)) {
  spec_ = canonical(std::move(spec));
}

size_t Cell::number() const {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, the same on every machine
  for (const char letter : label_)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash >> 32;
}

std::unique_ptr<FeatureMap> Cell::make(int64_t d, int64_t D, uint64_t seed) const {
  return make_map(*row_, *kernel_, spec_, d, D, seed);
}

std::optional<int64_t> Cell::features(int64_t d, int64_t wanted) const {
  if (const auto one = features_named(outcome([&] { make(d, wanted, 1); }), wanted)) {
    make(d, *one, 1);
    return *one <= kMostColumns ? one : std::nullopt;
  }
  const auto exists = [&](int64_t D) {
    const Outcome result = outcome([&] { make(d, D, 1); });
    // CORRUPT_FILE: numbers that do not add up to so many features.
    if (result.status != MERCER_OK && result.status != MERCER_INVALID_ARGUMENT &&
        result.status != MERCER_CORRUPT_FILE)
      throw std::runtime_error(label_ + ": " + result.message);
    return result.status == MERCER_OK;
  };
  for (const int64_t D : {wanted, wanted + 1}) {
    if (exists(D)) return D;
  }
  for (int64_t D = wanted - 1; D >= 1; --D) {
    if (exists(D)) return D;
  }
  return std::nullopt;
}

const LawRow& Cell::law() const {
  static constexpr LawRow kExact{"{}", Law::exact, "the closed form is this map's"};
  for (const LawRow& row : law_rows()) {
    if (holds(spec_, row.match) && (row.when == nullptr || row.when(*kernel_))) return row;
  }
  return kExact;
}

bool Cell::is_among(std::span<const char* const> rows) const {
  for (const char* const row : rows) {
    if (holds(spec_, row)) return true;
  }
  return false;
}

std::unique_ptr<FeatureMap> Cell::make_other(const LawRow& law, int64_t d, int64_t D,
                                             uint64_t seed) const {
  const Parameters other = canonical(changed(spec_, spec::parse_object(law.other)));
  return make_map(*row_, *kernel_, other, d, D, seed);
}

const std::vector<Cell>& all_cells() {
  static const std::vector<Cell> cells = cross();
  return cells;
}

const std::vector<Cell>& made_cells() {
  static const std::vector<Cell> cells = those_made();
  return cells;
}

namespace {

double uniform(std::mt19937_64& words) { return static_cast<double>(words() >> 11) * 0x1p-53; }

}  // namespace

Matrix<double> rows_for(const KernelRow& row, int64_t n, int64_t d, uint64_t seed) {
  std::mt19937_64 words(seed);
  Matrix<double> X(n, d);
  const double unit = row.scale / std::sqrt(static_cast<double>(d));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < d; ++j)
      X(i, j) = unit * (std::isinf(row.domain) ? 2 * uniform(words) - 1 : 2 * uniform(words));
    X(i, d - 1) += row.peak;
    if (row.least_inputs > 1) X(i, 0) += row.peak;
  }
  return X;
}

Matrix<double> two_rows(const KernelRow& row, int64_t d) {
  std::mt19937_64 words(static_cast<uint64_t>(d));
  const Matrix<double> x = rows_for(row, 1, d, static_cast<uint64_t>(2 * d));
  const double unit = row.scale / std::sqrt(static_cast<double>(d));
  Matrix<double> X(2, d);
  for (int64_t j = 0; j < d; ++j) {
    const double difference = unit * (0.5 + 0.5 * uniform(words));
    X(0, j) = x(0, j);
    X(1, j) = x(0, j) + (std::isinf(row.domain) && j % 2 == 0 ? -difference : difference);
  }
  return X;
}

}  // namespace mercer::test
