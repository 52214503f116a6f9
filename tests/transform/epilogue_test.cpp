// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Epilogues: powers of the positive part, signs, powers of a modulus.
// Derivatives of the Fourier epilogues on every target against the formulas in long double.
// The epilogues' sine and cosine on every target: absolute error at most 2^-23 (float), 2^-52
// (double), for any argument.
#include "transform/epilogue.h"

#include "base/aligned.h"
#include "support/dense.h"
#include "support/epilogue.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/simd_target.h"
#include "support/worst.h"
#include "transform/panel.h"

namespace epilogue_test {
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
  modulus_epilogue(2, half)->finish(block);
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

template <class T>
double worst_error(const EpilogueGradient& gradient, bool pair) {
  constexpr int64_t rows = 3, columns = 2 * kPanelColumns<T>, part = rows * columns;
  const auto P = test::random_matrix<T>(rows, columns, 1);
  const auto G = test::random_matrix<T>(2 * rows, columns, 2);
  const auto numbers = test::random_matrix<T>(2, columns, 3);
  const Matrix<T> out(rows, columns);
  gradient.pull_back({P.data(), G.data(), numbers.view().row(0), numbers.view().row(1), out.data(),
                      rows, columns, part});
  double worst = 0;
  const long double turn = 6.283185307179586476925L;
  for (int64_t k = 0; k < part; ++k) {
    const long double scale = numbers(0, k % columns), phase = pair ? 0 : numbers(1, k % columns);
    const long double angle = turn * (static_cast<long double>(P.data()[k]) + phase);
    const long double of_sine = pair ? static_cast<long double>(G.data()[part + k]) : 0;
    const long double exact =
        turn * scale * (std::cos(angle) * of_sine - std::sin(angle) * G.data()[k]);
    const long double size =
        turn * std::fabs(scale) * (std::fabs(of_sine) + std::fabs(G.data()[k]));
    test::keep_worst(worst, static_cast<double>(std::fabs(out.data()[k] - exact) / (size + 1e-3L)));
  }
  return worst;
}

// Of every kind that is pulled back by its slopes: part p's feature and slope over the scale.
struct Kind {
  const EpilogueGradient& (*gradient)();
  int parts;
  long double (*value)(long double P, long double number, int part);
  long double (*slope)(long double P, long double number, int part);  // in P
};
constexpr long double kTurn = 6.283185307179586476925L;
constexpr Kind kKinds[] = {
    {exp_gradient, 1, [](long double P, long double h, int) { return std::exp(P - h); },
     [](long double P, long double h, int) { return std::exp(P - h); }},
    {hyperbolic_gradient, 2,
     [](long double P, long double h, int p) { return std::exp((p == 0 ? P : -P) - h); },
     [](long double P, long double h, int p) {
       return (p == 0 ? 1 : -1) * std::exp((p == 0 ? P : -P) - h);
     }},
    {grown_pair_gradient, 2,
     [](long double P, long double h, int p) {
       return h * (p == 0 ? std::cos(kTurn * P) : std::sin(kTurn * P));
     },
     [](long double P, long double h, int p) {
       return kTurn * h * (p == 0 ? -std::sin(kTurn * P) : std::cos(kTurn * P));
     }},
    {decay_gradient, 1, [](long double P, long double, int) { return std::exp(-P); },
     [](long double P, long double, int) { return -std::exp(-P); }},
};

// Of dL/dP and of the rows' sums of G Z, over the sums of magnitudes.
template <class T>
double worst_by_slopes(const Kind& kind) {
  constexpr int64_t rows = 3, columns = 9 * kPanelColumns<T>, part = rows * columns;
  const auto P = test::random_matrix<T>(rows, columns, 1);
  const auto G = test::random_matrix<T>(2 * rows, columns, 2);
  const auto scale = test::random_matrix<T>(1, columns, 3), h = test::random_matrix<T>(1, rows, 4);
  const Matrix<T> out(rows, columns);
  double sums[rows] = {};
  kind.gradient().pull_back({P.data(), G.data(), scale.data(), scale.data(), out.data(), rows,
                             columns, part, h.data(), sums});
  double worst = 0;
  for (int64_t i = 0; i < rows; ++i) {
    long double total = 0, total_size = 1e-3L;
    for (int64_t j = 0; j < columns; ++j) {
      long double exact = 0, size = 1e-3L;
      for (int p = 0; p < kind.parts; ++p) {
        const long double g =
            static_cast<long double>(G.data()[p * part + i * columns + j]) * scale(0, j);
        const long double slope = g * kind.slope(P(i, j), h(0, i), p);
        const long double value = g * kind.value(P(i, j), h(0, i), p);
        exact += slope;
        size += std::fabs(slope) + std::fabs(g);
        total += value;
        total_size += std::fabs(value) + std::fabs(g);
      }
      test::keep_worst(worst, static_cast<double>(std::fabs(out(i, j) - exact) / size));
    }
    test::keep_worst(worst, static_cast<double>(std::fabs(sums[i] - total) / total_size));
  }
  return worst;
}

// Exponentials are right to one unit in the last place, exponents of up to 2 are rounded once;
// cosines as below.
TEST_CASE("epilogue gradient: exponentials and grown pairs, by their slopes, on every target") {
  test::on_every_target([] {
    for (const Kind& kind : kKinds) {
      CHECK(worst_by_slopes<float>(kind) <= 4e-6);
      CHECK(worst_by_slopes<double>(kind) <= 8e-15);
    }
  });
}

// Sine and cosine are right to 2^-23 and 2^-52 of 1; the sum P + phase, up to 8 turns, is off by
// 2 pi 4 eps; four roundings more.
TEST_CASE("epilogue gradient: the derivatives of pair and phase on every target") {
  test::on_every_target([] {
    CHECK(worst_error<float>(pair_gradient(), true) <= 8e-7);
    CHECK(worst_error<double>(pair_gradient(), true) <= 1.6e-15);
    CHECK(worst_error<float>(phase_gradient(), false) <= 4e-6);
    CHECK(worst_error<double>(phase_gradient(), false) <= 8e-15);
  });
}

constexpr int64_t kSineRows = 96;
constexpr long double kTwoPi = 6.283185307179586476925286766559L;

struct Worst {
  long double error = 0;
  long double at = 0;
};

// Runs the pair epilogue over a tile of arguments and returns the largest error of both outputs.
template <class T>
void scan(const AlignedBuffer<T>& turns, Worst& worst) {
  constexpr int64_t w = kPanelColumns<T>;
  const AlignedBuffer<T> scale(w), both(2 * kSineRows * w);
  const T *const cosine = both.data(), *const sine = cosine + kSineRows * w;
  for (T& s : scale) s = 1;
  test::finish(pair_epilogue(), turns.data(), kSineRows, w, scale.data(), scale.data(),
               both.data());
  for (int64_t i = 0; i < kSineRows * w; ++i) {
    // The nearest integer is subtracted exactly, so long double sin and cos see an angle below pi.
    const long double t = static_cast<long double>(turns[i]);
    const long double angle = kTwoPi * (t - std::nearbyint(t));
    const long double error =
        std::max(std::fabs(sine[i] - std::sin(angle)), std::fabs(cosine[i] - std::cos(angle)));
    if (!(error <= worst.error)) worst = {error, t};
  }
}

TEST_CASE("sine and cosine: float, a stride through every exponent, both signs") {
  test::on_every_target([&] {
    Worst worst;
    const AlignedBuffer<float> turns(kSineRows * kPanelColumns<float>);
    // 9973 is prime: over the 2^32 bit patterns the stride meets every exponent and varied
    // mantissas.
    for (uint64_t bits = 0; bits < 0x7f800000u;
         bits += static_cast<uint64_t>(turns.size()) * 9973 / 2) {
      for (int64_t i = 0; i < turns.size(); ++i) {
        const uint64_t pattern =
            std::min<uint64_t>(bits + static_cast<uint64_t>(i / 2) * 9973, 0x7f7fffffu);
        const uint32_t word = static_cast<uint32_t>(pattern) | (i % 2 == 0 ? 0 : 0x80000000u);
        std::memcpy(&turns[i], &word, sizeof word);
      }
      scan(turns, worst);
    }
    CAPTURE(static_cast<double>(worst.at));
    CHECK(static_cast<double>(worst.error) <= std::ldexp(1.0, -23));
  });
}

TEST_CASE("sine and cosine: double, uniform and over all exponents") {
  test::on_every_target([&] {
    Worst worst;
    const AlignedBuffer<double> turns(kSineRows * kPanelColumns<double>);
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (int round = 0; round < 400; ++round) {
      for (double& t : turns) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double uniform = static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
        t = round % 2 == 0 ? 4 * uniform
                           : std::ldexp(uniform, static_cast<int>(state % 2000) - 1000);
      }
      scan(turns, worst);
    }
    CAPTURE(static_cast<double>(worst.at));
    CHECK(static_cast<double>(worst.error) <= std::ldexp(1.0, -52));
  });
}

