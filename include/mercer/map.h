/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MAP_H
#define MERCER_MAP_H

/* Random feature maps: Z(i, :) = phi(X_i) with E[phi(x)'phi(y)] = k(x, y), all scale factors
 * inside; of a kernel of p outputs rows i p, ..., i p + p - 1 of Z belong to X_i, and the product
 * of two such blocks has the mean K(x, y). d counts inputs, D output columns (complex columns for
 * complex maps), F frequencies; d' is d padded to the next power of two, at least 16. Which map
 * suits which rows, with measurements: "Which map" in capi/GUIDE.md. */

#include "mercer/base.h"
#include "mercer/kernel.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A map; it never changes, but draws its numbers when they are first used. */
typedef struct mercer_map mercer_map;

/* ==== Random Fourier features ====
 *
 * Z is made of cos(XW) and sin(XW), where the columns of W, the frequencies, follow the spectral
 * law of the kernel (Rahimi, Recht 2007).
 *
 * Example: 4,096 features of a kernel of d inputs, by structured orthogonal frequencies.
 *
 *   mercer_fourier_options options = {.struct_size = sizeof options};
 *   mercer_fourier_options_init(&options);
 *   options.projection = MERCER_PROJECTION_SORF;
 *   options.seed = 1;
 *   mercer_map* map = NULL;
 *   mercer_status status = mercer_fourier_create(kernel, d, 4096, &options, &map);
 */

/** How random Fourier features are finished. Variances are those of the estimate of k(x, y) by
 *  i.i.d. columns of a kernel of k(0) = 1, t = x - y; else 1 is k(0)^2 in them, k(2t) k(0)k(2t). */
typedef enum mercer_form {
  /** F^{-1/2} [cos(XW) | sin(XW)], D = 2F. Variance (1 + k(2t) - 2k(t)^2)/D. */
  MERCER_FORM_PAIR = 0,
  /** sqrt(2/D) cos(XW + b), b uniform in [0, 2 pi), D = F. Variance (1 + k(2t)/2 - k(t)^2)/D. */
  MERCER_FORM_PHASE = 1,
  /** D^{-1/2} exp(iXW), D = F complex columns, interleaved re, im. */
  MERCER_FORM_COMPLEX = 2
} mercer_form;

/** How frequencies are drawn and rows are projected. Cost is that of a row. ORTHOGONAL, SORF,
 *  FASTFOOD, CIRCULANT and QUADRATURE come in blocks of columns that depend on each other.
 *  ORTHOGONAL, SORF, FASTFOOD and QUADRATURE need an isotropic kernel (mercer/kernel.h), CIRCULANT
 *  one of these or of independent coordinates (all but spectral_mixture, sum and product), the
 *  others take every kernel of a spectral law, SOBOL and HALTON of a product but one whose law is
 *  that of several random scales or of laplacian or cauchy parts; else MERCER_UNSUPPORTED. What
 *  drawing costs and how variances compare, measured: "Which map" in capi/GUIDE.md. */
typedef enum mercer_projection {
  /** i.i.d. columns from the spectral law. d*F multiply-adds. */
  MERCER_PROJECTION_DENSE = 0,
  /** Blocks of d orthogonal columns (Haar), norms from the radial law (Yu et al. 2016). d*F
   *  multiply-adds; drawing takes 4/3 d^3 operations per block of d columns, the last one too, and
   *  8 d^2 bytes beside the packed columns while a block is drawn, and for as long as only a part
   *  of its columns has been asked for. */
  MERCER_PROJECTION_ORTHOGONAL = 1,
  /** Blocks H D1 H D2 H D3 of d' columns (Yu et al. 2016). F log d'. Its bias shrinks with d'. */
  MERCER_PROJECTION_SORF = 2,
  /** Blocks S H G P H B of d' columns (Le, Sarlos, Smola 2013); unbiased. F log d'. */
  MERCER_PROJECTION_FASTFOOD = 3,
  /** Signed circulant blocks of d' columns through the FFT; unbiased for every kernel, but for
   *  kernels that are not isotropic at a variance that grows with d': prefer DENSE there. F log d'.
   *  Bits depend on FFTW and the processor, see "FFTW" in capi/GUIDE.md; a build without FFTW
   *  refuses it (MERCER_UNSUPPORTED). */
  MERCER_PROJECTION_CIRCULANT = 4,
  /** Columns from scrambled Sobol' points (directions of Joe, Kuo 2008) through the inverse
   *  distribution function; unbiased. matern and rational_quadratic take one more coordinate, for
   *  the scale, spectral_mixture for component and sign. d <= 1024, for these three 1023; F <=
   *  2^28. d*F multiply-adds. */
  MERCER_PROJECTION_SOBOL = 5,
  /** The same from scrambled Halton points. d <= 6542, for these three 6541; F <= 2^28. */
  MERCER_PROJECTION_HALTON = 6,
  /** Spherical-radial rule of degree 3 (Munkhoeva et al. 2018): blocks of d + 2 columns with
   *  weights of their own, d + 1 turned vertices of a simplex and the origin; isotropic kernels.
   *  Biased: far points get k + c, c = 0.40 at d = 4, 0.24 at d = 16, 0.13 at d = 64, a constant
   *  that an offset takes up; for near points its error is far below that of every other
   *  projection. No variance in closed form, no codes. d*F multiply-adds; drawing as ORTHOGONAL. */
  MERCER_PROJECTION_QUADRATURE = 7
} mercer_projection;

