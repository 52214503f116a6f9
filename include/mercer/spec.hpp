// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Specs by typed setters in place of JSON text; `mercer specs NAME` says what keys mean.
//
// Example: 512 features of a Matern kernel; nu of another kernel would not compile.
//
//   namespace spec = mercer::spec;
//   const auto kernel = spec::kernels::Matern().nu(1.5).lengthscale({2.0, 1.0, 0.5});
//   const auto features = spec::maps::Fourier().kernel(kernel).inputs(3).features(512);
//   const mercer::Map map = mercer::Map::from_spec(features);
#ifndef MERCER_SPEC_HPP
#define MERCER_SPEC_HPP

#include "mercer/spec_value.hpp"

namespace mercer {
inline namespace hpp {
namespace spec {

#define MERCER_ENTRY(Kind, Name, key, name) \
  struct Name : Of<Kind> {                  \
    using Self = Name;                      \
    Name() : Of<Kind>(key, name) {}
#define MERCER_KEY1(Kind, key)                      \
  [[nodiscard]] Self key(const Kind& value) const { \
    Self made(*this);                               \
    made.set(#key, value);                          \
    return made;                                    \
  }
#define MERCER_KEY2(Kind, a, b) MERCER_KEY1(Kind, a) MERCER_KEY1(Kind, b)
#define MERCER_KEY3(Kind, a, b, c) MERCER_KEY2(Kind, a, b) MERCER_KEY1(Kind, c)
#define MERCER_KEY4(Kind, a, b, c, d) MERCER_KEY2(Kind, a, b) MERCER_KEY2(Kind, c, d)

// clang-format off
// Below: made by cmake/bind.py from `mercer specs --json`.

/// Further specs
namespace others {
#define MERCER_SPEC(Name, name) \
  MERCER_ENTRY(Name, Name, "", name)
/// how inputs and targets are prepared. scale: standard, robust, center, common; missing: refuse, fill, flag; transform: none, log, rank, auto;
/// target_transform: none, log, rank, auto; extrapolation: clip, free, refuse
MERCER_SPEC(Prepare, "") MERCER_KEY2(Boolean, standardize, unit_rows) MERCER_KEY4(Text, scale, missing, transform, target_transform)
    MERCER_KEY1(Text, extrapolation) };
/// what mercer_map_recommend reads. Needs kernel. by: time, features; taken: given, standardized
MERCER_SPEC(Recommend, "") MERCER_KEY1(Of<Kernel>, kernel) MERCER_KEY1(Number, error) MERCER_KEY4(Integer, features, rows, count, seed)
    MERCER_KEY2(Text, by, taken) };
/// what mercer_map_certify reads
MERCER_SPEC(Certify, "") MERCER_KEY1(Number, level) MERCER_KEY2(Integer, rows, seed) };
#undef MERCER_SPEC
}

/// `mercer specs`: kernels
namespace kernels {
#define MERCER_SPEC(Name, name) \
  MERCER_ENTRY(Kernel, Name, "kernel", name) MERCER_KEY1(Number, variance)
/// exp(-||tau||^2 / (2 l^2))
MERCER_SPEC(Gaussian, "gaussian") MERCER_KEY1(Numbers, lengthscale) };
/// exp(-||tau||_1 / l)
MERCER_SPEC(Laplacian, "laplacian") MERCER_KEY1(Numbers, lengthscale) };
/// prod_j 1 / (1 + tau_j^2 / l^2)
MERCER_SPEC(Cauchy, "cauchy") MERCER_KEY1(Numbers, lengthscale) };
/// 2^(1-nu)/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau|| / l
MERCER_SPEC(Matern, "matern") MERCER_KEY1(Number, nu) MERCER_KEY1(Numbers, lengthscale) };
/// (1 + ||tau||^2 / (2 alpha l^2))^(-alpha)
MERCER_SPEC(RationalQuadratic, "rational_quadratic") MERCER_KEY1(Number, alpha) MERCER_KEY1(Numbers, lengthscale) };
/// the kernel of spectral density proportional to prod_j exp(-(l w_j)^(2 order)); order 1: exp(-||tau||^2 / (4 l^2))
MERCER_SPEC(GeneralizedGaussianSpectrum, "generalized_gaussian_spectrum") MERCER_KEY1(Integer, order) MERCER_KEY1(Numbers, lengthscale) };
/// prod_j 2 sqrt(x_j + c) sqrt(y_j + c) / (x_j + y_j + 2 c), inputs > -c
MERCER_SPEC(SkewedChi2, "skewed_chi2") MERCER_KEY1(Number, c) };
/// sum_q w_q exp(-1/2 sum_j v_qj tau_j^2) cos(mu_q'tau). Needs weights, means, variances
MERCER_SPEC(SpectralMixture, "spectral_mixture") MERCER_KEY1(List<Number>, weights) MERCER_KEY2(List<Numbers>, means, variances) };
/// (gamma x'y + offset)^degree
MERCER_SPEC(Polynomial, "polynomial") MERCER_KEY1(Integer, degree) MERCER_KEY2(Number, gamma, offset) };
/// (1 - ||tau||^2 / a^2)^degree of rows of norm 1, that is (1 - 2/a^2 + 2/a^2 x'y)^degree
MERCER_SPEC(SpherePolynomial, "sphere_polynomial") MERCER_KEY1(Integer, degree) MERCER_KEY1(Number, a) MERCER_KEY1(Boolean, unit_rows) };
/// (x1'y1) (x2'y2) of rows [x1 | x2]. Needs left
MERCER_SPEC(Bilinear, "bilinear") MERCER_KEY1(Integer, left) };
/// sum_j 2 x_j y_j / (x_j + y_j), inputs >= 0
MERCER_SPEC(AdditiveChi2, "additive_chi2") };
/// sum_j min(x_j, y_j), inputs >= 0
MERCER_SPEC(Intersection, "intersection") };
/// sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), inputs >= 0
MERCER_SPEC(JensenShannon, "jensen_shannon") };
/// sum_j sqrt(x_j y_j), inputs >= 0
MERCER_SPEC(Hellinger, "hellinger") };
/// exp(-beta sum_j sqrt(x_j + y_j)), inputs >= 0
MERCER_SPEC(ExponentialSemigroup, "exponential_semigroup") MERCER_KEY1(Number, beta) };
/// prod_j lambda / (x_j + y_j + lambda), inputs >= 0
MERCER_SPEC(ReciprocalSemigroup, "reciprocal_semigroup") MERCER_KEY1(Number, lambda) };
/// sum over subsets S of `degree` inputs of prod_{j in S} x_j y_j; all: prod_j (1 + x_j y_j). subsets: of_degree, all
MERCER_SPEC(Anova, "anova") MERCER_KEY1(Integer, degree) MERCER_KEY1(Text, subsets) };
/// exp(x'y / l^2)
MERCER_SPEC(Exponential, "exponential") MERCER_KEY1(Numbers, lengthscale) };
/// sum_n a_n (x'y)^n, a_n >= 0. Needs coefficients
MERCER_SPEC(DotProduct, "dot_product") MERCER_KEY1(List<Number>, coefficients) };
/// ||x||^n ||y||^n J_n(angle)/pi, n = order: 2 E (w'x)_+^n (w'y)_+^n of normal w
MERCER_SPEC(ArcCosine, "arc_cosine") MERCER_KEY1(Integer, order) };
/// 1 - 2 angle/pi: E sign(w'x) sign(w'y) of normal w
MERCER_SPEC(Sign, "sign") };
/// E |u'x|^m |u'y|^m, m = exponent, of complex normal u; m = 2: ||x||^2 ||y||^2 + (x'y)^2
MERCER_SPEC(Optical, "optical") MERCER_KEY1(Integer, exponent) };
/// sum_i k_i(x, y) of the parts. Needs parts
MERCER_SPEC(Sum, "sum") MERCER_KEY1(List<Of<Kernel>>, parts) };
/// prod_i k_i(x, y) of the parts. Needs parts
MERCER_SPEC(Product, "product") MERCER_KEY1(List<Of<Kernel>>, parts) };
/// k(x, y) Gamma, Gamma a positive semi-definite p x p matrix. Needs gamma
MERCER_SPEC(Decomposable, "decomposable") MERCER_KEY1(Of<Kernel>, scalar) MERCER_KEY1(List<Numbers>, gamma) MERCER_KEY1(Number, cutoff) };
/// -grad grad' k: gradients of potentials
MERCER_SPEC(CurlFree, "curl_free") MERCER_KEY1(Of<Kernel>, scalar) };
/// (grad grad' - Laplacian) k: fields without sources
MERCER_SPEC(DivergenceFree, "divergence_free") MERCER_KEY1(Of<Kernel>, scalar) };
/// alpha curl_free + (1 - alpha) divergence_free
MERCER_SPEC(Helmholtz, "helmholtz") MERCER_KEY1(Of<Kernel>, scalar) MERCER_KEY1(Number, alpha) };
#undef MERCER_SPEC
}

