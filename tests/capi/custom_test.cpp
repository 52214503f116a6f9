// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels and maps of the caller's: those by callback equal those of the library that compute the
// same, and whatever a callback does ends in a status. {"kernel":"custom"} is support/custom.cpp's.
#include <atomic>
#include <cmath>
#include <thread>

#include "fixture.h"
#include "mercer/mercer.hpp"
#include "wrapper.h"

namespace custom_test {
using namespace mercer::test;
using mercer::Custom;
using mercer::Kernel;
using mercer::Map;
using mercer::Model;
using Doubles = mercer::Matrix<double>;

constexpr int64_t kRows = 80, kInputs = 4, kNewRows = 13;

double square_distance(int64_t d, const double* x, const double* y) {
  double sum = 0;
  for (int64_t k = 0; k < d; ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
  return sum;
}
/// What the library's Gaussian of lengthscale 1 is.
void gaussian(int64_t n, int64_t m, int64_t d, const double* X, const double* Y, double* K) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j)
      K[i * m + j] = std::exp(-square_distance(d, X + i * d, Y + j * d) / 2);
}

Doubles rows_of(int64_t n, int64_t d, uint64_t seed) {
  Doubles X(n, d);
  uint64_t state = 88172645463325252u + seed;
  for (int64_t k = 0; k < n * d; ++k) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    X.view().data[k] = static_cast<double>(state >> 11) * 0x1p-53 * 2 - 1;
  }
  return X;
}
Doubles targets_of(const Doubles& X) {
  Doubles Y(X.rows(), 1);
  for (int64_t i = 0; i < X.rows(); ++i) Y(i, 0) = std::sin(3 * X(i, 0)) + X(i, 1);
  return Y;
}
double largest_difference(const Doubles& A, const Doubles& B) {
  REQUIRE(A.rows() * A.cols() == B.rows() * B.cols());
  double largest = 0;
  for (int64_t k = 0; k < A.rows() * A.cols(); ++k)
    largest = std::max(largest, std::fabs(A.view().data[k] - B.view().data[k]));
  return largest;
}
mercer::MatrixView<const double> part(const Doubles& X, int64_t first, int64_t last) {
  return {X.view().data + first * X.cols(), last - first, X.cols()};
}
Doubles gram(const Kernel& kernel, const Doubles& X, const Doubles& Y) {
  Doubles K(X.rows(), Y.rows());
  kernel.gram(X, Y, K.view());
  return K;
}
Doubles features(const Map& map, const Doubles& X) {
  Doubles Z(X.rows(), map.features());
  map.transform(X, Z.view());
  return Z;
}
std::string named(const std::string& name) {
  return R"({"kernel":"custom","name":")" + name + "\"}";
}
const char* const kOptions = R"(,"prepare":{"standardize":false,"extrapolation":"free"},)"
                             R"("precision":"f64")";
const char* const kGaussian = R"({"kernel":"gaussian","lengthscale":1})";
std::string spec(const std::string& kernel, const std::string& map, const std::string& more) {
  return R"({"map":{"kernel":)" + kernel + map + "}" + more + "}";
}

TEST_CASE("custom: a Gaussian by callback is the Gaussian") {
  const Custom own("rbf", gaussian);
  const Doubles X = rows_of(600, kInputs, 1), Y = rows_of(kNewRows, kInputs, 2);
  const Kernel custom = Kernel::from_spec(named("rbf")), plain = Kernel::gaussian(1.0);
  CHECK(custom.spec() == R"({"mercer":1,"kernel":"custom","name":"rbf","variance":1})");
  const Doubles K = gram(custom, X, X);  // in several blocks
  CHECK(largest_difference(K, gram(plain, X, X)) < 1e-15);
  for (int64_t i = 0; i < 600; ++i)
    for (int64_t j = 0; j < i; ++j)
      if (K(i, j) != K(j, i)) FAIL("asymmetric at " << i << ", " << j);
  CHECK(largest_difference(gram(custom, X, Y), gram(plain, X, Y)) < 1e-15);
  const Doubles U = rows_of(kNewRows, 2, 3);
  Doubles one(600, 2), other(600, 2);
  custom.multiply(X, Y, U, one.view());
  plain.multiply(X, Y, U, other.view());
  CHECK(largest_difference(one, other) < 1e-13);
}

