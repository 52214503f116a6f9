// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/assess/warnings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/size.h"
#include "model/assess/assessment.h"
#include "model/estimator/class_weights.h"

namespace mercer::model {
namespace {

constexpr double kMostWarnedShare = 0.03;                 // Tr H over D
constexpr double kMostOff = 0.04, kIntervalErrors = 2.5;  // absolute, and in binomial errors

constexpr double kPerfect = 0.9999;     // score of the linear baseline
constexpr int64_t kFewRepeats = 20;     // one row in this many
constexpr int64_t kWarnedRows = 10;     // of a fit
constexpr double kNearlyAll = 0.995;    // a best score not worth a warning
constexpr double kMostOfFew = 0.5;      // of a target's variance, in a hundredth of the rows
constexpr int64_t kFewScoredRows = 30;  // behind a score
constexpr int64_t kFewOfClass = 3;      // rows of a class, behind a score
constexpr double kRareShare = 0.1;      // of the rows
constexpr double kRarelyFound = 0.2;    // of a class's rows

template <class T>
bool rows_are_equal(const MatrixView<const T>& X) {
  for (int64_t i = 1; i < X.rows; ++i)
    if (!std::equal(X.row(i), X.row(i) + X.cols, X.row(0))) return false;
  return true;
}
/// Sparse rows without non-zeros.
template <class T>
bool rows_are_equal(const CsrView<T>& X) {
  for (int64_t p = X.begin(0); p < X.end(X.rows - 1); ++p)
    if (X.values[p] != T{0}) return false;
  return true;
}

/// The share of a target's squared deviations in the hundredth of rows farthest from its mean.
double share_of_farthest(MatrixView<const double> Y, int64_t o) {
  double mean = 0, all = 0, most = 0;
  for (int64_t i = 0; i < Y.rows; ++i) mean += (Y(i, o) - Y(0, o)) / static_cast<double>(Y.rows);
  std::vector<double> squares;
  for (int64_t i = 0; i < Y.rows; ++i) {
    squares.push_back(std::pow(Y(i, o) - Y(0, o) - mean, 2));
    all += squares.back();
  }
  const auto few = squares.begin() + std::max<int64_t>(Y.rows / 100, 1);
  std::ranges::nth_element(squares, few - 1, std::ranges::greater());
  for (auto one = squares.begin(); one != few; ++one) most += *one;
  return most / all;
}

int64_t classes_of_one_row(int64_t classes, MatrixView<const double> Y) {
  std::vector<int64_t> rows(classes, 0);
  for (int64_t i = 0; i < Y.rows; ++i) ++rows[Y(i, 0)];
  return std::ranges::count(rows, 1);
}

std::string contradiction(Task task, const Repeats& repeats) {
  const auto count = repeats.contradictory;
  if (task == Task::classification)
    return text(
        "%ld rows share their inputs with rows of another class: no model of these inputs is "
        "right on more than a share of %.4f of all rows",
        count, repeats.most);
  return text(
      "%ld rows share their inputs with rows of other targets: if all rows are as noisy, no model "
      "of these inputs has an R^2 above about %.4f",
      count, repeats.most);
}

const char* name_of(Measure measure) {
  constexpr const char* kNames[] = {"R^2", "accuracy", "explained pinball loss",
                                    "explained absolute error", "explained deviance"};
  return kNames[static_cast<size_t>(measure)];
}

/// Classes with too few scored rows.
void warn_of_few_rows(const std::vector<ClassScore>& classes, std::vector<std::string>& found) {
  const auto few = [](const ClassScore& one) { return one.rows < kFewOfClass; };
  const auto count = std::ranges::count_if(classes, few);
  const auto first = std::ranges::find_if(classes, few);
  if (count == 1)
    found.push_back(text("class %ld has %ld %s in the score, which says little of it",
                         first - classes.begin(), first->rows, first->rows == 1 ? "row" : "rows"));
  if (count > 1)
    found.push_back(
        text("%ld of %zu classes have fewer than %ld rows in the score, which says "
             "little of them",
             count, classes.size(), kFewOfClass));
}

/// Rare classes that the model hardly ever predicts.
void warn_of_missed(const Assessment& assessment, std::vector<std::string>& found) {
  const std::vector<ClassScore>& classes = assessment.balanced.classes;
  const auto missed = [&](const ClassScore& one) {
    return one.rows >= kFewOfClass &&
           static_cast<double>(one.rows) < kRareShare * static_cast<double>(assessment.rows) &&
           one.recall <= kRarelyFound;
  };
  const auto count = std::ranges::count_if(classes, missed);
  const auto first = std::ranges::find_if(classes, missed);
  if (count == 1)
    found.push_back(
        text("class %ld, of %ld rows in the score, is found in only %.0f %% of them: "
             "balanced class weights find more",
             first - classes.begin(), first->rows, 100 * first->recall));
  if (count > 1)
    found.push_back(
        text("%ld rare classes are found in at most %.0f %% of their rows: balanced "
             "class weights find more",
             count, 100 * kRarelyFound));
}

/// With balanced class weights, model and baseline are compared by balanced accuracy.
void compare_balanced(const Assessment& assessment, std::vector<std::string>& found) {
  const BalancedScore& balanced = assessment.balanced;
  const auto known = static_cast<double>(
      std::ranges::count_if(balanced.classes, [](const auto& one) { return one.rows > 0; }));
  if (balanced.value <= 1 / known)
    found.push_back(text("balanced accuracy %.4f does not beat the largest class: %.4f",
                         balanced.value, 1 / known));
  if (balanced.value <= assessment.balanced_linear)
    found.push_back(text("balanced accuracy %.4f does not beat a linear model: %.4f",
                         balanced.value, assessment.balanced_linear));
}

}  // namespace

std::vector<std::string> residual_warnings(double residual, double lambda) {
  constexpr double kSolved = 1e-6;
  if (!(residual > kSolved)) return {};
  return {
      text("rounding leaves a residual of %g in the equations of the weights: predictions may "
           "be off by that share of their spread and more, expected lambda above %g, or a "
           "shorter lengthscale",
           residual, lambda)};
}

std::string text(const char* format, ...) {
  char buffer[320];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

std::vector<std::string> data_warnings(const TargetOptions& coding, const Rows& X,
                                       MatrixView<const double> Y, const Assessment& assessment,
                                       Context& context) {
  const bool classes = coding.task == Task::classification;
  std::vector<std::string> found;
  if (Y.rows < kWarnedRows)
    found.push_back(text("%ld rows are too few to choose by or to score", Y.rows));
  for (int64_t o = 0; o < Y.cols; ++o) {
    if (!column_is_constant(Y, o)) continue;
    found.push_back(classes ? text("every row is of class %g", Y(0, o))
                            : text("target %ld is %g in every row", o, Y(0, o)));
  }
  for (int64_t o = 0; o < Y.cols && !classes; ++o) {
    const double share = Y.rows < kWarnedRows ? 0 : share_of_farthest(Y, o);
    if (share > kMostOfFew)
      found.push_back(
          text("one row in a hundred makes %.0f %% of the variance of target %ld: R^2 depends on "
               "these few, and new rows may have a very different one",
               100 * share, o));
  }
  const bool compares =
      assessment.measure == Measure::accuracy || assessment.measure == Measure::r_squared;
  if (assessment.kind != AssessmentRows::none && compares && X.cols() > kMostLinearInputs)
    found.push_back(
        text("a linear model of %ld inputs was not compared, as it is of up to %ld: of texts and "
             "other sparse rows it is often better; map = linear fits one",
             X.cols(), kMostLinearInputs));
  const Repeats repeats = find_repeats(coding.task, X, Y, context);
  const int64_t repeated = repeats.rows;
  const bool refuted =
      !classes && assessment.kind != AssessmentRows::none && assessment.score > repeats.most;
  if (repeats.contradictory > 0 && repeats.most < kNearlyAll && !refuted)
    found.push_back(contradiction(coding.task, repeats));
  if (repeated > Y.rows / kFewRepeats)
    found.push_back(
        text("%ld of %ld rows repeat the inputs of others: if these are copies, "
             "scores of held-out rows are too good",
             repeated, Y.rows));
  if (X.visit([](const auto& rows) { return rows_are_equal(rows); }))
    found.emplace_back("all rows have the same inputs: there is nothing to predict from");
  if (classes) {
    const int64_t single = classes_of_one_row(coding.classes, Y);
    if (single > 0)
      found.push_back(text("%ld %s one row", single, single == 1 ? "class has" : "classes have"));
  }
  return found;
}

std::vector<std::string> choice_warnings(const FitReport& report, bool lengthscale_at_edge) {
  std::vector<std::string> found;
  if (report.criterion_rows < kFewScoredRows && report.criterion == ComparisonMethod::held_out)
    found.push_back(text("only %ld rows chose lengthscale and lambda", report.criterion_rows));
  if (lengthscale_at_edge && std::isfinite(report.lengthscale))
    found.push_back(text("lengthscale %.4g is at an edge of what was tried", report.lengthscale));
  return found;
}

// Of 30 fits of ten data sets, 240 rows and 2,048 features, the evidence's noise or lengthscale was
// more than 10 % from the exact process's in 9 of 17 above this share, in 1 of 13 below.
std::vector<std::string> evidence_warnings(double dimension, int64_t features) {
  if (!(dimension > kMostWarnedShare * static_cast<double>(features))) return {};
  return {
      text("the fit has %.0f effective degrees of freedom: the noise and lengthscales that the "
           "evidence chooses through %ld features may be far from the kernel's own, expected "
           "%.0f features or more",
           dimension, features, std::ceil(dimension / kMostWarnedShare))};
}

std::vector<std::string> score_warnings(const Parameters& own, Task task,
                                        const Assessment& assessment) {
  std::vector<std::string> found;
  if (assessment.kind == AssessmentRows::none) return found;
  if (assessment.rows < kFewScoredRows)
    found.push_back(text("the score is of only %ld rows", assessment.rows));
  warn_of_few_rows(assessment.balanced.classes, found);
  if (is_balanced(own)) {
    compare_balanced(assessment, found);
    return found;
  }
  warn_of_missed(assessment, found);
  const double off = std::abs(assessment.coverage - kInterval);
  if (off > kMostOff && off * off * static_cast<double>(assessment.rows) >
                            kIntervalErrors * kIntervalErrors * kInterval * (1 - kInterval))
    found.push_back(text("intervals of %.0f %% contain %.1f %% of the unseen targets",
                         100 * kInterval, 100 * assessment.coverage));
  if (assessment.score <= assessment.constant)
    found.push_back(text("%s %.4f does not beat the %s: %.4f", name_of(assessment.measure),
                         assessment.score,
                         task == Task::classification               ? "largest class"
                         : assessment.measure == Measure::r_squared ? "mean"
                                                                    : "best constant",
                         assessment.constant));
  if (!(assessment.score <= assessment.linear && assessment.score < kPerfect)) return found;
  if (assessment.linear - assessment.score > assessment.standard_error)
    found.push_back(
        text("%s %.4f does not beat a linear model: %.4f, more than the score's error "
             "above it",
             name_of(assessment.measure), assessment.score, assessment.linear));
  else
    found.push_back(
        text("%s %.4f cannot be told apart from that of a linear model, %.4f: the "
             "score's error is %.4f",
             name_of(assessment.measure), assessment.score, assessment.linear,
             assessment.standard_error));
  return found;
}

// A number is a code for missing (-999, 1e4) if it is the largest or smallest of its column, at
// least three rows have it (or fewer with most of the column's variance), there are ten other
// numbers, it is a whole number or written by nines (99.9), and its gap to the others exceeds their
// distance from the median and five interquartile ranges. Bounded measurements also pile up at the
// bound, but without a gap; 0 is never a code. In 29 public tables this names one column, capital
// gains that end in 99999 after 41310.

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

/// Whether people write this number for one that is missing, rather than measure it.
bool is_written(double x) {
  if (x == std::round(x)) return true;
  const std::string digits = text("%.6g", std::fabs(x));
  return digits.find_first_not_of("9.") == std::string::npos;
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
      if (end.last == 0 || end.next == -kInfinity || !is_written(end.last)) continue;
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
struct RankedSample {
  explicit RankedSample(std::vector<double> sample)
      : numbers(std::move(sample)), ranks(ranks_of(numbers)) {}
  std::vector<double> numbers, ranks;
};

bool nearly_equal(const RankedSample& x, const RankedSample& y, bool classes) {
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
  std::vector<RankedSample> targets;
  for (int64_t o = 0; o < Y.cols; ++o) {
    std::vector<double> sample = sample_of(Y, o);
    targets.emplace_back(misses(sample) ? std::vector<double>() : std::move(sample));
  }
  for (int64_t j = 0; j < X.cols; ++j) {
    std::vector<double> sample = sample_of(X, j);
    if (misses(sample)) continue;
    const RankedSample x(std::move(sample));
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
  if (task != Task::regression) return found;
  const std::vector<Ends> ends = ends_of(Y, context);
  warn_of_codes("target", Y, ends, found);
  if (Y.cols == 1 && ends[0].low.last == 0 && ends[0].high.last == 1 && ends[0].low.next == -1)
    found.push_back(
        "the target holds 0 and 1 alone and is fitted as a number: if these are two classes, ask "
        "for classification, which predicts probabilities");
  return found;
}

// Repeats are counted and reported; folds may separate them. Keeping copies of inputs and target in
// one fold would be right for rows sampled twice but wrong for discrete inputs: with 600 rows in 50
// cells and two random classes, a fold holds all of a cell's rows of one class and accuracy falls
// from .62, that of new rows, to .10; if targets are a function of the cell, R^2 falls from 1 to
// below 0.

namespace {

/// FNV-1a of a row's numbers; for sparse rows with their columns.
template <class View>
uint64_t hash_of(const View& X, int64_t i) {
  uint64_t hash = 14695981039346656037u;
  const auto mix = [&](uint64_t word) {
    for (int byte = 0; byte < 8; ++byte, word >>= 8) hash = (hash ^ (word & 0xff)) * 1099511628211u;
  };
  for_each_stored(X, i, [&](int64_t j, auto x) {
    mix(static_cast<uint64_t>(j));
    mix(std::bit_cast<uint64_t>(static_cast<double>(x)));
  });
  return hash;
}

/// Hashes and numbers of rows, sorted: rows of equal inputs are adjacent.
using Hashed = std::pair<uint64_t, int64_t>;

std::vector<Hashed> by_inputs(const Rows& X) {
  std::vector<Hashed> rows;
  rows.reserve(X.rows());
  X.visit([&](const auto& view) {
    for (int64_t i = 0; i < view.rows; ++i) rows.emplace_back(hash_of(view, i), i);
  });
  std::ranges::sort(rows);
  return rows;
}

bool targets_differ(MatrixView<const double> Y, std::span<const Hashed> group) {
  const double* first = Y.row(group[0].second);
  return std::ranges::any_of(group, [&](const Hashed& row) {
    return !std::equal(first, first + Y.cols, Y.row(row.second));
  });
}

/// The number of a group's rows outside its largest class.
double outvoted(MatrixView<const double> Y, std::span<const Hashed> group) {
  std::map<double, double> counts;
  double most = 0;
  for (const auto& [hash, i] : group) most = std::max(most, ++counts[Y(i, 0)]);
  return static_cast<double>(group.size()) - most;
}

/// Sum of squared deviations from the mean over the rows row(0), ..., row(count - 1).
template <class Row>
double squared_deviations(MatrixView<const double> Y, int64_t o, int64_t count, const Row& row) {
  const double first = Y(row(0), o);  // subtracted: exact for a constant
  double mean = 0, squares = 0;
  for (int64_t k = 0; k < count; ++k) mean += (Y(row(k), o) - first) / static_cast<double>(count);
  for (int64_t k = 0; k < count; ++k) squares += std::pow(Y(row(k), o) - first - mean, 2);
  return squares;
}

/// The pure error per output: squares within groups over rows minus groups.
struct PureError {
  std::vector<double> squares;
  double freedom = 0;

  void add(MatrixView<const double> Y, std::span<const Hashed> group) {
    freedom += static_cast<double>(group.size() - 1);
    for (int64_t o = 0; o < Y.cols; ++o)
      squares[o] +=
          squared_deviations(Y, o, std::ssize(group), [&](int64_t k) { return group[k].second; });
  }

  double most_explained(MatrixView<const double> Y) const {
    double sum = 0, varying = 0;
    for (int64_t o = 0; o < Y.cols; ++o) {
      const double all = squared_deviations(Y, o, Y.rows, [](int64_t k) { return k; });
      if (!(all > 0)) continue;
      const double noise = squares[o] / freedom;
      sum += std::max(0.0, 1 - noise / (all / static_cast<double>(Y.rows)));
      ++varying;
    }
    return varying > 0 ? sum / varying : 1;
  }
};

}  // namespace

Repeats find_repeats(Task task, const Rows& X, MatrixView<const double> Y, Context& context) {
  const auto charge = context.charge(checked_multiply(sizeof(Hashed), X.rows(), "hashes of rows"),
                                     "hashes of rows");
  const std::vector<Hashed> rows = by_inputs(X);
  const bool classes = task == Task::classification;
  Repeats found;
  PureError error{std::vector<double>(Y.cols, 0.0)};
  double wrong = 0;
  for (size_t i = 0, end = 0; i < rows.size(); i = end) {
    end = i + 1;
    while (end < rows.size() && rows[end].first == rows[i].first) ++end;
    if (end == i + 1) continue;
    const std::span group(rows.data() + i, end - i);
    found.rows += std::ssize(group) - 1;
    if (targets_differ(Y, group)) found.contradictory += std::ssize(group);
    if (classes) wrong += outvoted(Y, group);
    if (!classes) error.add(Y, group);
  }
  if (found.contradictory > 0)
    found.most = classes ? 1 - wrong / static_cast<double>(Y.rows) : error.most_explained(Y);
  return found;
}

namespace {

constexpr double kDeviations = 3.0902;

}  // namespace

bool are_larger(std::span<const double> losses, std::span<const double> others) {
  if (losses.size() < kLeastDriftRows || others.size() < kLeastDriftRows) return false;
  std::vector<std::pair<double, int>> all;
  for (const double loss : losses) all.emplace_back(loss, 1);
  for (const double loss : others) all.emplace_back(loss, 0);
  std::ranges::sort(all);
  const auto m = static_cast<double>(losses.size()), k = static_cast<double>(others.size());
  const double n = m + k;
  double ranks = 0, ties = 0;
  for (size_t first = 0; first < all.size();) {
    size_t end = first, own = 0;
    for (; end < all.size() && all[end].first == all[first].first; ++end)
      own += static_cast<size_t>(all[end].second);
    const auto tied = static_cast<double>(end - first);
    ranks += static_cast<double>(own) * (static_cast<double>(first + end) + 1) / 2;
    ties += tied * (tied * tied - 1);
    first = end;
  }
  const double excess = ranks - m * (n + 1) / 2;
  const double variance = m * k / 12 * (n + 1 - ties / (n * (n - 1)));
  return variance > 0 && excess > kDeviations * std::sqrt(variance);
}

}  // namespace mercer::model
