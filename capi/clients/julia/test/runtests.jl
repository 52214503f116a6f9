# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Layouts, the numbers of C, views, files, fits, sources, predictions, tests of rows, errors, progress, exceptions, tasks.
# Run: MERCER_LIBRARY=.../libmercer.so julia --project=capi/clients/julia capi/clients/julia/test/runtests.jl
using Mercer, Serialization, SparseArrays, Test

const SPEC = """{"kernel":{"kernel":"gaussian","lengthscale":1},"inputs":3,"features":64,"seed":5}"""
X = reshape(sin.(0.7 .* (0:599)), 3, 200)
y = X[1, :] .* X[2, :]

status(call) =
    try
        call()
        "no error"
    catch failed
        failed isa MercerError && !isempty(failed.text) ? failed.status : rethrow()
    end

@testset "structs are as large as C's" begin
    for name in filter(name -> startswith(string(name), "mercer_"), names(Mercer; all = true))
        T = getfield(Mercer, name)
        T isa DataType && fieldcount(T) > 0 && @test sizeof(T) == T().struct_size
    end
end

@testset "maps" begin
    map = Map(SPEC)
    Z, by_c = transform(map, X), zeros(64, 200)
    Mercer.check(Mercer.mercer_map_apply_f64(map, 200, X, 3, C_NULL, by_c, 64))
    @test Z == by_c
    @test maximum(abs, Z'Z - gram(Kernel(map), X)) < 6 * sqrt(1.5 / 64)  # six deviations of the pair form
    @test size(gram(Kernel(map), X, X[:, 1:7])) == (200, 7)
    @test transform(map, view(X, :, 1:2:200)) == Z[:, 1:2:200]
    @test transform(map, view(X, :, 200:-1:1)) == Z[:, 200:-1:1]
    @test transform(map, permutedims(X)') == Z
    big = zeros(64, 600)
    @test_throws ArgumentError transform!(view(big, :, 400:-1:201), map, X)
    @test all(iszero, big) && transform!(view(big, :, 201:400), map, X) == Z
    @test transform(map, sparse(X)) ≈ Z
    @test eltype(transform(map, Float32.(X))) == Float32
    column = collect(1.0:5.0)
    line = Map("""{"kernel":{"kernel":"gaussian"},"inputs":1,"features":8}""")
    @test transform(line, view(column, 5:-2:1)) == transform(line, column)[:, 5:-2:1] == transform(line, [5, 3, 1])
    @test push!(column, 6) == 1:6
    landmarks = Map("""{"map":"nystroem","kernel":{"kernel":"gaussian"},"inputs":3,"features":20}""", X)
    @test size(transform(landmarks, X)) == (20, 200)
    mktempdir() do folder
        path = joinpath(folder, "map")
        Mercer.save(path, map)
        @test transform(Mercer.load(Map, path), X) == Z
    end
    @test transform(Mercer.load(Map, Mercer.bytes(map)), X) == Z
    stream = IOBuffer()
    serialize(stream, (map, Kernel(map)))
    again, kernel = deserialize(seekstart(stream))
    @test transform(again, X) == Z && gram(kernel, X) == gram(Kernel(map), X)
    once, twice = deepcopy([map, map])
    @test once === twice && once.pointer != map.pointer && transform(once, X) == Z
    @test_throws ArgumentError deepcopy(Context())
    bins = Map("""{"map":"random_binning","kernel":{"kernel":"laplacian"},"inputs":3,"features":64}""")
    @test Mercer.transform_csr(bins, X) == transform(bins, X)
    given = Mercer.with_frequencies("""{"kernel":{"kernel":"gaussian"}}""", [1.0 0.0; 0.0 2.0; 0.0 0.0]; weights = [0.5, 0.5])
    @test Mercer.shape(given).frequencies == 2
    @test all(fetch.([Threads.@spawn transform(map, X) == Z for _ in 1:64]))
end

@testset "fits" begin
    map, spec, weights = Map(SPEC), """{"precision":"f64","lambda":0.01}""", 1.0 .+ (0:199) .% 3
    blocks(arrays...) = (Tuple(size(a) == (200,) ? a[part] : a[:, part] for a in arrays) for part in (1:0, 1:70, 71:140, 141:200))
    near(a, b) = maximum(abs, predict(a, X) - predict(b, X)) < 1e-8
    plain = Model(spec, () -> blocks(X, y); map)
    @test near(plain, Model(spec, X, y; map)) && Mercer.shape(plain).rows == 200
    weighted = Model(spec, () -> blocks(X, y, weights); map)
    @test near(weighted, Model(spec, X, y; map, weights)) && !near(weighted, plain)
    twice = Model(spec, () -> blocks(X, y); map, sum = numbers -> (numbers .*= 2))
    @test near(twice, plain) && Mercer.shape(twice).rows == 400
    told = []
    @test_throws ErrorException("of a block") Model(spec, () -> (i < 3 ? (X, y) : error("of a block") for i in 1:3); map,
                                                    sum = numbers -> push!(told, copy(numbers)))
    @test last(told) == [1]  # other processes hear of it
    @test status(() -> Model(spec, () -> ((X, y), (X[:, 1:0], y)); map)) == "MERCER_INVALID_ARGUMENT"
    @test_throws TypeError Model(spec, X, y; map = Kernel(map))
    @test_throws ArgumentError Model(spec, () -> (); map)
    @test transform(Map(plain), predict(plain, X, "prepared")) isa Matrix{Float64}
    grouped = Model("""{"map":{"features":32}}""", X, y; groups = (0:199) .% 10)
    @test occursin("\"grouped\"", Mercer.report(grouped))
    Mercer.metadata!(grouped, "höhe")
    @test Mercer.report(Mercer.load(Model, Mercer.bytes(grouped)), "metadata") == "höhe"
    kept = Model("""{"precision":"f64","lambda":0.01,"keep":"sums"}""", X[:, 1:150], y[1:150]; map)
    more = Mercer.update(kept, "{}", X[:, 151:200], y[151:200])
    fewer = Mercer.update(more, """{"remove":true}""", X[:, 151:200], y[151:200])
    @test (Mercer.shape(more).rows, Mercer.shape(fewer).rows) == (200, 150) && near(fewer, kept) && !near(more, kept)
    @test status(() -> Mercer.update(plain, "{}", X, y)) == "MERCER_UNSUPPORTED"
    few, slopes = X[:, 1:40], X[2, 1:40]
    values = Observations(X = few, Y = y[1:40])
    hermite(sets...) = Model("""{"lambda":0.001}""", [sets...]; map)
    both = hermite(values, Observations(X = few, Y = slopes, partial = [1, 0, 0], weight = 0.5))
    @test near(both, hermite(Observations(X = few, Y = slopes, partial = [1, 0, 0], row_weights = fill(0.5, 40)), values))
    @test !near(both, hermite(values))
    @test_throws DimensionMismatch hermite(Observations(X = few, Y = slopes, partial = [1, 0]))
    trials = String[]
    searched = Model("""{"map":{"features":32}}""", X, y; context = Context(trial = json -> push!(trials, json)))
    @test !isempty(trials) && all(startswith("{"), trials) && all(json -> occursin("\"seconds\"", json), trials)
    @test_throws ErrorException("of a trial") Model("{}", X, y; context = Context(trial = _ -> error("of a trial")))
end

@testset "predictions" begin
    model = Model("""{"model":"gp","precision":"f64","map":{"features":64}}""", X, y)
    f = predict(model, X)
    w, intercept = Mercer.weights(model)
    Z = transform(Map(model), predict(model, X, "prepared"))
    units = [(w * Z .+ intercept)' ones(200)] \ vec(f)
    @test vec(w * Z .+ intercept) .* units[1] .+ units[2] ≈ vec(f)
    bounds = predict(model, X, "quantile"; quantiles = (0.1, 0.9))
    @test size(bounds) == (2, 200) && all(bounds[1, :] .< f[1, :] .< bounds[2, :])
    @test size(predict(model, X, "sample"; samples = 4, seed = 2)) == (4, 200)
    @test size(predict(model, X, "joint_covariance")) == (200, 200)
    both = predict(model, X, "partials"; partials = [1 0; 0 2; 0 0])
    @test both[1, :] ≈ predict(model, X, "gradient")[1, :] && both[2, :] ≈ predict(model, X, "hessian_diagonal")[2, :]
    @test predict(model, X, "partials"; partials = [1, 0, 0])[1, :] == both[1, :]
    @test all(what -> status(() -> predict(model, X, what)) == "MERCER_INVALID_ARGUMENT", ("partials", "quantile", "sample"))
    @test_throws DimensionMismatch predict(model, X, "partials"; partials = [1, 0])
    far = [X[:, 1:2] [100.0, 0.0, -100.0]]
    clipped, outside = predict(model, far; return_outside = true)
    @test (outside.rows, outside.values, outside.inputs) == (1, 2, [1, 0, 1])
    @test predict(model, far; extrapolation = :free)[3] != clipped[3]
    @test status(() -> predict(model, far; extrapolation = :refuse)) == "MERCER_INVALID_ARGUMENT"
    @test_throws ArgumentError predict(model, far; extrapolation = :never)
end

@testset "tests of rows, attention" begin
    @test lengthscale_median([0.0 3.0; 0.0 4.0]) == 5
    p_value(answer) = split(split(answer, "\"p_value\":")[2], ",")[1]
    whole = p_value(rows_test("""{"test":"mmd"}""", X, X .+ 1))
    sums, rest = (Mercer.RowsSums("""{"test":"mmd"}""", 200, 200, X, X .+ 1) for _ in 1:2)
    Mercer.add!(sums, 0, 1, X)
    Mercer.add!(rest, 1, 1, X .+ 1)
    merge!(sums, rest)
    @test p_value(rows_test(sums)) == whole
    added = Ref(0)
    Mercer.reduce!(sums, numbers -> (added[] += length(numbers)))
    @test added[] > 256 && p_value(rows_test(sums)) == whole
    @test status(() -> Mercer.reduce!(sums, numbers -> (numbers .+= 1))) == "MERCER_IO"
    @test_throws ErrorException("of a sum") Mercer.reduce!(sums, _ -> error("of a sum"))
    map = Map("""{"map":"positive","kernel":{"kernel":"exponential"},"inputs":3,"features":64}""")
    K = reshape(X, 3, 50, 4) ./ 2
    A = Mercer.attend(map, K[:, 1:10, :], K, K)
    scores = transform(map, K[:, :, 2])' * transform(map, K[:, 1:10, 2])
    @test size(A) == (3, 10, 4) && A[:, :, 2] ≈ (K[:, :, 2] * scores) ./ sum(scores; dims = 1)
end

@testset "specs" begin
    matern = Mercer.Kernels.matern(nu = 0.1 + 0.2, lengthscale = [2, 1, 0.5f0])
    @test matern.json == """{"kernel":"matern","nu":0.30000000000000004,"lengthscale":[2.0,1.0,0.5]}"""
    sum = Mercer.Kernels.sum(parts = [matern, Mercer.Kernels.polynomial(degree = 1)])
    parts = [Mercer.Maps.fourier(projection = "orthogonal"), Mercer.Maps.linear()]
    map = Map(Mercer.Maps.sum(kernel = sum, inputs = 3, features = 64, seed = typemax(UInt64), parts = parts))
    @test occursin("18446744073709551615", Mercer.spec(map)) && size(transform(map, X)) == (64, 200)
    @test Mercer.Kernels.decomposable(gamma = [1 0.5; 0.5 1]).json == """{"kernel":"decomposable","gamma":[[1.0,0.5],[0.5,1.0]]}"""
    @test Mercer.Kernels.polynomial(offset = -0.0).json == """{"kernel":"polynomial","offset":-0.0}"""
    @test Mercer.Models.gp(local_ = "off", search = false).json == """{"model":"gp","local":"off","search":false}"""
    @test Mercer.Kernels.anova(subsets = "\"\n").json == "{\"kernel\":\"anova\",\"subsets\":\"\\u0022\\u000a\"}"
    fit = Mercer.Models.ridge(map = Mercer.Maps.auto(kernel = Kernel(map), features = 32), search = false,
                              prepare = Mercer.Others.prepare(transform = "rank"))
    @test occursin("rank", Mercer.spec(Model(fit, X, y)))
    @test_throws ArgumentError Mercer.Kernels.gaussian(nu = 1)
    @test_throws ArgumentError Mercer.Kernels.gaussian(lengthscale = "1")
    @test_throws ArgumentError Mercer.Kernels.gaussian(lengthscale = [1, NaN])
    @test_throws ArgumentError Mercer.Kernels.gaussian(lengthscale = big"1e400")
    @test_throws MethodError Map(matern)
    mixed = Any[Kernel(map), matern]
    @test startswith(Mercer.Kernels.sum(parts = mixed).json, """{"kernel":"sum","parts":[{""")
    @test_throws ArgumentError Mercer.Kernels.sum(parts = [mixed; 1])
    mmd = Mercer.Tests.mmd(permutations = 99)
    @test rows_test(mmd, X, X .+ 1) == rows_test(mmd.json, X, X .+ 1)
    @test Mercer.RowsSums(mmd, 200, 200, X, X .+ 1) isa Mercer.RowsSums
    @test Mercer.shape(Mercer.with_frequencies(Mercer.Maps.fourier(kernel = matern), ones(3, 2))).frequencies == 2
end

@testset "errors, progress, exceptions" begin
    fit(; limits...) = Model("{}", X, y; context = Context(; limits...))
    calls = 0
    model = fit(threads = 1, progress = (done, total) -> (calls += 1; true))
    @test calls > 10 && maximum(abs, vec(predict(model, X)) - y) < 0.5
    @test status(() -> Map("""{"kernel":{"kernel":"gausian"}}""")) == "MERCER_INVALID_ARGUMENT"
    @test status(() -> transform(Map(SPEC), X[1:2, :])) == "MERCER_DIMENSION_MISMATCH"
    @test status(() -> fit(memory_cap = 1000)) == "MERCER_OUT_OF_MEMORY"
    @test status(() -> Mercer.load(Model, "/absent/model")) == "MERCER_IO"
    @test status(() -> Mercer.load(Model, @__FILE__)) == "MERCER_CORRUPT_FILE"
    @test status(() -> fit(progress = (_, _) -> false)) == "MERCER_CANCELLED"
    @test_throws ErrorException("of the callback") fit(progress = (_, _) -> error("of the callback"))
    @test_throws DimensionMismatch Model("{}", X, y; weights = ones(3))
    refused = ""
    context = Context(progress = (_, _) -> (refused = status(() -> Model("{}", X, y; context)); error("of the first call")))
    @test_throws ErrorException("of the first call") Model("{}", X, y; context)
    @test refused == "MERCER_INVALID_ARGUMENT"
    cancelled = Context()
    Mercer.cancel(cancelled)
    @test status(() -> Model("{}", X, y; context = cancelled)) == "MERCER_CANCELLED"
end
