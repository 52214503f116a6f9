// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Source: Fuselier, "Refined error estimates for matrix-valued radial basis functions" (2006);
// Macedo, Castro, "Learning div-free and curl-free vector fields by matrix-valued kernels" (2008).
// Here with one lengthscale per input as well, and mixtures.
#include "kernel/field_kernel.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"

namespace mercer::kernel {
namespace {

constexpr int64_t kRowsPerChunk = 8;

/// Uses the structure of v v' and never forms a matrix.
class GaussianAction final : public PairAction {
 public:
  GaussianAction(const Kernel& kernel, const FieldParts& parts, int64_t d)
      : kernel_(kernel), parts_(parts) {
    const auto lengthscale = kernel.lengthscale();
    for (int64_t k = 0; k < d; ++k) {
      const double l = lengthscale[lengthscale.size() == 1 ? 0 : static_cast<size_t>(k)];
      precision_.push_back(1 / l / l);
      trace_ += precision_.back();
    }
  }

  void add(const double* x, const double* y, int64_t count, const double* u,
           double* out) const noexcept override {
    const size_t d = precision_.size();
    const double k = kernel_.value(static_cast<int64_t>(d), x, y);
    if (k == 0) return;  // underflow: times any polynomial it is 0, too
    double square = 0;
    for (size_t i = 0; i < d; ++i) square += slope(x, y, i) * slope(x, y, i);
    const double mixed = k * (parts_.curl - parts_.divergence);
    const double whole = k * parts_.divergence * (trace_ - square);
    for (int64_t c = 0; c < count; ++c, u += d, out += d) {
      double along = 0;
      for (size_t i = 0; i < d; ++i) along += slope(x, y, i) * u[i];
      for (size_t i = 0; i < d; ++i)
        out[i] += mixed * (precision_[i] * u[i] - slope(x, y, i) * along) + whole * u[i];
    }
  }

 private:
  double slope(const double* x, const double* y, size_t i) const noexcept {
    return (x[i] - y[i]) * precision_[i];
  }

  const Kernel& kernel_;
  FieldParts parts_;
  std::vector<double> precision_;  // 1/l^2
  double trace_ = 0;
};

/// By the kernel's second derivatives.
class SmoothAction final : public PairAction {
 public:
  SmoothAction(const Kernel& kernel, const FieldParts& parts, int64_t d)
      : moments_(kernel, d), parts_(parts) {}

  void add(const double* x, const double* y, int64_t count, const double* u,
           double* out) const noexcept override {
    const int64_t d = moments_.inputs();
    double trace = 0;
    for (int64_t i = 0; i < d; ++i) trace += moments_.second(i, i, x, y);
    for (int64_t i = 0; i < d; ++i) {
      for (int64_t j = 0; j < d; ++j) {
        double entry = (parts_.curl - parts_.divergence) * moments_.second(i, j, x, y);
        if (i == j) entry += parts_.divergence * trace;
        for (int64_t c = 0; c < count; ++c) out[c * d + i] += entry * u[c * d + j];
      }
    }
  }

 private:
  SpectralMoments moments_;
  FieldParts parts_;
};

}  // namespace

std::unique_ptr<const PairAction> smooth_action(const Kernel& kernel, const FieldParts& parts,
                                                int64_t d) {
  return std::make_unique<SmoothAction>(kernel, parts, d);
}

FieldKernel::FieldKernel(Parameters canonical, const FieldParts& parts)
    : MatrixKernel(std::move(canonical)), parts_(parts) {
  require_smooth(scalar());
}

int64_t FieldKernel::outputs(int64_t d) const {
  scalar().check_dimension(d);
  require(d >= 2 || parts_.divergence == 0, MERCER_DIMENSION_MISMATCH,
          "d = %ld, expected at least 2 inputs: of one the divergence-free kernel is 0", d);
  return d;
}

std::unique_ptr<const PairAction> FieldKernel::action(int64_t d) const {
  outputs(d);
  if (scalar().is_gaussian()) return std::make_unique<GaussianAction>(scalar(), parts_, d);
  return smooth_action(scalar(), parts_, d);
}

void FieldKernel::multiply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                                MatrixView<const double> U, Context& context,
                                MatrixView<double> out) const {
  const auto K = action(X.cols);
  const int64_t count = U.cols / outputs(X.cols);
  parallel_for(
      context, ceil_divide(X.rows, kRowsPerChunk),
      [&](int64_t chunk, int) noexcept {
        const int64_t end = std::min(X.rows, (chunk + 1) * kRowsPerChunk);
        for (int64_t i = chunk * kRowsPerChunk; i < end; ++i) {
          std::fill_n(out.row(i), out.cols, 0.0);
          for (int64_t j = 0; j < Y.rows; ++j)
            K->add(X.row(i), Y.row(j), count, U.row(j), out.row(i));
        }
      },
      kRowsPerChunk);
}

void FieldKernel::gram_rows(MatrixView<const double> X, MatrixView<const double> Y,
                            Context& context, MatrixView<double> K) const {
  constexpr const char* kWhat = "a block of a Gram matrix";
  const int64_t p = outputs(X.cols);
  const auto pair = action(X.cols);
  const Matrix<double> identity(p, p, context, kWhat);
  identity.fill(0);
  for (int64_t o = 0; o < p; ++o) identity(o, o) = 1;
  const int64_t chunks = ceil_divide(X.rows, kRowsPerChunk);
  const Matrix<double> columns(worker_count(context, chunks), checked_multiply(p, p, kWhat),
                               context, kWhat);
  parallel_for(
      context, chunks,
      [&](int64_t chunk, int worker) noexcept {
        double* const block = columns.view().row(worker);
        const int64_t end = std::min(X.rows, (chunk + 1) * kRowsPerChunk);
        for (int64_t i = chunk * kRowsPerChunk; i < end; ++i) {
          for (int64_t j = 0; j < Y.rows; ++j) {
            std::fill_n(block, p * p, 0.0);
            pair->add(X.row(i), Y.row(j), p, identity.data(), block);
            for (int64_t o = 0; o < p; ++o)
              for (int64_t q = 0; q < p; ++q) K(i * p + o, j * p + q) = block[q * p + o];
          }
        }
      },
      kRowsPerChunk);
}

}  // namespace mercer::kernel
