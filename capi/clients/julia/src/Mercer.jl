# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Random feature maps of kernels, and models on them, by libmercer (or the library that `ENV["MERCER_LIBRARY"]` names).
Columns of a d×n matrix are rows of the library: the same bytes, read in place.

    map = Map(Mercer.Maps.fourier(kernel = Mercer.Kernels.gaussian(lengthscale = 1), inputs = 3, features = 512))
    Z = transform(map, X)              # 512×n; Z'Z is near the kernel matrix
    model = Model("{}", X, y)          # searched, and scored on rows that no choice has seen
    f = predict(model, T)

Handles are freed with their last reference, and any number of tasks may use one at once; a `Context` serves one call at a time.
"""
module Mercer

using Libdl, Serialization, SparseArrays

export Context, Kernel, Map, MercerError, Model, Observations, gram, lengthscale_median, predict, rows_test, transform, transform!

const libmercer = "libmercer.so.0.1"
# Loaded here under whatever name, it is what @ccall finds by its own.
__init__() = dlopen(get(ENV, "MERCER_LIBRARY", libmercer))

include("raw.jl")
include("context.jl")
include("arrays.jl")

"A kernel, map, model or sums of the library."
mutable struct Handle{T}
    pointer::Ptr{T}
    Handle{T}(pointer::Ptr{T}) where {T} = finalizer(free, new{T}(pointer))
end
Base.unsafe_convert(::Type{Ptr{T}}, handle::Handle{T}) where {T} = handle.pointer

"An exact kernel, from its spec, such as `{\"kernel\":\"matern\",\"lengthscale\":2}`."
const Kernel = Handle{mercer_kernel}
"A feature map, from its spec; with rows X where it is learnt from them."
const Map = Handle{mercer_map}
"Preparation, map and weights, of a spec and rows X with targets Y; `{}` searches whatever it leaves open."
const Model = Handle{mercer_model}
"What rows_test needs of rows that are not in memory."
const RowsSums = Handle{mercer_rows_sums}

free(kernel::Kernel) = mercer_kernel_free(kernel)
free(map::Map) = mercer_map_free(map)
free(model::Model) = mercer_model_free(model)
free(sums::RowsSums) = mercer_rows_sums_free(sums)

"The handle that a call(context, out) writes."
function made(call, ::Type{Handle{T}}, context = nothing) where {T}
    handle = Handle{T}(Ptr{T}(C_NULL))
    run(context) do running
        out = Ref{Ptr{T}}(C_NULL)
        status = call(running, out)
        handle.pointer = out[]  # so that it is freed even where a callback raised
        status
    end
    handle
end

Kernel(json::AbstractString) = made((_, out) -> mercer_kernel_from_spec(json, out), Kernel)
Map(json::AbstractString) = made((_, out) -> mercer_map_from_spec(json, out), Map)

"Learnt from columns X and targets Y."
function Map(json::AbstractString, X, Y = nothing; context = nothing)
    x, y = Rows(X), Rows(Y)
    data = Ref(mercer_map_data(; X = x.view, Y = y.view))
    GC.@preserve x y made((running, out) -> mercer_map_fit(json, data, running, out), Map, context)
end

"Fourier features of given frequencies, d × F, with weights >= 0 or 1/F each."
function with_frequencies(json, frequencies; weights = nothing)
    omega, w = Rows(frequencies), Rows(weights)
    data = Ref(mercer_map_data(; frequencies = omega.view, weights = w.view))
    GC.@preserve omega w made((_, out) -> mercer_map_fit(json, data, C_NULL, out), Map)
end

"The kernel that a map's features estimate."
Kernel(map::Map) = made((_, out) -> mercer_map_kernel(map, out), Kernel)

function shape(map::Map)
    info = Ref(mercer_map_info())
    check(mercer_map_shape(map, info))
    info[]
end

spec(kernel::Kernel) = text((buffer, capacity, needed) -> mercer_kernel_spec(kernel, buffer, capacity, needed))
spec(map::Map) = text((buffer, capacity, needed) -> mercer_map_spec(map, buffer, capacity, needed))
Base.show(io::IO, handle::Union{Kernel, Map, Model}) = print(io, spec(handle))

"What kernels, maps, projections and models there are, or those of a name: JSON."
specs(name = "") = text((buffer, capacity, needed) -> mercer_specs(name, buffer, capacity, needed))

version() = unsafe_string(mercer_version())

"The matrix of k(x, y), size(X, 2) × size(Y, 2), of a kernel of one output."
function gram(kernel::Kernel, X, Y = X; context = nothing)
    x, y = Rows(X), Rows(Y)
    K = zeros(x.view.n, y.view.n)
    # C writes K(y, x) row after row, which are the columns of K(x, y) here.
    run(running -> mercer_kernel_gram(kernel, y, x, absent, running, Result(K)), context)
    K
end

"The features of columns, one column for each (of maps of several outputs so many), in their precision; complex of a complex map."
function transform(map::Map, X; context = nothing)
    x, size = Rows(X), shape(map)
    T = x.view.number == MERCER_NUMBER_F32 ? Float32 : Float64
    Z = Matrix{size.is_complex == 0 ? T : Complex{T}}(undef, size.features, x.view.n * size.outputs)
    transform!(Z, map, x; context)
end

"The same into Z."
function transform!(Z, map::Map, X; context = nothing)
    x = Rows(X)
    run(running -> mercer_map_transform(map, x, C_NULL, running, Result(Z)), context)
    Z
end

"The same as a sparse matrix, of a map with few non-zeros in a column: random_binning."
function transform_csr(map::Map, X; context = nothing)
    x, size, needed = Rows(X), shape(map), Ref(Int64(0))
    check(mercer_map_transform_csr(map, x, C_NULL, C_NULL, C_NULL, C_NULL, 0, needed))
    offsets, indices, values = zeros(Int64, x.view.n + 1), zeros(Int64, needed[]), zeros(needed[])
    run(running -> mercer_map_transform_csr(map, x, running, offsets, indices, values, length(values), needed), context)
    SparseMatrixCSC(size.features, x.view.n, offsets .+ 1, indices .+ 1, values)
end

include("spec.jl")
include("entries.jl")
include("source.jl")
include("model.jl")
include("rows.jl")
include("files.jl")

end
