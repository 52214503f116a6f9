# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Fits and predictions.

"Numbers for C, none of nothing; else so many as there are columns or inputs."
function vector_of(T, given, count, name)
    given === nothing && return T[]
    length(given) == count || throw(DimensionMismatch("$(length(given)) numbers of $name, expected $count"))
    convert(Vector{T}, given)
end

"Where they are, while they are preserved."
place(numbers) = isempty(numbers) ? C_NULL : pointer(numbers)

"""
    Model(json, X, Y = nothing; weights = nothing, groups = nothing, map = nothing, context = nothing)

weights: a number >= 0 for each column of X. groups: numbers; columns of one number are never on both sides of a split. map: in place of
the spec's.
"""
function Model(json::AbstractString, X, Y = nothing; weights = nothing, groups = nothing, map::Union{Map, Nothing} = nothing, context = nothing)
    x, y, g = Rows(X), Rows(Y), Rows(groups)
    w = vector_of(Float64, weights, x.view.n, "weights")
    GC.@preserve x y g w map begin
        data = Ref(mercer_data(; X = x.view, Y = y.view, groups = g.view, weights = place(w), map = map === nothing ? C_NULL : map.pointer))
        made((running, out) -> mercer_model_fit(json, data, running, out), Model, context)
    end
end

"""
    update(model, json, X, Y; weights = nothing, context = nothing)

The model of its rows, if its spec says `"keep": "sums"`, and of these columns; `{"remove": true}` takes them away, `{"decay": 0.9}`
multiplies the weights of the columns before.
"""
function update(model::Model, json::AbstractString, X, Y; weights = nothing, context = nothing)
    x, y = Rows(X), Rows(Y)
    w = vector_of(Float64, weights, x.view.n, "weights")
    GC.@preserve x y w model begin
        data = Ref(mercer_data(; X = x.view, Y = y.view, weights = place(w)))
        made((running, out) -> mercer_model_update(model, json, data, running, out), Model, context)
    end
end

"""
    Model(json, source::Function; map = nothing, sum = nothing, context = nothing)

Of rows that are not in memory: source() opens something that iterates over blocks (X, Y) or (X, Y, weights) of some thousand columns, as
often as the fit reads them. Several processes share them where sum(numbers) replaces a vector by its sum over
all, such as `numbers -> MPI.Allreduce!(numbers, +, comm)`.
"""
function Model(json::AbstractString, source::Function; map::Union{Map, Nothing} = nothing, sum = nothing, context = nothing)
    running_in = context === nothing ? Context() : context
    blocks = Source(source, sum, running_in)
    view = Ref(described(blocks))
    GC.@preserve blocks view map begin
        data = Ref(mercer_data(; source = Base.unsafe_convert(Ptr{mercer_row_source}, view), map = map === nothing ? C_NULL : map.pointer))
        made((running, out) -> mercer_model_fit(json, data, running, out), Model, running_in)
    end
end

"""
    Observations(; X, Y, partial = nothing, weight = 1, row_weights = nothing)

Noisy values Y of a derivative of a function at columns X: partial, the order in each input, or nothing for the function itself;
weight > 0, such as 1 / variance of the noise, and a number >= 0 for each column.
"""
Base.@kwdef struct Observations
    X::Any
    Y::Any
    partial::Any = nothing
    weight::Float64 = 1
    row_weights::Any = nothing
end

"""
    Model(json, sets::Vector{Observations}; map = nothing, context = nothing)

Of values and derivatives.
"""
function Model(json::AbstractString, sets::Vector{Observations}; map::Union{Map, Nothing} = nothing, context = nothing)
    x, y = [Rows(set.X) for set in sets], [Rows(set.Y) for set in sets]
    partials = [vector_of(Int32, sets[i].partial, x[i].view.d, "partial") for i in eachindex(sets)]
    weights = [vector_of(Float64, sets[i].row_weights, x[i].view.n, "row_weights") for i in eachindex(sets)]
    GC.@preserve x y partials weights map begin
        views = [mercer_observations(; X = x[i].view, Y = y[i].view, weight = sets[i].weight, partial = place(partials[i]),
                                     row_weights = place(weights[i])) for i in eachindex(sets)]
        GC.@preserve views begin
            data = Ref(mercer_data(; sets = pointer(views), set_count = length(views), map = map === nothing ? C_NULL : map.pointer))
            made((running, out) -> mercer_model_fit(json, data, running, out), Model, context)
        end
    end
