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

using Libdl, SparseArrays

export Context, Kernel, Map, MercerError, Model, gram, predict, transform, transform!

const libmercer = "libmercer.so.0.1"
# Loaded here under whatever name, it is what @ccall finds by its own.
__init__() = dlopen(get(ENV, "MERCER_LIBRARY", libmercer))

include("raw.jl")
include("context.jl")
include("arrays.jl")

"A kernel, map or model of the library."
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

free(kernel::Kernel) = mercer_kernel_free(kernel)
free(map::Map) = mercer_map_free(map)
free(model::Model) = mercer_model_free(model)

"The handle that a call(context, out) writes."
function made(call, ::Type{Handle{T}}, context = nothing) where {T}
    out = Ref{Ptr{T}}(C_NULL)
    run(running -> call(running, out), context)
    Handle{T}(out[])
end

Kernel(json::AbstractString) = made((_, out) -> mercer_kernel_from_spec(json, out), Kernel)
Map(json::AbstractString) = made((_, out) -> mercer_map_from_spec(json, out), Map)

function Map(json::AbstractString, X; context = nothing)
    x = Rows(X)
    data = Ref(mercer_map_data(; X = x.view))
    GC.@preserve x made((running, out) -> mercer_map_fit(json, data, running, out), Map, context)
end

"`weights`: a number for each row. Without targets: Y = nothing."
function Model(json::AbstractString, X, Y; weights = nothing, context = nothing)
    x, y = Rows(X), Rows(Y)
    w = weights === nothing ? Float64[] : convert(Vector{Float64}, weights)
    weights === nothing || length(w) == x.view.n ||
        throw(DimensionMismatch("$(length(w)) weights, expected one for each of $(x.view.n) rows"))
    GC.@preserve x y w begin
        data = Ref(mercer_data(; X = x.view, Y = y.view, weights = weights === nothing ? C_NULL : pointer(w)))
        made((running, out) -> mercer_model_fit(json, data, running, out), Model, context)
    end
end

"The kernel that a map's features estimate."
Kernel(map::Map) = made((_, out) -> mercer_map_kernel(map, out), Kernel)

function shape(map::Map)
    info = Ref(mercer_map_info())
    check(mercer_map_shape(map, info))
    info[]
end

function shape(model::Model)
    info = Ref(mercer_model_info())
    check(mercer_model_shape(model, info))
    info[]
end

spec(kernel::Kernel) = text((buffer, capacity, needed) -> mercer_kernel_spec(kernel, buffer, capacity, needed))
spec(map::Map) = text((buffer, capacity, needed) -> mercer_map_spec(map, buffer, capacity, needed))
spec(model::Model) = report(model, "spec")
Base.show(io::IO, handle::Handle) = print(io, spec(handle))

"\"report\", \"spec\" or \"metadata\" of a model, as text."
report(model::Model, what = "report") =
    text((buffer, capacity, needed) -> mercer_model_text(model, what, buffer, capacity, needed))

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

"`columns` numbers for each row, as a column: \"value\", \"class\", \"probability\", \"predictive_variance\", ... (mercer/model.h)."
function predict(model::Model, X, what = "value"; columns = what == "class" ? 1 : shape(model).outputs, context = nothing)
    x = Rows(X)
    f = zeros(columns, x.view.n)
    run(running -> mercer_model_predict(model, x, what, C_NULL, running, Result(f)), context)
    f
end

include("spec.jl")

save(path, map::Map) = check(mercer_map_write(map, path, C_NULL, 0, C_NULL))
save(path, model::Model) = check(mercer_model_write(model, path, C_NULL, 0, C_NULL))
load(::Type{Map}, path) = made((_, out) -> mercer_map_read(path, C_NULL, 0, out), Map)
load(::Type{Model}, path) = made((_, out) -> mercer_model_read(path, C_NULL, 0, out), Model)

end
