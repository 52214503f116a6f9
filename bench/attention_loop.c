/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
/* Causal linear attention as one writes it down, for attention.py: positive features by plain
 * loops, then for each token a rank-1 update of the sums and a product with them. */
#include <math.h>
#include <stdlib.h>

static void features(long n, long d, long D, const float *X, const float *W, float *Z) {
  for (long i = 0; i < n; ++i) {
    float half = 0;
    for (long j = 0; j < d; ++j) half += X[i * d + j] * X[i * d + j] / 2;
    for (long m = 0; m < D; ++m) Z[i * D + m] = -half;
    for (long j = 0; j < d; ++j)
      for (long m = 0; m < D; ++m) Z[i * D + m] += X[i * d + j] * W[j * D + m];
    for (long m = 0; m < D; ++m) Z[i * D + m] = expf(Z[i * D + m]);
  }
}

/* Heads one after the other; Q, K n x d, V and out n x v each, W d x D. */
int attention_loop(long heads, long n, long d, long D, long v, const float *Q, const float *K,
                   const float *V, const float *W, float *out) {
  float *q = malloc(sizeof(float) * n * D), *k = malloc(sizeof(float) * n * D);
  float *S = malloc(sizeof(float) * D * v), *z = malloc(sizeof(float) * D);
  if (!q || !k || !S || !z) return 1;
  for (long h = 0; h < heads; ++h, Q += n * d, K += n * d, V += n * v, out += n * v) {
    features(n, d, D, Q, W, q);
    features(n, d, D, K, W, k);
    for (long m = 0; m < D * v; ++m) S[m] = 0;
    for (long m = 0; m < D; ++m) z[m] = 0;
    for (long i = 0; i < n; ++i) {
      float below = 0;
      for (long o = 0; o < v; ++o) out[i * v + o] = 0;
      for (long m = 0; m < D; ++m) {
        z[m] += k[i * D + m];
        below += q[i * D + m] * z[m];
        for (long o = 0; o < v; ++o) {
          S[m * v + o] += k[i * D + m] * V[i * v + o];
          out[i * v + o] += q[i * D + m] * S[m * v + o];
        }
      }
      for (long o = 0; o < v; ++o) out[i * v + o] /= below;
    }
  }
  free(q), free(k), free(S), free(z);
  return 0;
}
