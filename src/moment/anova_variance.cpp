// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Even powers of w have the mean 1 and odd ones 0, which leaves the terms of the header.
#include "moment/anova_variance.h"

#include <algorithm>

namespace mercer::moment {
namespace {

// Coefficients up to degree m in each of s, t, u, v.
class FourVariables {
 public:
  FourVariables(int64_t degree, std::vector<double>& storage)
      : side_(degree + 1), storage_(storage) {
    storage_.assign(side_ * side_ * side_ * side_, 0.0);
    storage_[0] = 1;
  }
  double highest() const { return storage_.back(); }

  // Times 1 + st xx + uv yy + (su + sv + tu + tv) xy + stuv xx yy, from the highest powers down, so
  // that what is read has not been written yet.
  void multiply(double xx, double yy, double xy) {
    for (int64_t s = side_ - 1; s >= 0; --s)
      for (int64_t t = side_ - 1; t >= 0; --t)
        for (int64_t u = side_ - 1; u >= 0; --u)
          for (int64_t v = side_ - 1; v >= 0; --v) {
            const double cross = at(s - 1, t, u - 1, v) + at(s - 1, t, u, v - 1) +
                                 at(s, t - 1, u - 1, v) + at(s, t - 1, u, v - 1);
            storage_[index(s, t, u, v)] += at(s - 1, t - 1, u, v) * xx +
                                           at(s, t, u - 1, v - 1) * yy + cross * xy +
                                           at(s - 1, t - 1, u - 1, v - 1) * (xx * yy);
          }
  }

 private:
  size_t index(int64_t s, int64_t t, int64_t u, int64_t v) const {
    return static_cast<size_t>(((s * side_ + t) * side_ + u) * side_ + v);
  }
  double at(int64_t s, int64_t t, int64_t u, int64_t v) const {
    return std::min({s, t, u, v}) < 0 ? 0 : storage_[index(s, t, u, v)];
  }

  int64_t side_;
  std::vector<double>& storage_;
};

}  // namespace

double symmetric_square(int64_t d, const double* x, const double* y, int64_t degree,
                        std::vector<double>& scratch) {
  FourVariables product(degree, scratch);
  for (int64_t k = 0; k < d; ++k) product.multiply(x[k] * x[k], y[k] * y[k], x[k] * y[k]);
  return product.highest();
}

double subsets_square(int64_t d, const double* x, const double* y) noexcept {
  double product = 1;
  for (int64_t k = 0; k < d; ++k) {
    const double xx = x[k] * x[k], yy = y[k] * y[k];
    product *= 1 + xx + yy + xx * yy + 4 * (x[k] * y[k]);
  }
  return product;
}

}  // namespace mercer::moment
