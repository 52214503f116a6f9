// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With theta cut into c_j for the cosine and s_j for the sine of frequency j,
//   Phi(x)'theta = sum_j cos(omega_j'x) B_j c_j + sin(omega_j'x) B_j s_j:
// scalar features times a matrix of D rows B_j c_j, B_j s_j, which is made once a call. So every
// map costs D d + D p a row, and the adjoint is the transpose of the same product. Where all B_j
// are one B, it comes after the product with theta itself.
#include "feature/field/field_map.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/feature_products.h"
#include "feature/field/field_weights.h"

namespace mercer::feature {
namespace {

constexpr int64_t kFieldColumns = 64;

}  // namespace

FieldMap::FieldMap(FieldMapParts parts)
    : FeatureMap(parts.scalar->inputs(),
                 checked_multiply(parts.scalar->features(), parts.root->width(), "features"), false,
                 parts.root->outputs()),
      parts_(std::move(parts)) {
  require(outputs() >= 1 && width() >= 1, MERCER_INVALID_ARGUMENT,
          "roots of %ld x %ld numbers, expected at least one", outputs(), width());
  require(!scalar().is_complex(), MERCER_UNSUPPORTED,
          "map %s is complex, expected a real one for a kernel of several outputs",
          std::string(scalar().name()).c_str());
}

void FieldMap::prepare(Precision precision, Context& context) const {
  root(context);
  scalar().prepare(precision, context);
}

const FrequencyRoot& FieldMap::root(Context& context) const {
  parts_.root->prepare(context);
  return *parts_.root;
}

// The D rows that scalar features are multiplied by. For values with a shared root they are theta
// as it is.
Matrix<double> FieldMap::weights(MatrixView<const double> theta, FieldKind kind,
                                 Context& context) const {
  constexpr const char* kWhat = "the weights of features";
  const FrequencyRoot& B = root(context);
  const int64_t D = scalar().features(), p = outputs(), q = width(), m = theta.cols;
  const bool as_given = kind == FieldKind::value && B.shared().rows > 0;
  const int64_t each = as_given ? q : p;
  Matrix<double> values(D, checked_multiply(each, m, kWhat), context, kWhat);
  const int64_t chunks = ceil_divide(D, kFieldColumns);
  const Matrix<double> vectors(worker_count(context, chunks), q, context, kWhat);
  parallel_for(context, chunks, [&](int64_t chunk, int worker) noexcept {
    double* const vector = vectors.view().row(worker);
    const int64_t end = std::min(D, (chunk + 1) * kFieldColumns);
    for (int64_t c = chunk * kFieldColumns; c < end; ++c) {
      for (int64_t k = 0; k < m; ++k) {
        double* const to = values.view().row(c) + k * each;
        for (int64_t b = 0; b < q; ++b) (as_given ? to : vector)[b] = theta(c * q + b, k);
        if (!as_given) B.spread(frequency_of(c), vector, to);
      }
    }
  });
  if (kind == FieldKind::value) return values;
  return field_weights_of(*this, kind, p, values.view(), context);
}

void FieldMap::multiply(const Rows& X, MatrixView<const double> theta, FieldKind kind,
                        Context& context, const ResultView& out) const {
  const Matrix<double> W = weights(theta, kind, context);
  const bool through_root = kind == FieldKind::value;
  multiply_features(scalar(), X, W.view(),
                    through_root ? shared_root() : MatrixView<const double>(), context, out);
}

void FieldMap::adjoint(const Rows& X, const Rows& Y, Context& context,
                       MatrixView<double> theta) const {
  const int64_t q = width(), m = theta.cols, D = scalar().features();
  const FrequencyRoot& B = root(context);
  const bool shared = B.shared().rows > 0;
  const int64_t each = shared ? q : outputs();
  const Matrix<double> sums(each * m, D, context, "the sums over rows");
  sums.fill(0);
  add_feature_sums(scalar(), X, Y, B.shared(), context, sums.view());
  std::vector<double> of_feature(each), gathered(q);
  const std::vector<double>& vector = shared ? of_feature : gathered;
  for (int64_t c = 0; c < D; ++c) {
    for (int64_t k = 0; k < m; ++k) {
      for (int64_t o = 0; o < each; ++o) of_feature[o] = sums(k * each + o, c);
      if (!shared) B.gather(frequency_of(c), of_feature.data(), gathered.data());
      for (int64_t b = 0; b < q; ++b) theta(c * q + b, k) = vector[b];
    }
  }
}

void FieldMap::variances(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                         MatrixView<double> out) const {
  const int64_t p = outputs();
  require(X.cols == inputs() && Y.cols == inputs() && Y.rows == X.rows && out.rows == X.rows &&
              out.cols == checked_multiply(p, p, "variance"),
          MERCER_DIMENSION_MISMATCH,
          "X is %ld x %ld, Y %ld x %ld and out %ld x %ld, expected %ld inputs, as many rows "
          "of each and p p = %ld columns of out",
          X.rows, X.cols, Y.rows, Y.cols, out.rows, out.cols, inputs(), p * p);
  parts_.variance(X, Y, context, out);
}

}  // namespace mercer::feature
