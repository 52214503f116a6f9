// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernel ridge itself with kernels of several outputs: fits on the map exact are dense algebra with
// the matrix of blocks K(x_i, x_j), rows and columns of targets that are missing left out. Fits of
// fields by passes over the rows are the direct ones.
#include "feature/feature_operator.h"
#include "feature/field_fourier.h"
#include "io/object_file.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"
#include "model/model_derivative.h"
#include "model_problem.h"
#include "solver/dual_system.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/fit.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace exact_fields_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

const std::string kPlain =
    R"(,"search":false,"prepare":{"standardize":false,"extrapolation":"free"})";

std::string map_of(const std::string& kernel) {
  return R"("map":{"map":"exact","kernel":)" + kernel + "}";
}

/// Kernels of three inputs, whose features no common map of one output has; and k Gamma.
std::vector<std::string> kernels() {
  return {
      R"({"kernel":"curl_free","scalar":{"kernel":"gaussian","lengthscale":0.9}})",
      R"({"kernel":"divergence_free","scalar":{"kernel":"matern","nu":2.5,"lengthscale":[1,2,1.5]}})",
      R"({"kernel":"helmholtz","alpha":0.3,"variance":2,"scalar":{"kernel":"rational_quadratic","lengthscale":1.2}})",
      R"({"kernel":"decomposable","gamma":[[2,0.5,0],[0.5,1,0.3],[0,0.3,1.5]],)"
      R"("scalar":{"kernel":"gaussian","lengthscale":0.8}})",
      R"({"kernel":"sum","variance":1.5,"parts":[{"kernel":"curl_free","scalar":{"kernel":)"
      R"("gaussian","lengthscale":0.9}},{"kernel":"decomposable","gamma":[[2,0.5,0],[0.5,1,0.3],)"
      R"([0,0.3,1.5]],"scalar":{"kernel":"gaussian","lengthscale":0.8}},)"
      R"({"kernel":"gaussian","lengthscale":2}]})"};
}

Model fitted(const std::string& keys, MatrixView<const double> X, MatrixView<const double> Y,
             std::span<const double> weights = {}) {
  Context context;
  return test::fit(spec::fit_plan("{" + keys + "}"), nullptr, X, Y, weights, context);
}

/// Every third target of the second output and all of the fourth row are missing, if asked for.
Problem with_gaps(Problem problem, bool gaps = true) {
  if (!gaps) return problem;
  for (int64_t i = 0; i < problem.Y.rows(); i += 3) problem.Y(i, 1) = std::nan("");
  problem.Y(3, 0) = problem.Y(3, 2) = std::nan("");
  return problem;
}

/// Predictions at T of the minimum of sum w_i |y_ik - f_k(x_i)|^2 / n + lambda a'K a over targets
/// that are there, f = K a + b: [WK + n lambda I, W E; E' 0][a; b] = [W y; 0] by elimination with
/// pivots, E the outputs' indicators.
Matrix<double> dense_predictions(const std::string& kernel, const Problem& problem, double lambda,
                                 bool center, const std::vector<double>& weights,
                                 MatrixView<const double> T) {
  const auto k = kernel::make_kernel(spec::parse_object(kernel));
  const int64_t n = problem.X.rows(), p = problem.Y.cols();
  Context context;
  Matrix<double> K(n * p, n * p), of_T(T.rows * p, n * p);
  kernel::gram(*k, problem.x(), problem.x(), context, K.view());
  kernel::gram(*k, T, problem.x(), context, of_T.view());
  std::vector<int64_t> at;
  double total = 0, sum = 0;  // weights count by their ratios
  for (int64_t i = 0; i < n; ++i) {
    sum += weights[i];
    for (int64_t o = 0; o < p; ++o)
      if (!std::isnan(problem.Y(i, o)) && weights[i] > 0) at.push_back(i * p + o);
  }
  const double unit = static_cast<double>(n) / sum;
  for (int64_t i = 0; i < n; ++i) {
    bool any = false;
    for (int64_t o = 0; o < p; ++o) any = any || !std::isnan(problem.Y(i, o));
    if (any) total += unit * weights[i];
  }
  const int64_t m = std::ssize(at), size = m + (center ? p : 0);
  Matrix<double> A(size, size + 1);
  A.fill(0);
  for (int64_t a = 0; a < m; ++a) {
    const double w = unit * weights[at[a] / p];
    for (int64_t b = 0; b < m; ++b) A(a, b) = w * K(at[a], at[b]);
    A(a, a) += total * lambda;
    A(a, size) = w * problem.Y(at[a] / p, at[a] % p);
    if (center) A(a, m + at[a] % p) = w, A(m + at[a] % p, a) = 1;
  }
  for (int64_t c = 0; c < size; ++c) {
    int64_t pivot = c;
    for (int64_t r = c; r < size; ++r)
      if (std::abs(A(r, c)) > std::abs(A(pivot, c))) pivot = r;
    for (int64_t j = 0; j <= size; ++j) std::swap(A(c, j), A(pivot, j));
    for (int64_t r = 0; r < size; ++r) {
      if (r == c) continue;
      const double factor = A(r, c) / A(c, c);
      for (int64_t j = c; j <= size; ++j) A(r, j) -= factor * A(c, j);
    }
  }
  Matrix<double> f(T.rows, p);
  for (int64_t i = 0; i < T.rows; ++i)
    for (int64_t o = 0; o < p; ++o) {
      f(i, o) = center ? A(m + o, size) / A(m + o, m + o) : 0;
      for (int64_t a = 0; a < m; ++a) f(i, o) += of_T(i * p + o, at[a]) * A(a, size) / A(a, a);
    }
  return f;
}

