// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With k the scalar kernel and tau = x - y, the kernel of a field is
//   K = (b - a) grad grad'k - b (Laplacian k) I,
// a of it curl-free and b divergence-free (kernel/matrix_kernel.h). Its derivatives are derivatives
// of k of the order of the quantity and two more; and -a grad'k u is a potential of the first part,
// in the plane b (u_2 d_1 - u_1 d_2) k a stream function of the second, both of the features'
// mean 0. So each quantity of sum_j K(x, x_j) u_j is a sum, over some derivatives D^p of k, of
// D^p k(x, x_j) times numbers C_p u_j, which are made once.
#include "feature/kernel_field.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "kernel/matrix_kernel.h"

namespace mercer::feature {
namespace {

constexpr const char* kQuantity = "quantities of a function of kernel values";
constexpr int64_t kValuesAtOnce = int64_t{1} << 20;

/// One number of a quantity: `factor` times the derivative of f_output along these inputs.
struct FieldTerm {
  int64_t number, output;
  std::vector<int64_t> along;
  double factor;
};

/// The linear map from values to a quantity that is made of first derivatives.
std::vector<FieldTerm> derivative_terms(FieldKind kind, int64_t p, int64_t d) {
  std::vector<FieldTerm> terms;
  if (kind == FieldKind::jacobian)
    for (int64_t o = 0; o < p; ++o)
      for (int64_t l = 0; l < d; ++l) terms.push_back({o * d + l, o, {l}, 1});
  if (kind == FieldKind::divergence)
    for (int64_t o = 0; o < p; ++o) terms.push_back({0, o, {o}, 1});
  if (kind != FieldKind::curl) return terms;
  const auto turn = [&](int64_t number, int64_t k, int64_t l) {  // d_k f_l - d_l f_k
    terms.push_back({number, l, {k}, 1});
    terms.push_back({number, k, {l}, -1});
  };
  int64_t number = 0;
  if (d == 3)
    for (int64_t k = 0; k < 3; ++k) turn(k, (k + 1) % 3, (k + 2) % 3);
  else
    for (int64_t k = 0; k < d; ++k)
      for (int64_t l = k + 1; l < d; ++l) turn(number++, k, l);
  return terms;
}

bool is_antiderivative_of_field(FieldKind kind) {
  return kind == FieldKind::potential || kind == FieldKind::stream;
}

/// What one scalar kernel contributes: for each derivative, by its inputs in ascending order, the
/// numbers x p matrix C_p.
class QuantityPart {
 public:
  QuantityPart(const kernel::Kernel& scalar, int64_t numbers, int64_t p)
      : scalar_(scalar), numbers_(numbers), p_(p) {}

  /// D along `inputs` times component `c` of u is part of a number.
  void add(int64_t number, int64_t c, std::vector<int64_t> inputs, double factor) {
    std::ranges::sort(inputs);
    std::vector<double>& C = by_inputs_[std::move(inputs)];
    C.resize(numbers_ * p_, 0.0);
    C[number * p_ + c] += factor;
  }
  /// Without derivatives whose terms cancel.
  void finish() {
    std::erase_if(by_inputs_, [](const auto& one) {
      return std::ranges::all_of(one.second, [](double c) { return c == 0; });
    });
  }

  const kernel::Kernel& scalar() const noexcept { return scalar_; }
  const auto& derivatives() const noexcept { return by_inputs_; }
  int64_t order() const {
    int64_t most = 0;
    for (const auto& [inputs, C] : by_inputs_) most = std::max(most, std::ssize(inputs));
    return most;
  }
  /// C u of every kept row and column of theta: rows of `numbers` for each column.
  Matrix<double> weights(const std::vector<double>& C, MatrixView<const double> theta,
                         Context& context) const {
    const int64_t m = theta.cols, kept = theta.rows / p_;
    Matrix<double> W(kept, checked_multiply(numbers_, m, kQuantity), context, kQuantity);
    for (int64_t j = 0; j < kept; ++j)
      for (int64_t k = 0; k < m; ++k)
        for (int64_t n = 0; n < numbers_; ++n) {
          double sum = 0;
          for (int64_t c = 0; c < p_; ++c) sum += C[n * p_ + c] * theta(j * p_ + c, k);
          W(j, k * numbers_ + n) = sum;
        }
    return W;
  }

 private:
  const kernel::Kernel& scalar_;
  int64_t numbers_, p_;
  std::map<std::vector<int64_t>, std::vector<double>> by_inputs_;
};

class KernelQuantity {
 public:
  KernelQuantity(const OutputKernel& of, FieldKind kind, int64_t d)
      : kind_(kind), p_(of.outputs), d_(d), numbers_(field_numbers(kind, p_, d)) {
    add(of.kernel, 1);
    for (QuantityPart& part : parts_) {
      part.finish();
      require(part.order() <= part.scalar().most_derivatives(), MERCER_UNSUPPORTED,
              "kernel %s has derivatives up to order %ld, expected one with those of order %ld, or "
              "map fourier",
              std::string(part.scalar().name()).c_str(), part.scalar().most_derivatives(),
              part.order());
    }
  }

  const std::vector<QuantityPart>& parts() const noexcept { return parts_; }

