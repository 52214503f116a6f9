// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The predicted error of a sketch against plain sums and against what maps really miss.
#include "statistic/kernel_error.h"

#include "feature/fourier.h"
#include "feature/sketch_cases.h"
#include "statistic/recommendation.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/made_map.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace mercer::test::kernel_error_test {
using namespace mercer::feature;
using namespace mercer::statistic;
using projection::sketch_kind, projection::SketchKind;

namespace {

Matrix<double> matrix_of(const Reference& rows) {
  Matrix<double> X(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.at(0).size()));
  for (int64_t i = 0; i < X.rows(); ++i) {
    for (int64_t j = 0; j < X.cols(); ++j)
      X(i, j) = rows.at(static_cast<size_t>(i)).at(static_cast<size_t>(j));
  }
  return X;
}

mercer_status status_of(MatrixView<const double> a, MatrixView<const double> b) {
  try {
    statistic::kernel_error(a, b);
  } catch (const Error& error) {
    return error.status();
  }
  return MERCER_OK;
}

}  // namespace

TEST_CASE("kernel error equals the reference numbers") {
  const Reference entry = oracle("stats").at("frobenius");
  const Matrix<double> X = matrix_of(entry.at("X"));
  const Matrix<double> Z = matrix_of(entry.at("Z"));
  const int64_t n = X.rows();
  Matrix<double> exact(n, n), estimate(n, n);
  Context context;
  kernel::gram(*kernel::make_gaussian({1}, 1), X.view(), X.view(), context, exact.view());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      estimate(i, j) = 0;
      for (int64_t k = 0; k < Z.cols(); ++k) estimate(i, j) += Z(i, k) * Z(j, k);
    }
  }
  const statistic::KernelError error = statistic::kernel_error(estimate.view(), exact.view());
  CHECK(error.relative_frobenius == Approx(entry.at("relative").get<double>()).epsilon(1e-12));
  CHECK(error.largest == Approx(entry.at("max").get<double>()).epsilon(1e-12));
}

TEST_CASE("kernel error: by hand, leading dimensions, NaN, errors") {
  const double exact[] = {3, 0, 9, 0, 4, 9};
  const double close[] = {3, 3, 9, 0, 0, 9};
  const statistic::KernelError error = statistic::kernel_error({close, 2, 2, 3}, {exact, 2, 2, 3});
  CHECK(error.relative_frobenius == 1);  // 5/5
  CHECK(error.largest == 4);
  const statistic::KernelError none = statistic::kernel_error({exact, 2, 3}, {exact, 2, 3});
  CHECK(none.relative_frobenius == 0);
  CHECK(none.largest == 0);
  const double missing[] = {3, std::nan(""), 9, 0, 100, 9};
  CHECK(std::isnan(statistic::kernel_error({missing, 2, 3}, {exact, 2, 3}).largest));
  CHECK(std::isnan(statistic::kernel_error({missing, 2, 3}, {exact, 2, 3}).relative_frobenius));
  CHECK(status_of({exact, 2, 3}, {exact, 3, 2}) == MERCER_DIMENSION_MISMATCH);
  const double zero[] = {0, 0};
  CHECK(status_of({zero, 1, 2}, {zero, 1, 2}) == MERCER_INVALID_ARGUMENT);
  CHECK(status_of({zero, 0, 2}, {zero, 0, 2}) == MERCER_INVALID_ARGUMENT);
}

namespace {

/// ||Re ZZ^H - K||_F / ||K||_F from the whole Z and plain products.
double error_by_hand(const feature::FeatureMap& map, const Matrix<double>& X) {
  Context context;
  const Matrix<double> Z(X.rows(), map.row_length()), K(X.rows(), X.rows());
  map.apply(X.view(), {0, map.features()}, context, Z.view());
  kernel::gram(map.kernel(), X.view(), X.view(), context, K.view());
  const Matrix<double> estimate = product(Z.view(), transposed(Z.view()).view());
  return statistic::kernel_error(estimate.view(), K.view()).relative_frobenius;
}

std::string refusal_of(const feature::FeatureMap& map, MatrixView<const double> X,
                       const char* part) {
  Context context;
  return refusal_fault(
      MERCER_INVALID_ARGUMENT, [&] { statistic::measured_error(map, X, context); }, part);
}

}  // namespace