TEST_CASE("fits on the map exact of fields are the reference numbers") {
  for (const auto& entry : oracle("operator_kernels")["ovk_ridge"]) {
    const auto rows = [&](const char* key) {
      const auto& list = entry[key];
      return filled(std::ssize(list), 2,
                    [&](int64_t i, int64_t j) { return list[i][j].template get<double>(); });
    };
    const Matrix<double> X = rows("X"), Y = rows("Y"), T = rows("X_test"), u = rows("u");
    const std::string kernel = R"({"kernel":")" + entry["kernel"].get<std::string>() +
                               R"(","scalar":{"kernel":"gaussian","lengthscale":)" +
                               std::to_string(entry["sigma"].get<double>()) + "}}";
    const Model model = fitted(map_of(kernel) + kPlain + R"(,"center":false,"lambda":)" +
                                   std::to_string(entry["lambda"].get<double>()),
                               X.view(), Y.view());
    const solver::Weights& own = linear_weights(model);
    REQUIRE((own.w.rows() == 2 * X.rows() && own.w.cols() == 1 && own.outputs() == 2));
    double worst = 0;
    for (int64_t a = 0; a < own.w.rows(); ++a)
      worst = std::max(worst, std::abs(own.w(a, 0) - u.data()[a]));
    CHECK(worst < 1e-10);
    CHECK(largest_difference(predictions(model, T.view()), rows("predictions")) < 1e-10);
  }
}

/// The features of given frequencies of a curl-free or divergence-free field, their roots omega and
/// ||omega|| I - omega omega'/||omega||.
std::shared_ptr<const feature::FeatureMap> map_of_frequencies(const Matrix<double>& W,
                                                              bool curl_free, double sigma) {
  const int64_t F = W.rows(), q = curl_free ? 1 : 2;
  std::vector<double> roots;
  for (int64_t j = 0; j < F; ++j) {
    const double* const w = W.view().row(j);
    const double norm = std::hypot(w[0], w[1]);
    for (int64_t o = 0; o < 2; ++o)
      for (int64_t b = 0; b < q; ++b)
        roots.push_back(curl_free ? w[o] : (o == b ? norm : 0) - w[o] * w[b] / norm);
  }
  return feature::make_field_supplied(*kernel::make_gaussian({sigma}, 1), W.view(), {},
                                      {2, q, roots}, {});
}

TEST_CASE("ridge on features of fields is the reference numbers") {
  for (const auto& entry : oracle("operator_kernels")["ovk_ridge"]) {
    const auto& ridge = entry["feature_ridge"];
    const auto rows = [](const Reference& list) {
      return filled(std::ssize(list), 2,
                    [&](int64_t i, int64_t j) { return list[i][j].get<double>(); });
    };
    const auto W = filled(std::ssize(ridge["W"][0]), 2,
                          [&](int64_t j, int64_t k) { return ridge["W"][k][j].get<double>(); });
    const auto map = map_of_frequencies(W, entry["kernel"] == "curl_free", entry["sigma"]);
    const std::string keys = R"({"precision":"f64","center":false,"lambda":)" +
                             std::to_string(ridge["lambda"].get<double>()) + kPlain + "}";
    Context context;
    const Model model = test::fit(spec::fit_plan(keys), map, rows(entry["X"]).view(),
                                  rows(entry["Y"]).view(), {}, context);
    CHECK(largest_difference(predictions(model, rows(entry["X_test"]).view()),
                             rows(ridge["predictions"])) < 1e-10);
  }
}

