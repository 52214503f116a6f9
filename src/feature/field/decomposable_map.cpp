// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of K = k Gamma: z(x) of k by any real map, and a root B of Gamma. The operator variance
// is the scalar map's times (B B')^2.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "feature/field/field_map.h"
#include "feature/field/frequencies.h"
#include "feature/fourier.h"
#include "kernel/matrix_kernel.h"
#include "kernel/output_root.h"
#include "linalg/blas.h"

namespace mercer::feature {
namespace {

using linalg::Transpose;

constexpr int64_t kBlockRows = 256;

/// The one B of all frequencies.
class SharedRoot final : public FrequencyRoot {
 public:
  SharedRoot(std::shared_ptr<const kernel::Kernel> owner, MatrixView<const double> B)
      : FrequencyRoot(B.rows, B.cols), owner_(std::move(owner)), B_(B) {}
  void spread(int64_t, const double* c, double* out) const noexcept override {
    for (int64_t o = 0; o < B_.rows; ++o) {
      out[o] = 0;
      for (int64_t b = 0; b < B_.cols; ++b) out[o] += B_(o, b) * c[b];
    }
  }
  void gather(int64_t, const double* g, double* c) const noexcept override {
    for (int64_t b = 0; b < B_.cols; ++b) {
      c[b] = 0;
      for (int64_t o = 0; o < B_.rows; ++o) c[b] += B_(o, b) * g[o];
    }
  }
  MatrixView<const double> shared() const noexcept override { return B_; }

 private:
  std::shared_ptr<const kernel::Kernel> owner_;
  MatrixView<const double> B_;
};

double largest_of(const Matrix<double>& A) {
  double largest = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i)
    largest = std::max(largest, std::fabs(A.data()[i]));
  return largest;
}

/// (B B')^2 times the variance of the scalar estimate. B B' is divided by a power of two, so that
/// its square does not overflow.
RowVariance variance_of(std::shared_ptr<const FeatureMap> scalar, MatrixView<const double> B) {
  const int64_t p = B.rows;
  const auto squared = std::make_shared<const Matrix<double>>(p, p);
  const Matrix<double> gamma(p, p);
  linalg::multiply(1.0, Transpose::no, B, Transpose::yes, B, 0.0, gamma.view());
  const double unit = std::ldexp(1.0, std::ilogb(largest_of(gamma)));
  for (int64_t at = 0; at < p * p; ++at) gamma.data()[at] /= unit;
  linalg::multiply(1.0, Transpose::no, gamma.view(), Transpose::no, gamma.view(), 0.0,
                   squared->view());
  return [scalar, squared, unit, p](MatrixView<const double> X, MatrixView<const double> Y,
                                    Context& context, MatrixView<double> out) {
    std::vector<double> variances(kBlockRows);
    Stage stage(context, X.rows);
    for (int64_t first = 0; first < X.rows; first += kBlockRows) {
      const int64_t last = std::min(X.rows, first + kBlockRows);
      const std::span part(variances.data(), last - first);
      scalar->variance(X.block_rows(first, last), Y.block_rows(first, last), part);
      for (int64_t i = first; i < last; ++i)
        for (int64_t at = 0; at < p * p; ++at)
          out(i, at) = part[i - first] * squared->data()[at] * unit * unit;
      stage.advance(last - first);
      context.checkpoint();
    }
  };
}

}  // namespace

std::unique_ptr<FeatureMap> make_decomposable_map(std::shared_ptr<const kernel::Kernel> kernel,
                                                  std::shared_ptr<const FeatureMap> scalar) {
  FieldMapParts parts;
  parts.parameters = scalar->parameters();
  parts.parameters.set("kernel", std::make_shared<const Parameters>(kernel->parameters()));
  parts.numbers = scalar->numbers();
  const MatrixView<const double> B = kernel->matrix()->root()->B.view();
  parts.parameters.set("features", checked_multiply(scalar->features(), B.cols, "features"));
  parts.root = std::make_shared<const SharedRoot>(kernel, B);
  parts.variance = variance_of(scalar, B);
  parts.scalar = std::move(scalar);
  parts.kernel = std::move(kernel);
  return std::make_unique<FieldMap>(std::move(parts));
}

}  // namespace mercer::feature
