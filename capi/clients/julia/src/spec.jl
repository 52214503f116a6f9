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

# Below: made by cmake/bind.py from `mercer specs --json`.

"Further specs"
module Others
import ..Mercer: Lists, NumberOrNumbers, Numbers, OfKernel, Spec, entry
"how inputs and targets are prepared. scale: standard, robust, center, common; missing: refuse, fill, flag; transform: none, log, rank, auto; target_transform: none, log, rank, auto; extrapolation: clip, free, refuse"
prepare(; values...) = entry(:Prepare, "", "", values, (; standardize = Bool, scale = AbstractString, missing = AbstractString,
    transform = AbstractString, target_transform = AbstractString, unit_rows = Bool, extrapolation = AbstractString))
"what mercer_map_recommend reads. Needs kernel. by: time, features; taken: given, standardized"
recommend(; values...) = entry(:Recommend, "", "", values, (; kernel = OfKernel, error = Real, features = Integer, by = AbstractString,
    taken = AbstractString, rows = Integer, count = Integer, seed = Integer))
"what mercer_map_certify reads"
certify(; values...) = entry(:Certify, "", "", values, (; level = Real, rows = Integer, seed = Integer))
end

"`mercer specs`: kernels"
module Kernels
import ..Mercer: Lists, NumberOrNumbers, Numbers, OfKernel, Spec, entry
of(name, values, kinds = NamedTuple()) = entry(:Kernel, "kernel", name, values, (; variance = Real, kinds...))
"exp(-||tau||^2 / (2 l^2))"
gaussian(; values...) = of("gaussian", values, (; lengthscale = NumberOrNumbers))
"exp(-||tau||_1 / l)"
laplacian(; values...) = of("laplacian", values, (; lengthscale = NumberOrNumbers))
"prod_j 1 / (1 + tau_j^2 / l^2)"
cauchy(; values...) = of("cauchy", values, (; lengthscale = NumberOrNumbers))
"2^(1-nu)/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau|| / l"
matern(; values...) = of("matern", values, (; nu = Real, lengthscale = NumberOrNumbers))
"(1 + ||tau||^2 / (2 alpha l^2))^(-alpha)"
rational_quadratic(; values...) = of("rational_quadratic", values, (; alpha = Real, lengthscale = NumberOrNumbers))
"the kernel of spectral density proportional to prod_j exp(-(l w_j)^(2 order)); order 1: exp(-||tau||^2 / (4 l^2))"
generalized_gaussian_spectrum(; values...) = of("generalized_gaussian_spectrum", values, (; order = Integer, lengthscale = NumberOrNumbers))
"prod_j 2 sqrt(x_j + c) sqrt(y_j + c) / (x_j + y_j + 2 c), inputs > -c"
skewed_chi2(; values...) = of("skewed_chi2", values, (; c = Real))
"sum_q w_q exp(-1/2 sum_j v_qj tau_j^2) cos(mu_q'tau). Needs weights, means, variances"
spectral_mixture(; values...) = of("spectral_mixture", values, (; weights = Numbers, means = Lists, variances = Lists))
"(gamma x'y + offset)^degree"
polynomial(; values...) = of("polynomial", values, (; degree = Integer, gamma = Real, offset = Real))
"(1 - ||tau||^2 / a^2)^degree of rows of norm 1, that is (1 - 2/a^2 + 2/a^2 x'y)^degree"
sphere_polynomial(; values...) = of("sphere_polynomial", values, (; degree = Integer, a = Real, unit_rows = Bool))
"(x1'y1) (x2'y2) of rows [x1 | x2]. Needs left"
bilinear(; values...) = of("bilinear", values, (; left = Integer))
"sum_j 2 x_j y_j / (x_j + y_j), inputs >= 0"
additive_chi2(; values...) = of("additive_chi2", values)
"sum_j min(x_j, y_j), inputs >= 0"
intersection(; values...) = of("intersection", values)
"sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), inputs >= 0"
jensen_shannon(; values...) = of("jensen_shannon", values)
"sum_j sqrt(x_j y_j), inputs >= 0"
hellinger(; values...) = of("hellinger", values)
"exp(-beta sum_j sqrt(x_j + y_j)), inputs >= 0"
exponential_semigroup(; values...) = of("exponential_semigroup", values, (; beta = Real))
"prod_j lambda / (x_j + y_j + lambda), inputs >= 0"
reciprocal_semigroup(; values...) = of("reciprocal_semigroup", values, (; lambda = Real))
"sum over subsets S of `degree` inputs of prod_{j in S} x_j y_j; all: prod_j (1 + x_j y_j). subsets: of_degree, all"
anova(; values...) = of("anova", values, (; degree = Integer, subsets = AbstractString))
"exp(x'y / l^2)"
exponential(; values...) = of("exponential", values, (; lengthscale = NumberOrNumbers))
"sum_n a_n (x'y)^n, a_n >= 0. Needs coefficients"
dot_product(; values...) = of("dot_product", values, (; coefficients = Numbers))
"||x||^n ||y||^n J_n(angle)/pi, n = order: 2 E (w'x)_+^n (w'y)_+^n of normal w"
arc_cosine(; values...) = of("arc_cosine", values, (; order = Integer))
"1 - 2 angle/pi: E sign(w'x) sign(w'y) of normal w"
sign(; values...) = of("sign", values)
"E |u'x|^m |u'y|^m, m = exponent, of complex normal u; m = 2: ||x||^2 ||y||^2 + (x'y)^2"
optical(; values...) = of("optical", values, (; exponent = Integer))
"sum_i k_i(x, y) of the parts. Needs parts"
sum(; values...) = of("sum", values, (; parts = Vector{OfKernel}))
"prod_i k_i(x, y) of the parts. Needs parts"
product(; values...) = of("product", values, (; parts = Vector{OfKernel}))
"k(x, y) Gamma, Gamma a positive semi-definite p x p matrix. Needs gamma"
decomposable(; values...) = of("decomposable", values, (; scalar = OfKernel, gamma = Lists, cutoff = Real))
"-grad grad' k: gradients of potentials"
curl_free(; values...) = of("curl_free", values, (; scalar = OfKernel))
"(grad grad' - Laplacian) k: fields without sources"
divergence_free(; values...) = of("divergence_free", values, (; scalar = OfKernel))
"alpha curl_free + (1 - alpha) divergence_free"
helmholtz(; values...) = of("helmholtz", values, (; scalar = OfKernel, alpha = Real))
end