TEST_CASE("fits on the map exact of several outputs are dense algebra, gaps and weights too") {
  const Problem test = smooth_problem(12, 3, 3, 0, 82);
  std::vector<double> ones(30, 1.0), weights;
  for (int64_t i = 0; i < 30; ++i) weights.push_back(static_cast<double>((i * 7) % 4));
  for (const std::string& kernel : kernels())
    for (const bool gaps : {false, true})
      for (const bool weighed : {false, true})
        for (const bool center : {true, false}) {
          INFO(kernel << gaps << weighed << center);
          const Problem problem = with_gaps(smooth_problem(30, 3, 3, 0.1, 81), gaps);
          const auto& w = weighed ? weights : ones;
          const Model model = fitted(
              map_of(kernel) + kPlain + R"(,"lambda":1e-3,"center":)" + (center ? "true" : "false"),
              problem.x(), problem.y(), w);
          CHECK(largest_difference(predictions(model, test.x()),
                                   dense_predictions(kernel, problem, 1e-3, center, w, test.x())) <
                1e-10);
        }
}

TEST_CASE("independent outputs of the map exact are fitted to the rows that have their target") {
  const Problem problem = with_gaps(smooth_problem(30, 3, 3, 0.1, 83));
  const std::string scalar = R"({"kernel":"gaussian","lengthscale":0.8})";
  const std::string identity =
      R"({"kernel":"decomposable","gamma":[[1,0,0],[0,1,0],[0,0,1]],"scalar":)" + scalar + "}";
  const Matrix<double> f = predictions(
      fitted(map_of(scalar) + kPlain + R"(,"lambda":1e-3)", problem.x(), problem.y()), problem.x());
  CHECK(largest_difference(f, dense_predictions(identity, problem, 1e-3, true,
                                                std::vector<double>(30, 1.0), problem.x())) <
        1e-10);
}

/// Mean squared residual of targets that are left out with their row, at n lambda.
double refitted_score(const std::string& kernel, const Problem& problem, double n_lambda) {
  double sum = 0;
  for (int64_t left = 0; left < problem.X.rows(); ++left) {
    std::vector<int64_t> rest;
    double own = 0;  // rows without a target do not count
    for (int64_t i = 0; i < problem.X.rows(); ++i) {
      if (i == left) continue;
      rest.push_back(i);
      own += std::any_of(problem.y().row(i), problem.y().row(i) + 3,
                         [](double y) { return !std::isnan(y); });
    }
    const Problem others{rows_of(problem.X, rest), rows_of(problem.Y, rest)};
    const Matrix<double> f = dense_predictions(kernel, others, n_lambda / own, true,
                                               std::vector<double>(rest.size(), 1.0),
                                               problem.x().block_rows(left, left + 1));
    for (int64_t o = 0; o < 3; ++o)
      if (!std::isnan(problem.Y(left, o))) sum += std::pow(f(0, o) - problem.Y(left, o), 2);
  }
  return sum;
}

TEST_CASE("leave-one-out of the map exact of several outputs is that of refits") {
  for (const std::string& kernel : kernels())
    for (const bool gaps : {false, true}) {
      INFO(kernel << gaps);
      const Problem problem = with_gaps(smooth_problem(14, 3, 3, 0.1, 84), gaps);
      const Model model = fitted(map_of(kernel) + kPlain +
                                     R"(,"select":{"largest":0.1,"smallest":0.001,"count":2,)"
                                     R"("by":"leave_one_out"})",
                                 problem.x(), problem.y());
      const double n = gaps ? 13 : 14;  // row 3 has no target
      const auto of = [&](const PathPoint& point) {
        return refitted_score(kernel, problem, point.lambda * n) / point.score;
      };
      REQUIRE(model.path.size() == 2);
      const double targets = of(model.path[0]);  // the score is a mean
      CHECK(std::abs(targets / of(model.path[1]) - 1) < 1e-8);
      CHECK(std::abs(targets - std::round(targets)) < 1e-6);
    }
}

