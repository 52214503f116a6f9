// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/attention.h: linear attention.
#include "mercer/attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "attention/attention.h"
#include "base/size.h"
#include "guard.h"
#include "handles.h"
#include "row_arguments.h"

using namespace mercer;
using namespace mercer::capi;
using attention::AttentionShape, attention::Tokens;

namespace {

constexpr uint32_t kTokensFirstSize = offsetof(mercer_tokens, weights);

/// A caller's tokens, checked. Absent rows have no heads and count as empty.
struct TokensArgument {
  RowsArgument Q, K, V, weights;
  Matrix<double> key_weights;  // a copy, if any
  AttentionShape shape;
  bool causal = false, f32 = false, has_queries = false, has_keys = false;

  template <class T>
  Tokens<T> of() const {
    const auto dense = [&](const RowsArgument& rows) {
      const auto* const view = rows.rows.get_if<MatrixView<const T>>();
      return view == nullptr ? MatrixView<const T>{} : *view;
    };
    return {dense(Q), dense(K), dense(V), key_weights.view()};
  }
};

mercer_tokens read_tokens(const mercer_tokens* tokens) {
  const auto read =
      read_required("tokens", tokens, "a mercer_tokens", mercer_tokens{}, kTokensFirstSize);
  check_range("tokens->causal", read.causal, 0, 1);
  check_at_least("tokens->batch", read.batch, 0);
  check_at_least("tokens->heads", read.heads, 0);
  return read;
}

/// The number of tokens of each of `batch` sequences.
int64_t length_of(const RowsArgument& rows, int64_t batch) {
  require(rows.n() % batch == 0, MERCER_DIMENSION_MISMATCH,
          "%s.n = %ld, expected a multiple of the %ld sequences", rows.name, rows.n(), batch);
  return rows.n() / batch;
}

RowsArgument dense_rows(const char* name, const mercer_rows& given, int64_t d, const char* columns,
                        Context& context) {
  RowsArgument rows = read_rows(name, given, d, columns, context);
  require(!rows.rows.sparse(), MERCER_UNSUPPORTED, "%s is sparse, expected dense rows", name);
  return rows;
}

void require_precision(const RowsArgument& rows, bool f32) {
  require(rows.is_f32() == f32, MERCER_UNSUPPORTED,
          "%s is %s, expected the precision of the others", rows.name,
          rows.is_f32() ? "F32" : "F64");
}

void read_keys(const mercer_tokens& read, const feature::FeatureMap& phi, Context& context,
               TokensArgument* to) {
  AttentionShape& shape = to->shape;
  const int64_t width = checked_multiply(shape.heads, phi.inputs(), "tokens->K");
  to->K = dense_rows("tokens->K", read.K, width, "the inputs of all heads", context);
  to->V = dense_rows("tokens->V", read.V, kAnyColumns, "", context);
  require(to->V.d() > 0 && to->V.d() % shape.heads == 0, MERCER_DIMENSION_MISMATCH,
          "tokens->V.d = %ld, expected a multiple of the %ld heads", to->V.d(), shape.heads);
  require(shape.values == 0 || to->V.d() / shape.heads == shape.values, MERCER_DIMENSION_MISMATCH,
          "tokens->V.d = %ld, expected %ld heads of %ld values", to->V.d(), shape.heads,
          shape.values);
  check_same_rows(to->V, to->K);
  shape.values = to->V.d() / shape.heads;
  shape.keys = length_of(to->K, shape.batch);
  to->f32 = to->K.is_f32();
  require_precision(to->V, to->f32);
}

/// Weights >= 0, one for each key, in any precision.
void read_weights(const mercer_tokens& read, Context& context, TokensArgument* to) {
  constexpr const char* kName = "tokens->weights";
  constexpr double kLeastWeight = 0x1p-60;  // so that float features keep their range
  require(to->has_keys, MERCER_INVALID_ARGUMENT, "%s without tokens->K, expected both", kName);
  to->weights = dense_rows(kName, read.weights, 1, "a weight for each key", context);
  check_same_rows(to->weights, to->K);
  const DoubleRows numbers(to->weights, context);
  to->key_weights = Matrix<double>(to->weights.n(), 1, context, "weights of keys");
  for (int64_t i = 0; i < to->weights.n(); ++i) {
    const double weight = numbers.view()(i, 0);
    require(weight == 0 || (weight >= kLeastWeight && weight <= 1 / kLeastWeight),
            MERCER_INVALID_ARGUMENT, "%s[%ld] = %g, expected 0 or a number from 2^-60 to 2^60",
            kName, i, weight);
    to->key_weights(i, 0) = weight;
  }
}

void read_queries(const mercer_tokens& read, const feature::FeatureMap& phi, Context& context,
                  TokensArgument* to) {
  const int64_t width = checked_multiply(to->shape.heads, phi.inputs(), "tokens->Q");
  to->Q = dense_rows("tokens->Q", read.Q, width, "the inputs of all heads", context);
  to->shape.queries = length_of(to->Q, to->shape.batch);
  if (!to->has_keys) to->f32 = to->Q.is_f32();
  require_precision(to->Q, to->f32);
  require(
      !to->causal || !to->has_keys || to->shape.queries == to->shape.keys,
      MERCER_DIMENSION_MISMATCH,
      "tokens->Q.n = %ld and tokens->K.n = %ld, expected as many queries as keys for causal = 1",
      to->Q.n(), to->K.n());
}

/// shape: batch, heads and values of a state, 0 where the caller's count.
TokensArgument checked_tokens(const mercer_tokens& read, const feature::FeatureMap& phi,
                              const AttentionShape& shape, Context& context) {
  attention::require_attention(phi);
  TokensArgument to;
  to.causal = read.causal == 1;
  to.shape = shape;
  const auto agree = [](const char* name, int64_t given, int64_t own) {
    require(own == 0 || given == 0 || given == own, MERCER_DIMENSION_MISMATCH,
            "%s = %ld, expected %ld as in the state, or 0", name, given, own);
    return own != 0 ? own : std::max<int64_t>(given, 1);
  };
  to.shape.batch = agree("tokens->batch", read.batch, shape.batch);
  to.shape.heads = agree("tokens->heads", read.heads, shape.heads);
  to.has_keys = is_given(read.K) || is_given(read.V);
  to.has_queries = is_given(read.Q);
  if (to.has_keys) read_keys(read, phi, context, &to);
  if (is_given(read.weights)) read_weights(read, context, &to);
  if (to.has_queries) read_queries(read, phi, context, &to);
  return to;
}

/// Q, K and V of one call.
TokensArgument all_tokens(const mercer_tokens& read, const feature::FeatureMap& phi,
                          Context& context) {
  require(is_given(read.Q) && is_given(read.K) && is_given(read.V), MERCER_INVALID_ARGUMENT,
          "tokens->Q, K or V is all zeros, expected rows");
  return checked_tokens(read, phi, {0, 0, 0, 0, 0}, context);
}

void check_apart(const Extent& out, const TokensArgument& tokens) {
  for (const RowsArgument* rows : {&tokens.Q, &tokens.K, &tokens.V, &tokens.weights})
    check_apart(out, *rows);
}

FeatureMatrix result_like(const char* name, const mercer_matrix& matrix, int64_t rows, int64_t cols,
                          const TokensArgument& tokens) {
  const FeatureMatrix result = read_feature_matrix(name, matrix, rows, cols, tokens.f32, false);
  check_apart(result.extent, tokens);
  return result;
}

FeatureMatrix answers(const mercer_matrix& out, const TokensArgument& tokens) {
  return result_like("out", out, tokens.Q.n(),
                     checked_multiply(tokens.shape.heads, tokens.shape.values, "out"), tokens);
}

/// Calls body with a zero of the tokens' precision.
template <class Body>
void in_precision(const TokensArgument& tokens, const Body& body) {
  tokens.f32 ? body(float{}) : body(double{});
}

template <class T>
void step(attention::Attention& state, const TokensArgument& tokens, const FeatureMatrix* out,
          Context& context) {
  const Tokens<T> all = tokens.of<T>();
  if (tokens.has_keys && tokens.has_queries && tokens.causal)
    return state.answer_in_turn(all, context, out->reals<T>());
  Stage stage(context, 2);
  if (tokens.has_keys) stage.part(1, [&] { state.absorb(all, context); });
  if (tokens.has_queries) stage.part(1, [&] { state.answer(all.Q, context, out->reals<T>()); });
}

}  // namespace

