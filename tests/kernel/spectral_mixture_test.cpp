// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Spectral mixtures: parameters for each input, what is refused, the draws by their bytes and by
// their moments. Values are compared with reference numbers in kernel_oracle_test.
#include "kernel/kernel.h"
#include "random/distributions.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace mercer::test::spectral_mixture_test {
namespace {

std::unique_ptr<kernel::Kernel> mixture(Value weights, Value means, Value variances) {
  return kernel::make_kernel({{"kernel", "spectral_mixture"},
                              {"weights", std::move(weights)},
                              {"means", std::move(means)},
                              {"variances", std::move(variances)}});
}

std::unique_ptr<kernel::Kernel> example() {
  return mixture(std::vector<double>{0.5, 1.5}, NumberLists{{1, -2, 0.5}, {0.25, 0, 3}},
                 NumberLists{{0.25, 4, 0}, {1, 0.5, 2}});
}

random::Stream column(uint64_t index) { return {2024, random::Tag::frequency, index}; }

template <class Make>
std::string refused(const Make& make, const std::string& says) {
  return refusal_fault(MERCER_INVALID_ARGUMENT, make, says);
}

using List = std::vector<double>;

}  // namespace

TEST_CASE("spectral mixture: one number is that of every input") {
  const double x[] = {0.3, -1.2, 0.7}, y[] = {0.1, 0.4, -0.2};
  const auto shared = mixture(List{0.5, 2}, List{0.7, -1}, List{0.4, 1.5});
  const auto listed = mixture(List{0.5, 2}, NumberLists{{0.7, 0.7, 0.7}, {-1, -1, -1}},
                              NumberLists{{0.4, 0.4, 0.4}, {1.5, 1.5, 1.5}});
  CHECK(shared->value(3, x, y) == listed->value(3, x, y));
  CHECK(shared->value_at_zero() == 2.5);
  for (const int64_t d : {1, 3, 40}) CHECK_NOTHROW(shared->check_dimension(d));
  CHECK_NOTHROW(listed->check_dimension(3));
  for (const int64_t d : {1, 2, 4}) {
    CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, listed->check_dimension(d), "d = " + std::to_string(d),
                  "the 3 inputs that kernel spectral_mixture");
  }
}

TEST_CASE("spectral mixture: a value at 0 that is not finite is refused") {
  const auto kernel = mixture(List{1e299, 1e300}, List{1, 1}, List{1, 1});
  CHECK(std::isfinite(kernel->with_variance(1e8)->value_at_zero()));
  CHECK(refused([&] { kernel->with_variance(1e9); }, "variance = 1e+09, expected its product") ==
        "");
}

TEST_CASE("spectral mixture: parameters that do not fit each other are refused") {
  const List two = {1, 1};
  const NumberLists pairs = {{1, 2}, {3, 4}}, triples = {{1, 2, 3}, {4, 5, 6}};
  CHECK(refused([&] { mixture(two, List{1}, two); },
                "means holds 1 components, expected 2, as many as weights") == "");
  CHECK(refused(
            [&] {
              mixture(two, two, NumberLists{{1, 2}, {3, 4}, {5, 6}});
            },
            "variances holds 3 components, expected 2") == "");
  CHECK(refused([&] { mixture(two, pairs, triples); },
                "variances holds lists of 3 numbers, expected 2, as in means") == "");
  CHECK_NOTHROW(mixture(two, pairs, two));
  CHECK_NOTHROW(mixture(two, two, triples));
  CHECK(refused([&] { mixture(List{1, 0}, two, two); }, "weights[1] = 0.0, expected") == "");
  CHECK(refused([&] { mixture(two, two, List{1, -1}); }, "variances[1] = -1.0, expected") == "");
  CHECK(refused(
            [&] {
              mixture(two, NumberLists{{1, 2}, {3, std::nan("")}}, two);
            },
            "means[1][1] = nan") == "");
  const List many(1025, 1.0);
  CHECK(refused([&] { mixture(many, many, many); }, "1025 numbers, expected at most 1024") == "");
}