TEST_CASE("lambda of the map exact of several outputs is chosen, and a kernel's factor is none") {
  const Problem problem = smooth_problem(40, 3, 3, 0.1, 85);
  for (const std::string by : {"leave_one_out", "folds", "held_out", "evidence"}) {
    INFO(by);
    const auto chosen = [&](const std::string& variance) {
      return fitted(map_of(R"({"kernel":"curl_free","variance":)" + variance +
                           R"(,"scalar":{"kernel":"gaussian"}})") +
                        kPlain + R"(,"select":{"by":")" + by + R"("})",
                    problem.x(), problem.y());
    };
    const Model one = chosen("1"), ten = chosen("10");
    CHECK(one.path.size() > 5);
    CHECK(std::abs(ten.fit.select.lambda / one.fit.select.lambda - 10) < 1e-6);
    CHECK(largest_difference(predictions(one, problem.x()), predictions(ten, problem.x())) < 1e-6);
  }
}

TEST_CASE("a search with the map exact learns a field, and its file has its predictions") {
  // Fields with a potential: phi = sin(x0 + 2 x1) + x1 x2.
  const auto gradients = [](int64_t n, uint64_t seed) {
    Problem field{random_matrix(n, 3, seed), Matrix<double>(n, 3)};
    for (int64_t i = 0; i < n; ++i) {
      const double* x = field.x().row(i);
      const double c = std::cos(x[0] + 2 * x[1]);
      field.Y(i, 0) = c, field.Y(i, 1) = 2 * c + x[2], field.Y(i, 2) = x[1];
    }
    return field;
  };
  const Problem problem = gradients(60, 86), test = gradients(100, 87);
  const Model model =
      fitted(map_of(R"({"kernel":"curl_free"})") + R"(,"prepare":{"scale":"common"})", problem.x(),
             problem.y());
  CHECK(model.map->features() == 180);
  const Matrix<double> f = predictions(model, test.x());
  double error = 0, size = 0;
  for (int64_t i = 0; i < 300; ++i) {
    error += std::pow(f.data()[i] - test.Y.data()[i], 2);
    size += std::pow(test.Y.data()[i], 2);
  }
  CHECK(error < 0.01 * size);
  const TemporaryDirectory directory;
  io::save(model, directory.file("model"));
  CHECK(equal_bytes(predictions(*io::load_model(directory.file("model")), test.x()), f));
}

TEST_CASE("products with the map exact of several outputs are those with its blocks") {
  const Problem problem = smooth_problem(9, 3, 3, 0.1, 88), test = smooth_problem(5, 3, 3, 0, 89);
  const Model model =
      fitted(map_of(kernels()[0]) + kPlain + R"(,"lambda":1e-3)", problem.x(), problem.y());
  const feature::FeatureMap& map = *model.map;
  REQUIRE((map.outputs() == 3 && map.features() == 27));
  Context context;
  const Matrix<double> K(15, 27), part(15, 8), theta = random_matrix(27, 2, 3), f(5, 6),
                                               back(27, 2);
  map.apply(test.x(), {0, 27}, context, K.view());
  map.apply(test.x(), {4, 12}, context, part.view());
  CHECK(difference(part.view(), K.view().block_cols(4, 12), 0) == "");
  feature::multiply(map, test.x(), theta.view(), feature::FieldKind::value, context, f.view());
  const Matrix<double> Y = random_matrix(5, 6, 4);
  feature::adjoint(map, test.x(), Y.view(), context, back.view());
  double worst = 0;
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t o = 0; o < 3; ++o)
      for (int64_t c = 0; c < 2; ++c) {
        double sum = 0;
        for (int64_t j = 0; j < 27; ++j) sum += K(i * 3 + o, j) * theta(j, c);
        worst = std::max(worst, std::abs(sum - f(i, c * 3 + o)));
      }
  for (int64_t j = 0; j < 27; ++j)
    for (int64_t c = 0; c < 2; ++c) {
      double sum = 0;
      for (int64_t i = 0; i < 5; ++i)
        for (int64_t o = 0; o < 3; ++o) sum += K(i * 3 + o, j) * Y(i, c * 3 + o);
      worst = std::max(worst, std::abs(sum - back(j, c)));
    }
  CHECK(worst < 1e-12);
}

