// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Levels of mercer_rows_test over ten null settings: exact by permutations, about by gamma limits.
#include <cmath>
#include <functional>
#include <random>

#include "fixture.h"
#include "mercer/rows_test.h"
#include "support/reference.h"

namespace mercer::test::test_levels_test {
namespace {

constexpr double kLevel = 0.05;
constexpr double kMostOfLimit = 0.09;  // what a gamma limit's level may be
constexpr double kFailure = 1e-6;      // the probability that a check fails by chance, at most

class Draws {
 public:
  explicit Draws(uint64_t seed) : words_(seed) {}
  double uniform() { return (static_cast<double>(words_() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()); }
  int64_t below(int64_t count) {
    return static_cast<int64_t>(uniform() * static_cast<double>(count));
  }

 private:
  std::mt19937_64 words_;
};

struct Setting {
  const char* name;
  int64_t m, n, d;
  std::function<void(Draws&, double*, int64_t d)> draw;  // one row
};

void normal(Draws& draws, double* row, int64_t d) {
  for (int64_t j = 0; j < d; ++j) row[j] = draws.normal();
}

const Setting kSettings[] = {
    {"one input", 40, 40, 1, normal},
    {"many inputs", 40, 40, 60, normal},
    {"unequal sizes", 20, 150, 3, normal},
    {"heavy tails", 40, 50, 3,
     [](Draws& draws, double* row, int64_t d) {
       for (int64_t j = 0; j < d; ++j) row[j] = draws.normal() / draws.normal();
     }},
    {"skewed", 50, 40, 2,
     [](Draws& draws, double* row, int64_t d) {
       for (int64_t j = 0; j < d; ++j) row[j] = std::exp(2 * draws.normal());
     }},
    {"discrete", 50, 50, 4,
     [](Draws& draws, double* row, int64_t d) {
       for (int64_t j = 0; j < d; ++j) row[j] = static_cast<double>(draws.below(3));
     }},
    {"correlated", 40, 40, 10,
     [](Draws& draws, double* row, int64_t d) {
       const double shared = draws.normal();
       for (int64_t j = 0; j < d; ++j) row[j] = shared + 0.2 * draws.normal();
     }},
    {"a constant column", 40, 40, 3,
     [](Draws& draws, double* row, int64_t d) {
       normal(draws, row, d);
       row[1] = 7;
     }},
    {"clusters", 60, 40, 2,
     [](Draws& draws, double* row, int64_t d) {
       const auto center = static_cast<double>(10 * draws.below(3));
       for (int64_t j = 0; j < d; ++j) row[j] = center + 0.1 * draws.normal();
     }},
    {"mostly zeros", 50, 50, 8,
     [](Draws& draws, double* row, int64_t d) {
       for (int64_t j = 0; j < d; ++j) row[j] = draws.uniform() < 0.8 ? 0 : draws.normal();
     }},
};

std::vector<double> rows_of_setting(const Setting& setting, int64_t rows, Draws& draws) {
  std::vector<double> out(rows * setting.d);
  for (int64_t i = 0; i < rows; ++i) setting.draw(draws, out.data() + i * setting.d, setting.d);
  return out;
}

/// The ends between which a binomial count lies but for kFailure at either; p < 1/2.
struct Counts {
  int64_t least = 0, most = 0;
};
Counts counts_of(int64_t trials, double p) {
  Counts ends;
  double below = 0, term = std::pow(1 - p, trials);
  for (int64_t k = 0; 1 - below > kFailure && k <= trials; ++k) {
    below += term;
    if (below <= kFailure) ends.least = k + 1;
    ends.most = k;
    term *= p / (1 - p) * static_cast<double>(trials - k) / static_cast<double>(k + 1);
  }
  return ends;
}

struct Way {
  const char* name;
  std::string json;  // without its end, where the seed stands
  bool exact;        // its level is at most kLevel
  bool reaches;      // and at least half of that
};

const Way kWays[] = {
    {"mmd, ten kernels", R"({"test":"mmd","permutations":99,"features":32)", true, true},
    {"mmd, one kernel",
     R"({"test":"mmd","permutations":99,"features":32,"kernels":[{"kernel":)"
     R"("gaussian","lengthscale":2}])",
     true, true},
    {"mmd, its limit",
     R"({"test":"mmd","permutations":0,"features":32,"kernels":[{"kernel":)"
     R"("gaussian","lengthscale":2}])",
     false, false},
    {"kid", R"({"test":"kid","permutations":99,"features":64)", true, false},
    {"hsic", R"({"test":"hsic","permutations":99,"features":16)", true, true},
    {"hsic, its limit", R"({"test":"hsic","permutations":0,"features":16)", false, false},
};

bool rejects(const Way& way, const mercer_rows& X, const mercer_rows& Y, int64_t seed) {
  static char text[1 << 16];
  const std::string json = way.json + R"(,"seed":)" + std::to_string(seed) + "}";
  CAPTURE(json, mercer_last_error());
  REQUIRE(mercer_rows_test(json.c_str(), X, Y, nullptr, text, sizeof text, nullptr) == MERCER_OK);
  const double p = Reference::parse(text)["p_value"];
  return p <= kLevel;
}

void check_level(const Way& way, const Setting& setting, int64_t trials) {
  Draws draws(1 + (&way - kWays) + 100 * (&setting - kSettings));
  const bool pairs = std::string(way.name).starts_with("hsic");
  int64_t hits = 0;
  for (int64_t t = 0; t < trials; ++t) {
    const auto x = rows_of_setting(setting, setting.m, draws),
               y = rows_of_setting(setting, pairs ? setting.m : setting.n, draws);
    hits += rejects(way, rows_of(x, setting.d), rows_of(y, setting.d), t);
  }
  CAPTURE(way.name, setting.name, trials, hits);
  CHECK(hits <= counts_of(trials, way.exact ? kLevel : kMostOfLimit).most);
  if (way.reaches) CHECK(hits >= counts_of(trials, kLevel / 2).least);
}

}  // namespace

TEST_CASE("tests of rows keep their level in ten null settings", "[slow]") {
  for (const Way& way : kWays)
    for (const Setting& setting : kSettings) check_level(way, setting, 1000);
}

TEST_CASE("the bounds of a level are binomial quantiles") {
  const Counts found = counts_of(1000, kLevel), half = counts_of(1000, kLevel / 2);
  CHECK((found.most == 86 && half.least == 5));
}

}  // namespace mercer::test::test_levels_test