/** Norms of the columns of SORF and Fastfood. */
typedef enum mercer_radius {
  /** From the kernel's radial law in dimension d'. */
  MERCER_RADIUS_DRAWN = 0,
  /** All the root of the mean square; normal spectral laws only. */
  MERCER_RADIUS_FIXED = 1
} mercer_radius;

/** Randomisation of low-discrepancy points. */
typedef enum mercer_scramble {
  /** Nested uniform scrambling (Owen 1995). */
  MERCER_SCRAMBLE_OWEN = 0,
  /** One random shift per coordinate and digit. */
  MERCER_SCRAMBLE_DIGITAL_SHIFT = 1
} mercer_scramble;

/** How Fourier features are made. */
typedef struct mercer_fourier_options {
  uint32_t struct_size;
  /** mercer_form; default MERCER_FORM_PAIR. */
  int32_t form;
  /** mercer_projection; default MERCER_PROJECTION_DENSE. */
  int32_t projection;
  /** mercer_radius, for SORF and FASTFOOD; default MERCER_RADIUS_DRAWN. */
  int32_t radius;
  /** Fixes every random number of the map; default 0. */
  uint64_t seed;
  /** mercer_scramble, for SOBOL and HALTON; default MERCER_SCRAMBLE_OWEN. */
  int32_t scramble;
  /** 1: D is rounded down to whole blocks, but to one at least: D may grow, ask mercer_map_shape;
   *  default 0. Structured projections only. */
  int32_t whole_blocks;
} mercer_fourier_options;

/** Fills in the defaults. Errors: options->struct_size not set. */
MERCER_API mercer_status mercer_fourier_options_init(mercer_fourier_options* options);

/** Random Fourier features of a shift-invariant kernel. The kernel is copied; options may be NULL.
 *  Of p outputs it is the map of mercer_map_from_spec.
 *  Shapes: d inputs and D features, each in 1..2^31-1, D even for the pair form; d <= 2^28 for
 *  SORF, FASTFOOD and CIRCULANT.
 *  Random: the frequencies and b; options->seed fixes them. A column of W (a block, for structured
 *  projections) is a function of seed and number alone: a map with more features keeps the first
 *  ones.
 *  Errors: MERCER_DIMENSION_MISMATCH (ARD count), MERCER_UNSUPPORTED (a kernel without a spectral
 *  law, or with one that the projection does not permit; an option that does not apply; d or F
 *  beyond the points of SOBOL and HALTON).
 *  Threads and cost: any number at once; nothing is drawn before the map is used or prepared, and
 *  then only the columns asked for. Since 0.1. */
MERCER_API mercer_status mercer_fourier_create(const mercer_kernel* kernel, int64_t d, int64_t D,
                                               const mercer_fourier_options* options,
                                               mercer_map** out);

/** Fourier features with the caller's frequencies, drawn ones of mercer_map_frequencies among them:
 *  estimates k(0) sum_j w_j cos(omega_j'(x - y)), of roots that times B_j B_j', of p outputs. Of
 *  the kernel k(0) alone is used, its variance, times sum_q w_q of spectral_mixture: its
 *  lengthscale is not applied.
 *  Shapes: frequencies F x d, dense or CSR; weights: F numbers >= 0, or NULL for 1/F each; roots
 *  NULL, or (F p) x q: rows j p to j p + p - 1 are B_j. All is copied; files carry it.
 *  Random: b of the phase form; options->seed fixes it.
 *  Errors: those of mercer_fourier_create; a number that is not finite; MERCER_DIMENSION_MISMATCH
 *  (rows of roots); MERCER_UNSUPPORTED unless options->projection is DENSE, of roots unless the
 *  form is PAIR, and for a kernel of several outputs. */