TEST_CASE("fits of fields and gaps by passes over the rows are the direct ones") {
  const Problem test = smooth_problem(40, 3, 3, 0, 92);
  for (const std::string& kernel : kernels())
    for (const bool gaps : {false, true})
      for (const std::string by : {R"(,"lambda":1e-4)", R"(,"select":{"by":"folds","folds":3})"}) {
        INFO(kernel << gaps << by);
        const Problem problem = with_gaps(smooth_problem(120, 3, 3, 0.1, 91), gaps);
        const std::string keys = R"("map":{"features":48,"kernel":)" + kernel + "}" + kPlain +
                                 R"(,"precision":"f64")" + by;
        const Model direct = fitted(keys, problem.x(), problem.y()),
                    iterated = fitted(keys + R"(,"solver":"cg")", problem.x(), problem.y());
        CHECK((iterated.report.run.iterations > 0 && iterated.report.run.residual < 1e-9));
        CHECK(iterated.fit.select.lambda == direct.fit.select.lambda);
        CHECK(largest_difference(predictions(iterated, test.x()), predictions(direct, test.x())) <
              1e-6);
      }
}

TEST_CASE("outputs with gaps and of unequal units are each the direct ones by passes") {
  const Problem whole = smooth_problem(200, 3, 2, 0.1, 95), test = smooth_problem(40, 3, 2, 0, 96);
  for (int64_t i = 0; i < 200; ++i) whole.Y(i, 1) = i == 3 ? kNaN : 1e9 * (whole.Y(i, 1) + 5);
  const std::string keys =
      R"("map":{"features":96,"kernel":{"kernel":"gaussian","lengthscale":1}})" + kPlain +
      R"(,"precision":"f64","lambda":1e-6)";
  const Matrix<double> direct = predictions(fitted(keys, whole.x(), whole.y()), test.x()),
                       found = predictions(fitted(keys + R"(,"solver":"cg")", whole.x(), whole.y()),
                                           test.x());
  for (int64_t i = 0; i < 40; ++i) {
    CHECK(std::abs(found(i, 0) - direct(i, 0)) < 1e-6);
    CHECK(std::abs(found(i, 1) - direct(i, 1)) < 1e3);
  }
}

TEST_CASE("20,000 features of a field take the memory of a block") {
  // Their Gram matrix takes 3.2 GB. Held are three times 41 MB of a sketch while it is made, scores
  // of 42 vectors and their sums, 41 MB, and a block of rows, 20 MB and its double.
  const Problem problem = smooth_problem(300, 3, 3, 0.1, 93),
                test = smooth_problem(40, 3, 3, 0, 94);
  const std::string keys =
      R"("map":{"features":20000,"kernel":{"kernel":"curl_free","scalar":{"kernel":"gaussian",)"
      R"("lengthscale":0.9}}})" +
      kPlain + R"(,"lambda":1e-3)";
  Context context;
  context.memory_cap = int64_t{280} << 20;
  const Model iterated = test::fit(spec::fit_plan("{" + keys + R"(,"solver":"cg"})"), nullptr,
                                   problem.x(), problem.y(), {}, context);
  const Model direct = fitted(keys, problem.x(), problem.y());
  CHECK(iterated.map->features() == 20000);
  // In single precision features are off by 1e-7, and so are predictions.
  CHECK(largest_difference(predictions(iterated, test.x()), predictions(direct, test.x())) < 1e-5);
}

TEST_CASE("what the map exact of several outputs does not serve is refused by name") {
  const Problem problem = smooth_problem(20, 3, 3, 0.1, 90);
  const std::string curl = map_of(kernels()[0]) + kPlain;
  const auto fault = [&](const std::string& keys, auto... says) {
    return refusal_fault(
        MERCER_UNSUPPORTED, [&] { fitted(curl + keys, problem.x(), problem.y()); }, says...);
  };
  CHECK(fault(R"(,"model":"gp","lambda":1e-3)", "posterior", "exact") == "");
  CHECK(fault(R"(,"model":"logistic","loss":"huber","lambda":1e-3)", "squares", "exact") == "");
  CHECK(fault(R"(,"lambda":1e-3,"solver":"cg")", "exact", "direct") == "");
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED,
            [&] {
              fitted(R"("map":{"kernel":{"kernel":"curl_free"},"features":20})" + kPlain +
                         R"(,"lambda":1e-3,"solver":"mixed")",
                     problem.x(), problem.y());
            },
            "mixed", "field", "cg") == "");
  const Model model = fitted(curl + R"(,"lambda":1e-3)", problem.x(), problem.y());
  Context context;
  Matrix<double> out(20, 9);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                differentiate(model, {feature::Derivative::Kind::hessian_diagonal, {}}, problem.x(),
                              context, out.view()),
                "exact", "derivatives", "gradient alone");
  // Of second derivatives alone there is a field, and no gradient of it.
  const Model rough =
      fitted(R"("map":{"map":"exact","kernel":{"kernel":"curl_free","scalar":{"kernel":"matern",)"
             R"("nu":1.5}}},"search":false,"lambda":1e-3)",
             problem.x(), problem.y());
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                differentiate(rough, {feature::Derivative::Kind::gradient, {}}, problem.x(),
                              context, out.view()),
                "exact", "derivatives");
}

