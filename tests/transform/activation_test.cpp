// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Epilogues: powers of the positive part, signs, powers of a modulus.
#include "transform/epilogue.h"

#include "support/dense.h"
#include "support/epilogue.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "transform/on_every_target.h"
#include "transform/panel.h"

namespace activation_test {
using namespace mercer;
using namespace mercer::transform;

constexpr int64_t kRows = 3;

template <class T>
Matrix<T> finished(const std::unique_ptr<const Epilogue>& epilogue, const Matrix<T>& P,
                   const Matrix<T>& scale) {
  Matrix<T> out(P.rows(), P.cols());
  test::finish(epilogue, P.data(), P.rows(), P.cols(), scale.data(), scale.data(), out.data());
  return out;
}

// Numbers of both signs, both zeros among them.
template <class T>
Matrix<T> arguments() {
  Matrix<T> P = test::random_matrix<T>(kRows, 2 * kPanelColumns<T>, 1);
  P(0, 0) = 0;
  P(1, 1) = static_cast<T>(-0.0);
  return P;
}

template <class T>
T power(T p, T scale, int64_t order) {
  T value = scale;
  for (int64_t n = 0; n < order; ++n) value *= p;
  return p > 0 ? value : T{0};
}

TEST_CASE("activation: powers of the positive part and signs, to the bit on every target") {
  test::on_every_target_in_both([]<class T>(T) {
    const Matrix<T> P = arguments<T>(), scale = test::random_matrix<T>(1, P.cols(), 2);
    const auto sign = finished(sign_epilogue(), P, scale);
    for (const int64_t order : {0, 1, 2}) {
      const auto Z = finished(positive_power_epilogue(order), P, scale);
      int64_t wrong = 0;
      for (int64_t k = 0; k < P.rows() * P.cols(); ++k) {
        const T p = P.data()[k], s = scale.data()[k % P.cols()];
        wrong += Z.data()[k] != power(p, s, order);
        wrong += sign.data()[k] != (p < 0 ? -s : s);
      }
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("activation: what is no finite number gives NaN where it stands and nowhere else") {
  test::on_every_target_in_both([]<class T>(T) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    Matrix<T> P = arguments<T>(), scale(1, P.cols());
    scale.fill(T{1});
    P(0, 5) = std::numeric_limits<T>::quiet_NaN();
    P(1, 6) = kInfinity;
    P(2, 7) = -kInfinity;
    for (const int64_t order : {0, 1, 2, -1}) {
      const auto Z =
          finished(order < 0 ? sign_epilogue() : positive_power_epilogue(order), P, scale);
      int64_t wrong = 0;
      for (int64_t i = 0; i < P.rows(); ++i) {
        for (int64_t j = 0; j < P.cols(); ++j) wrong += std::isnan(Z(i, j)) != (j == 5 + i);
      }
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("activation: derivatives of the powers, to the bit on every target") {
  test::on_every_target_in_both([]<class T>(T) {
    const Matrix<T> P = arguments<T>(), scale = test::random_matrix<T>(1, P.cols(), 2),
                    G = test::random_matrix<T>(kRows, P.cols(), 3);
    for (const int64_t order : {1, 2}) {
      Matrix<T> out(kRows, P.cols());
      positive_power_epilogue(order)->gradient()->pull_back({P.data(), G.data(), scale.data(),
                                                             scale.data(), out.data(), kRows,
                                                             P.cols(), kRows * P.cols()});
      int64_t wrong = 0;
      for (int64_t k = 0; k < kRows * P.cols(); ++k) {
        const T s = static_cast<T>(order) * scale.data()[k % P.cols()];
        wrong += out.data()[k] != power(P.data()[k], s, order - 1) * G.data()[k];
      }
      CHECK(wrong == 0);
    }
  });
  CHECK(positive_power_epilogue(0)->gradient() == nullptr);
  CHECK(sign_epilogue()->gradient() == nullptr);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, positive_power_epilogue(3), "order = 3");
}

// The reference numbers hold X, W and Z; 4 columns are the beginning of a block.
TEST_CASE("activation: features of given W equal the reference numbers") {
  REQUIRE(test::oracle("transforms").at("maps").size() == 2);
  for (const auto& set : test::oracle("transforms").at("maps")) {
    const std::vector<std::vector<double>> X = set.at("X"), W = set.at("W");
    const size_t D = W[0].size();
    Matrix<double> P(std::ssize(X), kPanelColumns<double>), scale(1, P.cols());
    P.fill(0);
    for (size_t i = 0; i < X.size(); ++i) {
      for (size_t j = 0; j < D; ++j) {
        for (size_t k = 0; k < W.size(); ++k)
          P(static_cast<int64_t>(i), static_cast<int64_t>(j)) += X[i][k] * W[k][j];
      }
    }
    for (const char* name : {"arc_cosine_0", "arc_cosine_1", "arc_cosine_2", "sign"}) {
      const bool sign = std::string(name) == "sign";
      scale.fill(std::sqrt((sign ? 1.0 : 2.0) / static_cast<double>(D)));
      const auto Z =
          finished(sign ? sign_epilogue() : positive_power_epilogue(name[11] - '0'), P, scale);
      const std::vector<std::vector<double>> expected = set.at(name);
      INFO(name);
      for (size_t i = 0; i < X.size(); ++i) {
        for (size_t j = 0; j < D; ++j)
          CHECK(Z(static_cast<int64_t>(i), static_cast<int64_t>(j)) ==
                Approx(expected[i][j]).epsilon(1e-12).margin(1e-15));
      }
    }
  }
}

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
          P(i, j) += X[i][k] * re[k][j];
          P(n + i, j) += X[i][k] * im[k][j];
        }
      }
    }
    for (const int64_t half : {1, 2}) {
      const auto Z = finished(half, P, 1 / std::sqrt(static_cast<double>(D)));
      const std::vector<std::vector<double>> expected =
          set.at(half == 1 ? "optical_m2" : "optical_m4");
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < D; ++j) CHECK(Z(i, j) == Approx(expected[i][j]).epsilon(1e-12));
      }
    }
  }
}

}  // namespace activation_test
