// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A seeded subsample. Standardising here rather than in the models lets kernel values be compared
// on the same inputs.
#include "subsample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "encoding.h"
#include "failure.h"
#include "filled_rows.h"
#include "memory.h"
#include "split.h"
#include "suspicious.h"

namespace mercer::cli {

namespace {

/// Of the numbers that a column of the fitted rows holds; missing ones do not count, as in the
/// library.
struct Spread {
  double mean = 0, scale = 1;
};

Spread spread_of(const Subsample& rows, int64_t j, bool centred) {
  const auto at = [&](int64_t i) { return rows.X.f64[static_cast<size_t>(i * rows.d + j)]; };
  double total = 0, mean = 0, square = 0;
  bool binary = true, negative = false;  // columns of 0 and 1 stay as they are
  for (int64_t i = 0; i < rows.train_rows; ++i) {
    const double x = at(i);
    if (std::isnan(x)) continue;
    total += rows.weight(i);
    mean += rows.weight(i) * x;
    binary = binary && (x == 0 || x == 1);
    negative = negative || x < 0;
  }
  if (binary) return {};
  mean = centred ? mean / total : 0;
  for (int64_t i = 0; i < rows.train_rows; ++i) {
    const double deviation = at(i) - mean;
    if (!std::isnan(deviation)) square += rows.weight(i) * deviation * deviation;
  }
  // A constant column keeps its scale; what is negative must not leave the domain.
  const double scale = square > 0 ? std::sqrt(square / total) : 1;
  return {mean, !centred && negative ? std::max(scale, 1.0) : scale};
}

void standardize_dense(Subsample* rows, bool centred) {
  for (int64_t j = 0; j < rows->d; ++j) {
    const Spread spread = spread_of(*rows, j, centred);
    for (int64_t i = 0; i < rows->train_rows + rows->test_rows; ++i) {
      double& x = rows->X.f64[static_cast<size_t>(i * rows->d + j)];
      x = (x - spread.mean) / spread.scale;
    }
  }
}

/// Of columns with `count` of n numbers listed, the rest 0.
struct Moments {
  explicit Moments(int64_t d)
      : count(d), mean(d), squares(d), largest(d), binary(d, 1), negative(d, 0) {}
  std::vector<double> count, mean, squares, largest;
  std::vector<char> binary, negative;
};

Moments listed_moments(const Numbers& X, int64_t rows, int64_t d) {
  Moments moments(d);
  const auto end = static_cast<size_t>(X.offsets[static_cast<size_t>(rows)]);
  for (size_t p = 0; p < end; ++p) {
    const auto j = static_cast<size_t>(X.indices[p]);
    const double x = X.f64[p];
    const double before = x - moments.mean[j];
    moments.count[j] += 1;
    moments.mean[j] += before / moments.count[j];
    moments.squares[j] += before * (x - moments.mean[j]);
    if (x != 0 && x != 1) moments.binary[j] = 0;
    if (x < 0) moments.negative[j] = 1;
    moments.largest[j] = std::max(moments.largest[j], std::abs(x));
  }
  return moments;
}

// As in the library: the root mean square distance of the k of n numbers that are listed, of mean m
// and squares S about it, from the mean of all, m k/n, or, where rows would not be centred, from 0.
// A column where it is rounding keeps its scale, and so does one of 0 and 1; what is negative must
// not leave the domain.
void standardize_sparse(Subsample* rows, bool centred) {
  const auto n = static_cast<double>(rows->train_rows);
  const Moments moments = listed_moments(rows->X, rows->train_rows, rows->d);
  std::vector<double> scale(static_cast<size_t>(rows->d), 1.0);
  for (size_t j = 0; j < scale.size(); ++j) {
    const double share = moments.count[j] / n;
    const double m = moments.mean[j];
    const double rest = centred ? m * (1 - share) : m;
    const double deviation =
        moments.count[j] > 0 ? std::sqrt(moments.squares[j] / moments.count[j] + rest * rest) : 0;
    if (moments.binary[j] == 0 && deviation > 1e-14 * moments.largest[j]) scale[j] = deviation;
    if (!centred && moments.negative[j] != 0) scale[j] = std::max(scale[j], 1.0);
  }
  for (size_t p = 0; p < rows->X.f64.size(); ++p)
    rows->X.f64[p] /= scale[static_cast<size_t>(rows->X.indices[p])];
}

/// Least and largest numbers of the columns over the rows that are fitted on.
struct Bounds {
  explicit Bounds(int64_t d) : least(d, kNone), largest(d, -kNone) {}
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<double> least, largest;
  void add(int64_t j, double x) {
    least[static_cast<size_t>(j)] = std::min(least[static_cast<size_t>(j)], x);
    largest[static_cast<size_t>(j)] = std::max(largest[static_cast<size_t>(j)], x);
  }
  void clip(int64_t j, double* x) const {
    *x = std::min(std::max(*x, least[static_cast<size_t>(j)]), largest[static_cast<size_t>(j)]);
  }
};

void clip_dense(Subsample* rows) {
  Bounds bounds(rows->d);
  double* x = rows->X.f64.data();
  for (int64_t k = 0; k < rows->train_rows * rows->d; ++k) bounds.add(k % rows->d, *x++);
  for (int64_t k = 0; k < rows->test_rows * rows->d; ++k) bounds.clip(k % rows->d, x++);
}

// What is not listed is 0, in every column.
void clip_sparse(Subsample* rows) {
  Bounds bounds(rows->d);
  for (int64_t j = 0; j < rows->d; ++j) bounds.add(j, 0);
  const auto end = static_cast<size_t>(rows->X.offsets[static_cast<size_t>(rows->train_rows)]);
  for (size_t p = 0; p < rows->X.f64.size(); ++p) {
    if (p < end) {
      bounds.add(rows->X.indices[p], rows->X.f64[p]);
    } else {
      bounds.clip(rows->X.indices[p], &rows->X.f64[p]);
    }
  }
}

Numbers in_double(const Numbers& X, int64_t rows, int64_t d) {
  Numbers taken;
  taken.sparse = X.sparse;
  int64_t count = rows * d;
  if (X.sparse) {
    count = X.offsets[static_cast<size_t>(rows)];
    std::copy_n(X.offsets.data(), rows + 1, taken.offsets.extend(static_cast<size_t>(rows + 1)));
    std::copy_n(X.indices.data(), count, taken.indices.extend(static_cast<size_t>(count)));
  }
  double* out = taken.f64.extend(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) out[k] = X.at(k);
  return taken;
}

/// Balanced: rows of class k are weighed by n / (K n_k) more, as in the library.
std::vector<double> fitting_weights(const Subsample& rows, bool balanced) {
  std::vector<double> weights;
  if (!balanced && rows.weights.empty()) return weights;
  for (int64_t i = 0; i < rows.train_rows; ++i) weights.push_back(rows.weight(i));
  if (!balanced) return weights;
  std::map<double, double> of_class;
  double total = 0;
  for (int64_t i = 0; i < rows.train_rows; ++i) {
    of_class[rows.Y[static_cast<size_t>(i)]] += rows.weight(i);
    total += rows.weight(i);
  }
  const auto classes = static_cast<double>(of_class.size());
  for (size_t i = 0; i < weights.size(); ++i) weights[i] *= total / (classes * of_class[rows.Y[i]]);
  return weights;
}

/// Of the encoded inputs; of a file without a header the numbers of its columns, from 1.
std::vector<std::string> column_names(const TrainingSet& set) {
  const std::vector<Encoding>& encodings = set.metadata.encodings;
  std::vector<std::string> names = set.metadata.inputs;
  const int64_t inputs = set.data.d - encoded_inputs(0, encodings);
  for (int64_t j = std::ssize(names); j < inputs; ++j)
    names.push_back(std::to_string(column_of(set.data, j)));
  return encoded_names(names, encodings);
}

/// How many rows are fitted and held out, without them.
Subsample sized(const TrainingSet& set, int64_t wanted) {
  const Dataset& data = set.data;
  if (data.n < 5) {
    const char* what = data.weights.empty() ? "row" : "weighted row";
    fail_at(data.name, 0, 0, counted(data.n, what) + ", expected at least 5 to compare on");
  }
  Subsample out;
  out.train_rows = std::min(wanted, data.n - data.n / 5);
  out.test_rows = std::min(data.n - out.train_rows, std::max<int64_t>(1, wanted / 2));
  out.d = data.d;
  out.m = data.m;
  out.K = set.K;
  const auto n = static_cast<double>(out.train_rows);
  require_memory("--rows: the kernel matrix of " + std::to_string(out.train_rows) + " rows",
                 8 * n * n);
  return out;
}

}  // namespace

Subsample draw_subsample(TrainingSet&& set, const CompareRequest& request, bool centred) {
  Dataset& data = set.data;
  Subsample out = sized(set, request.rows);
  shuffle_rows(&data, request.learn.seed);
  const int64_t used = out.train_rows + out.test_rows;
  out.X = in_double(data.X, used, data.d);
  for (int64_t i = 0; i < used * data.m; ++i) out.Y.push_back(data.Y[static_cast<size_t>(i)]);
  if (!data.weights.empty()) out.weights.assign(data.weights.begin(), data.weights.begin() + used);
  out.fit_weights = fitting_weights(out, request.learn.class_weight == "balanced");
  if (set.standardize && out.X.sparse) standardize_sparse(&out, centred);
  if (set.standardize && !out.X.sparse) standardize_dense(&out, centred);
  const std::string& missing = request.learn.preparation.missing;
  if (missing != "refuse" && !out.X.sparse)
    fill_missing(&out, missing == "flag", column_names(set));
  if (out.X.sparse) {
    clip_sparse(&out);
  } else {
    clip_dense(&out);
  }
  return out;
}

}  // namespace mercer::cli
