// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What targets are, how inputs and targets are prepared before the map (what is asked, and what the
// rows decided), with the parts of a preparation: quantiles of columns, hashing, marginal
// transforms.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/options.h"
#include "base/views.h"
#include "random/stream.h"
#include "solver/block_source.h"

namespace mercer::model {

// Quantiles of columns from a sample of rows, or from all rows while they are few.

/// One column of the sample: ascending numbers with cumulated weights.
class SortedColumn {
 public:
  SortedColumn(std::vector<double> numbers, std::vector<double> cumulated)
      : numbers_(std::move(numbers)), cumulated_(std::move(cumulated)) {}
  /// NaN if the column is empty.
  double quantile(double p) const;
  /// The weight of all numbers <= x.
  double weight_up_to(double x) const;
  double weight() const noexcept { return cumulated_.empty() ? 0.0 : cumulated_.back(); }
  bool empty() const noexcept { return numbers_.empty(); }
  /// body(number, weight), ascending.
  template <class Body>
  void for_each(const Body& body) const {
    double before = 0;
    for (size_t k = 0; k < numbers_.size(); ++k) {
      body(numbers_[k], cumulated_[k] - before);
      before = cumulated_[k];
    }
  }

 private:
  std::vector<double> numbers_, cumulated_;
};

/// A row is kept or not by a hash of seed and row number, so that the sample does not depend on the
/// blocks. Rows of weight 0 and NaN are ignored.
class ColumnSample {
 public:
  /// The context is kept, and charged with the sample and its sorted columns.
  ColumnSample(int64_t columns, uint64_t seed, Context& context);
  /// Adds the next rows, weighted or not.
  void add(const Rows& block, std::span<const double> weights = {});
  /// True: every row of positive weight is in the sample, and quantiles are exact.
  bool complete() const noexcept { return level_ == 0; }
  /// How many rows each row of the sample stands for.
  double share() const noexcept { return std::ldexp(1.0, level_); }
  /// Writes or reads all of it.
  void keep(StateBytes& state);
  /// Calls body(column, sorted) for the columns in order. The p-quantile is the smallest number x
  /// such that numbers <= x have at least the share p of the weight.
  template <class Body>
  void for_each_column(const Body& body) const {
    const ByColumn all = by_column();
    const double total = total_weight();
    int64_t begin = 0;
    for (int64_t j = 0; j < columns_; ++j) {
      const int64_t end = all.ends[j];
      body(j, sorted({all.numbers.data() + begin, static_cast<size_t>(end - begin)}, total));
      begin = end;
    }
  }

 private:
  struct SampledRow {
    int64_t number;
    double weight;
    int64_t entries;  // end of its entries
  };
  struct Entry {
    int64_t column;
    double number;
  };
  struct WeightedNumber {
    double number, weight;
    bool operator<(const WeightedNumber& other) const noexcept {
      return number < other.number || (number == other.number && weight < other.weight);
    }
  };
  struct ByColumn {
    AlignedBuffer<int64_t> ends;
    AlignedBuffer<WeightedNumber> numbers;
  };
  bool keeps(int64_t row) const noexcept;
  void thin_out();
  double total_weight() const noexcept;
  void reserve(const Rows& block);
  ByColumn by_column() const;
  SortedColumn sorted(std::span<const WeightedNumber> entries, double total) const;

  int64_t columns_;
  uint64_t seed_;
  bool sparse_ = false;  // numbers that are not stored are 0
  int level_ = 0;        // a row is kept with probability 2^-level
  int64_t rows_ = 0;
  Context* context_;
  GrowingBuffer<SampledRow> sample_;
  GrowingBuffer<Entry> entries_;
};

// Order statistics of numbers spread over several processes, by sums alone.

/// The weight of this process's numbers of question q that are <= x; ascends with x.
using WeightUpTo = std::function<double(std::size_t q, double x)>;

/// For every question q the smallest number x such that the weights of all numbers <= x, over all
/// processes, sum to at least wanted[q]. wanted is the same in all processes and at most the total
/// weight; 0: -infinity. Minimum: weight 1 for the least number of each process, wanted 1. Maximum:
/// wanted is the number of processes with a number.
std::vector<double> shared_order(std::span<const double> wanted, const WeightUpTo& weight_up_to,
                                 solver::Reduction& reduction, Context& context);

// The task: what targets are.

enum class Task { regression, classification };
inline constexpr const char* kTasks[] = {"regression", "classification"};

/// Where the targets of a fit come from: the caller, nowhere, or the rows' prepared inputs.
enum class Targets { given, none, inputs };

struct TargetOptions {
  Task task = Task::regression;
  int64_t classes = 0;  // classification: K >= 2; Y then holds one column of class numbers 0..K-1
  Targets targets = Targets::given;  // set by a fit; without `given` there is no Y
};

// Feature hashing of wide sparse rows: prepared input j is added, times a random sign, to one of
// few buckets. Squared distances are unbiased; their relative deviation is at most sqrt(2/buckets)
// if no input outweighs the others. Without hashing a map would store frequencies for every input.
// Source: Weinberger, Dasgupta, Langford, Smola, Attenberg 2009 (hashing trick, with signs).

struct FeatureHash {
  int64_t inputs = 0;   // original ones
  int64_t buckets = 0;  // a power of two; 0: no hashing
  uint64_t seed = 0;