/// `mercer specs`: maps; projection: dense, orthogonal, sorf, fastfood, sobol, halton, circulant, quadrature, simplex; radius: drawn, fixed;
/// scramble: owen, digital_shift
namespace maps {
#define MERCER_SPEC(Name, name) \
  MERCER_ENTRY(Map, Name, "map", name) MERCER_KEY1(Of<Kernel>, kernel) MERCER_KEY3(Integer, inputs, features, seed)
/// the map that suits the kernel
MERCER_SPEC(Auto, "") };
/// random Fourier features of a shift-invariant kernel: cos and sin of x'omega, omega from the spectral distribution. projection: dense, orthogonal,
/// sorf, fastfood, sobol, halton, circulant, quadrature, simplex, grid, supplied; form: pair, phase, complex; weights: given, leverage; root:
/// symmetric, orthonormal
MERCER_SPEC(Fourier, "fourier") MERCER_KEY4(Text, projection, form, radius, scramble) MERCER_KEY2(Text, weights, root)
    MERCER_KEY2(Boolean, whole_blocks, bounded) MERCER_KEY4(Number, penalty, largest_bias, rms_bias, tolerance) MERCER_KEY1(Number, error_bound)
    MERCER_KEY1(Integer, pool) MERCER_KEY3(Numbers, diameter, step, extent) };