TEST_CASE("custom: sums, products, metrics and outputs of a kernel by callback") {
  const Custom own("rbf", gaussian);
  const Doubles X = rows_of(kRows, kInputs, 1), Y = rows_of(kNewRows, kInputs, 2);
  const std::string forms[] = {
      R"({"kernel":"sum","variance":2,"parts":[K,{"kernel":"polynomial"}]})",
      R"({"kernel":"product","variance":2,"parts":[K,{"kernel":"sum","parts":[K,K]}]})",
      R"({"kernel":"metric","matrix":[[1,0,2,0],[0,1,0,0.5]],"of":K})",
      R"({"kernel":"product","parts":[{"kernel":"metric","matrix":[[1,0,0,0]],"of":K},K]})",
      R"({"kernel":"decomposable","scalar":K,"gamma":[[2,1],[1,3]]})"};
  for (const std::string& form : forms) {
    INFO(form);
    const auto made = [&](const std::string& of) {
      std::string text = form;
      for (size_t at; (at = text.find('K')) != std::string::npos;) text.replace(at, 1, of);
      return Kernel::from_spec(text);
    };
    const int64_t p = holds(form, "gamma") ? 2 : 1;
    Doubles one(kRows * p, kNewRows * p), other(kRows * p, kNewRows * p);
    made(named("rbf")).gram(X, Y, one.view());
    made(R"({"kernel":"gaussian"})").gram(X, Y, other.view());
    CHECK(largest_difference(one, other) < 1e-14);
  }
}

TEST_CASE("custom: fits, posteriors and files of a kernel by callback are those of the kernel") {
  const Custom own("rbf", gaussian);
  const Doubles X = rows_of(kRows, kInputs, 1), T = rows_of(kNewRows, kInputs, 2),
                Y = targets_of(X);
  for (const char* const map : {R"(,"map":"exact")", R"(,"map":"nystroem","features":20)",
                                R"(,"map":"nystroem","features":20,"landmarks":"kmeans")",
                                R"(,"map":"nystroem","features":20,"landmarks":"farthest")",
                                R"(,"map":"nystroem","features":20,"landmarks":"leverage")",
                                R"(,"map":"nystroem","features":20,"landmarks":"rpcholesky")"}) {
    for (const char* const model : {"ridge", "gp"}) {
      INFO(map << ", " << model);
      const std::string of =
          std::string(R"(,"search":false,"lambda":1e-3,"model":")") + model + '"';
      const Model custom = Model::fit(spec(named("rbf"), map, of), {X, Y});
      const Model plain = Model::fit(spec(kGaussian, map, of + kOptions), {X, Y});
      CHECK(largest_difference(custom.predict(T), plain.predict(T)) < 1e-9);
      const Model read = Model::from_bytes(custom.to_bytes());
      CHECK(largest_difference(custom.predict(T), read.predict(T)) == 0);
      if (std::string(model) == "ridge") continue;
      CHECK(largest_difference(custom.predict(T, "latent_variance"),
                               plain.predict(T, "latent_variance")) < 1e-9);
      CHECK(largest_difference(custom.predict(T, "joint_covariance"),
                               plain.predict(T, "joint_covariance")) < 1e-9);
    }
  }
}

TEST_CASE("custom: lambda and D are searched, and inputs reach the callback as they are given") {
  const Doubles X = rows_of(kRows, kInputs, 1), Y = targets_of(X);
  std::vector<double> seen;
  const Custom own(
      "rbf", [&](int64_t n, int64_t m, int64_t d, const double* A, const double* B, double* K) {
        seen.insert(seen.end(), A, A + n * d);
        gaussian(n, m, d, A, B, K);
      });
  const Model model = Model::fit(spec(named("rbf"), "", ""), {X, Y});
  CHECK(model.score(X, Y) > 0.9);
  CHECK(holds(model.spec(), R"("standardize":false)"));
  CHECK(holds(model.spec(), R"("extrapolation":"free")"));
  const auto given = [&](double x) {
    const double* const all = X.view().data;
    return std::find(all, all + kRows * kInputs, x) != all + kRows * kInputs;
  };
  REQUIRE(!seen.empty());
  CHECK(std::all_of(seen.begin(), seen.end(), given));
  const Model asked = Model::fit(
      spec(named("rbf"), R"(,"features":20)", R"(,"search":false,"prepare":{"standardize":true})"),
      {X, Y});
  CHECK(holds(asked.spec(), R"("standardize":true)"));
}