"`mercer specs`: maps; projection: dense, orthogonal, sorf, fastfood, sobol, halton, circulant, quadrature, simplex; radius: drawn, fixed; scramble: owen, digital_shift"
module Maps
import ..Mercer: Lists, NumberOrNumbers, Numbers, OfKernel, Spec, entry
of(name, values, kinds = NamedTuple()) = entry(:Map, "map", name, values, (; kernel = OfKernel, inputs = Integer, features = Integer, seed = Integer,
    kinds...))
"the map that suits the kernel"
auto(; values...) = of("", values)
"random Fourier features of a shift-invariant kernel: cos and sin of x'omega, omega from the spectral distribution. projection: dense, orthogonal, sorf, fastfood, sobol, halton, circulant, quadrature, simplex, grid, supplied; form: pair, phase, complex; weights: given, leverage; root: symmetric, orthonormal"
fourier(; values...) = of("fourier", values, (; projection = AbstractString, form = AbstractString, radius = AbstractString,
    scramble = AbstractString, whole_blocks = Bool, weights = AbstractString, penalty = Real, pool = Integer, largest_bias = Real, rms_bias = Real,
    diameter = NumberOrNumbers, tolerance = Real, step = NumberOrNumbers, extent = NumberOrNumbers, error_bound = Real, bounded = Bool,
    root = AbstractString))
"random projection that keeps inner products, for the kernel polynomial with degree 1 and offset 0. projection: gaussian, rademacher, srht, countsketch, osnap"
linear(; values...) = of("linear", values, (; projection = AbstractString, nonzeros = Integer))
"exponentials of w'x of normal w, for the kernels exponential (softmax attention) and gaussian. form: exp, hyperbolic, trigonometric"
positive(; values...) = of("positive", values, (; projection = AbstractString, radius = AbstractString, scramble = AbstractString,
    whole_blocks = Bool, form = AbstractString, stabilize = Bool, tilt = Real))