TEST_CASE("spectral mixture: a draw is its block's component and sign times the normals") {
  const auto kernel = example();
  const double means[2][3] = {{1, -2, 0.5}, {0.25, 0, 3}};
  const double deviations[2][3] = {{0.5, 2, 0}, {1, std::sqrt(0.5), std::sqrt(2.0)}};
  int64_t wrong = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    std::array<double, 3> omega{}, normals{};
    kernel->spectral_law()->draw(column(i), omega);
    random::fill_normal(column(i), 2, normals);
    const random::Words words = column(i).block(0);
    const size_t q = random::uniform(words) < 0.25 ? 0 : 1;
    const double sign = random::second_uniform(words) < 0.5 ? -1 : 1;
    for (size_t j = 0; j < 3; ++j)
      wrong += omega[j] != sign * (means[q][j] + deviations[q][j] * normals[j]);
  }
  CHECK(wrong == 0);
  // A seed means the same frequencies for ever.
  std::array<double, 3> first{}, second{};
  kernel->spectral_law()->draw(column(0), first);
  kernel->spectral_law()->draw(column(1), second);
  CHECK(first == std::array{-0x1.db11d3660fd72p-3, 0x1.fa0ee164630b2p-2, -0x1.36cdb3a0fc1bp+0});
  CHECK(second == std::array{-0x1.0df2f4ddf3aa6p+0, 0x1.e5b811900e2e9p+0, -0x1p-1});
}

TEST_CASE("spectral mixture: draws are symmetric and have the kernel's second moments") {
  constexpr int64_t kDraws = 20000;
  const auto kernel = example();
  std::array<List, 3> values, squares;
  for (uint64_t i = 0; i < kDraws; ++i) {
    std::array<double, 3> omega{};
    kernel->spectral_law()->draw(column(i), omega);
    for (size_t j = 0; j < 3; ++j) {
      values[j].push_back(omega[j]);
      squares[j].push_back(omega[j] * omega[j]);
    }
  }
  // sum_q w_q (mu^2 + v) / sum w
  const double second[] = {0.25 * 1.25 + 0.75 * 1.0625, 0.25 * 8 + 0.75 * 0.5,
                           0.25 * 0.25 + 0.75 * 11};
  for (size_t j = 0; j < 3; ++j) {
    CHECK(std::fabs(studentised_z_score(values[j], 0)) <= z_threshold(kFailure, 6));
    CHECK(std::fabs(studentised_z_score(squares[j], second[j])) <= z_threshold(kFailure, 6));
  }
}

TEST_CASE("spectral mixture: quantiles given component and sign are those of the draws") {
  const auto kernel = example();
  const random::Law& law = *kernel->spectral_law();
  CHECK(law.is_mixture());
  CHECK_FALSE(law.is_product());
  CHECK_FALSE(law.isotropic());
  // Negative and positive halves, each divided as the weights are.
  for (const auto& [u, m] : {std::pair{1e-9, -1.0},
                             {0.124, -1.0},
                             {0.126, -2.0},
                             {0.49, -2.0},
                             {0.5, 1.0},
                             {0.624, 1.0},
                             {0.626, 2.0},
                             {1 - 1e-9, 2.0}}) {
    INFO(u);
    CHECK(law.mixing(u) == m);
  }
  constexpr size_t kCount = 20000;
  List drawn, made;
  for (uint64_t i = 0; i < kCount; ++i) {
    std::array<double, 3> omega{}, u{};
    law.draw(column(i), omega);
    random::fill_uniform({5, random::Tag::generated, i}, 0, u);
    drawn.push_back(omega[0] + 0.3 * omega[1]);
    const double m = law.mixing(u[0]);
    made.push_back(law.quantile_given(m, 0, u[1]) + 0.3 * law.quantile_given(m, 1, u[2]));
  }
  CHECK(two_sample_distance(drawn, made) <= 2 * ks_threshold(kCount, kFailure, 2));
}

}  // namespace mercer::test::spectral_mixture_test
