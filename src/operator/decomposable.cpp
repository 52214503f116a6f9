// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// K(x, y) = k(x, y) Gamma (Micchelli, Pontil 2005; Brault, Heinonen, d'Alche-Buc 2016, section
// 2.3), k any kernel, its map that of a k with random Fourier features: z(x) of k and a root B of
// Gamma. Of skewed_chi2 that is the paper's kernel on logarithms. The operator variance is the
// scalar map's times (B B')^2.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "feature/fourier.h"
#include "linalg/blas.h"
#include "operator/frequencies.h"
#include "operator/operator_entry.h"
#include "operator/output_root.h"

namespace mercer::operators {
namespace {

using Long = long long;
using linalg::Transpose;

constexpr int64_t kBlockRows = 256;
constexpr int64_t kBlockColumns = 1024;

class ScalarAction final : public PairAction {
 public:
  ScalarAction(const kernel::Kernel& kernel, MatrixView<const double> gamma, int64_t d)
      : kernel_(kernel), gamma_(gamma), d_(d) {}
  void add(const double* x, const double* y, int64_t count, const double* u,
           double* out) const noexcept override {
    const double k = kernel_.value(d_, x, y);
    const int64_t p = gamma_.rows;
    for (int64_t c = 0; c < count; ++c)
      for (int64_t o = 0; o < p; ++o)
        for (int64_t q = 0; q < p; ++q) out[c * p + o] += k * gamma_(o, q) * u[c * p + q];
  }

 private:
  const kernel::Kernel& kernel_;
  MatrixView<const double> gamma_;
  int64_t d_;
};

/// Gamma as its rows, given so or as all its numbers in one list; one number stays a list of it.
Parameters with_rows(Parameters canonical) {
  const NumberLists lists = canonical.number_lists("gamma");
  const size_t length = lists.front().size();
  require(length == 1 || length == lists.size(), MERCER_INVALID_ARGUMENT,
          "gamma has %zu lists of %zu numbers, expected as many as a list is long", lists.size(),
          length);
  const std::vector<double> numbers = canonical.numbers("gamma");
  const auto p = static_cast<std::ptrdiff_t>(outputs_of(numbers));
  NumberLists rows;
  for (auto from = numbers.begin(); from != numbers.end(); from += p)
    rows.emplace_back(from, from + p);
  if (p > 1) canonical.set("gamma", std::move(rows));
  return canonical;
}

class Decomposable final : public OperatorKernel {
 public:
  explicit Decomposable(const Parameters& canonical)
      : OperatorKernel(with_rows(canonical)),
        numbers_(canonical.numbers("gamma")),
        p_(outputs_of(numbers_)),
        root_(output_root(gamma(), canonical.number("cutoff"))) {}

  int64_t outputs(int64_t d) const override {
    scalar().check_dimension(d);
    return p_;
  }
  std::unique_ptr<const PairAction> action(int64_t d) const override {
    scalar().check_dimension(d);
    return std::make_unique<ScalarAction>(scalar(), gamma(), d);
  }
  MatrixView<const double> gamma() const noexcept override { return {numbers_.data(), p_, p_}; }
  const OutputRoot& root() const noexcept { return root_; }

