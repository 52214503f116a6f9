// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! The C API as it is. Made by cmake/bind.py from cmake/api.json.
#![allow(non_camel_case_types, non_snake_case, rustdoc::broken_intra_doc_links)]
use std::os::raw::{c_char, c_void};

pub const MERCER_OK: i32 = 0;
pub const MERCER_INVALID_ARGUMENT: i32 = 1;
pub const MERCER_DIMENSION_MISMATCH: i32 = 2;
pub const MERCER_OUT_OF_MEMORY: i32 = 3;
pub const MERCER_UNSUPPORTED: i32 = 4;
pub const MERCER_NOT_POSITIVE_DEFINITE: i32 = 10;
pub const MERCER_NOT_CONVERGED: i32 = 11;
pub const MERCER_IO: i32 = 20;
pub const MERCER_CORRUPT_FILE: i32 = 21;
pub const MERCER_NEWER_VERSION: i32 = 22;
pub const MERCER_CANCELLED: i32 = 30;
pub const MERCER_INTERNAL: i32 = 99;
pub const MERCER_NUMBER_F32: i32 = 0;
pub const MERCER_NUMBER_F64: i32 = 1;
pub const MERCER_NUMBER_C32: i32 = 2;
pub const MERCER_NUMBER_C64: i32 = 3;
pub const MERCER_NUMBER_I32: i32 = 4;
pub const MERCER_NUMBER_BF16: i32 = 5;
pub const MERCER_INDEX_NONE: i32 = 0;
pub const MERCER_INDEX_I32: i32 = 1;
pub const MERCER_INDEX_I64: i32 = 2;
pub const MERCER_FIELD_VALUE: i32 = 0;
pub const MERCER_FIELD_JACOBIAN: i32 = 1;
pub const MERCER_FIELD_DIVERGENCE: i32 = 2;
pub const MERCER_FIELD_CURL: i32 = 3;
pub const MERCER_FIELD_POTENTIAL: i32 = 4;
pub const MERCER_FIELD_STREAM: i32 = 5;
pub const MERCER_VARIANCE_ESTIMATE: i32 = 0;
pub const MERCER_VARIANCE_PSEUDO: i32 = 1;
pub const MERCER_VARIANCE_BOUND: i32 = 2;
pub const MERCER_KERNEL_ERROR_MEASURED: i32 = 0;
pub const MERCER_KERNEL_ERROR_PREDICTED: i32 = 1;
pub const MERCER_EXTRAPOLATION_DEFAULT: i32 = 0;
pub const MERCER_EXTRAPOLATION_CLIP: i32 = 1;
pub const MERCER_EXTRAPOLATION_FREE: i32 = 2;
pub const MERCER_EXTRAPOLATION_REFUSE: i32 = 3;
pub const MERCER_DERIVATIVE_PARTIALS: i32 = 0;
pub const MERCER_DERIVATIVE_GRADIENT: i32 = 1;
pub const MERCER_DERIVATIVE_HESSIAN_DIAGONAL: i32 = 2;
pub const MERCER_DERIVATIVE_LAPLACIAN: i32 = 3;
pub const MERCER_DERIVATIVE_JVP: i32 = 4;
pub const MERCER_DERIVATIVE_VJP: i32 = 5;
pub const MERCER_DERIVATIVE_LOG_LENGTHSCALE: i32 = 6;
pub const MERCER_METRIC_DEFAULT: i32 = 0;
pub const MERCER_METRIC_R2: i32 = 1;
pub const MERCER_METRIC_RMSE: i32 = 2;
pub const MERCER_METRIC_MAE: i32 = 3;
pub const MERCER_METRIC_PINBALL: i32 = 4;
pub const MERCER_METRIC_ACCURACY: i32 = 5;
pub const MERCER_METRIC_CONFUSION: i32 = 6;
pub const MERCER_METRIC_AUC: i32 = 7;
pub const MERCER_METRIC_LOG_LOSS: i32 = 8;
pub const MERCER_METRIC_CALIBRATION_ERROR: i32 = 9;
pub const MERCER_METRIC_EXPLAINED_PINBALL: i32 = 10;
pub const MERCER_METRIC_EXPLAINED_DEVIANCE: i32 = 11;

