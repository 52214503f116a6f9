# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The C API as it is, structs with the defaults that zeros are. Made by cmake/bind.py from cmake/api.json.

const MERCER_OK = Int32(0)
const MERCER_INVALID_ARGUMENT = Int32(1)
const MERCER_DIMENSION_MISMATCH = Int32(2)
const MERCER_OUT_OF_MEMORY = Int32(3)
const MERCER_UNSUPPORTED = Int32(4)
const MERCER_NOT_POSITIVE_DEFINITE = Int32(10)
const MERCER_NOT_CONVERGED = Int32(11)
const MERCER_IO = Int32(20)
const MERCER_CORRUPT_FILE = Int32(21)
const MERCER_NEWER_VERSION = Int32(22)
const MERCER_CANCELLED = Int32(30)
const MERCER_INTERNAL = Int32(99)
const MERCER_NUMBER_F32 = Int32(0)
const MERCER_NUMBER_F64 = Int32(1)
const MERCER_NUMBER_C32 = Int32(2)
const MERCER_NUMBER_C64 = Int32(3)
const MERCER_NUMBER_I32 = Int32(4)
const MERCER_NUMBER_BF16 = Int32(5)
const MERCER_INDEX_NONE = Int32(0)
const MERCER_INDEX_I32 = Int32(1)
const MERCER_INDEX_I64 = Int32(2)
const MERCER_FIELD_VALUE = Int32(0)
const MERCER_FIELD_JACOBIAN = Int32(1)
const MERCER_FIELD_DIVERGENCE = Int32(2)
const MERCER_FIELD_CURL = Int32(3)
const MERCER_FIELD_POTENTIAL = Int32(4)
const MERCER_FIELD_STREAM = Int32(5)
const MERCER_VARIANCE_ESTIMATE = Int32(0)
const MERCER_VARIANCE_PSEUDO = Int32(1)
const MERCER_VARIANCE_BOUND = Int32(2)
const MERCER_KERNEL_ERROR_MEASURED = Int32(0)
const MERCER_KERNEL_ERROR_PREDICTED = Int32(1)
const MERCER_EXTRAPOLATION_DEFAULT = Int32(0)
const MERCER_EXTRAPOLATION_CLIP = Int32(1)
const MERCER_EXTRAPOLATION_FREE = Int32(2)
const MERCER_EXTRAPOLATION_REFUSE = Int32(3)
const MERCER_DERIVATIVE_PARTIALS = Int32(0)
const MERCER_DERIVATIVE_GRADIENT = Int32(1)
const MERCER_DERIVATIVE_HESSIAN_DIAGONAL = Int32(2)
const MERCER_DERIVATIVE_LAPLACIAN = Int32(3)
const MERCER_DERIVATIVE_JVP = Int32(4)
const MERCER_DERIVATIVE_VJP = Int32(5)
const MERCER_DERIVATIVE_LOG_LENGTHSCALE = Int32(6)
const MERCER_METRIC_DEFAULT = Int32(0)
const MERCER_METRIC_R2 = Int32(1)
const MERCER_METRIC_RMSE = Int32(2)
const MERCER_METRIC_MAE = Int32(3)
const MERCER_METRIC_PINBALL = Int32(4)
const MERCER_METRIC_ACCURACY = Int32(5)
const MERCER_METRIC_CONFUSION = Int32(6)
const MERCER_METRIC_AUC = Int32(7)
const MERCER_METRIC_LOG_LOSS = Int32(8)
const MERCER_METRIC_CALIBRATION_ERROR = Int32(9)
const MERCER_METRIC_EXPLAINED_PINBALL = Int32(10)
const MERCER_METRIC_EXPLAINED_DEVIANCE = Int32(11)

mutable struct mercer_attention end

mutable struct mercer_context end

mutable struct mercer_kernel end

mutable struct mercer_map end

mutable struct mercer_model end

mutable struct mercer_ridge end

mutable struct mercer_rows_sums end

mutable struct mercer_statistics end

# Progress of a call: @cfunction(f, Int32, (Ptr{Cvoid}, Int64, Int64,)) as mercer_progress.

# Receives each finished trial of a search: @cfunction(f, Cvoid, (Ptr{Cvoid}, Cstring,)) as mercer_trial.

# Starts again at the first row: @cfunction(f, Int32, (Ptr{Cvoid},)) as mercer_source_rewind.

# Describes the next rows: @cfunction(f, Int32, (Ptr{Cvoid}, Ptr{mercer_rows}, Ptr{mercer_rows},)) as mercer_source_next.