MERCER_API mercer_status mercer_fourier_create_supplied(const mercer_kernel* kernel,
                                                        const mercer_rows* frequencies,
                                                        const double* weights,
                                                        const mercer_rows* roots,
                                                        const mercer_fourier_options* options,
                                                        mercer_map** out);

/* ==== Maps by spec ====
 *
 * Any map of `mercer specs` is made from JSON, with rows where it is made from data. Fourier
 * features: {"map":"fourier","kernel":{...},"inputs":d,"features":D,"seed":s,...}, keys as in
 * mercer_fourier_options. Sketches of polynomial and bilinear kernels: mercer/sketch.h.
 *
 * Kernels of p outputs (Brault, Heinonen, d'Alche-Buc 2016): every real map of k serves k Gamma, q
 * columns for each of its own, q the columns of a root B of Gamma, B B' = Gamma: column c q + b is
 * that of B_b times column c. Fields are served by fourier, form pair, with a root of their density
 * at each frequency: B(omega) B(omega)' = omega omega' for curl_free (q = 1), and
 * ||omega||^2 I - omega omega' for divergence_free ("root": "symmetric", q = p, or "orthonormal",
 * q = p - 1); helmholtz has the columns of both. D is a multiple of q, of 2 q for form pair.
 * "bounded": true draws omega from the law of the density times ||omega||^2, a uniform direction of norm
 * chi_{d+2}/l, with B of a vector of length sqrt(d)/l: a smaller variance near tau = 0 and features
 * of bounded norm; gaussian of one lengthscale, projections dense, orthogonal and, for d a power of
 * two >= 16, sorf, fastfood, circulant. Fields do not take quadrature, whose weights are right for
 * cosines alone. "radius": "fixed" of sorf and fastfood biases fields by up to 4 % of K(0).
 *
 * Linear maps keep inner products, E Z Z' = a XX', a = variance * gamma of a polynomial kernel of
 * degree 1 and offset 0:
 *
 *   projection   cost of a row          variance of the estimate of x'y; times a^2 for the kernel's
 *   gaussian     d*D                    (N + s^2)/D
 *   rademacher   d*D                    (N + s^2 - 2Q)/D
 *   srht         D log d'               (N + s^2 - 2Q) r (d' - r)/((d' - 1) D^2), r = D mod d'
 *   countsketch  one per non-zero       (N + s^2 - 2Q)/D
 *   osnap        t per non-zero         (N + s^2 - 2Q)/D (1 + p(1 - p)/(w(w + 1))), D/t = w + p
 *
 * with N = ||x||^2 ||y||^2, s = x'y, Q = sum_k x_k^2 y_k^2, and here d' the next power of two of d.
 * osnap (Nelson, Nguyen 2013) is t = "nonzeros" CountSketches side by side, 1 <= t <= D, w whole
 * and p < 1 above: of the same variance as one, but with lighter tails.
 * D and d are at most 2^31 - 1, d at most 2^28 for srht.
 *
 * Maps of one function of P = XW, W normal, take the keys projection, radius, scramble and
 * whole_blocks of Fourier features and every projection, optical and stabilize all but quadrature;
 * kernels see norms and inner products alone:
 *
 *   map          Z, sigma^2 the kernel's variance            variance of the estimate over sigma^4
 *   arc_cosine   sigma sqrt(2/D) 1[P > 0] P^n, n = order      (2 k_{2n} - k_n^2)/D
 *   sign         sigma D^{-1/2} sign(P), sign(0) = 1          (1 - k^2)/D
 *   optical      sigma D^{-1/2} |Ux|^m, U ~ CN(0, I): two       (k_{2m} - k_m^2)/D
 *                projections, real and imaginary part
 *   positive     for exponential and gaussian, u = x/l, v = y/l, g = 1 for the Gaussian, else 0;
 *                form
 *     exp            sigma D^{-1/2} exp(P - (1+g) ||u||^2/2)    k^2 (exp(||u + v||^2) - 1)/D
 *     hyperbolic     sigma D^{-1/2} [exp(P) | exp(-P)] exp(-(1+g) ||u||^2/2)
 *                                                              4 k^2 sinh^2(||u + v||^2/2)/D
 *     trigonometric  sigma (2/D)^{1/2} [cos P | sin P] exp((1-g) ||u||^2/2)
 *                                                              4 k^2 sinh^2(||u - v||^2/2)/D
 *
 * with kernels of variance 1 and, in k_4, J_4 = 5 sin t cos t (11 + 10 cos^2 t) + (pi - t)(9 + 72
 * cos^2 t + 24 cos^4 t). D is even for hyperbolic and trigonometric. A row with an entry that is
 * not finite has no finite column. radius = fixed is biased under positive, optical and order 2,
 * which see more than second moments of the norms; quadrature under all of these but order 1, by
 * how much is in capi/GUIDE.md; sorf under sign and order 0, which see that its P of few inputs, or
 * of a row that one entry rules, is nearly a lattice: by up to 0.15 of 1 to d = 3; of rows of one
 * entry by about 4.6/d' (sign) and 2.3/d' (order 0), d' the padded d; of rows of many entries it
 * was not seen from d = 16 on.
 *
 * optical may stand for the device: "input_bits" 1 shows inputs as 1 above "threshold" and 0
 * elsewhere (then the kernel is that of such rows, in variances and errors, too; mercer_map_kernel
 * is to be given them), "output_bits" b > 0 records |u'x|^m rounded to 2^b levels, saturating at
 * "exposure" (no variance). With "threshold_from": "targets" the threshold is chosen by
 * mercer_map_fit_spec with rows and targets (0 and 1 for classes, a column each), and by
 * mercer_model_fit from those that it fits: of up to 1,024 rows every
 * other one is fitted on by kernel ridge regression with the kernel of its bits, and of up to 15
 * thresholds the one of least squared error on the rows between is taken, each row counting as one
 * whatever weights a fit gives rows or classes. The map's spec says it as given, for fits and
 * files. Inputs are as the map will see them: standardised, where a fit does that.
 *
 * laplace draws the independent coordinates of omega >= 0 by projection DENSE, SOBOL or HALTON,
 * scrambled by "scramble": variance (sigma^2 k(2x, 2y) - k(x, y)^2)/D of independent columns, below
 * which points stay. CIRCULANT does not fit: its signs would make half of omega negative.
 *
 * Maps of kernels made of others, with one map for each part and a seed of its own for each:
 *
 *   sum      {"map":"sum","kernel":{"kernel":"sum","parts":[...]},"parts":[{"map":"fourier"},...],
 *            "shares":[2,1],...}: the columns of the parts side by side, D shared out equally or in
 *            proportion to "shares", as near as parts with an even or a fixed number permit.
 *            Variances and biases add up; derivatives where all parts have them.
 *   product  Z_j = N^{(P-1)/2} prod_i z^i_j of P parts of N columns. Columns [cos | sin] and
 *            [Re | Im] count as N = D/2 complex ones and are multiplied as such; real columns, then
 *            N of them, multiply both halves. With a_j = N z_j(x) conj(z_j(y)), E a_j = k, and
 *            moments by part: pseudo-variance sum_ij (prod E a_i a_j - k^2)/N^2, which of parts of
 *            independent columns is (prod E a_j^2 - k^2)/N; V the same with conj(a_j). Sums inside
 *            are multiplied out, at any depth, to at most 64 products: (a + b) c has the features
 *            of the sum of a c and b c, D shared out as the sum inside shares it. Each part costs
 *            what it costs, and one pass over Z. Features are NaN where those of one part overflow
 *            and those of another vanish. Derivatives where all parts have them.
 *
 * "parts" are map specs without kernel, inputs, features and seed; left out, each is the default
 * map of its kernel; at most 1,024 in all, nested 13 deep. MERCER_UNSUPPORTED: complex columns
 * beside real ones in a sum, beside halves in a product; in a product maps no column of which
 * estimates the kernel alone (made from rows, drawing nothing, QUADRATURE, trigonometric,
 * stabilize, input_bits and output_bits, OSNAP unless its nonzeros divide N).
 *
 * Features exp and hyperbolic are finite for every finite row, unless exp(||w||^2/2) is not: in
 * single precision they may overflow for more than some 140 inputs. Far from the origin all of a
 * row vanishes, as exp(P - ||u||^2/2) does. "stabilize": true leaves out the row's own factor,
 *   Z_ij = sigma D^{-1/2} exp(P_ij - max_j P_ij),
 * so that ratios within a row are kept and its largest column is sigma D^{-1/2}, for every finite
 * row but where P / 2^64 overflows: what attention needs of its queries, where the factor cancels.
 * Z Z' is then no estimate of the kernel, and has no variance; any slice of columns costs all of P.
 *
 * trigonometric with exponential grows as exp(||u||^2/2), and is infinite, or NaN where a sine is
 * 0, where that is beyond the number: from ||u|| of 13.3 on in single precision, 37.6 in double.
 * "stabilize": true leaves the factor out: features of every finite row are finite, those of map
 * fourier with the Gaussian, again with the ratios within a row. With gaussian there is no factor,
 * and nothing to overflow.
 *
 * Example: 256 columns that keep the inner products of 10,000 inputs.
 *
 *   mercer_map* map = NULL;
 *   mercer_status status = mercer_map_from_spec(
 *       "{\"map\":\"linear\",\"kernel\":{\"kernel\":\"polynomial\",\"degree\":1},"
 *       "\"projection\":\"countsketch\",\"inputs\":10000,\"features\":256,\"seed\":7}",
 *       &map);
 */

