// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator.h: specs and files are exact, both precisions, structures, and refusals that name
// what they refuse.
#include "mercer/operator.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "operators.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

namespace mercer::test {
namespace {

std::string spec_of(const mercer_operator_map* map) {
  return text_of([&](auto... buffer) { return mercer_operator_map_spec(map, buffer...); });
}
std::string spec_of(const mercer_operator_kernel* kernel) {
  return text_of([&](auto... buffer) { return mercer_operator_kernel_spec(kernel, buffer...); });
}

int64_t coefficients_of(const mercer_operator_map* map) {
  int64_t r = 0;
  mercer_operator_map_shape(map, nullptr, nullptr, nullptr, &r, nullptr);
  return r;
}

/// The field of one vector of coefficients at 5 rows of 3 inputs.
std::vector<double> field_of(const mercer_operator_map* map, int64_t p) {
  const int64_t r = coefficients_of(map);
  std::vector<double> out(static_cast<size_t>(5 * p));
  if (mercer_operator_map_apply(map, rows_of(numbers(5, 3), 3), rows_of(numbers(r, 1), 1),
                                MERCER_FIELD_VALUE, nullptr, result_of(out, p)) != MERCER_OK)
    out.clear();
  return out;
}

}  // namespace

TEST_CASE("specs of operator-valued kernels and maps are exact", "[capi]") {
  const char* const kKernel =
      R"({"mercer":1,"operator":"helmholtz","kernel":{"kernel":"gaussian","lengthscale":0.1,)"
      R"("variance":1},"alpha":0.25})";
  const auto kernel = make_operator_kernel(kKernel);
  REQUIRE(kernel != nullptr);
  CHECK(spec_of(kernel.get()) == kKernel);
  for (const char* json :
       {R"({"operator":"curl_free","inputs":3,"features":10,"seed":3,"bounded":true})",
        R"({"operator":"divergence_free","inputs":3,"features":10,"root":"orthonormal"})",
        R"({"operator":"helmholtz","inputs":3,"features":10,"projection":"orthogonal"})",
        R"({"operator":"decomposable","gamma":[2,1,1,2],"inputs":3,"features":10})"}) {
    const auto map = make_operator(json);
    REQUIRE(map != nullptr);
    const std::string spec = spec_of(map.get());
    const auto again = make_operator(spec);
    REQUIRE(again != nullptr);
    CHECK(spec_of(again.get()) == spec);
    const int64_t p = std::string(json).find("decomposable") == std::string::npos ? 3 : 2;
    CHECK(field_of(map.get(), p) == field_of(again.get(), p));
    CHECK(!field_of(map.get(), p).empty());
  }
}

TEST_CASE("Gamma in specs: its rows, or its numbers in one list", "[capi]") {
  const auto of = [](const std::string& gamma) {
    return R"({"operator":"decomposable","inputs":3,"features":10,"gamma":)" + gamma + "}";
  };
  const auto rows = make_operator(of("[[2,1],[1,2]]")), list = make_operator(of("[2,1,1,2]"));
  REQUIRE((rows && list));
  CHECK(spec_of(rows.get()).find(R"("gamma":[[2,1],[1,2]])") != std::string::npos);
  CHECK(spec_of(list.get()) == spec_of(rows.get()));
  CHECK(field_of(list.get(), 2) == field_of(rows.get(), 2));
  const auto one = make_operator(of("[[3]]"));
  REQUIRE(one);
  CHECK(spec_of(one.get()).find(R"("gamma":[3])") != std::string::npos);
  const auto kernel = make_operator_kernel(R"({"operator":"decomposable","gamma":[2,1,1,2]})");
  REQUIRE(kernel);
  CHECK(spec_of(kernel.get()).find(R"("gamma":[[2,1],[1,2]])") != std::string::npos);
  Slot<mercer_operator_map> slot;
  const auto refuses = [&](const std::string& gamma, const char* part) {
    return slot.refused(mercer_operator_map_from_spec(of(gamma).c_str(), slot.out()), part);
  };
  CHECK(refuses("[[1,2,3],[4,5,6]]", "2 lists of 3 numbers") == "");
  CHECK(refuses("[[1,2],[3]]", "gamma[1]") == "");
  CHECK(refuses("[1,2,3]", "3 numbers") == "");
  CHECK(refuses("[[2,1],[0,2]]", "symmetric") == "");
}

TEST_CASE("files of operator maps", "[capi]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("field.mercer");
  const std::vector<double> W = numbers(4, 3), B = numbers(4, 6);
  mercer_operator_map* own = nullptr;
  REQUIRE(mercer_operator_map_supplied(rows_of(W, 3), 2, 3, B.data(), &own) == MERCER_OK);
  const OperatorHandle supplied(own);
  CHECK(spec_of(supplied.get()).find("\"needs\":\"data\"") != std::string::npos);
  for (const auto& map :
       {make_operator(R"({"operator":"decomposable","gamma":[2,1,1,2],"inputs":3,"features":10})")
            .release(),
        supplied.get()}) {
    REQUIRE(mercer_operator_map_save(map, path.c_str()) == MERCER_OK);
    mercer_operator_map* read = nullptr;
    REQUIRE(mercer_operator_map_load(path.c_str(), &read) == MERCER_OK);
    const OperatorHandle loaded(read);
    CHECK(spec_of(loaded.get()) == spec_of(map));
    CHECK(field_of(loaded.get(), 2) == field_of(map, 2));
    const std::string info =
        text_of([&](auto... buffer) { return mercer_file_info(path.c_str(), buffer...); });
    CHECK(info.find("\"kind\":\"operator_map\"") != std::string::npos);
    if (map != supplied.get()) mercer_operator_map_free(map);
  }
  Slot<mercer_map> slot;
  CHECK(slot.refused(mercer_map_load(path.c_str(), slot.out()), "holds a operator_map") == "");
}

TEST_CASE("Gamma of more numbers than a spec takes, and of structures", "[capi]") {
  const int64_t p = 300;
  std::vector<double> gamma(static_cast<size_t>(p * p), 0.1);
  for (int64_t k = 0; k < p; ++k) gamma[static_cast<size_t>(k * p + k)] = 1;
  mercer_operator_map* made = nullptr;
  REQUIRE(mercer_operator_map_decomposable(R"({"inputs":3,"features":20,"cutoff":0.5})",
                                           gaussian().get(), rows_of(gamma, p),
                                           &made) == MERCER_OK);
  const OperatorHandle map(made);
  int64_t d = 0, outputs = 0, D = 0, r = 0;
  double dropped = -1;
  REQUIRE(mercer_operator_map_shape(map.get(), &d, &outputs, &D, &r, &dropped) == MERCER_OK);
  CHECK((d == 3 && outputs == p && D == 20 && r == 20 * p));
  CHECK(dropped == Approx(0).margin(1e-12));
  std::vector<double> code(6);
  CHECK(mercer_output_structure(MERCER_STRUCTURE_SIMPLEX, nullptr, 0, nullptr,
                                result_of(code, 3)) == MERCER_OK);
  CHECK(code == std::vector<double>{1, -0.5, -0.5, 0, std::sqrt(0.75), -std::sqrt(0.75)});
  std::vector<float> similar(4);
  const std::vector<double> Y = {0, 1, 2, 2};
  CHECK(mercer_output_structure(MERCER_STRUCTURE_SIMILARITY, rows_of(Y, 2), 0.5, nullptr,
                                result_of(similar, 2)) == MERCER_OK);
  CHECK(similar[1] == Approx(std::exp(-0.5)));
}

TEST_CASE("operator maps in single precision and of sparse rows", "[capi]") {
  const auto map =
      make_operator(R"({"operator":"curl_free","inputs":3,"features":64,"projection":"sobol"})");
  REQUIRE(map != nullptr);
  const std::vector<double> X = numbers(5, 3), theta = numbers(64, 1);
  const std::vector<float> narrow(X.begin(), X.end()), few(theta.begin(), theta.end());
  std::vector<float> out(15);
  REQUIRE(mercer_operator_map_apply(map.get(), rows_of(narrow, 3), rows_of(few, 1),
                                    MERCER_FIELD_VALUE, nullptr, result_of(out, 3)) == MERCER_OK);
  const std::vector<double> expected = field_of(map.get(), 3);
  for (size_t i = 0; i < 15; ++i) CHECK(out[i] == Approx(expected[i]).margin(1e-4));
  SparseRows<double, int32_t> sparse{3};
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t k = 2; k >= 0; --k) sparse.add(k, X[static_cast<size_t>(i * 3 + k)]);
    sparse.end_row();
  }
  std::vector<double> listed(15), sums(64), dense(64);
  REQUIRE(mercer_operator_map_apply(map.get(), sparse.view(), rows_of(theta, 1), MERCER_FIELD_VALUE,
                                    nullptr, result_of(listed, 3)) == MERCER_OK);
  for (size_t i = 0; i < 15; ++i) CHECK(listed[i] == Approx(expected[i]).margin(1e-13));
  REQUIRE(mercer_operator_map_adjoint(map.get(), sparse.view(), rows_of(expected, 3), nullptr,
                                      result_of(sums, 1)) == MERCER_OK);
  REQUIRE(mercer_operator_map_adjoint(map.get(), rows_of(X, 3), rows_of(expected, 3), nullptr,
                                      result_of(dense, 1)) == MERCER_OK);
  for (size_t i = 0; i < 64; ++i) CHECK(sums[i] == Approx(dense[i]).margin(1e-12));
}