TEST_CASE("models of several outputs on the map exact have the gradient of what they predict") {
  const Problem problem = smooth_problem(40, 3, 3, 0.1, 98);
  const Matrix<double> X = random_matrix(9, 3, 99);
  for (const std::string& kernel : kernels())
    for (const std::string& prepare : {kPlain, std::string(R"(,"search":false)")}) {
      INFO(kernel << prepare);
      const Model model =
          fitted(map_of(kernel) + prepare + R"(,"lambda":1e-3)", problem.x(), problem.y());
      CHECK(gradient_error(model, X) < 1e-7);
      // A row depends on itself alone, and a NaN stays in it.
      const Matrix<double> damaged = copy(X.view()), whole(9, 9), part(9, 9);
      damaged(4, 1) = std::nan("");
      Context context;
      const feature::Derivative what{feature::Derivative::Kind::gradient, {}};
      differentiate(model, what, X.view(), context, whole.view());
      differentiate(model, what, damaged.view(), context, part.view());
      for (int64_t i = 0; i < 9; ++i)
        for (int64_t j = 0; j < 9; ++j)
          CHECK((i == 4 ? std::isnan(part(i, j)) : part(i, j) == whole(i, j)));
    }
}

using feature::FieldKind;

/// The Jacobian, divergence and curl of values by central differences, 1e-3 apart.
Matrix<double> by_differences(const feature::FeatureMap& map, MatrixView<const double> X,
                              MatrixView<const double> theta, FieldKind kind) {
  constexpr double kStep = 1e-3;
  const int64_t d = X.cols, p = map.outputs();
  Context context;
  std::vector<Matrix<double>> slopes;
  for (int64_t l = 0; l < d; ++l) {
    Matrix<double> at[2];
    for (const int side : {0, 1}) {
      const Matrix<double> moved = filled(X.rows, d, [&](int64_t i, int64_t j) {
        return X(i, j) + (j == l) * (2 * side - 1) * kStep;
      });
      at[side] = Matrix<double>(X.rows, p * theta.cols);
      feature::multiply(map, moved.view(), theta, FieldKind::value, context, at[side].view());
    }
    slopes.push_back(filled(X.rows, p * theta.cols, [&](int64_t i, int64_t j) {
      return (at[1](i, j) - at[0](i, j)) / (2 * kStep);
    }));
  }
  const int64_t numbers = feature::field_numbers(kind, p, d);
  return filled(X.rows, numbers * theta.cols, [&](int64_t i, int64_t j) {
    const int64_t k = j / numbers, n = j % numbers;
    const auto slope = [&](int64_t l, int64_t o) { return slopes[l](i, k * p + o); };
    if (kind == FieldKind::jacobian) return slope(n % d, n / d);
    double sum = 0;
    for (int64_t o = 0; o < p && kind == FieldKind::divergence; ++o) sum += slope(o, o);
    if (kind == FieldKind::divergence) return sum;
    const int64_t l = d == 3 ? (n + 1) % 3 : 0, m = d == 3 ? (n + 2) % 3 : 1;
    return slope(l, m) - slope(m, l);
  });
}

/// The map exact with the kernel on these rows.
std::unique_ptr<feature::FeatureMap> exact_map(const std::string& kernel,
                                               MatrixView<const double> X) {
  Context context;
  const Parameters given = spec::parse_object(kernel);
  const int64_t p = kernel::make_kernel(given)->outputs(X.cols);
  const Rows rows(X);
  return feature::make_map(map_spec("exact", given, X.cols, X.rows * p),
                           {.rows = &rows, .context = &context});
}

