// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Predicted errors of maps, and the sketch that they recommend.
#include <cmath>

#include "sketches.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

double predicted(const mercer_map* map, const RowsView& X) {
  double error = -1;
  CHECK(fault(mercer_map_kernel_error(map, X, MERCER_KERNEL_ERROR_PREDICTED, nullptr, &error),
              MERCER_OK) == "");
  return error;
}

TEST_CASE("the predicted error is the root of the variances over the squared kernel", "[capi]") {
  constexpr int64_t n = 9, d = 3, ld = 4, D = 10;
  const auto X = numbers(n, ld);
  const auto row = [&](int64_t i) { return rows_of(X.data() + i * ld, 1, d); };
  const auto all = rows_of(X.data(), n, d, ld);
  const std::string kernel = R"({"kernel":"polynomial","degree":3,"gamma":0.7,"offset":0.5})";
  for (const Composition composition : kCompositions) {
    const auto map = sketch(kernel, d, D, {kKinds[4], "complex_to_real", composition});
    REQUIRE(map != nullptr);
    double K[n * n], top = 0, bottom = 0;
    REQUIRE(mercer_kernel_gram(polynomial(3, 0.7, 0.5).get(), all, all, {}, nullptr,
                               result_of(K, n, n)) == MERCER_OK);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double variance = 0;
        REQUIRE(mercer_map_variance(map.get(), row(i), row(j), MERCER_VARIANCE_ESTIMATE, nullptr,
                                    &variance) == MERCER_OK);
        top += variance;
        bottom += K[i * n + j] * K[i * n + j];
      }
    }
    CHECK(predicted(map.get(), all) == Approx(std::sqrt(top / bottom)).epsilon(1e-12));
  }
}

TEST_CASE("predicted errors of rows that are nearly one are numbers", "[capi]") {
  const auto all = numbers(400, 3);
  for (const char* kernel : {"gaussian", "matern", "laplacian", "cauchy"}) {
    const auto map =
        make_map(R"("fourier","kernel":{"kernel":")" + std::string(kernel) + "\"}", 3, 8);
    for (size_t i = 0; i < 400; ++i) {
      std::vector<double> X(all.begin() + static_cast<int64_t>(3 * i),
                            all.begin() + static_cast<int64_t>(3 * i + 3));
      for (size_t k = 0; k < 3; ++k) X.push_back(X[k] * (1 + 1e-8 * std::fabs(all[i])));
      REQUIRE(predicted(map.get(), rows_of(X, 3)) >= 0);
    }
  }
}

