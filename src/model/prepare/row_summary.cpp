// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/prepare/row_summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "model/prepare/preparation.h"
#include "model/prepare/row_coding.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

double weight_of(std::span<const double> weights, int64_t row) {
  return weights.empty() ? 1.0 : weights[row];
}

}  // namespace

ColumnMoments::ColumnMoments(int64_t columns) : columns_(static_cast<size_t>(columns)) {}

template <class T>
std::vector<ColumnMoments::Column> ColumnMoments::of_block(const MatrixView<const T>& X,
                                                           std::span<const double> weights) const {
  std::vector<Column> block(columns_.size());
  const double n = solver::total_weight(weights, X.rows);
  for (int64_t i = 0; i < X.rows; ++i) {
    const double weight = weight_of(weights, i);
    for (size_t j = 0; j < block.size() && weight > 0; ++j) {
      const double x = X.row(i)[j];
      block[j].mean += weight * x / n;
      block[j].largest = std::max(block[j].largest, std::abs(x));
    }
  }
  std::vector<double> rest(block.size(), 0.0);
  for (int64_t i = 0; i < X.rows; ++i) {
    const double weight = weight_of(weights, i);
    for (size_t j = 0; j < block.size(); ++j) {
      const double difference = static_cast<double>(X.row(i)[j]) - block[j].mean;
      block[j].squares += weight * difference * difference;
      rest[j] += weight * difference;
    }
  }
  for (size_t j = 0; j < block.size(); ++j) {
    block[j].mean += rest[j] / n;
    block[j].stored = n;
    block[j].squares = std::max(0.0, block[j].squares - rest[j] * rest[j] / n);
  }
  return block;
}

/// Adds the zeros of a sparse column: if k of n rows (by weight) are non-zero, with mean m and sum
/// of squares S about it, the column's mean is m k/n and its sum of squares S + m^2 k (1 - k/n).
template <class T>
std::vector<ColumnMoments::Column> ColumnMoments::of_block(const CsrView<T>& X,
                                                           std::span<const double> weights) const {
  std::vector<Column> block(columns_.size());
  std::vector<double> row(block.size(), 0.0), count(block.size(), 0.0);
  for (int64_t i = 0; i < X.rows; ++i) {
    for_each_stored(X, i, [&](int64_t j, T value) { row[j] += value; });
    const double weight = weight_of(weights, i);
    for_each_stored(X, i, [&](int64_t j, T) {
      Column& column = block[j];
      double& k = count[j];
      const double x = std::exchange(row[j], 0.0);  // duplicates count once
      if (x == 0 || weight == 0) return;
      const double before = x - column.mean;
      k += weight;
      column.mean += weight * before / k;
      column.squares += weight * before * (x - column.mean);
      column.largest = std::max(column.largest, std::abs(x));
    });
  }
  const double n = solver::total_weight(weights, X.rows);
  for (size_t j = 0; j < block.size(); ++j) {
    const double share = count[j] / n, mean = block[j].mean;
    block[j].squares += mean * mean * count[j] * (1 - share);
    block[j].mean = mean * share;
    block[j].stored = count[j];
  }
  return block;
}

void ColumnMoments::add(const Rows& rows, std::span<const double> weights) {
  rows_ += rows.rows();
  sparse_ = sparse_ || rows.sparse();
  const double before = weight_, added = solver::total_weight(weights, rows.rows());
  if (added == 0) return;
  const std::vector<Column> block = rows.visit([&](const auto& X) { return of_block(X, weights); });
  const double total = before + added;
  for (size_t j = 0; j < columns_.size(); ++j) {
    Column& column = columns_[j];
    const double difference = block[j].mean - column.mean;
    column.mean = before == 0 ? block[j].mean : column.mean + difference * (added / total);
    column.squares += block[j].squares + difference * difference * (before * added / total);
    column.largest = std::max(column.largest, block[j].largest);
    column.stored += block[j].stored;
  }
  weight_ = total;
}