/// random projection that keeps inner products, for the kernel polynomial with degree 1 and offset 0. projection: gaussian, rademacher, srht,
/// countsketch, osnap
MERCER_SPEC(Linear, "linear") MERCER_KEY1(Text, projection) MERCER_KEY1(Integer, nonzeros) };
/// exponentials of w'x of normal w, for the kernels exponential (softmax attention) and gaussian. form: exp, hyperbolic, trigonometric
MERCER_SPEC(Positive, "positive") MERCER_KEY4(Text, projection, radius, scramble, form) MERCER_KEY2(Boolean, whole_blocks, stabilize)
    MERCER_KEY1(Number, tilt) };
/// one layer of random neurons 1[w'x > 0] (w'x)^order of normal w, for the kernel arc_cosine
MERCER_SPEC(ArcCosine, "arc_cosine") MERCER_KEY3(Text, projection, radius, scramble) MERCER_KEY1(Boolean, whole_blocks) };
/// signs of w'x of normal w, for the kernel sign
MERCER_SPEC(Sign, "sign") MERCER_KEY3(Text, projection, radius, scramble) MERCER_KEY1(Boolean, whole_blocks) };
/// intensities |u'x|^exponent of complex normal u, for the kernel optical; two projections a row. projection: dense, orthogonal, sorf, fastfood,
/// sobol, halton, circulant, simplex; threshold_from: given, targets
MERCER_SPEC(Optical, "optical") MERCER_KEY4(Text, projection, radius, scramble, threshold_from) MERCER_KEY1(Boolean, whole_blocks)
    MERCER_KEY2(Integer, input_bits, output_bits) MERCER_KEY2(Number, threshold, exposure) };