mercer_status mercer_attend(const mercer_map* map, const mercer_tokens* tokens,
                            mercer_context* context, mercer_matrix out) {
  return guard_long("mercer_attend", context, [&](Context& running) {
    const auto& phi = checked("map", map).impl;
    const TokensArgument read = all_tokens(read_tokens(tokens), *phi, running);
    const FeatureMatrix result = answers(out, read);
    in_precision(read, [&]<class T>(T) {
      attention::attend(phi, read.shape, read.causal, read.of<T>(), running, result.reals<T>());
    });
  });
}

mercer_status mercer_attend_vjp(const mercer_map* map, const mercer_tokens* tokens, mercer_rows G,
                                mercer_context* context, mercer_matrix dQ, mercer_matrix dK,
                                mercer_matrix dV) {
  return guard_long("mercer_attend_vjp", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const TokensArgument read = all_tokens(read_tokens(tokens), phi, running);
    const RowsArgument slopes = dense_rows(
        "G", G, checked_multiply(read.shape.heads, read.shape.values, "G"), "the values", running);
    check_same_rows(slopes, read.Q);
    require_precision(slopes, read.f32);
    const FeatureMatrix results[] = {result_like("dQ", dQ, read.Q.n(), read.Q.d(), read),
                                     result_like("dK", dK, read.K.n(), read.K.d(), read),
                                     result_like("dV", dV, read.V.n(), read.V.d(), read)};
    for (int i = 0; i < 3; ++i) {
      capi::check_apart(results[i].extent, slopes);
      for (int j = 0; j < i; ++j) check_disjoint(results[i].extent, results[j].extent);
    }
    in_precision(read, [&]<class T>(T) {
      attention::pull_attention_back<T>(
          phi, read.shape, read.causal, read.of<T>(), *slopes.rows.get_if<MatrixView<const T>>(),
          running, {results[0].reals<T>(), results[1].reals<T>(), results[2].reals<T>()});
    });
  });
}