# Replaces numbers[i] by its sum over the processes, the same bits in each (MPI_Allreduce with MPI_IN_PLACE, MPI_DOUBLE and MPI_SUM): @cfunction(f, Int32, (Ptr{Cvoid}, Int64, Ptr{Float64},)) as mercer_source_sum.

"Options of a context."
Base.@kwdef struct mercer_context_options
    struct_size::UInt32 = 40
    threads::Int32 = 0
    memory_cap::Int64 = 0
    progress::Ptr{Cvoid} = C_NULL
    user::Ptr{Cvoid} = C_NULL
    trial::Ptr{Cvoid} = C_NULL
end

"n rows of d numbers."
Base.@kwdef struct mercer_rows
    struct_size::UInt32 = 72
    number::Int32 = 0
    index::Int32 = 0
    reserved::Int32 = 0
    n::Int64 = 0
    d::Int64 = 0
    ld::Int64 = 0
    nnz::Int64 = 0
    values::Ptr{Cvoid} = C_NULL
    offsets::Ptr{Cvoid} = C_NULL
    indices::Ptr{Cvoid} = C_NULL
end

"A result"
Base.@kwdef struct mercer_matrix
    struct_size::UInt32 = 40
    number::Int32 = 0
    rows::Int64 = 0
    cols::Int64 = 0
    ld::Int64 = 0
    data::Ptr{Cvoid} = C_NULL
end

"Sizes of statistics, a decomposition or a fit"
Base.@kwdef struct mercer_shape
    struct_size::UInt32 = 32
    reserved::Int32 = 0
    rows::Int64 = 0
    columns::Int64 = 0
    outputs::Int64 = 0
end

"Data of a map that JSON cannot carry"
Base.@kwdef struct mercer_map_data
    struct_size::UInt32 = 376
    reserved::Int32 = 0
    kernel::Ptr{mercer_kernel} = C_NULL
    X::mercer_rows = mercer_rows(struct_size = 0)
    Y::mercer_rows = mercer_rows(struct_size = 0)
    frequencies::mercer_rows = mercer_rows(struct_size = 0)
    weights::mercer_rows = mercer_rows(struct_size = 0)
    roots::mercer_rows = mercer_rows(struct_size = 0)
end

"What a map reads and writes."
Base.@kwdef struct mercer_map_info
    struct_size::UInt32 = 64
    is_complex::Int32 = 0
    inputs::Int64 = 0
    outputs::Int64 = 0
    features::Int64 = 0
    frequencies::Int64 = 0
    right_inputs::Int64 = 0
    incomplete_block::Int64 = 0
    dropped::Float64 = 0
end

"Which features of which rows"
Base.@kwdef struct mercer_transform_options
    struct_size::UInt32 = 104
    reserved::Int32 = 0
    begin_::Int64 = 0
    end_::Int64 = 0
    locations::Int64 = 0
    right::mercer_rows = mercer_rows(struct_size = 0)
end

"Tokens of sequences, one sequence after the other"
Base.@kwdef struct mercer_tokens
    struct_size::UInt32 = 312
    causal::Int32 = 0
    batch::Int64 = 0
    heads::Int64 = 0
    Q::mercer_rows = mercer_rows(struct_size = 0)
    K::mercer_rows = mercer_rows(struct_size = 0)
    V::mercer_rows = mercer_rows(struct_size = 0)
    weights::mercer_rows = mercer_rows(struct_size = 0)
end

"Rows delivered block by block, as often as a fit reads them."
Base.@kwdef struct mercer_row_source
    struct_size::UInt32 = 56
    weighted::Int32 = 0
    d::Int64 = 0
    m::Int64 = 0
    rewind::Ptr{Cvoid} = C_NULL
    next::Ptr{Cvoid} = C_NULL
    user::Ptr{Cvoid} = C_NULL
    sum::Ptr{Cvoid} = C_NULL
end

"Noisy observations of one partial derivative of a function f of d inputs and m outputs"
Base.@kwdef struct mercer_observations
    struct_size::UInt32 = 176
    reserved::Int32 = 0
    weight::Float64 = 0
    partial::Ptr{Int32} = C_NULL
    X::mercer_rows = mercer_rows(struct_size = 0)
    Y::mercer_rows = mercer_rows(struct_size = 0)
    row_weights::Ptr{Float64} = C_NULL
end

"Exactly one of X with Y, source and sets"
Base.@kwdef struct mercer_data
    struct_size::UInt32 = 264
    reserved::Int32 = 0
    X::mercer_rows = mercer_rows(struct_size = 0)
    Y::mercer_rows = mercer_rows(struct_size = 0)
    weights::Ptr{Float64} = C_NULL
    source::Ptr{mercer_row_source} = C_NULL
    sets::Ptr{mercer_observations} = C_NULL
    set_count::Int64 = 0
    map::Ptr{mercer_map} = C_NULL
    groups::mercer_rows = mercer_rows(struct_size = 0)
