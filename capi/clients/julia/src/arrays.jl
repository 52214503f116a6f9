# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Columns of arrays as the rows that C reads, and arrays that it writes.

const Floats = Union{Float32, Float64}

number(::Type{Float32}) = MERCER_NUMBER_F32
number(::Type{Float64}) = MERCER_NUMBER_F64
number(::Type{ComplexF32}) = MERCER_NUMBER_C32
number(::Type{ComplexF64}) = MERCER_NUMBER_C64

"A view for C with the arrays that it points to."
struct Rows
    view::mercer_rows
    kept::Any
end
Base.cconvert(::Type{mercer_rows}, rows::Rows) = rows
Base.unsafe_convert(::Type{mercer_rows}, rows::Rows) = rows.view

"Rows that are not given."
const absent = mercer_rows(struct_size = 0)

Rows(rows::Rows) = rows
Rows(::Nothing) = Rows(absent, nothing)
Rows(x::AbstractVector{<:Real}) = Rows(Vector{Float64}(x))
Rows(x::AbstractVector{<:Floats}) = Rows(Vector(x))

"Without reshape, after which Julia before 1.11 lets no one push! to the vector."
function Rows(x::StridedVector{<:Floats})
    length(x) <= 1 || stride(x, 1) >= 1 || return Rows(Vector(x))
    ld = length(x) <= 1 ? 1 : stride(x, 1)
    Rows(mercer_rows(; number = number(eltype(x)), n = length(x), d = 1, ld, values = pointer(x)), x)
end
Rows(X::AbstractMatrix{<:Real}) = Rows(Matrix{Float64}(X))
Rows(X::AbstractMatrix{<:Floats}) = Rows(Matrix(X))

"Whether C can walk the array: numbers of a column side by side, each column after the one before."
apart(X) = (size(X, 1) <= 1 || stride(X, 1) == 1) && (size(X, 2) <= 1 || stride(X, 2) >= size(X, 1))
spacing(X) = size(X, 2) <= 1 ? size(X, 1) : stride(X, 2)

"Read in place where its layout allows it, else copied."
function Rows(X::StridedMatrix{<:Floats})
    apart(X) || return Rows(Matrix(X))
    d, n = size(X)
    Rows(mercer_rows(; number = number(eltype(X)), n, d, ld = spacing(X), values = pointer(X)), X)
end

"CSC by columns is CSR by rows, values read in place; C counts from 0, so that offsets and indices are copies."
function Rows(X::SparseMatrixCSC{<:Floats})
    d, n = size(X)
    offsets, indices, values = Int64.(SparseArrays.getcolptr(X)) .- 1, Int64.(rowvals(X)) .- 1, nonzeros(X)
    Rows(mercer_rows(; number = number(eltype(X)), index = MERCER_INDEX_I64, n, d, nnz = offsets[end], values = pointer(values),
                     offsets = pointer(offsets), indices = pointer(indices)), (offsets, indices, values))
end

"An array that C writes to."
struct Result
    view::mercer_matrix
    kept::Any
end
Base.cconvert(::Type{mercer_matrix}, result::Result) = result
Base.unsafe_convert(::Type{mercer_matrix}, result::Result) = result.view

function Result(Z::StridedMatrix)
    cols, rows = size(Z)
    apart(Z) || throw(ArgumentError("an array of strides $(strides(Z)), expected contiguous columns that ascend and do not overlap"))
    Result(mercer_matrix(; number = number(eltype(Z)), rows, cols, ld = spacing(Z), data = pointer(Z)), Z)
end
