// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Brault, d'Alche-Buc 2016, section 2.3, with the root of the divergence-free part that SPEC
// section 12 corrects. The p x (p - 1) root is columns 2 to p of the Householder reflection that
// takes the first unit vector to omega/||omega|| or its opposite: O(p) per product, as for the
// other roots.
#include "feature/field/field_root.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernel/entry.h"
#include "kernel/matrix_kernel.h"

namespace mercer::feature {
namespace {

/// A unit vector, or 0, and the length that it has in A.
class Direction {
 public:
  Direction(const double* omega, int64_t p, double length) noexcept : omega_(omega) {
    double squares = 0;
    for (int64_t k = 0; k < p; ++k) squares += omega[k] * omega[k];
    norm_ = std::sqrt(squares);
    length_ = length > 0 ? length : norm_;
  }
  double operator[](int64_t k) const noexcept { return norm_ > 0 ? omega_[k] / norm_ : 0; }
  double length() const noexcept { return length_; }
  double sign() const noexcept { return omega_[0] < 0 ? -1 : 1; }

 private:
  const double* omega_;
  double norm_;
  double length_;
};

class FieldRoot final : public FrequencyRoot {
 public:
  FieldRoot(std::shared_ptr<const Frequencies> omega, const kernel::FieldParts& parts,
            double length, DivergenceRoot kind)
      : FrequencyRoot(omega->inputs(), field_root_width(omega->inputs(), parts, kind)),
        omega_(std::move(omega)),
        curl_(std::sqrt(parts.curl)),
        divergence_(std::sqrt(parts.divergence)),
        length_(length),
        orthonormal_(kind == DivergenceRoot::orthonormal) {}

  void prepare(Context& context) const override { omega_->prepared(context); }

  void spread(int64_t j, const double* c, double* out) const noexcept override {
    const int64_t p = outputs();
    const Direction e((*omega_)[j], p, length_);
    std::fill_n(out, p, 0.0);
    if (curl_ > 0) {
      const double scale = curl_ * e.length() * *c++;
      for (int64_t k = 0; k < p; ++k) out[k] += scale * e[k];
    }
    if (divergence_ > 0) add_divergence(e, divergence_ * e.length(), c, out);
  }

  void gather(int64_t j, const double* g, double* c) const noexcept override {
    const Direction e((*omega_)[j], outputs(), length_);
    const double along = dot(e, g);
    if (curl_ > 0) *c++ = curl_ * e.length() * along;
    if (divergence_ == 0) return;
    const double scale = divergence_ * e.length();
    if (!orthonormal_) {
      for (int64_t k = 0; k < outputs(); ++k) c[k] = scale * (g[k] - e[k] * along);
      return;
    }
    const double factor = (along + e.sign() * g[0]) / (1 + std::fabs(e[0]));
    for (int64_t k = 1; k < outputs(); ++k) c[k - 1] = scale * (g[k] - factor * e[k]);
  }

 private:
  double dot(const Direction& e, const double* g) const noexcept {
    double sum = 0;
    for (int64_t k = 0; k < outputs(); ++k) sum += e[k] * g[k];
    return sum;
  }

  void add_divergence(const Direction& e, double scale, const double* c,
                      double* out) const noexcept {
    const int64_t p = outputs();
    if (!orthonormal_) {
      const double along = dot(e, c);
      for (int64_t k = 0; k < p; ++k) out[k] += scale * (c[k] - e[k] * along);
      return;
    }
    // v = e + sign e_1, v'v = 2 (1 + |e_1|).
    double along = 0;
    for (int64_t k = 1; k < p; ++k) along += e[k] * c[k - 1];
    const double factor = along / (1 + std::fabs(e[0]));
    out[0] -= scale * factor * (e[0] + e.sign());
    for (int64_t k = 1; k < p; ++k) out[k] += scale * (c[k - 1] - factor * e[k]);
  }

  std::shared_ptr<const Frequencies> omega_;
  double curl_;
  double divergence_;
  double length_;
  bool orthonormal_;
};

}  // namespace

bool has_divergence(const kernel::Kernel& kernel) {
  return kernel::kernel_entry(kernel.parameters()).shape != nullptr ||
         kernel.matrix()->field_parts()->divergence != 0;
}

int64_t field_root_width(int64_t p, const kernel::FieldParts& parts, DivergenceRoot kind) {
  const int64_t divergence = kind == DivergenceRoot::symmetric ? p : p - 1;
  return (parts.curl > 0 ? 1 : 0) + (parts.divergence > 0 ? divergence : 0);
}

std::unique_ptr<const FrequencyRoot> make_field_root(std::shared_ptr<const Frequencies> omega,
                                                     const kernel::FieldParts& parts, double length,
                                                     DivergenceRoot kind) {
  return std::make_unique<FieldRoot>(std::move(omega), parts, length, kind);
}

}  // namespace mercer::feature
