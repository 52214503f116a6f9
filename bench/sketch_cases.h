// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the cases of the sketches' benchmark are made of: kinds, maps with rows to map, and medians
// of alternating runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "feature/sketch.h"
#include "kernel/kernel.h"
#include "sparse_rows.h"

namespace mercer::bench {

using feature::Composition;
using feature::FeatureMap;
using feature::SketchField;
using projection::sketch_kind;
using projection::SketchKind;

struct Kind {
  const char* name;
  const SketchKind* kind;
  Composition composition = Composition::plain;
};
inline const Kind kTensorSketch{"tensor_sketch", sketch_kind("tensor_sketch")};
inline const Kind kUpsampled{"upsampled", sketch_kind("upsampled")};
inline const Kind kKinds[] = {{"rademacher", sketch_kind("rademacher")},
                              {"gaussian", sketch_kind("gaussian")},
                              kTensorSketch,
                              kUpsampled,
                              {"stacked", sketch_kind("stacked")},
                              {"tuple", sketch_kind("tuple")},
                              {"hierarchical", sketch_kind("upsampled"), Composition::hierarchical},
                              {"craft", sketch_kind("upsampled"), Composition::craft}};
inline constexpr std::pair<const char*, SketchField> kFields[] = {
    {"real", SketchField::real},
    {"complex", SketchField::complex},
    {"complex_to_real", SketchField::complex_to_real}};

struct Shape {
  int64_t d, D, p;
  double offset = 0;
};

inline std::unique_ptr<FeatureMap> make(const Kind& kind, SketchField field, const Shape& shape) {
  return feature::make_sketch(
      *kernel::make_kernel(
          {{"kernel", "polynomial"}, {"degree", int64_t{shape.p}}, {"offset", shape.offset}}),
      shape.d, shape.D,
      {.kind = kind.kind, .field = field, .composition = kind.composition, .seed = 1});
}

inline Matrix<float> unit_rows(int64_t n, int64_t d) {
  Matrix<float> X = made_dense(random_rows(n, d, d).view());
  for (int64_t i = 0; i < n; ++i) {
    float norm = 0;
    for (int64_t k = 0; k < d; ++k) norm += X(i, k) * X(i, k);
    for (int64_t k = 0; k < d; ++k) X(i, k) /= std::sqrt(norm);
  }
  return X;
}

// Rows whose features have about 2^22 numbers.
inline int64_t row_count(int64_t D) {
  return std::clamp<int64_t>((int64_t{1} << 22) / D, 64, 2048);
}

/// A map with rows to map; run() maps them.
class Job {
 public:
  Job(std::unique_ptr<FeatureMap> map, int64_t n)
      : map_(std::move(map)), X_(unit_rows(n, map_->inputs())), Z_(n, map_->row_length()) {
    context_.threads = 2;
    run();
  }
  void run() {
    map_->apply(MatrixView<const float>(X_.view()), {0, map_->features()}, context_, Z_.view());
  }
  int64_t rows() const { return X_.rows(); }

  // By Chebyshev's inequality a right sketch fails for a row with probability below 1/100.
  bool estimates_kernel(int64_t rows) const {
    for (int64_t i = 0; i < rows; ++i) {
      std::vector<double> x(X_.view().row(i), X_.view().row(i) + X_.cols());
      const MatrixView<const double> one{x.data(), 1, X_.cols(), X_.cols()};
      double variance = 0, norm = 0;
      map_->variance(one, one, {&variance, 1});
      for (int64_t j = 0; j < Z_.cols(); ++j)
        norm += static_cast<double>(Z_(i, j)) * static_cast<double>(Z_(i, j));
      const double error = norm - map_->kernel().value(X_.cols(), x.data(), x.data());
      if (!(std::fabs(error) <= 10 * std::sqrt(variance) + 1e-3)) return false;
    }
    return true;
  }

 private:
  std::unique_ptr<FeatureMap> map_;
  Matrix<float> X_, Z_;
  Context context_;
};

inline double seconds_of(const auto& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The median time of each call over `runs` rounds.
inline std::vector<double> medians(int runs, const std::vector<std::function<void()>>& calls) {
  std::vector<std::vector<double>> times(calls.size());
  for (int run = 0; run < runs; ++run) {
    for (size_t c = 0; c < calls.size(); ++c) times[c].push_back(seconds_of(calls[c]));
  }
  std::vector<double> result;
  for (auto& each : times) {
    std::nth_element(each.begin(), each.begin() + runs / 2, each.end());
    result.push_back(each[static_cast<size_t>(runs) / 2]);
  }
  return result;
}

}  // namespace mercer::bench