TEST_CASE("custom: a Gram matrix that is there already, by the numbers of its rows") {
  const Doubles X = rows_of(kRows, kInputs, 1), Y = targets_of(X),
                K = gram(Kernel::gaussian(1.0), X, X);
  const Custom own(
      "table",
      [&](int64_t n, int64_t m, int64_t, const double* A, const double* B, double* out) {
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < m; ++j)
            out[i * m + j] = K(static_cast<int64_t>(A[i]), static_cast<int64_t>(B[j]));
      },
      {}, 0, 1);
  Doubles numbers(kRows, 1);
  for (int64_t i = 0; i < kRows; ++i) numbers(i, 0) = static_cast<double>(i);
  // Rows 60 to 79 are new: outside the range of those of the fit.
  const char *const exact = R"(,"map":"exact")", *const lambda = R"(,"search":false,"lambda":1e-3)";
  const Model table =
      Model::fit(spec(named("table"), exact, lambda), {part(numbers, 0, 60), part(Y, 0, 60)});
  const Model plain = Model::fit(spec(kGaussian, exact, lambda + std::string(kOptions)),
                                 {part(X, 0, 60), part(Y, 0, 60)});
  CHECK(largest_difference(table.predict(part(numbers, 60, kRows)),
                           plain.predict(part(X, 60, kRows))) < 1e-9);
  CHECK(status_of([&] { gram(Kernel::from_spec(named("table")), X, X); }) ==
        MERCER_DIMENSION_MISMATCH);
}

TEST_CASE("custom: features by callback are those of the map that has the same frequencies") {
  const Kernel plain = Kernel::gaussian(1.0);
  constexpr int64_t F = 32;
  const Map fourier = Map::fourier(plain, kInputs, 2 * F, R"("form":"pair","projection":"dense")");
  const Doubles W = fourier.frequencies();
  const Custom own(
      "pairs", {},
      [&](int64_t n, int64_t d, const double* X, int64_t D, uint64_t, double* Z) {
        REQUIRE(D == 2 * F);
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < F; ++j) {
            double angle = 0;
            for (int64_t k = 0; k < d; ++k) angle += X[i * d + k] * W(j, k);
            Z[i * D + j] = std::cos(angle) / std::sqrt(1.0 * F);
            Z[i * D + F + j] = std::sin(angle) / std::sqrt(1.0 * F);
          }
      },
      2 * F);
  const std::string kernel = named("pairs");
  const Map custom =
      Map::from_spec(R"({"map":"custom","inputs":4,"features":64,"kernel":)" + kernel + "}");
  const Doubles X = rows_of(kRows, kInputs, 1), T = rows_of(kNewRows, kInputs, 2),
                Y = targets_of(X), Z = features(custom, X);
  const auto inner = [](const Doubles& A) {
    Doubles K(kRows, kRows);
    for (int64_t i = 0; i < kRows; ++i)
      for (int64_t j = 0; j < kRows; ++j)
        for (int64_t k = 0; k < 2 * F; ++k) K(i, j) += A(i, k) * A(j, k);
    return K;
  };
  CHECK(largest_difference(inner(Z), inner(features(fourier, X))) < 1e-13);
  CHECK(largest_difference(inner(Z), gram(Kernel::from_spec(kernel), X, X)) < 1e-13);
  const auto fit = [&](const std::string& map, const std::string& more) {
    return Model::fit(R"({"map":)" + map + R"(,"search":false,"lambda":1e-3)" + more + "}", {X, Y});
  };
  const Model one = fit(R"({"map":"custom","features":64,"kernel":)" + kernel + "}", "");
  const Model other =
      fit(R"({"map":"fourier","form":"pair","projection":"dense","features":64,"kernel":)"
          R"({"kernel":"gaussian","lengthscale":1}})",
          kOptions);
  CHECK(largest_difference(one.predict(T), other.predict(T)) < 1e-9);
  const Model read = Model::from_bytes(one.to_bytes());
  CHECK(largest_difference(one.predict(T), read.predict(T)) == 0);
  const Map loaded = Map::from_bytes(custom.to_bytes());
  CHECK(largest_difference(Z, features(loaded, X)) == 0);
  const Model searched = Model::fit(R"({"map":{"map":"custom","kernel":)" + kernel + "}}", {X, Y});
  CHECK(holds(searched.spec(), R"("features":64)"));
}

