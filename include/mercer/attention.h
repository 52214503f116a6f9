/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_ATTENTION_H
#define MERCER_ATTENTION_H

/* Linear attention (Choromanski et al. 2021): with queries q_i, keys k_j, values v_j, phi of a map,
 *   o_i = sum_j phi(q_i)'phi(k_j) v_j / sum_j phi(q_i)'phi(k_j)
 * over all keys of a sequence, or, causal, over j <= i. Random is what the map draws, fixed by its
 * seed. Which map, scale and error: "Attention" in GUIDE.md. */

#include "mercer/map.h"
#include "mercer/map_error.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== All tokens in one call ====
 *
 * Example: causal attention of 8 heads of d numbers over n tokens.
 *
 *   mercer_tokens tokens = {.struct_size = sizeof tokens, .causal = 1, .heads = 8};
 *   tokens.Q = mercer_rows_f32(n, 8 * d, q);
 *   tokens.K = mercer_rows_f32(n, 8 * d, k);
 *   tokens.V = mercer_rows_f32(n, 8 * d, v);
 *   mercer_status status = mercer_attend(map, &tokens, NULL, mercer_matrix_f32(n, 8 * d, out));
 */

/** Tokens of sequences, one sequence after the other; heads lie side by side in a row, d numbers
 *  each in Q and K, d_v in V. Heads that lie one after the other are sequences: batch counts them,
 *  heads is 1. Sequences of several lengths are padded, and the weights of what pads them are 0: a
 *  key of weight 0, whatever it and its value hold, adds exactly nothing. 312 bytes on 64-bit
 *  machines. */
typedef struct mercer_tokens {
  uint32_t struct_size; /**< [0] sizeof(mercer_tokens). */
  int32_t causal;       /**< [4] 1: token i sees keys 0 to i, as many as queries; 0: all keys. */
  int64_t batch;        /**< [8] Sequences; 0: 1, or those of the state. */
  int64_t heads;        /**< [16] 0: 1, or those of the state. */
  mercer_rows Q;        /**< [24] (batch queries) x (heads d). */
  mercer_rows K;        /**< [96] (batch keys) x (heads d). */
  mercer_rows V;        /**< [168] (batch keys) x (heads d_v), d_v >= 1. */
  mercer_rows weights; /**< [240] (batch keys) x 1: 0 or from 2^-60 to 2^60, which terms of keys are
                             multiplied by, 0 for a masked key; absent: 1 each. */
} mercer_tokens;

/** Row i of out: o_i, heads side by side; NaN where its denominator is 0. What is not finite in a
 *  query stays in its head and row; in a key or value it reaches every query that sees it.
 *  Shapes: Q, K, V dense, of one precision (BF16 is F32), weights of any; out (batch queries) x (heads d_v) of it.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED (sparse rows, two precisions, a map of
 *  several outputs or of kernel values).
 *  Threads and cost: any number at once, the same bits for any number; per token and head a row of
 *  features, 2 D d_v multiply-adds, causal 3 D d_v and 64 (D + d_v). Sums are in double beyond 64
 *  tokens. Memory: some 10 MB of features, D d_v numbers a head. */
MERCER_API mercer_status mercer_attend(const mercer_map* map, const mercer_tokens* tokens,
                                       mercer_context* context, mercer_matrix out);

/** dL/dQ, dL/dK, dL/dV of a real L with dL/dout = G, 0 for keys of weight 0; a row of G of zeros
 *  counts for nothing, whatever its answer. What is not finite reaches what depends on it, causal
 *  also up to 63 tokens beside it.
 *  Shapes: G as out of mercer_attend; dQ, dK, dV as Q, K, V, of their precision.
 *  Errors: those of mercer_attend; MERCER_UNSUPPORTED for maps without derivatives ("Derivatives of
 *  features" in GUIDE.md).
 *  Cost: some four times mercer_attend, d_v numbers a query. */
MERCER_API mercer_status mercer_attend_vjp(const mercer_map* map, const mercer_tokens* tokens,
                                           mercer_rows G, mercer_context* context, mercer_matrix dQ,
                                           mercer_matrix dK, mercer_matrix dV);

/** ||out - exact||_F / ||exact||_F, exact with the map's kernel in place of phi'phi. which:
 *  mercer_kernel_error; PREDICTED is the root mean square over seeds to first order in 1/D.
 *  Errors: those of mercer_attend; MERCER_INVALID_ARGUMENT for an error that is not finite;
 *  MERCER_UNSUPPORTED: PREDICTED of maps without covariances.
 *  Cost: a kernel value for each pair of query and key, PREDICTED a covariance for each query and
 *  two keys: some hundred tokens tell as much as all. */
MERCER_API mercer_status mercer_attention_error(const mercer_map* map, const mercer_tokens* tokens,
                                                int32_t which, mercer_context* context,
                                                double* error);

/* ==== Token by token ====
 *
 * Example: the keys of a prompt, then one token more.
 *
 *   mercer_attention* state = NULL;
 *   mercer_status status = mercer_attention_create(map, 1, 8, d, &state);
 *   mercer_tokens prompt = {.struct_size = sizeof prompt};
 *   prompt.K = mercer_rows_f32(n, 8 * d, k);
 *   prompt.V = mercer_rows_f32(n, 8 * d, v);
 *   mercer_matrix none = {0};
 *   if (status == MERCER_OK) status = mercer_attention_step(state, &prompt, NULL, none);
 *   mercer_tokens next = {.struct_size = sizeof next, .causal = 1};
 *   next.Q = mercer_rows_f32(1, 8 * d, q);
 *   next.K = mercer_rows_f32(1, 8 * d, k);
 *   next.V = mercer_rows_f32(1, 8 * d, v);
 *   mercer_matrix o = mercer_matrix_f32(1, 8 * d, out);
 *   if (status == MERCER_OK) status = mercer_attention_step(state, &next, NULL, o);
 *   mercer_attention_free(state);
 */

/** The sums over the keys of every head: D (d_v + 1) doubles each, however many keys. Only one
 *  thread may use them while they change. */
typedef struct mercer_attention mercer_attention;

/** No keys yet. The map may be freed. Errors: batch, heads or d_v < 1; those of mercer_attend. */
MERCER_API mercer_status mercer_attention_create(const mercer_map* map, int64_t batch,
                                                 int64_t heads, int64_t d_v,
                                                 mercer_attention** out);

/** Adds the keys, then answers the queries over all keys so far; causal: key i, then query i. With
 *  absent Q and out keys are only added, with absent K and V queries only answered. Shapes, errors
 *  and cost: mercer_attend. Files: mercer/io.h. After MERCER_CANCELLED or
 *  MERCER_OUT_OF_MEMORY some of the keys have been added. */
MERCER_API mercer_status mercer_attention_step(mercer_attention* attention,
                                               const mercer_tokens* tokens, mercer_context* context,
                                               mercer_matrix out);

/** Frees a state. */
MERCER_API void mercer_attention_free(mercer_attention* attention);

#ifdef __cplusplus
}
#endif
#endif
