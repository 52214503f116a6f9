// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Attention through the C API: layouts, number types, states and their files, and every refusal.
#include <thread>

#include "fixture.h"

namespace attention_test {
using namespace mercer::test;

using AttentionHandle =
    std::unique_ptr<mercer_attention, Freed<mercer_attention, mercer_attention_free>>;

constexpr int64_t d = 4, D = 16, kValues = 3;

MapHandle softmax(int64_t inputs = d, const std::string& keys = "") {
  mercer_map* map = nullptr;
  const std::string spec = R"({"map":"positive","kernel":{"kernel":"exponential"},"inputs":)" +
                           std::to_string(inputs) + R"(,"features":16)" + keys + "}";
  REQUIRE(mercer_map_from_spec(spec.c_str(), &map) == MERCER_OK);
  return MapHandle(map);
}

/// Tokens of `batch` sequences of n, heads side by side.
template <class T = double>
struct Given {
  std::vector<T> q, k, v;
  mercer_tokens tokens{};
  int64_t rows, width;

  Given(int64_t batch, int64_t heads, int64_t n, int32_t causal)
      : q(numbers<T>(batch * n, heads * d)),
        k(numbers<T>(batch * n, heads * d + 1)),
        v(numbers<T>(batch * n, heads * kValues + 2)),
        rows(batch * n),
        width(heads * kValues) {
    k.resize(static_cast<size_t>(rows * heads * d));
    v.resize(static_cast<size_t>(rows * width));
    tokens = {sizeof tokens,     causal, batch, heads, rows_of(q, heads * d), rows_of(k, heads * d),
              rows_of(v, width), {}};
  }
  std::vector<T> attended(const mercer_map* map) const {
    std::vector<T> out(static_cast<size_t>(rows * width), T{77});
    CHECK(fault(mercer_attend(map, &tokens, nullptr, result_of(out.data(), rows, width)),
                MERCER_OK) == "");
    return out;
  }
};

AttentionHandle state_of(const mercer_map* map, int64_t batch, int64_t heads) {
  return made<AttentionHandle>([&](mercer_attention** out) {
    return mercer_attention_create(map, batch, heads, kValues, out);
  });
}

std::string bytes_of(const mercer_attention* attention) {
  int64_t needed = 0;
  if (mercer_attention_write(attention, nullptr, nullptr, 0, &needed) != MERCER_OK) return "?";
  std::string bytes(static_cast<size_t>(needed), '#');
  if (mercer_attention_write(attention, nullptr, bytes.data(), needed, nullptr) != MERCER_OK)
    return "?";
  return bytes;
}

double largest_gap(const std::vector<double>& a, const std::vector<double>& b) {
  double gap = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; gap < INFINITY && i < a.size(); ++i)
    gap = std::max(gap, std::fabs(a[i] - b[i]));
  return gap;
}

TEST_CASE("attention of heads side by side is that of each head") {
  const auto map = softmax();
  for (const int32_t causal : {0, 1}) {
    const Given<> all(2, 3, 70, causal);
    const auto out = all.attended(map.get());
    for (int64_t h = 0; h < 3; ++h) {
      mercer_tokens one = all.tokens;
      one.heads = 0;  // one
      for (mercer_rows* X : {&one.Q, &one.K, &one.V}) {
        const int64_t each = X == &one.V ? kValues : d;
        X->values = static_cast<const double*>(X->values) + h * each;
        X->d = each;
      }
      std::vector<double> head(140 * kValues);
      REQUIRE(mercer_attend(map.get(), &one, nullptr, result_of(head.data(), 140, kValues)) ==
              MERCER_OK);
      for (int64_t i = 0; i < 140; ++i)
        for (int64_t o = 0; o < kValues; ++o)
          CHECK(head[i * kValues + o] == Approx(out[i * 9 + h * kValues + o]).epsilon(1e-12));
    }
  }
}

