// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Brault, d'Alche-Buc 2016, section 2.3, with the root of the divergence-free part that SPEC
// section 12 corrects. The p x (p - 1) root is columns 2 to p of the Householder reflection that
// takes the first unit vector to omega/||omega|| or its opposite: O(p) per product, like the
// others.
#include "operator/field_root.h"

#include <algorithm>
#include <cmath>

#include "base/aligned.h"

namespace mercer::operators {
namespace {

int64_t divergence_width(int64_t p, const kernel::FieldParts& parts, DivergenceRoot kind) {
  if (parts.divergence == 0) return 0;
  return kind == DivergenceRoot::symmetric ? p : p - 1;
}

class FieldRoot final : public FrequencyRoot {
 public:
  FieldRoot(MatrixView<const double> W, const kernel::FieldParts& parts, double length,
            DivergenceRoot kind)
      : FrequencyRoot(W.cols, (parts.curl > 0 ? 1 : 0) + divergence_width(W.cols, parts, kind)),
        curl_(std::sqrt(parts.curl)),
        divergence_(std::sqrt(parts.divergence)),
        orthonormal_(kind == DivergenceRoot::orthonormal),
        directions_(W.rows, W.cols),
        lengths_(W.rows) {
    for (int64_t j = 0; j < W.rows; ++j) {
      double squares = 0;
      for (int64_t k = 0; k < W.cols; ++k) squares += W(j, k) * W(j, k);
      const double norm = std::sqrt(squares);
      for (int64_t k = 0; k < W.cols; ++k) directions_(j, k) = norm > 0 ? W(j, k) / norm : 0;
      lengths_[j] = length > 0 ? length : norm;
    }
  }

  void spread(int64_t j, const double* c, double* out) const noexcept override {
    const double* const e = directions_.view().row(j);
    const int64_t p = outputs();
    std::fill_n(out, p, 0.0);
    if (curl_ > 0) {
      const double scale = curl_ * lengths_[j] * *c++;
      for (int64_t k = 0; k < p; ++k) out[k] += scale * e[k];
    }
    if (divergence_ > 0) add_divergence(e, divergence_ * lengths_[j], c, out);
  }

  void gather(int64_t j, const double* g, double* c) const noexcept override {
    const double* const e = directions_.view().row(j);
    const double along = dot(e, g);
    if (curl_ > 0) *c++ = curl_ * lengths_[j] * along;
    if (divergence_ == 0) return;
    const double scale = divergence_ * lengths_[j];
    if (!orthonormal_) {
      for (int64_t k = 0; k < outputs(); ++k) c[k] = scale * (g[k] - e[k] * along);
      return;
    }
    const double sign = sign_of(e), factor = (along + sign * g[0]) / (1 + std::fabs(e[0]));
    for (int64_t k = 1; k < outputs(); ++k) c[k - 1] = scale * (g[k] - factor * e[k]);
  }

 private:
  static double sign_of(const double* e) noexcept { return e[0] < 0 ? -1 : 1; }

  double dot(const double* e, const double* g) const noexcept {
    double sum = 0;
    for (int64_t k = 0; k < outputs(); ++k) sum += e[k] * g[k];
    return sum;
  }

  void add_divergence(const double* e, double scale, const double* c, double* out) const noexcept {
    const int64_t p = outputs();
    if (!orthonormal_) {
      const double along = dot(e, c);
      for (int64_t k = 0; k < p; ++k) out[k] += scale * (c[k] - e[k] * along);
      return;
    }
    // v = e + sign e_1, v'v = 2 (1 + |e_1|).
    const double sign = sign_of(e);
    double along = 0;
    for (int64_t k = 1; k < p; ++k) along += e[k] * c[k - 1];
    const double factor = along / (1 + std::fabs(e[0]));
    out[0] -= scale * factor * (e[0] + sign);
    for (int64_t k = 1; k < p; ++k) out[k] += scale * (c[k - 1] - factor * e[k]);
  }

  double curl_;
  double divergence_;
  bool orthonormal_;
  Matrix<double> directions_;
  AlignedBuffer<double> lengths_;
};

}  // namespace

std::unique_ptr<const FrequencyRoot> make_field_root(MatrixView<const double> W,
                                                     const kernel::FieldParts& parts, double length,
                                                     DivergenceRoot kind) {
  return std::make_unique<FieldRoot>(W, parts, length, kind);
}

}  // namespace mercer::operators