void ColumnMoments::reduce(solver::Reduction& reduction, std::span<const double> largest) {
  std::vector<double> sums = {static_cast<double>(rows_), weight_, sparse_ ? 1.0 : 0.0};
  for (const Column& column : columns_) sums.push_back(weight_ * column.mean);
  reduction.sum(sums);
  const double own = weight_;
  rows_ = static_cast<int64_t>(sums[0]);
  weight_ = sums[1];
  sparse_ = sums[2] > 0;
  std::vector<double> squares;
  for (size_t j = 0; j < columns_.size(); ++j) {
    const double mean = weight_ > 0 ? sums[3 + j] / weight_ : 0, apart = columns_[j].mean - mean;
    squares.insert(squares.end(), {columns_[j].squares + own * apart * apart, columns_[j].stored});
    columns_[j].mean = mean;
    columns_[j].largest = largest[j];
  }
  reduction.sum(squares);
  for (size_t j = 0; j < columns_.size(); ++j) {
    columns_[j].squares = squares[2 * j];
    columns_[j].stored = squares[2 * j + 1];
  }
}

void ColumnMoments::keep(StateBytes& state) {
  state.numbers(std::span(columns_));
  state.number(rows_);
  state.number(weight_);
  state.flag(sparse_);
}

/// The root mean square distance of stored non-zeros from the column's mean.
double ColumnMoments::stored_deviation(const Column& column) const {
  if (column.stored == 0) return 0;
  const double zeros = std::max(0.0, weight_ - column.stored) * column.mean * column.mean;
  return std::sqrt(std::max(0.0, column.squares - zeros) / column.stored);
}

Preparation ColumnMoments::preparation() const {
  Preparation result{std::vector<double>(columns_.size(), 0.0),
                     std::vector<double>(columns_.size(), 1.0)};
  const double n = weight_ > 0 ? weight_ : 1;
  for (size_t j = 0; j < columns_.size(); ++j) {
    const double deviation =
        sparse_ ? stored_deviation(columns_[j]) : std::sqrt(columns_[j].squares / n);
    if (!sparse_) result.mean[j] = columns_[j].mean;
    result.scale[j] = divisor_of(deviation, columns_[j].largest);
  }
  return result;
}

std::vector<double> ColumnMoments::root_mean_squares() const {
  std::vector<double> sizes;
  const double n = weight_ > 0 ? weight_ : 1;
  for (const Column& column : columns_) {
    const double about_zero = std::hypot(column.mean, std::sqrt(column.squares / n));
    const double share = sparse_ && column.stored > 0 ? column.stored / n : 1;
    sizes.push_back(about_zero / std::sqrt(share));
  }
  return sizes;
}

