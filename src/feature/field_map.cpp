// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With theta cut into c_j for the cosine and s_j for the sine of frequency j,
//   Phi(x)'theta = sum_j cos(omega_j'x) B_j c_j + sin(omega_j'x) B_j s_j:
// scalar features times a matrix of D rows B_j c_j, B_j s_j, which is made once a call. So every
// map costs D d + D p a row, and the adjoint is the transpose of the same product. Where all B_j
// are one B, it comes after the product with theta itself.
#include "feature/field_map.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/composed_map.h"
#include "feature/derivatives.h"
#include "feature/feature_operator.h"
#include "feature/frequencies.h"
#include "feature/kernel_field.h"

namespace mercer::feature {
namespace {

constexpr int64_t kFieldColumns = 64;

// d/dx_l of a cos u + b sin u is omega_l (b cos u - a sin u); of the antiderivative a sin u - b cos
// u along omega it is omega_l (a cos u + b sin u). So the curl-free part of the term, omega
// (omega'a)/||omega||^2 and the same of b, has the potential (omega'a sin u - omega'b cos
// u)/||omega||^2, and in the plane what is left is (omega_2, -omega_1) times a number, which makes
// a stream function in the same way.

template <class Component>
void curl_in(const double* w, int64_t d, const Component& f, double* out) {
  for (int64_t k = 0; k < 3 && d == 3; ++k) {
    const int64_t l = (k + 1) % 3, m = (k + 2) % 3;
    *out++ = w[l] * f(m) - w[m] * f(l);
  }
  for (int64_t k = 0; k < d && d != 3; ++k)
    for (int64_t l = k + 1; l < d; ++l) *out++ = w[k] * f(l) - w[l] * f(k);
}

// The weights for one frequency and one field; f(o) is component o of a_j or b_j.
template <class Component>
void linear_in(FieldKind kind, const double* w, int64_t p, int64_t d, const Component& f,
               double* out) {
  switch (kind) {
    case FieldKind::jacobian:
      for (int64_t o = 0; o < p; ++o)
        for (int64_t l = 0; l < d; ++l) *out++ = w[l] * f(o);
      return;
    case FieldKind::divergence: {
      double sum = 0;
      for (int64_t l = 0; l < d; ++l) sum += w[l] * f(l);
      *out = sum;
      return;
    }
    case FieldKind::curl:
      return curl_in(w, d, f, out);
    case FieldKind::potential: {
      double along = 0, square = 0;
      for (int64_t l = 0; l < d; ++l) {
        along += w[l] * f(l);
        square += w[l] * w[l];
      }
      *out = square > 0 ? along / square : 0;
      return;
    }
    case FieldKind::stream: {
      const double square = w[0] * w[0] + w[1] * w[1];
      *out = square > 0 ? (w[1] * f(0) - w[0] * f(1)) / square : 0;
      return;
    }
    case FieldKind::value:
      break;
  }
  fail(MERCER_INTERNAL, "the values of a field have weights of their own");
}

constexpr bool is_antiderivative(FieldKind kind) {
  return kind == FieldKind::potential || kind == FieldKind::stream;
}

// Roots do not depend on the inputs: derivatives of Phi are those of the scalar features, times the
// same roots.
constexpr int64_t kBlockNumbers = int64_t{1} << 18;
constexpr const char* kScalarDerivatives = "derivatives of scalar features";

int64_t block_rows(int64_t n, int64_t width) {
  return std::clamp<int64_t>(kBlockNumbers / std::max<int64_t>(width, 1), 1,
                             std::max<int64_t>(n, 1));
}

/// Calls body(first, last) for blocks of rows, within stages of which body reports its share.
template <class Body>
void for_each_rows(int64_t n, int64_t size, Context& context, const Body& body) {
  Stage stage(context, n);
  for (int64_t first = 0; first < n; first += size) {
    const int64_t last = std::min(n, first + size);
    stage.share(last - first);
    body(first, last);
    stage.advance(last - first);
    context.checkpoint();
  }
}

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
        if (!as_given) B.spread(c, vector, to);
      }
    }
  });
  if (kind == FieldKind::value) return values;
  return field_weights_of(*this, kind, p, values.view(), context);
}

