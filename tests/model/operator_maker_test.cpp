// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gamma of every structure and shape against its formula, and that there is one for ordinary
// targets: with gaps, constant, tiny, of part of the rows.
#include "model/outputs/operator_maker.h"

#include <cmath>
#include <limits>

#include "support/catch.h"
#include "support/dense.h"
#include "support/field_maps.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::test;
using model::OperatorMaker;
using model::OperatorPlan;
using model::OutputStructure;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

OperatorPlan plan_of(OutputStructure structure, const char* name = "decomposable") {
  OperatorPlan plan;
  plan.spec = field_spec({{"operator", name}, {"features", int64_t{6}}});
  plan.structure = structure;
  return plan;
}

OperatorMaker maker_of(const OperatorPlan& plan, const Matrix<double>& Y) {
  Context context;
  return {plan, random_matrix(Y.rows(), 2, 1).view(), Y.view(), context};
}

std::vector<double> gamma_of(const OperatorMaker& maker, double shape) {
  return maker.make(1, shape, 6)->kernel().parameters().numbers("gamma");
}

/// Each output standardised, no gaps.
Matrix<double> standardised(const Matrix<double>& Y) {
  const auto n = static_cast<double>(Y.rows());
  std::vector<double> mean, deviation;
  for (int64_t k = 0; k < Y.cols(); ++k) {
    double sum = 0, square = 0;
    for (int64_t i = 0; i < Y.rows(); ++i) sum += Y(i, k) / n;
    for (int64_t i = 0; i < Y.rows(); ++i) square += std::pow(Y(i, k) - sum, 2) / n;
    mean.push_back(sum);
    deviation.push_back(std::sqrt(square));
  }
  return filled(Y.rows(), Y.cols(), [&](int64_t i, int64_t k) {
    return (Y(i, k) - mean[static_cast<size_t>(k)]) / deviation[static_cast<size_t>(k)];
  });
}

Matrix<double> correlated(int64_t n, int64_t p, uint64_t seed) {
  const Matrix<double> common = random_matrix(n, 1, seed), own = random_matrix(n, p, seed + 1);
  return filled(n, p, [&](int64_t i, int64_t k) {
    return 3 * static_cast<double>(k + 1) * (common(i, 0) + own(i, k)) + 2;
  });
}

}  // namespace

TEST_CASE("operator maker: Gamma of a shape is that of the formula", "[model]") {
  const int64_t n = 30, p = 3;
  const Matrix<double> Y = correlated(n, p, 2), Z = standardised(Y);
  const OperatorMaker covariance = maker_of(plan_of(OutputStructure::covariance), Y);
  const OperatorMaker similarity = maker_of(plan_of(OutputStructure::similarity), Y);
  for (const double w : {0.0, 0.3, 1.0}) {
    const std::vector<double> G = gamma_of(covariance, w), H = gamma_of(similarity, w);
    for (int64_t k = 0; k < p; ++k)
      for (int64_t l = 0; l < p; ++l) {
        double c = 0, s = 0;
        for (int64_t i = 0; i < n; ++i) {
          c += Z(i, k) * Z(i, l) / static_cast<double>(n);
          s += std::pow(Z(i, k) - Z(i, l), 2) / static_cast<double>(n);
        }
        const auto at = static_cast<size_t>(k * p + l);
        CHECK(std::abs(G[at] - ((k == l ? 1 - w : 0) + w * c)) < 1e-13);
        CHECK(std::abs(H[at] - std::exp(-w * s)) < 1e-13);
      }
  }
  // A path of three outputs, mean degree 4/3: (I + w L) Gamma is I but for the trace.
  const std::vector<double> edges = {0, 1, 0, 1, 0, 1, 0, 1, 0};
  const double L[3][3] = {{0.75, -0.75, 0}, {-0.75, 1.5, -0.75}, {0, -0.75, 0.75}};
  OperatorPlan graph = plan_of(OutputStructure::laplacian);
  graph.graph = {edges.data(), 3, 3};
  const OperatorMaker laplacian = maker_of(graph, Y);
  for (const double w : {0.0, 0.5, 20.0}) {
    const std::vector<double> G = gamma_of(laplacian, w);
    double trace = 0;
    for (size_t k = 0; k < 3; ++k) trace += G[4 * k];
    CHECK(std::abs(trace - 3) < 1e-13);
    double unit = 0;  // of (I + w L) Gamma, the first of its diagonal
    for (size_t k = 0; k < 3; ++k)
      for (size_t l = 0; l < 3; ++l) {
        double sum = G[3 * k + l];
        for (size_t j = 0; j < 3; ++j) sum += w * L[k][j] * G[3 * j + l];
        if (k == 0 && l == 0) unit = sum;
        CHECK(std::abs(sum - (k == l ? unit : 0)) < 1e-12);
      }
    CHECK(unit > 0.9);
  }
}

