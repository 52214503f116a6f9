// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Linear attention against its definition and the reference numbers.
#include "attention/attention.h"

#include "attention/attention_cases.h"
#include "base/parameters.h"
#include "support/reference_matrix.h"
#include "support/refusal.h"

namespace mercer::test::attention_test {
namespace {

TokenRows<double> reference_tokens(const Reference& entry, const char* q, const char* k) {
  const Matrix<double> Q = reference_matrix(entry[q]), K = reference_matrix(entry[k]);
  const Matrix<double> V = reference_matrix(entry["V"]);
  TokenRows<double> tokens({1, 1, Q.rows(), K.rows(), V.cols()}, Q.cols());
  for (const auto& [to, from] : {std::pair{&tokens.Q, &Q}, {&tokens.K, &K}, {&tokens.V, &V}})
    std::copy_n(from->data(), from->rows() * from->cols(), to->data());
  return tokens;
}

/// Numerators and denominators are sums of D products of features, then of keys: 64 in T, the rest
/// in double. Features are not negative and |v| <= 1.
template <class T>
double rounding(const feature::FeatureMap& map) {
  return 4 * static_cast<double>(map.row_length() + attention::kTokens + 8) *
         static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
std::string fault(const SharedMap& map, const TokenRows<T>& tokens, bool causal) {
  return difference(copy(attended(map, tokens, causal).view()).view(),
                    attended_by_features(*map, tokens, causal).view(), rounding<T>(*map));
}

SharedMap smooth_fourier(int64_t d, int64_t D, const char* form) {
  return made_map("fourier", {{"kernel", "gaussian"}, {"lengthscale", 4.0}}, d, D, 3,
                  {{"form", form}});
}

}  // namespace

TEST_CASE("attention equals the reference numbers") {
  REQUIRE(oracle("stats")["attention"].size() == 2);
  for (const Reference& entry : oracle("stats")["attention"]) {
    const TokenRows<double> tokens = reference_tokens(entry, "Q", "K");
    const auto softmax = softmax_map(tokens.d, 8, {}, 1, std::pow(tokens.d, 0.25));
    const TokenRows<double> features = reference_tokens(entry, "phi_q", "phi_k");
    const SharedMap identity = made_map(
        "exact_polynomial", {{"kernel", "polynomial"}, {"degree", int64_t{1}}, {"offset", 0.0}},
        features.d, features.d);
    for (const bool causal : {false, true}) {
      Matrix<double> exact(tokens.Q.rows(), tokens.width());
      Context context;
      attention::attend_exactly(softmax->kernel(), tokens.shape, causal, tokens.view(), context,
                                exact.view());
      CHECK(worst_difference(
                exact, reference_matrix(entry[causal ? "exact_causal" : "exact_full"])) < 1e-14);
      CHECK(worst_difference(attended(identity, features, causal),
                             reference_matrix(entry[causal ? "linear_causal" : "linear_full"])) <
            1e-14);
    }
  }
}

TEST_CASE("attention is the quotient of sums over keys, however tokens are cut into blocks") {
  const AttentionShape shapes[] = {{1, 1, 1, 1, 1},    {1, 1, 700, 700, 5}, {2, 3, 65, 65, 4},
                                   {3, 2, 64, 64, 17}, {1, 9, 130, 130, 2}, {40, 1, 3, 3, 2}};
  for (const AttentionShape& shape : shapes) {
    for (const auto& map : {softmax_map(6, 20), softmax_map(6, 20, {{"form", "hyperbolic"}}),
                            softmax_map(6, 20, {{"projection", "orthogonal"}, {"tilt", -0.1}})}) {
      const TokenRows<double> tokens(shape, 6, 3, 0.6);
      const TokenRows<float> single(shape, 6, 0, 0.6);
      for (const bool causal : {false, true}) {
        CAPTURE(shape.batch, shape.heads, shape.queries, causal);
        CHECK(fault(map, tokens, causal) == "");
        CHECK(fault(map, single, causal) == "");
      }
    }
  }
  const AttentionShape across{2, 2, 70, 300, 3};
  CHECK(fault(softmax_map(6, 20), TokenRows<double>(across, 6), false) == "");
}

// Denominators of such features may vanish; here they do not.
TEST_CASE("attention by maps of any kind: signed, complex and grown features") {
  const TokenRows<double> tokens({2, 2, 100, 100, 3}, 4);
  for (const SharedMap& map :
       {smooth_fourier(4, 40, "pair"), smooth_fourier(4, 40, "complex"),
        softmax_map(4, 200, {{"form", "trigonometric"}}, 5, 2.0),
        SharedMap(made_map("tensor_srht",
                           {{"kernel", "polynomial"}, {"degree", int64_t{2}}, {"offset", 3.0}}, 4,
                           64))})
    for (const bool causal : {false, true}) {
      CAPTURE(map->name(), causal);
      CHECK(fault(map, tokens, causal) == "");
    }
}

TEST_CASE("attention: blocks of many tokens, and threads") {
  // More numbers of features than a block holds.
  const auto map = softmax_map(2, 4096);
  const TokenRows<float> tokens({1, 2, 140, 140, 2}, 2, 1);
  for (const bool causal : {false, true}) {
    CHECK(fault(map, tokens, causal) == "");
    for (const int threads : {2, 7})
      CHECK(equal_bytes(attended(map, tokens, causal, threads), attended(map, tokens, causal)));
  }
}

TEST_CASE("stabilised features: attention by any magnitude of tokens") {
  const TokenRows<double> near({2, 2, 90, 90, 3}, 5);
  for (const char* form : {"exp", "hyperbolic", "trigonometric"}) {
    const SharedMap plain = softmax_map(5, 40, {{"form", form}});
    const SharedMap stable = softmax_map(5, 40, {{"form", form}, {"stabilize", true}});
    for (const bool causal : {false, true}) {
      CAPTURE(form, causal);
      CHECK(difference(attended(stable, near, causal).view(), attended(plain, near, causal).view(),
                       1e-11) == "");
    }
  }
}

// Exponents of some thousands, where all features as they are vanish.
TEST_CASE("stabilised features: attention by tokens of large norms") {
  constexpr int64_t n = 130, D = 40, d = 5;
  const SharedMap stable = softmax_map(d, D, {{"stabilize", true}});
  const TokenRows<double> far({1, 1, n, n, 3}, d, 0, 60);
  CHECK(std::isnan(attended(softmax_map(d, D), far, true)(n - 1, 0)));
  // w is 10^6 times the logarithm of the feature at 10^-6 e_k.
  const Matrix<double> at = features_of(*softmax_map(d, D, {}, 5, 1e6),
                                        filled(d, d, [](auto i, auto k) { return i == k; }));
  const auto logs = [&](const Matrix<double>& X) {
    return filled(n, D, [&](int64_t i, int64_t m) {
      double sum = 0;
      for (int64_t k = 0; k < d; ++k)
        sum += X(i, k) * (1e6 * std::log(at(k, m) * std::sqrt(D)) + 0.5e-6) - X(i, k) * X(i, k) / 2;
      return sum;
    });
  };
  const Matrix<double> log_q = logs(far.Q), log_k = logs(far.K);
  for (const bool causal : {false, true}) {
    const auto expected = attended_plainly(far, causal, [&](int64_t i, int64_t j, int64_t) {
      // Relative to the largest product of features that the query meets.
      double most = -std::numeric_limits<double>::infinity();
      for (int64_t l = 0; l <= (causal ? i : n - 1); ++l)
        for (int64_t m = 0; m < D; ++m) most = std::max(most, log_q(i, m) + log_k(l, m));
      long double sum = 0;
      for (int64_t m = 0; m < D; ++m) sum += std::exp(log_q(i, m) + log_k(j, m) - most);
      return sum;
    });
    CHECK(difference(attended(stable, far, causal).view(), expected.view(), 1e-4) == "");
  }
}

TEST_CASE("attention: what is not finite, and denominators of 0") {
  const auto map = softmax_map(4, 16);
  const double nan = std::nan("");
  TokenRows<double> tokens({1, 2, 200, 200, 3}, 4);
  const auto rows_changed = [&](bool causal) {
    const auto before = TokenRows<double>({1, 2, 200, 200, 3}, 4);
    const auto clean = attended(map, before, causal), found = attended(map, tokens, causal);
    std::vector<int> bad(200 * 6, 0);
    for (int64_t i = 0; i < 200 * 6; ++i) {
      bad[i] = std::isnan(found.data()[i]);
      if (!bad[i]) CHECK(found.data()[i] == Approx(clean.data()[i]).epsilon(1e-12));
    }
    return bad;
  };
  const auto expect = [&](bool causal, const auto& is_bad) {
    const auto bad = rows_changed(causal);
    int64_t wrong = 0;
    for (int64_t i = 0; i < 200; ++i)
      for (int64_t c = 0; c < 6; ++c) wrong += bad[i * 6 + c] != int{is_bad(i, c)};
    CHECK(wrong == 0);
  };
  for (const bool causal : {false, true}) {
    tokens.Q(70, 1) = nan;  // head 0 of one query
    expect(causal, [](int64_t i, int64_t c) { return i == 70 && c < 3; });
    tokens = TokenRows<double>({1, 2, 200, 200, 3}, 4);
    tokens.K(100, 6) = nan;  // head 1, from its key on
    expect(causal, [&](int64_t i, int64_t c) { return c >= 3 && (!causal || i >= 100); });
    tokens = TokenRows<double>({1, 2, 200, 200, 3}, 4);
    tokens.V(131, 2) = nan;  // one column of head 0
    expect(causal, [&](int64_t i, int64_t c) { return c == 2 && (!causal || i >= 131); });
    tokens = TokenRows<double>({1, 2, 200, 200, 3}, 4);
  }
  TokenRows<double> none({1, 1, 2, 0, 3}, 4);
  const auto without_keys = attended(map, none, false);
  CHECK(std::all_of(without_keys.data(), without_keys.data() + 6,
                    [](double x) { return std::isnan(x); }));
}

TEST_CASE("attention: keys count by their weights, and those of weight 0 not at all") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const SharedMap& map : {softmax_map(4, 16), softmax_map(4, 16, {{"stabilize", true}})})
    for (const bool causal : {false, true}) {
      INFO(print_object(map->parameters()) << (causal ? ", causal" : ""));
      TokenRows<double> tokens({2, 2, 150, 150, 3}, 4);
      TokenRows<float> single({2, 2, 150, 150, 3}, 4);
      tokens.weigh();
      single.weigh();
      const Matrix<double> expected = attended_by_features(*softmax_map(4, 16), tokens, causal);
      const Matrix<double> found = attended(map, tokens, causal);
      tokens.fill_masked(-infinity, NAN);
      single.fill_masked(-std::numeric_limits<float>::infinity(), NAN);
      CHECK(equal_bytes(attended(map, tokens, causal), found));
      CHECK(equal_bytes(attended(map, tokens, causal, 7), found));
      const Matrix<double> rough = copy(attended(map, single, causal).view());
      int64_t without = 0, wrong = 0;
      for (int64_t i = 0; i < 300; ++i)
        for (int64_t c = 0; c < 6; ++c) {
          const bool none = std::isnan(expected(i, c));  // no key that counts
          without += none;
          wrong += none != std::isnan(found(i, c)) || none != std::isnan(rough(i, c));
          wrong += std::fabs(found(i, c) - expected(i, c)) > 1e-10 ||
                   std::fabs(rough(i, c) - expected(i, c)) > 1e-4;
        }
      CHECK(wrong == 0);
      CHECK(without == (causal ? 6 + 70 * 6 : 0));
    }
}

