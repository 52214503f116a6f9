// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Specs by typed setters instead of JSON text: the keys of other entries, and values of other types, do not compile. What a key means,
//! its range and default: `mercer specs NAME`. The fits of `models` may leave out whatever they can choose, a map's inputs for one.
//!
//! ```
//! use mercer::{spec::{kernels, maps, Of}, Kernel, Map};
//! let matern = kernels::Matern::new().nu(1.5).lengthscale([2.0, 1.0, 0.5]);
//! let map = Map::new(maps::Fourier::new().kernel(matern).inputs(3).features(512))?;
//! # assert_eq!(map.shape().features, 512);
//! // A list of different kernels.
//! let parts: Vec<Box<dyn Of<Kernel>>> = vec![Box::new(kernels::Gaussian::new().lengthscale(2)), Box::new(kernels::Polynomial::new().degree(1))];
//! let sum = Kernel::new(kernels::Sum::new().parts(parts))?;
//! # assert!(sum.spec()?.contains("polynomial"));
//! # Ok::<(), mercer::Error>(())
//! ```
//! ```compile_fail
//! mercer::spec::kernels::Gaussian::new().nu(1.5);
//! ```
use crate::{invalid, Kernel, Map, Model, Result};

/// A value of a spec, or a whole one: of a [`Kernel`], [`Map`] or [`Model`] their builders, or JSON text.
pub trait Of<T: ?Sized> {
    fn json(&self) -> Result<String>;
}

/// A spec of how outputs are learnt together.
pub enum Outputs {}
/// A spec of how lambda is chosen.
pub enum Selection {}
/// A question to `mercer_bound`.
pub enum Bound {}
/// A spec of a test of rows.
pub enum Test {}
/// A number, or a list of them.
pub enum Numbers {}

impl Of<f64> for f64 {
    fn json(&self) -> Result<String> {
        let expected = || invalid(format!("{self}, expected a finite number"));
        self.is_finite().then(|| format!("{self:?}")).ok_or_else(expected)
    }
}
impl Of<str> for str {
    fn json(&self) -> Result<String> {
        let plain = |c: char| if c < ' ' || c == '"' || c == '\\' { format!("\\u{:04x}", c as u32) } else { c.into() };
        Ok(format!("\"{}\"", self.chars().map(plain).collect::<String>()))
    }
}
impl<T, V: Of<T>> Of<[T]> for [V] {
    fn json(&self) -> Result<String> {
        Ok(format!("[{}]", self.iter().map(V::json).collect::<Result<Vec<_>>>()?.join(",")))
    }
}
macro_rules! written {
    ($(($($generic:tt)*) $of:ty, $own:ty: $call:expr;)*) => { $(impl<$($generic)*> Of<$of> for $own {
        fn json(&self) -> Result<String> {
            $call(self)
        }
    })* };
}
written! {
    () i64, i32: plain; () i64, u32: plain; () i64, i64: plain; () i64, usize: plain; () u64, u64: plain; () bool, bool: plain;
    () Kernel, str: one_value; () Map, str: one_value; () Model, str: one_value;
    () Outputs, str: one_value; () Selection, str: one_value; () Test, str: one_value;
    () u64, u32: plain; () u64, usize: plain; () u64, i32: plain; () f64, i32: plain; () f64, u32: plain; () f64, f32: wide;
    () Numbers, f64: Of::<f64>::json; () Numbers, f32: wide; () Numbers, i32: plain; () Numbers, u32: plain;
    (V: Of<f64>) Numbers, [V]: Of::<[f64]>::json; (V: Of<f64>) Numbers, Vec<V>: |list: &Vec<V>| Of::<[f64]>::json(&list[..]);
    (V: Of<f64>, const N: usize) Numbers, [V; N]: |list: &[V; N]| Of::<[f64]>::json(&list[..]);
    (T, V: Of<T>) [T], Vec<V>: |list: &Vec<V>| Of::<[T]>::json(&list[..]);
    (T, V: Of<T>, const N: usize) [T], [V; N]: |list: &[V; N]| Of::<[T]>::json(&list[..]);
    (T: ?Sized, V: Of<T> + ?Sized) T, &V: |one: &&V| V::json(one); (T: ?Sized, V: Of<T> + ?Sized) T, Box<V>: |one: &Box<V>| V::json(one);
}
/// f32 as the f64 that it is: 0.1f32 is 0.10000000149011612.
fn wide(value: &f32) -> Result<String> {
    Of::<f64>::json(&f64::from(*value))
}
/// The text, if it is no more than one JSON value, so that it stays under its key.
fn one_value(text: &str) -> Result<String> {
    let (mut depth, mut quoted, mut escaped, mut one) = (0, false, false, true);
    for c in text.chars() {
        match c {
            _ if quoted => {
                quoted = c != '"' || escaped;
                escaped = c == '\\' && !escaped;
            }
            '"' => quoted = true,
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => one &= depth > 0 || !matches!(c, ',' | ':'),
        }
        one &= depth >= 0;
    }
    let expected = || invalid(format!("{text}, expected one JSON object"));
    (one && !quoted && depth == 0).then(|| text.to_string()).ok_or_else(expected)
}
fn plain(value: &(impl ToString + ?Sized)) -> Result<String> {
    Ok(value.to_string())
}
impl<T: ?Sized> Of<T> for String
where
    str: Of<T>,
{
    fn json(&self) -> Result<String> {
        self.as_str().json()
    }
}