TEST_CASE("custom: features of an integral representation estimate the kernel, unbiased") {
  const Doubles X = rows_of(6, kInputs, 1),
                K = gram(Kernel::from_spec(R"({"kernel":"custom"})"), X, X);
  constexpr int kSeeds = 2000;
  constexpr int64_t D = 8;
  std::vector<double> sum(36, 0.0), squares(36, 0.0);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Map map = Map::from_spec(R"({"map":"custom","kernel":{"kernel":"custom","variance":2},)"
                                   R"("inputs":4,"features":8,"seed":)" +
                                   std::to_string(seed) + "}");
    const Doubles Z = features(map, X);
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t j = 0; j < 6; ++j) {
        double k = 0;
        for (int64_t c = 0; c < D; ++c) k += Z(i, c) * Z(j, c);
        sum[static_cast<size_t>(6 * i + j)] += k;
        squares[static_cast<size_t>(6 * i + j)] += k * k;
      }
  }
  for (size_t at = 0; at < 36; ++at) {  // 36 means, each beyond 4.5 deviations with 7e-6
    const double mean = sum[at] / kSeeds, deviation = std::sqrt(squares[at] / kSeeds - mean * mean);
    CHECK(std::fabs(mean - 2 * K.view().data[at]) < 4.5 * deviation / std::sqrt(1.0 * kSeeds));
  }
}

// Faults.

TEST_CASE("custom: options that are refused keep nothing") {
  int released = 0;
  mercer_custom_options good = {};
  good.struct_size = sizeof good;
  good.name = "mine";
  good.user = &released;
  good.gram = [](void*, int64_t, int64_t, int64_t, const double*, const double*, double*) {
    return 0;
  };
  const auto features = [](void*, int64_t, int64_t, const double*, int64_t, uint64_t, double*) {
    return 0;
  };
  good.release = [](void* user) { ++*static_cast<int*>(user); };
  const auto refused = [&](auto change, const char* argument) {
    mercer_custom_options changed = good;
    change(changed);
    Slot<mercer_custom> slot;
    return slot.refused(mercer_custom_create(&changed, slot.out()), argument);
  };
  CHECK(refused([](auto& o) { o.name = nullptr; }, "options->name") == "");
  CHECK(refused([](auto& o) { o.name = ""; }, "options->name") == "");
  CHECK(refused([](auto& o) { o.name = "a b"; }, "options->name") == "");
  const std::string longest(100, 'x'), longer(101, 'x');
  CHECK(refused([&](auto& o) { o.name = longer.c_str(); }, "options->name") == "");
  CHECK(refused([](auto& o) { o.gram = nullptr; }, "options->gram") == "");
  CHECK(refused([](auto& o) { o.inputs = -1; }, "options->inputs") == "");
  CHECK(refused([](auto& o) { o.concurrent = 2; }, "options->concurrent") == "");
  CHECK(refused([](auto& o) { o.feature_count = 3; }, "options->feature_count") == "");
  CHECK(refused([&](auto& o) { o.gram = nullptr, o.features = features; },
                "options->feature_count") == "");
  CHECK(refused([](auto& o) { o.struct_size = 8; }, "options->struct_size") == "");
  CHECK(released == 0);
  using Handle = std::unique_ptr<mercer_custom, Freed<mercer_custom, mercer_custom_free>>;
  Handle custom = made<Handle>([&](auto out) { return mercer_custom_create(&good, out); });
  CHECK(refused([](auto&) {}, "options->name") == "");  // twice
  CHECK(released == 0);
  custom.reset();
  CHECK(released == 1);
  good.name = longest.c_str();
  custom = made<Handle>([&](auto out) { return mercer_custom_create(&good, out); });
  custom.reset();
  CHECK(released == 2);
  mercer_custom_free(nullptr);
}

