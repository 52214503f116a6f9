// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of several outputs of the reference's own frequencies: Phi, its product with vectors and its adjoint.
#include "feature/field/field_root.h"
#include "feature/fourier.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/field_maps.h"
#include "support/kernels.h"
#include "support/reference.h"

namespace mercer::test {
namespace {

using feature::DivergenceRoot;

Matrix<double> row_of(const Reference& x) {
  return filled(1, static_cast<int64_t>(x.size()),
                [&](int64_t, int64_t k) { return x[k].get<double>(); });
}
Matrix<double> numbers_of(const Reference& rows) {
  return filled(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()),
                [&](int64_t i, int64_t k) { return rows[i][k].get<double>(); });
}

/// Rows of the reference, cosine and sine of each frequency together, as ours: all cosines first.
Matrix<double> ours(const Matrix<double>& theirs, int64_t width) {
  const int64_t F = theirs.rows() / (2 * width);
  return filled(theirs.rows(), theirs.cols(), [&](int64_t row, int64_t k) {
    const int64_t c = row / width, b = row % width;
    return theirs((2 * (c % F) + c / F) * width + b, k);
  });
}

std::unique_ptr<const feature::FieldMap> map_of(const Reference& set,
                                                const kernel::FieldParts& parts, bool bounded,
                                                DivergenceRoot kind = DivergenceRoot::symmetric) {
  const double sigma = set["sigma"], d = set["d"];
  const Matrix<double> W = transposed(numbers_of(set["W"]).view());
  const auto omega = std::make_shared<const feature::Frequencies>(
      W.rows(), W.cols(), [&W](Context&) { return copy(W.view()); });
  Context context;
  omega->prepared(context);
  feature::FieldMapParts made;
  made.scalar =
      feature::make_fourier_from(*kernel::make_gaussian({sigma}, 1), W.cols(), W.rows(), omega);
  made.kernel = kernel::make_gaussian({sigma}, 1);
  made.root = feature::make_field_root(omega, parts, bounded ? std::sqrt(d) / sigma : 0, kind);
  return std::make_unique<const feature::FieldMap>(std::move(made));
}

Matrix<double> estimate(const feature::FieldMap& map, const Reference& set) {
  const Matrix<double> x = matrix_of(map, row_of(set["x"]).view()),
                       z = matrix_of(map, row_of(set["z"]).view());
  return product(x.view(), transposed(z.view()).view());
}

void check(const Reference& set, const char* name, const kernel::FieldParts& parts, bool bounded) {
  INFO(name);
  const Reference& expected = set[name];
  const auto made = map_of(set, parts, bounded);
  const feature::FieldMap& map = *made;
  const Matrix<double> x = row_of(set["x"]);
  CHECK(difference(matrix_of(map, x.view()).view(),
                   transposed(ours(numbers_of(expected["Phi_x"]), map.width()).view()).view(),
                   1e-13) == "");
  CHECK(difference(estimate(map, set).view(), numbers_of(expected["Phi_xT_Phi_z"]).view(), 1e-12) ==
        "");
  CHECK(difference(adjoint_of(map, x.view(), row_of(expected["y"])).view(),
                   ours(transposed(row_of(expected["Phi_x_y"]).view()), map.width()).view(),
                   1e-12) == "");
  const Matrix<double> theta = ours(transposed(row_of(expected["theta"]).view()), map.width());
  CHECK(difference(field_of(map, x.view(), theta).view(), row_of(expected["Phi_xT_theta"]).view(),
                   1e-12) == "");
}

}  // namespace

TEST_CASE("maps of several outputs are the reference numbers", "[field]") {
  for (const auto& set : oracle("operator_kernels")["features"]) {
    check(set, "curl_free", {1, 0}, false);
    check(set, "curl_free_bounded", {1, 0}, true);
    check(set, "divergence_free", {0, 1}, false);
    check(set, "divergence_free_bounded", {0, 1}, true);
    const double alpha = set["alpha"];
    const Matrix<double> mixed = numbers_of(set["helmholtz"]["Phi_xT_Phi_z"]);
    for (const auto kind : {DivergenceRoot::symmetric, DivergenceRoot::orthonormal}) {
      const auto map = map_of(set, {alpha, 1 - alpha}, false, kind);
      const int64_t p = set["d"];
      CHECK(map->width() == (kind == DivergenceRoot::symmetric ? p + 1 : p));
      CHECK(difference(estimate(*map, set).view(), mixed.view(), 1e-12) == "");
    }
  }
}

}  // namespace mercer::test