mercer_status mercer_attention_error(const mercer_map* map, const mercer_tokens* tokens,
                                     int32_t which, mercer_context* context, double* error) {
  return guard_long("mercer_attention_error", context, [&](Context& running) {
    const auto& phi = checked("map", map).impl;
    check_range("which", which, MERCER_KERNEL_ERROR_MEASURED, MERCER_KERNEL_ERROR_PREDICTED);
    check_place("error", error);
    const TokensArgument read = all_tokens(read_tokens(tokens), *phi, running);
    const DoubleRows q(read.Q, running), k(read.K, running), v(read.V, running);
    const Tokens<double> wide{q.view(), k.view(), v.view(), read.key_weights.view()};
    *error =
        which == MERCER_KERNEL_ERROR_MEASURED
            ? attention::measured_attention_error(phi, read.shape, read.causal, wide, running)
            : attention::predicted_attention_error(*phi, read.shape, read.causal, wide, running);
  });
}

mercer_status mercer_attention_create(const mercer_map* map, int64_t batch, int64_t heads,
                                      int64_t d_v, mercer_attention** out) {
  return guard_create("mercer_attention_create", out, [&] {
    const auto& phi = checked("map", map).impl;
    check_at_least("batch", batch, 1);
    check_at_least("heads", heads, 1);
    check_at_least("d_v", d_v, 1);
    return mercer_attention{attention::Attention(phi, batch, heads, d_v)};
  });
}

mercer_status mercer_attention_step(mercer_attention* attention, const mercer_tokens* tokens,
                                    mercer_context* context, mercer_matrix out) {
  return guard_long("mercer_attention_step", context, [&](Context& running) {
    attention::Attention& state = checked("attention", attention).impl;
    const TokensArgument read =
        checked_tokens(read_tokens(tokens), state.map(),
                       {state.batch(), state.heads(), 0, 0, state.values()}, running);
    require(read.has_queries == is_given(out), MERCER_INVALID_ARGUMENT,
            "out is %s, expected a matrix with tokens->Q alone",
            read.has_queries ? "all zeros" : "given");
    if (!read.has_queries && !read.has_keys) return;
    FeatureMatrix result{};
    if (read.has_queries) result = answers(out, read);
    in_precision(read, [&]<class T>(T) { step<T>(state, read, &result, running); });
  });
}

void mercer_attention_free(mercer_attention* attention) { delete attention; }