/** A map from its spec.
 *  Without "map" it is the kernel's "default_map" of mercer_specs.
 *  Random: all that the map draws; "seed" fixes it.
 *  Errors: MERCER_INVALID_ARGUMENT naming key, value and what is allowed; those of the map it
 *  makes; MERCER_NEWER_VERSION.
 *  Threads and cost: any number at once; under 10 ms and 1 MB whatever D, for each part of a sum or
 *  product; numbers are drawn when first used, or prepared. */
MERCER_API mercer_status mercer_map_from_spec(const char* json, mercer_map** out);

/** A map made from data: from a spec and the rows of X (n x d, dense or CSR).
 *    {"map":"nystroem","kernel":{...},"inputs":d,"features":D,"seed":s,"landmarks":"uniform",
 *     "cutoff":1e-12}
 *  takes D of the rows as landmarks L:
 *    Z = K(X, L) B, B B' = K(L, L)^+, B lower trapezoidal
 *  (Williams, Seeger 2001), so that Z Z' is the kernel itself on the landmarks, for every kernel.
 *  Eigenvalues of K(L, L) up to cutoff times the largest are left out; "rank" of the map's spec
 *  says how many stay. A map that needs no rows is that of mercer_map_from_spec. What a map has
 *  learnt is kept in files; its spec says "needs":"data".
 *  X: rows as the map will be given them. mercer_model_fit standardises its inputs before the map:
 *  give standardised rows here, or false as its "standardize"; it makes the map of a spec of its
 *  own from the rows it has prepared.
 *  Y: the targets of a map that learns from them, else NULL. context may be NULL.
 *  "landmarks": "uniform", without replacement; "kmeans", by the seeding of k-means++ (Arthur,
 *  Vassilvitskii 2007); "farthest", each the row farthest from those before (Gonzalez 1985), both
 *  in the distance k(x,x) + k(y,y) - 2 k(x,y); "leverage", by recursive ridge leverage scores
 *  (Musco, Musco 2017); all three among max(16 D, 10,000) of the rows; "supplied": all D rows of X.
 *  Random: which rows are landmarks; "seed" fixes them, for any number of threads.
 *  Errors: those of mercer_map_from_spec; MERCER_INVALID_ARGUMENT (fewer rows than features, others
 *  than D supplied, a number of X that is not finite or outside the kernel's domain, naming row,
 *  column and value, whichever rows are chosen, a kernel that is 0 on all of them),
 *  MERCER_DIMENSION_MISMATCH (X->d is not "inputs", rows of Y), MERCER_UNSUPPORTED (Y of a map that
 *  does not learn from it; no Y of one that does), MERCER_OUT_OF_MEMORY,
 *  MERCER_CANCELLED, MERCER_NOT_CONVERGED, MERCER_NOT_POSITIVE_DEFINITE (leverage scores of a
 *  kernel that is not).
 *  Threads and cost: any number at once; D^2 (d + D) and 24 D^2 bytes; a row of Z then takes
 *  D (d + D/2). */