end

"Options of a prediction, and where to write what was met."
Base.@kwdef struct mercer_predict_options
    struct_size::UInt32 = 96
    extrapolation::Int32 = 0
    rows_outside::Ptr{Int64} = C_NULL
    values_outside::Ptr{Int64} = C_NULL
    inputs_outside::Ptr{Int64} = C_NULL
    predictions_limited::Ptr{Int64} = C_NULL
    partial_count::Int64 = 0
    partials::Ptr{Int32} = C_NULL
    quantile_count::Int64 = 0
    quantiles::Ptr{Float64} = C_NULL
    sample_count::Int64 = 0
    seed::UInt64 = 0
    columns::Ptr{Int64} = C_NULL
end

"What a model reads and writes."
Base.@kwdef struct mercer_model_info
    struct_size::UInt32 = 72
    has_probabilities::Int32 = 0
    rows::Int64 = 0
    inputs::Int64 = 0
    outputs::Int64 = 0
    features::Int64 = 0
    classes::Int64 = 0
    is_linear::Int32 = 0
    reserved::Int32 = 0
    penalty::Float64 = 0
    weight_rows::Int64 = 0
end

"What is asked for."
Base.@kwdef struct mercer_derivative
    struct_size::UInt32 = 96
    kind::Int32 = 0
    count::Int64 = 0
    partials::Ptr{Int32} = C_NULL
    vectors::mercer_rows = mercer_rows(struct_size = 0)
end

"Which metric, and its parameters."
Base.@kwdef struct mercer_score_options
    struct_size::UInt32 = 32
    metric::Int32 = 0
    bins::Int64 = 0
    tau::Float64 = 0
    weights::Ptr{Float64} = C_NULL
end

"Name of a status, such as \"MERCER_OK\""
mercer_status_name(status) =
    @ccall libmercer.mercer_status_name(status::Int32)::Cstring

"Version of the loaded library as \"major.minor.patch\"."
mercer_version() =
    @ccall libmercer.mercer_version()::Cstring

"Text of this thread's last failing call"
mercer_last_error() =
    @ccall libmercer.mercer_last_error()::Cstring

"Makes a context"
mercer_context_create(options, out) =
    @ccall libmercer.mercer_context_create(options::Ptr{mercer_context_options}, out::Ptr{Ptr{mercer_context}})::Int32

"cancel 1"
mercer_context_cancel(context, cancel) =
    @ccall libmercer.mercer_context_cancel(context::Ptr{mercer_context}, cancel::Int32)::Int32

"Threads that worked in the last call's loops, at most"
mercer_context_threads_used(context, threads) =
    @ccall libmercer.mercer_context_threads_used(context::Ptr{mercer_context}, threads::Ptr{Int32})::Int32