/// kernel values with landmarks among the rows, times the inverse root of their kernel matrix: exact on the landmarks; any kernel of numbers; D (d +
/// D/2) per row. landmarks: uniform, kmeans, farthest, leverage, rpcholesky, supplied
MERCER_SPEC(Nystroem, "nystroem") MERCER_KEY1(Text, landmarks) MERCER_KEY1(Number, cutoff) MERCER_KEY1(Integer, rank) };
/// the kernel's values with all rows that it is made from, k(x, x_j), one column each: a fit on it is kernel ridge itself, n^3; any kernel of
/// numbers; n d per row
MERCER_SPEC(Exact, "exact") };
/// roots of inputs times cos and sin of multiples of their logarithms, for additive homogeneous kernels: 2 order + 1 columns for each input, the same
/// for every seed; nnz (2 order + 1) per row
MERCER_SPEC(Additive, "additive") MERCER_KEY1(Integer, order) MERCER_KEY1(Number, period) };
/// random Laplace features exp(-x'omega) of semigroup kernels of rows without negative entries. projection: dense, sobol, halton
MERCER_SPEC(Laplace, "laplace") MERCER_KEY2(Text, projection, scramble) };
/// sums over subsets of products of inputs with random signs, for the kernel anova; degree*d*D per row
MERCER_SPEC(Anova, "anova") };
/// random monomials with Poisson exponents, for the Gaussian: for few inputs of size about 1, or long lengthscales; 2*d*D per row
MERCER_SPEC(Poisson, "poisson") };
/// random grids, each with one entry in its columns where a hash of the row's bin says; d*D/bins hash steps per row
MERCER_SPEC(RandomBinning, "random_binning") MERCER_KEY1(Integer, bins) };
/// every monomial, weighted, of the kernel polynomial: exact, the same for every seed; features is C(d + degree, degree), without offset C(d + degree
/// - 1, degree), at most 4000000
MERCER_SPEC(ExactPolynomial, "exact_polynomial") };
/// sketches of the degrees of a kernel's power series side by side, for functions of x'y and, by the row's norm, the gaussian; at best degree (d log
/// d + D) per row. allocation: random, optimized, given
MERCER_SPEC(Maclaurin, "maclaurin") MERCER_KEY1(Text, allocation) MERCER_KEY3(List<Number>, columns, predicted_variance, predicted_bias)
    MERCER_KEY2(Integer, min_degree, max_degree) MERCER_KEY1(Boolean, exact_linear) MERCER_KEY1(Of<Map>, sketch) };
/// the features of the parts of a sum of kernels side by side; their costs add up
MERCER_SPEC(Sum, "sum") MERCER_KEY1(List<Of<Map>>, parts) MERCER_KEY1(List<Number>, shares) };
/// the features of the parts of a product of kernels multiplied column by column; the costs of the parts add up
MERCER_SPEC(Product, "product") MERCER_KEY1(List<Of<Map>>, parts) };
/// products of `degree` random projections, for polynomial and bilinear kernels; degree*d*D per row. kind: rademacher, gaussian; field: real,
/// complex, complex_to_real
MERCER_SPEC(ProductSketch, "product_sketch") MERCER_KEY2(Text, kind, field) };
/// circular convolution of `degree` CountSketches by FFT; degree*(nnz + D log D) per row, nnz non-zeros. field: real, complex_to_real, complex
MERCER_SPEC(TensorSketch, "tensor_sketch") MERCER_KEY1(Text, field) };
/// products of `degree` subsampled randomised Hadamard transforms; degree*(d log d + D) per row. kind: upsampled, stacked, tuple; field:
/// complex_to_real, real, complex
MERCER_SPEC(TensorSrht, "tensor_srht") MERCER_KEY2(Text, kind, field) };
/// binary tree of sketches of two inputs each, for high degrees
MERCER_SPEC(HierarchicalSketch, "hierarchical_sketch") MERCER_KEY1(Of<Map>, base) MERCER_KEY1(Integer, intermediate) };
/// a wide sketch projected down to `features` columns. projection: srht, rademacher, gaussian
MERCER_SPEC(Craft, "craft") MERCER_KEY1(Of<Map>, base) MERCER_KEY1(Integer, intermediate) MERCER_KEY1(Text, projection) };
#undef MERCER_SPEC
}