MERCER_API mercer_status mercer_map_fit_spec(const char* json, const mercer_rows* X,
                                             const mercer_rows* Y, mercer_context* context,
                                             mercer_map** out);

/** The spec of a map, in canonical form: from it comes the same map, to the bit (but supplied
 *  frequencies and what a map has learnt from rows, which are kept in files only).
 *  Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_map_spec(const mercer_map* map, char* buffer, int64_t capacity,
                                         int64_t* needed);

/** What a map reads and writes. 64 bytes. */
typedef struct mercer_map_info {
  uint32_t struct_size;     /**< [0] sizeof(mercer_map_info). */
  int32_t is_complex;       /**< [4] 1: Z is of complex numbers. */
  int64_t inputs;           /**< [8] d. */
  int64_t outputs;          /**< [16] p, rows of Z for each row of X; 1 of most maps. */
  int64_t features;         /**< [24] D, columns of Z, complex ones of a complex map. */
  int64_t frequencies;      /**< [32] F of mercer_map_frequencies; 0: it has none. */
  int64_t right_inputs;     /**< [40] Of the d inputs those of mercer_transform_options.right. */
  int64_t incomplete_block; /**< [48] Columns in a last, incomplete block; see below. */
  double dropped;           /**< [56] What "cutoff" left out of gamma, of its trace: a share. */
} mercer_map_info;

