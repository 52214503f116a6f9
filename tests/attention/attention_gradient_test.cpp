// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gradients of attention against central differences, and of single precision against double.
#include "attention/attention.h"
#include "attention/attention_cases.h"
#include "base/parameters.h"
#include "support/derivatives.h"
#include "support/refusal.h"

namespace mercer::test::attention_gradient_test {
namespace {

template <class T>
struct Pulled {
  Matrix<T> Q, K, V;
};

template <class T>
Pulled<T> pulled(const SharedMap& map, const TokenRows<T>& t, bool causal, const Matrix<T>& G,
                 int threads = 1) {
  const int64_t width = t.shape.heads * t.d;
  Pulled<T> out{{t.Q.rows(), width}, {t.K.rows(), width}, {t.K.rows(), t.width()}};
  Context context;
  context.threads = threads;
  attention::pull_attention_back<T>(*map, t.shape, causal, t.view(), G.view(), context,
                                    {out.Q.view(), out.K.view(), out.V.view()});
  return out;
}

double loss(const SharedMap& map, const TokenRows<double>& t, bool causal,
            const Matrix<double>& G) {
  const Matrix<double> out = attended(map, t, causal);
  return std::inner_product(G.data(), G.data() + G.rows() * G.cols(), out.data(), 0.0);
}

/// Along a random direction of one of the three inputs: the central difference, and the product
/// with the gradient.
std::pair<double, double> slopes(const SharedMap& map, TokenRows<double>& t, bool causal,
                                 const Matrix<double>& G, Matrix<double> TokenRows<double>::*input,
                                 const Matrix<double>& gradient) {
  Matrix<double>& X = t.*input;
  const Matrix<double> direction = random_matrix(gradient.rows(), gradient.cols(), 11);
  const auto moved = [&](double step) {
    for (int64_t i = 0; i < gradient.rows(); ++i)
      for (int64_t k = 0; k < gradient.cols(); ++k) X(i, k) += step * direction(i, k);
  };
  constexpr double kStep = 1e-5;
  moved(kStep);
  const double above = loss(map, t, causal, G);
  moved(-2 * kStep);
  const double below = loss(map, t, causal, G);
  moved(kStep);
  const double product = std::inner_product(
      gradient.data(), gradient.data() + gradient.rows() * gradient.cols(), direction.data(), 0.0);
  return {(above - below) / (2 * kStep), product};
}

std::vector<SharedMap> smooth_maps() {
  return {softmax_map(3, 16),
          softmax_map(3, 16, {{"form", "hyperbolic"}}),
          softmax_map(3, 16, {{"stabilize", true}}, 5, 0.8),
          softmax_map(3, 16, {{"stabilize", true}, {"form", "hyperbolic"}}),
          softmax_map(3, 64, {{"stabilize", true}, {"form", "trigonometric"}}, 5, 2.0),
          made_map("fourier", {{"kernel", "gaussian"}, {"lengthscale", 4.0}}, 3, 24),
          made_map("fourier", {{"kernel", "gaussian"}, {"lengthscale", 4.0}}, 3, 24, 2,
                   {{"form", "complex"}})};
}

}  // namespace

TEST_CASE("gradients of attention are its derivatives") {
  for (const AttentionShape& shape :
       {AttentionShape{1, 1, 150, 150, 4}, {2, 3, 70, 70, 2}, {2, 2, 9, 9, 3}}) {
    for (const bool causal : {false, true}) {
      for (const SharedMap& map : smooth_maps()) {
        CAPTURE(shape.batch, shape.queries, causal, map->name());
        TokenRows<double> t(shape, 3, 2);
        const Matrix<double> G = random_matrix(t.Q.rows(), t.width(), 7);
        const Pulled<double> found = pulled(map, t, causal, G);
        using Rows = TokenRows<double>;
        for (const auto& [input, gradient] :
             {std::pair{&Rows::Q, &found.Q}, {&Rows::K, &found.K}, {&Rows::V, &found.V}}) {
          const auto [expected, product] = slopes(map, t, causal, G, input, *gradient);
          // The difference of sums of n numbers of size 1, over a step of 10^-5.
          CHECK(std::fabs(product - expected) < 1e-7 * (1 + std::fabs(expected)));
          CHECK(std::fabs(expected) > 1e-3);
        }
      }
    }
  }
}

TEST_CASE("gradients of attention by weighted keys: those of masked ones are 0") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const bool causal : {false, true}) {
    for (const SharedMap& map : smooth_maps()) {
      INFO(print_object(map->parameters()) << (causal ? ", causal" : ""));
      TokenRows<double> t({2, 2, 150, 150, 3}, 3, 1);
      t.weigh();
      Matrix<double> G = random_matrix(t.Q.rows(), t.width(), 7);
      const Matrix<double> out = attended(map, t, causal);
      for (int64_t i = 0; i < G.rows(); ++i)  // padding, which no loss sees
        if (std::isnan(out(i, 0))) std::fill_n(G.view().row(i), G.cols(), 0.0);
      const Pulled<double> found = pulled(map, t, causal, G);
      int64_t masked = 0;
      for (int64_t i = 0; i < t.K.rows(); ++i)
        if (t.weights(i, 0) == 0)
          for (int64_t k = 0; k < found.K.cols(); ++k)
            masked += found.K(i, k) != 0 || found.V(i, k) != 0;
      CHECK(masked == 0);
      t.fill_masked(-infinity, NAN);
      const Pulled<double> poisoned = pulled(map, t, causal, G);
      CHECK((equal_bytes(poisoned.Q, found.Q) && equal_bytes(poisoned.K, found.K) &&
             equal_bytes(poisoned.V, found.V)));
      t.fill_masked(0, 0);
      const auto loss_at = [&] {
        const Matrix<double> answers = attended(map, t, causal);
        double sum = 0;
        for (int64_t i = 0; i < G.rows() * G.cols(); ++i)
          if (G.data()[i] != 0) sum += G.data()[i] * answers.data()[i];
        return sum;
      };
      const std::tuple<Matrix<double>*, const Matrix<double>*, int64_t> moves[] = {
          {&t.Q, &found.Q, 80}, {&t.K, &found.K, 76}, {&t.V, &found.V, 229}};
      for (const auto& [X, slope, row] : moves) {
        const double before = (*X)(row, 1);
        (*X)(row, 1) = before + 1e-5;
        const double above = loss_at();
        (*X)(row, 1) = before - 1e-5;
        const double expected = (above - loss_at()) / 2e-5;
        (*X)(row, 1) = before;
        CHECK(std::fabs((*slope)(row, 1) - expected) < 1e-7 * (1 + std::fabs(expected)));
      }
    }
  }
}

