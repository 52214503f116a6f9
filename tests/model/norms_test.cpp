// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Norms of fitted functions in the kernel's space: u'K u with the Gram matrix of dense algebra for
// map exact, weights through Gamma's inverse for features of several outputs.
#include "io/object_file.h"
#include "model/model_derivative.h"
#include "model_problem.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace norms_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

Model fitted(const std::string& keys, const Problem& problem) {
  Context context;
  return test::fit(
      spec::fit_plan("{" + keys +
                     R"(,"search":false,"prepare":{"standardize":false,"extrapolation":"free"}})"),
      nullptr, problem.x(), problem.y(), {}, context);
}

std::vector<double> norms_of(const Model& model) {
  Context context;
  return norms(model, context);
}

TEST_CASE("norms: of map exact they are those of the Gram matrix") {
  Context context;
  const Problem problem = smooth_problem(25, 3, 3, 0.1, 31);
  const std::string gamma = R"("gamma":[[2,0.5,0],[0.5,1,0.3],[0,0.3,1.5]])";
  for (const std::string& kernel :
       {std::string(R"({"kernel":"gaussian","lengthscale":0.8,"variance":3})"),
        std::string(R"({"kernel":"metric","matrix":[[1,0.5,0],[0,1,2]],"of":{"kernel":"matern"}})"),
        std::string(R"({"kernel":"curl_free","scalar":{"kernel":"gaussian","lengthscale":0.9}})"),
        R"({"kernel":"decomposable",)" + gamma +
            R"(,"scalar":{"kernel":"gaussian","lengthscale":1}})"}) {
    INFO(kernel);
    const Model model =
        fitted(R"("lambda":1e-3,"map":{"map":"exact","kernel":)" + kernel + "}", problem);
    const auto k = kernel::make_kernel(spec::parse_object(kernel));
    const bool joint = k->matrix() != nullptr;
    const int64_t p = joint ? 3 : 1;
    const Matrix<double> K(25 * p, 25 * p);
    kernel::gram(*k, problem.x(), problem.x(), context, K.view());
    // f - b at the rows, by predictions; of several outputs u solves K u = f - b.
    const std::vector<double> found = norms_of(model);
    const Matrix<double> f = predictions(model, problem.x());
    const solver::Weights& weights = linear_weights(model);
    REQUIRE(std::ssize(found) == (joint ? 1 : 3));
    Matrix<double> L(25 * p, 25 * p);  // Cholesky of K + tiny
    for (int64_t i = 0; i < 25 * p; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        double left = K(i, j) + (i == j) * 1e-13;
        for (int64_t l = 0; l < j; ++l) left -= L(i, l) * L(j, l);
        L(i, j) = i == j ? std::sqrt(left) : left / L(j, j);
      }
    for (int64_t c = 0; c < std::ssize(found); ++c) {  // |L^{-1} (f - b)|
      std::vector<double> z(25 * p);
      double square = 0;
      for (int64_t i = 0; i < 25 * p; ++i) {
        const int64_t row = joint ? i / 3 : i, output = joint ? i % 3 : c;
        z[i] = f(row, output) - weights.intercept[output];
        for (int64_t l = 0; l < i; ++l) z[i] -= L(i, l) * z[l];
        z[i] /= L(i, i);
        square += z[i] * z[i];
      }
      CHECK(found[c] == Approx(std::sqrt(square)).epsilon(1e-6));
    }
    const TemporaryDirectory directory;
    io::save(model, directory.file("model"));
    CHECK(norms_of(*io::load_model(directory.file("model"))) == found);
  }
}

TEST_CASE("norms: of features they are the weights', of several outputs the roots' coefficients'") {
  const Problem problem = smooth_problem(60, 3, 2, 0.1, 32);
  const Model plain =
      fitted(R"("lambda":1e-2,"map":{"features":40,"kernel":{"kernel":"gaussian"}})", problem);
  const Matrix<double>& w = linear_weights(plain).w;
  const std::vector<double> found = norms_of(plain);
  REQUIRE(found.size() == 2);
  for (int64_t o = 0; o < 2; ++o) {
    double square = 0;
    for (int64_t c = 0; c < 40; ++c) square += w(c, o) * w(c, o);
    CHECK(found[o] == Approx(std::sqrt(square)));
  }
  // sum_c w_c' Gamma^{-1} w_c, Gamma = [[2, 0.5], [0.5, 1]].
  const Model joint =
      fitted(R"("lambda":1e-2,"map":{"features":40,"kernel":{"kernel":"decomposable","gamma":)"
             R"([[2,0.5],[0.5,1]],"scalar":{"kernel":"gaussian"}}})",
             problem);
  const Matrix<double>& v = linear_weights(joint).w;
  double square = 0;
  for (int64_t c = 0; c < v.rows(); ++c)
    square += (v(c, 0) * v(c, 0) - v(c, 0) * v(c, 1) + 2 * v(c, 1) * v(c, 1)) / 1.75;
  REQUIRE(norms_of(joint).size() == 1);
  CHECK(norms_of(joint)[0] == Approx(std::sqrt(square)).epsilon(1e-9));
}

TEST_CASE("norms: models without weights of features have none") {
  Problem problem = smooth_problem(40, 3, 1, 0.1, 33);
  for (int64_t i = 0; i < 40; ++i) problem.Y(i, 0) = problem.Y(i, 0) > 0;
  const std::string map = R"(,"map":{"features":20,"kernel":{"kernel":"gaussian"}})";
  const Model classes =
      fitted(R"("model":"svgp","task":"classification","lambda":1e-3)" + map, problem);
  CHECK_REFUSED(MERCER_UNSUPPORTED, norms_of(classes), "weights");
}

}  // namespace norms_test