#[repr(C)]
pub struct mercer_attention {
    _private: [u8; 0],
}

#[repr(C)]
pub struct mercer_context {
    _private: [u8; 0],
}

#[repr(C)]
pub struct mercer_kernel {
    _private: [u8; 0],
}

#[repr(C)]
pub struct mercer_map {
    _private: [u8; 0],
}

#[repr(C)]
pub struct mercer_model {
    _private: [u8; 0],
}

#[repr(C)]
pub struct mercer_ridge {
    _private: [u8; 0],
}

#[repr(C)]
pub struct mercer_rows_sums {
    _private: [u8; 0],
}

#[repr(C)]
pub struct mercer_statistics {
    _private: [u8; 0],
}
/// Progress of a call
pub type mercer_progress = Option<unsafe extern "C" fn(user: *mut c_void, done: i64, total: i64) -> i32>;
/// Receives each finished trial of a search
pub type mercer_trial = Option<unsafe extern "C" fn(user: *mut c_void, json: *const c_char)>;
/// Starts again at the first row.
pub type mercer_source_rewind = Option<unsafe extern "C" fn(user: *mut c_void) -> i32>;
/// Describes the next rows
pub type mercer_source_next = Option<unsafe extern "C" fn(user: *mut c_void, X: *mut mercer_rows, Y: *mut mercer_rows) -> i32>;
/// Replaces numbers[i] by its sum over the processes, the same bits in each (MPI_Allreduce with MPI_IN_PLACE, MPI_DOUBLE and MPI_SUM).
pub type mercer_source_sum = Option<unsafe extern "C" fn(user: *mut c_void, n: i64, numbers: *mut f64) -> i32>;

/// Options of a context.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_context_options {
    pub struct_size: u32,
    pub threads: i32,
    pub memory_cap: i64,
    pub progress: mercer_progress,
    pub user: *mut c_void,
    pub trial: mercer_trial,
}

/// n rows of d numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_rows {
    pub struct_size: u32,
    pub number: i32,
    pub index: i32,
    pub reserved: i32,
    pub n: i64,
    pub d: i64,
    pub ld: i64,
    pub nnz: i64,
    pub values: *const c_void,
    pub offsets: *const c_void,
    pub indices: *const c_void,
}

/// A result
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_matrix {
    pub struct_size: u32,
    pub number: i32,
    pub rows: i64,
    pub cols: i64,
    pub ld: i64,
    pub data: *mut c_void,
}

/// Sizes of statistics, a decomposition or a fit
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_shape {
    pub struct_size: u32,
    pub reserved: i32,
    pub rows: i64,
    pub columns: i64,
    pub outputs: i64,
}

/// Data of a map that JSON cannot carry
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_map_data {
    pub struct_size: u32,
    pub reserved: i32,
    pub kernel: *const mercer_kernel,
    pub X: mercer_rows,
    pub Y: mercer_rows,
    pub frequencies: mercer_rows,
    pub weights: mercer_rows,
    pub roots: mercer_rows,
}

/// What a map reads and writes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_map_info {
    pub struct_size: u32,
    pub is_complex: i32,
    pub inputs: i64,
    pub outputs: i64,
    pub features: i64,
    pub frequencies: i64,
    pub right_inputs: i64,
    pub incomplete_block: i64,
    pub dropped: f64,
}

/// Which features of which rows
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_transform_options {
    pub struct_size: u32,
    pub reserved: i32,
    pub begin: i64,
    pub end: i64,
    pub locations: i64,
    pub right: mercer_rows,
}

/// Tokens of sequences, one sequence after the other
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_tokens {
    pub struct_size: u32,
    pub causal: i32,
    pub batch: i64,
    pub heads: i64,
    pub Q: mercer_rows,
    pub K: mercer_rows,
    pub V: mercer_rows,
    pub weights: mercer_rows,
}