void FieldMap::multiply(const Rows& X, MatrixView<const double> theta, FieldKind kind,
                        Context& context, const ResultView& out) const {
  if (kind != FieldKind::value && !parts_.sum.empty())
    return add_parts(X, theta, kind, context, out);
  const KernelColumns* const columns = kernel_columns_of(scalar());
  if (columns != nullptr && kind != FieldKind::value && &columns->of_kept() == &scalar().kernel())
    return multiply_kernel_field({scalar().kernel(), outputs()}, columns->kept(), X,
                                 of_outputs(theta, context).view(), kind, context, out);
  const Matrix<double> W = weights(theta, kind, context);
  const bool through_root = kind == FieldKind::value;
  multiply_features(scalar(), X, W.view(),
                    through_root ? shared_root() : MatrixView<const double>(), context, out);
}

/// B theta, p rows for each row of scalar features.
Matrix<double> FieldMap::of_outputs(MatrixView<const double> theta, Context& context) const {
  const int64_t p = outputs(), q = width(), D = scalar().features();
  Matrix<double> spread(checked_multiply(D, p, "outputs"), theta.cols, context, "outputs");
  std::vector<double> vector(q), to(p);
  for (int64_t c = 0; c < D; ++c)
    for (int64_t k = 0; k < theta.cols; ++k) {
      for (int64_t b = 0; b < q; ++b) vector[b] = theta(c * q + b, k);
      root(context).spread(c, vector.data(), to.data());
      for (int64_t o = 0; o < p; ++o) spread(c * p + o, k) = to[o];
    }
  return spread;
}

// Quantities of a sum are sums of those of the parts, each with its own frequencies.
void FieldMap::add_parts(const Rows& X, MatrixView<const double> theta, FieldKind kind,
                         Context& context, const ResultView& out) const {
  X.visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    const MatrixView<T> all = result_of<T>(out);
    const Matrix<T> own(all.rows, all.cols, context, "quantities of one part");
    for (int64_t i = 0; i < all.rows; ++i) std::fill_n(all.row(i), all.cols, T{0});
    int64_t first = 0;
    for (const auto& part : parts_.sum) {
      part->multiply(X, theta.block_rows(first, first + part->features()), kind, context,
                     own.view());
      first += part->features();
      for (int64_t i = 0; i < all.rows; ++i)
        for (int64_t j = 0; j < all.cols; ++j) all(i, j) += own(i, j);
    }
  });
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
      if (!shared) B.gather(c, of_feature.data(), gathered.data());
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

int64_t field_numbers(FieldKind kind, int64_t p, int64_t d) {
  if (kind == FieldKind::value) return p;
  if (kind == FieldKind::jacobian) return checked_multiply(p, d, "a Jacobian");
  require(
      p == d, MERCER_UNSUPPORTED,
      "a field of %ld outputs on %ld inputs, expected as many of both for its divergence, curl, "
      "potential and stream function",
      p, d);
  require(kind != FieldKind::stream || d == 2, MERCER_UNSUPPORTED,
          "a stream function in %ld dimensions, expected 2", d);
  require(kind != FieldKind::curl || d >= 2, MERCER_UNSUPPORTED,
          "a curl in %ld dimension, expected at least 2", d);
  return kind == FieldKind::curl ? d * (d - 1) / 2 : 1;
}

/// Turns the weights of values into those of `kind`, which is not value. Rows c = j (cosine) and F
/// + j (sine) of `values` hold a_j and b_j (m fields of p numbers); `out` is alike, with
/// field_numbers for each field. W holds omega_j, F x d.
static void field_weights(FieldKind kind, int64_t p, MatrixView<const double> W,
                          MatrixView<const double> values, MatrixView<double> out) {
  const int64_t F = W.rows, d = W.cols, numbers = field_numbers(kind, p, d);
  for (int64_t j = 0; j < 2 * F; ++j) {
    // The row of cosines is made from the weights of sines and the other way round, one of them
    // negated.
    const bool cosine = j < F;
    const double sign = cosine == is_antiderivative(kind) ? -1 : 1;
    const double* const from = values.row(cosine ? F + j : j - F);
    for (int64_t k = 0; k < values.cols / p; ++k) {
      linear_in(
          kind, W.row(cosine ? j : j - F), p, d, [&](int64_t o) { return sign * from[k * p + o]; },
          out.row(j) + k * numbers);
    }
  }
}

