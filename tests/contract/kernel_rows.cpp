// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A new kernel is a row here.
#include "contract/tables.h"

namespace mercer::test {

std::span<const KernelRow> kernel_rows() {
  // Polynomials have an input that stands out: products of centred factors have tails that would
  // need far more repetitions.
  constexpr double kAnywhere = -std::numeric_limits<double>::infinity();
  static constexpr KernelRow kRows[] = {
      {R"({"kernel":"gaussian","lengthscale":0.8,"variance":2.5})", 0.7},
      {R"({"kernel":"laplacian","lengthscale":2,"variance":1.5})", 0.8},
      {R"({"kernel":"cauchy","lengthscale":1.5,"variance":0.6})", 1.2},
      {R"({"kernel":"matern","nu":2.5,"lengthscale":0.9,"variance":0.7})", 0.5},
      {R"({"kernel":"matern","nu":0.5,"lengthscale":1.2})", 0.8, 0, 1, kAnywhere, Sampled::never},
      {R"({"kernel":"rational_quadratic","alpha":0.8,"lengthscale":1.1,"variance":1.3})", 1.0},
      {R"({"kernel":"generalized_gaussian_spectrum","order":2,"lengthscale":1.1,"variance":2})",
       1.5},
      {R"({"kernel":"generalized_gaussian_spectrum","order":1,"lengthscale":0.7})", 0.9, 0, 1,
       kAnywhere, Sampled::never},
      {R"({"kernel":"skewed_chi2","c":0.5,"variance":1.2})", 2.0, 0, 1, -0.5},
      {R"({"kernel":"spectral_mixture","weights":[0.7,1.2],"means":[0.4,-1],"variances":[1.5,0.4],)"
       R"("variance":0.8})",
       1.0},
      {R"({"kernel":"radial","most_inputs":64,"lengthscale":0.9,"variance":1.2,"tolerance":0.002,)"
       R"("radii":[0,0.3,0.6,0.9,1.2,1.5,1.8,2.1,2.4,2.7,3,3.3,3.6,3.9,4.2,4.5,4.8,5.1,5.4,5.7,6],"values":[1,0.955997,0.83527,0.666977,0.486752,0.324652,0.197899,0.110251,0.0561348,0.0261214,0.011109,0.00431784,0.00153381,0.000497955,0.000147748,4.00653e-05,9.9295e-06,2.24906e-06,4.65572e-07,8.80818e-08,1.523e-08]})",
       0.8},
      {R"({"kernel":"periodic","period":2.5,"width":0.9,"variance":1.4})", 0.9},
      {R"({"kernel":"spline","order":3,"period":3,"variance":0.6})", 1.0, 0, 1, kAnywhere,
       Sampled::never},
      {R"({"kernel":"polynomial","degree":1,"gamma":0.7,"variance":1.9})", 0.5, 1.0},
      {R"({"kernel":"polynomial","degree":2,"gamma":0.8,"offset":0.3,"variance":1.5})", 0.4, 1.0},
      {R"({"kernel":"polynomial","degree":3,"gamma":0.8,"offset":0.3})", 0.3, 1.0, 1, kAnywhere,
       Sampled::plain_maps},
      {R"({"kernel":"polynomial","degree":6,"gamma":0.9,"variance":0.8})", 0.15, 1.0, 1, kAnywhere,
       Sampled::plain_maps},
      {R"({"kernel":"sphere_polynomial","degree":5,"a":3,"unit_rows":true,"variance":1.6})", 1.0},
      {R"({"kernel":"bilinear","left":3,"variance":1.7})", 0.4, 1.0, 4},
      {R"({"kernel":"additive_chi2","variance":1.4})", 1.0, 0, 1, 0},
      {R"({"kernel":"intersection","variance":0.8})", 1.0, 0, 1, 0},
      {R"({"kernel":"jensen_shannon","variance":1.1})", 1.0, 0, 1, 0, Sampled::never},
      {R"({"kernel":"hellinger","variance":1.6})", 1.0, 0, 1, 0, Sampled::never},
      {R"({"kernel":"exponential_chi2","gamma":0.8,"variance":1.2})", 1.0, 0, 1, 0},
      {R"({"kernel":"tanimoto","variance":1.5})", 1.0, 0, 1, 0},
      {R"({"kernel":"exponential_semigroup","beta":0.25,"variance":1.3})", 0.5, 0, 1, 0},
      {R"({"kernel":"reciprocal_semigroup","lambda":4,"variance":0.9})", 1.0, 0, 1, 0},
      {R"({"kernel":"anova","variance":1.2})", 1.0, 1.0, 2},
      {R"({"kernel":"anova","degree":5})", 1.5, 1.0, 5, kAnywhere, Sampled::never},
      {R"({"kernel":"anova","subsets":"all","variance":0.7})", 0.6},
      {R"({"kernel":"exponential","lengthscale":1.3,"variance":0.7})", 0.9},
      {R"({"kernel":"dot_product","coefficients":[0.2,0.5,0,0.3],"variance":1.2})", 0.5, 1.0},
      {R"({"kernel":"arc_cosine","order":0,"variance":1.4})", 0.5, 1.2, 1, kAnywhere,
       Sampled::never},
      {R"({"kernel":"arc_cosine","order":1,"variance":0.8})", 0.5, 1.2},
      {R"({"kernel":"arc_cosine","order":2})", 0.5, 1.2, 1, kAnywhere, Sampled::never},
      {R"({"kernel":"sign","variance":1.6})", 0.5, 1.2},
      {R"({"kernel":"optical","variance":0.9})", 0.5, 1.0},
      {R"({"kernel":"optical","exponent":4})", 0.5, 1.0, 1, kAnywhere, Sampled::never},
      {R"({"kernel":"optical","entries":"real","variance":1.2})", 0.5, 1.0, 1, kAnywhere,
       Sampled::plain_maps},
      {R"({"kernel":"custom","variance":1.3})", 0.7},  // support/custom.cpp
      {R"({"kernel":"sum","parts":[{"kernel":"gaussian","lengthscale":0.8},)"
       R"({"kernel":"polynomial","degree":2,"gamma":0.8,"offset":0.3}],"variance":1.5})",
       0.4, 1.0},
      {R"({"kernel":"product","parts":[{"kernel":"gaussian","lengthscale":0.8},)"
       R"({"kernel":"polynomial","gamma":0.8,"offset":0.3}],"variance":1.5})",
       0.4, 1.0},
      {R"({"kernel":"sum","parts":[{"kernel":"gaussian","lengthscale":0.8},)"
       R"({"kernel":"matern","lengthscale":1.2,"variance":0.5}],"variance":1.5})",
       0.6, 0.0, 1, kAnywhere, Sampled::plain_maps},
      {R"({"kernel":"product","parts":[{"kernel":"rational_quadratic","lengthscale":0.8},)"
       R"({"kernel":"laplacian","lengthscale":2}]})",
       0.6, 0.0, 1, kAnywhere, Sampled::plain_maps},
      {R"({"kernel":"product","parts":[{"kernel":"sum","parts":[{"kernel":"gaussian"},)"
       R"({"kernel":"laplacian","lengthscale":1.5}],"variance":0.7},)"
       R"({"kernel":"polynomial","gamma":0.8,"offset":0.3}]})",
       0.4, 1.0, 1, kAnywhere, Sampled::plain_maps},
      {R"({"kernel":"product","parts":[{"kernel":"arc_cosine","variance":1.4},)"
       R"({"kernel":"anova","subsets":"all"}],"variance":0.6})",
       0.4, 1.0},
  };
  return kRows;
}

}  // namespace mercer::test