TEST_CASE("attention: masked keys are as if left out") {
  TokenRows<double> tokens({1, 1, 90, 200, 3}, 4), kept({1, 1, 90, 120, 3}, 4);
  tokens.weights = Matrix<double>(200, 1);
  tokens.weights.fill(0);
  for (int64_t i = 0; i < 120; ++i) tokens.weights(i + i / 3 * 2, 0) = 1;
  int64_t next = 0;
  for (int64_t i = 0; i < 200; ++i) {
    if (tokens.weights(i, 0) == 0) continue;
    std::copy_n(tokens.K.view().row(i), 4, kept.K.view().row(next));
    std::copy_n(tokens.V.view().row(i), 3, kept.V.view().row(next++));
  }
  REQUIRE(next == 120);
  const auto map = softmax_map(4, 32);
  CHECK(difference(attended(map, tokens, false).view(), attended(map, kept, false).view(), 1e-13) ==
        "");
  // A map that takes rows of norm 1 alone does not see what padding is.
  const SharedMap unit = made_map("fourier", {{"kernel", "sphere_polynomial"}}, 4, 24);
  for (const Matrix<double>* X : {&tokens.Q, &tokens.K})
    for (int64_t i = 0; i < X->rows(); ++i) {
      double square = 0;
      for (int64_t k = 0; k < 4; ++k) square += (*X)(i, k) * (*X)(i, k);
      for (int64_t k = 0; k < 4; ++k) (*X)(i, k) /= std::sqrt(square);
    }
  const auto found = attended(unit, tokens, false);
  tokens.fill_masked(2, 7);
  CHECK(equal_bytes(attended(unit, tokens, false), found));
}

