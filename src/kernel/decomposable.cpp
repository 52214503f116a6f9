// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// K(x, y) = k(x, y) Gamma (Micchelli, Pontil 2005; Brault, Heinonen, d'Alche-Buc 2016, section
// 2.3), k any kernel; with skewed_chi2 it is the paper's kernel on logarithms.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "kernel/entry.h"
#include "kernel/matrix_kernel.h"
#include "kernel/output_root.h"
#include "linalg/blas.h"

namespace mercer::kernel {
namespace {

constexpr int64_t kBlockRows = 256;

/// Gamma as a list of rows, from rows or from one list of all numbers; a single number becomes a
/// list.
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

class Decomposable final : public MatrixKernel {
 public:
  explicit Decomposable(const Parameters& canonical)
      : MatrixKernel(with_rows(canonical)),
        numbers_(canonical.numbers("gamma")),
        p_(outputs_of(numbers_)),
        root_(output_root(gamma(), canonical.number("cutoff"))) {}

  int64_t outputs(int64_t d) const override {
    scalar().check_dimension(d);
    return p_;
  }
  MatrixView<const double> gamma() const noexcept override { return {numbers_.data(), p_, p_}; }
  const OutputRoot* root() const noexcept override { return &root_; }

  // (K of a block) (U Gamma of a block), summed over blocks of Y.
  void multiply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                     MatrixView<const double> U, Context& context,
                     MatrixView<double> out) const override {
    using linalg::Transpose;
    const Matrix<double> mixed(U.rows, U.cols, context, "U times Gamma");
    for (int64_t c = 0; c < U.cols && U.rows > 0; c += p_)
      linalg::multiply(1.0, Transpose::no, U.block_cols(c, c + p_), Transpose::no, gamma(), 0.0,
                       mixed.view().block_cols(c, c + p_));
    gram_multiply(scalar(), X, Y, mixed.view(), context, out);
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
      gram(scalar(), X.block_rows(first, first + rows), Y, context, k);
      for (int64_t row = 0; row < rows * p_; ++row)
        for (int64_t column = 0; column < K.cols; ++column)
          K(first * p_ + row, column) = k(row / p_, column / p_) * gamma()(row % p_, column % p_);
      stage.advance(rows);
    }
  }

 private:
  std::vector<double> numbers_;
  int64_t p_;
  OutputRoot root_;
};

}  // namespace

KernelEntry decomposable_entry() {
  return {
      .name = "decomposable",
      .help = "k(x, y) Gamma, Gamma a positive semi-definite p x p matrix",
      .fields = {scalar_field(),
                 {.key = "gamma",
                  .type = FieldType::numbers_or_lists,
                  .fallback = {},
                  .help = "Gamma, p lists of p numbers, its rows, or all p p numbers in one list"},
                 number_field("cutoff", 1e-12, 0, 1,
                              "pivots of the root up to this part of the largest are left out")},
      .make = [](const Parameters& canonical) -> std::unique_ptr<Kernel> {
        return std::make_unique<Decomposable>(canonical);
      },
      .default_map = "fourier",
      .outputs = OutputCount::gamma};
}

}  // namespace mercer::kernel
