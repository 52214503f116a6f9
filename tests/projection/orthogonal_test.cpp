// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Orthogonal blocks: directions, norms, whole blocks independent of F, range and threads; progress,
// cancellation and memory; what is refused.
#include "columns_of.h"
#include "support/catch.h"
#include "support/statistic.h"

namespace orthogonal_test {
using namespace mercer;
using namespace mercer::test;

constexpr double kTurn = 6.283185307179586;

double inner(const Matrix<double>& W, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < W.cols(); ++k) sum += W(i, k) * W(j, k);
  return sum;
}

/// Worst cosine between two columns of one block.
double worst_cosine(const Matrix<double>& W) {
  const int64_t d = W.cols();
  double worst = 0;
  for (int64_t i = 0; i < W.rows(); ++i) {
    for (int64_t j = i / d * d; j < i; ++j) {
      const double cosine = std::abs(inner(W, i, j)) / std::sqrt(inner(W, i, i) * inner(W, j, j));
      if (!(cosine <= worst)) worst = cosine;
    }
  }
  return worst;
}

struct Calls {
  int64_t count = 0;
  int64_t stop_at = -1;
};

int32_t count_calls(void* user, int64_t, int64_t) {
  auto& calls = *static_cast<Calls*>(user);
  return ++calls.count == calls.stop_at ? 1 : 0;
}

TEST_CASE("orthogonal: columns of a block are orthogonal, norms those of the radial law") {
  // Haar blocks are orthogonal to 10 d eps (tests/random/orthogonal_test.cpp); scaling a column and
  // turning it into turns rounds each entry a few times more.
  for (const int64_t d : {1, 2, 3, 16, 70, 100}) {
    const auto kernel = gaussian();
    const Matrix<double> W =
        columns_of(*make_projection("orthogonal", arguments_of(kernel, d, 2 * d + d / 2 + 1, 11)));
    double wrong = 0;
    for (int64_t j = 0; j < W.rows(); ++j) {
      const random::Stream stream(11, random::Tag::radius, static_cast<uint64_t>(j));
      const double radius = kernel->spectral_law()->radius(stream, d);
      wrong = std::max(wrong, std::abs(kTurn * std::sqrt(inner(W, j, j)) / radius - 1));
    }
    INFO("d = " << d);
    CHECK(worst_cosine(W) < 20.0 * static_cast<double>(d) * 0x1p-52);
    CHECK(wrong < 20.0 * static_cast<double>(d) * 0x1p-52);
  }
}

TEST_CASE("simplex: all corners of a block are equally far apart, with the norms of orthogonal") {
  for (const int64_t d : {2, 3, 16, 70}) {
    const auto of = [&](const char* name) {
      return columns_of(*make_projection(name, arguments_of(gaussian(), d, 2 * d + 1, 11)));
    };
    const Matrix<double> W = of("simplex"), orthogonal = of("orthogonal");
    double wrong = 0;
    for (int64_t j = 0; j < W.rows(); ++j) {
      wrong = std::max(wrong, std::abs(inner(W, j, j) / inner(orthogonal, j, j) - 1));
      for (int64_t i = j / d * d; i < j; ++i)
        wrong =
            std::max(wrong, std::abs(inner(W, i, j) / std::sqrt(inner(W, i, i) * inner(W, j, j)) +
                                     1 / static_cast<double>(d - 1)));
    }
    INFO("d = " << d);
    CHECK(wrong < 40.0 * static_cast<double>(d) * 0x1p-52);
  }
  const auto one = [](const char* name) {
    return columns_of(*make_projection(name, arguments_of(gaussian(), 1, 5, 11)));
  };
  CHECK(same_rows(one("simplex"), one("orthogonal"), 0, 5));
}

TEST_CASE("orthogonal: different blocks are independent") {
  // The cosine of two independent directions in R^3 is uniform on (-1, 1): variance 1/3.
  constexpr int kBlocks = 3000;
  const Matrix<double> W =
      columns_of(*make_projection("orthogonal", arguments_of(gaussian(), 3, 6 * kBlocks, 2)));
  std::vector<double> cosines;
  for (int64_t j = 0; j < 6 * kBlocks; j += 6) {
    cosines.push_back(inner(W, j, j + 3) / std::sqrt(inner(W, j, j) * inner(W, j + 3, j + 3)));
  }
  CHECK(std::abs(mean_z_score(cosines, 0, 1.0 / 3)) < z_threshold(kFailure, 2));
  CHECK(ks_distance(cosines, [](double x) { return 0.5 * (1 + x); }) <
        ks_threshold(cosines.size(), kFailure, 2));
}

TEST_CASE("orthogonal: coordinates are divided by their lengthscales") {
  const Matrix<double> one =
      columns_of(*make_projection("orthogonal", arguments_of(gaussian(), 3, 7, 4)));
  const Matrix<double> ard =
      columns_of(*make_projection("orthogonal", arguments_of(gaussian({0.5, 2.0, 8.0}), 3, 7, 4)));
  int wrong = 0;
  for (int64_t j = 0; j < 7; ++j) {
    wrong += ard(j, 0) != 2 * one(j, 0);
    wrong += ard(j, 1) != one(j, 1) / 2;
    wrong += ard(j, 2) != one(j, 2) / 8;
  }
  CHECK(wrong == 0);
}

TEST_CASE("orthogonal: a column is the same in a larger map, a slice, and for any threads") {
  // 300 columns of d = 70 are five blocks across two groups of panels, the last one incomplete.
  for (const int64_t d : {1, 3, 70, 270}) {
    const auto of = [d](int64_t F) {
      return make_projection("orthogonal", arguments_of(gaussian(), d, F, 21));
    };
    const Matrix<double> W = columns_of(*of(300));
    INFO("d = " << d);
    CHECK(same_rows(columns_of(*of(1000)), W, 0, 300));
    Context seven;
    seven.threads = 7;
    CHECK(same_rows(columns_of<double>(*of(300), 0, 300, seven), W, 0, 300));
    const auto backwards = of(300);
    Context context;
    CHECK(same_rows(columns_of<double>(*backwards, 260, 300, context), W, 260, 300));
    CHECK(same_rows(columns_of<double>(*backwards, 0, 300, context), W, 0, 300));
    CHECK(!same_rows(
        columns_of(*make_projection("orthogonal", arguments_of(gaussian(), d, 300, 22))), W, 0, 1));
    // Single precision is the double rounded.
    const Matrix<float> single = columns_of<float>(*of(300));
    int64_t wrong = 0;
    for (int64_t i = 0; i < 300 * d; ++i)
      wrong += single.data()[i] != static_cast<float>(W.data()[i]);
    CHECK(wrong == 0);
  }
}

TEST_CASE("orthogonal: a block that spans two groups is drawn once") {
  // Panels are packed in groups of 256 columns of doubles; a drawing polls the context once per
  // panel of reflections at the least.
  const auto polls = [](int64_t F) {
    Calls calls;
    Context context;
    context.threads = 1;
    context.progress = count_calls;
    context.user = &calls;
    const auto projection = make_projection("orthogonal", arguments_of(gaussian(), 300, F, 1));
    projection->prepare({0, (F - 1) / projection->shape(0.0).columns + 1}, 0.0, context);
    return calls.count;
  };
  const int64_t one_group = polls(256), two_groups = polls(300);
  CHECK(one_group > 9);
  CHECK(two_groups < 2 * one_group);
}

}  // namespace orthogonal_test
