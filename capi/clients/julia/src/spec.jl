# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Specs by keywords in place of JSON text.

"""
A spec of a `Kernel`, `Map`, `Model`, ..., which take it as they take JSON text:

    matern = Mercer.Kernels.matern(nu = 1.5, lengthscale = [2, 1, 0.5])
    map = Map(Mercer.Maps.fourier(kernel = matern, inputs = 3, features = 512))

What a key means, its range and default: `mercer specs NAME`. A key that is a word of Julia has a _ behind it: `local_`.
"""
struct Spec{kind}
    json::String
end
Base.show(io::IO, spec::Spec) = print(io, spec.json)
Base.String(spec::Spec) = spec.json
Base.cconvert(::Type{Cstring}, spec::Spec) = Base.cconvert(Cstring, spec.json)  # of every function that takes JSON

Kernel(spec::Spec{:Kernel}) = Kernel(spec.json)
Map(spec::Spec{:Map}, rows...; options...) = Map(spec.json, rows...; options...)
Model(spec::Spec{:Model}, rows...; options...) = Model(spec.json, rows...; options...)

const Numbers = AbstractVector{<:Real}
const NumberOrNumbers = Union{Real, Numbers}
"Lists of numbers, or numbers: of a matrix the rows."
const Lists = Union{AbstractVector, AbstractMatrix{<:Real}}
const OfKernel = Union{Spec{:Kernel}, Kernel}

json(spec::Spec) = spec.json
json(kernel::Kernel) = spec(kernel)
json(value::Integer) = string(value)
json(list::AbstractVector) = string("[", join(map(json, list), ","), "]")
json(matrix::AbstractMatrix) = json(collect(eachrow(matrix)))

function json(value::Real)
    written = Float64(value)
    isfinite(written) || throw(ArgumentError("$value, expected a finite number"))
    string(written)
end

"JSON knows no `\\u{...}`, and control characters by their number alone."
function json(text::AbstractString)
    plain(c) = c < ' ' || c in ('"', '\\') ? "\\u" * string(UInt32(c), base = 16, pad = 4) : string(c)
    string('"', join(map(plain, collect(text))), '"')
end

fits(value, kind) = value isa kind
fits(list, ::Type{Vector{T}}) where {T} = list isa AbstractVector && all(part -> part isa T, list)  # whatever the list's own type

"The spec of values, whose keys and kinds have to be those of `kinds`; key and name are those of the entry, if it is named."
function entry(kind, key, name, values, kinds)
    parts = name == "" ? String[] : [string(json(key), ":", json(name))]
    for (given, value) in pairs(values)
        haskey(kinds, given) || throw(ArgumentError("$kind $name has no key $given, expected one of $(join(keys(kinds), ", "))"))
        fits(value, kinds[given]) || throw(ArgumentError("$given of $kind $name is a $(typeof(value)), expected a $(kinds[given])"))
        push!(parts, string(json(rstrip(string(given), '_')), ":", json(value)))
    end
    Spec{kind}(string("{", join(parts, ","), "}"))
end
