# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Ridge regression on random Fourier features: how far the features are from the exact kernel, a model, its file, what an error says.
# Run: julia --project=capi/clients/julia capi/clients/julia/examples/ridge.jl [FILE]
using LinearAlgebra, Mercer

"Numbers in [-1, 1), the same everywhere."
function uniform(d, n)
    state = UInt64(1)
    X = zeros(d, n)
    for i in eachindex(X)
        state = state * 0x5851f42d4c957f2d + 0x14057b7ef767814f
        X[i] = (state >> 11) / 4503599627370496.0 - 1.0
    end
    X
end

function main(path = "ridge_julia.mercer")
    n, d, D, probes = 2000, 3, 512, 50
    X = uniform(d, n)
    y = sin.(3 .* X[1, :]) .+ X[2, :] .* X[3, :]

    gaussian = """{"kernel":"gaussian","lengthscale":0.7}"""
    map = Map("""{"kernel":$gaussian,"inputs":$d,"features":$D,"seed":42}""")
    Z = transform(map, X[:, 1:probes])
    worst = maximum(abs, Z'Z - gram(Kernel(map), X[:, 1:probes]))

    # {} would search map, kernel, lengthscales and lambda.
    Mercer.save(path, Model("""{"map":{"kernel":$gaussian,"features":$D},"search":false}""", X, y))
    f = vec(predict(Mercer.load(Model, path), X))
    relative = norm(y - f) / norm(y)
    println("relative error $relative, largest kernel error $worst")

    refused = try
        Map("""{"kernel":$gaussian,"inputs":-3,"features":8}""")
        ""
    catch failed
        failed.text
    end
    println("an error says: ", refused)
    # Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
    relative < 0.02 && worst < 6 * sqrt(1.5 / D) && occursin("-3", refused)
end

exit(main(ARGS...) ? 0 : 1)
