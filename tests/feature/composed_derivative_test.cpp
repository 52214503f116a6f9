// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of maps of products of kernels: their inner products have the derivatives of the
// kernel as their mean, whatever columns are multiplied; tiles of rows, and what is refused.
#include <cmath>
#include <cstring>
#include <string>

#include "feature/derivatives.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/statistic.h"

using namespace mercer;
using namespace mercer::test;

namespace {

using feature::Derivative;
using Kind = Derivative::Kind;

const std::string kBell = R"({"kernel":"gaussian","lengthscale":0.9,"variance":1.5})";
const std::string kSquare = R"({"kernel":"polynomial","gamma":0.7,"offset":0.5})";

std::unique_ptr<FeatureMap> product(const std::string& kernels, const std::string& maps, int64_t D,
                                    int64_t d = 2) {
  return spec::map_from_spec(R"({"map":"product","kernel":{"kernel":"product","parts":[)" +
                             kernels + R"(]},"inputs":)" + std::to_string(d) + R"(,"features":)" +
                             std::to_string(D) + R"(,"seed":5,"parts":[)" + maps + "]}");
}

/// z-score of the mean over columns of d^p z(x) conj(d^q z(y)), columns being independent.
double score(const FeatureMap& map, const Matrix<double>& X, const kernel::MultiIndex& p,
             const kernel::MultiIndex& q) {
  const auto A = differentiated(map, {Kind::partials, {p}}, X),
             B = differentiated(map, {Kind::partials, {q}}, X);
  const auto form = map.column_form();
  const int64_t N = form == feature::ColumnForm::halves ? map.features() / 2 : map.features();
  const auto times = [&](int64_t j) { return A(0, j) * B(1, j); };
  std::vector<double> columns;
  for (int64_t j = 0; j < N; ++j) {
    double one = form == feature::ColumnForm::complex ? times(2 * j) + times(2 * j + 1) : times(j);
    if (form == feature::ColumnForm::halves) one += times(N + j);
    columns.push_back(one * static_cast<double>(N));
  }
  const double exact =
      map.kernel().differential(p, q)->at(X.cols(), X.view().row(0), X.view().row(1));
  return std::fabs(studentised_z_score(columns, exact));
}

}  // namespace

TEST_CASE("product: derivatives of features estimate those of the kernel") {
  const std::string pair = R"({"map":"fourier"})", real = R"({"map":"product_sketch"})",
                    phase = R"({"map":"fourier","form":"phase"})",
                    complex = R"({"map":"fourier","form":"complex"})";
  const struct {
    std::string kernels;
    std::string maps;
    int64_t reals;  // numbers of a column
  } cases[] = {{kBell + "," + kSquare, pair + "," + real, 2},
               {kSquare + "," + kBell, real + "," + phase, 1},
               {kBell + "," + kBell, pair + "," + pair, 2},
               {kBell + "," + kBell + "," + kSquare, complex + "," + complex + "," + real, 1}};
  const kernel::MultiIndex none, first = {{0, 1}}, second = {{1, 2}}, mixed = {{0, 1}, {1, 1}};
  const Matrix<double> X = filled(2, 2, [](int64_t i, int64_t k) {
    return 0.2 + 0.5 * static_cast<double>(i) - 0.3 * static_cast<double>(k);
  });
  const double z = z_threshold(kFailure, 16);
  for (const auto& one : cases) {
    INFO(one.kernels);
    const auto map = product(one.kernels, one.maps, 20000 * one.reals);
    CHECK(score(*map, X, first, none) <= z);
    CHECK(score(*map, X, first, first) <= z);
    CHECK(score(*map, X, none, second) <= z);
    CHECK(score(*map, X, mixed, first) <= z);
  }
}

TEST_CASE("product: rows of derivatives depend on their row alone") {
  // More rows than a tile of the gradient takes.
  const int64_t n = 70, d = 40, D = 6000;
  const auto map =
      product(kBell + "," + kSquare, R"({"map":"fourier"},{"map":"product_sketch"})", D, d);
  const Matrix<float> X = random_matrix<float>(n, d, 3), V = random_matrix<float>(n, d, 4);
  const auto same = [](const Matrix<float>& all, int64_t i, const Matrix<float>& one) {
    return std::memcmp(all.view().row(i), one.data(),
                       sizeof(float) * static_cast<size_t>(all.cols())) == 0;
  };
  const auto row = [](const Matrix<float>& A, int64_t i) {
    return converted<float>(copy(A.view().block_rows(i, i + 1)));
  };
  const auto gradient = differentiated(*map, {Kind::gradient}, X, 2);
  const auto along = pushed(*map, X, V, 2);
  const Matrix<float> G = random_matrix<float>(n, D, 6);
  const auto back = pulled(*map, X, G, 2);
  for (const int64_t i : {int64_t{0}, int64_t{33}, n - 1}) {
    CHECK(same(gradient, i, differentiated(*map, {Kind::gradient}, row(X, i))));
    CHECK(same(along, i, pushed(*map, row(X, i), row(V, i))));
    CHECK(same(back, i, pulled(*map, row(X, i), row(G, i))));
  }
  const Matrix<float> nothing(0, d);
  CHECK(differentiated(*map, {Kind::hessian_diagonal}, nothing).rows() == 0);
}

TEST_CASE("product: derivatives that a part does not have are refused") {
  const auto map = product(kBell + R"(,{"kernel":"arc_cosine"})",
                           R"({"map":"fourier"},{"map":"arc_cosine"})", 64);
  CHECK(derivatives_of(*map).most_order() == 1);
  const auto X = random_matrix(3, 2, 1);
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED, [&] { differentiated(*map, {Kind::hessian_diagonal}, X); },
            "order 2 of map product", "expected up to 1") == "");
  const auto smooth =
      product(kBell + "," + kSquare, R"({"map":"fourier"},{"map":"product_sketch"})", 64, 16);
  kernel::MultiIndex many;
  for (int64_t k = 0; k < 11; ++k) many.push_back({k, 1});
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED,
            [&] {
              differentiated(*smooth, {Kind::partials, {many}}, random_matrix(3, 16, 1));
            },
            "order 11", "1024") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] {
              product(R"({"kernel":"exponential"},)" + kBell,
                      R"({"map":"positive","form":"hyperbolic"},{"map":"fourier"})", 6);
            },
            "features = 6, expected a multiple of 4", "parts[0]", "3 columns each") == "");
}
