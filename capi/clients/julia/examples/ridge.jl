# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Ridge regression on random Fourier features: how far the features are from the exact kernel, a model, its file, what an error says.
# Run: julia --project=capi/clients/julia capi/clients/julia/examples/ridge.jl [FILE]
using LinearAlgebra, Mercer

"Multiples of 1/512 in [-1, 1), so that targets have the same bits in every language."
function uniform(d, n)
    state = UInt64(1)
    X = zeros(d, n)
    for i in eachindex(X)
        state = state * 0x5851f42d4c957f2d + 0x14057b7ef767814f
        X[i] = (state >> 54) / 512 - 1
    end
    X
end

"FNV-1a of the bytes of predictions; clients in other languages print the same."
hash_of(f) = foldl((hash, byte) -> (hash ⊻ byte) * 0x00000100000001b3, reinterpret(UInt8, f); init = 0xcbf29ce484222325)

function main(path = "ridge_julia.mercer")
    n, d, D, probes = 2000, 3, 512, 50
    X = uniform(d, n)
    y = X[1, :] .* X[1, :] .+ X[2, :] .* X[3, :]

    gaussian = """{"kernel":"gaussian","lengthscale":0.7}"""
    map = Map("""{"kernel":$gaussian,"inputs":$d,"features":$D,"seed":42}""")
    Z = transform(map, X[:, 1:probes])
    worst = maximum(abs, Z'Z - gram(Kernel(map), X[:, 1:probes]))

    # {} would search map, kernel, lengthscales and lambda.
    Mercer.save(path, Model("""{"map":{"kernel":$gaussian,"features":$D},"search":false,"lambda":1e-6}""", X, y))
    f = vec(predict(Mercer.load(Model, path), X))
    println("predictions ", string(hash_of(f), base = 16, pad = 16))
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