/// `mercer specs`: models; ard: auto, off, on; class_weight: none, balanced; effort: full, quick; precision: f32, f64; spectrum: drawn, learnt; task:
/// regression, classification
namespace models {
#define MERCER_SPEC(Name, name) \
  MERCER_ENTRY(Model, Name, "model", name) MERCER_KEY1(Of<Map>, map) MERCER_KEY1(Number, lengthscale) MERCER_KEY4(Text, ard, spectrum, effort, task) \
      MERCER_KEY1(Text, precision) MERCER_KEY3(Integer, most_features, classes, seed) MERCER_KEY4(Boolean, search, center, ordered, assess) \
      MERCER_KEY1(Of<Outputs>, outputs) MERCER_KEY1(Of<Selection>, select) MERCER_KEY1(Of<others::Prepare>, prepare)
/// ridge, or for classes the better of ridge and logistic
MERCER_SPEC(Auto, "auto") };
/// ridge regression or least-squares classification on the features of a map. solver: direct, cg, mixed
MERCER_SPEC(Ridge, "ridge") MERCER_KEY1(Number, lambda) MERCER_KEY2(Text, class_weight, solver) };
/// minimises a penalised loss on the features of a map, by L-BFGS: logistic regression and others. loss: logistic, squared_hinge, huber, quantile,
/// poisson
MERCER_SPEC(Logistic, "logistic") MERCER_KEY2(Text, loss, class_weight) MERCER_KEY4(Number, lambda, delta, tau, tolerance)
    MERCER_KEY1(Integer, iterations) };
/// Gaussian process regression on the features of a map: ridge that keeps its posterior, 4 r^2 bytes. local: off, clusters, test_point
MERCER_SPEC(Gp, "gp") MERCER_KEY3(Number, lambda, noise, theta) MERCER_KEY1(Text, local) };
/// Gaussian process classification on Dirichlet-transformed labels, 4 K r^2 bytes
MERCER_SPEC(Dirichlet, "dirichlet") MERCER_KEY2(Number, lambda, alpha) };
/// variational Gaussian process classification with a logistic likelihood, one process for two classes, else K against the rest; 4 K r^2 bytes
MERCER_SPEC(Svgp, "svgp") MERCER_KEY1(Number, lambda) MERCER_KEY2(Integer, batch, epochs) };
/// principal components of the features of a map, without targets
MERCER_SPEC(KernelPca, "kernel_pca") MERCER_KEY1(Integer, components) MERCER_KEY1(Boolean, preimages) MERCER_KEY1(Number, lambda) };
#undef MERCER_SPEC
}

/// `mercer specs`: outputs
namespace outputs {
#define MERCER_SPEC(Name, name) \
  MERCER_ENTRY(Outputs, Name, "structure", name)
/// I: each output by itself
MERCER_SPEC(Independent, "independent") };
/// (1 - w) I + w C of the targets' correlations C
MERCER_SPEC(Covariance, "covariance") MERCER_KEY1(Number, weight) };
/// (I + w L)^-1, L the Laplacian of the graph with weights matrix, divided by its mean degree. Needs matrix
MERCER_SPEC(Graph, "graph") MERCER_KEY1(Number, weight) MERCER_KEY1(List<Numbers>, matrix) };
/// exp(-w S), S the mean squared distances of the targets in units of their deviations
MERCER_SPEC(Similarity, "similarity") MERCER_KEY1(Number, weight) };
/// the matrix, positive semi-definite. Needs matrix
MERCER_SPEC(Given, "given") MERCER_KEY1(List<Numbers>, matrix) };
/// covariance (for a field its kernel), or independent if that is no worse
MERCER_SPEC(Auto, "auto") MERCER_KEY1(Number, weight) };
#undef MERCER_SPEC
}

/// `mercer specs`: selections
namespace selections {
#define MERCER_SPEC(Name, name) \
  MERCER_ENTRY(Selection, Name, "by", name) MERCER_KEY2(Number, largest, smallest) MERCER_KEY1(Integer, count)
/// leave_one_out; held_out for other losses than squares
MERCER_SPEC(Auto, "auto") MERCER_KEY1(Integer, folds) MERCER_KEY1(Number, fraction) };
/// loss on one held-out part of the rows
MERCER_SPEC(HeldOut, "held_out") MERCER_KEY1(Number, fraction) };
/// loss on every row, held out with its fold
MERCER_SPEC(Folds, "folds") MERCER_KEY1(Integer, folds) };
/// generalised cross-validation: leave-one-out with the mean leverage in place of each row's
MERCER_SPEC(Gcv, "gcv") };
/// loss on every row by the fit without it, in closed form
MERCER_SPEC(LeaveOneOut, "leave_one_out") };
/// the marginal likelihood of all rows, with lambda as the noise
MERCER_SPEC(Evidence, "evidence") };
#undef MERCER_SPEC
}