TEST_CASE("potentials and stream functions have the fields as their derivatives", "[capi]") {
  constexpr double kStep = 1e-5;
  for (const int32_t kind : {MERCER_FIELD_POTENTIAL, MERCER_FIELD_STREAM}) {
    const bool stream = kind == MERCER_FIELD_STREAM;
    const std::string name = stream ? "divergence_free" : "curl_free";
    const auto map =
        make_operator(R"({"operator":")" + name + R"(","inputs":2,"features":40,"seed":3})");
    REQUIRE(map != nullptr);
    int64_t r = 0;
    REQUIRE(mercer_operator_map_shape(map.get(), nullptr, nullptr, nullptr, &r, nullptr) ==
            MERCER_OK);
    const std::vector<double> theta = numbers(r, 1);
    // A point, then it moved up and down each axis.
    const std::vector<double> X = {0.3,  -0.7, 0.3 + kStep,  -0.7, 0.3 - kStep,
                                   -0.7, 0.3,  -0.7 + kStep, 0.3,  -0.7 - kStep};
    std::vector<double> field(10), scalar(5);
    REQUIRE(mercer_operator_map_apply(map.get(), rows_of(X, 2), rows_of(theta, 1),
                                      MERCER_FIELD_VALUE, nullptr,
                                      result_of(field, 2)) == MERCER_OK);
    REQUIRE(mercer_operator_map_apply(map.get(), rows_of(X, 2), rows_of(theta, 1), kind, nullptr,
                                      result_of(scalar, 1)) == MERCER_OK);
    const double first = (scalar[1] - scalar[2]) / (2 * kStep),
                 second = (scalar[3] - scalar[4]) / (2 * kStep);
    CHECK(field[0] == Approx(stream ? second : first).margin(1e-7));
    CHECK(field[1] == Approx(stream ? -first : second).margin(1e-7));
    CHECK(std::fabs(field[0]) + std::fabs(field[1]) > 0.01);
  }
}

