// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The library gives no prepared rows away, which the kernel's own values are of.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fitting.h"
#include "scoring.h"

namespace mercer::cli {
namespace {

constexpr int64_t kKernelRows = 300;  // whose Gram matrices are compared

/// Of the numbers that a column lists in the rows fitted on.
struct Moments {
  double weight = 0, mean = 0, squares = 0;
  bool binary = true, negative = false;

  void add(double x, double w) {
    if (std::isnan(x)) return;
    const double before = x - mean;
    weight += w;
    mean += before * w / weight;
    squares += w * before * (x - mean);
    binary = binary && (x == 0 || x == 1);
    negative = negative || x < 0;
  }
  /// The root mean square distance of all, those not listed 0, from their mean, or, where they are
  /// not centred, from 0; what is negative must not leave the kernel's domain then.
  double scale(double all, bool centred) const {
    if (binary || !(weight > 0)) return 1;
    const double rest = centred ? mean * (1 - weight / all) : mean;
    const double deviation = std::sqrt(squares / weight + rest * rest);
    if (!(deviation > 1e-14 * std::abs(mean))) return 1;
    return !centred && negative ? std::max(deviation, 1.0) : deviation;
  }
};

/// call(column, number, place) for what row i lists.
template <class Call>
void each(const Numbers& X, int64_t d, int64_t i, Call&& call) {
  const auto row = static_cast<size_t>(i);
  const int64_t begin = X.sparse ? X.offsets[row] : i * d;
  const int64_t end = X.sparse ? X.offsets[row + 1] : begin + d;
  for (int64_t p = begin; p < end; ++p)
    call(X.sparse ? X.indices[p] : p - begin, X.at(p), static_cast<size_t>(p));
}

/// False for a kernel of bounded inputs, which are then not centred.
bool takes_any(const Kernel& kernel, int64_t d) {
  const std::vector<double> row(d, -1e9);
  const Rows X(MatrixView<const double>(row.data(), 1, d));
  Matrix<double> value(1, 1);
  kernel.gram(X, X, value);
  return !std::isnan(value(0, 0));
}

bool lacks(const Dataset& data, int64_t i) {
  const double* const row = data.X.values.data() + (data.X.sparse ? 0 : i * data.d);
  return !data.X.sparse && std::any_of(row, row + data.d, [](double x) { return std::isnan(x); });
}

void standardize(const Dataset& data, int64_t n, bool centred, Numbers* rows) {
  std::vector<Moments> moments(data.d);
  double all = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double weight = data.weights.empty() ? 1 : data.weights[i];
    all += weight;
    each(data.X, data.d, i, [&](int64_t j, double x, size_t) { moments[j].add(x, weight); });
  }
  const int64_t count =
      rows->sparse ? std::ssize(rows->offsets) - 1 : std::ssize(rows->values) / data.d;
  for (int64_t i = 0; i < count; ++i)
    each(*rows, data.d, i, [&](int64_t j, double x, size_t place) {
      const Moments& of = moments[j];
      const bool moved = centred && !rows->sparse && !of.binary;
      const double seen = rows->sparse ? all : of.weight;
      rows->values[place] = (x - (moved ? of.mean : 0)) / of.scale(seen, centred);
    });
}

}  // namespace

double kernel_error(const Map& map, const TrainingSet& set, int64_t n, int64_t held_out,
                    Session& session) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const Dataset& data = set.data;
  std::vector<int64_t> order;
  for (int64_t i = n; i < n + held_out && std::ssize(order) < kKernelRows; ++i)
    if (!lacks(data, i)) order.push_back(i);
  const int64_t inputs = map.inputs();
  if (order.empty() || inputs < data.d) return kNone;
  try {
    Numbers rows = rows_in_order(data.X, data.d, order);
    if (set.standardize) standardize(data, n, takes_any(map.kernel(), inputs), &rows);
    Matrix<double> wide(std::ssize(order), rows.sparse ? 0 : inputs);
    std::fill_n(wide.view().data, wide.rows() * wide.cols(), 0.0);  // flags of missing inputs are 0
    for (int64_t k = 0; !rows.sparse && k < std::ssize(rows.values); ++k)
      wide(k / data.d, k % data.d) = rows.at(k);
    return map.kernel_error(rows.sparse ? rows_of(rows, 0, std::ssize(order), inputs) : Rows(wide),
                            MERCER_KERNEL_ERROR_MEASURED, session.context());
  } catch (const Error& error) {
    if (error.status() != MERCER_INVALID_ARGUMENT && error.status() != MERCER_UNSUPPORTED) throw;
    return kNone;
  }
}

}  // namespace mercer::cli