TEST_CASE("custom: callbacks live as long as what uses them, names as long as their handle") {
  const Doubles X = rows_of(kRows, kInputs, 1), Y = targets_of(X);
  auto alive = std::make_shared<int>(0);
  auto own =
      std::make_unique<Custom>("rbf", [alive](auto... arguments) { gaussian(arguments...); });
  const std::weak_ptr<int> watched = alive;
  alive.reset();
  std::vector<std::byte> bytes;
  {
    const Kernel kernel = Kernel::from_spec(named("rbf"));
    const Model model = Model::fit(
        spec(named("rbf"), R"(,"map":"exact")", R"(,"search":false,"lambda":1e-3)"), {X, Y});
    const Doubles before = model.predict(X);
    bytes = model.to_bytes();
    own.reset();
    CHECK(!watched.expired());
    CHECK(largest_difference(model.predict(X), before) == 0);
    // A map of the kernel that is left, and one of several outputs, are made of its copies.
    auto data = mercer::detail::sized<mercer_map_data>();
    data.kernel = kernel.get();
    data.X = mercer_rows_f64(kRows, kInputs, X.view().data);
    const Map map = Map::fit(R"({"map":"nystroem","inputs":4,"features":10})", data);
    CHECK(largest_difference(features(map, X), features(map, X)) == 0);
    const std::vector<double> gamma = {2, 1, 1, 2};
    Kernel::decomposable(kernel, mercer::MatrixView<const double>(gamma.data(), 2, 2));
    mercer_model* read = nullptr;
    CHECK(fault(mercer_model_read(nullptr, bytes.data(), std::ssize(bytes), &read),
                MERCER_NOT_REGISTERED, "rbf", "name") == "");
    CHECK(holds(mercer_last_error(), "\"custom\""));  // what is registered
    // Another may have the name.
    const Custom next("rbf", [](int64_t n, int64_t m, int64_t, const double*, const double*,
                                double* K) { std::fill_n(K, n * m, 1.0); });
    CHECK(gram(Kernel::from_spec(named("rbf")), X, X)(0, 1) == 1);
    CHECK(gram(kernel, X, X)(0, 1) < 1);
  }
  CHECK(watched.expired());
}

TEST_CASE("custom: a callback that fails, throws or cancels at any call ends the call") {
  const Doubles X = rows_of(kRows, kInputs, 1), Y = targets_of(X);
  int calls = 0, at = 0;
  const auto ending = [&](auto end) {
    return [&calls, &at, end](auto... arguments) {
      if (calls++ == at) end();
      gaussian(arguments...);
    };
  };
  struct Thrown {};
  mercer::Context context;
  for (const char* const map :
       {R"(,"map":"exact")", R"(,"map":"nystroem","landmarks":"leverage")"}) {
    int ends = 0;
    for (at = 0;; at += 7, calls = 0) {
      const Custom own("bad", ending([] { throw Thrown(); }));
      try {
        Model::fit(spec(named("bad"), map, ""), {X, Y});
        break;
      } catch (const Thrown&) {
        ++ends;
      }
    }
    CHECK(ends >= 3);
    calls = at = 0;
    const Custom own("stops", ending([&] { context.cancel(); }));
    CHECK(status_of([&] {
            Model::fit(spec(named("stops"), map, ""), {X, Y}, &context);
          }) == MERCER_CANCELLED);
    calls = 0;
  }
  Slot<mercer_custom> slot;
  mercer_custom_options options = {};
  options.struct_size = sizeof options;
  options.name = "three";
  options.gram = [](void*, int64_t, int64_t, int64_t, const double*, const double*, double*) {
    return 3;
  };
  REQUIRE(mercer_custom_create(&options, slot.out()) == MERCER_OK);
  const Kernel kernel = Kernel::from_spec(named("three"));
  Doubles K(kRows, kRows);
  CHECK(fault(mercer_kernel_gram(kernel.get(), mercer_rows_f64(kRows, kInputs, X.view().data),
                                 mercer_rows_f64(kRows, kInputs, X.view().data), {}, nullptr,
                                 mercer_matrix_f64(kRows, kRows, K.view().data)),
              MERCER_CALLBACK, "3", "0") == "");
  CHECK(holds(mercer_last_error(), R"(gram of custom "three" returned 3, expected 0)"));
  mercer_custom_free(slot.handle);
}