/// `mercer specs`: bounds
namespace bounds {
#define MERCER_SPEC(Name, name) \
  MERCER_ENTRY(Bound, Name, "bound", name) MERCER_KEY1(Number, delta)
/// |phi_p(x)'phi_q(y) - d^{p,q} k(x, y)| over a set, for Fourier features. Needs kernel, inputs, diameter, delta
MERCER_SPEC(Derivative, "derivative") MERCER_KEY1(Of<Kernel>, kernel) MERCER_KEY3(Integer, inputs, frequencies, moment)
    MERCER_KEY2(List<Number>, p, q) MERCER_KEY4(Number, diameter, epsilon, norm, bernstein) };
/// a kernel k Gamma and its Fourier features over a ball. Needs inputs, epsilon, diameter
MERCER_SPEC(Decomposable, "decomposable") MERCER_KEY1(Of<Kernel>, kernel) MERCER_KEY2(Integer, inputs, frequencies)
    MERCER_KEY4(Number, epsilon, diameter, s, norm) };
/// a kernel of several outputs and features of bounded norm: decomposable ones, fields with "bounded". Needs inputs, epsilon
MERCER_SPEC(BoundedFeatures, "bounded_features") MERCER_KEY1(Of<Kernel>, kernel) MERCER_KEY3(Integer, inputs, frequencies, outputs)
    MERCER_KEY4(Number, epsilon, diameter, radius, covering) MERCER_KEY4(Number, m, u, v, intrinsic) };
/// the same of features of sub-exponential norm, as fields have them by default. Needs inputs, epsilon
MERCER_SPEC(UnboundedFeatures, "unbounded_features") MERCER_KEY1(Of<Kernel>, kernel) MERCER_KEY3(Integer, inputs, frequencies, outputs)
    MERCER_KEY4(Number, epsilon, diameter, radius, covering) MERCER_KEY4(Number, m, u, v, intrinsic) };
/// the number of random features on which ridge regression learns at the kernel's own rate. Needs rows
MERCER_SPEC(Ridge, "ridge") MERCER_KEY1(Integer, rows) MERCER_KEY4(Number, r, gamma, alpha, constant)
    MERCER_KEY3(Number, maximum_dimension, effective_dimension, kappa) };
#undef MERCER_SPEC
}

/// `mercer specs`: tests; scale: columns, none
namespace tests {
#define MERCER_SPEC(Name, name) \
  MERCER_ENTRY(Test, Name, "test", name) MERCER_KEY2(Integer, features, seed)
/// whether two samples have one distribution: the largest of several squared maximum mean discrepancies, each standardised by permutations, which
/// give its exact level
MERCER_SPEC(Mmd, "mmd") MERCER_KEY1(List<Of<Kernel>>, kernels) MERCER_KEY1(List<Number>, bandwidths) MERCER_KEY1(Text, scale)
    MERCER_KEY2(Integer, permutations, witnesses) };
/// the same from the mean over blocks of rows, with a normal p-value and no permutation
MERCER_SPEC(BlockMmd, "block_mmd") MERCER_KEY1(Of<Kernel>, kernel) MERCER_KEY1(Text, scale) MERCER_KEY1(Integer, block) };
/// the kernel inception distance of two samples of image features: the squared discrepancy for (x'y/d + 1)^3
MERCER_SPEC(Kid, "kid") MERCER_KEY1(Integer, permutations) };
/// whether row i of X and row i of Y depend on each other: the largest of several Hilbert-Schmidt independence criteria, each standardised by
/// permutations of Y
MERCER_SPEC(Hsic, "hsic") MERCER_KEY2(List<Of<Kernel>>, kernels, y_kernels) MERCER_KEY1(Boolean, labels) MERCER_KEY1(List<Number>, bandwidths)
    MERCER_KEY1(Text, scale) MERCER_KEY1(Integer, permutations) };
#undef MERCER_SPEC
}

}  // namespace spec
}  // namespace hpp
}  // namespace mercer
#undef MERCER_ENTRY
#undef MERCER_KEY1
#undef MERCER_KEY2
#undef MERCER_KEY3
#undef MERCER_KEY4
#endif