TEST_CASE("B(omega) by callback", "[capi]") {
  struct Roots {
    int64_t calls = 0, stop = -1;
    double fill = 1;
  };
  const mercer_root curl = [](void* user, const double* omega, double* B) -> int32_t {
    Roots& roots = *static_cast<Roots*>(user);
    for (int k = 0; k < 3; ++k) B[k] = roots.fill * omega[k];
    return roots.calls++ == roots.stop ? 1 : 0;
  };
  // The amplitude is in the map.
  const std::string rest =
      R"("kernel":{"kernel":"gaussian","variance":2},"inputs":3,"features":20,"projection":)"
      R"("sobol"})";
  const auto drawn = make_operator(R"({"operator":"curl_free",)" + rest);
  mercer_operator_map* made = nullptr;
  Roots roots;
  REQUIRE(mercer_operator_map_from_roots(("{" + rest).c_str(), 3, 1, curl, &roots, &made) ==
          MERCER_OK);
  const OperatorHandle own(made);
  CHECK(roots.calls == 10);
  const std::vector<double> a = field_of(own.get(), 3), b = field_of(drawn.get(), 3);
  REQUIRE((a.size() == 15 && b.size() == 15));
  for (size_t i = 0; i < 15; ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-12));

  Slot<mercer_operator_map> map;
  const auto ask = [&](const char* json, Roots given, mercer_root root) {
    return mercer_operator_map_from_roots(json, 3, 1, root, &given, map.out());
  };
  const char* const kJson = R"({"inputs":3,"features":20})";
  CHECK(map.fault(ask(R"({"inputs":3,"features":20,"projection":"quadrature"})", {}, curl),
                  MERCER_INVALID_ARGUMENT, "quadrature") == "");
  CHECK(map.fault(ask(kJson, {0, 4, 1}, curl), MERCER_CANCELLED, "frequency 4") == "");
  CHECK(map.refused(ask(kJson, {0, -1, NAN}, curl), "roots[0]") == "");
  CHECK(map.refused(ask(kJson, {}, nullptr), "root is NULL") == "");
  CHECK(map.refused(ask(R"({"inputs":3,"features":20,"gamma":[1]})", {}, curl), "gamma") == "");
  CHECK(map.fault(ask(R"({"inputs":3,"features":20,"kernel":{"kernel":"skewed_chi2"}})", {}, curl),
                  MERCER_UNSUPPORTED, "warps") == "");
  CHECK(map.fault(ask(R"({"inputs":3,"features":20,"kernel":{"kernel":"polynomial"}})", {}, curl),
                  MERCER_UNSUPPORTED, "polynomial") == "");
}

