// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Powers of the modulus of two projections on every target, and against the reference numbers.
#include "transform/modulus.h"

#include "support/dense.h"
#include "support/reference.h"
#include "transform/dense_panel.h"
#include "transform/on_every_target.h"

using namespace mercer;
using namespace mercer::transform;

namespace {

// P: the real parts of all rows, then the imaginary ones.
template <class T>
Matrix<T> finished(int64_t half, const Matrix<T>& P, T scale) {
  const int64_t rows = P.rows() / 2;
  Matrix<T> out(rows, P.cols()), scales(1, P.cols());
  scales.fill(scale);
  EpilogueBlock<T> block{};
  block.P = P.data();
  block.factor_step = rows * P.cols();
  block.rows = rows;
  block.columns = block.ld = P.cols();
  block.scale = scales.data();
  block.out = out.data();
  modulus_epilogue(half)->finish(block);
  return out;
}

}  // namespace

TEST_CASE("modulus: powers of two projections on every target") {
  test::on_every_target_in_both([]<class T>(T) {
    const Matrix<T> P = test::random_matrix<T>(6, 2 * kPanelColumns<T>, 1);
    P(1, 3) = static_cast<T>(NAN);
    for (const int64_t half : {1, 2, 5}) {
      const Matrix<T> Z = finished(half, P, T{3});
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t j = 0; j < P.cols(); ++j) {
          const auto a = static_cast<double>(P(i, j)), b = static_cast<double>(P(3 + i, j));
          if (i == 1 && j == 3) {
            CHECK(std::isnan(Z(i, j)));
            continue;
          }
          // Two roundings of a square and one for each product.
          CHECK(static_cast<double>(Z(i, j)) ==
                Approx(3 * std::pow(a * a + b * b, static_cast<double>(half)))
                    .epsilon(3 * static_cast<double>(half) *
                             static_cast<double>(std::numeric_limits<T>::epsilon())));
        }
      }
    }
  });
}

TEST_CASE("modulus: optical features of given U equal the reference numbers") {
  REQUIRE(test::oracle("transforms").at("maps").size() == 2);
  for (const auto& set : test::oracle("transforms").at("maps")) {
    const std::vector<std::vector<double>> X = set.at("X"), re = set.at("U").at("re"),
                                           im = set.at("U").at("im");
    const auto n = std::ssize(X), D = std::ssize(re[0]);
    Matrix<double> P(2 * n, kPanelColumns<double>);
    P.fill(0);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < D; ++j) {
        for (size_t k = 0; k < re.size(); ++k) {
          P(i, j) += X[static_cast<size_t>(i)][k] * re[k][static_cast<size_t>(j)];
          P(n + i, j) += X[static_cast<size_t>(i)][k] * im[k][static_cast<size_t>(j)];
        }
      }
    }
    for (const int64_t half : {1, 2}) {
      const auto Z = finished(half, P, 1 / std::sqrt(static_cast<double>(D)));
      const std::vector<std::vector<double>> expected =
          set.at(half == 1 ? "optical_m2" : "optical_m4");
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < D; ++j)
          CHECK(Z(i, j) ==
                Approx(expected[static_cast<size_t>(i)][static_cast<size_t>(j)]).epsilon(1e-12));
      }
    }
  }
}
