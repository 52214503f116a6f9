// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Calibration of scores whose probabilities are known.
#include "model/select/calibration.h"

#include "support/dense.h"
#include "support/refusal.h"

namespace calibration_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

/// Scores of n rows and classes drawn from softmax(slope s + offset).
struct Drawn {
  Matrix<double> scores, codes, probabilities;
  Drawn(int64_t n, double slope, const std::vector<double>& offset, uint64_t seed)
      : scores(random_matrix(n, static_cast<int64_t>(offset.size()), seed)),
        codes(n, scores.cols()),
        probabilities(n, scores.cols()) {
    const Matrix<double> uniform = random_matrix(n, 1, seed + 1);  // on (-1, 1)
    codes.fill(0);
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < scores.cols(); ++k)
        sum += probabilities(i, k) = std::exp(slope * scores(i, k) + offset[k]);
      double left = (uniform(i, 0) + 1) / 2;
      int64_t chosen = 0;
      for (int64_t k = 0; k < scores.cols(); ++k) {
        probabilities(i, k) /= sum;
        if (left >= 0) chosen = k;
        left -= probabilities(i, k);
      }
      codes(i, chosen) = 1;
    }
  }
};

TEST_CASE("calibration finds the slope and offsets that classes were drawn with", "[calibration]") {
  // The estimates of a regular model are normal about the truth with the inverse of the information
  // as covariance. Its diagonal here is at least n times the mean variance of a term, about 0.05,
  // after what the others explain: deviations below 1 / sqrt(0.05 n) = 0.032; 5 of them fail with a
  // probability of 6e-7 for each number.
  Context context;
  const int64_t n = 20000;
  for (const std::vector<double>& offset :
       {std::vector<double>{0.4, -0.4}, std::vector<double>{0.5, -0.7, 0.1, 0.1}}) {
    const Drawn drawn(n, 3, offset, 11);
    const Calibration found = fit_calibration(drawn.scores.view(), drawn.codes.view(), {}, context);
    CHECK(std::abs(found.slope - 3) <= 5 * 0.032);
    double worst = 0;
    Matrix<double> p = copy(MatrixView<const double>(drawn.scores.view()));
    found.apply(p.view());
    for (size_t k = 0; k < offset.size(); ++k)
      CHECK(std::abs(found.offset[k] - offset[k]) <= 5 * 0.032);
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < p.cols(); ++k) {
        sum += p(i, k);
        worst = std::max(worst, std::abs(p(i, k) - drawn.probabilities(i, k)));
      }
      if (std::abs(sum - 1) > 1e-14) worst = 1;
    }
    CHECK(worst <= 5 * 0.032);
  }
}

TEST_CASE("calibration weighs rows, and rows without weight may hold anything", "[calibration]") {
  Context context;
  const Drawn drawn(400, 2, {0.2, -0.1, -0.1}, 21);
  std::vector<double> weights;
  for (int64_t i = 0; i < 400; ++i) weights.push_back(i < 200 ? 1 : 0);
  const Calibration half = fit_calibration(drawn.scores.view().block_rows(0, 200),
                                           drawn.codes.view().block_rows(0, 200), {}, context);
  drawn.scores(300, 1) = std::nan("");
  const Calibration found =
      fit_calibration(drawn.scores.view(), drawn.codes.view(), weights, context);
  CHECK(std::abs(found.slope - half.slope) <= 1e-5);
  for (size_t k = 0; k < 3; ++k) CHECK(std::abs(found.offset[k] - half.offset[k]) <= 1e-5);
  CHECK(fit_calibration(drawn.scores.view(), drawn.codes.view(), std::vector<double>(400, 0.0),
                        context)
            .empty());
}

TEST_CASE("few rows that scores tell apart give no certainty", "[calibration]") {
  Context context;
  Matrix<double> scores(6, 2), codes(6, 2);
  for (int64_t i = 0; i < 6; ++i) {
    codes(i, 0) = i < 3;
    codes(i, 1) = i >= 3;
    scores(i, 0) = i < 3 ? 1 : -1;
    scores(i, 1) = -scores(i, 0);
  }
  const Calibration found = fit_calibration(scores.view(), codes.view(), {}, context);
  found.apply(scores.view());
  for (int64_t i = 0; i < 6; ++i) {
    // (m + 1) / (m + 2) for classes of three rows.
    CHECK(std::abs(scores(i, i < 3 ? 0 : 1) - 0.8) <= 1e-4);
  }
  // Scores of the wrong sign say nothing: the shares are left.
  for (int64_t i = 0; i < 6; ++i) scores(i, 0) = -(scores(i, 1) = i < 3 ? 1 : -1);
  const Calibration wrong = fit_calibration(scores.view(), codes.view(), {}, context);
  CHECK(wrong.slope == 0);
}