TEST_CASE("operator maker: similarity has a Gamma whatever the gaps", "[model]") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Matrix<double> Y = correlated(100, 8, 10 * seed);
    const Matrix<double> drawn = random_matrix(100, 8, 10 * seed + 5);
    for (int64_t i = 0; i < 100; ++i)
      for (int64_t k = 0; k < 8; ++k)
        if (drawn(i, k) > 0) Y(i, k) = kMissing;
    const OperatorMaker maker = maker_of(plan_of(OutputStructure::similarity), Y);
    for (const double shape : maker.shapes()) CHECK_NOTHROW(maker.make(1, shape, 6));
  }
}

TEST_CASE("operator maker: outputs that do not vary know nothing of others", "[model]") {
  const Matrix<double> varying = correlated(20, 2, 3);
  for (const auto structure : {OutputStructure::covariance, OutputStructure::similarity}) {
    for (const double flat : {0.0, 3.0}) {
      const Matrix<double> same = filled(20, 3, [&](int64_t, int64_t) { return flat; });
      const OperatorMaker none = maker_of(plan_of(structure), same);
      for (const double shape : none.shapes()) CHECK(gamma_of(none, shape)[0] == 1);
      const OperatorMaker some = maker_of(
          plan_of(structure),
          filled(20, 3, [&](int64_t i, int64_t k) { return k < 2 ? varying(i, k) : flat; }));
      const OperatorMaker pair = maker_of(plan_of(structure), varying);
      const double w = structure == OutputStructure::covariance ? 0.9 : 1;
      const std::vector<double> G = gamma_of(some, w), two = gamma_of(pair, w);
      CHECK(std::abs(G[8] - 1) < 1e-13);
      CHECK(std::abs(G[1] - two[1]) < 1e-13);
      CHECK(std::abs(G[2] - (structure == OutputStructure::covariance ? 0 : std::exp(-2.0))) <
            1e-13);
    }
    const Matrix<double> tiny =
        filled(20, 2, [&](int64_t i, int64_t k) { return 1e-170 * varying(i, k); });
    CHECK(std::abs(gamma_of(maker_of(plan_of(structure), tiny), 0.9)[1] -
                   gamma_of(maker_of(plan_of(structure), varying), 0.9)[1]) < 1e-12);
  }
}

TEST_CASE("operator maker: of one output there is no shape", "[model]") {
  const Matrix<double> Y = random_matrix(20, 1, 4);
  for (const auto structure : {OutputStructure::covariance, OutputStructure::similarity}) {
    const OperatorMaker maker = maker_of(plan_of(structure), Y);
    CHECK(maker.shapes() == std::vector<double>{0});
    CHECK(gamma_of(maker, 0) == std::vector<double>{1});
  }
}

TEST_CASE("operator maker: pairs that part of the rows lack are uncorrelated there", "[model]") {
  Matrix<double> Y = correlated(20, 3, 5);
  for (int64_t i = 0; i < 20; ++i) Y(i, i % 2) = kMissing;  // 0 and 1 never together
  for (const auto structure : {OutputStructure::covariance, OutputStructure::similarity}) {
    OperatorPlan plan = plan_of(structure);
    CHECK(refusal_fault(
              MERCER_INVALID_ARGUMENT, [&] { maker_of(plan, Y); },
              "targets 0 and 1, from 0, were never observed in the same row") == "");
    plan.of_part = true;
    const std::vector<double> G = gamma_of(maker_of(plan, Y), 0.5);
    CHECK((std::isfinite(G[1]) && std::abs(G[1]) < std::abs(G[2])));
  }
  for (int64_t i = 0; i < 20; ++i) Y(i, 2) = kMissing;
  for (int64_t i = 0; i < 20; ++i) Y(i, 0) = Y(i, 1) = static_cast<double>(i);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { maker_of(plan_of(OutputStructure::covariance), Y); },
            "output 2, from 0, has no observed target") == "");
}

TEST_CASE("operator maker: what it would not heed is refused", "[model]") {
  const Matrix<double> Y = random_matrix(20, 2, 6);
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED,
            [&] { maker_of(plan_of(OutputStructure::similarity, "divergence_free"), Y); },
            "similarity of outputs beside a field") == "");
  OperatorPlan given = plan_of(OutputStructure::similarity);
  given.spec =
      field_spec({{"operator", "decomposable"}, {"gamma", std::vector<double>{1, 0, 0, 1}}});
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED, [&] { maker_of(given, Y); }, "beside \"gamma\"") == "");
  OperatorPlan loud = plan_of(OutputStructure::covariance);
  loud.spec = field_spec({{"operator", "decomposable"}, {"kernel", gaussian_of({1}, 7)}});
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { maker_of(loud, Y); }, "\"variance\"") == "");
}