end

"The map of a model, of columns as predict(model, X, \"prepared\") gives them."
Map(model::Model) = made((_, out) -> mercer_model_map(model, out), Map)

function shape(model::Model)
    info = Ref(mercer_model_info())
    check(mercer_model_shape(model, info))
    info[]
end

spec(model::Model) = report(model, "spec")

"\"report\", \"spec\", \"norms\", \"preparation\", \"numbers\" or \"metadata\" of a model, as text."
report(model::Model, what = "report") =
    text((buffer, capacity, needed) -> mercer_model_text(model, what, buffer, capacity, needed))

"""
w and intercept of a linear model, from features of prepared inputs to transformed targets: m × D, of a complex map m × 2 D, Re w and
-Im w in turn, and m × 1. Of a map of several outputs: `mercer_model_weights` in mercer/model.h.
"""
function weights(model::Model)
    info = shape(model)
    w, intercept = zeros(info.outputs, info.weight_rows), zeros(info.outputs, 1)
    check(mercer_model_weights(model, Result(w), Result(intercept)))
    (w, intercept)
end

"Keeps any text with the model and its file: names of columns and classes, say."
metadata!(model::Model, words) = check(mercer_model_set_metadata(model, words))

const EXTRAPOLATIONS = (default = MERCER_EXTRAPOLATION_DEFAULT, clip = MERCER_EXTRAPOLATION_CLIP, free = MERCER_EXTRAPOLATION_FREE,
                        refuse = MERCER_EXTRAPOLATION_REFUSE)

"""
    predict(model, X, what = "value"; quantiles, partials, samples, seed, extrapolation = :default, return_outside = false, context)

A column for each column of X: "value", "class", "probability", "predictive_variance", "quantile" (of levels between 0 and 1), "sample" (so
many draws, by seed), "gradient", "partials" (d × k orders, a column for each partial), ... as in mercer/model.h. extrapolation: what is
done with inputs outside the range of the training rows: :default (as the model was fitted), :clip, :free or :refuse. return_outside:
the answer is a pair, its second (rows, values, inputs, predictions_limited): how many columns have such an input, how many such inputs
there are, in how many columns each input is one, and how many predictions were limited; -1 where a model has no ranges.
"""
function predict(model::Model, X, what = "value"; quantiles = Float64[], partials = zeros(Int32, 0, 0), samples = 0, seed = 0,
                 extrapolation = :default, return_outside = false, context = nothing)
    x, d, how = Rows(X), shape(model).inputs, Symbol(extrapolation)
    haskey(EXTRAPOLATIONS, how) || throw(ArgumentError("extrapolation = $how, expected one of $(keys(EXTRAPOLATIONS))"))
    levels, orders = collect(Float64, quantiles), Array{Int32}(partials)
    count = isempty(orders) ? 0 : size(orders, 2)
    count == 0 || size(orders, 1) == d || throw(DimensionMismatch("partials of $(size(orders, 1)) orders, expected one for each of $d inputs"))
    met, inputs, numbers = zeros(Int64, 3), zeros(Int64, d), zeros(Int64, 1)
    f = zeros(0, 0)
    GC.@preserve levels orders met inputs numbers begin
        options = Ref(mercer_predict_options(; extrapolation = EXTRAPOLATIONS[how], rows_outside = pointer(met, 1), values_outside = pointer(met, 2),
                                             predictions_limited = pointer(met, 3), inputs_outside = pointer(inputs), sample_count = samples, seed,
                                             partial_count = count, partials = place(orders),
                                             quantile_count = length(levels), quantiles = place(levels), columns = pointer(numbers)))
        check(mercer_model_predict(model, x, what, options, C_NULL, mercer_matrix(struct_size = 0)))  # asks for the numbers alone
        f = zeros(numbers[1], x.view.n)
        run(running -> mercer_model_predict(model, x, what, options, running, Result(f)), context)
    end
    return_outside ? (f, (rows = met[1], values = met[2], inputs = inputs, predictions_limited = met[3])) : f
end
