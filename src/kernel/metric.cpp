// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = variance k0(A x, A y) with A an r x d matrix: a kernel of the Mahalanobis distance
// ||A (x - y)|| where k0 is isotropic (Radhakrishnan et al. 2024 learn A from gradients). Only A
// reads the d inputs, so that all that k0 has it has at A x; derivatives of order m are sums of its
// own of order m times products of m entries of A, since A x is linear.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "kernel/entry.h"
#include "kernel/kernel.h"

namespace mercer::kernel {
namespace {

// Rows of A: both A x and A y are on the stack of value(). A spec's list holds as many lists.
constexpr int64_t kMostMetricRows = 1024;
// Entries of A: in a spec at most 25 bytes each.
constexpr int64_t kMostMetricEntries = int64_t{1} << 20;
// Derivatives of order m are sums over all m inputs of k0.
constexpr int64_t kMostMetricOrder = 2;

Matrix<double> matrix_of(const Parameters& canonical) {
  const NumberLists lists = canonical.number_lists("matrix");
  const auto r = std::ssize(lists), d = std::ssize(lists.front());
  require(r <= kMostMetricRows, MERCER_INVALID_ARGUMENT,
          "matrix = a list of %ld lists, expected at most %ld, the rows of A", r, kMostMetricRows);
  require(d <= kMostMetricEntries / r, MERCER_INVALID_ARGUMENT,
          "matrix = %ld lists of %ld numbers, expected at most %ld numbers in all", r, d,
          kMostMetricEntries);
  Matrix<double> A(r, d);
  for (int64_t i = 0; i < r; ++i) std::ranges::copy(lists[i], A.view().row(i));
  return A;
}

std::shared_ptr<const Kernel> inner_of(const Parameters& canonical, int64_t rows) {
  const std::unique_ptr<Kernel> given = make_kernel(canonical.object("of"));
  const std::string name(given->name());
  require(!given->traits().input_bound && !given->traits().needs_unit_rows, MERCER_UNSUPPORTED,
          "of = %s, expected a kernel of all rows of numbers, since A x may be any", name.c_str());
  const double variance = canonical.number("variance") * given->variance();
  require(variance > 0 && std::isfinite(variance), MERCER_INVALID_ARGUMENT,
          "variance = %g times the %g of kernel %s is %g, expected a finite number > 0",
          canonical.number("variance"), given->variance(), name.c_str(), variance);
  try {
    given->check_dimension(rows);
  } catch (const Error& error) {
    throw error.within("of");
  }
  return given->with_variance(variance);
}

class MetricKernel final : public Kernel {
 public:
  explicit MetricKernel(const Parameters& canonical) : Kernel(canonical) {
    metric_.A = matrix_of(canonical);
    metric_.kernel = inner_of(canonical, metric_.A.rows());
    traits_.metric = &metric_;
    traits_.only_inputs = metric_.A.cols();
    traits_.calls = inner().traits().calls;
  }

  double value(int64_t, const double* x, const double* y) const noexcept override {
    const Pair at(metric_, x, y);
    return inner().value(rows(), at.u, at.v);
  }
  void compute(MatrixView<const double> X, MatrixView<const double> Y,
               MatrixView<double> K) const override {
    const Matrix<double> U = images(X), V = images(Y);
    inner().compute(U.view(), V.view(), K);
  }
  double log_size(int64_t, const double* x, const double* y) const noexcept override {
    const Pair at(metric_, x, y);
    return inner().log_size(rows(), at.u, at.v);
  }

  int64_t most_derivatives() const noexcept override {
    return std::min(inner().most_derivatives(), kMostMetricOrder);
  }
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    std::vector<std::pair<std::shared_ptr<const Differential>, double>> terms;
    for (const auto& [a, of_x] : metric_.chain(p))
      for (const auto& [b, of_y] : metric_.chain(q))
        terms.emplace_back(inner().differential(a, b), of_x * of_y);
    return make_differential(
        [this, terms = std::move(terms)](int64_t, const double* x, const double* y) {
          const Pair at(metric_, x, y);
          double sum = 0;
          for (const auto& [term, factor] : terms) sum += factor * term->at(rows(), at.u, at.v);
          return sum;
        });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const Pair at(metric_, x, y);
    double slope[kMostMetricRows];
    std::fill_n(slope, rows(), 0.0);
    inner().add_gradient(factor, rows(), at.u, at.v, slope);
    for (int64_t i = 0; i < rows(); ++i)
      for (int64_t k = 0; k < d; ++k) out[k] += metric_.A(i, k) * slope[i];
  }

 private:
  Matrix<double> images(MatrixView<const double> X) const {
    Matrix<double> U(X.rows, rows());
    for (int64_t i = 0; i < X.rows; ++i) metric_.multiply(X.row(i), U.view().row(i));
    return U;
  }
  struct Pair {
    Pair(const Metric& metric, const double* x, const double* y) noexcept {
      metric.multiply(x, u);
      metric.multiply(y, v);
    }
    double u[kMostMetricRows], v[kMostMetricRows];
  };
  const Kernel& inner() const noexcept { return *metric_.kernel; }
  int64_t rows() const noexcept { return metric_.A.rows(); }

  Metric metric_;
};

}  // namespace

void Metric::multiply(const double* x, double* u) const noexcept {
  for (int64_t i = 0; i < A.rows(); ++i) u[i] = inner_product(A.cols(), A.view().row(i), x);
}

std::vector<std::pair<MultiIndex, double>> Metric::chain(const MultiIndex& p) const {
  // Orders of the inputs of the function, and the coefficient of that derivative.
  using Terms = std::map<std::map<int64_t, int64_t>, double>;
  Terms terms{{{}, 1.0}};
  for (const PartialFactor& one : p) {
    for (int64_t times = 0; times < one.order; ++times) {
      Terms next;
      for (const auto& [orders, factor] : terms) {
        for (int64_t i = 0; i < A.rows(); ++i) {
          if (A(i, one.input) == 0) continue;
          std::map<int64_t, int64_t> above = orders;
          ++above[i];
          next[above] += factor * A(i, one.input);
        }
      }
      terms = std::move(next);
    }
  }
  std::vector<std::pair<MultiIndex, double>> all;
  for (const auto& [orders, factor] : terms) {
    all.emplace_back(MultiIndex(), factor);
    for (const auto& [input, order] : orders) all.back().first.push_back({input, order});
  }
  return all;
}

KernelEntry metric_entry() {
  Field of = scalar_field();
  of.key = "of";
  of.help = "k0, the kernel of the r numbers A x";
  return entry_of<MetricKernel>(
      "metric", "k0(A x, A y), A an r x d matrix",
      {{.key = "matrix",
        .type = FieldType::numbers_or_lists,
        .fallback = {},
        .help = "A, r lists of d numbers, its rows; of one input a list of r numbers"},
       std::move(of)});
}

}  // namespace mercer::kernel
