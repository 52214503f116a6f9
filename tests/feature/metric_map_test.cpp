// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps in a metric beside the contract's (tests/contract/metric.cpp): lengthscales for each input,
// parts of sums, several outputs, many rows, binary codes, sizes, and what is refused.
#include "feature/binary_codes.h"
#include "feature/composed_map.h"
#include "feature/map_entry.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/map_calls.h"
#include "support/refusal.h"

namespace metric_map_test {
using namespace mercer;
using namespace mercer::test;

std::unique_ptr<FeatureMap> made(const std::string& kernel, const std::string& more, int64_t d,
                                 int64_t D) {
  return spec::map_from_spec(R"({"kernel":)" + kernel + R"(,"inputs":)" + std::to_string(d) +
                             R"(,"features":)" + std::to_string(D) + R"(,"seed":5)" + more + "}");
}

std::string metric(const std::string& matrix, const std::string& of) {
  return R"({"kernel":"metric","matrix":)" + matrix + R"(,"of":)" + of + "}";
}

double distance(const Matrix<double>& A, const Matrix<double>& B) {
  double worst = 0;
  for (int64_t k = 0; k < A.rows() * A.cols(); ++k)
    worst = std::max(worst, std::fabs(A.data()[k] - B.data()[k]));
  return worst;
}

TEST_CASE("metric map: a diagonal matrix is a lengthscale for each input") {
  const std::string diagonal = "[[2,0,0],[0,0.5,0],[0,0,0.25]]", scales = "[0.5,2,4]";
  const Matrix<double> X = random_matrix(9, 3, 2);
  for (const std::string more :
       {R"(,"map":"fourier","projection":"sorf")", R"(,"map":"fourier","form":"phase")",
        R"(,"map":"random_binning","bins":4)"}) {
    const std::string name = more.find("binning") != more.npos ? "laplacian" : "gaussian";
    const auto plain =
        made(R"({"kernel":")" + name + R"(","lengthscale":)" + scales + "}", more, 3, 40);
    const auto own = made(metric(diagonal, '"' + name + '"'), more, 3, 40);
    INFO(more);
    CHECK(distance(features_of(*own, X), features_of(*plain, X)) <= 1e-13);
    CHECK(variance_of(*own, X) == Approx(variance_of(*plain, X)).epsilon(1e-12));
  }
}

TEST_CASE("metric map: as a part of a sum, of a sum, and of several outputs") {
  const std::string inner = metric("[[1,0.5,-1],[0,2,0.25]]", R"({"kernel":"matern","nu":2.5})");
  const Matrix<double> X = random_matrix(8, 3, 2);
  const double *const x = X.view().row(0), *const y = X.view().row(1);
  // Of a sum, whose default map has parts of its own.
  const auto of_sum = made(
      metric("[[1,0.5,-1],[0,2,0.25]]", R"({"kernel":"sum","parts":["gaussian","laplacian"]})"), "",
      3, 64);
  CHECK(of_sum->name() == "sum");
  CHECK(of_sum->parameters().objects("parts").size() == 2);
  CHECK(of_sum->estimated_kernel(x, y) == of_sum->kernel().value(3, x, y));
  // A part: the columns are those of its own map.
  const auto sum = made(R"({"kernel":"sum","parts":[)" + inner + R"(,"gaussian"]})", "", 3, 64);
  const auto product =
      made(R"({"kernel":"product","parts":[)" + inner + R"(,"gaussian"]})", "", 3, 64);
  for (const FeatureMap* const map : {sum.get(), product.get()}) {
    CHECK(map->kernel().value(3, x, y) == Approx(map->estimated_kernel(x, y)).epsilon(1e-14));
    CHECK(variance_of(*map, X) > 0);
    const Matrix<double> V = random_matrix(8, 3, 3);
    const Matrix<double> slopes = pushed(*map, X, V);
    const auto moved = [&](double by) {
      return features_of(
          *map, filled(8, 3, [&](int64_t i, int64_t k) { return X(i, k) + by * V(i, k); }));
    };
    const Matrix<double> above = moved(1e-5), below = moved(-1e-5);
    double worst = 0;
    for (int64_t k = 0; k < slopes.rows() * slopes.cols(); ++k)
      worst =
          std::max(worst, std::fabs((above.data()[k] - below.data()[k]) / 2e-5 - slopes.data()[k]));
    CHECK(worst <= 1e-7);
  }
  const auto outputs =
      made(R"({"kernel":"decomposable","gamma":[[2,1],[1,2]],"scalar":)" + inner + "}",
           R"(,"map":"fourier")", 3, 64);
  CHECK(outputs->outputs() == 2);
  CHECK(spec::to_spec(*spec::map_from_spec(spec::to_spec(*outputs))) == spec::to_spec(*outputs));
}

/// A Fourier map of D features of two inputs in a metric of 1,024 rows.
std::unique_ptr<FeatureMap> tall_metric(int64_t D) {
  NumberLists rows;
  const Matrix<double> A = random_matrix(1024, 2, 1);
  for (int64_t i = 0; i < 1024; ++i) rows.push_back({A(i, 0) / 32, A(i, 1) / 32});
  const Parameters kernel{{"kernel", "metric"}, {"matrix", rows}};
  return feature::make_map(
      feature::canonical_map({{"map", "fourier"},
                              {"kernel", std::make_shared<const Parameters>(kernel)},
                              {"inputs", int64_t{2}},
                              {"features", D}},
                             "", feature::Data::refused));
}

/// The gradient in the first input against the map's derivative along it.
double gradient_error(const FeatureMap& map, const Matrix<double>& X) {
  const auto all = differentiated(map, {feature::Derivative::Kind::gradient}, X);
  const auto V = filled(X.rows(), 2, [](int64_t, int64_t k) { return k == 0 ? 1.0 : 0.0; });
  const auto first =
      filled(X.rows(), map.row_length(), [&](int64_t i, int64_t j) { return all(i, j); });
  return distance(first, pushed(map, X, V));
}

TEST_CASE("metric map: many rows and many features go in blocks, with the same bytes") {
  // 8 MiB of A x hold 1,024 rows of 1,024 numbers; of derivatives in these, 170 rows of 6 features,
  // or 953 of the 1,024 derivatives of a row of 1,100.
  const auto map = tall_metric(6);
  const Matrix<double> X = random_matrix(1100, 2, 2), Z = features_of(*map, X);
  const Matrix<double> last = features_of(*map, Input<double>(X).block_rows(1050, 1100));
  CHECK(std::memcmp(last.data(), Z.view().row(1050), 50 * 6 * sizeof(double)) == 0);
  CHECK(equal_bytes(Z, features_of(*map, X, 7)));
  CHECK(equal_bytes(Z, features_of(*spec::map_from_spec(spec::to_spec(*map)), X)));
  const Matrix<double> G = random_matrix(1100, 6, 3);
  CHECK(equal_bytes(pulled(*map, X, G), pulled(*map, X, G, 7)));
  CHECK(gradient_error(*map, X) <= 1e-12);
  CHECK(gradient_error(*tall_metric(1100), random_matrix(3, 2, 4)) <= 1e-12);
}

TEST_CASE("metric map: binary codes are those of A x") {
  const auto own = made(metric("[[1,0.5],[0,2],[1,1]]", R"("gaussian")"),
                        R"(,"map":"fourier","form":"phase")", 2, 64);
  const auto plain = made(R"({"kernel":"gaussian"})", R"(,"map":"fourier","form":"phase")", 3, 64);
  const Matrix<double> X =
      filled(7, 2, [](int64_t i, int64_t k) { return static_cast<double>(i * 3 + k) / 8; });
  const Matrix<double> U = filled(7, 3, [&](int64_t i, int64_t j) {
    return j == 0 ? X(i, 0) + X(i, 1) / 2 : j == 1 ? 2 * X(i, 1) : X(i, 0) + X(i, 1);
  });
  uint64_t codes[7], expected[7];
  Context context;
  feature::binary_codes(*own, X.view(), context, codes);
  feature::binary_codes(*plain, U.view(), context, expected);
  CHECK(std::equal(codes, codes + 7, expected));
}

TEST_CASE("metric map: what it has not is refused, not wrong") {
  const std::string kernel = metric("[[1,0.5],[0,2]]", R"("gaussian")");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, made(kernel, R"(,"map":"fourier")", 3, 8), "3", "2");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, made(kernel, R"(,"map":"fourier")", 2, 7), "7");
  CHECK_REFUSED(MERCER_UNSUPPORTED, made(kernel, R"(,"map":"random_binning")", 2, 64), "gaussian");
  CHECK_REFUSED(MERCER_UNSUPPORTED, made(kernel, R"(,"map":"nystroem")", 2, 8), "nystroem");
  const auto map = made(kernel, R"(,"map":"fourier")", 2, 8);
  Context context;
  CHECK_REFUSED(MERCER_UNSUPPORTED, map->frequencies(context), "fourier");
  CHECK_REFUSED(MERCER_UNSUPPORTED, feature::log_parameter_count(*map), "metric");
  Matrix<double> out(1, 8);
  const Matrix<double> X = random_matrix(1, 2, 1);
  CHECK_REFUSED(
      MERCER_UNSUPPORTED,
      derivatives_of(*map).differentiate({feature::Derivative::Kind::partials, {{{0, 3}}}},
                                         MatrixView<const double>(X.view()), context, out.view()),
      "3", "2");
  Matrix<double> rows = random_matrix(9, 2, 4);
  rows(4, 1) = std::nan("");
  const Rows given = rows.view();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                feature::make_map(feature::canonical_map(
                                      spec::parse_object(R"({"map":"nystroem","kernel":)" + kernel +
                                                         R"(,"inputs":2,"features":3})"),
                                      "", feature::Data::refused),
                                  {.rows = &given, .context = &context}),
                "X", "nan");
}

}  // namespace metric_map_test
