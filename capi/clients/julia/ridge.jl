# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Gaussian ridge regression on random Fourier features, in Julia with its standard library alone: map, statistics by blocks
# of rows, ridge, prediction; how far the features are from the exact kernel; a file; what an error says.
# A d×n array of Julia's holds n rows of d numbers as the library reads them: columns here are rows there.
# Usage: julia ridge.jl LIBMERCER.SO [FILE]
using LinearAlgebra

const libmercer = ARGS[1]

"mercer_rows over an array, which must be preserved while the view is used."
struct Rows
    struct_size::UInt32
    number::Int32
    index::Int32
    reserved::Int32
    n::Int64
    d::Int64
    ld::Int64
    nnz::Int64
    values::Ptr{Cvoid}
    offsets::Ptr{Cvoid}
    indices::Ptr{Cvoid}
end

"mercer_matrix over an array, likewise."
struct MatrixView
    struct_size::UInt32
    number::Int32
    rows::Int64
    cols::Int64
    ld::Int64
    data::Ptr{Cvoid}
end

const F64 = 1  # MERCER_NUMBER_F64
const Handle = Ptr{Cvoid}

rows(X) = Rows(sizeof(Rows), F64, 0, 0, size(X, 2), size(X, 1), size(X, 1), 0, pointer(X), C_NULL, C_NULL)
matrix(Z) = MatrixView(sizeof(MatrixView), F64, size(Z, 2), size(Z, 1), size(Z, 1), pointer(Z))
const no_rows = Rows(0, 0, 0, 0, 0, 0, 0, 0, C_NULL, C_NULL, C_NULL)

"A failed call as an exception; the text names function, argument, value and expectation. No task switches between the two calls."
check(status) = status == 0 || error(unsafe_string(@ccall libmercer.mercer_last_error()::Cstring))

"The handle that `create` writes through its argument."
function make(create)
    out = Ref{Handle}(C_NULL)
    check(create(out))
    out[]
end

function features(map, X, D)
    Z = zeros(D, size(X, 2))
    GC.@preserve X Z check(@ccall libmercer.mercer_map_transform(map::Handle, rows(X)::Rows, C_NULL::Ptr{Cvoid},
                                                                 C_NULL::Handle, matrix(Z)::MatrixView)::Int32)
    Z
end

"Weights and intercept from statistics added up block by block, so that one block of features is in memory."
function fit(map, X, y, D)
    statistics = make(out -> @ccall libmercer.mercer_statistics_create(D::Int64, 1::Int64, out::Ref{Handle})::Int32)
    for block in Iterators.partition(axes(X, 2), 256)
        Z, targets = features(map, X[:, block], D), y[:, block]
        GC.@preserve Z targets check(@ccall libmercer.mercer_statistics_add(
            statistics::Handle, 1::Int32, rows(Z)::Rows, rows(targets)::Rows, C_NULL::Handle)::Int32)
    end
    ridge = make(out -> @ccall libmercer.mercer_ridge_create(statistics::Handle, 1::Int32, C_NULL::Handle,
                                                             out::Ref{Handle})::Int32)
    w, intercept = zeros(1, D), zeros(1, 1)
    GC.@preserve w intercept check(@ccall libmercer.mercer_ridge_solve(
        ridge::Handle, 1e-6::Float64, matrix(w)::MatrixView, matrix(intercept)::MatrixView)::Int32)
    @ccall libmercer.mercer_ridge_free(ridge::Handle)::Cvoid
    @ccall libmercer.mercer_statistics_free(statistics::Handle)::Cvoid
    vec(w), intercept[1]
end

"Largest |z(x)'z(y) - k(x, y)| over pairs of the rows."
function kernel_error(kernel, X, Z)
    K = zeros(size(X, 2), size(X, 2))
    GC.@preserve X K check(@ccall libmercer.mercer_kernel_gram(kernel::Handle, rows(X)::Rows, rows(X)::Rows,
                                                               no_rows::Rows, C_NULL::Handle, matrix(K)::MatrixView)::Int32)
    maximum(abs, Z'Z - K)
end

"Numbers in [-1, 1), the same everywhere."
function uniform(d, n)
    state = UInt64(1)
    X = zeros(d, n)
    for i in eachindex(X)
        state = state * 0x5851f42d4c957f2d + 0x14057b7ef767814f
        X[i] = (state >> 11) / 4503599627370496.0 - 1.0
    end
    X
end

function main()
    path = length(ARGS) > 1 ? ARGS[2] : "ridge_julia.mercer"
    n, d, D, probes = 2000, 3, 512, 50
    X = uniform(d, n)
    y = reshape(sin.(3 .* X[1, :]) .+ X[2, :] .* X[3, :], 1, n)

    create(inputs) = make(out -> @ccall libmercer.mercer_map_from_spec(
        """{"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":0.7},
            "inputs":$inputs,"features":$D,"seed":42}"""::Cstring, out::Ref{Handle})::Int32)
    map = create(d)
    kernel = make(out -> @ccall libmercer.mercer_map_kernel(map::Handle, out::Ref{Handle})::Int32)

    w, intercept = fit(map, X, y, D)
    Z = features(map, X, D)
    relative = norm(vec(y) - Z'w .- intercept) / norm(y)
    worst = kernel_error(kernel, X[:, 1:probes], Z[:, 1:probes])
    println("relative error $relative, largest kernel error $worst")

    check(@ccall libmercer.mercer_map_write(map::Handle, path::Cstring, C_NULL::Ptr{Cvoid}, 0::Int64, C_NULL::Ptr{Int64})::Int32)
    loaded = make(out -> @ccall libmercer.mercer_map_read(path::Cstring, C_NULL::Ptr{Cvoid}, 0::Int64, out::Ref{Handle})::Int32)
    same = features(loaded, X[:, 1:probes], D) == Z[:, 1:probes]

    refused = try
        create(-3)
        false
    catch failure
        println("an error says: ", failure.msg)
        occursin("-3", failure.msg)
    end
    @ccall libmercer.mercer_map_free(loaded::Handle)::Cvoid
    @ccall libmercer.mercer_map_free(map::Handle)::Cvoid
    @ccall libmercer.mercer_kernel_free(kernel::Handle)::Cvoid
    # Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
    relative < 0.01 && worst < 6 * sqrt(1.5 / D) && same && refused
end

exit(main() ? 0 : 1)
