# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Fits and predictions.

"""
    Model(json, X, Y = nothing; weights = nothing, groups = nothing, map = nothing, context = nothing)

weights: a number >= 0 for each column of X. groups: numbers; columns of one number are never on both sides of a split. map: in place of
the spec's.
"""
function Model(json::AbstractString, X, Y = nothing; weights = nothing, groups = nothing, map = nothing, context = nothing)
    x, y, g = Rows(X), Rows(Y), Rows(groups)
    w = weights === nothing ? Float64[] : convert(Vector{Float64}, weights)
    weights === nothing || length(w) == x.view.n ||
        throw(DimensionMismatch("$(length(w)) weights, expected one for each of $(x.view.n) rows"))
    GC.@preserve x y g w map begin
        data = Ref(mercer_data(; X = x.view, Y = y.view, groups = g.view, weights = weights === nothing ? C_NULL : pointer(w),
                               map = map === nothing ? C_NULL : map.pointer))
        made((running, out) -> mercer_model_fit(json, data, running, out), Model, context)
    end
end

"""
    Model(json, source::Function; map = nothing, sum = nothing, context = nothing)

Of rows that are not in memory: source() opens something that iterates over blocks (X, Y) or (X, Y, weights) of some thousand columns, as
often as the fit reads them; it chooses only lambda. Several processes share them where sum(numbers) replaces a vector by its sum over
all, such as `numbers -> MPI.Allreduce!(numbers, +, comm)`.
"""
function Model(json::AbstractString, source::Function; map = nothing, sum = nothing, context = nothing)
    running_in = context === nothing ? Context() : context
    blocks = Source(source, sum, running_in)
    view = Ref(described(blocks))
    GC.@preserve blocks view map begin
        data = Ref(mercer_data(; source = Base.unsafe_convert(Ptr{mercer_row_source}, view), map = map === nothing ? C_NULL : map.pointer))
        made((running, out) -> mercer_model_fit(json, data, running, out), Model, running_in)
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

"\"report\", \"spec\" or \"metadata\" of a model, as text."
report(model::Model, what = "report") =
    text((buffer, capacity, needed) -> mercer_model_text(model, what, buffer, capacity, needed))

"Keeps any text with the model and its file: names of columns and classes, say."
metadata!(model::Model, words) = check(mercer_model_set_metadata(model, words))

"How many numbers of `what` there are for each of so many columns."
function numbers_of(what, model, columns, levels, orders, samples)
    what == "prepared" && return shape(Map(model)).inputs
    info = shape(model)
    m, d = info.outputs, info.inputs
    known = Dict("class" => 1, "divergence" => 1, "potential" => 1, "stream" => 1, "curl" => div(d * (d - 1), 2), "preimage" => d,
                 "covariance" => m * m, "joint_covariance" => columns * m * m, "quantile" => m * levels, "partials" => m * orders,
                 "sample" => m * max(0, samples), "gradient" => m * d, "gradient_variance" => m * d, "hessian_diagonal" => m * d)
    get(known, what, m)
end

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
    met, inputs = zeros(Int64, 3), zeros(Int64, d)
    f = zeros(numbers_of(what, model, x.view.n, length(levels), count, samples), x.view.n)
    GC.@preserve levels orders met inputs begin
        options = Ref(mercer_predict_options(; extrapolation = EXTRAPOLATIONS[how], rows_outside = pointer(met, 1), values_outside = pointer(met, 2),
                                             predictions_limited = pointer(met, 3), inputs_outside = pointer(inputs), sample_count = samples, seed,
                                             partial_count = count, partials = count == 0 ? C_NULL : pointer(orders),
                                             quantile_count = length(levels), quantiles = isempty(levels) ? C_NULL : pointer(levels)))
        run(running -> mercer_model_predict(model, x, what, options, running, Result(f)), context)
    end
    return_outside ? (f, (rows = met[1], values = met[2], inputs = inputs, predictions_limited = met[3])) : f
end