"one layer of random neurons 1[w'x > 0] (w'x)^order of normal w, for the kernel arc_cosine"
arc_cosine(; values...) = of("arc_cosine", values, (; projection = AbstractString, radius = AbstractString, scramble = AbstractString,
    whole_blocks = Bool))
"signs of w'x of normal w, for the kernel sign"
sign(; values...) = of("sign", values, (; projection = AbstractString, radius = AbstractString, scramble = AbstractString, whole_blocks = Bool))
"intensities |u'x|^exponent of complex normal u, for the kernel optical; two projections a row. projection: dense, orthogonal, sorf, fastfood, sobol, halton, circulant, simplex; threshold_from: given, targets"
optical(; values...) = of("optical", values, (; projection = AbstractString, radius = AbstractString, scramble = AbstractString, whole_blocks = Bool,
    input_bits = Integer, threshold = Real, threshold_from = AbstractString, output_bits = Integer, exposure = Real))
"kernel values with landmarks among the rows, times the inverse root of their kernel matrix: exact on the landmarks; any kernel of numbers; D (d + D/2) per row. landmarks: uniform, kmeans, farthest, leverage, rpcholesky, supplied"
nystroem(; values...) = of("nystroem", values, (; landmarks = AbstractString, cutoff = Real, rank = Integer))
"the kernel's values with all rows that it is made from, k(x, x_j), one column each: a fit on it is kernel ridge itself, n^3; any kernel of numbers; n d per row"
exact(; values...) = of("exact", values)
"roots of inputs times cos and sin of multiples of their logarithms, for additive homogeneous kernels: 2 order + 1 columns for each input, the same for every seed; nnz (2 order + 1) per row"
additive(; values...) = of("additive", values, (; order = Integer, period = Real))
"random Laplace features exp(-x'omega) of semigroup kernels of rows without negative entries. projection: dense, sobol, halton"
laplace(; values...) = of("laplace", values, (; projection = AbstractString, scramble = AbstractString))
"sums over subsets of products of inputs with random signs, for the kernel anova; degree*d*D per row"
anova(; values...) = of("anova", values)
"random monomials with Poisson exponents, for the Gaussian: for few inputs of size about 1, or long lengthscales; 2*d*D per row"
poisson(; values...) = of("poisson", values)
"random grids, each with one entry in its columns where a hash of the row's bin says; d*D/bins hash steps per row"
random_binning(; values...) = of("random_binning", values, (; bins = Integer))
"every monomial, weighted, of the kernel polynomial: exact, the same for every seed; features is C(d + degree, degree), without offset C(d + degree - 1, degree), at most 4000000"
exact_polynomial(; values...) = of("exact_polynomial", values)
"sketches of the degrees of a kernel's power series side by side, for functions of x'y and, by the row's norm, the gaussian; at best degree (d log d + D) per row. allocation: random, optimized, given"
maclaurin(; values...) = of("maclaurin", values, (; allocation = AbstractString, columns = Numbers, min_degree = Integer, max_degree = Integer,
    exact_linear = Bool, sketch = Spec{:Map}, predicted_variance = Numbers, predicted_bias = Numbers))
"the features of the parts of a sum of kernels side by side; their costs add up"
sum(; values...) = of("sum", values, (; parts = Vector{Spec{:Map}}, shares = Numbers))
"the features of the parts of a product of kernels multiplied column by column; the costs of the parts add up"
product(; values...) = of("product", values, (; parts = Vector{Spec{:Map}}))
"products of `degree` random projections, for polynomial and bilinear kernels; degree*d*D per row. kind: rademacher, gaussian; field: real, complex, complex_to_real"
product_sketch(; values...) = of("product_sketch", values, (; kind = AbstractString, field = AbstractString))
"circular convolution of `degree` CountSketches by FFT; degree*(nnz + D log D) per row, nnz non-zeros. field: real, complex_to_real, complex"
tensor_sketch(; values...) = of("tensor_sketch", values, (; field = AbstractString))
"products of `degree` subsampled randomised Hadamard transforms; degree*(d log d + D) per row. kind: upsampled, stacked, tuple; field: complex_to_real, real, complex"
tensor_srht(; values...) = of("tensor_srht", values, (; kind = AbstractString, field = AbstractString))
"binary tree of sketches of two inputs each, for high degrees"
hierarchical_sketch(; values...) = of("hierarchical_sketch", values, (; base = Spec{:Map}, intermediate = Integer))
"a wide sketch projected down to `features` columns. projection: srht, rademacher, gaussian"
craft(; values...) = of("craft", values, (; base = Spec{:Map}, intermediate = Integer, projection = AbstractString))
end