TEST_CASE("the measured error of a map is that of its whole features") {
  const auto kernel = kernel::make_gaussian({0.8}, 2);
  const Matrix<double> X = random_matrix(7, 3, 4);
  using feature::FourierForm;
  for (const FourierForm form : {FourierForm::pair, FourierForm::phase, FourierForm::complex}) {
    // The last two need more than one part of columns.
    for (const int64_t D :
         {int64_t{40}, statistic::kErrorColumns + 6, 2 * statistic::kErrorColumns}) {
      feature::FourierOptions options;
      options.form = form;
      options.seed = 3;
      const auto map = feature::make_fourier(*kernel, 3, D, options);
      Context context;
      const double found = statistic::measured_error(*map, X.view(), context);
      // Sums of D products of about 1/D: D eps relative to k, twice.
      CHECK(std::fabs(found - error_by_hand(*map, X)) < 2.3e-16 * static_cast<double>(2 * D));
      CHECK((found > 0 && found < 2));
    }
  }
}

TEST_CASE("the measured error: what is refused, charged and cancelled") {
  const auto kernel = kernel::make_gaussian({1}, 1);
  const auto map = feature::make_fourier(*kernel, 3, 40, {});
  const Matrix<double> X = random_matrix(7, 3, 4), missing = random_matrix(7, 3, 4);
  missing(2, 1) = std::nan("");
  CHECK(refusal_of(*map, missing.view(), "the error of the map is nan") == "");
  CHECK(refusal_of(*map, {X.data(), 0, 3}, "n = 0") == "");
  Context capped;
  capped.memory_cap = 8 * 7 * (7 + 7) + 8 * 7 * 40 - 1;  // two n x n matrices and the features
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, statistic::measured_error(*map, X.view(), capped),
                "memory_cap");
  Context cancelled;
  cancelled.cancel();
  CHECK_REFUSED(MERCER_CANCELLED, statistic::measured_error(*map, X.view(), cancelled),
                "cancelled");
}

// Centred, or, moved by 1, all of one sign.
Matrix<double> rows(int64_t n, int64_t d, bool centred, uint64_t seed = 3) {
  const Matrix<double> X = test::random_matrix(n, d, seed);
  for (int64_t at = 0; !centred && at < n * d; ++at) X.data()[at] += 1;
  return test::copy(X.view());
}

double predicted(const FeatureMap& map, const Matrix<double>& X, int threads = 1) {
  Context context;
  context.threads = threads;
  return predicted_error(map, X.view(), context);
}

// Over all ordered pairs, each on its own.
double plain_prediction(const FeatureMap& map, const Matrix<double>& X) {
  const MatrixView<const double> rows = X.view();
  long double variances = 0, squares = 0;
  for (int64_t i = 0; i < X.rows(); ++i) {
    for (int64_t j = 0; j < X.rows(); ++j) {
      double variance = 0;
      map.variance(rows.block_rows(i, i + 1), rows.block_rows(j, j + 1), std::span(&variance, 1));
      const double k = map.kernel().value(X.cols(), rows.row(i), rows.row(j));
      variances += variance;
      squares += static_cast<long double>(k) * k;
    }
  }
  return static_cast<double>(std::sqrt(variances / squares));
}

Matrix<double> gram_of(const kernel::Kernel& kernel, const Matrix<double>& X) {
  Matrix<double> K(X.rows(), X.rows());
  Context context;
  kernel::gram(kernel, X.view(), X.view(), context, K.view());
  return K;
}

// Interleaved complex numbers give the real part as a plain inner product.
double measured(const FeatureMap& map, const Matrix<double>& X, const Matrix<double>& K) {
  const Matrix<double> Z = test::features_of<double>(map, X.view());
  const Matrix<double> estimate = test::product(Z.view(), test::transposed(Z.view()).view());
  return statistic::kernel_error(estimate.view(), K.view()).relative_frobenius;
}

