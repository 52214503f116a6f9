/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_OPERATOR_H
#define MERCER_OPERATOR_H

/* How outputs belong together: Gamma of the kernel decomposable, and codes of classes. p counts
 * outputs. */

#include "mercer/base.h"
#include "mercer/kernel.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Gamma: how outputs belong together ====
 *
 * Example: Gamma of the outputs' covariance, and features of it: two columns for each of 256
 * frequencies and each column of its root.
 *
 *   mercer_rows Y = mercer_rows_f64(n, p, y);
 *   mercer_matrix covariance = mercer_matrix_f64(p, p, g);
 *   mercer_status status =
 *       mercer_output_structure(MERCER_STRUCTURE_COVARIANCE, &Y, 0, NULL, &covariance);
 *   mercer_rows gamma = mercer_rows_f64(p, p, g);
 *   mercer_kernel* joint = NULL;
 *   if (status == MERCER_OK) status = mercer_kernel_decomposable(kernel, gamma, 1e-12, &joint);
 *   mercer_map_data of = {.struct_size = sizeof of, .kernel = joint};
 *   mercer_map* map = NULL;
 *   if (status == MERCER_OK) status = mercer_map_fit("{\"inputs\":3,\"features\":1024}", &of, NULL, &map);
 *   mercer_map_free(map);
 *   mercer_kernel_free(joint);
 */

/** Where Gamma comes from. */
typedef enum mercer_structure {
  /** (1/n) sum_i (y_i - mean)(y_i - mean)' of `data`, n x p outputs. */
  MERCER_STRUCTURE_COVARIANCE = 0,
  /** The pseudo-inverse of the Laplacian of the graph whose weights `data` holds, p x p, symmetric,
   *  >= 0, the diagonal not read: outputs that share an edge are alike (Evgeniou, Micchelli, Pontil
   *  2005). */
  MERCER_STRUCTURE_LAPLACIAN = 1,
  /** exp(-scale ||y^k - y^l||^2), y^k column k of `data`, n x p outputs. */
  MERCER_STRUCTURE_SIMILARITY = 2,
  /** No Gamma but the T vectors that stand for T classes, out (T - 1) x T: columns of norm 1 with
   *  inner products -1/(T - 1) (Mroueh, Poggio, Rosasco, Slotine 2012); `data` is NULL. */
  MERCER_STRUCTURE_SIMPLEX = 3
} mercer_structure;

/** Gamma, p x p, or a simplex code, as `kind` says; scale is of SIMILARITY, 0 of the others.
 *  Errors: MERCER_INVALID_ARGUMENT (no rows, an output that is not finite, a weight, a graph
 *  without edges, scale <= 0 of SIMILARITY, any but 0 of another kind), MERCER_DIMENSION_MISMATCH
 *  (shape of out), MERCER_CANCELLED.
 *  Threads and cost: any number at once; n p^2, of a graph p^3. */
MERCER_API mercer_status mercer_output_structure(int32_t kind, const mercer_rows* data,
                                                 double scale, mercer_context* context,
                                                 const mercer_matrix* out);

#ifdef __cplusplus
}
#endif
#endif