/** Fills in *info, of which struct_size is read. incomplete_block: frequencies in a last,
 *  incomplete block of a structured projection, columns (complex ones, where a sketch has them) in
 *  that of STACKED blocks and of CRAFT's SRHT; 0 if there is none. Such a block of frequencies can
 *  make the estimate worse than leaving it out, for short ||tau|| and up to about half a block: see
 *  mercer_fourier_options.whole_blocks.
 *  Errors: info NULL or of a struct_size that is not set. */
MERCER_API mercer_status mercer_map_shape(const mercer_map* map, mercer_map_info* info);

/** The frequencies omega_j of Fourier features, in the order of their columns: out F x d, F32 or
 *  F64. Errors: MERCER_UNSUPPORTED for a map that has none, or whose kernel warps its inputs;
 *  MERCER_DIMENSION_MISMATCH. Threads and cost: any number at once; d rows of the projection. */
MERCER_API mercer_status mercer_map_frequencies(const mercer_map* map, mercer_context* context,
                                                const mercer_matrix* out);

/** A new handle on the kernel that the map's features estimate, lengthscale and variance as the map
 *  has them; it may outlive the map. */
MERCER_API mercer_status mercer_map_kernel(const mercer_map* map, mercer_kernel** out);

/** Frees a map. Models made of it keep what they need. */
MERCER_API void mercer_map_free(mercer_map* map);

/** Everything that exists (kernels, maps, projections, models: names, parameters, types, ranges,
 *  one line of help) as JSON:
 *    {"kernels":[{"name","help","parameters":[{"key","type","required","default","least",
 *     "least_open","most","choices","expected","help"}]}],"maps":[...],"projections":[...],
 *     "models":[...]}
 *  null: no default, no limit; "expected" says in words what is allowed; a kernel has
 *  "default_map", the map of specs that name none, and a map "default_kernel", the spec of the
 *  kernel that searches take if their map spec has none, such as {"kernel":"gaussian"},
 *  "needs_rows" (is it made from data: mercer_map_fit_spec) and "row_per_feature" (does it take as
 *  many rows as features), "one_size" (do its inputs decide how many features it has); a projection
 *  "serves" in words the spectral laws it can draw from. name NULL or "" for all, else the same
 *  lists with that entry alone (a kernel and a map may share a name).
 *  Errors: no such name; convention 9 of mercer/base.h. Any number of threads at once. */
MERCER_API mercer_status mercer_specs(const char* name, char* buffer, int64_t capacity,
                                      int64_t* needed);

/* ==== Features of rows ====
 *
 * Example: columns 100 to 199 of the features of n rows of d floats.
 *
 *   mercer_rows X = mercer_rows_f32(n, d, x);
 *   mercer_matrix Z = mercer_matrix_f32(n, 100, z);
 *   mercer_transform_options options = {.struct_size = sizeof options};
 *   mercer_transform_options_init(&options);
 *   options.begin = 100;
 *   options.end = 200;
 *   mercer_status status = mercer_map_transform(map, &X, &options, NULL, &Z);
 */

/** Which features, of which rows. */
typedef struct mercer_transform_options {
  uint32_t struct_size;
  /** 0. */
  int32_t reserved;
  /** First column; default 0. */
  int64_t begin;
  /** One past the last column; -1 (default): D. */
  int64_t end;
  /** NULL (default), or the second of two matrices, for a map with right_inputs > 0 (a sketch of
   *  the kernel bilinear). */
  const mercer_rows* right;
  /** With `right`: rows that are summed into one; default 1. */
  int64_t locations;
} mercer_transform_options;

/** Fills in the defaults. Errors: options->struct_size not set. */
MERCER_API mercer_status mercer_transform_options_init(mercer_transform_options* options);

