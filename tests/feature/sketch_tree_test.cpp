// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Compositions against their nodes one by one: factors numbered through the tree in the order in
// which nodes are finished, e_1 in place of leaves past the degree, [Re | Im] below a real
// projection. Bit for bit.
#include "projection/multilinear_reference.h"
#include "sketch_cases.h"
#include "support/catch.h"

using namespace mercer;
using namespace mercer::feature;
using projection::FactorShape;
using projection::sketch_kind;
using projection::SketchKind;
using projection::SketchShape;
using test::Evaluated;
using test::SketchCase;

namespace {

constexpr int64_t kInputs = 5;
constexpr double kGamma = 0.8, kOffset = 0.3, kVariance = 1.5;

// The nodes of one composition, evaluated as they come.
class Nodes {
 public:
  Nodes(const SketchOptions& options, const Matrix<double>& X) : options_(options), X_(X) {}

  Evaluated<double> leaf(bool e1, int64_t columns, double scale) {
    const FactorShape shape =
        e1 ? FactorShape{0, 1, 1} : FactorShape{kInputs, std::sqrt(kGamma), std::sqrt(kOffset)};
    const SketchKind* mixing = &projection::single_kind(*options_.kind);
    projection::FactorRows<double> rows;
    rows.dense.re = e1 ? MatrixView<const double>(nullptr, X_.rows(), 0) : X_.view();
    return node(mixing, is_complex(), {shape}, {rows}, columns, scale);
  }

  Evaluated<double> pair(const Evaluated<double>& a, const Evaluated<double>& b, int64_t columns,
                         double scale) {
    return node(options_.kind, is_complex(), {{a.re.cols()}, {b.re.cols()}},
                {rows_of(a), rows_of(b)}, columns, scale);
  }

  Evaluated<double> plain(int64_t p, int64_t columns) {
    const auto count = static_cast<size_t>(p);
    const FactorShape shape{kInputs, std::sqrt(kGamma), std::sqrt(kOffset)};
    projection::FactorRows<double> rows;
    rows.dense.re = X_.view();
    return node(options_.kind, is_complex(), std::vector<FactorShape>(count, shape),
                std::vector(count, rows), columns, 1);
  }

  Evaluated<double> down(const Evaluated<double>& wide, int64_t columns, double scale) {
    if (options_.field != SketchField::complex_to_real)
      return node(options_.down, is_complex(), {{wide.re.cols()}}, {rows_of(wide)}, columns, scale);
    const int64_t m = wide.re.cols();
    const Matrix<double> real(X_.rows(), 2 * m);
    for (int64_t i = 0; i < X_.rows(); ++i) {
      std::copy_n(wide.re.view().row(i), m, real.view().row(i));
      std::copy_n(wide.im.view().row(i), m, real.view().row(i) + m);
    }
    projection::FactorRows<double> rows;
    rows.dense.re = real.view();
    return node(options_.down, false, {{2 * m}}, {rows}, columns, scale);
  }

 private:
  bool is_complex() const { return options_.field != SketchField::real; }

  static projection::FactorRows<double> rows_of(const Evaluated<double>& below) {
    projection::FactorRows<double> rows;
    rows.dense.re = below.re.view();
    if (below.im.rows() > 0) rows.dense.im = below.im.view();
    return rows;
  }

  Evaluated<double> node(const SketchKind* mixing, bool complex, std::vector<FactorShape> factors,
                         const std::vector<projection::FactorRows<double>>& rows, int64_t columns,
                         double scale) {
    const auto count = static_cast<int64_t>(factors.size());
    const SketchShape shape{mixing, complex, std::move(factors), columns, options_.seed,
                            next_,  scale};
    next_ += count;
    return test::evaluate<double>(*projection::make_multilinear(shape), rows, X_.rows(),
                                  {0, columns});
  }

  const SketchOptions& options_;
  const Matrix<double>& X_;
  int64_t next_ = 0;
};

Evaluated<double> subtree(Nodes& nodes, int64_t p, int64_t first, int64_t count, int64_t wide,
                          int64_t columns, double scale) {
  if (count == 1) return nodes.leaf(first >= p, columns, scale);
  const Evaluated<double> left = subtree(nodes, p, first, count / 2, wide, wide, 1);
  const Evaluated<double> right = subtree(nodes, p, first + count / 2, count / 2, wide, wide, 1);
  return nodes.pair(left, right, columns, scale);
}

// Rows of the map as it lays them out.
Matrix<double> laid_out(const Evaluated<double>& Z, SketchField field) {
  const int64_t n = Z.re.rows(), m = Z.re.cols();
  const bool complex = Z.im.rows() > 0;
  Matrix<double> out(n, complex ? 2 * m : m);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      const bool interleaved = field == SketchField::complex;
      out(i, interleaved ? 2 * j : j) = Z.re(i, j);
      if (complex) out(i, interleaved ? 2 * j + 1 : m + j) = Z.im(i, j);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("compositions: those of their nodes, degrees 1 to 5 and 9") {
  const Matrix<double> X = test::random_matrix(11, kInputs, 4);
  const int64_t D = 34;
  for (const SketchCase& one : test::sketch_cases()) {
    const SketchOptions& options = one.options;
    if (options.composition == Composition::plain) continue;
    for (const int64_t p : {1, 2, 3, 4, 5, 9}) {
      if (test::lacks_tuples(one, p)) continue;
      const auto kernel = kernel::make_polynomial(p, kGamma, kOffset, kVariance);
      Nodes nodes(options, X);
      const bool pairs = options.field == SketchField::complex_to_real;
      const int64_t wide = options.intermediate / (pairs ? 2 : 1);
      const double scale = std::sqrt(kVariance);
      Evaluated<double> Z;
      if (options.composition == Composition::craft) {
        Z = nodes.down(nodes.plain(p, wide), D, scale);
      } else {
        const auto leaves = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(p)));
        Z = subtree(nodes, p, 0, leaves, wide, pairs ? D / 2 : D, scale);
      }
      CAPTURE(one.label, p);
      const auto map = test::make(*kernel, kInputs, D, one);
      CHECK(
          test::equal_bytes(test::features_of<double>(*map, X.view()), laid_out(Z, options.field)));
    }
  }
}

TEST_CASE("compositions: intermediate sketches have D columns by default, 4D for craft") {
  const Matrix<double> X = test::random_matrix(3, kInputs, 4);
  for (SketchCase one : test::sketch_cases()) {
    if (one.options.composition == Composition::plain) continue;
    const auto kernel = kernel::make_polynomial(3, kGamma, kOffset, kVariance);
    one.options.intermediate = 0;
    const auto map = test::make(*kernel, kInputs, 18, one);
    one.options.intermediate = one.options.composition == Composition::craft ? 72 : 18;
    const auto same = test::make(*kernel, kInputs, 18, one);
    CAPTURE(one.label);
    CHECK(test::equal_bytes(test::features_of<double>(*map, X.view()),
                            test::features_of<double>(*same, X.view())));
  }
}