"`mercer specs`: models; ard: auto, off, on; class_weight: none, balanced; effort: full, quick; precision: f32, f64; spectrum: drawn, learnt; task: regression, classification"
module Models
import ..Mercer: Lists, NumberOrNumbers, Numbers, OfKernel, Spec, entry
of(name, values, kinds = NamedTuple()) = entry(:Model, "model", name, values, (; map = Spec{:Map}, lengthscale = Real, ard = AbstractString,
    spectrum = AbstractString, most_features = Integer, search = Bool, effort = AbstractString, outputs = Spec{:Outputs}, select = Spec{:Selection},
    prepare = Spec{:Prepare}, center = Bool, task = AbstractString, classes = Integer, precision = AbstractString, seed = Integer, ordered = Bool,
    assess = Bool, kinds...))
"ridge, or for classes the better of ridge and logistic"
auto(; values...) = of("auto", values)
"ridge regression or least-squares classification on the features of a map. solver: direct, cg, mixed"
ridge(; values...) = of("ridge", values, (; lambda = Real, class_weight = AbstractString, solver = AbstractString))
"minimises a penalised loss on the features of a map, by L-BFGS: logistic regression and others. loss: logistic, squared_hinge, huber, quantile, poisson"
logistic(; values...) = of("logistic", values, (; loss = AbstractString, lambda = Real, class_weight = AbstractString, delta = Real, tau = Real,
    iterations = Integer, tolerance = Real))
"Gaussian process regression on the features of a map: ridge that keeps its posterior, 4 r^2 bytes. local: off, clusters, test_point"
gp(; values...) = of("gp", values, (; lambda = Real, noise = Real, local_ = AbstractString, theta = Real))
"Gaussian process classification on Dirichlet-transformed labels, 4 K r^2 bytes"
dirichlet(; values...) = of("dirichlet", values, (; lambda = Real, alpha = Real))
"variational Gaussian process classification with a logistic likelihood, one process for two classes, else K against the rest; 4 K r^2 bytes"
svgp(; values...) = of("svgp", values, (; lambda = Real, batch = Integer, epochs = Integer))
"principal components of the features of a map, without targets"
kernel_pca(; values...) = of("kernel_pca", values, (; components = Integer, preimages = Bool, lambda = Real))
end

"`mercer specs`: outputs"
module Outputs
import ..Mercer: Lists, NumberOrNumbers, Numbers, OfKernel, Spec, entry
of(name, values, kinds = NamedTuple()) = entry(:Outputs, "structure", name, values, (; kinds...))
"I: each output by itself"
independent(; values...) = of("independent", values)
"(1 - w) I + w C of the targets' correlations C"
covariance(; values...) = of("covariance", values, (; weight = Real))
"(I + w L)^-1, L the Laplacian of the graph with weights matrix, divided by its mean degree. Needs matrix"
graph(; values...) = of("graph", values, (; weight = Real, matrix = Lists))
"exp(-w S), S the mean squared distances of the targets in units of their deviations"
similarity(; values...) = of("similarity", values, (; weight = Real))
"the matrix, positive semi-definite. Needs matrix"
given(; values...) = of("given", values, (; matrix = Lists))
"covariance (for a field its kernel), or independent if that is no worse"
auto(; values...) = of("auto", values, (; weight = Real))
end