TEST_CASE("what a map that draws nothing misses is predicted by its bias") {
  const Matrix<double> X = rows(30, 5, false);
  for (const auto& [kernel, most] : {std::pair{"additive_chi2", 0.05}, {"intersection", 0.2}}) {
    const auto map = test::made_map("additive", {{"kernel", kernel}}, 5, 15);
    const double seen = measured(*map, X, gram_of(map->kernel(), X));
    INFO(kernel << " misses " << seen);
    CHECK(predicted(*map, X) == Approx(seen).epsilon(1e-10));
    CHECK(seen > 0.001);
    CHECK(seen < most);
  }
}

// Of a sum as well, whose other part sees the rows as they are.
TEST_CASE("errors of optical features of bits are those of the kernel of the bits") {
  constexpr int64_t n = 9, d = 5, kRepetitions = 1500;
  const Matrix<double> X = rows(n, d, true);
  const auto bits =
      test::filled(n, d, [&](int64_t i, int64_t k) { return X(i, k) > 0.2 ? 1.0 : 0.0; });
  const Parameters shown{{"input_bits", int64_t{1}}, {"threshold", 0.2}};
  const auto map = [&](uint64_t seed, const Parameters& options) {
    return test::made_map("optical", {{"kernel", "optical"}}, d, 40, seed, options);
  };
  const Matrix<double> K = gram_of(map(0, {})->kernel(), bits);
  Context context;
  const auto error = [&](const FeatureMap& one, const Matrix<double>& of) {
    return measured_error(one, of.view(), context);
  };
  CHECK(error(*map(1, shown), X) == Approx(error(*map(1, {}), bits)).epsilon(1e-12));
  const double expected = predicted(*map(0, shown), X);
  CHECK(expected == Approx(predicted(*map(0, {}), bits)).epsilon(1e-12));
  std::vector<double> squares;
  for (uint64_t seed = 0; seed < kRepetitions; ++seed)
    squares.push_back(std::pow(measured(*map(seed, shown), X, K), 2));
  CHECK(std::fabs(test::studentised_z_score(squares, expected * expected)) <=
        test::z_threshold(test::kFailure));

  const auto object = [](const Parameters& given) {
    return std::make_shared<const Parameters>(given);
  };
  Parameters optical{{"map", "optical"}};
  for (const auto& [key, value] : shown.entries()) optical.set(key, value);
  const Parameters two{
      {"kernel", "sum"},
      {"parts", ObjectList{object({{"kernel", "optical"}}), object({{"kernel", "gaussian"}})}}};
  const auto sum =
      test::made_map("sum", two, d, 6000, 3,
                     {{"parts", ObjectList{object(optical), object({{"map", "fourier"}})}}});
  // The kernel of the rows themselves is off by a good part of it.
  CHECK(error(*sum, X) < 0.1);
  CHECK(measured(*sum, X, gram_of(sum->kernel(), X)) > 0.3);
  CHECK(predicted(*sum, X) < 0.1);
  CHECK(predicted(*sum, X) > error(*sum, X) / 4);
}

TEST_CASE("predicted error: the root of the variances over the squares of the kernel") {
  const auto polynomial = kernel::make_polynomial(3, 0.7, 0.2, 1.8);
  const auto bilinear = kernel::make_bilinear(5, 1.8);
  for (const SketchCase& one : test::sketch_cases()) {
    for (const bool centred : {false, true}) {
      for (const kernel::Kernel* kernel : {polynomial.get(), bilinear.get()}) {
        const auto map = test::make(*kernel, 8, 34, one);
        const Matrix<double> X = rows(14, 8, centred);
        const double expected = plain_prediction(*map, X);
        CAPTURE(one.label, centred);
        CHECK(predicted(*map, X) == Approx(expected).epsilon(1e-12));
        CHECK(predicted(*map, X, 3) == predicted(*map, X));
      }
    }
  }
  const auto fourier = make_fourier(*kernel::make_gaussian({1.0}, 1.0), 5, 34, {});
  CHECK(predicted(*fourier, rows(14, 5, true)) ==
        Approx(plain_prediction(*fourier, rows(14, 5, true))).epsilon(1e-12));
  const Matrix<double> single = rows(1, 5, true);
  const auto one = make_sketch(*polynomial, 5, 34, {});
  CHECK(predicted(*one, single) == Approx(plain_prediction(*one, single)).epsilon(1e-12));
}

