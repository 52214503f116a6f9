// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels and maps of several outputs: specs and files are exact, both precisions, codes of classes,
// and refusals that name what they refuse.
#include <cstdio>

#include "fixture.h"

namespace mercer::test::operator_test {
namespace {

MapHandle make_operator(const std::string& json) {
  mercer_map* made = nullptr;
  mercer_map_from_spec(json.c_str(), &made);
  return MapHandle(made);
}

/// The field of one vector of coefficients at 5 rows of 3 inputs.
std::vector<double> field_of(const mercer_map* map, int64_t p) {
  const int64_t r = columns_of(map);
  std::vector<double> out(5 * p);
  if (mercer_map_multiply(map, rows_of(numbers(5, 3), 3), rows_of(numbers(r, 1), 1),
                          MERCER_FIELD_VALUE, nullptr, result_of(out, p)) != MERCER_OK)
    out.clear();
  return out;
}

}  // namespace

TEST_CASE("Gamma in specs: its rows, or its numbers in one list") {
  const auto of = [](const std::string& gamma) {
    return R"({"inputs":3,"features":20,"kernel":{"kernel":"decomposable","gamma":)" + gamma + "}}";
  };
  const auto rows = make_operator(of("[[2,1],[1,2]]")), list = make_operator(of("[2,1,1,2]"));
  REQUIRE((rows && list));
  CHECK(spec_of(rows.get()).find(R"("gamma":[[2,1],[1,2]])") != std::string::npos);
  CHECK(spec_of(list.get()) == spec_of(rows.get()));
  CHECK(field_of(list.get(), 2) == field_of(rows.get(), 2));
  const auto one = make_operator(of("[[3]]"));
  REQUIRE(one);
  CHECK(spec_of(one.get()).find(R"("gamma":[3])") != std::string::npos);
  const auto kernel = make_kernel(R"("decomposable","gamma":[2,1,1,2])");
  REQUIRE(kernel);
  CHECK(spec_of(kernel.get()).find(R"("gamma":[[2,1],[1,2]])") != std::string::npos);
  Slot<mercer_map> slot;
  const auto refuses = [&](const std::string& gamma, const char* part) {
    return slot.refused(mercer_map_from_spec(of(gamma).c_str(), slot.out()), part);
  };
  CHECK(refuses("[[1,2,3],[4,5,6]]", "2 lists of 3 numbers") == "");
  CHECK(refuses("[[1,2],[3]]", "gamma[1]") == "");
  CHECK(refuses("[1,2,3]", "3 numbers") == "");
  CHECK(refuses("[[2,1],[0,2]]", "symmetric") == "");
}

TEST_CASE("weights of a model of several outputs: their shape is said, and values are z'w") {
  const auto X = numbers(40, 3), Y = numbers(40, 3);
  for (const char* kernel : {R"("curl_free")", R"("divergence_free")", R"("helmholtz")",
                             R"("decomposable","gamma":[[2,1,0],[1,2,0],[0,0,1]])"}) {
    INFO(kernel);
    const auto map = make_operator(R"({"inputs":3,"features":72,"kernel":{"kernel":)" +
                                   std::string(kernel) + "}}");
    mercer_model* made_model = nullptr;
    REQUIRE(mercer_model_fit(R"({"search":false,"lambda":0.01,"precision":"f64",)"
                             R"("prepare":{"standardize":false}})",
                             data_of(rows_of(X, 3), rows_of(Y, 3), map.get()), nullptr,
                             &made_model) == MERCER_OK);
    const ModelHandle model(made_model);
    mercer_model_info info{};
    info.struct_size = sizeof info;
    REQUIRE(mercer_model_shape(model.get(), &info) == MERCER_OK);
    const int64_t F = info_of(map.get()).frequencies;
    REQUIRE((info.outputs == 3 && info.weight_rows == 2 * F));
    std::vector<double> w(2 * F * 3), b(3), values(40 * 3), W(F * 3), Z(40 * 2 * F);
    CHECK(fault(mercer_model_weights(model.get(), result_of(w.data(), 2 * F + 1, 3), {}),
                MERCER_DIMENSION_MISMATCH, "w is") == "");
    REQUIRE(mercer_model_weights(model.get(), result_of(w, 3), result_of(b, 3)) == MERCER_OK);
    REQUIRE(mercer_model_predict(model.get(), rows_of(X, 3), "value", nullptr, nullptr,
                                 result_of(values, 3)) == MERCER_OK);
    // The map of one output by its frequencies.
    REQUIRE(mercer_map_frequencies(map.get(), nullptr, result_of(W, 3)) == MERCER_OK);
    mercer_map_data given{};
    given.struct_size = sizeof given;
    given.frequencies = rows_of(W, 3);
    mercer_map* one = nullptr;
    REQUIRE(mercer_map_fit(R"({"kernel":{"kernel":"gaussian"}})", &given, nullptr, &one) ==
            MERCER_OK);
    const MapHandle scalar(one);
    REQUIRE(mercer_map_apply_f64(one, 40, X.data(), 3, nullptr, Z.data(), 2 * F) == MERCER_OK);
    double gap = 0;
    for (int64_t i = 0; i < 40; ++i)
      for (int64_t o = 0; o < 3; ++o) {
        double value = b[o];
        for (int64_t c = 0; c < 2 * F; ++c) value += Z[i * 2 * F + c] * w[c * 3 + o];
        gap = std::max(gap, std::fabs(value - values[i * 3 + o]));
      }
    CHECK(gap <= 1e-9);
  }
}

TEST_CASE("Gamma of more numbers than a spec takes") {
  const int64_t p = 300;
  std::vector<double> gamma(p * p, 0.1);
  for (int64_t k = 0; k < p; ++k) gamma[k * p + k] = 1;
  const auto kernel = made<KernelHandle>([&](auto out) {
    return mercer_kernel_decomposable(gaussian().get(), rows_of(gamma, p), 0.5, out);
  });
  mercer_map* made = nullptr;
  REQUIRE(make_fourier(kernel.get(), 3, 20 * p, "", &made) == MERCER_OK);
  const MapHandle map(made);
  const mercer_map_info info = info_of(made);
  CHECK((info.inputs == 3 && info.outputs == p && info.frequencies == 10));
  CHECK(info.features == 20 * p);
  CHECK(info.dropped == Approx(0).margin(1e-12));
}

TEST_CASE("codes of classes are vectors of a simplex") {
  std::vector<double> code(6);
  REQUIRE(mercer_simplex_code(result_of(code, 3)) == MERCER_OK);
  CHECK(code == std::vector<double>{1, -0.5, -0.5, 0, std::sqrt(0.75), -std::sqrt(0.75)});
  std::vector<float> narrow(6);
  REQUIRE(mercer_simplex_code(result_of(narrow, 3)) == MERCER_OK);
  CHECK(narrow[4] == Approx(std::sqrt(0.75)));
  CHECK(fault(mercer_simplex_code(result_of(code, 2)), MERCER_DIMENSION_MISMATCH, "3 x 2") == "");
  CHECK(refused(mercer_simplex_code({}), "code") == "");
}

TEST_CASE("a graph of outputs that is none is refused, naming the weight") {
  const std::vector<double> X = numbers(10, 2);
  const auto refuses = [&](const std::string& matrix, const char* part) {
    Slot<mercer_model> slot;
    const std::string spec =
        R"({"search":false,"outputs":{"structure":"graph","matrix":)" + matrix + "}}";
    return slot.refused(
        mercer_model_fit(spec.c_str(), data_of(rows_of(X, 2), rows_of(X, 2)), nullptr, slot.out()),
        part);
  };
  CHECK(refuses("[[0,-1],[-1,0]]", "weight[0, 1] = -1") == "");
  CHECK(refuses("[[0,1],[2,0]]", "expected equal finite numbers") == "");
  CHECK(refuses("[[5,0],[0,5]]", "no edges") == "");
}

TEST_CASE("roots of the caller's own at drawn frequencies") {
  // The amplitude is in the map.
  const char* const rest = R"("kernel":"gaussian","variance":2)";
  const auto plain = make_operator(std::string(R"({"kernel":{)") + rest +
                                   R"(},"inputs":3,"features":20,"projection":"sobol"})");
  const auto drawn = make_operator(std::string(R"({"kernel":{"kernel":"curl_free","scalar":{)") +
                                   rest + R"(}},"inputs":3,"features":20,"projection":"sobol"})");
  REQUIRE((plain && drawn && info_of(drawn.get()).frequencies == 10));
  std::vector<double> W(30), same(30);
  REQUIRE(mercer_map_frequencies(plain.get(), nullptr, result_of(W, 3)) == MERCER_OK);
  REQUIRE(mercer_map_frequencies(drawn.get(), nullptr, result_of(same, 3)) == MERCER_OK);
  CHECK(W == same);
  const auto scalar =
      made<KernelHandle>([&](auto out) { return mercer_map_kernel(plain.get(), out); });
  mercer_map* made = nullptr;  // B = omega
  REQUIRE(make_supplied(scalar.get(), rows_of(W, 3), nullptr, rows_of(W.data(), 30, 1), "",
                        &made) == MERCER_OK);
  const MapHandle own(made);
  const std::vector<double> a = field_of(own.get(), 3), b = field_of(drawn.get(), 3);
  REQUIRE((a.size() == 15 && b.size() == 15));
  for (size_t i = 0; i < 15; ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-12));

