// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The epilogues' sine and cosine on every target: absolute error at most 2^-23 (float), 2^-52
// (double), for any argument.
#include "base/aligned.h"
#include "support/epilogue.h"
#include "support/reference.h"
#include "transform/on_every_target.h"
#include "transform/panel.h"

namespace sincos_test {
using namespace mercer;
using namespace mercer::transform;

constexpr int64_t kRows = 96;
constexpr long double kTwoPi = 6.283185307179586476925286766559L;

struct Worst {
  long double error = 0;
  long double at = 0;
};

// Runs the pair epilogue over a tile of arguments and returns the largest error of both outputs.
template <class T>
void scan(const AlignedBuffer<T>& turns, Worst& worst) {
  constexpr int64_t w = kPanelColumns<T>;
  const AlignedBuffer<T> scale(w), both(2 * kRows * w);
  const T *const cosine = both.data(), *const sine = cosine + kRows * w;
  for (T& s : scale) s = 1;
  test::finish(pair_epilogue(), turns.data(), kRows, w, scale.data(), scale.data(), both.data());
  for (int64_t i = 0; i < kRows * w; ++i) {
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
    const AlignedBuffer<float> turns(kRows * kPanelColumns<float>);
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
    const AlignedBuffer<double> turns(kRows * kPanelColumns<double>);
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
    const AlignedBuffer<float> turns(kRows * w), scale(w), both(2 * kRows * w);
    const float *const cosine = both.data(), *const sine = cosine + kRows * w;
    for (float& t : turns) t = 0.25f;
    for (float& s : scale) s = 1;
    turns[5] = std::nanf("");
    turns[w + 7] = INFINITY;
    turns[2 * w] = -INFINITY;
    test::finish(pair_epilogue(), turns.data(), kRows, w, scale.data(), scale.data(), both.data());
    int64_t wrong = 0;
    for (int64_t i = 0; i < kRows * w; ++i) {
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
    const AlignedBuffer<double> P(kRows * w), shifted(kRows * w), scale(w), phase(w);
    const AlignedBuffer<double> parts(2 * kRows * w), both(2 * kRows * w), phased(kRows * w);
    const double *const cosine = parts.data(), *const sine = cosine + kRows * w;
    for (int64_t j = 0; j < w; ++j) {
      scale[j] = 0.5 + 0.01 * static_cast<double>(j);
      phase[j] = static_cast<double>(j) / 17;
    }
    for (int64_t i = 0; i < kRows * w; ++i) {
      P[i] = static_cast<double>(i * i % 1009) / 37 - 13;
      shifted[i] = P[i] + phase[i % w];
    }
    test::finish(pair_epilogue(), P.data(), kRows, w, scale.data(), phase.data(), parts.data());
    test::finish(complex_epilogue(), P.data(), kRows, w, scale.data(), phase.data(), both.data());
    int64_t wrong = 0;
    for (int64_t i = 0; i < kRows * w; ++i)
      wrong += both[2 * i] != cosine[i] || both[2 * i + 1] != sine[i];
    CHECK(wrong == 0);
    test::finish(pair_epilogue(), shifted.data(), kRows, w, scale.data(), phase.data(),
                 parts.data());
    test::finish(phase_epilogue(), P.data(), kRows, w, scale.data(), phase.data(), phased.data());
    wrong = 0;
    for (int64_t i = 0; i < kRows * w; ++i) wrong += phased[i] != cosine[i];
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

}  // namespace sincos_test