Matrix<double> field_weights_of(const FeatureMap& map, FieldKind kind, int64_t p,
                                MatrixView<const double> values, Context& context) {
  constexpr const char* kWhat = "the weights of features";
  require(values.rows == 2 * map.scalar().frequency_count(), MERCER_UNSUPPORTED,
          "map %s of kernel %s: what it is multiplied with has values alone, expected map fourier "
          "of form pair",
          std::string(map.name()).c_str(), std::string(map.kernel().name()).c_str());
  const Matrix<double> W = map.scalar().frequencies(context);
  const int64_t fields = values.cols / p, numbers = field_numbers(kind, p, map.inputs());
  Matrix<double> asked(values.rows, checked_multiply(numbers, fields, kWhat), context, kWhat);
  field_weights(kind, p, W.view(), values, asked.view());
  return asked;
}

template <class T>
void FieldMap::check_field(MatrixView<const T> X, MatrixView<const T> V, Extents of_V,
                           MatrixView<T> out, Extents of_out) const {
  require(X.cols == inputs() && V.rows == X.rows * of_V.per_row && V.cols == of_V.cols &&
              out.rows == X.rows * of_out.per_row && out.cols == of_out.cols,
          MERCER_DIMENSION_MISMATCH,
          "X %ld x %ld, its vectors %ld x %ld, out %ld x %ld, expected %ld inputs, and %ld "
          "x %ld and %ld x %ld for each row of X",
          X.rows, X.cols, V.rows, V.cols, out.rows, out.cols, inputs(), of_V.per_row, of_V.cols,
          of_out.per_row, of_out.cols);
}

// of(first, last, block) makes `blocks` times D numbers for each of those rows.
template <class T, class Of>
void FieldMap::spread_rows(int64_t n, int64_t blocks, Context& context, MatrixView<T> out,
                           const Of& of) const {
  const int64_t p = outputs(), q = width(), D = scalar().features(), r = features();
  const int64_t columns = checked_multiply(blocks, D, kScalarDerivatives),
                size = block_rows(n, columns);
  const Matrix<double> B = root_table(0, D, context);
  const Matrix<T> z(std::min(size, n), columns, context, kScalarDerivatives);
  for_each_rows(n, size, context, [&](int64_t first, int64_t last) {
    of(first, last, z.view().block_rows(0, last - first));
    parallel_for(context, last - first, [&](int64_t i, int) noexcept {
      for (int64_t o = 0; o < p; ++o)
        for (int64_t b = 0; b < blocks; ++b) {
          T* to = out.row((first + i) * p + o) + b * r;
          for (int64_t c = 0; c < D; ++c)
            for (int64_t j = 0; j < q; ++j)
              *to++ = static_cast<T>(static_cast<double>(z(i, b * D + c)) * B(c, o * q + j));
        }
    });
  });
}

template <class T>
void FieldMap::differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                                  MatrixView<T> out) const {
  const int64_t blocks = what.blocks(inputs());
  check_field(X, X, {1, inputs()}, out,
              {outputs(), checked_multiply(blocks, features(), "derivatives")});
  spread_rows(
      X.rows, blocks, context, out, [&](int64_t first, int64_t last, const MatrixView<T>& block) {
        scalar().derivatives()->differentiate(what, X.block_rows(first, last), context, block);
      });
}

template <class T>
void FieldMap::push_rows(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
  check_field(X, V, {1, inputs()}, out, {outputs(), features()});
  spread_rows(X.rows, 1, context, out,
              [&](int64_t first, int64_t last, const MatrixView<T>& block) {
                scalar().derivatives()->push_forward(X.block_rows(first, last),
                                                     V.block_rows(first, last), context, block);
              });
}