TEST_CASE("operator.h refuses what it cannot do, naming it", "[capi]") {
  Slot<mercer_operator_kernel> kernel;
  CHECK(kernel.refused(mercer_operator_kernel_from_spec("{\"operator\":\"curl\"}", kernel.out()),
                       "curl", "curl_free") == "");
  CHECK(kernel.fault(mercer_operator_kernel_from_spec(
                         R"({"operator":"curl_free","kernel":{"kernel":"cauchy"}})", kernel.out()),
                     MERCER_UNSUPPORTED, "cauchy") == "");
  Slot<mercer_operator_map> map;
  CHECK(map.refused(mercer_operator_map_from_spec(nullptr, map.out()), "json") == "");
  CHECK(map.refused(mercer_operator_map_from_spec(
                        R"({"operator":"curl_free","inputs":3,"features":9})", map.out()),
                    "features = 9") == "");
  CHECK(map.fault(
            mercer_operator_map_from_spec(
                R"({"operator":"curl_free","inputs":3,"features":8,"needs":"data"})", map.out()),
            MERCER_UNSUPPORTED, "file") == "");
  const std::vector<double> gamma = {1, 2, 2, 1};
  CHECK(map.fault(mercer_operator_map_decomposable(R"({"inputs":3,"features":8})", gaussian().get(),
                                                   rows_of(gamma, 2), map.out()),
                  MERCER_NOT_POSITIVE_DEFINITE, "gamma") == "");
  CHECK(
      map.refused(mercer_operator_map_decomposable(R"({"inputs":3,"features":8,"gamma":[1]})",
                                                   gaussian().get(), rows_of(gamma, 2), map.out()),
                  "gamma", "left out") == "");
  const std::vector<double> bad = {1, NAN};
  CHECK(map.refused(mercer_operator_map_supplied(rows_of(gamma, 2), 1, 1, bad.data(), map.out()),
                    "roots[1]") == "");
  const auto field = make_operator(R"({"operator":"curl_free","inputs":3,"features":8})");
  const std::vector<double> X = numbers(5, 3), theta = numbers(8, 1);
  std::vector<double> out(15);
  const auto apply = [&](int32_t kind, int64_t cols) {
    return mercer_operator_map_apply(field.get(), rows_of(X, 3), rows_of(theta, 1), kind, nullptr,
                                     result_of(out.data(), 5, cols));
  };
  CHECK(refused(apply(6, 3), "kind = 6") == "");
  CHECK(fault(apply(MERCER_FIELD_STREAM, 1), MERCER_UNSUPPORTED, "3 dimensions") == "");
  CHECK(fault(apply(MERCER_FIELD_VALUE, 2), MERCER_DIMENSION_MISMATCH, "5 x 3") == "");
  CHECK(refused(mercer_operator_map_apply(field.get(), rows_of(out, 3), rows_of(theta, 1), 0,
                                          nullptr, result_of(out, 3)),
                "out") == "");
  CHECK(fault(mercer_operator_map_adjoint(field.get(), rows_of(X, 3), rows_of(X.data(), 5, 2),
                                          nullptr, result_of(out.data(), 8, 1)),
              MERCER_DIMENSION_MISMATCH, "3 outputs") == "");
  mercer_operator_map* circulant = nullptr;  // none in builds without FFTW
  if (mercer_operator_map_from_spec(
          R"({"operator":"decomposable","kernel":{"kernel":"cauchy"},"gamma":[1],"inputs":16,)"
          R"("features":32,"projection":"circulant"})",
          &circulant) == MERCER_OK) {
    const OperatorHandle owned(circulant);
    const std::vector<double> wide = numbers(1, 16);
    CHECK(fault(mercer_operator_map_variance(circulant, rows_of(wide, 16), rows_of(wide, 16),
                                             nullptr, result_of(out.data(), 1, 1)),
                MERCER_UNSUPPORTED, "cauchy") == "");
  }
  CHECK(refused(mercer_output_structure(4, rows_of(X, 3), 0, nullptr, result_of(out.data(), 3, 3)),
                "kind = 4") == "");
  for (const int32_t kind :
       {MERCER_STRUCTURE_COVARIANCE, MERCER_STRUCTURE_LAPLACIAN, MERCER_STRUCTURE_SIMPLEX})
    CHECK(refused(mercer_output_structure(kind, rows_of(X, 3), 0.5, nullptr,
                                          result_of(out.data(), 3, 3)),
                  "mercer_output_structure: scale = 0.5 of kind", "expected 0") == "");
  CHECK(refused(mercer_output_structure(MERCER_STRUCTURE_SIMPLEX, rows_of(X, 3), 0, nullptr,
                                        result_of(out.data(), 3, 4)),
                "NULL") == "");
  mercer_operator_map_free(nullptr);
  mercer_operator_kernel_free(nullptr);
}

}  // namespace mercer::test
