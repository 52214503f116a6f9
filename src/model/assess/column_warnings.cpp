// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A number is a code for missing (-999, 1e4) if it is the largest or smallest of its column, at
// least three rows have it (or fewer with most of the column's variance), there are ten other
// numbers, and its gap to them exceeds their distance from the median and five interquartile
// ranges. Bounded measurements also pile up at the bound, but without a gap; 0 is never a code. In
// 29 public tables this names one column, capital gains that end in 99999 after 41310.
#include "model/assess/column_warnings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/numbers.h"
#include "model/assess/warnings.h"

namespace mercer::model {
namespace {

constexpr int64_t kSampled = 1000;     // rows for quartiles and correlations
constexpr int64_t kLeastRepeated = 3;  // rows
constexpr double kMostVariance = 0.5;  // needed by fewer rows
constexpr size_t kLeastOthers = 10;    // distinct numbers
constexpr double kFarOfQuartiles = 5;  // interquartile ranges
constexpr int64_t kLeastRows = 20;     // for a correlation
constexpr double kNearlyEqual = 0.9999;

/// The largest number of a column, its number of rows, and the next smaller number.
struct End {
  double last = -kInfinity, next = -kInfinity;
  int64_t rows = 0;

  void add(double x) {
    if (x == last) {
      ++rows;
    } else if (x > last) {
      next = last;
      last = x;
      rows = 1;
    } else if (x > next) {
      next = x;
    }
  }
};

struct Ends {
  End low, high;        // low: of the negated numbers
  void add(double x) {  // a NaN changes nothing
    high.add(x);
    low.add(-x);
  }
};

template <class T>
std::vector<Ends> ends_of(MatrixView<const T> A, Context& context) {
  std::vector<Ends> ends(A.cols);
  for (int64_t i = 0; i < A.rows; ++i) {
    if (i % 1024 == 0) context.checkpoint();
    for (size_t j = 0; j < ends.size(); ++j) ends[j].add(static_cast<double>(A.row(i)[j]));
  }
  return ends;
}

/// Column j in evenly spaced rows.
template <class T>
std::vector<double> sample_of(MatrixView<const T> A, int64_t j) {
  std::vector<double> sample;
  const int64_t count = std::min(A.rows, kSampled);
  for (int64_t k = 0; k < count; ++k)
    sample.push_back(static_cast<double>(A(k * A.rows / count, j)));
  return sample;
}

/// Whether the end of a column times sign is far from its other numbers.
bool stands_apart(const End& end, double sign, const std::vector<double>& sample) {
  std::vector<double> others;
  for (const double x : sample)
    if (sign * x < end.last) others.push_back(sign * x);  // not NaN
  std::ranges::sort(others);
  std::vector<double> distinct = others;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() < kLeastOthers) return false;
  const size_t n = others.size();
  const double gap = end.last - end.next;
  return gap > end.next - others[n / 2] &&
         gap >= kFarOfQuartiles * (others[n * 3 / 4] - others[n / 4]);
}

/// The share of column j's squares about the sample's median that the rows at its end hold.
template <class T>
double share_of_variance(MatrixView<const T> A, int64_t j, const End& end, double sign,
                         std::vector<double> sample) {
  std::erase_if(sample, [](double x) { return std::isnan(x); });
  const auto middle = sample.begin() + std::ssize(sample) / 2;
  std::ranges::nth_element(sample, middle);
  double all = 0, own = 0;
  for (int64_t i = 0; i < A.rows; ++i) {
    const double x = static_cast<double>(A(i, j)), square = (x - *middle) * (x - *middle);
    if (std::isnan(square)) continue;
    all += square;
    own += sign * x == end.last ? square : 0.0;
  }
  return all > 0 ? own / all : 0;
}

/// what: "input" or "target".
template <class T>
void warn_of_codes(const char* what, MatrixView<const T> A, const std::vector<Ends>& ends,
                   std::vector<std::string>& found) {
  const bool input = std::string(what) == "input";
  std::string first, others;
  for (int64_t j = 0; j < A.cols; ++j) {
    const Ends& of = ends[j];
    for (const double sign : {-1.0, 1.0}) {
      const End& end = sign < 0 ? of.low : of.high;
      if (end.last == 0 || end.next == -kInfinity) continue;
      const std::vector<double> sample = sample_of(A, j);
      if (!stands_apart(end, sign, sample)) continue;
      if (end.rows < kLeastRepeated &&
          !(share_of_variance(A, j, end, sign, sample) > kMostVariance))
        continue;
      const double code = sign * end.last;
      if (!first.empty()) {
        others += text("%s%s %ld (%.9g)", others.empty() ? "" : ", ", what, j, code);
        continue;
      }
      const std::string read = text(
          "read it as missing (NaN; the command: --missing-word=%.9g --missing flag), or ", code);
      first = text(
          "%s %ld is %.9g in %ld of %ld rows, far from its other numbers, "
          "which %s at %.9g: if it stands for a missing number, %sleave those "
          "rows out",
          what, j, code, end.rows, A.rows, sign < 0 ? "begin" : "end", sign * end.next,
          input ? read.c_str() : "");
    }
  }
  if (!first.empty()) found.push_back(first + (others.empty() ? "" : "; likewise " + others));
}

template <class T>
bool equal_columns(MatrixView<const T> X, int64_t a, int64_t b) {
  for (int64_t i = 0; i < X.rows; ++i)
    if (!(X(i, a) == X(i, b))) return false;
  return true;
}

/// FNV-1a over whole words.
uint64_t hash_of(const std::vector<double>& numbers) {
  uint64_t hash = 14695981039346656037u;
  for (const double x : numbers) hash = (hash ^ std::bit_cast<uint64_t>(x)) * 1099511628211u;
  return hash;
}

/// Ignores constant columns.
template <class T>
void warn_of_copies(MatrixView<const T> X, const std::vector<Ends>& ends,
                    std::vector<std::string>& found) {
  std::map<uint64_t, int64_t> seen;  // by a hash of their sampled rows
  std::string first;
  int64_t copies = 0;
  for (int64_t j = 0; j < X.cols; ++j) {
    const End& end = ends[j].high;
    if (end.next == -kInfinity) continue;
    const auto [at, is_new] = seen.emplace(hash_of(sample_of(X, j)), j);
    if (is_new || !equal_columns(X, at->second, j)) continue;
    if (copies++ == 0) first = text("input %ld equals input %ld in every row", j, at->second);
  }
  if (copies == 1) found.push_back(first + ": it counts twice; leave one of them out");
  if (copies > 1)
    found.push_back(first + text("; %ld inputs in all are copies of others, which count "
                                 "repeatedly: leave the copies out",
                                 copies));
}

/// Ranks; equal numbers share their mean rank.
std::vector<double> ranks_of(const std::vector<double>& x) {
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return x[a] < x[b]; });
  std::vector<double> ranks(x.size());
  for (size_t i = 0, end = 0; i < order.size(); i = end) {
    while (end < order.size() && x[order[end]] == x[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<double>(i + end) / 2;
  }
  return ranks;
}

bool is_constant(const std::vector<double>& x) {
  return std::ranges::all_of(x, [&](double one) { return one == x.front(); });
}

/// The correlation; 0 for constant numbers, whose sums of squares are rounding errors.
double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  if (is_constant(x) || is_constant(y)) return 0;
  double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mx += x[i] / n;
    my += y[i] / n;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
    xy += (x[i] - mx) * (y[i] - my);
  }
  return xx > 0 && yy > 0 ? std::abs(xy) / std::sqrt(xx) / std::sqrt(yy) : 0;
}