/// Rows delivered block by block, as often as a fit reads them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_row_source {
    pub struct_size: u32,
    pub weighted: i32,
    pub d: i64,
    pub m: i64,
    pub rewind: mercer_source_rewind,
    pub next: mercer_source_next,
    pub user: *mut c_void,
    pub sum: mercer_source_sum,
}

/// Noisy observations of one partial derivative of a function f of d inputs and m outputs
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_observations {
    pub struct_size: u32,
    pub reserved: i32,
    pub weight: f64,
    pub partial: *const i32,
    pub X: mercer_rows,
    pub Y: mercer_rows,
    pub row_weights: *const f64,
}

/// Exactly one of X with Y, source and sets
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_data {
    pub struct_size: u32,
    pub reserved: i32,
    pub X: mercer_rows,
    pub Y: mercer_rows,
    pub weights: *const f64,
    pub source: *const mercer_row_source,
    pub sets: *const mercer_observations,
    pub set_count: i64,
    pub map: *const mercer_map,
    pub groups: mercer_rows,
}

/// Options of a prediction, and where to write what was met.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_predict_options {
    pub struct_size: u32,
    pub extrapolation: i32,
    pub rows_outside: *mut i64,
    pub values_outside: *mut i64,
    pub inputs_outside: *mut i64,
    pub predictions_limited: *mut i64,
    pub partial_count: i64,
    pub partials: *const i32,
    pub quantile_count: i64,
    pub quantiles: *const f64,
    pub sample_count: i64,
    pub seed: u64,
    pub columns: *mut i64,
}

/// What a model reads and writes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_model_info {
    pub struct_size: u32,
    pub has_probabilities: i32,
    pub rows: i64,
    pub inputs: i64,
    pub outputs: i64,
    pub features: i64,
    pub classes: i64,
    pub is_linear: i32,
    pub reserved: i32,
    pub penalty: f64,
    pub weight_rows: i64,
}

/// What is asked for.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_derivative {
    pub struct_size: u32,
    pub kind: i32,
    pub count: i64,
    pub partials: *const i32,
    pub vectors: mercer_rows,
}

/// Which metric, and its parameters.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mercer_score_options {
    pub struct_size: u32,
    pub metric: i32,
    pub bins: i64,
    pub tau: f64,
    pub weights: *const f64,
}