TEST_CASE("sine and cosine: NaN and Inf give NaN where they stand and nowhere else") {
  test::on_every_target([&] {
    constexpr int64_t w = kPanelColumns<float>;
    const AlignedBuffer<float> turns(kSineRows * w), scale(w), both(2 * kSineRows * w);
    const float *const cosine = both.data(), *const sine = cosine + kSineRows * w;
    for (float& t : turns) t = 0.25f;
    for (float& s : scale) s = 1;
    turns[5] = std::nanf("");
    turns[w + 7] = INFINITY;
    turns[2 * w] = -INFINITY;
    test::finish(pair_epilogue(), turns.data(), kSineRows, w, scale.data(), scale.data(),
                 both.data());
    int64_t wrong = 0;
    for (int64_t i = 0; i < kSineRows * w; ++i) {
      const bool special = i == 5 || i == w + 7 || i == 2 * w;
      wrong += special ? !(std::isnan(cosine[i]) && std::isnan(sine[i]))
                       : !(cosine[i] == 0 && sine[i] == 1);
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("phase and complex epilogues agree with the pair epilogue bit for bit") {
  test::on_every_target([&] {
    constexpr int64_t w = kPanelColumns<double>;
    const AlignedBuffer<double> P(kSineRows * w), shifted(kSineRows * w), scale(w), phase(w);
    const AlignedBuffer<double> parts(2 * kSineRows * w), both(2 * kSineRows * w),
        phased(kSineRows * w);
    const double *const cosine = parts.data(), *const sine = cosine + kSineRows * w;
    for (int64_t j = 0; j < w; ++j) {
      scale[j] = 0.5 + 0.01 * static_cast<double>(j);
      phase[j] = static_cast<double>(j) / 17;
    }
    for (int64_t i = 0; i < kSineRows * w; ++i) {
      P[i] = static_cast<double>(i * i % 1009) / 37 - 13;
      shifted[i] = P[i] + phase[i % w];
    }
    test::finish(pair_epilogue(), P.data(), kSineRows, w, scale.data(), phase.data(), parts.data());
    test::finish(complex_epilogue(), P.data(), kSineRows, w, scale.data(), phase.data(),
                 both.data());
    int64_t wrong = 0;
    for (int64_t i = 0; i < kSineRows * w; ++i)
      wrong += both[2 * i] != cosine[i] || both[2 * i + 1] != sine[i];
    CHECK(wrong == 0);
    test::finish(pair_epilogue(), shifted.data(), kSineRows, w, scale.data(), phase.data(),
                 parts.data());
    test::finish(phase_epilogue(), P.data(), kSineRows, w, scale.data(), phase.data(),
                 phased.data());
    wrong = 0;
    for (int64_t i = 0; i < kSineRows * w; ++i) wrong += phased[i] != cosine[i];
    CHECK(wrong == 0);
  });
}

// X, W and b of the reference numbers; 4 to 6 columns are the beginning of a block.
TEST_CASE("phase epilogue: features of given W and b equal the reference numbers") {
  REQUIRE(test::oracle("transforms").at("maps").size() == 2);
  for (const auto& set : test::oracle("transforms").at("maps")) {
    const std::vector<std::vector<double>> X = set.at("X"), W = set.at("W");
    const std::vector<double> b = set.at("b");
    const auto n = std::ssize(X), D = std::ssize(b);
    constexpr int64_t w = kPanelColumns<double>;
    const AlignedBuffer<double> P(n * w), scale(w), phase(w), Z(n * w);
    std::fill_n(P.data(), n * w, 0.0);
    std::fill_n(phase.data(), w, 0.0);
    for (double& s : scale) s = std::sqrt(2 / static_cast<double>(D));
    for (int64_t j = 0; j < D; ++j) {
      const auto at = static_cast<size_t>(j);
      phase[j] = b[at] / static_cast<double>(kTwoPi);
      for (int64_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < W.size(); ++k) P[i * w + j] += X[i][k] * W[k][at];
        P[i * w + j] /= static_cast<double>(kTwoPi);
      }
    }
    test::finish(phase_epilogue(), P.data(), n, w, scale.data(), phase.data(), Z.data());
    const std::vector<std::vector<double>> expected = set.at("phase");
    REQUIRE(std::ssize(expected) == n);
    for (int64_t i = 0; i < n; ++i) {
      REQUIRE(std::ssize(expected[i]) == D);
      for (int64_t j = 0; j < D; ++j) CHECK(std::fabs(Z[i * w + j] - expected[i][j]) <= 2e-14);
    }
  }
}

}  // namespace epilogue_test