namespace {

constexpr double kNormalQuartiles = 1.3489795003921634;  // normal interquartile range

/// Mean and deviation of a column after its transform; missing numbers do not count.
struct Moments {
  double mean = 0, deviation = 0, largest = 0;
};

Moments moments_of(const SortedColumn& column, const Curve& curve) {
  double total = 0, squares = 0;
  Moments found;
  column.for_each([&](double number, double weight) {
    const double x = curve(number), before = x - found.mean;
    total += weight;
    found.mean += weight * before / total;
    squares += weight * before * (x - found.mean);
    found.largest = std::max(found.largest, std::abs(x));
  });
  found.deviation = std::sqrt(squares / total);
  return found;
}

/// Sparse rows: root mean square distance of non-zeros from the column's mean.
double stored_deviation(const SortedColumn& column, const Curve& curve, double mean) {
  double stored = 0, squares = 0;
  column.for_each([&](double number, double weight) {
    const double t = curve(number) - mean;
    stored += number != 0 ? weight : 0.0;
    squares += number != 0 ? weight * t * t : 0.0;
  });
  return stored > 0 ? std::sqrt(squares / stored) : 0.0;
}

/// Sparse rows: root mean square of non-zeros.
double root_mean_square(const SortedColumn& column, const Curve& curve, bool sparse) {
  if (sparse) return stored_deviation(column, curve, 0);
  const Moments all = moments_of(column, curve);
  return std::hypot(all.mean, all.deviation);
}

/// A number to subtract and a number to divide by.
struct ColumnSpread {
  double center = 0, size = 1;
};

ColumnSpread spread_of(const SortedColumn& column, const Curve& curve, Scale scale, bool sparse) {
  const Moments all = moments_of(column, curve);
  const double rounding = kConstantColumn * all.largest;
  const auto size_of = [&](double size) { return divisor_of(size, all.largest); };
  if (sparse) return {0, size_of(stored_deviation(column, curve, all.mean))};
  if (scale == Scale::center) return {all.mean, 1};
  if (scale != Scale::robust) return {all.mean, size_of(all.deviation)};
  const double low = curve(column.quantile(0.25)), high = curve(column.quantile(0.75));
  const double between = (high - low) / kNormalQuartiles;
  return {curve(column.quantile(0.5)), between > rounding ? between : size_of(all.deviation)};
}

/// Whether moments of all rows serve, which are better than the sample's.
bool wants_moments(const PreparationOptions& asked) {
  const bool plain = asked.scale == Scale::standard || asked.scale == Scale::common;
  return plain && asked.missing == Missing::refuse && asked.transform == Transform::none;
}

void check_sparse(const PreparationOptions& asked) {
  require(!asked.standardize || asked.scale == Scale::standard, MERCER_UNSUPPORTED,
          "sparse rows are scaled alone, which keeps them sparse, but scale asks for their centre, "
          "expected standard, or dense rows");
  require(asked.transform != Transform::rank, MERCER_UNSUPPORTED,
          "transform = rank of sparse rows, which would not stay sparse, expected none or log, or "
          "dense rows");
}

}  // namespace

RowSummary::RowSummary(const PreparationOptions& asked, const PreparationFacts& found,
                       uint64_t seed, int64_t inputs, int64_t targets, Context& context)
    : asked_(asked),
      found_(found),
      seed_(seed),
      moments_(inputs),
      ranges_(inputs, targets, seed, context) {}

void RowSummary::add(const Rows& X, MatrixView<const double> Y, std::span<const double> weights) {
  if (X.sparse()) check_sparse(asked_);
  moments_.add(X, weights);
  ranges_.add(X, Y, weights);
}

Preparation RowSummary::preparation() const {
  Preparation result;
  fit_fill(result);
  result.flagged = flagged();
  fit_curves(result);
  result.targets = target_curves();
  if (asked_.standardize) fit_scale(result);
  if (asked_.unit_rows) result.row_norm = 1;
  if (asked_.buckets > 0 && ranges_.inputs().sparse())
    result.hashing = {ranges_.inputs().columns(), asked_.buckets, seed_};
  return result;
}

void RowSummary::fit_fill(Preparation& to) const {
  if (asked_.missing == Missing::refuse) return;
  ranges_.inputs().for_each_column([&](int64_t, const SortedColumn& column) {
    to.fill.push_back(column.empty() ? 0.0 : column.quantile(0.5));
  });
}

std::vector<int64_t> RowSummary::flagged() const {
  if (asked_.missing != Missing::flag) return {};
  if (!found_.flagged.empty()) return found_.flagged;
  std::vector<int64_t> flagged;
  for (int64_t j = 0; j < ranges_.inputs().columns(); ++j)
    if (ranges_.inputs().has_missing(j)) flagged.push_back(j);
  return flagged;
}

void RowSummary::fit_curves(Preparation& to) const {
  if (asked_.transform == Transform::none) return;
  ranges_.inputs().for_each_column([&](int64_t j, const SortedColumn& column) {
    const bool left = ranges_.inputs().is_binary(j) || column.empty() ||
                      (asked_.transform == Transform::log && !is_skewed(column));
    to.curves.push_back(left ? Curve() : make_curve(asked_.transform, column));
  });
}