TEST_CASE("predicted errors: what is refused", "[capi]") {
  const auto map = sketch(kPolynomial, 3, 8, {});
  const auto X = numbers(4, 3);
  const std::vector<double> zeros(12);
  double error = 77;
  const auto says = [&](const mercer_map* on, const RowsView& rows, double* out,
                        mercer_status expected, auto... parts) {
    return fault(mercer_map_kernel_error(on, rows, MERCER_KERNEL_ERROR_PREDICTED, nullptr, out),
                 expected, "mercer_map_kernel_error: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const auto good = rows_of(X, 3);
  CHECK(says(nullptr, good, &error, invalid, "map = NULL") == "");
  CHECK(says(map.get(), good, nullptr, invalid, "error = NULL") == "");
  CHECK(says(map.get(), rows_of(X.data(), 0, 3), &error, invalid, "n = 0") == "");
  CHECK(says(map.get(), rows_of<double>(nullptr, 4, 3), &error, invalid, "X.values = NULL") == "");
  CHECK(says(map.get(), rows_of(X.data(), 4, 3, 2), &error, invalid, "ld = 2") == "");
  CHECK(says(map.get(), rows_of(X.data(), 4, 2), &error, MERCER_DIMENSION_MISMATCH, "X.d = 2",
             "inputs, 3") == "");
  CHECK(says(map.get(), rows_of(zeros, 3), &error, invalid, "0 for all pairs") == "");
  std::vector<double> broken = X;
  for (const double value : {double{NAN}, 1e200}) {
    broken[4] = value;
    CHECK(says(map.get(), rows_of(broken, 3), &error, invalid, "X", "finite") == "");
  }
  const double frequencies[] = {1, 2, 3};
  mercer_map* supplied = nullptr;
  REQUIRE(make_supplied(gaussian().get(), rows_of(frequencies, 1, 3), nullptr, {}, "", &supplied) ==
          MERCER_OK);
  const MapHandle owned(supplied);
  CHECK(says(supplied, good, &error, MERCER_UNSUPPORTED, "closed form") == "");
  CHECK(error == 77);
}

const std::string kCubic = R"({"kernel":"polynomial","degree":3,"gamma":1,"offset":0.2})";

/// Every plain real sketch of D columns is no better than `least`, and one is the recommended one.
void check_no_better(int64_t D, const RowsView& X, double least, const mercer_map* best) {
  int candidates = 0;
  bool met = false;
  for_each_kind([&](const std::string& kind) {
    for (const std::string field : {"real", "complex_to_real"}) {
      if (field == "complex_to_real" && D % 2 == 1) continue;
      const auto map = sketch(kCubic, X.d, D, {kind, field});
      REQUIRE(map != nullptr);
      CHECK(predicted(map.get(), X) >= least);
      met = met || own_spec(map.get()) == own_spec(best);
      ++candidates;
    }
  });
  const int fields = D % 2 == 1 ? 1 : 2;
  CHECK(candidates == (lacks_fourier_transforms() ? 5 : 6) * fields);
  CHECK(met);
}

TEST_CASE("no plain sketch has a lower predicted error than the recommended one", "[capi]") {
  constexpr int64_t n = 12, d = 3;
  const auto data = numbers(n, d);
  const auto X = rows_of(data, d);
  const auto kernel = polynomial(3, 1, 0.2);
  for (const int64_t D : {7, 8, 18}) {
    double least = 0;
    mercer_map* out = nullptr;
    REQUIRE(mercer_sketch_recommend(kernel.get(), D, 7, X, nullptr, &least, &out) == MERCER_OK);
    const MapHandle best(out);
    int64_t features = 0;
    features = columns_of(out);
    CHECK(features == D);
    CHECK(predicted(out, X) == least);
    check_no_better(D, X, least, best.get());
    CHECK(mercer_sketch_recommend(kernel.get(), D, 7, X, nullptr, nullptr, &out) == MERCER_OK);
    const MapHandle silent(out);
    CHECK(own_spec(silent.get()) == own_spec(best.get()));
  }
}

TEST_CASE("the recommended map is that of all monomials where it has at most D columns", "[capi]") {
  const auto data = numbers(12, 3);
  double error = 1;
  mercer_map* out = nullptr;
  REQUIRE(mercer_sketch_recommend(polynomial(3, 1, 0.2).get(), 40, 7, rows_of(data, 3), nullptr,
                                  &error, &out) == MERCER_OK);
  const MapHandle best(out);
  int64_t features = 0;
  features = columns_of(out);
  CHECK(features == 20);
  CHECK(error == 0);
  CHECK(spec_of(out).find(R"("map":"exact_polynomial")") != std::string::npos);
}

TEST_CASE("recommendations: what is refused", "[capi]") {
  auto X = numbers(4, 3);
  const std::vector<double> zeros(12);
  const auto kernel = polynomial();
  Slot<mercer_map> slot;
  double error = 77;
  const auto says = [&](const mercer_kernel* k, int64_t D, const RowsView& rows,
                        mercer_status expected, auto... parts) {
    return slot.fault(mercer_sketch_recommend(k, D, 0, rows, nullptr, &error, slot.out()), expected,
                      "mercer_sketch_recommend: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const auto good = rows_of(X, 3);
  CHECK(says(nullptr, 8, good, invalid, "kernel = NULL") == "");
  CHECK(says(kernel.get(), 0, good, invalid, "D = 0") == "");
  CHECK(says(kernel.get(), 8, rows_of(X.data(), 0, 3), invalid, "n = 0") == "");
  CHECK(says(kernel.get(), 8, rows_of(X.data(), 4, 0), invalid, "d = 0") == "");
  CHECK(says(kernel.get(), 8, rows_of<double>(nullptr, 4, 3), invalid, "X.values = NULL") == "");
  CHECK(says(kernel.get(), 8, rows_of(X.data(), 4, 3, 2), invalid, "ld = 2") == "");
  CHECK(says(kernel.get(), 8, rows_of(zeros, 3), invalid, "0 for all pairs") == "");
  CHECK(says(gaussian().get(), 8, good, MERCER_UNSUPPORTED, "kernel gaussian") == "");
  CHECK(says(bilinear(3).get(), 8, good, MERCER_DIMENSION_MISMATCH, "d = 3") == "");
  X[5] = std::nan("");
  CHECK(says(kernel.get(), 8, good, invalid, "finite") == "");
  CHECK(refused(mercer_sketch_recommend(kernel.get(), 8, 0, good, nullptr, &error, nullptr),
                "out = NULL") == "");
  CHECK(error == 77);
}

TEST_CASE("predictions and recommendations can be cancelled", "[capi]") {
  const auto map = sketch(kPolynomial, 5, 8, {});
  const auto X = numbers(6, 5);
  const auto running = context();
  double error = 77;
  mercer_context_cancel(running.get(), 1);
  CHECK(fault(mercer_map_kernel_error(map.get(), rows_of(X, 5), MERCER_KERNEL_ERROR_PREDICTED,
                                      running.get(), &error),
              MERCER_CANCELLED, "mercer_map_kernel_error") == "");
  Slot<mercer_map> slot;
  mercer_context_cancel(running.get(), 1);
  CHECK(slot.fault(mercer_sketch_recommend(polynomial().get(), 8, 0, rows_of(X, 5), running.get(),
                                           &error, slot.out()),
                   MERCER_CANCELLED, "mercer_sketch_recommend") == "");
  CHECK(error == 77);
}

}  // namespace
