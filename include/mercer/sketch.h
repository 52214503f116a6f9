/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_SKETCH_H
#define MERCER_SKETCH_H

/* Sketches of the polynomial kernel variance (gamma x'y + offset)^p and of the bilinear kernel
 * variance (x1'y1)(x2'y2): maps of D columns with E[phi(x)'phi(y)] = k(x, y), at a cost far below
 * that of the d^p products they stand for. What a map can do (mercer/map.h) a sketch can. Which
 * sketch for which rows: "Polynomial and bilinear kernels" in capi/GUIDE.md. */

#include "mercer/base.h"
#include "mercer/kernel.h"
#include "mercer/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Kinds of sketches ====
 *
 * A sketch is made by mercer_map_from_spec with
 *
 *   {"map":NAME,"kernel":{"kernel":"polynomial","degree":p,"gamma":g,"offset":o},
 *    "inputs":d,"features":D,"seed":s,...}.
 *
 * The factors of a polynomial kernel read u = [sqrt(gamma) x, sqrt(offset)], those of {"kernel":
 * "bilinear","left":d1} (p = 2) read x1 and x2 of rows [x1 | x2]; d is the length of u, d' the next
 * power of two, H the Hadamard matrix of d' rows.
 *
 *   product_sketch       D^{-1/2} prod_i w_i'u, "kind": rademacher (entries +-1; complex: 1, -1,
 *                        i, -i) or gaussian; p d D per row, p nnz D per CSR row.
 *   tensor_sketch        circular convolution of p CountSketches to D buckets, by FFT (Pham, Pagh
 *                        2013): p (nnz + D log D) per row. Needs FFTW.
 *   tensor_srht          D^{-1/2} prod_i (H diag(s_i) u)[h_i], random signs s_i: p (d' log d' + D)
 *                        per row (Wacker, Kanagawa, Filippone 2022). "kind": upsampled (each h_i
 *                        the first D of ceil(D/d') copies of 1..d', shuffled), stacked (h_i made of
 *                        ceil(D/d') permutations of 1..d'), tuple (D distinct tuples (h_1, ...,
 *                        h_p), Hamid et al. 2014; D <= d'^p).
 *   hierarchical_sketch  a binary tree over "base": p leaves of degree 1, padded with constants to
 *                        a power of two, in every inner node a sketch of the products of its two
 *                        children (Ahle et al. 2020). "intermediate": columns of the inner sketches
 *                        (default D).
 *   craft                a "base" of "intermediate" columns (default 4 D), projected down to D by
 *                        "projection": srht, rademacher or gaussian (Hamid et al. 2014).
 *
 * "field": real; complex (D complex columns); complex_to_real (D/2 complex columns as D real ones
 * [Re | Im], D even; Wacker, Ohana, Filippone 2023): on non-negative rows its variance is at most
 * that of real for product_sketch and tensor_sketch, mostly below it for tensor_srht (not for p = 1
 * and D a multiple of d', where real is exact).
 *
 * Errors: MERCER_INVALID_ARGUMENT (D or intermediate odd for complex_to_real, for craft
 * intermediate alone; columns of the inner sketches of a tree > 2^31 - 1 all together; more columns
 * than tuples; d > 2^28 for tensor_srht), MERCER_DIMENSION_MISMATCH (bilinear with d <= left),
 * MERCER_UNSUPPORTED (another kernel; tensor_sketch in a build without FFTW).
 *
 * Example: 1,024 columns for (x'y + 1)^3 of 50 inputs.
 *
 *   mercer_map* sketch = NULL;
 *   mercer_status status = mercer_map_from_spec(
 *       "{\"map\":\"tensor_srht\","
 *       "\"kernel\":{\"kernel\":\"polynomial\",\"degree\":3,\"offset\":1},"
 *       "\"inputs\":50,\"features\":1024}",
 *       &sketch);
 */

/* ==== Variances, and the best sketch for given rows ====
 *
 * Variance of the estimate for u, v as above, s = u'v, N = ||u||^2 ||v||^2, Q = sum_k u_k^2 v_k^2,
 * q = 2 (real) or 1 (complex, of the complex number), times the square of the kernel's variance:
 *
 *   gaussian       [(N + q s^2)^p - s^{2p}]/D,
 *   rademacher     [(N + q (s^2 - Q))^p - s^{2p}]/D = v_p/D,
 *   tensor_sketch  complex: v_p/D; real: [(D - e) ((N + s^2 - Q)^p + (2 s^2 - Q)^p - 2 s^{2p}) +
 *                  e ((N + 2 s^2 - 2 Q)^p - s^{2p})]/D^2, e = 2 for even D, 1 for odd D: close to
 *                  rademacher's with complex_to_real,
 *   upsampled      v_p/D - (1 - 1/D) (s^{2p} - (s^2 - v_1/(ceil(D/d') d' - 1))^p).
 *
 * mercer_map_variance knows it for every kind, field and composition; mercer_map_kernel_error sums
 * it up.
 *
 * Example: the sketch of at most 512 columns that misses least of a kernel on n rows, and how much.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_map* best = NULL;
 *   double predicted = 0;
 *   mercer_status status = mercer_sketch_recommend(kernel, 512, 0, &X, NULL, &predicted, &best);
 */

/** The plain sketch of D real columns with the lowest predicted error on rows: of every kind with
 *  fields complex_to_real (D even) and real; of equals the cheapest. Where all monomials, C(d + p,
 *  p) or without offset C(d + p - 1, p), are at most D, it is exact_polynomial, which has no error
 *  and that many columns. mercer_map_spec says which it is.
 *  Shapes: X n x d, dense or CSR (made dense), n >= 1. predicted_error (may be NULL) is written on
 *  success alone.
 *  Random: nothing is drawn; seed is that of the map.
 *  Errors: those above and of mercer_map_kernel_error; rows that are not finite.
 *  Threads and cost: any number at once; up to 12 times that of a predicted error. */
MERCER_API mercer_status mercer_sketch_recommend(const mercer_kernel* kernel, int64_t D,
                                                 uint64_t seed, const mercer_rows* X,
                                                 mercer_context* context, double* predicted_error,
                                                 mercer_map** out);

/* ==== Compact bilinear pooling ====
 *
 * Gao, Beijbom, Zhang, Darrell 2016; two inputs: Fukui et al. 2016. mercer_map_transform with
 * `right` and `locations`, so that E <Z(i, :), Z(j, :)> is the sum of (x_r'x_t)(y_r'y_t) over the
 * locations r of i and t of j: the inner product of the sums of the outer products x_r y_r', times
 * the kernel's variance.
 *
 * Example: n images of 49 locations with x of 512 and y of 256 numbers each.
 *
 *   mercer_map* map = NULL;
 *   mercer_status status = mercer_map_from_spec(
 *       "{\"map\":\"tensor_srht\",\"kernel\":{\"kernel\":\"bilinear\",\"left\":512},"
 *       "\"inputs\":768,\"features\":2048}",
 *       &map);
 *   mercer_rows X = mercer_rows_f32(49 * n, 512, x);
 *   mercer_rows Y = mercer_rows_f32(49 * n, 256, y);
 *   mercer_matrix Z = mercer_matrix_f32(n, 2048, z);
 *   mercer_transform_options options = {.struct_size = sizeof options};
 *   mercer_transform_options_init(&options);
 *   options.right = &Y;
 *   options.locations = 49;
 *   if (status == MERCER_OK) status = mercer_map_transform(map, &X, &options, NULL, &Z);
 */

#ifdef __cplusplus
}
#endif
#endif