  struct Place {
    int64_t bucket;
    double sign;
  };
  Place of(int64_t prepared) const noexcept {
    // Distinct from the streams of sketches, which count from 0.
    constexpr uint64_t kStream = uint64_t{1} << 47;
    const random::Words words =
        random::Stream(seed, random::Tag::hash, kStream).block(static_cast<uint64_t>(prepared));
    return {static_cast<int64_t>(words[0]) & (buckets - 1), (words[1] & 1) != 0 ? 1.0 : -1.0};
  }
};

/// A fit hashes sparse rows wider than this to kHashBuckets, for an isotropic kernel or one of inner
/// products, whose projection is not given.
inline constexpr int64_t kMostPlainInputs = int64_t{1} << 15;
inline constexpr int64_t kHashBuckets = int64_t{1} << 14;

// Marginal transforms: monotone functions that remove the skew of a column.

/// automatic: a search chooses; of options alone, and none without a search.
enum class Transform { none, log, rank, automatic };
inline constexpr const char* kTransforms[] = {"none", "log", "rank", "auto"};
inline const char* word_of(Transform transform) { return kTransforms[static_cast<int>(transform)]; }

/// none: x. log: sign(x) log(1 + |x|/s), knots {s}, s > 0. rank: the normal quantile of x's rank,
/// interpolated between kRankKnots quantiles of the training rows at about (k + 1/2)/kRankKnots,
/// themselves interpolated, and constant beyond; equal knots map to their middle.
struct Curve {
  Transform kind = Transform::none;
  std::vector<double> knots;

  double operator()(double x) const noexcept;
  /// The inverse function: a mean of transformed numbers becomes about a median.
  double inverse(double t) const noexcept;
};

inline constexpr size_t kRankKnots = 256;

/// Fits a curve to a column. log: s is the median of |x| over non-zeros, none if all are 0.
Curve make_curve(Transform kind, const SortedColumn& column);
/// |skewness| > 1: mean cubed deviation over the cube of the standard deviation.
bool is_skewed(const SortedColumn& column);

/// The number of knots of this kind of curve.
size_t knot_count(Transform kind) noexcept;
/// INVALID_ARGUMENT unless there are knot_count(kind) knots, finite, ascending, s > 0.
void check_curve(const Curve& curve, const char* what);

// Options of how inputs and targets are prepared. Fitting them to rows gives a Preparation.

/// How inputs are standardised. standard: mean and standard deviation. robust: median and half the
/// interquartile range over 0.6745. center: mean alone. common: mean, and one scale for all inputs,
/// the root of their mean variance, which preserves divergence and curl. Inputs of 0 and 1 alone
/// are left as they are, except by common.
enum class Scale { standard, robust, center, common };
inline constexpr const char* kScales[] = {"standard", "robust", "center", "common"};
inline const char* word_of(Scale scale) { return kScales[static_cast<int>(scale)]; }
/// NaN inputs are refused; filled with the column's median; or filled and flagged: each input with
/// missing numbers in training gets one more prepared input, 1 where it was filled.
enum class Missing { refuse, fill, flag };
inline constexpr const char* kMissingWords[] = {"refuse", "fill", "flag"};
/// What is done with an input of a prediction that is outside the range of training.
enum class Extrapolation { clip, free, refuse };
inline constexpr const char* kExtrapolations[] = {"clip", "free", "refuse"};

struct PreparationOptions {
  bool standardize = true;
  Scale scale = Scale::standard;  // how, where standardize is true
  Missing missing = Missing::refuse;
  Transform transform = Transform::none;              // log: of skewed inputs; rank: of all
  Transform target_transform = Transform::none;       // of a regression
  bool unit_rows = false;                             // prepared rows of norm 1
  Extrapolation extrapolation = Extrapolation::clip;  // the default of predictions
  int64_t buckets = 0;                                // > 0: sparse rows are hashed
};
OptionTable<PreparationOptions> preparation_options();

// The fitted preparation of inputs before the map, and of targets before the fit.

/// In order: NaN becomes fill_j; input j becomes (curve_j(x_j) - mean_j)/scale_j; flags are
/// appended after the inputs; rows are scaled to row_norm, if > 0; inputs are hashed, if there are
/// buckets. An empty vector leaves out its step.
struct Preparation {
  std::vector<double> mean = {};      // of prepared inputs
  std::vector<double> scale = {};     // of prepared inputs
  std::vector<double> fill = {};      // of inputs
  std::vector<int64_t> flagged = {};  // inputs with a flag, ascending
  std::vector<Curve> curves = {};     // of inputs
  std::vector<Curve> targets = {};    // regression targets
  double row_norm = 0;
  FeatureHash hashing = {};

  /// Whether an input of 0 can become non-zero, so that sparse rows would not stay sparse.
  bool centers() const noexcept;
  /// Whether differences of prepared rows are differences of inputs divided by scale.
  bool is_affine() const noexcept {
    return fill.empty() && curves.empty() && row_norm == 0 && hashing.buckets == 0;
  }
  /// The number of inputs and flags, before hashing: the length of mean and scale.
  int64_t flagged_inputs(int64_t inputs) const noexcept { return inputs + std::ssize(flagged); }
  /// The number of inputs of the map.
  int64_t prepared(int64_t inputs) const noexcept {
    return hashing.buckets > 0 ? hashing.buckets : flagged_inputs(inputs);
  }
  /// The number of original inputs of a model whose map has `of_map`.
  int64_t inputs_of(int64_t of_map) const noexcept {
    return hashing.buckets > 0 ? hashing.inputs : of_map - std::ssize(flagged);
  }
  /// The preparation with prepared inputs divided by `lengthscale`.
  Preparation divided_by(double lengthscale, int64_t inputs) const;
  /// Undoes the preparation of inputs, in place; requires no flags, row norms or buckets.
  void restore_inputs(MatrixView<double> prepared) const noexcept;
  /// Undoes the transform of targets in predictions, in place.
  void restore_targets(MatrixView<double> scores) const noexcept;
};

}  // namespace mercer::model