 private:
  // (K of a block) (U Gamma of a block), summed over blocks of Y.
  void apply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                  MatrixView<const double> U, Context& context,
                  MatrixView<double> out) const override {
    constexpr const char* kWhat = "a block of a Gram matrix";
    const Matrix<double> mixed(U.rows, U.cols, context, "U times Gamma");
    for (int64_t c = 0; c < U.cols && U.rows > 0; c += p_)
      linalg::multiply(1.0, Transpose::no, U.block_cols(c, c + p_), Transpose::no, gamma(), 0.0,
                       mixed.view().block_cols(c, c + p_));
    const Matrix<double> storage(std::min(kBlockRows, X.rows), std::min(kBlockColumns, Y.rows),
                                 context, kWhat);
    for (int64_t i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
    Stage stage(context, checked_multiply(X.rows, Y.rows, kWhat));
    for (int64_t i = 0; i < X.rows; i += kBlockRows) {
      const int64_t rows = std::min(kBlockRows, X.rows - i);
      for (int64_t j = 0; j < Y.rows; j += kBlockColumns) {
        const int64_t cols = std::min(kBlockColumns, Y.rows - j);
        const MatrixView<double> K(storage.data(), rows, cols);
        stage.share(rows * cols);
        kernel::gram(scalar(), X.block_rows(i, i + rows), Y.block_rows(j, j + cols), context, K);
        if (U.cols > 0)
          linalg::multiply(1.0, Transpose::no, MatrixView<const double>(K), Transpose::no,
                           mixed.view().block_rows(j, j + cols), 1.0, out.block_rows(i, i + rows));
        stage.advance(rows * cols);
      }
    }
  }

  // k of a block, times Gamma entry by entry.
  void gram_rows(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                 MatrixView<double> K) const override {
    const Matrix<double> storage(std::min(kBlockRows, X.rows), Y.rows, context,
                                 "a block of a Gram matrix");
    Stage stage(context, X.rows);
    for (int64_t first = 0; first < X.rows; first += kBlockRows) {
      const int64_t rows = std::min(kBlockRows, X.rows - first);
      const MatrixView<double> k = storage.view().block_rows(0, rows);
      stage.share(rows);
      kernel::gram(scalar(), X.block_rows(first, first + rows), Y, context, k);
      for (int64_t row = 0; row < rows * p_; ++row)
        for (int64_t column = 0; column < K.cols; ++column)
          K(first * p_ + row, column) = k(row / p_, column / p_) * gamma()(row % p_, column % p_);
      stage.advance(rows);
    }
  }

  std::vector<double> numbers_;
  int64_t p_;
  OutputRoot root_;
};

/// B of every frequency.
class SharedRoot final : public FrequencyRoot {
 public:
  SharedRoot(std::shared_ptr<const OperatorKernel> owner, MatrixView<const double> B)
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
  std::shared_ptr<const OperatorKernel> owner_;
  MatrixView<const double> B_;
};

feature::FourierOptions options_of(const Parameters& canonical) {
  return {feature::read_projection_choice(canonical), feature::FourierForm::pair,
          canonical.seed("seed")};
}

double largest_of(const Matrix<double>& A) {
  double largest = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i)
    largest = std::max(largest, std::fabs(A.data()[i]));
  return largest;
}

/// (B B')^2 times the variance of the scalar estimate; of B B' over a power of two, which squares
/// do not overflow.
RowVariance variance_of(std::shared_ptr<const feature::FeatureMap> scalar,
                        MatrixView<const double> B) {
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
      const std::span part(variances.data(), static_cast<size_t>(last - first));
      scalar->variance(X.block_rows(first, last), Y.block_rows(first, last), part);
      for (int64_t i = first; i < last; ++i)
        for (int64_t at = 0; at < p * p; ++at)
          out(i, at) = part[static_cast<size_t>(i - first)] * squared->data()[at] * unit * unit;
      stage.advance(last - first);
      context.checkpoint();
    }
  };
}

std::unique_ptr<const OperatorMap> make_map(const Parameters& canonical,
                                            std::shared_ptr<const OperatorKernel> kernel) {
  const OutputRoot& root = static_cast<const Decomposable&>(*kernel).root();
  OperatorParts parts;
  parts.scalar = feature::make_fourier(kernel->scalar(), canonical.integer("inputs"),
                                       canonical.integer("features"), options_of(canonical));
  parts.parameters = with_rows(canonical);
  parts.parameters.set("features", parts.scalar->features());
  parts.root = std::make_shared<const SharedRoot>(kernel, root.B.view());
  parts.frequencies = std::make_shared<const Frequencies>(
      parts.scalar->features() / 2, parts.scalar->inputs(), [kernel, canonical](Context& context) {
        return FrequencyDraw(canonical, {kernel, &kernel->scalar()}, false)(context);
      });
  parts.variance = variance_of(parts.scalar, root.B.view());
  parts.dropped = root.dropped;
  parts.kernel = std::move(kernel);
  return std::make_unique<const OperatorMap>(std::move(parts));
}

}  // namespace

OperatorEntry decomposable_entry() {
  return {.name = "decomposable",
          .help = "k(x, y) Gamma, Gamma a positive semi-definite p x p matrix",
          .kernel_fields =
              {{.key = "gamma",
                .type = FieldType::numbers_or_lists,
                .fallback = {},
                .help = "Gamma, p lists of p numbers, its rows, or all p p numbers in one list"},
               {.key = "cutoff",
                .type = FieldType::number,
                .fallback = 1e-12,
                .least = 0,
                .most = 1,
                .help = "pivots of the root up to this part of the largest are left out"}},
          .map_fields = feature::projection_fields("how frequencies are drawn", nullptr, true),
          .make_kernel = [](const Parameters& canonical) -> std::unique_ptr<const OperatorKernel> {
            return std::make_unique<const Decomposable>(canonical);
          },
          .make_map = make_map,
          .separable = true};
}

}  // namespace mercer::operators