#[derive(Clone, Debug)]
struct Fields(Vec<(&'static str, Result<String>)>);

impl Fields {
    fn with(mut self, key: &'static str, value: Result<String>) -> Self {
        self.0.retain(|(other, _)| *other != key);
        self.0.push((key, value));
        self
    }
    fn json(&self) -> Result<String> {
        let written = |(key, value): &(&str, Result<String>)| match value {
            Ok(json) => Ok(format!("\"{key}\":{json}")),
            Err(error) => Err(invalid(format!("{key}: {error}"))),
        };
        Ok(format!("{{{}}}", self.0.iter().map(written).collect::<Result<Vec<_>>>()?.join(",")))
    }
}

macro_rules! entries {
    ($(#[$about:meta])* $module:ident $kind:ident $key:literal $common:tt $($(#[$help:meta])* $name:ident $text:literal $own:tt)*) => {
        $(#[$about])*
        pub mod $module {
            use super::*;
            $(entries! { $(#[$help])* $name $kind $key $text $common $own })*
        }
    };
    ($(#[$help:meta])* $name:ident $kind:ident $key:literal $text:literal {$($a:ident: $A:ty),*} {$($b:ident: $B:ty),*}) => {
        $(#[$help])*
        #[derive(Clone, Debug)]
        pub struct $name(Fields);
        impl $name {
            #[allow(clippy::new_without_default)]
            pub fn new() -> Self {
                $name(Fields(if $text == "" { vec![] } else { vec![($key, Of::<str>::json($text))] }))
            }
            $(pub fn $a(self, value: impl Of<$A>) -> Self {
                $name(self.0.with(stringify!($a), value.json()))
            })*
            $(pub fn $b(self, value: impl Of<$B>) -> Self {
                $name(self.0.with(stringify!($b), value.json()))
            })*
        }
        impl Of<$kind> for $name {
            fn json(&self) -> Result<String> {
                self.0.json()
            }
        }
    };
}

// Below: made by cmake/bind.py from `mercer specs --json`.

entries! {
    /// Further specs
    others Self "" {}
    /// how inputs and targets are prepared. scale: standard, robust, center, common; missing: refuse, fill, flag; transform: none, log, rank, auto;
    /// target_transform: none, log, rank, auto; extrapolation: clip, free, refuse
    Prepare "" {standardize: bool, scale: str, missing: str, transform: str, target_transform: str, unit_rows: bool, extrapolation: str}
    /// what mercer_map_recommend reads. Needs kernel. by: time, features; taken: given, standardized
    Recommend "" {kernel: Kernel, error: f64, features: i64, by: str, taken: str, rows: i64, count: i64, seed: u64}
    /// what mercer_map_certify reads
    Certify "" {level: f64, rows: i64, seed: u64}
}

entries! {
    /// `mercer specs`: kernels
    kernels Kernel "kernel" {variance: f64}
    /// exp(-||tau||^2 / (2 l^2))
    Gaussian "gaussian" {lengthscale: Numbers}
    /// exp(-||tau||_1 / l)
    Laplacian "laplacian" {lengthscale: Numbers}
    /// prod_j 1 / (1 + tau_j^2 / l^2)
    Cauchy "cauchy" {lengthscale: Numbers}
    /// 2^(1-nu)/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau|| / l
    Matern "matern" {nu: f64, lengthscale: Numbers}
    /// (1 + ||tau||^2 / (2 alpha l^2))^(-alpha)
    RationalQuadratic "rational_quadratic" {alpha: f64, lengthscale: Numbers}
    /// the kernel of spectral density proportional to prod_j exp(-(l w_j)^(2 order)); order 1: exp(-||tau||^2 / (4 l^2))
    GeneralizedGaussianSpectrum "generalized_gaussian_spectrum" {order: i64, lengthscale: Numbers}
    /// prod_j 2 sqrt(x_j + c) sqrt(y_j + c) / (x_j + y_j + 2 c), inputs > -c
    SkewedChi2 "skewed_chi2" {c: f64}
    /// sum_q w_q exp(-1/2 sum_j v_qj tau_j^2) cos(mu_q'tau). Needs weights, means, variances
    SpectralMixture "spectral_mixture" {weights: [f64], means: [Numbers], variances: [Numbers]}
    /// (gamma x'y + offset)^degree
    Polynomial "polynomial" {degree: i64, gamma: f64, offset: f64}
    /// (1 - ||tau||^2 / a^2)^degree of rows of norm 1, that is (1 - 2/a^2 + 2/a^2 x'y)^degree
    SpherePolynomial "sphere_polynomial" {degree: i64, a: f64, unit_rows: bool}
    /// (x1'y1) (x2'y2) of rows [x1 | x2]. Needs left
    Bilinear "bilinear" {left: i64}
    /// sum_j 2 x_j y_j / (x_j + y_j), inputs >= 0
    AdditiveChi2 "additive_chi2" {}
    /// sum_j min(x_j, y_j), inputs >= 0
    Intersection "intersection" {}
    /// sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), inputs >= 0
    JensenShannon "jensen_shannon" {}
    /// sum_j sqrt(x_j y_j), inputs >= 0
    Hellinger "hellinger" {}
    /// exp(-beta sum_j sqrt(x_j + y_j)), inputs >= 0
    ExponentialSemigroup "exponential_semigroup" {beta: f64}
    /// prod_j lambda / (x_j + y_j + lambda), inputs >= 0
    ReciprocalSemigroup "reciprocal_semigroup" {lambda: f64}
    /// sum over subsets S of `degree` inputs of prod_{j in S} x_j y_j; all: prod_j (1 + x_j y_j). subsets: of_degree, all
    Anova "anova" {degree: i64, subsets: str}
    /// exp(x'y / l^2)
    Exponential "exponential" {lengthscale: Numbers}
    /// sum_n a_n (x'y)^n, a_n >= 0. Needs coefficients
    DotProduct "dot_product" {coefficients: [f64]}
    /// ||x||^n ||y||^n J_n(angle)/pi, n = order: 2 E (w'x)_+^n (w'y)_+^n of normal w
    ArcCosine "arc_cosine" {order: i64}
    /// 1 - 2 angle/pi: E sign(w'x) sign(w'y) of normal w
    Sign "sign" {}
    /// E |u'x|^m |u'y|^m, m = exponent, of complex normal u; m = 2: ||x||^2 ||y||^2 + (x'y)^2
    Optical "optical" {exponent: i64}
    /// sum_i k_i(x, y) of the parts. Needs parts
    Sum "sum" {parts: [Kernel]}
    /// prod_i k_i(x, y) of the parts. Needs parts
    Product "product" {parts: [Kernel]}
    /// k(x, y) Gamma, Gamma a positive semi-definite p x p matrix. Needs gamma
    Decomposable "decomposable" {scalar: Kernel, gamma: [Numbers], cutoff: f64}
    /// -grad grad' k: gradients of potentials
    CurlFree "curl_free" {scalar: Kernel}
    /// (grad grad' - Laplacian) k: fields without sources
    DivergenceFree "divergence_free" {scalar: Kernel}
    /// alpha curl_free + (1 - alpha) divergence_free
    Helmholtz "helmholtz" {scalar: Kernel, alpha: f64}
}

entries! {
    /// `mercer specs`: maps; projection: dense, orthogonal, sorf, fastfood, sobol, halton, circulant, quadrature, simplex; radius: drawn, fixed;
    /// scramble: owen, digital_shift
    maps Map "map" {kernel: Kernel, inputs: i64, features: i64, seed: u64}
    /// the map that suits the kernel
    Auto "" {}
    /// random Fourier features of a shift-invariant kernel: cos and sin of x'omega, omega from the spectral distribution. projection: dense,
    /// orthogonal, sorf, fastfood, sobol, halton, circulant, quadrature, simplex, grid, supplied; form: pair, phase, complex; weights: given,
    /// leverage; root: symmetric, orthonormal
    Fourier "fourier" {projection: str, form: str, radius: str, scramble: str, whole_blocks: bool, weights: str, penalty: f64, pool: i64,
        largest_bias: f64, rms_bias: f64, diameter: Numbers, tolerance: f64, step: Numbers, extent: Numbers, error_bound: f64, bounded: bool,
        root: str}
    /// random projection that keeps inner products, for the kernel polynomial with degree 1 and offset 0. projection: gaussian, rademacher, srht,
    /// countsketch, osnap
    Linear "linear" {projection: str, nonzeros: i64}
    /// exponentials of w'x of normal w, for the kernels exponential (softmax attention) and gaussian. form: exp, hyperbolic, trigonometric
    Positive "positive" {projection: str, radius: str, scramble: str, whole_blocks: bool, form: str, stabilize: bool, tilt: f64}
    /// one layer of random neurons 1[w'x > 0] (w'x)^order of normal w, for the kernel arc_cosine
    ArcCosine "arc_cosine" {projection: str, radius: str, scramble: str, whole_blocks: bool}
    /// signs of w'x of normal w, for the kernel sign
    Sign "sign" {projection: str, radius: str, scramble: str, whole_blocks: bool}
    /// intensities |u'x|^exponent of complex normal u, for the kernel optical; two projections a row. projection: dense, orthogonal, sorf, fastfood,
    /// sobol, halton, circulant, simplex; threshold_from: given, targets
    Optical "optical" {projection: str, radius: str, scramble: str, whole_blocks: bool, input_bits: i64, threshold: f64, threshold_from: str,
        output_bits: i64, exposure: f64}
    /// kernel values with landmarks among the rows, times the inverse root of their kernel matrix: exact on the landmarks; any kernel of numbers; D
    /// (d + D/2) per row. landmarks: uniform, kmeans, farthest, leverage, rpcholesky, supplied
    Nystroem "nystroem" {landmarks: str, cutoff: f64, rank: i64}
    /// the kernel's values with all rows that it is made from, k(x, x_j), one column each: a fit on it is kernel ridge itself, n^3; any kernel of
    /// numbers; n d per row
    Exact "exact" {}
    /// roots of inputs times cos and sin of multiples of their logarithms, for additive homogeneous kernels: 2 order + 1 columns for each input, the
    /// same for every seed; nnz (2 order + 1) per row
    Additive "additive" {order: i64, period: f64}
    /// random Laplace features exp(-x'omega) of semigroup kernels of rows without negative entries. projection: dense, sobol, halton
    Laplace "laplace" {projection: str, scramble: str}
    /// sums over subsets of products of inputs with random signs, for the kernel anova; degree*d*D per row
    Anova "anova" {}
    /// random monomials with Poisson exponents, for the Gaussian: for few inputs of size about 1, or long lengthscales; 2*d*D per row
    Poisson "poisson" {}
    /// random grids, each with one entry in its columns where a hash of the row's bin says; d*D/bins hash steps per row
    RandomBinning "random_binning" {bins: i64}
    /// every monomial, weighted, of the kernel polynomial: exact, the same for every seed; features is C(d + degree, degree), without offset C(d +
    /// degree - 1, degree), at most 4000000
    ExactPolynomial "exact_polynomial" {}
    /// sketches of the degrees of a kernel's power series side by side, for functions of x'y and, by the row's norm, the gaussian; at best degree (d
    /// log d + D) per row. allocation: random, optimized, given
    Maclaurin "maclaurin" {allocation: str, columns: [f64], min_degree: i64, max_degree: i64, exact_linear: bool, sketch: Map,
        predicted_variance: [f64], predicted_bias: [f64]}
    /// the features of the parts of a sum of kernels side by side; their costs add up
    Sum "sum" {parts: [Map], shares: [f64]}
    /// the features of the parts of a product of kernels multiplied column by column; the costs of the parts add up
    Product "product" {parts: [Map]}
    /// products of `degree` random projections, for polynomial and bilinear kernels; degree*d*D per row. kind: rademacher, gaussian; field: real,
    /// complex, complex_to_real
    ProductSketch "product_sketch" {kind: str, field: str}
    /// circular convolution of `degree` CountSketches by FFT; degree*(nnz + D log D) per row, nnz non-zeros. field: real, complex_to_real, complex
    TensorSketch "tensor_sketch" {field: str}
    /// products of `degree` subsampled randomised Hadamard transforms; degree*(d log d + D) per row. kind: upsampled, stacked, tuple; field:
    /// complex_to_real, real, complex
    TensorSrht "tensor_srht" {kind: str, field: str}
    /// binary tree of sketches of two inputs each, for high degrees
    HierarchicalSketch "hierarchical_sketch" {base: Map, intermediate: i64}
    /// a wide sketch projected down to `features` columns. projection: srht, rademacher, gaussian
    Craft "craft" {base: Map, intermediate: i64, projection: str}
}

entries! {
    /// `mercer specs`: models; ard: auto, off, on; class_weight: none, balanced; effort: full, quick; precision: f32, f64; spectrum: drawn, learnt;
    /// task: regression, classification
    models Model "model" {map: Map, lengthscale: f64, ard: str, spectrum: str, most_features: i64, search: bool, effort: str, outputs: Outputs,
        select: Selection, prepare: super::others::Prepare, center: bool, task: str, classes: i64, precision: str, seed: u64, ordered: bool,
        assess: bool}
    /// ridge, or for classes the better of ridge and logistic
    Auto "auto" {}
    /// ridge regression or least-squares classification on the features of a map. solver: direct, cg, mixed
    Ridge "ridge" {lambda: f64, class_weight: str, solver: str}
    /// minimises a penalised loss on the features of a map, by L-BFGS: logistic regression and others. loss: logistic, squared_hinge, huber,
    /// quantile, poisson
    Logistic "logistic" {loss: str, lambda: f64, class_weight: str, delta: f64, tau: f64, iterations: i64, tolerance: f64}
    /// Gaussian process regression on the features of a map: ridge that keeps its posterior, 4 r^2 bytes. local: off, clusters, test_point
    Gp "gp" {lambda: f64, noise: f64, local: str, theta: f64}
    /// Gaussian process classification on Dirichlet-transformed labels, 4 K r^2 bytes
    Dirichlet "dirichlet" {lambda: f64, alpha: f64}
    /// variational Gaussian process classification with a logistic likelihood, one process for two classes, else K against the rest; 4 K r^2 bytes
    Svgp "svgp" {lambda: f64, batch: i64, epochs: i64}
    /// principal components of the features of a map, without targets
    KernelPca "kernel_pca" {components: i64, preimages: bool, lambda: f64}
}

entries! {
    /// `mercer specs`: outputs
    outputs Outputs "structure" {}
    /// I: each output by itself
    Independent "independent" {}
    /// (1 - w) I + w C of the targets' correlations C
    Covariance "covariance" {weight: f64}
    /// (I + w L)^-1, L the Laplacian of the graph with weights matrix, divided by its mean degree. Needs matrix
    Graph "graph" {weight: f64, matrix: [Numbers]}
    /// exp(-w S), S the mean squared distances of the targets in units of their deviations
    Similarity "similarity" {weight: f64}
    /// the matrix, positive semi-definite. Needs matrix
    Given "given" {matrix: [Numbers]}
    /// covariance (for a field its kernel), or independent if that is no worse
    Auto "auto" {weight: f64}
}

entries! {
    /// `mercer specs`: selections
    selections Selection "by" {largest: f64, smallest: f64, count: i64}
    /// leave_one_out; held_out for other losses than squares
    Auto "auto" {folds: i64, fraction: f64}
    /// loss on one held-out part of the rows
    HeldOut "held_out" {fraction: f64}
    /// loss on every row, held out with its fold
    Folds "folds" {folds: i64}
    /// generalised cross-validation: leave-one-out with the mean leverage in place of each row's
    Gcv "gcv" {}
    /// loss on every row by the fit without it, in closed form
    LeaveOneOut "leave_one_out" {}
    /// the marginal likelihood of all rows, with lambda as the noise
    Evidence "evidence" {}
}

entries! {
    /// `mercer specs`: bounds
    bounds Bound "bound" {delta: f64}
    /// |phi_p(x)'phi_q(y) - d^{p,q} k(x, y)| over a set, for Fourier features. Needs kernel, inputs, diameter, delta
    Derivative "derivative" {kernel: Kernel, inputs: i64, frequencies: i64, p: [f64], q: [f64], diameter: f64, epsilon: f64, norm: f64,
        bernstein: f64, moment: i64}
    /// a kernel k Gamma and its Fourier features over a ball. Needs inputs, epsilon, diameter
    Decomposable "decomposable" {kernel: Kernel, inputs: i64, frequencies: i64, epsilon: f64, diameter: f64, s: f64, norm: f64}
    /// a kernel of several outputs and features of bounded norm: decomposable ones, fields with "bounded". Needs inputs, epsilon
    BoundedFeatures "bounded_features" {kernel: Kernel, inputs: i64, frequencies: i64, epsilon: f64, diameter: f64, radius: f64, covering: f64,
        outputs: i64, m: f64, u: f64, v: f64, intrinsic: f64}
    /// the same of features of sub-exponential norm, as fields have them by default. Needs inputs, epsilon
    UnboundedFeatures "unbounded_features" {kernel: Kernel, inputs: i64, frequencies: i64, epsilon: f64, diameter: f64, radius: f64, covering: f64,
        outputs: i64, m: f64, u: f64, v: f64, intrinsic: f64}
    /// the number of random features on which ridge regression learns at the kernel's own rate. Needs rows
    Ridge "ridge" {rows: i64, r: f64, gamma: f64, alpha: f64, constant: f64, maximum_dimension: f64, effective_dimension: f64, kappa: f64}
}

entries! {
    /// `mercer specs`: tests; scale: columns, none
    tests Test "test" {features: i64, seed: u64}
    /// whether two samples have one distribution: the largest of several squared maximum mean discrepancies, each standardised by permutations, which
    /// give its exact level
    Mmd "mmd" {kernels: [Kernel], bandwidths: [f64], scale: str, permutations: i64, witnesses: i64}
    /// the same from the mean over blocks of rows, with a normal p-value and no permutation
    BlockMmd "block_mmd" {kernel: Kernel, scale: str, block: i64}
    /// the kernel inception distance of two samples of image features: the squared discrepancy for (x'y/d + 1)^3
    Kid "kid" {permutations: i64}
    /// whether row i of X and row i of Y depend on each other: the largest of several Hilbert-Schmidt independence criteria, each standardised by
    /// permutations of Y
    Hsic "hsic" {kernels: [Kernel], y_kernels: [Kernel], labels: bool, bandwidths: [f64], scale: str, permutations: i64}
}
