// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Attention by every map: the quotient of sums over its own features, its gradient the map's own
// derivative of theirs; what has no features of one kernel is refused.
#include "attention/attention.h"

#include "attention/attention_cases.h"
#include "contract/cells.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"

namespace attention {
using namespace mercer;
using namespace mercer::test;

constexpr int64_t n = 12, kValues = 2;

/// Features of rows, and what they have to be multiplied by, up to a factor of all.
struct Scaled {
  Matrix<double> Z;
  std::vector<double> weights;
};

Scaled scaled_features(const FeatureMap& map, const Matrix<double>& X) {
  Scaled out{features_of(map, X), std::vector<double>(n, 0.0)};
  Context context;
  if (map.row_scales() != nullptr)
    map.row_scales()->apply_scaled(X.view(), context, out.Z.view(), out.weights);
  const double most = *std::max_element(out.weights.begin(), out.weights.end());
  for (double& log : out.weights) log = std::exp(log - most);
  return out;
}

/// Of a query: answer and denominator, and the sum of all magnitudes in the latter.
struct Plain {
  double answer[kValues], below, magnitude;
};

/// Causal attention of one head by the definition, a row for each query.
std::vector<Plain> attended_plainly(const Scaled& q, const Scaled& k, const Matrix<double>& V) {
  std::vector<Plain> out;
  for (int64_t i = 0; i < n; ++i) {
    long double sums[kValues + 1] = {}, magnitude = 0;
    for (int64_t j = 0; j <= i; ++j) {
      long double a = 0;
      for (int64_t m = 0; m < q.Z.cols(); ++m) {
        const long double term = static_cast<long double>(q.Z(i, m)) * k.Z(j, m) * k.weights[j];
        a += term;
        magnitude += std::fabs(term);
      }
      for (int64_t o = 0; o < kValues; ++o) sums[o] += a * V(j, o);
      sums[kValues] += a;
    }
    Plain one{{}, static_cast<double>(sums[kValues]), static_cast<double>(magnitude)};
    for (int64_t o = 0; o < kValues; ++o)
      one.answer[o] = static_cast<double>(sums[o] / sums[kValues]);
    out.push_back(one);
  }
  return out;
}

TokenRows<double> tokens_of(const Cell& cell, int64_t d) {
  TokenRows<double> tokens({1, 1, n, n, kValues}, d);
  tokens.Q = rows_for(cell.row(), n, d, 5);
  tokens.K = rows_for(cell.row(), n, d, 6);
  return tokens;
}

/// The worst error of an answer over what the rounding of its terms allows.
double worst_answer(const Matrix<double>& found, const std::vector<Plain>& expected, int64_t D) {
  const double unit = 4 * static_cast<double>(D + n) * std::numeric_limits<double>::epsilon();
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Plain& one = expected[i];
    if (std::fabs(one.below) <= 1e-6 * one.magnitude) continue;  // no digits are left
    for (int64_t o = 0; o < kValues; ++o) {
      const double allowed =
          unit * one.magnitude / std::fabs(one.below) * (1 + std::fabs(one.answer[o]));
      const double error = std::fabs(found(i, o) - one.answer[o]) / allowed;
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

/// dL/dphi of queries and keys and dL/dV by plain sums.
struct Slopes {
  Matrix<double> q, k, V;
};
Slopes plain_slopes(const Scaled& q, const Scaled& k, const Matrix<double>& V,
                    const std::vector<Plain>& answers, const Matrix<double>& G) {
  const int64_t D = q.Z.cols();
  Slopes out{Matrix<double>(n, D), Matrix<double>(n, D), Matrix<double>(n, kValues)};
  for (const Matrix<double>* X : {&out.q, &out.k, &out.V}) X->fill(0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double slope = 0, a = 0;  // dL/da_ij
      for (int64_t o = 0; o < kValues; ++o)
        slope += G(i, o) * (V(j, o) - answers[i].answer[o]) / answers[i].below;
      for (int64_t m = 0; m < D; ++m) {
        a += q.Z(i, m) * k.Z(j, m);
        out.q(i, m) += slope * k.Z(j, m);
        out.k(j, m) += slope * q.Z(i, m);
      }
      for (int64_t o = 0; o < kValues; ++o) out.V(j, o) += a * G(i, o) / answers[i].below;
    }
  }
  return out;
}

double relative_gap(const Matrix<double>& found, const Matrix<double>& expected) {
  double gap = 0, size = 0;
  for (int64_t i = 0; i < found.rows() * found.cols(); ++i) {
    const double error = std::fabs(found.data()[i] - expected.data()[i]);
    if (!(error <= gap)) gap = error;
    size = std::max(size, std::fabs(expected.data()[i]));
  }
  return gap == 0 ? 0 : gap / size;
}

Matrix<double> pulled_back(const FeatureMap& map, const Matrix<double>& X,
                           const Matrix<double>& G) {
  Matrix<double> out(X.rows(), X.cols());
  Context context;
  derivatives_of(map).pull_back(X.view(), G.view(), context, out.view());
  return out;
}

void check_gradient(const FeatureMap& map, const TokenRows<double>& t, const Scaled& q,
                    const Scaled& k, const std::vector<Plain>& answers) {
  const Matrix<double> G = random_matrix(n, kValues, 8);
  Matrix<double> dQ(n, t.d), dK(n, t.d), dV(n, kValues);
  Context context;
  const auto pull = [&] {
    mercer::attention::pull_attention_back<double>(map, t.shape, true, t.view(), G.view(), context,
                                                   {dQ.view(), dK.view(), dV.view()});
  };
  if (map.derivatives() == nullptr && map.row_scales() == nullptr) {
    CHECK_REFUSED(MERCER_UNSUPPORTED, pull());
    return;
  }
  pull();
  if (map.row_scales() != nullptr) return;  // the derivative of Z is not that of the features
  for (const Plain& one : answers)          // else rounding is larger than the threshold
    if (std::fabs(one.below) < 0.01 * one.magnitude) return;
  const Slopes slopes = plain_slopes(q, k, t.V, answers, G);
  CHECK(relative_gap(dV, slopes.V) < 1e-10);
  CHECK(relative_gap(dQ, pulled_back(map, t.Q, slopes.q)) < 1e-8);
  CHECK(relative_gap(dK, pulled_back(map, t.K, slopes.k)) < 1e-8);
}

TEST_CASE("contract: attention by every map is that by its features, and so is its gradient") {
  int64_t tried = 0, with_gradients = 0;
  for (const Cell& cell : made_cells()) {
    if (!cell.has_first_parts()) continue;
    const int64_t d = cell.inputs(kInputs);
    const auto D = cell.features(d, kFeatures);
    if (!D) continue;
    const SharedMap map = cell.make(d, *D, 3);
    INFO(cell.label());
    const TokenRows<double> tokens = tokens_of(cell, d);
    if (map->outputs() > 1 || map->field() != nullptr || map->has_kernel_columns()) {
      CHECK_REFUSED(MERCER_UNSUPPORTED, attended(map, tokens, true), "expected a map");
      continue;
    }
    const Scaled q = scaled_features(*map, tokens.Q), k = scaled_features(*map, tokens.K);
    const auto expected = attended_plainly(q, k, tokens.V);
    CHECK(worst_answer(attended(map, tokens, true), expected, map->row_length()) <= 1);
    check_gradient(*map, tokens, q, k, expected);
    with_gradients += map->derivatives() != nullptr && map->row_scales() == nullptr;
    ++tried;
  }
  CHECK(tried > 100);
  CHECK(with_gradients > 50);
}

}  // namespace attention