TEST_CASE("quantities of functions of kernel values are differences of their values") {
  Context context;
  for (const int64_t d : {3, 2})
    for (std::string kernel : kernels()) {
      if (d == 2 && kernel.find("gamma") != std::string::npos) continue;  // of 3 outputs
      if (const size_t at = kernel.find("[1,2,1.5]"); d == 2 && at != std::string::npos)
        kernel.replace(at, 9, "[1,2]");
      const Matrix<double> X = random_matrix(6, d, 95), T = random_matrix(5, d, 96);
      const auto map = exact_map(kernel, X.view());
      const Matrix<double> theta = random_matrix(map->features(), 2, 97);
      for (const FieldKind kind : {FieldKind::jacobian, FieldKind::divergence, FieldKind::curl}) {
        INFO(kernel << d << static_cast<int>(kind));
        const int64_t numbers = feature::field_numbers(kind, d, d);
        const Matrix<double> found(5, 2 * numbers), alone(1, 2 * numbers);
        feature::multiply(*map, T.view(), theta.view(), kind, context, found.view());
        CHECK(largest_difference(found, by_differences(*map, T.view(), theta.view(), kind)) < 1e-4);
        feature::multiply(*map, T.view().block_rows(3, 4), theta.view(), kind, context,
                          alone.view());
        CHECK(difference(alone.view(), found.view().block_rows(3, 4), 0) == "");
      }
    }
}

/// Values at moved rows of an antiderivative, by differences: its gradient, or (d_2, -d_1).
TEST_CASE("potentials and stream functions of kernel values have the field as their derivatives") {
  constexpr double kStep = 1e-3;
  Context context;
  const Matrix<double> X = random_matrix(6, 2, 98), T = random_matrix(5, 2, 99);
  const auto field = [](const std::string& name) {
    return R"({"kernel":")" + name + R"(","variance":1.5,"scalar":{"kernel":"matern","nu":1.5}})";
  };
  for (const auto kind : {FieldKind::potential, FieldKind::stream}) {
    const std::string own = kind == FieldKind::stream ? "divergence_free" : "curl_free";
    const auto map = exact_map(field(own), X.view());
    const Matrix<double> theta = random_matrix(12, 1, 100), f(5, 2), slopes(5, 2);
    feature::multiply(*map, T.view(), theta.view(), FieldKind::value, context, f.view());
    for (int64_t l = 0; l < 2; ++l) {
      Matrix<double> side[2];
      for (const int s : {0, 1}) {
        const Matrix<double> moved = filled(
            5, 2, [&](int64_t i, int64_t j) { return T(i, j) + (j == l) * (2 * s - 1) * kStep; });
        side[s] = Matrix<double>(5, 1);
        feature::multiply(*map, moved.view(), theta.view(), kind, context, side[s].view());
      }
      for (int64_t i = 0; i < 5; ++i) {
        const double slope = (side[1](i, 0) - side[0](i, 0)) / (2 * kStep);
        const bool stream = kind == FieldKind::stream;
        slopes(i, stream ? 1 - l : l) = stream && l == 0 ? -slope : slope;
      }
    }
    CHECK(largest_difference(slopes, f) < 1e-4);
    // The other antiderivative is that of no part, a mixture's of its part.
    const Matrix<double> none(5, 1), half(5, 1), whole(5, 1);
    feature::multiply(*map, T.view(), theta.view(),
                      kind == FieldKind::stream ? FieldKind::potential : FieldKind::stream, context,
                      none.view());
    feature::multiply(*map, T.view(), theta.view(), kind, context, whole.view());
    feature::multiply(*exact_map(field("helmholtz"), X.view()), T.view(), theta.view(), kind,
                      context, half.view());
    for (int64_t i = 0; i < 5; ++i) {
      CHECK(none(i, 0) == 0);
      CHECK(std::abs(half(i, 0) - whole(i, 0) / 2) < 1e-12);
    }
  }
}

TEST_CASE("quantities of kernel values are those of many features") {
  // The same u through features, theta = sum_j Phi(x_j) u_j: means over 40 maps within six of their
  // standard errors, of 3,600 numbers wrong with probability 0.2 %.
  constexpr int64_t kMaps = 40, kRows = 20;
  Context context;
  const Matrix<double> X = random_matrix(6, 2, 101), T = random_matrix(kRows, 2, 102),
                       u = random_matrix(6, 2, 103), own(12, 1);
  std::copy_n(u.data(), 12, own.data());
  for (const std::string name : {"curl_free", "divergence_free", "helmholtz"})
    for (const FieldKind kind : {FieldKind::jacobian, FieldKind::divergence, FieldKind::curl,
                                 FieldKind::potential, FieldKind::stream}) {
      INFO(name << static_cast<int>(kind));
      const std::string kernel =
          R"({"kernel":")" + name + R"(","scalar":{"kernel":"gaussian","lengthscale":1.2}})";
      const int64_t numbers = feature::field_numbers(kind, 2, 2), all = kRows * numbers;
      const Matrix<double> exact(kRows, numbers), estimate(kRows, numbers);
      feature::multiply(*exact_map(kernel, X.view()), T.view(), own.view(), kind, context,
                        exact.view());
      std::vector<double> sum(all, 0.0), squares(all, 0.0);
      for (int64_t seed = 0; seed < kMaps; ++seed) {
        const auto drawn = made_map("fourier", spec::parse_object(kernel), 2, 1200, seed);
        const Matrix<double> theta(drawn->features(), 1);
        feature::adjoint(*drawn, X.view(), u.view(), context, theta.view());
        feature::multiply(*drawn, T.view(), theta.view(), kind, context, estimate.view());
        for (int64_t i = 0; i < all; ++i) {
          const double apart = estimate.data()[i] - exact.data()[i];
          sum[i] += apart, squares[i] += apart * apart;
        }
      }
      double worst = 0;
      for (int64_t i = 0; i < all; ++i)
        worst = std::max(worst, std::abs(sum[i]) / (std::sqrt(squares[i]) + 1e-12));
      CHECK(worst < 6);
    }
}

