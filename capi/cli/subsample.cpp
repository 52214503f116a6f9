// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A seeded subsample. Standardising here rather than in the models lets kernel values be compared
// on the same inputs.
#include "subsample.h"

#include <algorithm>
#include <cmath>

#include "split.h"

namespace mercer::cli {

namespace {

void standardize(Subsample* rows) {
  const int64_t d = rows->d;
  const int64_t n = rows->train_rows;
  for (int64_t j = 0; j < d; ++j) {
    double mean = 0;
    for (int64_t i = 0; i < n; ++i) mean += rows->X[static_cast<size_t>(i * d + j)];
    mean /= static_cast<double>(n);
    double square = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double deviation = rows->X[static_cast<size_t>(i * d + j)] - mean;
      square += deviation * deviation;
    }
    // A constant column keeps its scale.
    const double scale = square > 0 ? std::sqrt(square / static_cast<double>(n)) : 1;
    for (int64_t i = 0; i < n + rows->test_rows; ++i) {
      double& x = rows->X[static_cast<size_t>(i * d + j)];
      x = (x - mean) / scale;
    }
  }
}

}  // namespace

Subsample draw_subsample(TrainingSet&& set, int64_t rows, uint64_t seed) {
  Dataset& data = set.data;
  if (data.n < 5)
    fail_at(data.name, 0, 0, std::to_string(data.n) + " rows, expected at least 5 to compare on");
  shuffle_rows(&data, seed);
  Subsample out;
  out.train_rows = std::min(rows, data.n - data.n / 5);
  out.test_rows = std::min(data.n - out.train_rows, std::max<int64_t>(1, rows / 2));
  out.d = data.d;
  out.m = data.m;
  out.K = set.K;
  const int64_t used = out.train_rows + out.test_rows;
  for (int64_t i = 0; i < used * data.d; ++i) out.X.push_back(data.X.at(i));
  for (int64_t i = 0; i < used * data.m; ++i) out.Y.push_back(data.Y[static_cast<size_t>(i)]);
  if (set.standardize) standardize(&out);
  return out;
}

}  // namespace mercer::cli
