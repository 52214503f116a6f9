# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Layouts, the numbers of C, specs, views, files, errors, progress, exceptions, tasks.
# Run: MERCER_LIBRARY=.../libmercer.so julia --project=capi/clients/julia capi/clients/julia/test/runtests.jl
using Mercer, SparseArrays, Test

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
    landmarks = Map("""{"map":"nystroem","kernel":{"kernel":"gaussian"},"inputs":3,"features":20}""", X)
    @test size(transform(landmarks, X)) == (20, 200)
    mktempdir() do folder
        path = joinpath(folder, "map")
        Mercer.save(path, map)
        @test transform(Mercer.load(Map, path), X) == Z
    end
    @test all(fetch.([Threads.@spawn transform(map, X) == Z for _ in 1:64]))
end

@testset "specs" begin
    matern = Mercer.Kernels.matern(nu = 0.1 + 0.2, lengthscale = [2, 1, 0.5f0])
    @test matern.json == """{"kernel":"matern","nu":0.30000000000000004,"lengthscale":[2.0,1.0,0.5]}"""
    sum = Mercer.Kernels.sum(parts = [matern, Mercer.Kernels.polynomial(degree = 1)])
    parts = [Mercer.Maps.fourier(projection = "orthogonal"), Mercer.Maps.linear()]
    map = Map(Mercer.Maps.sum(kernel = sum, inputs = 3, features = 64, seed = typemax(UInt64), parts = parts))
    @test occursin("18446744073709551615", Mercer.spec(map)) && size(transform(map, X)) == (64, 200)
    @test Mercer.Kernels.decomposable(gamma = [1 0.5; 0.5 1]).json == """{"kernel":"decomposable","gamma":[[1.0,0.5],[0.5,1.0]]}"""
    @test Mercer.Models.gp(local_ = "off", search = false).json == """{"model":"gp","local":"off","search":false}"""
    @test Mercer.Kernels.anova(subsets = "\"\n").json == "{\"kernel\":\"anova\",\"subsets\":\"\\u0022\\u000a\"}"
    fit = Mercer.Models.ridge(map = Mercer.Maps.auto(kernel = Kernel(map), features = 32), search = false,
                              prepare = Mercer.Others.prepare(transform = "rank"))
    @test occursin("rank", Mercer.spec(Model(fit, X, y)))
    @test_throws ArgumentError Mercer.Kernels.gaussian(nu = 1)
    @test_throws ArgumentError Mercer.Kernels.gaussian(lengthscale = "1")
    @test_throws ArgumentError Mercer.Kernels.gaussian(lengthscale = [1, NaN])
    @test_throws MethodError Map(matern)
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