TEST_CASE("a model on the map exact has the quantities of its field in the inputs' units") {
  Problem problem{random_matrix(40, 2, 104), Matrix<double>(40, 2)};
  for (int64_t i = 0; i < 40; ++i) {  // phi = sin(x0 + 2 x1)
    const double c = std::cos(problem.X(i, 0) + 2 * problem.X(i, 1));
    problem.Y(i, 0) = c, problem.Y(i, 1) = 2 * c;
  }
  const Model model = fitted(map_of(R"({"kernel":"curl_free"})") +
                                 R"(,"lambda":1e-8,"search":false,"prepare":{"scale":"common"})",
                             problem.x(), problem.y());
  Context context;
  const Matrix<double> T = random_matrix(8, 2, 105), sources(8, 1), curl(8, 1), potential(8, 1);
  const auto of = [&](FieldKind kind, const Matrix<double>& out) {
    CHECK(field_numbers(model, kind) == 1);
    predict_field(model, T.view(), kind, context, out.view());
  };
  of(FieldKind::divergence, sources), of(FieldKind::curl, curl);
  of(FieldKind::potential, potential);
  constexpr double kStep = 1e-4;
  const Matrix<double> f = predictions(model, T.view());
  for (int64_t l = 0; l < 2; ++l) {
    Matrix<double> ends[2], at[2];
    for (const int s : {0, 1}) {
      const Matrix<double> moved = filled(
          8, 2, [&](int64_t i, int64_t j) { return T(i, j) + (j == l) * (2 * s - 1) * kStep; });
      ends[s] = Matrix<double>(8, 1);
      predict_field(model, moved.view(), FieldKind::potential, context, ends[s].view());
      at[s] = predictions(model, moved.view());
    }
    for (int64_t i = 0; i < 8; ++i) {
      CHECK(std::abs((ends[1](i, 0) - ends[0](i, 0)) / (2 * kStep) - f(i, l)) < 1e-5);
      sources(i, 0) -= (at[1](i, l) - at[0](i, l)) / (2 * kStep);
    }
  }
  for (int64_t i = 0; i < 8; ++i)
    CHECK((std::abs(sources(i, 0)) < 1e-4 && std::abs(curl(i, 0)) < 1e-8));
}

TEST_CASE("quantities of kernel values that have no closed form are refused by name") {
  Context context;
  const Matrix<double> X = random_matrix(6, 2, 106), out(6, 1), theta = random_matrix(12, 1, 107);
  const auto fault = [&](const std::string& kernel, FieldKind kind, auto... says) {
    const auto map = exact_map(kernel, X.view());
    return refusal_fault(
        MERCER_UNSUPPORTED,
        [&] { feature::multiply(*map, X.view(), theta.view(), kind, context, out.view()); },
        says...);
  };
  const std::string rough =
      R"({"kernel":"curl_free","scalar":{"kernel":"matern","nu":1.5,"lengthscale":1}})";
  CHECK(fault(rough, FieldKind::divergence, "matern", "order 3", "fourier") == "");
  const std::string joint =
      R"({"kernel":"decomposable","gamma":[[1,0],[0,1]],"scalar":{"kernel":"gaussian"}})";
  CHECK(fault(joint, FieldKind::potential, "gaussian", "closed form", "fourier") == "");
  CHECK(fault(R"({"kernel":"sum","parts":[{"kernel":"gaussian"},)" + rough + "]}",
              FieldKind::stream, "gaussian", "closed form") == "");
}

}  // namespace exact_fields_test
