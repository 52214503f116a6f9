// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows times a packed panel on every target: error bound against long double, bits independent of
// the rows around.
#include "transform/panel.h"

#include "base/aligned.h"
#include "transform/on_every_target.h"

namespace dense_panel_test {
using namespace mercer;
using namespace mercer::transform;

template <class T>
T pseudo_random(int64_t i) {
  const uint64_t mixed = static_cast<uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
  return static_cast<T>(static_cast<double>((mixed ^ (mixed >> 29)) >> 11 & 0xfffff) / 524288.0 -
                        1.0);
}

template <class T>
struct Problem {
  Problem(int64_t rows, int64_t d)
      : X(rows, d + 3),
        panel(d * kPanelColumns<T>),
        P(rows * kPanelColumns<T>),
        rows_(rows),
        d_(d) {
    for (int64_t i = 0; i < rows * (d + 3); ++i) X.data()[i] = pseudo_random<T>(i);
    for (int64_t i = 0; i < panel.size(); ++i) panel[i] = pseudo_random<T>(i + 77777);
  }
  MatrixView<const T> view() const { return {X.data(), rows_, d_, d_ + 3}; }

  // Largest |P - exact| over (d + 1) eps sum |x||w|, the bound of a sum of d products in any order
  // (Higham 2002, eq. 3.5).
  double worst_ratio() const {
    double worst = 0;
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < kPanelColumns<T>; ++j) {
        long double sum = 0, magnitude = 0;
        for (int64_t k = 0; k < d_; ++k) {
          const long double product =
              static_cast<long double>(X(i, k)) * panel[k * kPanelColumns<T> + j];
          sum += product;
          magnitude += std::fabs(product);
        }
        const long double bound = (d_ + 1) * (std::numeric_limits<T>::epsilon() / 2) * magnitude;
        worst = std::max(worst,
                         static_cast<double>(std::fabs(P[i * kPanelColumns<T> + j] - sum) / bound));
      }
    }
    return worst;
  }

  Matrix<T> X;
  AlignedBuffer<T> panel;
  AlignedBuffer<T> P;
  int64_t rows_;
  int64_t d_;
};

template <class T>
void check_target() {
  for (const int64_t d : {1, 2, 7, 64, 1023, 1024, 1025, 2500}) {
    for (const int64_t rows : {1, 2, 3, 5, 6, 11, 12, 13, 25, 96}) {
      if (rows > 13 && d > 100) continue;
      const Problem<T> problem(rows, d);
      project_panel(problem.view(), problem.panel.data(), problem.P.data());
      CAPTURE(d, rows);
      REQUIRE(problem.worst_ratio() <= 1.0);
      const AlignedBuffer<T> alone(kPanelColumns<T>);
      int64_t wrong = 0;
      for (int64_t i = 0; i < rows; ++i) {
        project_panel(problem.view().block_rows(i, i + 1), problem.panel.data(), alone.data());
        for (int64_t j = 0; j < kPanelColumns<T>; ++j)
          wrong += alone[j] != problem.P[i * kPanelColumns<T> + j];
      }
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("project_panel: within the error bound, and every row as if alone, on every target") {
  test::on_every_target_in_both([](auto t) { check_target<decltype(t)>(); });
}

TEST_CASE("targets: the baseline is among them") {
  CHECK(!supported_targets().empty());
  CHECK(!target_name(supported_targets().front()).empty());
}

}  // namespace dense_panel_test
