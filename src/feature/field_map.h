// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random features of kernels of several outputs (Brault, Heinonen, d'Alche-Buc 2016): a map z of
// one output, of D columns, and a root B_c (p x q) for each column, the same for cosine and sine of
// a frequency:
//   Phi(x) y, of r = D q features: entry c q + b is z_c(x) (B_c'y)_b;
// Phi(x)'Phi(z) estimates K(x, z). Products of Phi and its transpose go through z and B, one after
// the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/feature_operator.h"

namespace mercer::feature {

// The roots B_c, p x q, of all columns of a map as linear operators: they make a map of several
// outputs of a scalar one. Columns j and F + j of F frequencies have the root of omega_j.

class FrequencyRoot {
 public:
  virtual ~FrequencyRoot() = default;
  int64_t outputs() const noexcept { return outputs_; }  // p
  int64_t width() const noexcept { return width_; }      // q
  /// Draws what the products need; thread-safe, and may fail and be retried.
  virtual void prepare(Context&) const {}
  /// out = B_j c, of column j; prepare has been called.
  virtual void spread(int64_t j, const double* c, double* out) const noexcept = 0;
  /// c = B_j' g; prepare has been called.
  virtual void gather(int64_t j, const double* g, double* c) const noexcept = 0;
  /// B where it is the same for all frequencies, else no rows.
  virtual MatrixView<const double> shared() const noexcept { return {}; }

 protected:
  FrequencyRoot(int64_t outputs, int64_t width) : outputs_(outputs), width_(width) {}

 private:
  int64_t outputs_;
  int64_t width_;
};

/// Row i of out, p p numbers: E (K~ - K)^2 of the pair X_i, Y_i.
using RowVariance = std::function<void(MatrixView<const double> X, MatrixView<const double> Y,
                                       Context& context, MatrixView<double> out)>;

class FieldMap;
using FieldMaps = std::vector<std::shared_ptr<const FieldMap>>;

struct FieldMapParts {
  Parameters parameters;  // the canonical spec
  std::shared_ptr<const kernel::Kernel> kernel;
  std::shared_ptr<const FeatureMap> scalar;
  std::shared_ptr<const FrequencyRoot> root;
  RowVariance variance;              // UNSUPPORTED without a closed form
  std::vector<NumberArray> numbers;  // what the spec cannot hold
  FieldMaps sum = {};                // the maps that it is the sum of, features in this order
};

class FieldMap final : public FeatureMap, private Derivatives {
 public:
  explicit FieldMap(FieldMapParts parts);

  const FieldMap* field() const noexcept override { return this; }
  const FeatureMap& scalar() const noexcept { return *parts_.scalar; }
  int64_t width() const noexcept { return parts_.root->width(); }  // q
  /// B (p x q) where it is the same for all columns, else no rows.
  MatrixView<const double> shared_root() const noexcept { return parts_.root->shared(); }
  /// Row c: the p q numbers of B_c, row after row; a single row if the root is shared.
  Matrix<double> roots(Context& context) const;

  std::string_view name() const noexcept override { return scalar().name(); }
  Parameters parameters() const override { return parts_.parameters; }
  const kernel::Kernel& kernel() const noexcept override { return *parts_.kernel; }
  std::vector<NumberArray> numbers() const override { return parts_.numbers; }
  void prepare(Precision precision, Context& context) const override;

  /// Cost: n p r in addition to z.
  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override;
  /// The functions of feature_operator.h, without checks of arguments. Cost for values: D d + D p m
  /// a row (D d + (D + p) q m with a shared root), and D p q m once; memory: a block of features, D
  /// p m numbers.
  void multiply(const Rows& X, MatrixView<const double> theta, FieldKind kind, Context& context,
                const ResultView& out) const;
  void adjoint(const Rows& X, const Rows& Y, Context& context, MatrixView<double> theta) const;
  /// Derivatives of output o at X_i are row i p + o, and rows of G likewise.
  const Derivatives* derivatives() const noexcept override {
    return scalar().derivatives() != nullptr ? this : nullptr;
  }
  void variances(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                 MatrixView<double> out) const;

 private:
  int64_t most_order() const noexcept override { return scalar().derivatives()->most_order(); }
  void pull_back(MatrixView<const float> X, MatrixView<const float> G, Context& context,
                 MatrixView<float> out) const override;
  void pull_back(MatrixView<const double> X, MatrixView<const double> G, Context& context,
                 MatrixView<double> out) const override;
  void push_forward(MatrixView<const float> X, MatrixView<const float> V, Context& context,
                    MatrixView<float> out) const override;
  void push_forward(MatrixView<const double> X, MatrixView<const double> V, Context& context,
                    MatrixView<double> out) const override;
  void differentiate(const Derivative& what, MatrixView<const float> X, Context& context,
                     MatrixView<float> out) const override;
  void differentiate(const Derivative& what, MatrixView<const double> X, Context& context,
                     MatrixView<double> out) const override;
  Matrix<double> weights(MatrixView<const double> theta, FieldKind kind, Context& context) const;
  Matrix<double> of_outputs(MatrixView<const double> theta, Context& context) const;
  void add_parts(const Rows& X, MatrixView<const double> theta, FieldKind kind, Context& context,
                 const ResultView& out) const;
  /// The root, after prepare.
  const FrequencyRoot& root(Context& context) const;
  /// B of columns [first, last) of z as numbers: row c - first is p x q.
  Matrix<double> root_table(int64_t first, int64_t last, Context& context) const;

  /// The number of rows that a matrix has for each row of X, and the number of its columns.
  struct Extents {
    int64_t per_row;
    int64_t cols;
  };
  template <class T>
  void check_field(MatrixView<const T> X, MatrixView<const T> V, Extents of_V, MatrixView<T> out,
                   Extents of_out) const;
  template <class T, class Of>
  void spread_rows(int64_t n, int64_t blocks, Context& context, MatrixView<T> out,
                   const Of& of) const;
  template <class T>
  void differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                          MatrixView<T> out) const;
  template <class T>
  void push_rows(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                 MatrixView<T> out) const;
  template <class T>
  void pull_rows(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                 MatrixView<T> out) const;

  FieldMapParts parts_;
};

/// The sum of maps of as many outputs, of a kernel that is the sum of theirs: `scalar` has the
/// columns of the parts' maps of one output side by side, `parameters` and `numbers` are the whole's.
struct FieldSum {
  Parameters parameters;
  std::vector<NumberArray> numbers;
  std::shared_ptr<const kernel::Kernel> kernel;
  std::shared_ptr<const FeatureMap> scalar;
  FieldMaps parts;
};
std::unique_ptr<FeatureMap> make_field_sum(FieldSum of);

// Derivatives and antiderivatives of a learnt field f(x) = sum_j (a_j cos omega_j'x + b_j sin
// omega_j'x), a_j and b_j in R^p: all are linear in cosines and sines again, so that only the
// weights change.

/// The same turn with the frequencies of a map, D rows. UNSUPPORTED where its features are not
/// cosines and sines side by side.
Matrix<double> field_weights_of(const FeatureMap& map, FieldKind kind, int64_t p,
                                MatrixView<const double> values, Context& context);

}  // namespace mercer::feature