 private:
  void add(const kernel::Kernel& kernel, double factor) {
    const auto composition = kernel.matrix() == nullptr ? std::nullopt : kernel.composition();
    if (composition) {
      for (const auto& part : composition->parts) add(*part, factor * kernel.variance());
      return;
    }
    const kernel::FieldParts* const field =
        kernel.matrix() == nullptr ? nullptr : kernel.matrix()->field_parts();
    parts_.emplace_back(kernel.matrix() == nullptr ? kernel : kernel.matrix()->scalar(), numbers_,
                        p_);
    if (is_antiderivative_of_field(kind_)) {
      require(field != nullptr, MERCER_UNSUPPORTED,
              "map exact with kernel %s: its potential and stream function have no closed form, "
              "expected map fourier, or a kernel of fields",
              std::string(kernel.name()).c_str());
      return add_antiderivative(*field, factor);
    }
    for (const FieldTerm& term : derivative_terms(kind_, p_, d_))
      for (int64_t c = 0; c < p_; ++c)
        field != nullptr ? add_field(term, c, *field, factor)
                         : add_gamma(term, c, kernel.matrix(), factor);
  }
  void add_antiderivative(const kernel::FieldParts& of, double factor) {
    QuantityPart& part = parts_.back();
    if (kind_ == FieldKind::potential)
      for (int64_t c = 0; c < p_; ++c) part.add(0, c, {c}, -factor * of.curl);
    if (kind_ == FieldKind::potential) return;
    part.add(0, 0, {1}, -factor * of.divergence);
    part.add(0, 1, {0}, factor * of.divergence);
  }
  void add_field(const FieldTerm& term, int64_t c, const kernel::FieldParts& of, double factor) {
    const auto along = [&](int64_t k, int64_t l) {
      std::vector<int64_t> inputs = term.along;
      inputs.insert(inputs.end(), {k, l});
      return inputs;
    };
    QuantityPart& part = parts_.back();
    part.add(term.number, c, along(term.output, c),
             term.factor * factor * (of.divergence - of.curl));
    for (int64_t l = 0; l < d_ && c == term.output; ++l)
      part.add(term.number, c, along(l, l), -term.factor * factor * of.divergence);
  }
  void add_gamma(const FieldTerm& term, int64_t c, const kernel::MatrixKernel* kernel,
                 double factor) {
    const double entry =
        kernel != nullptr ? kernel->gamma()(term.output, c) : (c == term.output ? 1.0 : 0.0);
    parts_.back().add(term.number, c, term.along, term.factor * factor * entry);
  }

  FieldKind kind_;
  int64_t p_, d_, numbers_;
  std::vector<QuantityPart> parts_;
};

kernel::MultiIndex index_of(const std::vector<int64_t>& inputs) {
  kernel::MultiIndex index;
  for (const int64_t k : inputs) {
    if (index.empty() || index.back().input != k) index.push_back({k, 0});
    ++index.back().order;
  }
  return index;
}

Matrix<double> doubles_of(const Rows& X, Context& context) {
  Matrix<double> dense(X.rows(), X.cols(), context, kQuantity);
  dense.fill(0);
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i)
      for_each_stored(rows, i, [&](int64_t j, auto x) { dense(i, j) += static_cast<double>(x); });
  });
  return dense;
}

/// sums += K W; in one order whatever the rows beside.
void add_products(MatrixView<const double> K, MatrixView<const double> W, Context& context,
                  MatrixView<double> sums) {
  parallel_for(context, K.rows, [&](int64_t i, int) noexcept {
    for (int64_t j = 0; j < K.cols; ++j)
      for (int64_t n = 0; n < W.cols; ++n) sums(i, n) += K(i, j) * W(j, n);
  });
}

}  // namespace

const KernelColumns* kernel_columns_of(const FeatureMap& map) {
  return map.has_kernel_columns() ? dynamic_cast<const KernelColumns*>(&map) : nullptr;
}

void require_kernel_field(const OutputKernel& of, FieldKind kind, int64_t d) {
  KernelQuantity(of, kind, d);
}

void multiply_kernel_field(const OutputKernel& of, const Rows& kept, const Rows& X,
                           MatrixView<const double> theta, FieldKind kind, Context& context,
                           const ResultView& out) {
  const KernelQuantity quantity(of, kind, X.cols());
  const Matrix<double> L = doubles_of(kept, context), dense = doubles_of(X, context);
  const Matrix<double> sums(out.rows(), out.cols(), context, kQuantity);
  sums.fill(0);
  const int64_t size = std::clamp<int64_t>(kValuesAtOnce / std::max<int64_t>(L.rows(), 1), 1,
                                           std::max<int64_t>(X.rows(), 1));
  const Matrix<double> K(std::min(size, X.rows()), L.rows(), context, kQuantity);
  int64_t count = 0;
  for (const QuantityPart& part : quantity.parts()) count += std::ssize(part.derivatives());
  Stage stage(context, checked_multiply(count, X.rows(), kQuantity));
  for (const QuantityPart& part : quantity.parts())
    for (const auto& [inputs, C] : part.derivatives()) {
      const Matrix<double> W = part.weights(C, theta, context);
      for (int64_t first = 0; first < X.rows(); first += size) {
        const int64_t last = std::min(X.rows(), first + size);
        const MatrixView<double> block = K.view().block_rows(0, last - first);
        kernel::derivative_gram(part.scalar(), index_of(inputs), {},
                                dense.view().block_rows(first, last), L.view(), context, block);
        add_products(block, W.view(), context, sums.view().block_rows(first, last));
        stage.advance(last - first);
        context.checkpoint();
      }
    }
  X.visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    const MatrixView<T> result = result_of<T>(out);
    for (int64_t i = 0; i < result.rows; ++i) {
      const bool lost = std::any_of(dense.view().row(i), dense.view().row(i) + dense.cols(),
                                    [](double x) { return std::isnan(x); });
      for (int64_t j = 0; j < result.cols; ++j)
        result(i, j) = static_cast<T>(lost ? kNaN : sums(i, j));
    }
  });
}

}  // namespace mercer::feature