  CHECK(fault(mercer_map_frequencies(plain.get(), nullptr, result_of(W, 2)),
              MERCER_DIMENSION_MISMATCH, "out") == "");
  const auto warped =
      make_operator(R"({"kernel":{"kernel":"skewed_chi2"},"inputs":3,"features":20})");
  CHECK(fault(mercer_map_frequencies(warped.get(), nullptr, result_of(W, 3)), MERCER_UNSUPPORTED,
              "warps") == "");
  const auto none = linear("gaussian", 3, 10);
  CHECK(fault(mercer_map_frequencies(none.get(), nullptr, result_of(W, 3)), MERCER_UNSUPPORTED,
              "no frequencies") == "");
  Slot<mercer_map> slot;
  const auto field = make_kernel(R"("curl_free")");
  CHECK(slot.fault(make_supplied(field.get(), rows_of(W, 3), nullptr, {}, "", slot.out()),
                   MERCER_UNSUPPORTED, "several outputs") == "");
}

TEST_CASE("A(omega) of the caller's own is factored: inner products, fits, files, refusals") {
  constexpr int64_t kF = 10, kD = 3;
  const auto drawn = make_operator(
      R"({"kernel":{"kernel":"divergence_free","scalar":{"kernel":"gaussian","variance":2}},)"
      R"("inputs":3,"features":60,"projection":"sobol"})");
  REQUIRE(info_of(drawn.get()).frequencies == kF);
  std::vector<double> W(kF * kD), A(kF * kD * kD);
  REQUIRE(mercer_map_frequencies(drawn.get(), nullptr, result_of(W, kD)) == MERCER_OK);
  for (int64_t j = 0; j < kF; ++j)  // |omega|^2 I - omega omega', of rank 2; the last one 0
    for (int64_t a = 0; a < kD; ++a)
      for (int64_t b = 0; b < kD; ++b) {
        const double* w = &W[j * kD];
        const double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
        A[(j * kD + a) * kD + b] = j == kF - 1 ? 0 : (a == b) * square - w[a] * w[b];
      }
  const auto scalar = make_kernel(R"("gaussian","variance":2)");
  mercer_map_data data{};
  data.struct_size = sizeof data;
  data.kernel = scalar.get();
  data.frequencies = rows_of(W, kD);
  data.roots = rows_of(A, kD);
  data.roots_are_squares = 1;
  Slot<mercer_map> slot;
  const auto supplied = [&] { return mercer_map_fit("{}", &data, nullptr, slot.out()); };
  mercer_map* made = nullptr;
  REQUIRE(mercer_map_fit("{}", &data, nullptr, &made) == MERCER_OK);
  const MapHandle own(made);
  REQUIRE((info_of(made).outputs == 3 && info_of(made).features == 2 * kF * 2));
  // (1/F) sum_j 2 cos(omega_j'(x - y)) A_j at pairs of rows.
  const std::vector<double> X = numbers(4, kD);
  std::vector<double> Z(12 * 40);
  REQUIRE(mercer_map_apply_f64(made, 4, X.data(), kD, nullptr, Z.data(), 40) == MERCER_OK);
  double worst = 0;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t k = 0; k < 4; ++k)
      for (int64_t a = 0; a < kD; ++a)
        for (int64_t b = 0; b < kD; ++b) {
          double found = 0, wanted = 0;
          for (int64_t c = 0; c < 40; ++c)
            found += Z[(i * kD + a) * 40 + c] * Z[(k * kD + b) * 40 + c];
          for (int64_t j = 0; j < kF; ++j) {
            double angle = 0;
            for (int64_t l = 0; l < kD; ++l)
              angle += W[j * kD + l] * (X[i * kD + l] - X[k * kD + l]);
            wanted += 2 * std::cos(angle) * A[(j * kD + a) * kD + b] / kF;
          }
          worst = std::max(worst, std::fabs(found - wanted));
        }
  CHECK(worst < 1e-12);
  const std::vector<double> rows = numbers(30, kD);
  mercer_model* fitted = nullptr;
  REQUIRE(mercer_model_fit(R"({"search":false,"lambda":0.01})",
                           data_of(rows_of(rows, kD), rows_of(rows, kD), made), nullptr,
                           &fitted) == MERCER_OK);
  const ModelHandle model(fitted);

  const auto refuses = [&](int64_t at, double number, mercer_status status, const char* part) {
    std::vector<double> spoiled = A;
    spoiled[at] = number;
    data.roots = rows_of(spoiled, kD);
    return slot.fault(supplied(), status, part);
  };
  CHECK(refuses(10, 1e3, MERCER_INVALID_ARGUMENT, "symmetric") == "");
  CHECK(refuses(9, NAN, MERCER_INVALID_ARGUMENT, "finite") == "");
  CHECK(refuses(0, -1, MERCER_NOT_POSITIVE_DEFINITE, "frequency 0") == "");
  data.roots = rows_of(A, 1);
  CHECK(slot.fault(supplied(), MERCER_DIMENSION_MISMATCH, "matrices A") == "");
  data.roots = {};
  CHECK(slot.refused(supplied(), "roots_are_squares without data->roots") == "");
  data.roots_are_squares = 2;
  CHECK(slot.refused(supplied(), "roots_are_squares = 2") == "");
}