"Text of the last failing call that used this context (\"\" if none), copied by convention 9"
mercer_context_error(context, buffer, capacity, needed) =
    @ccall libmercer.mercer_context_error(context::Ptr{mercer_context}, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Frees a context that no call is using."
mercer_context_free(context) =
    @ccall libmercer.mercer_context_free(context::Ptr{mercer_context})::Cvoid

"A kernel from JSON"
mercer_kernel_from_spec(json, out) =
    @ccall libmercer.mercer_kernel_from_spec(json::Cstring, out::Ptr{Ptr{mercer_kernel}})::Int32

"The JSON of a kernel, in canonical form"
mercer_kernel_spec(kernel, buffer, capacity, needed) =
    @ccall libmercer.mercer_kernel_spec(kernel::Ptr{mercer_kernel}, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Frees a kernel."
mercer_kernel_free(kernel) =
    @ccall libmercer.mercer_kernel_free(kernel::Ptr{mercer_kernel})::Cvoid

"The kernel \"decomposable\" with a Gamma from memory, as JSON is limited to 1 MiB"
mercer_kernel_decomposable(scalar, gamma, cutoff, out) =
    @ccall libmercer.mercer_kernel_decomposable(scalar::Ptr{mercer_kernel}, gamma::mercer_rows, cutoff::Float64, out::Ptr{Ptr{mercer_kernel}})::Int32

"K(i, j) = k(X_i, Y_j), or block (i, j) = K(X_i, Y_j) for p outputs"
mercer_kernel_gram(kernel, X, Y, U, context, K) =
    @ccall libmercer.mercer_kernel_gram(kernel::Ptr{mercer_kernel}, X::mercer_rows, Y::mercer_rows, U::mercer_rows, context::Ptr{mercer_context}, K::mercer_matrix)::Int32

"Median of the distances between rows (the mean of the middle two for an even count), over all pairs if there are at most max_pairs (>= 1), else over max_pairs random pairs."
mercer_lengthscale_median(X, max_pairs, seed, context, lengthscale) =
    @ccall libmercer.mercer_lengthscale_median(X::mercer_rows, max_pairs::Int64, seed::UInt64, context::Ptr{mercer_context}, lengthscale::Ptr{Float64})::Int32

"A map from its spec."
mercer_map_from_spec(json, out) =
    @ccall libmercer.mercer_map_from_spec(json::Cstring, out::Ptr{Ptr{mercer_map}})::Int32

"A map from its spec and data."
mercer_map_fit(json, data, context, out) =
    @ccall libmercer.mercer_map_fit(json::Cstring, data::Ptr{mercer_map_data}, context::Ptr{mercer_context}, out::Ptr{Ptr{mercer_map}})::Int32

"The spec of a map, in canonical form"
mercer_map_spec(map, buffer, capacity, needed) =
    @ccall libmercer.mercer_map_spec(map::Ptr{mercer_map}, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Fills in *info, reading only its struct_size."
mercer_map_shape(map, info) =
    @ccall libmercer.mercer_map_shape(map::Ptr{mercer_map}, info::Ptr{mercer_map_info})::Int32

"The frequencies omega_j of Fourier features, in the order of their columns"
mercer_map_frequencies(map, context, out) =
    @ccall libmercer.mercer_map_frequencies(map::Ptr{mercer_map}, context::Ptr{mercer_context}, out::mercer_matrix)::Int32

"A new handle on the kernel that the map's features estimate, with the map's lengthscale and variance"
mercer_map_kernel(map, out) =
    @ccall libmercer.mercer_map_kernel(map::Ptr{mercer_map}, out::Ptr{Ptr{mercer_kernel}})::Int32

"Frees a map."
mercer_map_free(map) =
    @ccall libmercer.mercer_map_free(map::Ptr{mercer_map})::Cvoid

"All kernels, maps, projections and models, and the keys of a fit, as JSON"
mercer_specs(name, buffer, capacity, needed) =
    @ccall libmercer.mercer_specs(name::Cstring, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Z(i, :) = columns [begin, end) of phi(X_i)."
mercer_map_transform(map, X, options, context, Z) =
    @ccall libmercer.mercer_map_transform(map::Ptr{mercer_map}, X::mercer_rows, options::Ptr{mercer_transform_options}, context::Ptr{mercer_context}, Z::mercer_matrix)::Int32

"All columns for dense rows of a real map, without views"
mercer_map_apply_f32(map, n, X, ldx, context, Z, ldz) =
    @ccall libmercer.mercer_map_apply_f32(map::Ptr{mercer_map}, n::Int64, X::Ptr{Float32}, ldx::Int64, context::Ptr{mercer_context}, Z::Ptr{Float32}, ldz::Int64)::Int32

"All columns for dense rows of a real map, without views"
mercer_map_apply_f64(map, n, X, ldx, context, Z, ldz) =
    @ccall libmercer.mercer_map_apply_f64(map::Ptr{mercer_map}, n::Int64, X::Ptr{Float64}, ldx::Int64, context::Ptr{mercer_context}, Z::Ptr{Float64}, ldz::Int64)::Int32

"All columns as CSR, of a map whose rows have few non-zeros (random_binning)"
mercer_map_transform_csr(map, X, context, offsets, indices, values, capacity, needed) =
    @ccall libmercer.mercer_map_transform_csr(map::Ptr{mercer_map}, X::mercer_rows, context::Ptr{mercer_context}, offsets::Ptr{Int64}, indices::Ptr{Int64}, values::Ptr{Float64}, capacity::Int64, needed::Ptr{Int64})::Int32

"Row i of out"
mercer_map_multiply(map, X, theta, kind, context, out) =
    @ccall libmercer.mercer_map_multiply(map::Ptr{mercer_map}, X::mercer_rows, theta::mercer_rows, kind::Int32, context::Ptr{mercer_context}, out::mercer_matrix)::Int32

"The transpose"
mercer_map_adjoint(map, X, Y, context, theta) =
    @ccall libmercer.mercer_map_adjoint(map::Ptr{mercer_map}, X::mercer_rows, Y::mercer_rows, context::Ptr{mercer_context}, theta::mercer_matrix)::Int32

"Draws and packs the projection for one number type, F32 or F64, ahead of the first use."
mercer_map_prepare(map, number, context) =
    @ccall libmercer.mercer_map_prepare(map::Ptr{mercer_map}, number::Int32, context::Ptr{mercer_context})::Int32

"variance[i] of the estimate of k(x_i, y_i), i < n"
mercer_map_variance(map, X, Y, which, context, variance) =
    @ccall libmercer.mercer_map_variance(map::Ptr{mercer_map}, X::mercer_rows, Y::mercer_rows, which::Int32, context::Ptr{mercer_context}, variance::Ptr{Float64})::Int32

"Error of the estimated kernel matrix of rows, relative to the kernel's, over all pairs of rows"
mercer_map_kernel_error(map, X, which, context, error) =
    @ccall libmercer.mercer_map_kernel_error(map::Ptr{mercer_map}, X::mercer_rows, which::Int32, context::Ptr{mercer_context}, error::Ptr{Float64})::Int32

"The error of this map on many rows, without an n x n matrix"
mercer_map_certify(map, X, json, context, buffer, capacity, needed) =
    @ccall libmercer.mercer_map_certify(map::Ptr{mercer_map}, X::mercer_rows, json::Cstring, context::Ptr{mercer_context}, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Real maps of a kernel side by side"
mercer_map_recommend(json, X, context, out, buffer, capacity, needed) =
    @ccall libmercer.mercer_map_recommend(json::Cstring, X::mercer_rows, context::Ptr{mercer_context}, out::Ptr{Ptr{mercer_map}}, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Row i of out"
mercer_attend(map, tokens, context, out) =
    @ccall libmercer.mercer_attend(map::Ptr{mercer_map}, tokens::Ptr{mercer_tokens}, context::Ptr{mercer_context}, out::mercer_matrix)::Int32

"dL/dQ, dL/dK, dL/dV of a real L with dL/dout = G, 0 for keys of weight 0"
mercer_attend_vjp(map, tokens, G, context, dQ, dK, dV) =
    @ccall libmercer.mercer_attend_vjp(map::Ptr{mercer_map}, tokens::Ptr{mercer_tokens}, G::mercer_rows, context::Ptr{mercer_context}, dQ::mercer_matrix, dK::mercer_matrix, dV::mercer_matrix)::Int32

"||out - exact||_F / ||exact||_F, exact with the map's kernel in place of phi'phi."
mercer_attention_error(map, tokens, which, context, error) =
    @ccall libmercer.mercer_attention_error(map::Ptr{mercer_map}, tokens::Ptr{mercer_tokens}, which::Int32, context::Ptr{mercer_context}, error::Ptr{Float64})::Int32

"No keys yet."
mercer_attention_create(map, batch, heads, d_v, out) =
    @ccall libmercer.mercer_attention_create(map::Ptr{mercer_map}, batch::Int64, heads::Int64, d_v::Int64, out::Ptr{Ptr{mercer_attention}})::Int32

"Adds the keys, then answers the queries over all keys so far"
mercer_attention_step(attention, tokens, context, out) =
    @ccall libmercer.mercer_attention_step(attention::Ptr{mercer_attention}, tokens::Ptr{mercer_tokens}, context::Ptr{mercer_context}, out::mercer_matrix)::Int32

"Frees a state."
mercer_attention_free(attention) =
    @ccall libmercer.mercer_attention_free(attention::Ptr{mercer_attention})::Cvoid

"The number of frequencies a theorem asks for"
mercer_bound(json, buffer, capacity, needed) =
    @ccall libmercer.mercer_bound(json::Cstring, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"The codes of the rows of X."
mercer_map_codes(map, X, words, context, codes) =
    @ccall libmercer.mercer_map_codes(map::Ptr{mercer_map}, X::mercer_rows, words::Int64, context::Ptr{mercer_context}, codes::Ptr{UInt64})::Int32

"distances[i m + j] = the number of bits in which codes i of A and j of B differ."
mercer_codes_hamming(words, n, A, m, B, context, distances) =
    @ccall libmercer.mercer_codes_hamming(words::Int64, n::Int64, A::Ptr{UInt64}, m::Int64, B::Ptr{UInt64}, context::Ptr{mercer_context}, distances::Ptr{Int32})::Int32

"values[i] = the k(x, y) whose expected share of differing bits is distances[i]/bits"
mercer_codes_kernel(kernel, bits, count, distances, values) =
    @ccall libmercer.mercer_codes_kernel(kernel::Ptr{mercer_kernel}, bits::Int64, count::Int64, distances::Ptr{Int32}, values::Ptr{Float64})::Int32

"T vectors that stand for T classes, the columns of code"
mercer_simplex_code(code) =
    @ccall libmercer.mercer_simplex_code(code::mercer_matrix)::Int32

"Fits the model that a spec describes to data."
mercer_model_fit(json, data, context, out) =
    @ccall libmercer.mercer_model_fit(json::Cstring, data::Ptr{mercer_data}, context::Ptr{mercer_context}, out::Ptr{Ptr{mercer_model}})::Int32

"Predicts `what` for each row."
mercer_model_predict(model, X, what, options, context, out) =
    @ccall libmercer.mercer_model_predict(model::Ptr{mercer_model}, X::mercer_rows, what::Cstring, options::Ptr{mercer_predict_options}, context::Ptr{mercer_context}, out::mercer_matrix)::Int32

"Frees a model."
mercer_model_free(model) =
    @ccall libmercer.mercer_model_free(model::Ptr{mercer_model})::Cvoid

"Fills in *info, reading only its struct_size."
mercer_model_shape(model, info) =
    @ccall libmercer.mercer_model_shape(model::Ptr{mercer_model}, info::Ptr{mercer_model_info})::Int32

"A new handle on the model's map"
mercer_model_map(model, out) =
    @ccall libmercer.mercer_model_map(model::Ptr{mercer_model}, out::Ptr{Ptr{mercer_map}})::Int32

"The weights of the model"
mercer_model_weights(model, w, intercept) =
    @ccall libmercer.mercer_model_weights(model::Ptr{mercer_model}, w::mercer_matrix, intercept::mercer_matrix)::Int32

"A text of a model"
mercer_model_text(model, what, buffer, capacity, needed) =
    @ccall libmercer.mercer_model_text(model::Ptr{mercer_model}, what::Cstring, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Keeps any UTF-8 text of at most 1 MiB with the model and its file (names of columns and classes, say), replacing an earlier one."
mercer_model_set_metadata(model, text) =
    @ccall libmercer.mercer_model_set_metadata(model::Ptr{mercer_model}, text::Cstring)::Int32

"Derivatives of the features of rows."
mercer_map_derivative(map, X, what, context, out) =
    @ccall libmercer.mercer_map_derivative(map::Ptr{mercer_map}, X::mercer_rows, what::Ptr{mercer_derivative}, context::Ptr{mercer_context}, out::mercer_matrix)::Int32

"K(i, j) = d^{p,q} k(X_i, Y_j), exact"
mercer_kernel_derivative(kernel, X, Y, p, q, context, K) =
    @ccall libmercer.mercer_kernel_derivative(kernel::Ptr{mercer_kernel}, X::mercer_rows, Y::mercer_rows, p::Ptr{Int32}, q::Ptr{Int32}, context::Ptr{mercer_context}, K::mercer_matrix)::Int32

"\"test\" is \"mmd\" (one distribution? Gaussian and Laplacian kernels at several bandwidths, p-value from permutations), \"block_mmd\" (one kernel, normal p-value), \"kid\" (kernel inception distance) or \"hsic\" (does row i of Y depend on row i of X?)."
mercer_rows_test(json, X, Y, context, buffer, capacity, needed) =
    @ccall libmercer.mercer_rows_test(json::Cstring, X::mercer_rows, Y::mercer_rows, context::Ptr{mercer_context}, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Sums over no rows yet, for a test as of mercer_rows_test on m rows of X and n of Y."
mercer_rows_sums_create(json, m, n, X, Y, context, out) =
    @ccall libmercer.mercer_rows_sums_create(json::Cstring, m::Int64, n::Int64, X::mercer_rows, Y::mercer_rows, context::Ptr{mercer_context}, out::Ptr{Ptr{mercer_rows_sums}})::Int32

"Adds rows first, first + 1, ..."
mercer_rows_sums_add(sums, side, first, X, context) =
    @ccall libmercer.mercer_rows_sums_add(sums::Ptr{mercer_rows_sums}, side::Int32, first::Int64, X::mercer_rows, context::Ptr{mercer_context})::Int32

"sums += sign other, sign 1 or -1"
mercer_rows_sums_merge(sums, sign, other) =
    @ccall libmercer.mercer_rows_sums_merge(sums::Ptr{mercer_rows_sums}, sign::Int32, other::Ptr{mercer_rows_sums})::Int32

"Sums of all processes, in each, by a callback as of mercer_row_source"
mercer_rows_sums_reduce(sums, sum, user) =
    @ccall libmercer.mercer_rows_sums_reduce(sums::Ptr{mercer_rows_sums}, sum::Ptr{Cvoid}, user::Ptr{Cvoid})::Int32

"The answer of mercer_rows_test."
mercer_rows_sums_answer(sums, context, buffer, capacity, needed) =
    @ccall libmercer.mercer_rows_sums_answer(sums::Ptr{mercer_rows_sums}, context::Ptr{mercer_context}, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Frees sums."
mercer_rows_sums_free(sums) =
    @ccall libmercer.mercer_rows_sums_free(sums::Ptr{mercer_rows_sums})::Cvoid

"All-zero statistics of D >= 1 features and m >= 0 outputs."
mercer_statistics_create(D, m, out) =
    @ccall libmercer.mercer_statistics_create(D::Int64, m::Int64, out::Ptr{Ptr{mercer_statistics}})::Int32

"Adds the rows of a block (sign 1), or removes them again (sign -1)."
mercer_statistics_add(statistics, sign, Z, Y, context) =
    @ccall libmercer.mercer_statistics_add(statistics::Ptr{mercer_statistics}, sign::Int32, Z::mercer_rows, Y::mercer_rows, context::Ptr{mercer_context})::Int32

"statistics += sign other, sign 1 or -1"
mercer_statistics_merge(statistics, sign, other) =
    @ccall libmercer.mercer_statistics_merge(statistics::Ptr{mercer_statistics}, sign::Int32, other::Ptr{mercer_statistics})::Int32

"Rows n, features D and outputs m."
mercer_statistics_shape(statistics, shape) =
    @ccall libmercer.mercer_statistics_shape(statistics::Ptr{mercer_statistics}, shape::Ptr{mercer_shape})::Int32

"Copies out the sums about zero."
mercer_statistics_get(statistics, gram, cross, sum_z, sum_y, sum_y2) =
    @ccall libmercer.mercer_statistics_get(statistics::Ptr{mercer_statistics}, gram::mercer_matrix, cross::mercer_matrix, sum_z::mercer_matrix, sum_y::mercer_matrix, sum_y2::mercer_matrix)::Int32

"The inverse of mercer_statistics_get"
mercer_statistics_set(statistics, n, gram, cross, sum_z, sum_y, sum_y2) =
    @ccall libmercer.mercer_statistics_set(statistics::Ptr{mercer_statistics}, n::Int64, gram::mercer_rows, cross::mercer_rows, sum_z::mercer_rows, sum_y::mercer_rows, sum_y2::mercer_rows)::Int32

"Frees statistics."
mercer_statistics_free(statistics) =
    @ccall libmercer.mercer_statistics_free(statistics::Ptr{mercer_statistics})::Cvoid

"Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL"
mercer_map_write(map, path, buffer, capacity, needed) =
    @ccall libmercer.mercer_map_write(map::Ptr{mercer_map}, path::Cstring, buffer::Ptr{Cvoid}, capacity::Int64, needed::Ptr{Int64})::Int32

"Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL"
mercer_model_write(model, path, buffer, capacity, needed) =
    @ccall libmercer.mercer_model_write(model::Ptr{mercer_model}, path::Cstring, buffer::Ptr{Cvoid}, capacity::Int64, needed::Ptr{Int64})::Int32

"Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL"
mercer_statistics_write(statistics, path, buffer, capacity, needed) =
    @ccall libmercer.mercer_statistics_write(statistics::Ptr{mercer_statistics}, path::Cstring, buffer::Ptr{Cvoid}, capacity::Int64, needed::Ptr{Int64})::Int32

"Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL"
mercer_attention_write(attention, path, buffer, capacity, needed) =
    @ccall libmercer.mercer_attention_write(attention::Ptr{mercer_attention}, path::Cstring, buffer::Ptr{Cvoid}, capacity::Int64, needed::Ptr{Int64})::Int32

"Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL"
mercer_rows_sums_write(rows_sums, path, buffer, capacity, needed) =
    @ccall libmercer.mercer_rows_sums_write(rows_sums::Ptr{mercer_rows_sums}, path::Cstring, buffer::Ptr{Cvoid}, capacity::Int64, needed::Ptr{Int64})::Int32

"Reads an object from the file `path`, with data NULL and size 0"
mercer_map_read(path, data, size, out) =
    @ccall libmercer.mercer_map_read(path::Cstring, data::Ptr{Cvoid}, size::Int64, out::Ptr{Ptr{mercer_map}})::Int32

"Reads an object from the file `path`, with data NULL and size 0"
mercer_model_read(path, data, size, out) =
    @ccall libmercer.mercer_model_read(path::Cstring, data::Ptr{Cvoid}, size::Int64, out::Ptr{Ptr{mercer_model}})::Int32

"Reads an object from the file `path`, with data NULL and size 0"
mercer_statistics_read(path, data, size, out) =
    @ccall libmercer.mercer_statistics_read(path::Cstring, data::Ptr{Cvoid}, size::Int64, out::Ptr{Ptr{mercer_statistics}})::Int32

"Reads an object from the file `path`, with data NULL and size 0"
mercer_attention_read(path, data, size, out) =
    @ccall libmercer.mercer_attention_read(path::Cstring, data::Ptr{Cvoid}, size::Int64, out::Ptr{Ptr{mercer_attention}})::Int32

"Reads an object from the file `path`, with data NULL and size 0"
mercer_rows_sums_read(path, data, size, out) =
    @ccall libmercer.mercer_rows_sums_read(path::Cstring, data::Ptr{Cvoid}, size::Int64, out::Ptr{Ptr{mercer_rows_sums}})::Int32

"What a file or its bytes hold, as JSON"
mercer_file_info(path, data, size, buffer, capacity, needed) =
    @ccall libmercer.mercer_file_info(path::Cstring, data::Ptr{Cvoid}, size::Int64, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Decomposes a copy of the statistics' Gram matrix."
mercer_ridge_create(statistics, center, context, out) =
    @ccall libmercer.mercer_ridge_create(statistics::Ptr{mercer_statistics}, center::Int32, context::Ptr{mercer_context}, out::Ptr{Ptr{mercer_ridge}})::Int32

"Rows the statistics held, D features, m outputs."
mercer_ridge_shape(ridge, shape) =
    @ccall libmercer.mercer_ridge_shape(ridge::Ptr{mercer_ridge}, shape::Ptr{mercer_shape})::Int32

"The weights for one penalty."
mercer_ridge_solve(ridge, penalty, w, intercept) =
    @ccall libmercer.mercer_ridge_solve(ridge::Ptr{mercer_ridge}, penalty::Float64, w::mercer_matrix, intercept::mercer_matrix)::Int32

"Mean squared error of each output on held-out rows"
mercer_ridge_error(ridge, penalty, held_out, error, dimension) =
    @ccall libmercer.mercer_ridge_error(ridge::Ptr{mercer_ridge}, penalty::Float64, held_out::Ptr{mercer_statistics}, error::mercer_matrix, dimension::Ptr{Float64})::Int32

"Ridge leverage score of each feature, l_j = z_j'(ZZ' + n lambda I)^{-1} z_j with z_j a column of Z."
mercer_ridge_leverage(ridge, penalty, scores) =
    @ccall libmercer.mercer_ridge_leverage(ridge::Ptr{mercer_ridge}, penalty::Float64, scores::mercer_matrix)::Int32

"Leave-one-out residual of each training row, (y - Zw)_i/(1 - H_ii), with n lambda held fixed."
mercer_ridge_leave_one_out(ridge, penalty, Z, Y, context, residuals) =
    @ccall libmercer.mercer_ridge_leave_one_out(ridge::Ptr{mercer_ridge}, penalty::Float64, Z::mercer_rows, Y::mercer_rows, context::Ptr{mercer_context}, residuals::mercer_matrix)::Int32

"Frees a decomposition."
mercer_ridge_free(ridge) =
    @ccall libmercer.mercer_ridge_free(ridge::Ptr{mercer_ridge})::Cvoid

"The weights for one penalty without a decomposition"
mercer_ridge_weights(statistics, Z, Y, center, penalty, context, w, intercept) =
    @ccall libmercer.mercer_ridge_weights(statistics::Ptr{mercer_statistics}, Z::mercer_rows, Y::mercer_rows, center::Int32, penalty::Float64, context::Ptr{mercer_context}, w::mercer_matrix, intercept::mercer_matrix)::Int32

"How well predictions fit the targets Y of the same rows"
mercer_prediction_score(predictions, Y, K, options, context, score) =
    @ccall libmercer.mercer_prediction_score(predictions::mercer_rows, Y::mercer_rows, K::Int64, options::Ptr{mercer_score_options}, context::Ptr{mercer_context}, score::Ptr{Float64})::Int32

"Whether this machine computes what every other does, and how fast, as JSON (\"Self-test\" in GUIDE.md)"
mercer_self_test(context, buffer, capacity, needed) =
    @ccall libmercer.mercer_self_test(context::Ptr{mercer_context}, buffer::Ptr{UInt8}, capacity::Int64, needed::Ptr{Int64})::Int32

"Walsh-Hadamard transform of every row, in place and unnormalised"
mercer_fwht(X, context) =
    @ccall libmercer.mercer_fwht(X::mercer_matrix, context::Ptr{mercer_context})::Int32