/** Z(i, :) = columns [begin, end) of phi(X_i), for any kind of rows. With `right`, rows are [x |
 *  y], x from X and y from `right`, and Z(i, :) is the sum over l < locations of the features of
 *  [x_r | y_r], r = i*locations + l: compact bilinear pooling (mercer/sketch.h).
 *
 *  Shapes: X n x d, dense or CSR; Z (n p) x (end - begin) of X's precision, F32 or F64 for a real
 *  map, C32 or C64 for a complex one; it must not overlap X. With `right` X has d - right_inputs
 *  columns, `right` right_inputs, both dense and of one precision. n = 0 writes nothing. options
 *  may be NULL.
 *
 *  Random: what the map draws on first use, fixed by its seed. A row of Z is a function of its row
 *  of X as stored and the map, bit for bit on one SIMD target, whatever the number of threads and
 *  the split of rows and columns. NaN and Inf stay in their row. Sparse rows give the features of
 *  the dense rows they stand for up to the rounding of sums in another order: P = XW differs by at
 *  most (m + d + 2) u sum_k |x_k w_kj|, m numbers listed in the row, u = 2^-24 or 2^-53.
 *
 *  Errors: MERCER_INVALID_ARGUMENT (what mercer/rows.h does not allow, naming row, position and
 *  value; columns out of range; overlap), MERCER_DIMENSION_MISMATCH (columns of X, shape of Z),
 *  MERCER_UNSUPPORTED (a type of Z that the map does not write; `right` for a map of one matrix, or
 *  sparse).
 *
 *  Threads and cost: any number at once. Dense rows: O(n d F) at most; structured projections and
 *  sketches as said where they are made. Sparse rows, each: nnz*F (Fourier maps with DENSE,
 *  ORTHOGONAL, SOBOL, HALTON or supplied frequencies; linear gaussian, rademacher), nnz
 *  (countsketch), t nnz (osnap), D log d + nnz (srht); sketches of polynomial kernels as
 *  mercer/sketch.h says; any other map, and a kernel that warps its inputs, works on tiles of rows
 *  made dense. */
MERCER_API mercer_status mercer_map_transform(const mercer_map* map, const mercer_rows* X,
                                              const mercer_transform_options* options,
                                              mercer_context* context, const mercer_matrix* Z);

/** All columns of dense rows, without views: for foreign-function interfaces. Otherwise
 *  mercer_map_transform.
 *  Shapes: X n x d, ldx >= d; Z (n p) x D, ldz >= D. _f32 and _f64 are for real maps, _c32 and
 *  _c64 for complex ones: Z holds interleaved re, im, and ldz counts complex elements.
 *  Errors: those of mercer_map_transform; a wrong letter is MERCER_UNSUPPORTED, naming the right
 *  one.
 *  Random, threads and cost: as mercer_map_transform. */
MERCER_API mercer_status mercer_map_apply_f32(const mercer_map* map, int64_t n, const float* X,
                                              int64_t ldx, mercer_context* context, float* Z,
                                              int64_t ldz);
MERCER_API mercer_status mercer_map_apply_f64(const mercer_map* map, int64_t n, const double* X,
                                              int64_t ldx, mercer_context* context, double* Z,
                                              int64_t ldz);
MERCER_API mercer_status mercer_map_apply_c32(const mercer_map* map, int64_t n, const float* X,
                                              int64_t ldx, mercer_context* context, float* Z,
                                              int64_t ldz);
MERCER_API mercer_status mercer_map_apply_c64(const mercer_map* map, int64_t n, const double* X,
                                              int64_t ldx, mercer_context* context, double* Z,
                                              int64_t ldz);

