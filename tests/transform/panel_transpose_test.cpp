// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// P-bar times the transpose of a packed panel on every target: error bound against long double,
// nothing written past the columns of X, bits independent of the rows around.
#include "transform/panel.h"

#include "support/dense.h"
#include "transform/on_every_target.h"

namespace panel_transpose_test {
using namespace mercer;
using namespace mercer::transform;

constexpr int64_t kGap = 3;  // columns of X's rows that belong to somebody else

template <class T>
struct Problem {
  Problem(int64_t n, int64_t inputs)
      : rows(n), d(inputs), P(n * kWidth), panel(inputs * kWidth), before(n, inputs + kGap) {
    const Matrix<T> numbers = test::random_matrix<T>(n + inputs, kWidth, 5);
    std::copy_n(numbers.data(), P.size(), P.data());
    std::copy_n(numbers.view().row(n), panel.size(), panel.data());
    const Matrix<T> start = test::random_matrix<T>(n, inputs + kGap, 6);
    std::copy_n(start.data(), n * (inputs + kGap), before.data());
  }

  static constexpr int64_t kWidth = kPanelColumns<T>;

  Matrix<T> result(int64_t first, int64_t count) const {
    Matrix<T> X(count, d + kGap);
    std::copy_n(before.view().row(first), count * (d + kGap), X.data());
    const AlignedBuffer<T> scratch(kPanelTransposeScratch<T>);
    const AlignedBuffer<T> own(count * kWidth);
    std::copy_n(P.data() + first * kWidth, own.size(), own.data());
    project_panel_transpose(own.data(), panel.data(), X.view().block_cols(0, d), scratch.data());
    return X;
  }

  /// Largest |X - exact| over (w + 2) eps (|x| + sum |p||w|): a sum of w + 1 terms (Higham 2002,
  /// eq. 3.5).
  double worst_ratio(const Matrix<T>& X) const {
    double worst = 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < d; ++k) {
        long double sum = before(i, k), magnitude = std::fabs(before(i, k));
        for (int64_t c = 0; c < kWidth; ++c) {
          const long double product = static_cast<long double>(P[i * kWidth + c]) *
                                      static_cast<long double>(panel[k * kWidth + c]);
          sum += product;
          magnitude += std::fabs(product);
        }
        const long double bound =
            (kWidth + 2) * (std::numeric_limits<T>::epsilon() / 2) * magnitude;
        const double ratio = static_cast<double>(std::fabs(X(i, k) - sum) / bound);
        if (!(ratio <= worst)) worst = ratio;
      }
    }
    return worst;
  }

  int64_t rows;
  int64_t d;
  AlignedBuffer<T> P;
  AlignedBuffer<T> panel;
  Matrix<T> before;
};

template <class T>
void check_target() {
  for (const int64_t d : {1, 2, 7, 16, 17, 33, 100, 127, 128, 129, 300}) {
    for (const int64_t rows : {0, 1, 2, 3, 5, 6, 11, 12, 13, 25, 96}) {
      const Problem<T> problem(rows, d);
      const Matrix<T> X = problem.result(0, rows);
      int64_t wrong = 0;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t k = d; k < d + kGap; ++k) wrong += X(i, k) != problem.before(i, k);
        const Matrix<T> alone = problem.result(i, 1);
        for (int64_t k = 0; k < d; ++k) wrong += alone(0, k) != X(i, k);
      }
      CAPTURE(d, rows);
      REQUIRE(problem.worst_ratio(X) <= 1.0);
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("project_panel_transpose: within the bound, every row as if alone, on every target") {
  test::on_every_target_in_both([](auto zero) { check_target<decltype(zero)>(); });
}

TEST_CASE("project_panel_transpose: NaN stays in its row") {
  const Problem<float> problem(5, 40);
  problem.P[2 * Problem<float>::kWidth + 1] = std::numeric_limits<float>::quiet_NaN();
  const Matrix<float> X = problem.result(0, 5);
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t k = 0; k < 40; ++k) CHECK(std::isnan(X(i, k)) == (i == 2));
  }
}

}  // namespace panel_transpose_test