TEST_CASE("custom: a loss by callback, alone and beside a kernel") {
  const Doubles X = rows_of(kRows, kInputs, 1), Y = targets_of(X);
  const auto squares = [](int64_t n, int64_t p, const double* S, const double* T, double* value,
                          double* slope, double* curvature) {
    for (int64_t k = 0; k < n * p; ++k) {
      slope[k] = S[k] - T[k];
      value[k] = slope[k] * slope[k] / 2;
      curvature[k] = 1;
    }
  };
  const std::string shared =
      R"("map":{"map":"fourier","features":32},"lambda":1e-2,"search":false,"precision":"f64")";
  auto own = std::make_unique<Custom>("squares", nullptr, nullptr, 0, 0, false, squares);
  const std::string spec = "{" + shared +
                           R"(,"model":"logistic","loss":"custom","loss_name":"squares",)"
                           R"("tolerance":1e-18,"iterations":5000})";
  const Model model = Model::fit(spec, {X, Y});
  CHECK(largest_difference(model.predict(X), Model::fit("{" + shared + "}", {X, Y}).predict(X)) <
        1e-6);
  CHECK(status_of([&] { Kernel::from_spec(named("squares")); }) == MERCER_UNSUPPORTED);
  own.reset();
  CHECK(largest_difference(Model::from_bytes(model.to_bytes()).predict(X), model.predict(X)) == 0);
  CHECK(status_of([&] { Model::fit(spec, {X, Y}); }) == MERCER_NOT_REGISTERED);
  const Custom both("squares", gaussian, {}, 0, 0, true, squares);
  CHECK(largest_difference(Model::fit(spec, {X, Y}).predict(X), model.predict(X)) < 1e-12);
  CHECK_NOTHROW(Kernel::from_spec(named("squares")));
}

TEST_CASE("custom: what no kernel is, is refused") {
  const Doubles X = rows_of(kRows, kInputs, 1), Y = targets_of(X);
  const auto fit = [&](const char* name, const char* map, const char* more) {
    return status_of([&] {
      Model::fit(spec(named(name), map, std::string(R"(,"search":false)") + more), {X, Y});
    });
  };
  const char *const exact = R"(,"map":"exact")", *const nystroem =
                                                     R"(,"map":"nystroem","features":20)";
  const Custom asymmetric("asymmetric", [](int64_t n, int64_t m, int64_t d, const double* A,
                                           const double* B, double* K) {
    gaussian(n, m, d, A, B, K);
    for (int64_t k = 0; k < n * m; ++k) K[k] += 1e-5 * A[k / m * d];
  });
  const Custom indefinite("indefinite", [](int64_t n, int64_t m, int64_t d, const double* A,
                                           const double* B, double* K) {
    for (int64_t k = 0; k < n * m; ++k) K[k] = 1 + square_distance(d, A + k / m * d, B + k % m * d);
  });
  const Custom negative(
      "negative", [](int64_t n, int64_t m, int64_t d, const double* A, const double* B, double* K) {
        gaussian(n, m, d, A, B, K);
        for (int64_t k = 0; k < n * m; ++k) K[k] = -K[k];
      });
  const Custom infinite(
      "infinite", [](int64_t n, int64_t m, int64_t d, const double* A, const double* B, double* K) {
        gaussian(n, m, d, A, B, K);
        K[n * m - 1] = std::numeric_limits<double>::infinity();
      });
  CHECK(status_of([&] { gram(Kernel::from_spec(named("asymmetric")), X, X); }) ==
        MERCER_INVALID_ARGUMENT);
  CHECK(fit("asymmetric", exact, "") == MERCER_INVALID_ARGUMENT);
  CHECK(fit("negative", exact, "") == MERCER_INVALID_ARGUMENT);
  CHECK(fit("asymmetric", exact, R"(,"lambda":0.1)") == MERCER_INVALID_ARGUMENT);
  CHECK(fit("asymmetric", nystroem, "") == MERCER_INVALID_ARGUMENT);
  CHECK(fit("indefinite", exact, "") == MERCER_NOT_POSITIVE_DEFINITE);
  CHECK(fit("indefinite", nystroem, "") == MERCER_NOT_POSITIVE_DEFINITE);
  CHECK(fit("infinite", exact, "") == MERCER_CALLBACK);
  CHECK(fit("infinite", nystroem, "") == MERCER_CALLBACK);
  CHECK(fit("unknown", exact, "") == MERCER_NOT_REGISTERED);
  const auto map = [](const std::string& text) { return status_of([&] { Map::from_spec(text); }); };
  CHECK(map(R"({"map":"custom","kernel":{"kernel":"gaussian"},"inputs":2,"features":4})") ==
        MERCER_UNSUPPORTED);
  CHECK(map(R"({"map":"custom","inputs":2,"features":4,"kernel":)" + named("infinite") + "}") ==
        MERCER_UNSUPPORTED);
  CHECK(map(R"({"map":"fourier","inputs":2,"features":4,"kernel":)" + named("infinite") + "}") ==
        MERCER_UNSUPPORTED);
}

