// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums of kernels of which some have several outputs: K = sum_i K_i (Brault, Heinonen, d'Alche-Buc
// 2016, section 2.3: sums of operator-valued kernels are such kernels), a part k of one output
// being k I, the same function of each output apart.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/size.h"
#include "kernel/composed_kernel.h"
#include "kernel/kernel.h"

namespace mercer::kernel {
namespace {

constexpr const char* kBlock = "a block of a Gram matrix";
constexpr int64_t kRows = 64;  // of X at a time

class OutputSum final : public MatrixKernel {
 public:
  explicit OutputSum(const Parameters& canonical) : MatrixKernel(canonical, nullptr) {
    for (const auto& spec : canonical.objects("parts")) {
      parts_.push_back(make_kernel(*spec));
      take_traits(*parts_.back());
    }
  }

  std::optional<Composition> composition() const noexcept override {
    return Composition{Composition::Rule::sum, parts_};
  }
  /// That of the parts with several, which is the same.
  int64_t outputs(int64_t d) const override {
    int64_t p = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      int64_t own = 0;
      try {
        own = parts_[i]->outputs(d);
      } catch (const Error& error) {
        throw error.within("parts[" + std::to_string(i) + "]");
      }
      if (parts_[i]->matrix() == nullptr) continue;
      require(p == 0 || own == p, MERCER_DIMENSION_MISMATCH,
              "parts[%zu]: kernel %s has %ld outputs, expected the %ld of the parts before", i,
              std::string(parts_[i]->name()).c_str(), own, p);
      p = own;
    }
    return p;
  }
  bool is_of_directions() const noexcept override {
    return std::ranges::any_of(parts_, [](const auto& part) {
      return part->matrix() != nullptr && part->matrix()->is_of_directions();
    });
  }

  void gram_rows(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                 MatrixView<double> K) const override {
    const int64_t p = outputs(X.cols);
    const Matrix<double> storage(checked_multiply(std::min(kRows, X.rows), p, kBlock),
                                 checked_multiply(Y.rows, p, kBlock), context, kBlock);
    for (int64_t i = 0; i < K.rows; ++i) std::fill_n(K.row(i), K.cols, 0.0);
    Stage stage(context, X.rows);
    for (int64_t first = 0; first < X.rows; first += kRows) {
      const int64_t last = std::min(X.rows, first + kRows), rows = last - first;
      for (const auto& part : parts_) {
        const int64_t own = part->outputs(X.cols), blocks = own == p && part->matrix() != nullptr;
        const MatrixView<double> k(storage.data(), blocks ? rows * p : rows,
                                   blocks ? Y.rows * p : Y.rows);
        gram(*part, X.block_rows(first, last), Y, context, k);
        add(k, blocks ? 1 : p, K.block_rows(first * p, last * p));
      }
      stage.advance(rows);
      context.checkpoint();
    }
  }

  void multiply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                     MatrixView<const double> U, Context& context,
                     MatrixView<double> out) const override {
    const Matrix<double> own(X.rows, U.cols, context, "products of one part");
    for (int64_t i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
    for (const auto& part : parts_) {
      gram_multiply(*part, X, Y, U, context, own.view());  // of one output: column by column
      for (int64_t i = 0; i < out.rows; ++i)
        for (int64_t j = 0; j < out.cols; ++j) out(i, j) += variance() * own(i, j);
    }
  }

 private:
  /// K += variance k (x) I_copies.
  void add(MatrixView<const double> k, int64_t copies, MatrixView<double> K) const noexcept {
    for (int64_t i = 0; i < k.rows; ++i)
      for (int64_t o = 0; o < copies; ++o)
        for (int64_t j = 0; j < k.cols; ++j)
          K(i * copies + o, j * copies + o) += variance() * k(i, j);
  }
  void take_traits(const Kernel& part) {
    take_calls(part, traits_);
    const std::optional<InputBound> bound = part.traits().input_bound;
    std::optional<InputBound>& strictest = traits_.input_bound;
    if (bound) strictest = strictest ? stricter(*strictest, *bound) : *bound;
  }

  std::vector<std::shared_ptr<const Kernel>> parts_;
};

}  // namespace

std::unique_ptr<Kernel> make_output_sum(const Parameters& canonical) {
  return std::make_unique<OutputSum>(canonical);
}

}  // namespace mercer::kernel