TEST_CASE("attention: keys added piece by piece, one by one, and in one call") {
  const auto map = softmax_map(4, 24);
  const TokenRows<double> tokens({2, 2, 150, 150, 3}, 4);
  const auto whole = attended(map, tokens, true);
  for (const int64_t first : {1, 64, 149}) {
    attention::Attention state(map, 2, 2, 3);
    Context context;
    Matrix<double> found(300, 6);
    for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, first}, {first, 150}}) {
      // Sequences lie one after the other, so a piece of both is copied.
      const int64_t n = end - begin;
      TokenRows<double> piece({2, 2, n, n, 3}, 4);
      const auto copy_piece = [&](const Matrix<double>& from, const Matrix<double>& to, bool back) {
        for (int64_t s = 0; s < 2; ++s)
          for (int64_t i = 0; i < n; ++i)
            std::copy_n((back ? to : from).view().row(back ? s * n + i : s * 150 + begin + i),
                        from.cols(),
                        (back ? from : to).view().row(back ? s * 150 + begin + i : s * n + i));
      };
      copy_piece(tokens.Q, piece.Q, false);
      copy_piece(tokens.K, piece.K, false);
      copy_piece(tokens.V, piece.V, false);
      Matrix<double> out(2 * n, 6);
      state.answer_in_turn<double>(piece.view(), context, out.view());
      copy_piece(found, out, true);
    }
    CHECK(state.keys() == 150);
    CHECK(difference(found.view(), whole.view(), 1e-12) == "");
  }
}

TEST_CASE("attention: maps that do not serve, memory and cancellation") {
  const TokenRows<double> tokens({1, 1, 300, 300, 3}, 4);
  const SharedMap field = made_map("fourier", {{"kernel", "curl_free"}}, 4, 40);
  CHECK_REFUSED(MERCER_UNSUPPORTED, attended(field, tokens, true), "outputs");
  const auto map = softmax_map(4, 24);
  Matrix<double> out(300, 3);
  Context capped;
  capped.memory_cap = 300 * 24 * 8;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY,
                attention::attend(map, tokens.shape, true, tokens.view(), capped, out.view()),
                "memory_cap");
  Context cancelled;
  cancelled.cancel();
  CHECK_REFUSED(MERCER_CANCELLED,
                attention::attend(map, tokens.shape, true, tokens.view(), cancelled, out.view()));
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, attention::Attention(map, int64_t{1} << 40, 1 << 20, 1 << 20),
                "overflow");
}

}  // namespace mercer::test::attention_test