TEST_CASE(
    "custom: features of kernel values are charged, values of rows with themselves come in "
    "blocks") {
  const Custom wide(
      "wide", {},
      [](int64_t n, int64_t, const double*, int64_t D, uint64_t, double* Z) {
        std::fill_n(Z, n * D, 1.0);
      },
      10'000'000);
  const Doubles X = rows_of(400, kInputs, 1), Y = targets_of(X);
  const Kernel kernel = Kernel::from_spec(named("wide"));
  mercer::Context context(0, 1'000'000);
  Doubles K(400, 400);
  CHECK(status_of([&] { kernel.gram(X, X, K.view(), &context); }) == MERCER_OUT_OF_MEMORY);
  int calls = 0;
  const Custom counted("counted", [&](int64_t n, int64_t m, int64_t d, const double* A,
                                      const double* B, double* values) {
    ++calls;
    gaussian(n, m, d, A, B, values);
  });
  Model::fit(spec(named("counted"), R"(,"map":"exact")", R"(,"search":false)"), {X, Y});
  CHECK(calls < 100);
}

TEST_CASE("custom: rows that are not finite stay with the library") {
  Doubles X = rows_of(9, kInputs, 1);
  X(2, 1) = std::nan("");
  X(5, 0) = std::numeric_limits<double>::infinity();
  const Custom own(
      "finite", [](int64_t n, int64_t m, int64_t d, const double* A, const double* B, double* K) {
        CHECK(std::all_of(A, A + n * d, [](double x) { return std::isfinite(x); }));
        gaussian(n, m, d, A, B, K);
      });
  const Doubles K = gram(Kernel::from_spec(named("finite")), X, X);
  const Map map =
      Map::from_spec(R"({"map":"custom","kernel":{"kernel":"custom"},"inputs":4,"features":6})");
  const Doubles Z = features(map, X);
  for (int64_t i = 0; i < 9; ++i) {
    CHECK(std::isnan(Z(i, 3)) == (i == 2 || i == 5));
    for (int64_t j = 0; j < 9; ++j)
      CHECK(std::isnan(K(i, j)) == (i == 2 || i == 5 || j == 2 || j == 5));
  }
}

TEST_CASE("custom: one thread at a time, several only where it says so") {
  const Doubles X = rows_of(1100, kInputs, 1);
  const Doubles expected = gram(Kernel::gaussian(1.0), X, X);
  for (const bool concurrent : {false, true}) {
    std::atomic<int> inside{0}, most{0};
    const auto slow = [&](int64_t n, int64_t m, int64_t d, const double* A, const double* B,
                          double* K) {
      const int now = ++inside;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      gaussian(n, m, d, A, B, K);
      --inside;
    };
    const Custom own("shared", slow, {}, 0, 0, concurrent);
    const Kernel kernel = Kernel::from_spec(named("shared"));
    double apart[2] = {1, 1};
    const auto work = [&](int t) { apart[t] = largest_difference(gram(kernel, X, X), expected); };
    std::thread other(work, 1);
    work(0);
    other.join();
    CHECK(apart[0] < 1e-15);
    CHECK(apart[1] < 1e-15);
    CHECK((concurrent || most == 1));
  }
}

TEST_CASE("custom: a handle that its own callback frees, and kernels that use each other") {
  const Doubles X = rows_of(kRows, kInputs, 1), Y = targets_of(X);
  std::unique_ptr<Custom> own;
  int calls = 0;
  own = std::make_unique<Custom>("brief", [&](auto... arguments) {
    if (++calls == 3) own.reset();
    gaussian(arguments...);
  });
  const Model model = Model::fit(spec(named("brief"), R"(,"map":"exact")", ""), {X, Y});
  CHECK(own == nullptr);
  CHECK(calls > 3);
  CHECK(model.score(X, Y) > 0.9);
  const Custom outer(
      "outer", [&](int64_t n, int64_t m, int64_t d, const double* A, const double* B, double* K) {
        const mercer::MatrixView<const double> a(A, n, d), b(B, m, d);
        Kernel::from_spec(R"({"kernel":"custom"})").gram(a, b, mercer::MatrixView<double>(K, n, m));
      });
  CHECK(largest_difference(gram(Kernel::from_spec(named("outer")), X, X),
                           gram(Kernel::gaussian(1.25), X, X)) < 1e-14);
}

}  // namespace custom_test
