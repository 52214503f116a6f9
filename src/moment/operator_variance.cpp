// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// cos^2 = (1 + cos(2 .))/2 gives the two values of M. omega omega' and ||omega||^2 I - omega omega'
// are ||omega||^2 times complementary projectors, so A^2 = ||omega||^2 (curl^2 omega omega' +
// divergence^2 (||omega||^2 I - omega omega')): M is a fourth moment of the law in the unbounded
// form and, over ||omega||^2, a second moment in the bounded one. Brault, d'Alche-Buc 2016 print
// other constants for the divergence-free kernel (SPEC section 12).
#include "moment/operator_variance.h"

namespace mercer::moment {

FieldVariance::FieldVariance(const kernel::Kernel& kernel, const kernel::FieldParts& parts,
                             double total, int64_t d, int64_t F)
    : moments_(kernel, d),
      parts_(parts),
      amplitude_(kernel.variance()),
      total_(total),
      F_(static_cast<double>(F)),
      K_(d, d),
      doubled_(2 * static_cast<size_t>(d)) {}

void FieldVariance::add_moment(const double* x, const double* y, MatrixView<double> out) {
  const MatrixView<double> M = K_.view();
  total_ > 0 ? moments_.second(x, y, M) : moments_.fourth(x, y, M);
  kernel::to_field(parts_.squared(), M);
  // The estimate has the square of the amplitude, the moments have the amplitude once.
  const double scale = amplitude_ * (total_ > 0 ? total_ : 1) / (2 * F_);
  for (int64_t i = 0; i < M.rows; ++i)
    for (int64_t j = 0; j < M.cols; ++j) out(i, j) += scale * M(i, j);
}

void FieldVariance::at(const double* x, const double* y, MatrixView<double> out) {
  const int64_t d = moments_.inputs();
  for (int64_t i = 0; i < d; ++i) {
    doubled_[i] = 2 * (x[i] - y[i]);
    for (int64_t j = 0; j < d; ++j) out(i, j) = 0;
  }
  add_moment(x, x, out);
  add_moment(doubled_.data(), doubled_.data() + d, out);
  const MatrixView<double> K = K_.view();
  moments_.second(x, y, K);
  kernel::to_field(parts_, K);
  for (int64_t i = 0; i < d; ++i)
    for (int64_t j = 0; j < d; ++j)
      for (int64_t l = 0; l < d; ++l) out(i, j) -= K(i, l) * K(l, j) / F_;
}

}  // namespace mercer::moment