TEST_CASE("predicted error: what the Gram matrix of a map is expected to miss") {
  constexpr int64_t kRepetitions = 1500;
  const auto kernel = kernel::make_polynomial(2, 0.7, 0.2, 1.8);
  const Matrix<double> X = rows(6, 5, true);
  const Matrix<double> K = gram_of(*kernel, X);
  const std::vector<SketchCase> cases = test::sketch_cases();
  const double z = test::z_threshold(test::kFailure, static_cast<double>(cases.size()));
  for (SketchCase one : cases) {
    const double expected = std::pow(predicted(*test::make(*kernel, 5, 22, one), X), 2);
    std::vector<double> squares;
    double mean = 0;
    for (int64_t r = 0; r < kRepetitions; ++r) {
      one.options.seed = static_cast<uint64_t>(100 + r);
      squares.push_back(std::pow(measured(*test::make(*kernel, 5, 22, one), X, K), 2));
      mean += squares.back() / static_cast<double>(kRepetitions);
    }
    CAPTURE(one.label, expected, mean);
    CHECK(std::fabs(test::studentised_z_score(squares, expected)) <= z);
    // One over this is the relative standard error: a prediction a quarter off would be seen.
    CHECK(test::studentised_z_score(squares, 0) >= z / (1.25 * 1.25 - 1));
  }
}

TEST_CASE("predicted error: what is refused") {
  const auto kernel = kernel::make_polynomial(2, 1, 0, 1);
  const auto map = make_sketch(*kernel, 5, 8, {});
  const auto bad = MERCER_INVALID_ARGUMENT;
  const Matrix<double> none(0, 5), zeros(4, 5), X = rows(4, 5, true), nan = rows(4, 5, true);
  zeros.fill(0);
  nan(2, 3) = std::numeric_limits<double>::quiet_NaN();
  const auto predict = [&](const Matrix<double>& X) { return [&] { predicted(*map, X); }; };
  CHECK_REFUSED(bad, (predict(none))(), "n = 0");
  CHECK_REFUSED(bad, (predict(zeros))(), "polynomial", "0 for all pairs");
  CHECK_THROWS_AS(predicted(*map, nan), Error);
  const auto supplied = make_fourier_supplied(*kernel::make_gaussian({1.0}, 1.0), X.view(), {}, {});
  CHECK_REFUSED(MERCER_UNSUPPORTED, predicted(*supplied, X), "closed form");
}

TEST_CASE("predicted error, recommended sketch: progress to the end, and cancellation") {
  struct Seen {
    int64_t last = 0, total = 0, calls = 0, stop_after = 0;
    bool ascends = true;
  };
  const auto watch = [](void* user, int64_t done, int64_t total) -> int32_t {
    Seen& seen = *static_cast<Seen*>(user);
    seen.ascends = seen.ascends && done >= seen.last && done <= total;
    seen.last = done;
    seen.total = total;
    return ++seen.calls == seen.stop_after ? 1 : 0;
  };
  const auto kernel = kernel::make_polynomial(2, 1, 0, 1);
  const auto map = make_sketch(*kernel, 5, 8, {});
  const Matrix<double> X = rows(60, 5, true);
  const auto predict = [&](Context& context) { predicted_error(*map, X.view(), context); };
  const Parameters spec = kernel->parameters();
  const auto choose = [&](Context& context) {
    recommend(spec, {.features = 8}, 1, X.view(), context);
  };
  const auto check = [&](const auto& call) {
    Seen seen;
    Context context;
    context.threads = 1;  // how often several ask depends on who takes the last chunk
    context.progress = watch;
    context.user = &seen;
    call(context);
    CHECK(seen.ascends);
    CHECK(seen.total > 1);
    CHECK(seen.last == seen.total);
    for (const int64_t after : {int64_t{1}, seen.calls / 2}) {
      seen = {};
      seen.stop_after = after;
      CHECK_REFUSED(MERCER_CANCELLED, call(context));
      context.clear_cancelled();
    }
    seen = {};
    CHECK_NOTHROW(call(context));
    context.cancel();
    CHECK_REFUSED(MERCER_CANCELLED, call(context));
  };
  check(predict);
  check(choose);
}

}  // namespace mercer::test::kernel_error_test