TEST_CASE("kernels and maps of several outputs refuse what they cannot do, naming it") {
  Slot<mercer_kernel> kernel;
  CHECK(kernel.refused(mercer_kernel_from_spec("{\"kernel\":\"curl\"}", kernel.out()), "curl",
                       "curl_free") == "");
  CHECK(kernel.fault(mercer_kernel_from_spec(
                         R"({"kernel":"curl_free","scalar":{"kernel":"laplacian"}})", kernel.out()),
                     MERCER_UNSUPPORTED, "laplacian") == "");
  Slot<mercer_map> map;
  CHECK(map.refused(mercer_map_from_spec(nullptr, map.out()), "json") == "");
  CHECK(map.refused(mercer_map_from_spec(
                        R"({"kernel":{"kernel":"curl_free"},"inputs":3,"features":9})", map.out()),
                    "features = 9") == "");
  CHECK(map.fault(mercer_map_from_spec(
                      R"({"kernel":{"kernel":"curl_free"},"inputs":3,"features":8,"needs":"data"})",
                      map.out()),
                  MERCER_UNSUPPORTED, "file") == "");
  const std::vector<double> gamma = {1, 2, 2, 1};
  CHECK(kernel.fault(
            mercer_kernel_decomposable(gaussian().get(), rows_of(gamma, 2), 1e-12, kernel.out()),
            MERCER_NOT_POSITIVE_DEFINITE, "gamma") == "");
  CHECK(kernel.fault(
            mercer_kernel_decomposable(gaussian().get(), rows_of(gamma, 4), 1e-12, kernel.out()),
            MERCER_DIMENSION_MISMATCH, "1 x 4") == "");
  CHECK(kernel.refused(
            mercer_kernel_decomposable(gaussian().get(), rows_of(gamma, 2), 2, kernel.out()),
            "cutoff = 2") == "");
  const std::vector<double> bad = {1, NAN};
  CHECK(map.refused(make_supplied(gaussian().get(), rows_of(gamma, 2), nullptr, rows_of(bad, 1), "",
                                  map.out()),
                    "roots[1]") == "");
  const auto field = make_operator(R"({"kernel":{"kernel":"curl_free"},"inputs":3,"features":8})");
  const std::vector<double> X = numbers(5, 3), theta = numbers(8, 1);
  std::vector<double> out(15);
  const auto apply = [&](int32_t kind, int64_t cols) {
    return mercer_map_multiply(field.get(), rows_of(X, 3), rows_of(theta, 1), kind, nullptr,
                               result_of(out.data(), 5, cols));
  };
  CHECK(refused(apply(6, 3), "kind = 6") == "");
  CHECK(fault(apply(MERCER_FIELD_STREAM, 1), MERCER_UNSUPPORTED, "3 dimensions") == "");
  CHECK(fault(apply(MERCER_FIELD_VALUE, 2), MERCER_DIMENSION_MISMATCH, "5 x 3") == "");
  CHECK(refused(mercer_map_multiply(field.get(), rows_of(out, 3), rows_of(theta, 1), 0, nullptr,
                                    result_of(out, 3)),
                "out") == "");
  CHECK(fault(mercer_map_adjoint(field.get(), rows_of(X, 3), rows_of(X.data(), 5, 2), nullptr,
                                 result_of(out.data(), 8, 1)),
              MERCER_DIMENSION_MISMATCH, "3 outputs") == "");
  mercer_map* circulant = nullptr;  // none in builds without FFTW
  if (mercer_map_from_spec(
          R"({"kernel":{"kernel":"decomposable","scalar":{"kernel":"cauchy"},"gamma":[1]},"inputs":16,"features":32,"projection":"circulant"})",
          &circulant) == MERCER_OK) {
    const MapHandle owned(circulant);
    const std::vector<double> wide = numbers(1, 16);
    CHECK(fault(mercer_map_variance(circulant, rows_of(wide, 16), rows_of(wide, 16), 0, nullptr,
                                    out.data()),
                MERCER_UNSUPPORTED, "cauchy") == "");
  }
  mercer_map_free(nullptr);
}

}  // namespace mercer::test::operator_test
