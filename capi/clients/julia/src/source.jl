# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Rows of a fit that are not in memory: the callbacks of mercer_row_source.

"Blocks of rows, which `open` gives from the first on as often as a fit reads them."
mutable struct Source
    open::Any
    sum::Any
    context::Context
    blocks::Any  # of this pass
    step::Any    # what iterate gave last, a block and a state; nothing: the end
    ahead::Bool  # whether C has not asked for any block of this pass
    kept::Any    # what C reads until its next call
end

function Source(open, sum, context)
    source = Source(open, sum, context, nothing, nothing, false, nothing)
    restart!(source)
    source.step === nothing && throw(ArgumentError("a source without blocks, expected (X, Y) or (X, Y, weights), of no columns where there are none"))
    source
end

function restart!(source::Source)
    source.blocks = source.open()
    source.step = iterate(source.blocks)
    source.ahead = true
end

across(x::AbstractVector) = permutedims(x)
across(X) = X

"Rows of X and of Y, with a last column of weights where a block has them."
block_rows(X, Y) = (Rows(X), Rows(Y))
block_rows(X, Y, weights) = (Rows(X), Rows(Y === nothing ? weights : vcat(across(Y), across(weights))))

function rewind(user)::Int32
    source = unsafe_pointer_to_objref(user)::Source
    kept(source.context) do
        source.ahead || restart!(source)
    end
end

function next(user, X, Y)::Int32
    source = unsafe_pointer_to_objref(user)::Source
    kept(source.context) do
        while source.step !== nothing
            source.ahead || (source.step = iterate(source.blocks, source.step[2]))
            source.ahead = false
            source.step === nothing && break
            x, y = block_rows(source.step[1]...)
            source.kept = (x, y)
            x.view.n == y.view.n == 0 && continue  # which would be the end
            unsafe_store!(X, x.view)
            y.view.struct_size == 0 || unsafe_store!(Y, y.view)
            break
        end
    end
end

"What sums of rows are added up with over processes."
mutable struct Summing
    sum::Any
    context::Context
end

function add_up(user, n, numbers)::Int32
    owner = unsafe_pointer_to_objref(user)::Union{Source, Summing}
    before = owner.context.raised
    owner.context.raised = nothing  # a process that fails adds once more, which tells the others
    failed = kept(owner.context) do
        owner.sum(unsafe_wrap(Array, numbers, n))
    end
    before === nothing || (owner.context.raised = before)
    failed
end

"Sums of all processes, in each, by sum(numbers), which replaces a vector by its sum over all, as that of a source of `Model`."
function reduce!(sums::RowsSums, sum)
    summing = Summing(sum, Context())
    GC.@preserve summing begin
        user, added = pointer_from_objref(summing), @cfunction(add_up, Int32, (Ptr{Cvoid}, Int64, Ptr{Float64}))
        status = mercer_rows_sums_reduce(sums, added, user)  # takes no context that could be asked for the text
        summing.context.raised === nothing || throw(summing.context.raised)
        check(status)
    end
end

"For C, while the source is preserved; the first block tells the columns."
function described(source::Source)
    weighted = length(source.step[1]) == 3
    x, y = block_rows(source.step[1]...)
    mercer_row_source(; weighted, d = x.view.d, m = y.view.d - weighted, user = pointer_from_objref(source),
                      rewind = @cfunction(rewind, Int32, (Ptr{Cvoid},)),
                      next = @cfunction(next, Int32, (Ptr{Cvoid}, Ptr{mercer_rows}, Ptr{mercer_rows})),
                      sum = source.sum === nothing ? C_NULL : @cfunction(add_up, Int32, (Ptr{Cvoid}, Int64, Ptr{Float64})))
end