"`mercer specs`: selections"
module Selections
import ..Mercer: Lists, NumberOrNumbers, Numbers, OfKernel, Spec, entry
of(name, values, kinds = NamedTuple()) = entry(:Selection, "by", name, values, (; largest = Real, smallest = Real, count = Integer, kinds...))
"leave_one_out; held_out for other losses than squares"
auto(; values...) = of("auto", values, (; folds = Integer, fraction = Real))
"loss on one held-out part of the rows"
held_out(; values...) = of("held_out", values, (; fraction = Real))
"loss on every row, held out with its fold"
folds(; values...) = of("folds", values, (; folds = Integer))
"generalised cross-validation: leave-one-out with the mean leverage in place of each row's"
gcv(; values...) = of("gcv", values)
"loss on every row by the fit without it, in closed form"
leave_one_out(; values...) = of("leave_one_out", values)
"the marginal likelihood of all rows, with lambda as the noise"
evidence(; values...) = of("evidence", values)
end

"`mercer specs`: bounds"
module Bounds
import ..Mercer: Lists, NumberOrNumbers, Numbers, OfKernel, Spec, entry
of(name, values, kinds = NamedTuple()) = entry(:Bound, "bound", name, values, (; delta = Real, kinds...))
"|phi_p(x)'phi_q(y) - d^{p,q} k(x, y)| over a set, for Fourier features. Needs kernel, inputs, diameter, delta"
derivative(; values...) = of("derivative", values, (; kernel = OfKernel, inputs = Integer, frequencies = Integer, p = Numbers, q = Numbers,
    diameter = Real, epsilon = Real, norm = Real, bernstein = Real, moment = Integer))
"a kernel k Gamma and its Fourier features over a ball. Needs inputs, epsilon, diameter"
decomposable(; values...) = of("decomposable", values, (; kernel = OfKernel, inputs = Integer, frequencies = Integer, epsilon = Real, diameter = Real,
    s = Real, norm = Real))
"a kernel of several outputs and features of bounded norm: decomposable ones, fields with \"bounded\". Needs inputs, epsilon"
bounded_features(; values...) = of("bounded_features", values, (; kernel = OfKernel, inputs = Integer, frequencies = Integer, epsilon = Real,
    diameter = Real, radius = Real, covering = Real, outputs = Integer, m = Real, u = Real, v = Real, intrinsic = Real))
"the same of features of sub-exponential norm, as fields have them by default. Needs inputs, epsilon"
unbounded_features(; values...) = of("unbounded_features", values, (; kernel = OfKernel, inputs = Integer, frequencies = Integer, epsilon = Real,
    diameter = Real, radius = Real, covering = Real, outputs = Integer, m = Real, u = Real, v = Real, intrinsic = Real))
"the number of random features on which ridge regression learns at the kernel's own rate. Needs rows"
ridge(; values...) = of("ridge", values, (; rows = Integer, r = Real, gamma = Real, alpha = Real, constant = Real, maximum_dimension = Real,
    effective_dimension = Real, kappa = Real))
end

"`mercer specs`: tests; scale: columns, none"
module Tests
import ..Mercer: Lists, NumberOrNumbers, Numbers, OfKernel, Spec, entry
of(name, values, kinds = NamedTuple()) = entry(:Test, "test", name, values, (; features = Integer, seed = Integer, kinds...))
"whether two samples have one distribution: the largest of several squared maximum mean discrepancies, each standardised by permutations, which give its exact level"
mmd(; values...) = of("mmd", values, (; kernels = Vector{OfKernel}, bandwidths = Numbers, scale = AbstractString, permutations = Integer,
    witnesses = Integer))
"the same from the mean over blocks of rows, with a normal p-value and no permutation"
block_mmd(; values...) = of("block_mmd", values, (; kernel = OfKernel, scale = AbstractString, block = Integer))
"the kernel inception distance of two samples of image features: the squared discrepancy for (x'y/d + 1)^3"
kid(; values...) = of("kid", values, (; permutations = Integer))
"whether row i of X and row i of Y depend on each other: the largest of several Hilbert-Schmidt independence criteria, each standardised by permutations of Y"
hsic(; values...) = of("hsic", values, (; kernels = Vector{OfKernel}, y_kernels = Vector{OfKernel}, labels = Bool, bandwidths = Numbers,
    scale = AbstractString, permutations = Integer))
end