#[link(name = "mercer")]
extern "C" {
    /// Name of a status, such as "MERCER_OK"
    pub fn mercer_status_name(status: i32) -> *const c_char;
    /// Version of the loaded library as "major.minor.patch".
    pub fn mercer_version() -> *const c_char;
    /// Text of this thread's last failing call
    pub fn mercer_last_error() -> *const c_char;
    /// Makes a context
    pub fn mercer_context_create(options: *const mercer_context_options, out: *mut *mut mercer_context) -> i32;
    /// cancel 1
    pub fn mercer_context_cancel(context: *mut mercer_context, cancel: i32) -> i32;
    /// Threads that worked in the last call's loops, at most
    pub fn mercer_context_threads_used(context: *const mercer_context, threads: *mut i32) -> i32;
    /// Text of the last failing call that used this context ("" if none), copied by convention 9
    pub fn mercer_context_error(context: *const mercer_context, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Frees a context that no call is using.
    pub fn mercer_context_free(context: *mut mercer_context);
    /// A kernel from JSON
    pub fn mercer_kernel_from_spec(json: *const c_char, out: *mut *mut mercer_kernel) -> i32;
    /// The JSON of a kernel, in canonical form
    pub fn mercer_kernel_spec(kernel: *const mercer_kernel, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Frees a kernel.
    pub fn mercer_kernel_free(kernel: *mut mercer_kernel);
    /// The kernel "decomposable" with a Gamma from memory, as JSON is limited to 1 MiB
    pub fn mercer_kernel_decomposable(scalar: *const mercer_kernel, gamma: mercer_rows, cutoff: f64, out: *mut *mut mercer_kernel) -> i32;
    /// K(i, j) = k(X_i, Y_j), or block (i, j) = K(X_i, Y_j) for p outputs
    pub fn mercer_kernel_gram(kernel: *const mercer_kernel, X: mercer_rows, Y: mercer_rows, U: mercer_rows, context: *mut mercer_context, K: mercer_matrix) -> i32;
    /// Median of the distances between rows (the mean of the middle two for an even count), over all pairs if there are at most max_pairs (>= 1), else over max_pairs random pairs.
    pub fn mercer_lengthscale_median(X: mercer_rows, max_pairs: i64, seed: u64, context: *mut mercer_context, lengthscale: *mut f64) -> i32;
    /// A map from its spec.
    pub fn mercer_map_from_spec(json: *const c_char, out: *mut *mut mercer_map) -> i32;
    /// A map from its spec and data.
    pub fn mercer_map_fit(json: *const c_char, data: *const mercer_map_data, context: *mut mercer_context, out: *mut *mut mercer_map) -> i32;
    /// The spec of a map, in canonical form
    pub fn mercer_map_spec(map: *const mercer_map, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Fills in *info, reading only its struct_size.
    pub fn mercer_map_shape(map: *const mercer_map, info: *mut mercer_map_info) -> i32;
    /// The frequencies omega_j of Fourier features, in the order of their columns
    pub fn mercer_map_frequencies(map: *const mercer_map, context: *mut mercer_context, out: mercer_matrix) -> i32;
    /// A new handle on the kernel that the map's features estimate, with the map's lengthscale and variance
    pub fn mercer_map_kernel(map: *const mercer_map, out: *mut *mut mercer_kernel) -> i32;
    /// Frees a map.
    pub fn mercer_map_free(map: *mut mercer_map);
    /// All kernels, maps, projections and models, and the keys of a fit, as JSON
    pub fn mercer_specs(name: *const c_char, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Z(i, :) = columns [begin, end) of phi(X_i).
    pub fn mercer_map_transform(map: *const mercer_map, X: mercer_rows, options: *const mercer_transform_options, context: *mut mercer_context, Z: mercer_matrix) -> i32;
    /// All columns for dense rows of a real map, without views
    pub fn mercer_map_apply_f32(map: *const mercer_map, n: i64, X: *const f32, ldx: i64, context: *mut mercer_context, Z: *mut f32, ldz: i64) -> i32;
    /// All columns for dense rows of a real map, without views
    pub fn mercer_map_apply_f64(map: *const mercer_map, n: i64, X: *const f64, ldx: i64, context: *mut mercer_context, Z: *mut f64, ldz: i64) -> i32;
    /// All columns as CSR, of a map whose rows have few non-zeros (random_binning)
    pub fn mercer_map_transform_csr(map: *const mercer_map, X: mercer_rows, context: *mut mercer_context, offsets: *mut i64, indices: *mut i64, values: *mut f64, capacity: i64, needed: *mut i64) -> i32;
    /// Row i of out
    pub fn mercer_map_multiply(map: *const mercer_map, X: mercer_rows, theta: mercer_rows, kind: i32, context: *mut mercer_context, out: mercer_matrix) -> i32;
    /// The transpose
    pub fn mercer_map_adjoint(map: *const mercer_map, X: mercer_rows, Y: mercer_rows, context: *mut mercer_context, theta: mercer_matrix) -> i32;
    /// Draws and packs the projection for one number type, F32 or F64, ahead of the first use.
    pub fn mercer_map_prepare(map: *const mercer_map, number: i32, context: *mut mercer_context) -> i32;
    /// variance[i] of the estimate of k(x_i, y_i), i < n
    pub fn mercer_map_variance(map: *const mercer_map, X: mercer_rows, Y: mercer_rows, which: i32, context: *mut mercer_context, variance: *mut f64) -> i32;
    /// Error of the estimated kernel matrix of rows, relative to the kernel's, over all pairs of rows
    pub fn mercer_map_kernel_error(map: *const mercer_map, X: mercer_rows, which: i32, context: *mut mercer_context, error: *mut f64) -> i32;
    /// The error of this map on many rows, without an n x n matrix
    pub fn mercer_map_certify(map: *const mercer_map, X: mercer_rows, json: *const c_char, context: *mut mercer_context, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Real maps of a kernel side by side
    pub fn mercer_map_recommend(json: *const c_char, X: mercer_rows, context: *mut mercer_context, out: *mut *mut mercer_map, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Row i of out
    pub fn mercer_attend(map: *const mercer_map, tokens: *const mercer_tokens, context: *mut mercer_context, out: mercer_matrix) -> i32;
    /// dL/dQ, dL/dK, dL/dV of a real L with dL/dout = G, 0 for keys of weight 0
    pub fn mercer_attend_vjp(map: *const mercer_map, tokens: *const mercer_tokens, G: mercer_rows, context: *mut mercer_context, dQ: mercer_matrix, dK: mercer_matrix, dV: mercer_matrix) -> i32;
    /// ||out - exact||_F / ||exact||_F, exact with the map's kernel in place of phi'phi.
    pub fn mercer_attention_error(map: *const mercer_map, tokens: *const mercer_tokens, which: i32, context: *mut mercer_context, error: *mut f64) -> i32;
    /// No keys yet.
    pub fn mercer_attention_create(map: *const mercer_map, batch: i64, heads: i64, d_v: i64, out: *mut *mut mercer_attention) -> i32;
    /// Adds the keys, then answers the queries over all keys so far
    pub fn mercer_attention_step(attention: *mut mercer_attention, tokens: *const mercer_tokens, context: *mut mercer_context, out: mercer_matrix) -> i32;
    /// Frees a state.
    pub fn mercer_attention_free(attention: *mut mercer_attention);
    /// The number of frequencies a theorem asks for
    pub fn mercer_bound(json: *const c_char, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// The codes of the rows of X.
    pub fn mercer_map_codes(map: *const mercer_map, X: mercer_rows, words: i64, context: *mut mercer_context, codes: *mut u64) -> i32;
    /// distances[i m + j] = the number of bits in which codes i of A and j of B differ.
    pub fn mercer_codes_hamming(words: i64, n: i64, A: *const u64, m: i64, B: *const u64, context: *mut mercer_context, distances: *mut i32) -> i32;
    /// values[i] = the k(x, y) whose expected share of differing bits is distances[i]/bits
    pub fn mercer_codes_kernel(kernel: *const mercer_kernel, bits: i64, count: i64, distances: *const i32, values: *mut f64) -> i32;
    /// T vectors that stand for T classes, the columns of code
    pub fn mercer_simplex_code(code: mercer_matrix) -> i32;
    /// Fits the model that a spec describes to data.
    pub fn mercer_model_fit(json: *const c_char, data: *const mercer_data, context: *mut mercer_context, out: *mut *mut mercer_model) -> i32;
    /// Predicts `what` for each row.
    pub fn mercer_model_predict(model: *const mercer_model, X: mercer_rows, what: *const c_char, options: *const mercer_predict_options, context: *mut mercer_context, out: mercer_matrix) -> i32;
    /// Frees a model.
    pub fn mercer_model_free(model: *mut mercer_model);
    /// Fills in *info, reading only its struct_size.
    pub fn mercer_model_shape(model: *const mercer_model, info: *mut mercer_model_info) -> i32;
    /// A new handle on the model's map
    pub fn mercer_model_map(model: *const mercer_model, out: *mut *mut mercer_map) -> i32;
    /// The weights of the model
    pub fn mercer_model_weights(model: *const mercer_model, w: mercer_matrix, intercept: mercer_matrix) -> i32;
    /// A text of a model
    pub fn mercer_model_text(model: *const mercer_model, what: *const c_char, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Keeps any UTF-8 text of at most 1 MiB with the model and its file (names of columns and classes, say), replacing an earlier one.
    pub fn mercer_model_set_metadata(model: *mut mercer_model, text: *const c_char) -> i32;
    /// Derivatives of the features of rows.
    pub fn mercer_map_derivative(map: *const mercer_map, X: mercer_rows, what: *const mercer_derivative, context: *mut mercer_context, out: mercer_matrix) -> i32;
    /// K(i, j) = d^{p,q} k(X_i, Y_j), exact
    pub fn mercer_kernel_derivative(kernel: *const mercer_kernel, X: mercer_rows, Y: mercer_rows, p: *const i32, q: *const i32, context: *mut mercer_context, K: mercer_matrix) -> i32;
    /// "test" is "mmd" (one distribution? Gaussian and Laplacian kernels at several bandwidths, p-value from permutations), "block_mmd" (one kernel, normal p-value), "kid" (kernel inception distance) or "hsic" (does row i of Y depend on row i of X?).
    pub fn mercer_rows_test(json: *const c_char, X: mercer_rows, Y: mercer_rows, context: *mut mercer_context, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Sums over no rows yet, for a test as of mercer_rows_test on m rows of X and n of Y.
    pub fn mercer_rows_sums_create(json: *const c_char, m: i64, n: i64, X: mercer_rows, Y: mercer_rows, context: *mut mercer_context, out: *mut *mut mercer_rows_sums) -> i32;
    /// Adds rows first, first + 1, ...
    pub fn mercer_rows_sums_add(sums: *mut mercer_rows_sums, side: i32, first: i64, X: mercer_rows, context: *mut mercer_context) -> i32;
    /// sums += sign other, sign 1 or -1
    pub fn mercer_rows_sums_merge(sums: *mut mercer_rows_sums, sign: i32, other: *const mercer_rows_sums) -> i32;
    /// Sums of all processes, in each, by a callback as of mercer_row_source
    pub fn mercer_rows_sums_reduce(sums: *mut mercer_rows_sums, sum: mercer_source_sum, user: *mut c_void) -> i32;
    /// The answer of mercer_rows_test.
    pub fn mercer_rows_sums_answer(sums: *const mercer_rows_sums, context: *mut mercer_context, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Frees sums.
    pub fn mercer_rows_sums_free(sums: *mut mercer_rows_sums);
    /// All-zero statistics of D >= 1 features and m >= 0 outputs.
    pub fn mercer_statistics_create(D: i64, m: i64, out: *mut *mut mercer_statistics) -> i32;
    /// Adds the rows of a block (sign 1), or removes them again (sign -1).
    pub fn mercer_statistics_add(statistics: *mut mercer_statistics, sign: i32, Z: mercer_rows, Y: mercer_rows, context: *mut mercer_context) -> i32;
    /// statistics += sign other, sign 1 or -1
    pub fn mercer_statistics_merge(statistics: *mut mercer_statistics, sign: i32, other: *const mercer_statistics) -> i32;
    /// Rows n, features D and outputs m.
    pub fn mercer_statistics_shape(statistics: *const mercer_statistics, shape: *mut mercer_shape) -> i32;
    /// Copies out the sums about zero.
    pub fn mercer_statistics_get(statistics: *const mercer_statistics, gram: mercer_matrix, cross: mercer_matrix, sum_z: mercer_matrix, sum_y: mercer_matrix, sum_y2: mercer_matrix) -> i32;
    /// The inverse of mercer_statistics_get
    pub fn mercer_statistics_set(statistics: *mut mercer_statistics, n: i64, gram: mercer_rows, cross: mercer_rows, sum_z: mercer_rows, sum_y: mercer_rows, sum_y2: mercer_rows) -> i32;
    /// Frees statistics.
    pub fn mercer_statistics_free(statistics: *mut mercer_statistics);
    /// Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL
    pub fn mercer_map_write(map: *const mercer_map, path: *const c_char, buffer: *mut c_void, capacity: i64, needed: *mut i64) -> i32;
    /// Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL
    pub fn mercer_model_write(model: *const mercer_model, path: *const c_char, buffer: *mut c_void, capacity: i64, needed: *mut i64) -> i32;
    /// Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL
    pub fn mercer_statistics_write(statistics: *const mercer_statistics, path: *const c_char, buffer: *mut c_void, capacity: i64, needed: *mut i64) -> i32;
    /// Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL
    pub fn mercer_attention_write(attention: *const mercer_attention, path: *const c_char, buffer: *mut c_void, capacity: i64, needed: *mut i64) -> i32;
    /// Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL
    pub fn mercer_rows_sums_write(rows_sums: *const mercer_rows_sums, path: *const c_char, buffer: *mut c_void, capacity: i64, needed: *mut i64) -> i32;
    /// Reads an object from the file `path`, with data NULL and size 0
    pub fn mercer_map_read(path: *const c_char, data: *const c_void, size: i64, out: *mut *mut mercer_map) -> i32;
    /// Reads an object from the file `path`, with data NULL and size 0
    pub fn mercer_model_read(path: *const c_char, data: *const c_void, size: i64, out: *mut *mut mercer_model) -> i32;
    /// Reads an object from the file `path`, with data NULL and size 0
    pub fn mercer_statistics_read(path: *const c_char, data: *const c_void, size: i64, out: *mut *mut mercer_statistics) -> i32;
    /// Reads an object from the file `path`, with data NULL and size 0
    pub fn mercer_attention_read(path: *const c_char, data: *const c_void, size: i64, out: *mut *mut mercer_attention) -> i32;
    /// Reads an object from the file `path`, with data NULL and size 0
    pub fn mercer_rows_sums_read(path: *const c_char, data: *const c_void, size: i64, out: *mut *mut mercer_rows_sums) -> i32;
    /// What a file or its bytes hold, as JSON
    pub fn mercer_file_info(path: *const c_char, data: *const c_void, size: i64, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Decomposes a copy of the statistics' Gram matrix.
    pub fn mercer_ridge_create(statistics: *const mercer_statistics, center: i32, context: *mut mercer_context, out: *mut *mut mercer_ridge) -> i32;
    /// Rows the statistics held, D features, m outputs.
    pub fn mercer_ridge_shape(ridge: *const mercer_ridge, shape: *mut mercer_shape) -> i32;
    /// The weights for one penalty.
    pub fn mercer_ridge_solve(ridge: *const mercer_ridge, penalty: f64, w: mercer_matrix, intercept: mercer_matrix) -> i32;
    /// Mean squared error of each output on held-out rows
    pub fn mercer_ridge_error(ridge: *const mercer_ridge, penalty: f64, held_out: *const mercer_statistics, error: mercer_matrix, dimension: *mut f64) -> i32;
    /// Ridge leverage score of each feature, l_j = z_j'(ZZ' + n lambda I)^{-1} z_j with z_j a column of Z.
    pub fn mercer_ridge_leverage(ridge: *const mercer_ridge, penalty: f64, scores: mercer_matrix) -> i32;
    /// Leave-one-out residual of each training row, (y - Zw)_i/(1 - H_ii), with n lambda held fixed.
    pub fn mercer_ridge_leave_one_out(ridge: *const mercer_ridge, penalty: f64, Z: mercer_rows, Y: mercer_rows, context: *mut mercer_context, residuals: mercer_matrix) -> i32;
    /// Frees a decomposition.
    pub fn mercer_ridge_free(ridge: *mut mercer_ridge);
    /// The weights for one penalty without a decomposition
    pub fn mercer_ridge_weights(statistics: *const mercer_statistics, Z: mercer_rows, Y: mercer_rows, center: i32, penalty: f64, context: *mut mercer_context, w: mercer_matrix, intercept: mercer_matrix) -> i32;
    /// How well predictions fit the targets Y of the same rows
    pub fn mercer_prediction_score(predictions: mercer_rows, Y: mercer_rows, K: i64, options: *const mercer_score_options, context: *mut mercer_context, score: *mut f64) -> i32;
    /// Whether this machine computes what every other does, and how fast, as JSON ("Self-test" in GUIDE.md)
    pub fn mercer_self_test(context: *mut mercer_context, buffer: *mut c_char, capacity: i64, needed: *mut i64) -> i32;
    /// Walsh-Hadamard transform of every row, in place and unnormalised
    pub fn mercer_fwht(X: mercer_matrix, context: *mut mercer_context) -> i32;
}
