# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# What is asked of rows alone, and attention.

"The median of the distances between columns, of at most so many drawn pairs."
function lengthscale_median(X; max_pairs = 10^6, seed = 0, context = nothing)
    x, median = Rows(X), Ref(0.0)
    run(running -> mercer_lengthscale_median(x, max_pairs, seed, running, median), context)
    median[]
end

"A two-sample or independence test of columns, such as `{\"test\":\"mmd\"}`, block_mmd, kid or hsic: statistic, error and p-value as JSON."
function rows_test(json, X, Y = nothing; context = nothing)
    x, y = Rows(X), Rows(Y)
    answered((running, buffer, capacity, needed) -> mercer_rows_test(json, x, y, running, buffer, capacity, needed), max(x.view.n, y.view.n), context)
end

"Sums of m columns on side 0 and n on side 1, which `add!` gives in blocks. The pilot's columns, X and Y, are not added."
function RowsSums(json::AbstractString, m, n, X, Y; context = nothing)
    x, y = Rows(X), Rows(Y)
    made((running, out) -> mercer_rows_sums_create(json, m, n, x, y, running, out), RowsSums, context)
end
RowsSums(spec::Spec{:Test}, m, n, X, Y; context = nothing) = RowsSums(spec.json, m, n, X, Y; context)

"Columns number first, first + 1, ... (from 1) of side 0 or 1."
function add!(sums::RowsSums, side, first, X; context = nothing)
    x = Rows(X)
    run(running -> mercer_rows_sums_add(sums, side, first - 1, x, running), context)
end

"Adds the columns of another, or takes them away (sign -1)."
Base.merge!(sums::RowsSums, other::RowsSums; sign = 1) = check(mercer_rows_sums_merge(sums, sign, other))

"As of rows_test, once all columns are added."
rows_test(sums::RowsSums; context = nothing) =
    answered((running, buffer, capacity, needed) -> mercer_rows_sums_answer(sums, running, buffer, capacity, needed), 0, context)

"""
Linear attention by the features of a map: Q (d × queries × ...), K (d × keys × ...), V (d_v × keys × ...), equal last axes, such as
heads and batch. Column i: sum_j phi(q_i)'phi(k_j) v_j / sum_j phi(q_i)'phi(k_j), causal: over j <= i. key_weights (keys × ...),
repeated along axes of size 1: numbers >= 0 that the terms are multiplied by, 0 for masked keys.
"""
function attend(map::Map, Q, K, V; causal = false, context = nothing, key_weights = 1)
    size(Q)[3:end] == size(K)[3:end] == size(V)[3:end] ||
        throw(DimensionMismatch("Q, K and V of sizes $(size(Q)), $(size(K)) and $(size(V)), expected equal axes from the third on"))
    q, k, v = Rows(reshape(Q, size(Q, 1), :)), Rows(reshape(K, size(K, 1), :)), Rows(reshape(V, size(V, 1), :))
    w = Rows(reshape(key_weights .* ones(size(K)[2:end]), 1, :))
    tokens = Ref(mercer_tokens(; causal, batch = foldl(*, size(Q)[3:end]; init = 1), heads = 1, Q = q.view, K = k.view, V = v.view,
        weights = w.view))
    out = zeros(q.view.number == MERCER_NUMBER_F32 ? Float32 : Float64, size(V, 1), q.view.n)
    GC.@preserve q k v w run(running -> mercer_attend(map, tokens, running, Result(out)), context)
    reshape(out, size(V, 1), size(Q)[2:end]...)
end