std::vector<Curve> RowSummary::target_curves() const {
  std::vector<Curve> curves;
  if (asked_.target_transform == Transform::none) return curves;
  ranges_.targets().for_each_column([&](int64_t, const SortedColumn& column) {
    curves.push_back(make_curve(asked_.target_transform, column));
  });
  return curves;
}

bool RowSummary::has_skewed_targets() const {
  bool skewed = false;
  ranges_.targets().for_each_column([&](int64_t, const SortedColumn& column) {
    skewed = skewed || (!column.empty() && is_skewed(column));
  });
  return skewed;
}

void RowSummary::fit_scale(Preparation& to) const {
  const auto inputs = static_cast<size_t>(ranges_.inputs().columns());
  to.mean.assign(inputs, 0.0);
  to.scale.assign(inputs, 1.0);
  if (found_.domain) {
    fit_root_mean_squares(to);
  } else if (wants_moments(asked_)) {
    const Preparation moments = moments_.preparation();
    to.mean = moments.mean;
    to.scale = moments.scale;
  } else {
    ranges_.inputs().for_each_column([&](int64_t column, const SortedColumn& sorted) {
      const auto j = static_cast<size_t>(column);
      if (sorted.empty()) return;
      const Curve curve = to.curves.empty() ? Curve() : to.curves[j];
      const ColumnSpread spread = spread_of(sorted, curve, asked_.scale, ranges_.inputs().sparse());
      to.mean[j] = spread.center;
      to.scale[j] = spread.size;
    });
  }
  if (asked_.scale == Scale::common) {
    double squares = 0;
    for (const double scale : to.scale) squares += scale * scale / static_cast<double>(inputs);
    std::ranges::fill(to.scale, std::sqrt(squares));
  }
  for (size_t j = 0; asked_.scale != Scale::common && j < inputs; ++j) {
    if (!ranges_.inputs().is_binary(static_cast<int64_t>(j))) continue;
    to.mean[j] = 0;
    to.scale[j] = 1;
  }
  to.mean.resize(to.flagged_inputs(std::ssize(to.mean)), 0.0);
  to.scale.resize(to.mean.size(), 1.0);
}

/// Root mean squares instead of means and deviations keep inputs inside the domain.
void RowSummary::fit_root_mean_squares(Preparation& to) const {
  if (wants_moments(asked_)) {
    to.scale = moments_.root_mean_squares();
  } else {
    ranges_.inputs().for_each_column([&](int64_t column, const SortedColumn& sorted) {
      const auto j = static_cast<size_t>(column);
      const Curve curve = to.curves.empty() ? Curve() : to.curves[j];
      if (!sorted.empty()) to.scale[j] = root_mean_square(sorted, curve, ranges_.inputs().sparse());
    });
  }
  const std::vector<Range> ranges = ranges_.inputs().ranges();
  for (size_t j = 0; j < ranges.size(); ++j) {
    double& size = to.scale[j];
    if (size == 0) size = 1;
    if (!found_.domain->scales_up || ranges[j].lowest < 0) size = std::max(size, 1.0);
  }
}

namespace {

/// For each input, the number of rows of positive weight that miss it.
std::vector<int64_t> missing_rows(const Rows& X, std::span<const double> weights) {
  std::vector<int64_t> missing(X.cols(), 0);
  X.visit([&](const auto& view) {
    for (int64_t i = 0; i < view.rows; ++i) {
      if (!weights.empty() && weights[i] == 0) continue;
      for_each_stored(view, i, [&](int64_t j, auto x) {
        if (std::isnan(x)) ++missing[j];
      });
    }
  });
  return missing;
}

}  // namespace

int64_t leave_out_rare_flags(PreparationOptions& asked, std::vector<int64_t>& flagged,
                             const Rows& X, std::span<const double> weights) {
  if (asked.missing != Missing::flag || !flagged.empty()) return 0;
  const std::vector<int64_t> missing = missing_rows(X, weights);
  const int64_t rare =
      std::ranges::count_if(missing, [](int64_t rows) { return rows > 0 && rows < kLeastFlagged; });
  if (rare == 0) return 0;
  for (int64_t j = 0; j < X.cols(); ++j)
    if (missing[j] >= kLeastFlagged) flagged.push_back(j);
  if (flagged.empty()) asked.missing = Missing::fill;
  return rare;
}

