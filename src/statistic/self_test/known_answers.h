// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What map_answers finds on every machine. To renew a line, which is to break its seeds: the test
// prints what it found.
#pragma once

namespace mercer::statistic {

struct KnownAnswer {
  const char* map;
  const char* kernel;
  const char* projection;  // empty: the map's own
  double sum;
};

inline constexpr KnownAnswer kKnownAnswers[] = {
    {"fourier", "gaussian", "", -1.0718926790607701},
    {"linear", "polynomial", "", 0.3334000693182548},
    {"positive", "exponential", "", 0.23007070824163375},
    {"arc_cosine", "arc_cosine", "", 0.2029748797505241},
    {"sign", "sign", "", 0.11498138078628681},
    {"optical", "optical", "", -1.6710880562229655},
    {"nystroem", "gaussian", "", -2.7763820465705713},
    {"exact", "gaussian", "", -28.961000162261843},
    {"additive", "additive_chi2", "", 2.065510593005753},
    {"laplace", "exponential_semigroup", "", -0.030126677657956992},
    {"anova", "anova", "", -0.04134913642947894},
    {"poisson", "gaussian", "", -0.17061149247028326},
    {"random_binning", "laplacian", "", 0.29180798136438646},
    {"exact_polynomial", "polynomial", "", -0.793454041273412},
    {"maclaurin", "exponential", "", -2.4900335265445874},
    {"sum", "sum", "", -2.2780407548805286},
    {"product", "product", "", 1.482905192723152},
    {"product_sketch", "polynomial", "", -0.7664600393814488},
    {"tensor_sketch", "polynomial", "", -1.2428240079734565},
    {"tensor_srht", "polynomial", "", -0.17408398693416005},
    {"hierarchical_sketch", "polynomial", "", 1.645015001397375},
    {"craft", "polynomial", "", 0.5604043333793646},
    {"fourier", "laplacian", "", 0.6313999692296223},
    {"fourier", "cauchy", "", -1.8545836080960048},
    {"fourier", "matern", "", -2.083151474857701},
    {"fourier", "rational_quadratic", "", -2.1038180005660814},
    {"fourier", "generalized_gaussian_spectrum", "", -2.029772587416703},
    {"fourier", "skewed_chi2", "", -2.082940224211816},
    {"fourier", "sphere_polynomial", "", 0.04883331940094434},
    {"additive", "intersection", "", 2.2628402895387345},
    {"additive", "jensen_shannon", "", 1.893497972080472},
    {"additive", "hellinger", "", -1.086592789867724},
    {"laplace", "reciprocal_semigroup", "", -0.18436185906969998},
    {"fourier", "curl_free", "", -1.3979523757441772},
    {"fourier", "divergence_free", "", -1.4502206036065552},
    {"fourier", "helmholtz", "", -5.525401999804011},
    {"fourier", "gaussian", "dense", -1.0718926790607701},
    {"fourier", "gaussian", "orthogonal", -1.0535130692720545},
    {"fourier", "gaussian", "sorf", -2.846059857272982},
    {"fourier", "gaussian", "fastfood", -0.8302373653961861},
    {"fourier", "gaussian", "sobol", 0.21559112554990212},
    {"fourier", "gaussian", "halton", -0.8164805049084263},
    {"fourier", "gaussian", "circulant", -0.10814018916569171},
    {"fourier", "gaussian", "quadrature", -1.3455197872456597},
    {"fourier", "gaussian", "simplex", -1.7505790580619596},
};

}  // namespace mercer::statistic