TEST_CASE("gradients of attention: other queries than keys, single precision, blocks, threads") {
  const auto map = softmax_map(3, 16);
  TokenRows<double> across({2, 2, 40, 150, 3}, 3);
  const Matrix<double> G = random_matrix(across.Q.rows(), across.width(), 7);
  const Pulled<double> found = pulled(map, across, false, G);
  const auto [expected, product] = slopes(map, across, false, G, &TokenRows<double>::K, found.K);
  CHECK(product == Approx(expected).epsilon(1e-6));

  const auto wide = softmax_map(3, 4096);  // blocks of 64 and 128 tokens
  for (const bool causal : {false, true}) {
    const TokenRows<double> t({1, 2, 150, 150, 3}, 3);
    TokenRows<float> single({1, 2, 150, 150, 3}, 3);
    const Matrix<double> slope = random_matrix(150, 6, 7);
    const Pulled<double> all = pulled(wide, t, causal, slope);
    const Pulled<float> rough = pulled(wide, single, causal, random_matrix<float>(150, 6, 7));
    const double size = largest(all.Q.view()) + largest(all.K.view()) + largest(all.V.view());
    // Sums of 4,096 products of rounded features; signs cancel.
    CHECK(difference(copy(rough.Q.view()).view(), all.Q.view(), 2e-4 * size) == "");
    CHECK(difference(copy(rough.K.view()).view(), all.K.view(), 2e-4 * size) == "");
    CHECK(difference(copy(rough.V.view()).view(), all.V.view(), 2e-4 * size) == "");
    const Pulled<double> seven = pulled(wide, t, causal, slope, 7);
    CHECK((equal_bytes(all.Q, seven.Q) && equal_bytes(all.K, seven.K) &&
           equal_bytes(all.V, seven.V)));
  }
}

TEST_CASE("gradients of attention by stabilised features are those of the features as they are") {
  for (const char* form : {"exp", "hyperbolic", "trigonometric"}) {
    for (const bool causal : {false, true}) {
      const TokenRows<double> t({1, 2, 100, 100, 3}, 3);
      const Matrix<double> G = random_matrix(100, 6, 7);
      const auto plain = pulled(softmax_map(3, 64, {{"form", form}}, 5, 1.7), t, causal, G);
      const auto stable =
          pulled(softmax_map(3, 64, {{"form", form}, {"stabilize", true}}, 5, 1.7), t, causal, G);
      CAPTURE(form, causal);
      CHECK(difference(stable.Q.view(), plain.Q.view(), 1e-9) == "");
      CHECK(difference(stable.K.view(), plain.K.view(), 1e-9) == "");
      CHECK(difference(stable.V.view(), plain.V.view(), 1e-9) == "");
    }
  }
  // Far from the origin, where the latter vanish.
  TokenRows<double> far({1, 1, 70, 70, 2}, 3, 0, 30);
  const auto map = softmax_map(3, 16, {{"stabilize", true}});
  const Matrix<double> G = random_matrix(70, 2, 7);
  const Pulled<double> found = pulled(map, far, false, G);
  const auto [expected, product] = slopes(map, far, false, G, &TokenRows<double>::V, found.V);
  CHECK(product == Approx(expected).epsilon(1e-6));
}

TEST_CASE("gradients of attention: what has none") {
  const TokenRows<double> t({1, 1, 5, 5, 2}, 3);
  const Matrix<double> G = random_matrix(5, 2, 1);
  CHECK_REFUSED(MERCER_UNSUPPORTED, pulled(SharedMap(map_without_derivatives(3, 8)), t, true, G),
                "sign");
}

}  // namespace mercer::test::attention_gradient_test