int64_t prepared_inputs(const PreparationOptions& asked, std::span<const int64_t> flagged,
                        const Rows& X, std::span<const double> weights) {
  if (asked.buckets > 0 && X.sparse()) return asked.buckets;
  if (asked.missing != Missing::flag) return X.cols();
  if (!flagged.empty()) return X.cols() + std::ssize(flagged);
  return X.cols() +
         std::ranges::count_if(missing_rows(X, weights), [](int64_t n) { return n > 0; });
}

namespace {

constexpr double kLow = 0.01, kHigh = 0.99;

/// For each column: the counts summed over processes, then the order statistics asked for.
enum Count : size_t { kStored, kNotBinary, kMissing, kWithNumbers, kWeight, kCounts };
enum Question : size_t { kLowest, kHighest, kBelow, kAbove, kQuestions };

}  // namespace

void check_ranges(std::span<const Range> ranges, const char* what) {
  for (size_t j = 0; j < ranges.size(); ++j) {
    const Range& r = ranges[j];
    const bool ordered = r.lowest <= r.low && r.low <= r.high && r.high <= r.highest;
    require(ordered && std::isfinite(r.lowest) && std::isfinite(r.highest), MERCER_INVALID_ARGUMENT,
            "%s: range %zu is %g, %g, %g, %g, expected finite numbers in ascending order", what, j,
            r.lowest, r.low, r.high, r.highest);
  }
}

ColumnRanges::ColumnRanges(int64_t columns, uint64_t seed, Context& context)
    : lowest_(static_cast<size_t>(columns), kInfinity),
      highest_(columns, -kInfinity),
      stored_(columns, 0),
      binary_(columns, 1),
      missing_(columns, 0),
      sample_(columns, seed, context) {}

void ColumnRanges::add(const Rows& block, std::span<const double> weights) {
  std::vector<double> sums(sum_count(block), 0.0);
  block.visit([&](const auto& X) {
    for (int64_t i = 0; i < X.rows; ++i) {
      if (!weights.empty() && weights[i] == 0) continue;
      ++rows_;
      for_each_number(X, i, sums.data(), [&](int64_t column, double x) {
        const auto j = static_cast<size_t>(column);
        lowest_[j] = std::min(lowest_[j], x);  // a NaN changes neither
        highest_[j] = std::max(highest_[j], x);
        ++stored_[j];
        if (std::isnan(x)) {
          missing_[j] = 1;
        } else if (x != 0 && x != 1) {
          binary_[j] = 0;
        }
      });
    }
  });
  sparse_ = sparse_ || block.sparse();
  sample_.add(block, weights);
}

void ColumnRanges::keep(StateBytes& state) {
  for (auto* const bounds : {&lowest_, &highest_}) state.numbers(std::span(*bounds));
  state.numbers(std::span(stored_));
  for (auto* const marks : {&binary_, &missing_}) state.numbers(std::span(*marks));
  state.number(rows_);
  state.flag(sparse_);
  sample_.keep(state);
}

std::vector<Range> ColumnRanges::ranges() const {
  std::vector<Range> ranges(lowest_.size(), Range{0, 0, 0, 0});
  sample_.for_each_column([&](int64_t column, const SortedColumn& sorted) {
    const auto j = static_cast<size_t>(column);
    const bool zero = stored_[j] < rows_;  // some row does not store the column
    const double lowest = zero ? std::min(lowest_[j], 0.0) : lowest_[j];
    const double highest = zero ? std::max(highest_[j], 0.0) : highest_[j];
    if (lowest > highest) return;
    // Quantiles of the sample lie between the extremes of all rows.
    const bool shared = !low_.empty();
    ranges[j] = {lowest, shared ? low_[j] : sorted.quantile(kLow),
                 shared ? high_[j] : sorted.quantile(kHigh), highest};
  });
  return ranges;
}

