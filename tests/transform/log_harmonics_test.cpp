// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Harmonics of logarithms against the mathematics, in one element and in vectors, on every target.
#include "transform/log_harmonics.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "transform/on_every_target.h"

using namespace mercer::transform;
using namespace mercer::test;

namespace {

constexpr double kTurn = 6.28318530717958647692;

template <class T>
struct Harmonics {
  explicit Harmonics(const std::vector<T>& x, T turns, T order, T scale)
      : roots(x.size()), logs(x.size()), cosines(x.size()), sines(x.size()) {
    const auto n = static_cast<int64_t>(x.size());
    roots_and_logs(x.data(), n, turns, roots.data(), logs.data());
    log_harmonics(roots.data(), logs.data(), n, order, scale, cosines.data(), sines.data());
  }
  std::vector<T> roots, logs, cosines, sines;
};

}  // namespace

TEST_CASE("log harmonics: roots, logarithms and both harmonics are within rounding") {
  on_every_target_in_both([](auto zero) {
    using T = decltype(zero);
    const double u = std::numeric_limits<T>::epsilon();
    std::vector<T> x;
    for (double e = -30; e <= 30; e += 0.37) x.push_back(static_cast<T>(std::exp(e)));
    const T turns = static_cast<T>(0.11), order = 3, scale = static_cast<T>(0.7);
    const Harmonics<T> h(x, turns, order, scale);
    double root = 0, log = 0, harmonic = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const double exact = static_cast<double>(turns) * std::log(static_cast<double>(x[k]));
      const double size = std::sqrt(static_cast<double>(x[k]));
      root = std::max(root, std::fabs(h.roots[k] - size) / (u * size));
      log = std::max(log, std::fabs(h.logs[k] - exact) / (u * std::max(std::fabs(exact), 1e-3)));
      const double t = kTurn * 3 * static_cast<double>(h.logs[k]), a = static_cast<double>(scale);
      harmonic = std::max({harmonic, std::fabs(h.cosines[k] / size - a * std::cos(t)) / u,
                           std::fabs(h.sines[k] / size - a * std::sin(t)) / u});
    }
    CHECK(root <= 1);
    CHECK(log <= 6);  // 4 ulp, and a product
    // 3 t is rounded: at most half an ulp of 10 turns, which is 8u; then the sine's own bound.
    CHECK(harmonic <= kTurn * 8 + 4);
  });
}

TEST_CASE("log harmonics: zeros stay, what is outside is seen, lanes do not matter") {
  on_every_target_in_both([](auto zero) {
    using T = decltype(zero);
    const T infinity = std::numeric_limits<T>::infinity(),
            nan = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> x = {0,
                              -T(0),
                              2,
                              -1,
                              nan,
                              infinity,
                              std::numeric_limits<T>::denorm_min(),
                              std::numeric_limits<T>::max(),
                              3};
    const Harmonics<T> h(x, T(0.2), 2, 1);
    for (const size_t k : {0, 1}) {
      CHECK(h.cosines[k] == 0);
      CHECK(h.sines[k] == 0);
    }
    for (const size_t k : {3, 4}) {
      CHECK(std::isnan(h.roots[k]));
      CHECK(std::isnan(h.cosines[k]));
      CHECK(std::isnan(h.sines[k]));
    }
    CHECK(std::isinf(h.roots[5]));
    CHECK(!std::isfinite(h.cosines[5]));
    for (size_t k = 6; k < x.size(); ++k) CHECK(std::isfinite(h.cosines[k]));
    for (size_t k = 0; k < x.size(); ++k) {
      const Harmonics<T> one({x[k]}, T(0.2), 2, 1);
      CHECK(std::memcmp(one.cosines.data(), &h.cosines[k], sizeof(T)) == 0);
      CHECK(std::memcmp(one.sines.data(), &h.sines[k], sizeof(T)) == 0);
    }
  });
}