TEST_CASE("attention of floats, and of bfloat16 as the floats they are") {
  const auto map = softmax();
  Given<float> floats(1, 2, 40, 1);
  std::vector<uint16_t> halves[3];
  std::vector<float>* const all[] = {&floats.q, &floats.k, &floats.v};
  mercer_tokens tokens = floats.tokens;
  mercer_rows* const views[] = {&tokens.Q, &tokens.K, &tokens.V};
  for (int i = 0; i < 3; ++i) {
    for (float& x : *all[i]) {
      const uint32_t bits = std::bit_cast<uint32_t>(x) & 0xffff0000U;  // cut to bfloat16
      halves[i].push_back(static_cast<uint16_t>(bits >> 16));
      x = std::bit_cast<float>(bits);
    }
    views[i]->number = MERCER_NUMBER_BF16;
    views[i]->values = halves[i].data();
  }
  std::vector<float> out(40 * 6);
  REQUIRE(mercer_attend(map.get(), &tokens, nullptr, result_of(out.data(), 40, 6)) == MERCER_OK);
  CHECK(out == floats.attended(map.get()));
  tokens.Q.ld = 7;
  CHECK(refused(mercer_attend(map.get(), &tokens, nullptr, result_of(out.data(), 40, 6)), "Q.ld",
                "7") == "");
}

TEST_CASE("a state of attention: prompt, then token by token, through files") {
  for (const char* keys : {"", R"(,"stabilize":true)"}) {
    const auto map = softmax(d, keys);
    const Given<> all(1, 2, 30, 1);
    const auto expected = all.attended(map.get());
    auto state = state_of(map.get(), 1, 2);
    std::vector<double> found(30 * 6);
    for (int64_t i = 0; i < 30; i += i == 0 ? 20 : 1) {
      const int64_t n = i == 0 ? 20 : 1;
      mercer_tokens some = {sizeof some,
                            1,
                            0,
                            0,
                            part_of(all.tokens.Q, i, n),
                            part_of(all.tokens.K, i, n),
                            part_of(all.tokens.V, i, n),
                            {}};
      REQUIRE(fault(mercer_attention_step(state.get(), &some, nullptr,
                                          result_of(found.data() + i * 6, n, 6)),
                    MERCER_OK) == "");
      const std::string bytes = bytes_of(state.get());
      mercer_attention* again = nullptr;
      REQUIRE(mercer_attention_read(nullptr, bytes.data(), static_cast<int64_t>(bytes.size()),
                                    &again) == MERCER_OK);
      state.reset(again);
      CHECK(bytes_of(state.get()) == bytes);
    }
    CHECK(largest_gap(found, expected) < 1e-12);
    const TemporaryDirectory directory;
    const std::string path = directory.file("state");
    REQUIRE(mercer_attention_write(state.get(), path.c_str(), nullptr, 0, nullptr) == MERCER_OK);
    const std::string info = text_of(
        [&](auto... buffer) { return mercer_file_info(path.c_str(), nullptr, 0, buffer...); });
    CHECK(holds(info, {R"("kind":"attention")", R"("batch":1,"heads":2,"values":3,"keys":30)"}));
  }
}