/// Whether numbers and classes correspond one to one.
bool names_classes(const std::vector<double>& x, const std::vector<double>& classes) {
  std::map<double, double> class_of, number_of;
  for (size_t i = 0; i < x.size(); ++i)
    if (class_of.emplace(x[i], classes[i]).first->second != classes[i] ||
        number_of.emplace(classes[i], x[i]).first->second != x[i])
      return false;
  return class_of.size() > 1;
}

/// A column in the sampled rows, and its ranks there.
struct Sampled {
  explicit Sampled(std::vector<double> sample)
      : numbers(std::move(sample)), ranks(ranks_of(numbers)) {}
  std::vector<double> numbers, ranks;
};

bool nearly_equal(const Sampled& x, const Sampled& y, bool classes) {
  if (classes) return names_classes(x.numbers, y.numbers);
  return correlation(x.numbers, y.numbers) > kNearlyEqual ||
         correlation(x.ranks, y.ranks) > kNearlyEqual;
}

template <class T>
void warn_of_targets(bool classes, MatrixView<const T> X, MatrixView<const double> Y,
                     std::vector<std::string>& found) {
  if (X.cols < 2 || X.rows < kLeastRows) return;
  const auto misses = [](const std::vector<double>& sample) {
    return std::ranges::any_of(sample, [](double value) { return std::isnan(value); });
  };
  std::vector<Sampled> targets;
  for (int64_t o = 0; o < Y.cols; ++o) {
    std::vector<double> sample = sample_of(Y, o);
    targets.emplace_back(misses(sample) ? std::vector<double>() : std::move(sample));
  }
  for (int64_t j = 0; j < X.cols; ++j) {
    std::vector<double> sample = sample_of(X, j);
    if (misses(sample)) continue;
    const Sampled x(std::move(sample));
    for (size_t o = 0; o < targets.size(); ++o) {
      if (targets[o].numbers.empty() || !nearly_equal(x, targets[o], classes)) continue;
      const std::string which = Y.cols > 1 ? "target " + std::to_string(o)
                                           : std::string(classes ? "the class" : "the target");
      found.push_back(text("input %ld predicts ", j) + which +
                      " almost alone: is it known when predictions are made?");
    }
  }
}

}  // namespace

std::vector<std::string> column_warnings(Task task, const Rows& X, MatrixView<const double> Y,
                                         Context& context) {
  std::vector<std::string> found;
  X.visit([&](const auto& view) {
    if constexpr (!kIsSparse<decltype(view)>) {
      const std::vector<Ends> ends = ends_of(view, context);
      warn_of_codes("input", view, ends, found);
      warn_of_copies(view, ends, found);
      warn_of_targets(task == Task::classification, view, Y, found);
    }
  });
  if (task == Task::regression) warn_of_codes("target", Y, ends_of(Y, context), found);
  return found;
}

}  // namespace mercer::model
