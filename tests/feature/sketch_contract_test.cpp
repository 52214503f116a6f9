// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Mean and variance of every polynomial sketch against kernel and closed form: every kind, field
// and composition; degrees 1 to 6; D below, equal to, above and not a multiple of the padded d;
// non-negative and centred rows.
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "feature/sketch.h"
#include "kernel/kernel.h"
#include "random/distributions.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/statistic.h"

using namespace mercer;
using namespace mercer::feature;
using projection::sketch_kind;
using projection::SketchKind;

namespace {

constexpr int64_t kInputs = 5;  // 8 when padded, with or without an offset
constexpr double kMostMeanScore = 4.5;
constexpr double kMostVarianceScore = 5;

struct Kind {
  const char* name;
  const SketchKind* kind;
};
const Kind kKinds[] = {{"rademacher", sketch_kind("rademacher")},
                       {"gaussian", sketch_kind("gaussian")},
                       {"tensor_sketch", sketch_kind("tensor_sketch")},
                       {"upsampled", sketch_kind("upsampled")},
                       {"stacked", sketch_kind("stacked")},
                       {"tuple", sketch_kind("tuple")}};
constexpr const char* kFieldNames[] = {"real", "complex", "complex_to_real"};
const SketchField kFields[] = {SketchField::real, SketchField::complex,
                               SketchField::complex_to_real};

// The last coordinate stands out, the more the higher the degree: products of many factors have
// tails that would otherwise need far more repetitions.
Matrix<double> rows_for(int64_t p, bool centred) {
  const auto degree = static_cast<double>(p);
  Matrix<double> X(2, kInputs);
  random::fill_uniform(random::Stream(static_cast<uint64_t>(100 + p), random::Tag::generated, 0), 0,
                       std::span(X.data(), static_cast<size_t>(2 * kInputs)));
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t k = 0; k < kInputs; ++k)
      X(i, k) = (centred ? 2 * X(i, k) - 1 : X(i, k)) * 0.7 / degree;
    X(i, i) += 0.5 / degree;
    X(i, 4) += 1;
  }
  return X;
}

std::complex<double> estimate(const FeatureMap& map, const Matrix<double>& X) {
  const Matrix<double> Z(2, map.row_length());
  Context context;
  context.threads = 1;
  map.apply(MatrixView<const double>(X.view()), {0, map.features()}, context, Z.view());
  double real = 0, imaginary = 0;
  for (int64_t j = 0; j < Z.cols(); ++j) real += Z(0, j) * Z(1, j);
  for (int64_t j = 0; map.is_complex() && j < Z.cols(); j += 2)
    imaginary += Z(0, j + 1) * Z(1, j) - Z(0, j) * Z(1, j + 1);
  return {real, imaginary};
}

// Standard error of the mean over the mean.
double relative_error(const std::vector<double>& sample) {
  double sum = 0;
  for (const double x : sample) sum += x;
  const double mean = sum / static_cast<double>(sample.size());
  return mean / test::studentised_z_score(sample, 0) / mean;
}

class Cell {
 public:
  Cell(const kernel::Kernel& kernel, const SketchOptions& options, int64_t columns,
       const Matrix<double>& X)
      : kernel_(kernel),
        options_(options),
        columns_(options.field == SketchField::complex_to_real ? 2 * columns : columns),
        X_(X),
        k_(kernel.value(kInputs, X.view().row(0), X.view().row(1))) {
    const MatrixView<const double> rows = X.view();
    const auto map = make();
    map->variance(rows.block_rows(0, 1), rows.block_rows(1, 2), std::span(&variance_, 1));
    map->pseudo_variance(rows.block_rows(0, 1), rows.block_rows(1, 2), std::span(&pseudo_, 1));
  }

  /// Until the variance is known to `sharpness`, if that is not 0.
  void sample(int64_t repetitions, double sharpness) {
    extend(repetitions);
    for (int round = 0; round < 4 && sharpness > 0 && !is_exact(); ++round) {
      const double wanted = std::pow(relative_error(deviation_) / sharpness, 2);
      if (wanted <= 1) return;
      extend(static_cast<int64_t>(1.1 * wanted * static_cast<double>(real_.size())));
    }
  }

  void check(bool with_variance) const {
    if (is_exact()) {
      double worst = 0;
      for (const double one : real_) worst = std::max(worst, std::fabs(one - k_));
      CHECK(worst <= 1e-6 * std::fabs(k_));
      return;
    }
    CHECK(std::fabs(test::mean_z_score(real_, k_, variance_)) <= kMostMeanScore);
    if (!with_variance) return;
    CHECK(std::fabs(test::studentised_z_score(deviation_, variance_)) <= kMostVarianceScore);
    if (options_.field != SketchField::complex) {
      CHECK(pseudo_ == variance_);
    } else {
      CHECK(std::fabs(test::studentised_z_score(squared_, pseudo_)) <= kMostVarianceScore);
    }
  }

  double sharpness() const { return is_exact() ? 0 : relative_error(deviation_); }

