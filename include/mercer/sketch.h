/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_SKETCH_H
#define MERCER_SKETCH_H

/* Sketches of the polynomial kernel variance (gamma x'y + offset)^p and of the bilinear kernel
 * variance (x1'y1)(x2'y2): maps of D columns with E[phi(x)'phi(y)] = k(x, y), far cheaper than the
 * d^p products they stand for. A sketch is a map, and every function of mercer/map.h takes it.
 * Which sketch for which rows: "Polynomial and bilinear kernels" in GUIDE.md. */

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
 *    "inputs":d,"features":D,"seed":s,...},
 *
 * NAME is product_sketch, tensor_sketch, tensor_srht, hierarchical_sketch or craft, described under
 * "Sketches" in GUIDE.md. The factors of a polynomial kernel read u = [sqrt(gamma) x,
 * sqrt(offset)], those of {"kernel": "bilinear","left":d1} (p = 2) read x1 and x2 of rows [x1 |
 * x2]; d is the length of u, d' the next power of two, H the Hadamard matrix of d' rows.
 *
 * Errors: MERCER_INVALID_ARGUMENT (complex_to_real with odd D or intermediate, for craft odd
 * intermediate only; more than 2^31 - 1 columns in the inner sketches of a tree together; more
 * columns than tuples; d > 2^28 for tensor_srht), MERCER_DIMENSION_MISMATCH (bilinear with d <=
 * left), MERCER_UNSUPPORTED (another kernel; tensor_sketch in a build without FFTW).
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

/* mercer_map_variance gives the variance of every kind, field and composition ("Variances of
 * sketches" in GUIDE.md); mercer_map_recommend compares them on given rows. */

/* ==== Compact bilinear pooling ====
 *
 * Gao, Beijbom, Zhang, Darrell 2016; two inputs: Fukui et al. 2016. Call mercer_map_transform with
 * `right` and `locations`: E <Z(i, :), Z(j, :)> is the sum of (x_r'x_t)(y_r'y_t) over the locations
 * r of i and t of j, which is the inner product of the sums of the outer products x_r y_r', times
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
 *   options.right = Y;
 *   options.locations = 49;
 *   if (status == MERCER_OK) status = mercer_map_transform(map, X, &options, NULL, Z);
 */

#ifdef __cplusplus
}
#endif
#endif