TEST_CASE("a state of attention: keys alone, queries alone, many threads that ask") {
  const auto map = softmax();
  const Given<> all(2, 2, 50, 0);
  const auto expected = all.attended(map.get());
  const auto state = state_of(map.get(), 2, 2);
  mercer_tokens keys = all.tokens, queries = all.tokens, nothing = {};
  keys.Q = {};
  queries.K = queries.V = {};
  nothing.struct_size = sizeof nothing;
  REQUIRE(mercer_attention_step(state.get(), &keys, nullptr, {}) == MERCER_OK);
  REQUIRE(mercer_attention_step(state.get(), &nothing, nullptr, {}) == MERCER_OK);
  std::vector<std::vector<double>> found(4, std::vector<double>(100 * 6));
  std::vector<std::thread> threads;
  for (auto& out : found) threads.emplace_back([&] { out = all.attended(map.get()); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& out : found) CHECK(out == expected);
  std::vector<double> out(100 * 6);
  REQUIRE(mercer_attention_step(state.get(), &queries, nullptr, result_of(out.data(), 100, 6)) ==
          MERCER_OK);
  CHECK(largest_gap(out, expected) < 1e-12);
}

TEST_CASE(
    "attention through C: weights of keys, of a state, and as an older program passes tokens") {
  const auto map = softmax();
  const Given<> all(2, 2, 50, 0);
  std::vector<float> weights(100, 1.0F);
  for (int64_t i = 40; i < 50; ++i) weights[i] = 0;  // the first sequence is shorter
  Given<> masked(2, 2, 50, 0);
  masked.tokens.weights = rows_of(weights, 1);
  const auto expected = masked.attended(map.get());
  const auto error_of = [&](int32_t which) {
    double error = NAN;
    CHECK(fault(mercer_attention_error(map.get(), &masked.tokens, which, nullptr, &error),
                MERCER_OK) == "");
    return error;
  };
  const double measured = error_of(MERCER_KERNEL_ERROR_MEASURED),
               predicted = error_of(MERCER_KERNEL_ERROR_PREDICTED);
  CHECK((measured > 0 && predicted > 0));
  for (int64_t i = 40; i < 50; ++i) {
    std::fill_n(masked.k.begin() + i * 8, 8, -INFINITY);
    std::fill_n(masked.v.begin() + i * 6, 6, NAN);
  }
  CHECK(masked.attended(map.get()) == expected);
  const auto plain = all.attended(map.get());
  CHECK(std::equal(plain.begin() + 300, plain.end(), expected.begin() + 300));
  CHECK(largest_gap(plain, expected) > 1e-3);

  const auto state = state_of(map.get(), 2, 2);
  mercer_tokens keys = masked.tokens, queries = masked.tokens;
  keys.Q = {};
  queries.K = queries.V = queries.weights = {};
  REQUIRE(mercer_attention_step(state.get(), &keys, nullptr, {}) == MERCER_OK);
  std::vector<double> out(100 * 6);
  REQUIRE(mercer_attention_step(state.get(), &queries, nullptr, result_of(out.data(), 100, 6)) ==
          MERCER_OK);
  CHECK(largest_gap(out, expected) < 1e-12);

  CHECK(error_of(MERCER_KERNEL_ERROR_MEASURED) == measured);
  CHECK(error_of(MERCER_KERNEL_ERROR_PREDICTED) == predicted);
  mercer_tokens older = all.tokens;
  older.struct_size = offsetof(mercer_tokens, weights);
  older.weights.n = 77;  // not read
  REQUIRE(mercer_attend(map.get(), &older, nullptr, result_of(out.data(), 100, 6)) == MERCER_OK);
  CHECK(out == plain);
}

TEST_CASE("gradients and errors of attention through C") {
  const auto map = softmax();
  Given<> all(1, 2, 20, 1);
  const auto g = numbers(20, 6);
  std::vector<double> dq(20 * 8), dk(20 * 8), dv(20 * 6);
  REQUIRE(fault(mercer_attend_vjp(map.get(), &all.tokens, rows_of(g, 6), nullptr,
                                  result_of(dq.data(), 20, 8), result_of(dk.data(), 20, 8),
                                  result_of(dv.data(), 20, 6)),
                MERCER_OK) == "");
  const auto loss = [&] {
    const auto out = all.attended(map.get());
    return std::inner_product(g.begin(), g.end(), out.begin(), 0.0);
  };
  const std::pair<std::vector<double>*, const std::vector<double>*> moves[] = {
      {&all.q, &dq}, {&all.k, &dk}, {&all.v, &dv}};
  for (const auto& [X, slope] : moves) {
    const double before = (*X)[37];
    (*X)[37] = before + 1e-5;
    const double above = loss();
    (*X)[37] = before - 1e-5;
    CHECK((*slope)[37] == Approx((above - loss()) / 2e-5).epsilon(1e-5).margin(1e-8));
    (*X)[37] = before;
  }
  double measured = 0, predicted = 0;
  REQUIRE(mercer_attention_error(map.get(), &all.tokens, MERCER_KERNEL_ERROR_MEASURED, nullptr,
                                 &measured) == MERCER_OK);
  REQUIRE(mercer_attention_error(map.get(), &all.tokens, MERCER_KERNEL_ERROR_PREDICTED, nullptr,
                                 &predicted) == MERCER_OK);
  CHECK((measured > 0 && predicted > 0));
}

TEST_CASE("attention: what is refused") {
  const auto map = softmax();
  const Given<> good(2, 2, 10, 1);
  double out[20 * 6];
  const auto call = [&](auto change, mercer_status status, auto... parts) {
    mercer_tokens tokens = good.tokens;
    mercer_matrix result = result_of(out, 20, 6);
    change(tokens, result);
    return fault(mercer_attend(map.get(), &tokens, nullptr, result), status, "mercer_attend",
                 parts...);
  };
  using M = mercer_matrix;
  using U = mercer_tokens;
  const auto bad = MERCER_INVALID_ARGUMENT, shape = MERCER_DIMENSION_MISMATCH;
  REQUIRE(mercer_attend(map.get(), &good.tokens, nullptr, result_of(out, 20, 6)) == MERCER_OK);
  CHECK(call([](U& t, M&) { t.struct_size = 12; }, bad, "struct_size") == "");
  CHECK(call([](U& t, M&) { t.causal = 2; }, bad, "tokens->causal = 2") == "");
  CHECK(call([](U& t, M&) { t.batch = -1; }, bad, "tokens->batch = -1") == "");
  CHECK(call([](U& t, M&) { t.batch = 3; }, shape, "tokens->K.n = 20", "3") == "");
  CHECK(call([](U& t, M&) { t.heads = 3; }, shape, "tokens->K.d = 8") == "");
  CHECK(call([](U& t, M&) { t.heads = kHuge; }, MERCER_OUT_OF_MEMORY, "overflow") == "");
  CHECK(call([](U& t, M&) { t.Q.d = 6; }, shape, "tokens->Q.d = 6") == "");
  CHECK(call([](U& t, M&) { t.V.d = 5; }, shape, "tokens->V.d = 5") == "");
  CHECK(call([](U& t, M&) { t.V.n = 18; }, shape, "tokens->V.n = 18") == "");
  CHECK(call([](U& t, M&) { t.Q.n = 18; }, shape, "as many queries as keys") == "");
  CHECK(call([](U& t, M&) { t.Q = {}; }, bad, "all zeros") == "");
  CHECK(call([](U& t, M&) { t.Q.n = kHuge; }, bad, "tokens->Q") == "");
  CHECK(call([](U&, M& m) { m.rows = 19; }, shape, "out is 19 x 6") == "");
  CHECK(call([](U&, M& m) { m.number = MERCER_NUMBER_F32; }, MERCER_UNSUPPORTED, "F32") == "");
  CHECK(call([](U& t, M& m) { m.data = const_cast<void*>(t.V.values); }, bad, "overlap") == "");
  const auto narrow = numbers<float>(20, 8);
  CHECK(call([&](U& t, M&) { t.Q = rows_of(narrow, 8); }, MERCER_UNSUPPORTED, "tokens->Q is F32") ==
        "");
  const auto ones = numbers(21, 1);
  CHECK(call([&](U& t, M&) { t.weights = rows_of(ones, 1); }, shape, "tokens->weights.n = 21") ==
        "");
  const std::vector<double> negative(20, -0.5);
  CHECK(call([&](U& t, M&) { t.weights = rows_of(negative, 1); }, bad,
             "tokens->weights[0] = -0.5") == "");
  for (const double beyond : {1e39, 1e-46}) {
    const std::vector<double> weights(20, beyond);
    CHECK(call([&](U& t, M&) { t.weights = rows_of(weights, 1); }, bad,
               "expected 0 or a number from 2^-60 to 2^60") == "");
  }
  const auto sparse = sparse_numbers<double, int32_t>(20, 8);
  CHECK(call([&](U& t, M&) { t.K = sparse.view(); }, MERCER_UNSUPPORTED, "tokens->K is sparse") ==
        "");
  mercer_attention* state = nullptr;
  CHECK(refused(mercer_attention_create(map.get(), 0, 1, 1, &state), "batch = 0") == "");
  CHECK(refused(mercer_attention_create(map.get(), 1, 1, 0, &state), "d_v = 0") == "");
  CHECK(fault(mercer_attention_create(map.get(), kHuge / 4, 1, 8, &state), MERCER_OUT_OF_MEMORY) ==
        "");
  CHECK(refused(mercer_attention_create(nullptr, 1, 1, 1, &state), "map", "NULL") == "");
  const auto held = state_of(map.get(), 1, 2);
  CHECK(fault(mercer_attention_step(held.get(), &good.tokens, nullptr, result_of(out, 20, 6)),
              shape, "tokens->batch = 2", "the state") == "");
  mercer_tokens keys = good.tokens;
  keys.batch = 1;
  keys.Q = {};
  CHECK(refused(mercer_attention_step(held.get(), &keys, nullptr, result_of(out, 20, 6)), "out is",
                "given") == "");
}

}  // namespace attention_test
