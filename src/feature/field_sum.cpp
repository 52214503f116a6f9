// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of a sum of kernels of several outputs: those of the parts one after the other,
// Phi = [Phi_1; Phi_2; ...], so that Phi(x)'Phi(z) = sum_i K~_i(x, z). Roots of the parts have
// different numbers of columns q: here each column of a root has a column of z of its own, that of
// the part again, and q is 1.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/size.h"
#include "feature/composed_map.h"
#include "feature/derivatives.h"
#include "feature/feature_operator.h"
#include "feature/field_map.h"
#include "feature/frequencies.h"

namespace mercer::feature {
namespace {

/// Columns of another map, ascending, some more than once.
class RepeatedColumns final : public FeatureMap, public Derivatives {
 public:
  RepeatedColumns(std::shared_ptr<const FeatureMap> of, std::vector<int64_t> columns)
      : FeatureMap(of->inputs(), std::ssize(columns), false),
        of_(std::move(of)),
        columns_(std::move(columns)) {}

  std::string_view name() const noexcept override { return of_->name(); }
  const kernel::Kernel& kernel() const noexcept override { return of_->kernel(); }
  Parameters parameters() const override { return of_->parameters(); }
  void prepare(Precision precision, Context& context) const override {
    of_->prepare(precision, context);
  }
  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    if (X.rows() == 0 || c.begin == c.end) return;
    const Columns own{columns_[c.begin], columns_[c.end - 1] + 1};
    X.visit([&](const auto& rows) {
      using T = RowNumberOf<decltype(rows)>;
      const MatrixView<T> out = result_of<T>(Z);
      for_each_block(*of_, rows, own, context, [&](int64_t first, MatrixView<const T> z) {
        for (int64_t i = 0; i < z.rows; ++i)
          for (int64_t j = c.begin; j < c.end; ++j)
            out(first + i, j - c.begin) = z(i, columns_[j] - own.begin);
      });
    });
  }

  const Derivatives* derivatives() const noexcept override {
    return of_->derivatives() != nullptr ? this : nullptr;
  }
  int64_t most_order() const noexcept override { return of_->derivatives()->most_order(); }
  MERCER_DERIVATIVE_CALLS

 private:
  static constexpr const char* kWhat = "derivatives of the columns that are repeated";
  template <class T>
  void pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                      MatrixView<T> out) const {
    const Matrix<T> g(G.rows, of_->features(), context, kWhat);
    g.fill(0);
    for (int64_t i = 0; i < G.rows; ++i)
      for (int64_t j = 0; j < G.cols; ++j) g(i, columns_[j]) += G(i, j);
    of_->derivatives()->pull_back(X, MatrixView<const T>(g.view()), context, out);
  }
  template <class T>
  void push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
    const Matrix<T> z(X.rows, of_->features(), context, kWhat);
    of_->derivatives()->push_forward(X, V, context, z.view());
    repeat(z, 1, out);
  }
  template <class T>
  void differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                          MatrixView<T> out) const {
    const int64_t blocks = what.blocks(inputs());
    const Matrix<T> z(X.rows, checked_multiply(blocks, of_->features(), kWhat), context, kWhat);
    of_->derivatives()->differentiate(what, X, context, z.view());
    repeat(z, blocks, out);
  }
  template <class T>
  void repeat(const Matrix<T>& z, int64_t blocks, MatrixView<T> out) const {
    for (int64_t i = 0; i < out.rows; ++i)
      for (int64_t b = 0; b < blocks; ++b)
        for (int64_t j = 0; j < features(); ++j)
          out(i, b * features() + j) = z(i, b * of_->features() + columns_[j]);
  }

  std::shared_ptr<const FeatureMap> of_;
  std::vector<int64_t> columns_;
};

/// The columns of the parts' roots, one for each column of z.
class ConcatenatedRoot final : public FrequencyRoot {
 public:
  ConcatenatedRoot(const FieldMaps& parts, int64_t columns)
      : FrequencyRoot(parts.front()->outputs(), 1),
        table_(columns, outputs(), [parts, columns](Context& context) {
          Matrix<double> table(columns, parts.front()->outputs(), context, "roots of a sum");
          double* to = table.data();
          for (const auto& part : parts) {
            const Matrix<double> B = part->roots(context);
            const int64_t q = part->width();
            for (int64_t c = 0; c < part->scalar().features(); ++c)
              for (int64_t b = 0; b < q; ++b)
                for (int64_t o = 0; o < part->outputs(); ++o)
                  *to++ = B(B.rows() == 1 ? 0 : c, o * q + b);
          }
          return table;
        }) {}
  void prepare(Context& context) const override { table_.prepared(context); }
  void spread(int64_t j, const double* c, double* out) const noexcept override {
    for (int64_t o = 0; o < outputs(); ++o) out[o] = *c * table_[j][o];
  }
  void gather(int64_t j, const double* g, double* c) const noexcept override {
    *c = 0;
    for (int64_t o = 0; o < outputs(); ++o) *c += g[o] * table_[j][o];
  }

 private:
  Frequencies table_;  // drawn when first used, columns x p
};

}  // namespace

std::unique_ptr<FeatureMap> make_field_sum(FieldSum of) {
  FieldMapParts whole;
  std::vector<int64_t> columns;
  int64_t first = 0;
  for (const auto& part : of.parts) {
    for (int64_t c = 0; c < part->features(); ++c) columns.push_back(first + c / part->width());
    first += part->scalar().features();
  }
  whole.parameters = std::move(of.parameters);
  whole.numbers = std::move(of.numbers);
  whole.kernel = std::move(of.kernel);
  whole.root = std::make_shared<const ConcatenatedRoot>(of.parts, std::ssize(columns));
  whole.scalar = std::make_shared<const RepeatedColumns>(std::move(of.scalar), std::move(columns));
  // Independent parts: variances add up.
  whole.variance = [parts = of.parts](MatrixView<const double> X, MatrixView<const double> Y,
                                      Context& context, MatrixView<double> out) {
    const Matrix<double> own(out.rows, out.cols, context, "the variance of one part");
    for (int64_t i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
    for (const auto& part : parts) {
      part->variances(X, Y, context, own.view());
      for (int64_t i = 0; i < out.rows; ++i)
        for (int64_t j = 0; j < out.cols; ++j) out(i, j) += own(i, j);
    }
  };
  whole.sum = std::move(of.parts);
  return std::make_unique<FieldMap>(std::move(whole));
}

}  // namespace mercer::feature