/* ==== Products with features ====
 *
 * Phi(x), D x p, has the columns of Z(i, :) of row x, and Phi(x)'Phi(y) estimates K(x, y). With
 * coefficients theta it makes the function f(x) = Phi(x)'theta; its transpose makes theta of data.
 * Neither forms Z: of kernels of several outputs Z has D q columns, a root of their density in
 * them, and what costs n D p q to form costs n D (d + p) here.
 *
 * Example: a random divergence-free field at n rows, and its divergence, which is 0 to rounding;
 * then what the transpose makes of the field.
 *
 *   mercer_map* map = NULL;
 *   mercer_status status = mercer_map_from_spec(
 *       "{\"map\":\"fourier\",\"kernel\":{\"kernel\":\"divergence_free\"},"
 *       "\"inputs\":3,\"features\":120,\"seed\":1}",
 *       &map);
 *   mercer_rows X = mercer_rows_f64(n, 3, x);
 *   mercer_rows coefficients = mercer_rows_f64(120, 1, theta);
 *   mercer_matrix f = mercer_matrix_f64(n, 3, field);
 *   mercer_matrix sources = mercer_matrix_f64(n, 1, divergence);
 *   if (status == MERCER_OK)
 *     status = mercer_map_multiply(map, &X, &coefficients, MERCER_FIELD_VALUE, NULL, &f);
 *   if (status == MERCER_OK)
 *     status =
 *         mercer_map_multiply(map, &X, &coefficients, MERCER_FIELD_DIVERGENCE, NULL, &sources);
 *   mercer_rows Y = mercer_rows_f64(n, 3, field);
 *   mercer_matrix back = mercer_matrix_f64(120, 1, sums);
 *   if (status == MERCER_OK) status = mercer_map_adjoint(map, &X, &Y, NULL, &back);
 *   mercer_map_free(map);
 */

/** What is asked of a field f(x) = Phi(x)'theta, from the analytic derivatives of its features. All
 *  but VALUE and JACOBIAN need p = d. */
typedef enum mercer_field {
  /** p numbers. */
  MERCER_FIELD_VALUE = 0,
  /** d f_o/d x_l at o d + l: p d numbers. */
  MERCER_FIELD_JACOBIAN = 1,
  /** sum_o d f_o/d x_o: one number; of a divergence-free field 0 to rounding. */
  MERCER_FIELD_DIVERGENCE = 2,
  /** d = 2: d_1 f_2 - d_2 f_1; d = 3: the vector; else d_k f_l - d_l f_k for k < l, row by row. */
  MERCER_FIELD_CURL = 3,
  /** phi with grad phi the curl-free part of f, of mean 0 over all space: one number. */
  MERCER_FIELD_POTENTIAL = 4,
  /** d = 2: psi with (d_2 psi, -d_1 psi) the divergence-free part of f: one number. */
  MERCER_FIELD_STREAM = 5
} mercer_field;

/** out row i: the numbers of `kind` (mercer_field) of f_k = Phi(.)'theta_k at X_i, for each column
 *  theta_k of theta, one after the other.
 *  Shapes: X n x d, dense or CSR, F32 or F64; theta D x m, any of these; out n x (m numbers), of
 *  the number type of X. A row of out depends on its row of X alone, bit for bit, whatever the
 *  split of rows and the number of threads; NaN stays in its row.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for complex maps, for what p and d do not
 *  have, and for other kinds than VALUE of maps that are not fourier of form pair or whose kernel
 *  warps its inputs.
 *  Threads and cost: any number at once; of D columns of a map of one output D d + D p m a row,
 *  VALUE of decomposable D d + (D + p) q m, and D p q m once; memory: 2 MB of features, D p m
 *  numbers. */
MERCER_API mercer_status mercer_map_multiply(const mercer_map* map, const mercer_rows* X,
                                             const mercer_rows* theta, int32_t kind,
                                             mercer_context* context, const mercer_matrix* out);

/** The transpose: theta = sum_i Phi(X_i) Y_i, column k of theta for vector k of the rows of Y.
 *  Shapes: X n x d, dense or CSR, F32 or F64; Y n x (p m), dense, of the number type of X; theta
 *  D x m, F32 or F64. Sums of up to 64 rows are in the precision of X, these added in double, in an
 *  order that the number of threads does not change.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for complex maps, a sparse Y or one of
 *  another number type.
 *  Threads and cost: as for mercer_map_multiply. */
MERCER_API mercer_status mercer_map_adjoint(const mercer_map* map, const mercer_rows* X,
                                            const mercer_rows* Y, mercer_context* context,
                                            const mercer_matrix* theta);

/** Precisions a map can be packed for. */
typedef enum mercer_precision {
  /** float. */
  MERCER_PRECISION_F32 = 0,
  /** double. */
  MERCER_PRECISION_F64 = 1
} mercer_precision;

/** Draws and packs the projection for one precision (mercer_precision) ahead of the first use. A
 *  call that failed or was cancelled may be repeated; one that finds all drawn does nothing.
 *  Random: what the map draws, fixed by its seed.
 *  Threads and cost: any number at once; d*F numbers for projections kept as a matrix. */
MERCER_API mercer_status mercer_map_prepare(const mercer_map* map, int32_t precision,
                                            mercer_context* context);

#ifdef __cplusplus
}
#endif
#endif