std::vector<double> ColumnRanges::largest() const {
  std::vector<double> largest;
  for (size_t j = 0; j < lowest_.size(); ++j)
    largest.push_back(lowest_[j] > highest_[j] ? 0.0 : std::max(-lowest_[j], highest_[j]));
  return largest;
}

std::vector<double> ColumnRanges::shared_counts(std::span<const SortedColumn> sorted,
                                                solver::Reduction& reduction) const {
  std::vector<double> sums;
  for (size_t j = 0; j < sorted.size(); ++j)
    sums.insert(sums.end(), {static_cast<double>(stored_[j]), binary_[j] != 0 ? 0.0 : 1.0,
                             missing_[j] != 0 ? 1.0 : 0.0, lowest_[j] <= highest_[j] ? 1.0 : 0.0,
                             sample_.share() * sorted[j].weight()});
  sums.insert(sums.end(), {static_cast<double>(rows_), sparse_ ? 1.0 : 0.0});
  reduction.sum(sums);
  return sums;
}

double ColumnRanges::weight_up_to(std::span<const SortedColumn> sorted, size_t question,
                                  double x) const {
  const size_t j = question / kQuestions;
  const bool any = lowest_[j] <= highest_[j];
  switch (question % kQuestions) {
    case kLowest:
      return any && lowest_[j] <= x ? 1.0 : 0.0;
    case kHighest:
      return any && highest_[j] <= x ? 1.0 : 0.0;
    default:
      return sample_.share() * sorted[j].weight_up_to(x);
  }
}

void ColumnRanges::take_shared(std::span<const double> sums, std::span<const double> found) {
  const size_t columns = lowest_.size();
  for (size_t j = 0; j < columns; ++j) {
    const double *const sum = sums.data() + j * kCounts, *const of = found.data() + j * kQuestions;
    stored_[j] = static_cast<int64_t>(sum[kStored]);
    binary_[j] = sum[kNotBinary] == 0;
    missing_[j] = sum[kMissing] > 0;
    if (sum[kWithNumbers] > 0) {
      lowest_[j] = of[kLowest];
      highest_[j] = of[kHighest];
    }
    low_.push_back(of[kBelow]);
    high_.push_back(of[kAbove]);
  }
  rows_ = static_cast<int64_t>(sums[columns * kCounts]);
  sparse_ = sums[columns * kCounts + 1] > 0;
}

/// A process's sample counts by the rows that it stands for.
void ColumnRanges::reduce(solver::Reduction& reduction, Context& context) {
  if (lowest_.empty()) return;
  std::vector<SortedColumn> sorted;
  sample_.for_each_column([&](int64_t, const SortedColumn& column) { sorted.push_back(column); });
  const std::vector<double> sums = shared_counts(sorted, reduction);
  std::vector<double> wanted;
  for (size_t j = 0; j < sorted.size(); ++j) {
    const double* const sum = sums.data() + j * kCounts;
    wanted.insert(wanted.end(), {std::min(1.0, sum[kWithNumbers]), sum[kWithNumbers],
                                 kLow * sum[kWeight], kHigh * sum[kWeight]});
  }
  const auto up_to = [&](size_t question, double x) { return weight_up_to(sorted, question, x); };
  take_shared(sums, shared_order(wanted, up_to, reduction, context));
}

void ColumnRanges::require_numbers() const {
  for (size_t j = 0; j < lowest_.size(); ++j) {
    require(lowest_[j] <= highest_[j] || stored_[j] < rows_, MERCER_INVALID_ARGUMENT, at_column(j),
            "X holds no number in any row, expected one at least");
  }
}

Ranges ranges_of(const Rows& X, MatrixView<const double> targets, uint64_t seed, Context& context,
                 std::span<const double> weights) {
  RangeCollector collector(X.cols(), targets.cols, seed, context);
  collector.add(X, targets, weights);
  return collector.ranges();
}

}  // namespace mercer::model