template <class T>
void FieldMap::pull_rows(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                         MatrixView<T> out) const {
  check_field(X, G, {outputs(), features()}, out, {1, inputs()});
  const int64_t p = outputs(), q = width(), D = scalar().features();
  const int64_t size = block_rows(X.rows, D);
  const Matrix<double> B = root_table(0, D, context);
  const Matrix<T> g(std::min(size, X.rows), D, context, kScalarDerivatives);
  for_each_rows(X.rows, size, context, [&](int64_t first, int64_t last) {
    const MatrixView<T> block = g.view().block_rows(0, last - first);
    parallel_for(context, last - first, [&](int64_t i, int) noexcept {
      for (int64_t c = 0; c < D; ++c) {
        double sum = 0;
        for (int64_t o = 0; o < p; ++o)
          for (int64_t j = 0; j < q; ++j)
            sum += static_cast<double>(G((first + i) * p + o, c * q + j)) * B(c, o * q + j);
        block(i, c) = static_cast<T>(sum);
      }
    });
    scalar().derivatives()->pull_back(X.block_rows(first, last), MatrixView<const T>(block),
                                      context, out.block_rows(first, last));
  });
}

#define MERCER_FIELD_DERIVATIVES(T)                                                             \
  void FieldMap::differentiate(const Derivative& what, MatrixView<const T> X, Context& context, \
                               MatrixView<T> out) const {                                       \
    differentiate_rows<T>(what, X, context, out);                                               \
  }                                                                                             \
  void FieldMap::push_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,   \
                              MatrixView<T> out) const {                                        \
    push_rows<T>(X, V, context, out);                                                           \
  }                                                                                             \
  void FieldMap::pull_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,      \
                           MatrixView<T> out) const {                                           \
    pull_rows<T>(X, G, context, out);                                                           \
  }
MERCER_FIELD_DERIVATIVES(float)
MERCER_FIELD_DERIVATIVES(double)
#undef MERCER_FIELD_DERIVATIVES

// Phi itself, for callers that ask for it.
Matrix<double> FieldMap::root_table(int64_t first, int64_t last, Context& context) const {
  const FrequencyRoot& B = root(context);
  const int64_t p = outputs(), q = width();
  Matrix<double> table(last - first, checked_multiply(p, q, "B(omega)"), context, "B(omega)");
  std::vector<double> unit(q, 0.0), column(p);
  for (int64_t c = first; c < last; ++c) {
    for (int64_t b = 0; b < q; ++b) {
      unit[b] = 1;
      B.spread(c, unit.data(), column.data());
      unit[b] = 0;
      for (int64_t o = 0; o < p; ++o) table(c - first, o * q + b) = column[o];
    }
  }
  return table;
}

Matrix<double> FieldMap::roots(Context& context) const {
  prepare(Precision::f64, context);
  return root_table(0, shared_root().rows > 0 ? 1 : scalar().features(), context);
}

void FieldMap::apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const {
  const int64_t p = outputs(), q = width();
  const Columns own{c.begin / q, ceil_divide(c.end, q)};  // columns of z
  if (X.rows() == 0 || c.begin == c.end) return;
  const Matrix<double> B = root_table(own.begin, own.end, context);
  X.visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    const MatrixView<T> out = result_of<T>(Z);
    for_each_block(scalar(), rows, own, context, [&](int64_t first, MatrixView<const T> z) {
      parallel_for(context, z.rows, [&](int64_t i, int) noexcept {
        for (int64_t o = 0; o < p; ++o) {
          T* to = out.row((first + i) * p + o);
          for (int64_t s = own.begin; s < own.end; ++s) {
            const auto value = static_cast<double>(z(i, s - own.begin));
            const double* const root = B.view().row(s - own.begin) + o * q;
            const int64_t end = std::min(q, c.end - s * q);
            for (int64_t b = std::max<int64_t>(0, c.begin - s * q); b < end; ++b)
              *to++ = static_cast<T>(value * root[b]);
          }
        }
      });
    });
  });
}

// Features of a sum of kernels of several outputs: those of the parts one after the other,
// Phi = [Phi_1; Phi_2; ...], so that Phi(x)'Phi(z) = sum_i K~_i(x, z). Roots of the parts have
// different numbers of columns q: here each column of a root has a column of z of its own, that of
// the part again, and q is 1.

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