 private:
  std::unique_ptr<FeatureMap> make() const {
    return make_sketch(kernel_, kInputs, columns_, options_);
  }
  void extend(int64_t repetitions) {
    for (int64_t r = static_cast<int64_t>(real_.size()); r < repetitions; ++r) {
      options_.seed = static_cast<uint64_t>(7000 + r);
      const auto at = estimate(*make(), X_);
      const double deviation = at.real() - k_;
      real_.push_back(at.real());
      deviation_.push_back(deviation * deviation);
      squared_.push_back(deviation * deviation - at.imag() * at.imag());
    }
  }

  // Exact sketches have to hit the kernel, to the rounding of their variance.
  bool is_exact() const { return variance_ < 1e-13 * k_ * k_; }

  const kernel::Kernel& kernel_;
  SketchOptions options_;
  int64_t columns_;
  const Matrix<double>& X_;
  double k_;
  double variance_ = 0, pseudo_ = 0;
  std::vector<double> real_, deviation_, squared_;
};

// The eighth moments of Gaussian products leave a sample variance without meaning from degree 4 on;
// their columns are compared with products of their factors elsewhere.
bool has_tame_tails(const SketchKind* mixing, int64_t p) {
  return mixing != sketch_kind("gaussian") || p <= 2;
}

// A build without FFTW has no TensorSketch.
bool exists(const SketchKind* mixing) {
  SketchOptions options;
  options.kind = mixing;
  try {
    make_sketch(*kernel::make_polynomial(2, 1, 0, 1), 2, 2, options);
  } catch (const Error& error) {
    REQUIRE(mixing == sketch_kind("tensor_sketch"));
    REQUIRE(error.status() == MERCER_UNSUPPORTED);
    return false;
  }
  return true;
}

void check_kinds(const std::vector<int64_t>& degrees, const std::vector<int64_t>& sizes,
                 int64_t repetitions, double sharpness) {
  for (const Kind& kind : kKinds) {
    if (!exists(kind.kind)) continue;
    for (const SketchField field : kFields) {
      for (const int64_t p : degrees) {
        for (const bool centred : {false, true}) {
          const auto kernel = kernel::make_polynomial(p, 0.8, centred ? 0.3 : 0.0, 1.5);
          const Matrix<double> X = rows_for(p, centred);
          for (const int64_t D : sizes) {
            if (kind.kind == sketch_kind("tuple") && p == 1 && D > 8) continue;  // refused
            SketchOptions options;
            options.kind = kind.kind;
            options.field = field;
            CAPTURE(kind.name, kFieldNames[static_cast<int>(field)], p, centred, D);
            Cell cell(*kernel, options, D, X);
            const bool tame = has_tame_tails(kind.kind, p);
            cell.sample(repetitions, tame ? sharpness : 0);
            cell.check(tame);
            if (sharpness > 0 && tame) CHECK(cell.sharpness() <= 1.1 * sharpness);
          }
        }
      }
    }
  }
}

void check_compositions(const std::vector<int64_t>& degrees, int64_t repetitions,
                        double sharpness) {
  for (const Kind& kind : kKinds) {
    if (!exists(kind.kind)) continue;
    for (const SketchField field : kFields) {
      for (const Composition composition : {Composition::hierarchical, Composition::craft}) {
        for (const int64_t p : degrees) {
          const auto kernel = kernel::make_polynomial(p, 0.8, 0.3, 1.5);
          const Matrix<double> X = rows_for(p, p % 2 == 0);
          SketchOptions options;
          options.kind = kind.kind;
          options.field = field;
          options.composition = composition;
          // At most d^p tuples of a leaf, p = 1.
          options.intermediate = composition == Composition::hierarchical ? 8 : 24;
          if (kind.kind == sketch_kind("tuple") &&
              (p == 1 || field == SketchField::complex_to_real)) {
            options.intermediate = 8;
          }
          options.down = p % 3 == 0   ? sketch_kind("gaussian")
                         : p % 3 == 1 ? sketch_kind("stacked")
                                      : sketch_kind("rademacher");
          CAPTURE(kind.name, kFieldNames[static_cast<int>(field)], static_cast<int>(composition),
                  p);
          // Narrow trees of more than four leaves have a kurtosis of hundreds: means alone.
          const bool tame =
              has_tame_tails(kind.kind, p) && (composition == Composition::craft || p <= 4);
          Cell cell(*kernel, options, 6, X);
          cell.sample(repetitions, tame ? sharpness : 0);
          cell.check(tame);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("sketches: mean and variance are those of the closed form") {
  check_kinds({1, 2, 3, 4, 5, 6}, {6, 8, 16, 22}, 2000, 0);
}

TEST_CASE("sketches: a variance that is off by a tenth fails") {
  check_kinds({1, 2, 6}, {22}, 2000, 0.02);
}

TEST_CASE("sketches: a variance that is off by a tenth fails, every cell", "[slow]") {
  check_kinds({1, 2, 3, 4, 5, 6}, {6, 8, 16, 22}, 4000, 0.02);
}

TEST_CASE("compositions: mean and variance are those of the closed form") {
  check_compositions({1, 2, 3, 4, 5, 6}, 2000, 0);
}

TEST_CASE("compositions: a variance that is off by a tenth fails", "[slow]") {
  check_compositions({1, 2, 3, 4}, 4000, 0.02);
}