TEST_CASE("many classes together give away two rows, as two classes do", "[calibration]") {
  Context context;
  for (const int64_t K : {2, 4, 25}) {
    Matrix<double> scores(3 * K, K), codes(3 * K, K);
    codes.fill(0);
    for (int64_t i = 0; i < 3 * K; ++i) codes(i, i % K) = 1;
    std::copy_n(codes.data(), 3 * K * K, scores.data());
    fit_calibration(scores.view(), codes.view(), {}, context).apply(scores.view());
    double given = 0;
    for (int64_t i = 0; i < 3 * K; ++i) given += 1 - scores(i, i % K);
    // Of 3 K rows in classes of three: 3 K times 2 / (K (3 + 2)).
    CHECK(std::abs(given - 1.2) <= 1e-3);
  }
}

TEST_CASE("scores of the wrong sign leave the classes' smoothed shares", "[calibration]") {
  // 30 rows of class 0 and 10 of class 1; scores that go the wrong way and are far from 0.
  Context context;
  Matrix<double> scores(40, 2), codes(40, 2);
  const Matrix<double> random = random_matrix(40, 1, 31);
  for (int64_t i = 0; i < 40; ++i) {
    codes(i, 0) = i < 30;
    codes(i, 1) = i >= 30;
    scores(i, 0) = 5 + random(i, 0) + (i < 30 ? -1 : 1);
    scores(i, 1) = 0;
  }
  const Calibration found = fit_calibration(scores.view(), codes.view(), {}, context);
  REQUIRE(found.slope == 0);
  // The mean of Platt's targets is least for slope 0: own (m + 1) / (m + 2), of others the rest.
  const double share = (30 * 31.0 / 32 + 10 * 1.0 / 12) / 40;
  CHECK(std::abs(found.offset[0] - found.offset[1] - std::log(share / (1 - share))) <= 1e-4);
}

TEST_CASE("calibration: a row of weight 2 is two equal rows", "[calibration]") {
  Context context;
  const Drawn drawn(30, 2, {0.2, -0.1, -0.1}, 41);
  std::vector<double> weights;
  Matrix<double> scores(60, 3), codes(60, 3);
  int64_t to = 0;
  for (int64_t i = 0; i < 30; ++i) {
    weights.push_back(static_cast<double>(i % 3));
    for (int64_t c = 0; c < i % 3; ++c, ++to)
      for (int64_t k = 0; k < 3; ++k) {
        scores(to, k) = drawn.scores(i, k);
        codes(to, k) = drawn.codes(i, k);
      }
  }
  for (const Prior prior : {Prior::none, Prior::softmax}) {
    const Calibration weighed =
        fit_calibration(drawn.scores.view(), drawn.codes.view(), weights, context, nullptr, prior);
    const Calibration repeated =
        fit_calibration(scores.view().block_rows(0, to), codes.view().block_rows(0, to), {},
                        context, nullptr, prior);
    CHECK(std::abs(weighed.slope - repeated.slope) <= 1e-5);
    for (size_t k = 0; k < 3; ++k) CHECK(std::abs(weighed.offset[k] - repeated.offset[k]) <= 1e-5);
  }
}

TEST_CASE("scores of a logistic loss stay about what they are where few rows calibrate",
          "[calibration]") {
  // Three rows of one class of three: without a prior the other classes lose what Platt's targets
  // allow, with it no number leaves two deviations of the prior.
  Context context;
  Matrix<double> scores(3, 3), codes(3, 3);
  scores.fill(0);
  codes.fill(0);
  for (int64_t i = 0; i < 3; ++i) codes(i, 1) = 1;
  const auto found = [&](Prior prior) {
    return fit_calibration(scores.view(), codes.view(), {}, context, nullptr, prior);
  };
  CHECK(found(Prior::none).offset[1] - found(Prior::none).offset[0] > 2);
  const Calibration kept = found(Prior::softmax);
  CHECK(std::abs(kept.slope - 1) <= 1e-5);  // scores of 0 say nothing of it
  for (const double offset : kept.offset) CHECK(std::abs(offset) <= 1);
  CHECK(kept.offset[1] > kept.offset[0]);
  // Of many rows the prior is nothing: 4 / n against an information of about 0.05.
  const Drawn drawn(20000, 3, {0.4, -0.4}, 11);
  const auto of = [&](Prior prior) {
    return fit_calibration(drawn.scores.view(), drawn.codes.view(), {}, context, nullptr, prior);
  };
  CHECK(std::abs(of(Prior::none).slope - of(Prior::softmax).slope) <= 0.02);
}

TEST_CASE("a calibration's numbers are checked", "[calibration]") {
  const Calibration calibration{2.5, {0.1, -0.1}};
  const std::vector<double> numbers = numbers_of(calibration);
  CHECK(numbers == std::vector<double>{2.5, 0.1, -0.1});
  CHECK(calibration_of(numbers, 2).offset == calibration.offset);
  const auto fault = [](std::vector<double> numbers_in, const char* text) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { calibration_of(numbers_in, 2); }, text);
  };
  CHECK(fault({1, 0}, "2 numbers, expected 3") == "");
  CHECK(fault({-1, 0, 0}, "slope of -1") == "");
  CHECK(fault({1, 0, std::nan("")}, "not finite") == "");
}

}  // namespace calibration_test
