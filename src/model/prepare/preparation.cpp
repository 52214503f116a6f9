// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/prepare/preparation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "model/prepare/row_coding.h"
#include "random/scalar_math.h"
#include "random/stream.h"

namespace mercer::model {
namespace {

constexpr size_t kRowsOfLevel = 3;  // that a level has, at least in the mean

using Normal = std::array<double, kRankKnots>;

double share(size_t k) noexcept {
  return (static_cast<double>(k) + 0.5) / static_cast<double>(kRankKnots);
}

/// Normal quantiles of the knots.
const Normal& normal_knots() noexcept {
  static const Normal knots = [] {
    Normal made{};
    for (size_t k = 0; k < kRankKnots; ++k) made[k] = random::normal_quantile(share(k));
    return made;
  }();
  return knots;
}

/// Linear interpolation through (from, a) and (to, b), from < to.
double between(double x, double from, double to, double a, double b) noexcept {
  return a + (b - a) * ((x - from) / (to - from));
}

double rank_of(const std::vector<double>& knots, double x) noexcept {
  const Normal& z = normal_knots();
  const auto lower = static_cast<size_t>(std::ranges::lower_bound(knots, x) - knots.begin());
  const auto upper = static_cast<size_t>(std::ranges::upper_bound(knots, x) - knots.begin());
  if (lower < upper) return 0.5 * (z[lower] + z[upper - 1]);
  if (upper == 0) return z.front();
  if (lower == kRankKnots) return z.back();
  return between(x, knots[lower - 1], knots[lower], z[lower - 1], z[lower]);
}

double number_of(const std::vector<double>& knots, double t) noexcept {
  const Normal& z = normal_knots();
  if (t <= z.front()) return knots.front();
  if (t >= z.back()) return knots.back();
  const auto upper = static_cast<size_t>(std::ranges::upper_bound(z, t) - z.begin());
  return between(t, z[upper - 1], z[upper], knots[upper - 1], knots[upper]);
}

/// The median of |x| over x != 0; 0 if there is none.
double typical_size(const SortedColumn& column) {
  std::vector<std::pair<double, double>> sizes;
  double total = 0;
  column.for_each([&](double x, double weight) {
    if (x == 0) return;
    sizes.emplace_back(std::abs(x), weight);
    total += weight;
  });
  std::ranges::sort(sizes);
  double sum = 0;
  for (const auto& [size, weight] : sizes)
    if ((sum += weight) >= 0.5 * total) return size;
  return 0;
}

}  // namespace

double Curve::operator()(double x) const noexcept {
  if (kind == Transform::none || std::isnan(x)) return x;
  if (kind == Transform::rank) return rank_of(knots, x);
  return std::copysign(std::log1p(std::abs(x) / knots[0]), x);
}

double Curve::inverse(double t) const noexcept {
  if (kind == Transform::none || std::isnan(t)) return t;
  if (kind == Transform::rank) return number_of(knots, t);
  return std::copysign(knots[0] * std::expm1(std::abs(t)), t);
}

namespace {

using Groups = std::vector<std::pair<double, double>>;  // numbers that differ, their weight

/// Linear between the numbers: of equal ones all of the weight but a mean number's is one step, and
/// no knot is beyond the middle of the first or the last number.
std::vector<double> joined_knots(const Groups& groups, double all) {
  const double mean = all / static_cast<double>(groups.size());
  const auto margin = [&](size_t g) { return 0.5 * std::min(groups[g].second, mean); };
  const double low = std::max(share(0) * all, margin(0));
  const double high = std::min(share(kRankKnots - 1) * all, all - margin(groups.size() - 1));
  std::vector<double> knots;
  size_t g = 0;
  double last = groups[0].second;  // the weight of groups up to g
  for (size_t k = 0; k < kRankKnots; ++k) {
    const double at = std::lerp(low, high, static_cast<double>(k) / (kRankKnots - 1));
    while (g + 1 < groups.size() && at > last + margin(g + 1)) last += groups[++g].second;
    const double from = last - margin(g);
    const bool beyond = g + 1 < groups.size() && at > from;
    knots.push_back(beyond ? std::lerp(groups[g].first, groups[g + 1].first,
                                       (at - from) / (margin(g) + margin(g + 1)))
                           : groups[g].first);
  }
  return knots;
}

/// Quantiles at the knots: of numbers that mostly differ joined, so that the curve of few rows is no
/// staircase. Others are levels.
std::vector<double> rank_knots(const SortedColumn& column) {
  Groups groups;
  size_t rows = 0;
  column.for_each([&](double x, double weight) {
    ++rows;
    if (groups.empty() || groups.back().first != x) groups.emplace_back(x, 0);
    groups.back().second += weight;
  });
  if (kRowsOfLevel * groups.size() >= rows && rows > 0)
    return joined_knots(groups, column.weight());
  std::vector<double> knots;
  for (size_t k = 0; k < kRankKnots; ++k) knots.push_back(column.quantile(share(k)));
  return knots;
}

}  // namespace

Curve make_curve(Transform kind, const SortedColumn& column) {
  Curve curve{kind, {}};
  if (kind == Transform::log) curve.knots = {typical_size(column)};
  if (kind == Transform::log && !(curve.knots[0] > 0)) return {};
  if (kind == Transform::rank) curve.knots = rank_knots(column);
  return curve;
}

bool is_skewed(const SortedColumn& column) {
  double total = 0, mean = 0, squares = 0, cubes = 0;
  column.for_each([&](double x, double weight) {
    total += weight;
    mean += weight * (x - mean) / total;
  });
  column.for_each([&](double x, double weight) {
    const double t = x - mean;
    squares += weight * t * t;
    cubes += weight * t * t * t;
  });
  const double deviation = std::sqrt(squares / total);
  return std::abs(cubes / total) > deviation * deviation * deviation;
}

size_t knot_count(Transform kind) noexcept {
  if (kind == Transform::none) return 0;
  return kind == Transform::log ? 1 : kRankKnots;
}

void check_curve(const Curve& curve, const char* what) {
  const bool finite = std::ranges::all_of(curve.knots, [](double x) { return std::isfinite(x); });
  require(curve.knots.size() == knot_count(curve.kind) && finite &&
              std::ranges::is_sorted(curve.knots) &&
              (curve.kind != Transform::log || curve.knots[0] > 0),
          MERCER_INVALID_ARGUMENT, "%s: a curve with knots that are not finite or in order", what);
}

bool Preparation::centers() const noexcept {
  return std::ranges::any_of(mean, [](double m) { return m != 0; }) ||
         std::ranges::any_of(curves, [](const Curve& curve) { return curve(0) != 0; });
}

Preparation Preparation::divided_by(double lengthscale, int64_t inputs) const {
  Preparation result = *this;
  const auto count = static_cast<size_t>(flagged_inputs(inputs));
  if (mean.empty()) {
    result.mean.assign(count, 0.0);
    result.scale.assign(count, 1.0);
  }
  for (double& s : result.scale) s *= lengthscale;
  result.row_norm /= lengthscale;
  return result;
}

void Preparation::restore_inputs(MatrixView<double> prepared) const noexcept {
  for (int64_t i = 0; i < prepared.rows; ++i)
    for (size_t j = 0; j < static_cast<size_t>(prepared.cols); ++j) {
      double& x = prepared.row(i)[j];
      if (!mean.empty()) x = mean[j] + scale[j] * x;
      if (!curves.empty()) x = curves[j].inverse(x);
    }
}

void Preparation::restore_targets(MatrixView<double> scores) const noexcept {
  if (targets.empty()) return;
  for (int64_t i = 0; i < scores.rows; ++i) {
    double* row = scores.row(i);
    for (int64_t o = 0; o < scores.cols; ++o) row[o] = targets[o].inverse(row[o]);
  }
}

namespace {

// The capacity of the sample in numbers: 16 MiB with their columns. At least some hundred rows are
// kept, however long they are.
constexpr int64_t kMostNumbers = int64_t{1} << 20;
constexpr int64_t kLeastSample = 256;
constexpr const char* kSampleForQuantiles = "a sample of rows for quantiles";
constexpr double kWeightRounding = 1e-12;  // of sums of weights

}  // namespace

double SortedColumn::quantile(double p) const {
  if (numbers_.empty()) return kNaN;
  const double wanted = p * cumulated_.back();
  const auto found = std::lower_bound(cumulated_.begin(), cumulated_.end() - 1, wanted);
  return numbers_[found - cumulated_.begin()];
}

double SortedColumn::weight_up_to(double x) const {
  const auto end = std::upper_bound(numbers_.begin(), numbers_.end(), x) - numbers_.begin();
  return end == 0 ? 0.0 : cumulated_[end - 1];
}

ColumnSample::ColumnSample(int64_t columns, uint64_t seed, Context& context)
    : columns_(columns),
      seed_(seed),
      context_(&context),
      sample_(context, kSampleForQuantiles),
      entries_(context, kSampleForQuantiles) {}

bool ColumnSample::keeps(int64_t row) const noexcept {
  if (level_ == 0) return true;
  const random::Stream stream(seed_, random::Tag::sample, 1);
  const random::Words words = stream.block(static_cast<uint64_t>(row));
  const uint64_t word = (uint64_t{words[1]} << 32) | words[0];
  return std::countr_zero(word) >= level_;
}

/// Reserves exactly for dense rows, whose number of entries is known.
void ColumnSample::reserve(const Rows& block) {
  if (block.sparse()) return;
  const int64_t coming = checked_multiply(block.rows(), columns_, kSampleForQuantiles);
  const int64_t most =
      std::max(kMostNumbers, checked_multiply(kLeastSample, columns_, kSampleForQuantiles));
  const int64_t wanted =
      std::min(checked_add(entries_.size(), coming, kSampleForQuantiles), most + columns_);
  if (entries_.size() > 0 && coming < entries_.size()) return;  // small blocks: let it double
  entries_.reserve(wanted);
}

void ColumnSample::add(const Rows& block, std::span<const double> weights) {
  const Matrix<double> sums(1, sum_count(block), *context_, "sums of a sparse row");
  sums.fill(0);
  sparse_ = sparse_ || block.sparse();
  reserve(block);
  block.visit([&](const auto& X) {
    for (int64_t i = 0; i < X.rows; ++i) {
      const double weight = weights.empty() ? 1.0 : weights[i];
      if (weight == 0 || !keeps(rows_ + i)) continue;
      for_each_number(X, i, sums.data(), [&](int64_t j, double x) { entries_.push_back({j, x}); });
      sample_.push_back({rows_ + i, weight, entries_.size()});
      while (entries_.size() > kMostNumbers && sample_.size() > kLeastSample) thin_out();
    }
  });
  rows_ += block.rows();
}

void ColumnSample::keep(StateBytes& state) {
  state.flag(sparse_);
  state.number(level_);
  state.number(rows_);
  state.list(sample_);
  state.list(entries_);
  int64_t end = 0;
  bool whole = level_ >= 0 && level_ < 64;
  for (int64_t r = 0; r < sample_.size(); ++r) {
    whole = whole && sample_[r].entries >= end;
    end = sample_[r].entries;
  }
  for (int64_t e = 0; e < entries_.size(); ++e)
    whole = whole && entries_[e].column >= 0 && entries_[e].column < columns_;
  require(whole && end == entries_.size(), MERCER_INVALID_ARGUMENT,
          "a state of a sample whose rows are no rows of %ld columns", columns_);
}

/// Drops about half of the rows.
void ColumnSample::thin_out() {
  ++level_;
  int64_t rows = 0, to = 0, begin = 0;
  for (int64_t r = 0; r < sample_.size(); ++r) {
    SampledRow row = sample_[r];
    const int64_t end = row.entries;
    if (keeps(row.number)) {
      std::copy(entries_.data() + begin, entries_.data() + end, entries_.data() + to);
      to += end - begin;
      row.entries = to;
      sample_[rows++] = row;
    }
    begin = end;
  }
  sample_.shrink(rows);
  entries_.shrink(to);
}

ColumnSample::ByColumn ColumnSample::by_column() const {
  ByColumn all{{columns_, *context_, kSampleForQuantiles},
               {entries_.size(), *context_, kSampleForQuantiles}};
  std::fill(all.ends.begin(), all.ends.end(), 0);
  for (int64_t e = 0; e < entries_.size(); ++e) ++all.ends[entries_[e].column];
  std::exclusive_scan(all.ends.begin(), all.ends.end(), all.ends.begin(), int64_t{0});
  int64_t e = 0;
  for (int64_t r = 0; r < sample_.size(); ++r)
    for (; e < sample_[r].entries; ++e)
      all.numbers[all.ends[entries_[e].column]++] = {entries_[e].number, sample_[r].weight};
  return all;
}

double ColumnSample::total_weight() const noexcept {
  double total = 0;
  for (int64_t r = 0; r < sample_.size(); ++r) total += sample_[r].weight;
  return total;
}

SortedColumn ColumnSample::sorted(std::span<const WeightedNumber> entries, double total) const {
  std::vector<WeightedNumber> weighted;
  weighted.reserve(entries.size() + 1);
  double not_stored = total;
  for (const WeightedNumber& entry : entries) {
    not_stored -= entry.weight;
    if (!std::isnan(entry.number)) weighted.push_back(entry);
  }
  if (sparse_ && not_stored > kWeightRounding * total) weighted.push_back({0.0, not_stored});
  std::sort(weighted.begin(), weighted.end());
  std::vector<double> numbers, cumulated;
  double sum = 0;
  for (const auto& [number, weight] : weighted) {
    numbers.push_back(number);
    cumulated.push_back(sum += weight);
  }
  return {std::move(numbers), std::move(cumulated)};
}

// Radix selection: doubles are mapped to unsigned integers in the same order, whose 4-bit digits
// are found from the highest on. For each of the 16 values of a digit the processes sum the weight
// up to the largest number with that prefix, for all questions at once: the result is exact after
// 16 sums.

namespace {

constexpr int kDigitBits = 4, kDigits = 1 << kDigitBits;
constexpr uint64_t kSign = uint64_t{1} << 63;

uint64_t key_of(double x) {
  const auto bits = std::bit_cast<uint64_t>(x + 0.0);  // -0 is 0
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// The largest number with a key <= `key`; keys beyond those of infinities belong to NaN.
double number_of(uint64_t key) {
  if (key >= key_of(kInfinity)) return kInfinity;
  if (key <= key_of(-kInfinity)) return -kInfinity;
  return std::bit_cast<double>((key & kSign) != 0 ? key ^ kSign : ~key);
}

}  // namespace

std::vector<double> shared_order(std::span<const double> wanted, const WeightUpTo& weight_up_to,
                                 solver::Reduction& reduction, Context& context) {
  const std::size_t count = wanted.size();
  const MemoryCharge held = context.charge(static_cast<int64_t>(count) * (kDigits + 2) * 8,
                                           "order statistics of several processes");
  std::vector<uint64_t> found(count, 0);
  std::vector<double> weights(count * kDigits);
  for (int shift = 64 - kDigitBits; shift >= 0; shift -= kDigitBits) {
    const auto largest = [&](std::size_t q, uint64_t digit) {
      return found[q] | digit << shift | ((uint64_t{1} << shift) - 1);
    };
    for (std::size_t q = 0; q < count; ++q)
      for (std::size_t digit = 0; digit < kDigits; ++digit)
        weights[q * kDigits + digit] = weight_up_to(q, number_of(largest(q, digit)));
    reduction.sum(weights);
    for (std::size_t q = 0; q < count; ++q) {
      uint64_t digit = 0;
      while (digit < kDigits - 1 && weights[q * kDigits + digit] < wanted[q]) ++digit;
      found[q] |= digit << shift;
    }
  }
  std::vector<double> numbers;
  for (const uint64_t key : found) numbers.push_back(number_of(key));
  return numbers;
}

}  // namespace mercer::model
