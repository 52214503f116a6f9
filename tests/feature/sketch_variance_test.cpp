// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variances from the moments of sketches against the reference numbers, and where they are exact.
#include "feature/sketch_tree.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/reference.h"

namespace sketch_variance_test {
using namespace mercer;
using namespace mercer::feature;
using projection::sketch_kind, projection::SketchKind, test::Reference;

struct Problem {
  PairSums sums;
  std::vector<PairMoments> factors;
  int64_t padded;

  explicit Problem(const Reference& entry) : padded(entry["padded_d"]) {
    const auto x = entry["x"].get<std::vector<double>>(), y = entry["y"].get<std::vector<double>>();
    sums = pair_sums(static_cast<int64_t>(x.size()), x.data(), y.data());
    factors.assign(entry["p"].get<std::size_t>(), exact_pair(sums));
  }
  PairMoments sketch(const SketchKind* mixing, bool complex, int64_t D) const {
    return mixing->moments(complex, D, padded, factors);
  }
};

double variance(const PairMoments& moments) { return moments.S - moments.mean * moments.mean; }

/// The four variances of a mixing in units of the tolerance, worst one.
struct Comparison {
  double worst = 0;
  int64_t count = 0;
  void add(double got, const Reference& expected, const Reference& scale) {
    const double distance = std::fabs(got - expected.get<double>()) / (1e-12 * scale.get<double>());
    if (!(distance <= worst)) worst = distance;  // NaN too
    ++count;
  }
};

TEST_CASE("variances of product sketches equal the reference numbers") {
  Comparison comparison;
  for (const Reference& entry : test::oracle("variances")["polynomial"]) {
    const Problem problem(entry);
    const Reference& single = entry["single"];
    const auto compare = [&](double got, const std::string& key) {
      comparison.add(got, single[key][0], single[key][1]);
    };
    for (const std::string law : {"gaussian", "rademacher"}) {
      const SketchKind* mixing =
          law == "gaussian" ? sketch_kind("gaussian") : sketch_kind("rademacher");
      const PairMoments real = problem.sketch(mixing, false, 1);
      const PairMoments complex = problem.sketch(mixing, true, 1);
      compare(real_variance(real), law + "_real");
      compare(variance(complex), law + "_complex");
      compare(pseudo_variance(complex), law + "_pseudo");
      compare(real_variance(complex), law + "_ctr");
      // D columns divide the variances.
      const PairMoments more = problem.sketch(mixing, true, 5);
      compare(5 * variance(more), law + "_complex");
      compare(5 * pseudo_variance(more), law + "_pseudo");
    }
  }
  CHECK(comparison.worst <= 1);
  CHECK(comparison.count == 48 * 2 * 6);
}

TEST_CASE("variances of tensor SRHT equal the reference numbers") {
  Comparison comparison;
  int64_t expected = 0;
  for (const Reference& entry : test::oracle("variances")["polynomial"]) {
    const Problem problem(entry);
    for (const Reference& at : entry["tensorsrht"]) {
      for (const std::string form : {"stacked", "upsampled"}) {
        const SketchKind* mixing =
            form == "stacked" ? sketch_kind("stacked") : sketch_kind("upsampled");
        const PairMoments real = problem.sketch(mixing, false, at["D"]);
        const PairMoments complex = problem.sketch(mixing, true, at["D"]);
        const Reference& numbers = at[form];
        comparison.add(real_variance(real), numbers["real"], numbers["scale"]);
        comparison.add(variance(complex), numbers["complex"], numbers["scale"]);
        comparison.add(pseudo_variance(complex), numbers["pseudo"], numbers["scale"]);
        comparison.add(real_variance(complex), numbers["ctr"], numbers["scale"]);
        expected += 4;
      }
    }
  }
  CHECK(comparison.worst <= 1);
  CHECK(comparison.count == expected);
  CHECK(expected >= 48 * 5 * 8);
}

TEST_CASE("tensor sketch: below the known bound at any D, and count sketch at degree 1") {
  for (const Reference& entry : test::oracle("variances")["polynomial"]) {
    const Problem problem(entry);
    const double bound = entry["tensorsketch_bound_D1"];
    for (const int64_t D : {1, 2, 3, 4, 7, 64, 1001}) {
      CAPTURE(entry["p"].get<int>(), D);
      const double got = real_variance(problem.sketch(sketch_kind("tensor_sketch"), false, D));
      const auto columns = static_cast<double>(D);
      CHECK(got <= bound / columns);
      if (problem.factors.size() > 1) continue;
      const double count_sketch = rademacher_entries_variance(problem.sums, D);
      CHECK(std::fabs(got - count_sketch) <= 1e-14 * problem.sums.N);
    }
  }
}

TEST_CASE("sketches that are exact have variances of rounding size") {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double x[] = {1e3, 2.5, -7e2, 4, 1e-3}, y[] = {3e2, -1.5, 9e2, 1, 5};
  const std::vector<PairMoments> one(1, exact_pair(pair_sums(5, x, y)));
  for (const bool complex : {false, true}) {
    // An orthogonal matrix in full, once or thrice.
    for (const SketchKind* mixing : {sketch_kind("stacked"), sketch_kind("upsampled")})
      for (const int64_t m : {8, 24})
        CHECK(real_variance(mixing->moments(complex, m, 8, one)) <= 8 * kEpsilon * one[0].N);
    CHECK(real_variance(sketch_kind("tuple")->moments(complex, 8, 8, one)) <=
          8 * kEpsilon * one[0].N);
    // All tuples of three factors.
    const std::vector<PairMoments> three(3, one[0]);
    const PairMoments all = sketch_kind("tuple")->moments(complex, 512, 8, three);
    CHECK(real_variance(all) <= 24 * kEpsilon * all.N);
    // More tuples than a double can count: columns are as good as independent.
    const std::vector<PairMoments> unit(40, exact_pair({0.5, 1, 0.3, 1, 1}));
    const double many = sketch_kind("tuple")->moments(complex, 4, int64_t{1} << 30, unit).S;
    CHECK(many == sketch_kind("rademacher")->moments(complex, 4, 1, unit).S);
  }
}

TEST_CASE("complex to real on non-negative rows: never worse, but for tensor SRHT") {
  const auto pair_of = [](int64_t d, uint64_t seed) {
    Matrix<double> rows = test::random_matrix(2, d, seed);
    for (int64_t k = 0; k < 2 * d; ++k) rows.data()[k] = std::max(rows.data()[k], 0.0);
    return exact_pair(pair_sums(d, rows.view().row(0), rows.view().row(1)));
  };
  const auto variances = [](const SketchKind* mixing, int64_t D, int64_t d,
                            std::span<const PairMoments> u) {
    return std::pair(real_variance(mixing->moments(true, D / 2, d, u)),
                     real_variance(mixing->moments(false, D, d, u)));
  };
  double worst = -std::numeric_limits<double>::infinity();
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (const std::size_t p : {1, 2, 3, 6}) {
      const std::vector<PairMoments> u(p, pair_of(1 + static_cast<int64_t>(seed % 16), seed));
      for (const SketchKind* mixing :
           {sketch_kind("rademacher"), sketch_kind("gaussian"), sketch_kind("tensor_sketch")}) {
        for (const int64_t D : {2, 6, 16, 64}) {
          const auto [halves, real] = variances(mixing, D, 16, u);
          worst = std::max(worst, (halves - real) / std::pow(u[0].N, static_cast<double>(p)));
        }
      }
    }
  }
  CHECK(worst <= 1e-12);
  // All rows of H D keep inner products, half as many complex ones do not.
  const std::vector<PairMoments> u(1, pair_of(8, 1));
  for (const SketchKind* mixing : {sketch_kind("stacked"), sketch_kind("upsampled")}) {
    const auto [halves, real] = variances(mixing, 8, 8, u);
    CHECK(real <= 1e-14 * u[0].N);
    CHECK(halves >= 1e-3 * u[0].N);
  }
}

TEST_CASE("augmented sums are those of the augmented vectors") {
  const double x[] = {0.3, -1.2, 0.5}, y[] = {1.0, 0.4, 2.0};
  const double scale = 0.7, c = 1.3;
  const double u[] = {scale * x[0], scale * x[1], scale * x[2], c};
  const double v[] = {scale * y[0], scale * y[1], scale * y[2], c};
  const PairSums got = augmented(pair_sums(3, x, y), scale, c), expected = pair_sums(4, u, v);
  CHECK(got.s == Approx(expected.s).epsilon(1e-14));
  CHECK(got.N == Approx(expected.N).epsilon(1e-14));
  CHECK(got.Q == Approx(expected.Q).epsilon(1e-14));
  CHECK(got.xx == Approx(expected.xx).epsilon(1e-14));
  CHECK(got.yy == Approx(expected.yy).epsilon(1e-14));
}

}  // namespace sketch_variance_test
