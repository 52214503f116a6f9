// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of row statistics and ridge: status, message, and nothing touched.
#include "fixture.h"

namespace ridge_errors_test {
using namespace mercer::test;

TEST_CASE("statistics refuse bad sizes") {
  mercer_statistics* out = nullptr;
  CHECK(refused(mercer_statistics_create(0, 1, &out), "mercer_statistics_create", "D = 0") == "");
  CHECK(refused(mercer_statistics_create(3, -1, &out), "m = -1") == "");
  CHECK(fault(mercer_statistics_create(kHuge, 1, &out), MERCER_OUT_OF_MEMORY,
              "mercer_statistics_create") == "");
  const auto sums = small_statistics();
  const auto wider = small_statistics(10, 5);
  CHECK(fault(mercer_statistics_merge(sums.get(), 1, wider.get()), MERCER_DIMENSION_MISMATCH,
              "mercer_statistics_merge", "4", "5") == "");
  CHECK(fault(mercer_statistics_merge(sums.get(), -1, wider.get()), MERCER_DIMENSION_MISMATCH,
              "mercer_statistics_merge") == "");
  double gram[16] = {77};
  CHECK(refused(get_sums(nullptr, gram, nullptr, nullptr, nullptr, nullptr),
                "mercer_statistics_get", "statistics = NULL") == "");
  CHECK(gram[0] == 77);
}

TEST_CASE("statistics refuse bad blocks, whether added or removed") {
  const auto sums = small_statistics();
  const auto Z = numbers(10, 4), Y = numbers(10, 1);
  const auto z = rows_of(Z, 4), y = rows_of(Y, 1);
  const auto says = [&](const mercer_rows& rows, const mercer_rows& targets, mercer_status expected,
                        auto... parts) {
    return fault(mercer_statistics_add(sums.get(), 1, rows, targets, nullptr), expected,
                 "mercer_statistics_add: ", parts...) +
           fault(mercer_statistics_add(sums.get(), -1, rows, targets, nullptr), expected,
                 "mercer_statistics_add: ", parts...);
  };
  const mercer_status mismatch = MERCER_DIMENSION_MISMATCH;
  CHECK(says(rows_of(Z.data(), 10, 3), y, mismatch, "Z.d = 3", "features, 4") == "");
  CHECK(says(z, rows_of(Z.data(), 10, 2), mismatch, "Y.d = 2", "outputs, 1") == "");
  CHECK(says(z, rows_of(Y.data(), 9, 1), mismatch, "Y.n = 9", "10 as in Z") == "");
  const auto many = numbers(41, 4), targets = numbers(41, 1);
  CHECK(
      refused(mercer_statistics_add(sums.get(), -1, rows_of(many, 4), rows_of(targets, 1), nullptr),
              "mercer_statistics_add: Z.n = 41", "only 40") == "");
  CHECK(refused(mercer_statistics_add(nullptr, 1, z, y, nullptr), "statistics = NULL") == "");
  CHECK(shape_of(sums.get()).rows == 40);
}

TEST_CASE("statistics without outputs need no targets") {
  const auto sums =
      made<StatisticsHandle>([&](auto out) { return mercer_statistics_create(4, 0, out); });
  const auto Z = numbers(10, 4);
  CHECK(mercer_statistics_add(sums.get(), 1, rows_of(Z, 4), {}, nullptr) == MERCER_OK);
  CHECK(mercer_statistics_add(sums.get(), 1, rows_of(Z, 4), rows_of<double>(nullptr, 10, 0),
                              nullptr) == MERCER_OK);
  CHECK(
      fault(mercer_statistics_add(sums.get(), 1, rows_of(Z, 4), rows_of(Z.data(), 10, 1), nullptr),
            MERCER_DIMENSION_MISMATCH, "Y.d = 1") == "");
  CHECK(shape_of(sums.get()).rows == 20);
}

/// What every call that sums squares says of rows Z and Y, one after the other.
std::string say_of_all(mercer_statistics* sums, const RowsView& Z, const RowsView& Y,
                       const char* what) {
  double w[4] = {}, residuals[10];
  const auto ridge = small_ridge();
  return refused(mercer_statistics_add(sums, 1, Z, Y, nullptr), "mercer_statistics_add: ", what) +
         refused(mercer_statistics_add(sums, -1, Z, Y, nullptr), "mercer_statistics_add: ", what) +
         refused(mercer::test::dual(Z, Y, 1, 1e-3, nullptr, result_of(w, 4, 1), nullptr),
                 "mercer_ridge_weights: ", what) +
         refused(mercer_ridge_leave_one_out(ridge.get(), 1e-3, Z, Y, nullptr,
                                            result_of(residuals, 10, 1)),
                 "mercer_ridge_leave_one_out: ", what);
}

TEST_CASE("numbers whose squares cannot be summed are refused by row and column") {
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY), 1e200}) {
    const auto sums = small_statistics();
    auto Z = numbers(10, 4), Y = numbers(10, 1);
    const auto z = rows_of(Z, 4), y = rows_of(Y, 1);
    Y[6] = bad;
    CHECK(say_of_all(sums.get(), z, y, "Y: row 6, column 0") == "");
    Y[6] = 0;
    Z[4 * 3 + 2] = bad;
    CHECK(say_of_all(sums.get(), z, y, "Z: row 3, column 2") == "");
    SparseRows<double, int64_t> sparse{4};
    for (int64_t i = 0; i < 10; ++i) {
      if (i == 7) sparse.add(1, bad);
      sparse.end_row();
    }
    CHECK(say_of_all(sums.get(), sparse.view(), y, "Z: row 7, column 1") == "");
    const int64_t rows = shape_of(sums.get()).rows;
    CHECK(rows == 40);  // nothing was added
  }
}

TEST_CASE("a decomposition refuses bad lambdas and places") {
  const auto ridge = small_ridge();
  double w[4] = {77}, b = 77;
  CHECK(refused(solve(ridge.get(), -1, w, &b), "mercer_ridge_solve", "penalty = -1") == "");
  CHECK(refused(solve(ridge.get(), std::nan(""), w, &b), "penalty = nan") == "");
  mercer_matrix narrow = mercer_matrix_f64(4, 1, w);
  narrow.ld = 0;
  CHECK(refused(mercer_ridge_solve(ridge.get(), 1, narrow, {}), "w.ld = 0") == "");
  CHECK(refused(solve(ridge.get(), 1, w, w + 2), "w overlaps intercept") == "");
  CHECK(solve(ridge.get(), 1, nullptr, nullptr) == MERCER_OK);
  mercer_shape shape{sizeof shape, 0, 77, 77, 77};
  CHECK(refused(mercer_ridge_shape(nullptr, &shape), "mercer_ridge_shape", "ridge = NULL") == "");
  CHECK(shape.rows == 77);
  CHECK(refused(gcv(ridge.get(), INFINITY, w, &b), "mercer_ridge_error", "penalty = inf") == "");
  CHECK(refused(gcv(nullptr, 1, w, &b), "ridge = NULL") == "");
  CHECK(fault(held_out_error(ridge.get(), 1, small_statistics(10, 5).get(), &b),
              MERCER_DIMENSION_MISMATCH, "mercer_ridge_error") == "");
  CHECK(refused(mercer_ridge_leverage(ridge.get(), -1, mercer_matrix_f64(1, 4, w)),
                "mercer_ridge_leverage", "penalty = -1") == "");
  CHECK(fault(mercer_ridge_leverage(ridge.get(), 1, mercer_matrix_f64(4, 1, w)),
              MERCER_DIMENSION_MISMATCH, "scores is 4 x 1") == "");
  CHECK((w[0] == 77 && b == 77));
  CHECK(mercer_ridge_leverage(ridge.get(), 1, mercer_matrix_f64(1, 4, w)) == MERCER_OK);
  double dimension = 0;  // of which centring takes one
  CHECK(mercer_ridge_error(ridge.get(), 1, nullptr, {}, &dimension) == MERCER_OK);
  CHECK(w[0] + w[1] + w[2] + w[3] == Approx(dimension - 1));
  Slot<mercer_ridge> slot;
  CHECK(slot.refused(mercer_ridge_create(nullptr, 1, nullptr, slot.out()), "mercer_ridge_create",
                     "statistics = NULL") == "");
}

TEST_CASE("leave-one-out refuses bad lambdas and shapes") {
  const auto ridge = small_ridge();
  auto Z = numbers(10, 4), Y = numbers(10, 1);
  std::vector<double> residuals(10, 77);
  const auto z = rows_of(Z, 4), y = rows_of(Y, 1);
  const auto fits = result_of(residuals, 1);
  const auto says = [&](double lambda, const RowsView& rows, const RowsView& targets,
                        const ResultView& to, mercer_status expected, auto... parts) {
    return fault(mercer_ridge_leave_one_out(ridge.get(), lambda, rows, targets, nullptr, to),
                 expected, "mercer_ridge_leave_one_out: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, mismatch = MERCER_DIMENSION_MISMATCH;
  CHECK(says(-1, z, y, fits, invalid, "penalty = -1") == "");
  CHECK(says(1, rows_of(Z.data(), 10, 3), y, fits, mismatch, "Z.d = 3", "features, 4") == "");
  CHECK(says(1, z, rows_of(Z.data(), 10, 2), fits, mismatch, "Y.d = 2", "outputs, 1") == "");
  CHECK(says(1, z, rows_of(Y.data(), 9, 1), fits, mismatch, "Y.n = 9") == "");
  CHECK(says(1, z, y, result_of(residuals.data(), 9, 1), mismatch,
             "residuals is 9 x 1, expected 10 x 1") == "");
  CHECK(says(1, z, y, result_of(Y, 1), invalid, "residuals overlaps Y") == "");
  CHECK(says(1, z, y, result_of(Z.data(), 10, 1), invalid, "residuals overlaps Z") == "");
  CHECK(residuals == std::vector<double>(10, 77));
  const auto running = context();
  mercer_context_cancel(running.get(), 1);
  CHECK(fault(mercer_ridge_leave_one_out(ridge.get(), 1, z, y, running.get(), fits),
              MERCER_CANCELLED, "mercer_ridge_leave_one_out") == "");
}

TEST_CASE("the dual and K-fold refuse bad rows and folds") {
  auto Z = numbers(10, 4), Y = numbers(10, 1);
  const auto z = rows_of(Z, 4), y = rows_of(Y, 1);
  double w[4] = {77}, b = 77;
  const auto dual = [&](const mercer_rows& rows, const mercer_rows& targets, double lambda,
                        const ResultView& to, double* intercept, mercer_status expected,
                        auto... parts) {
    return fault(mercer::test::dual(rows, targets, 1, lambda, nullptr, to, intercept), expected,
                 "mercer_ridge_weights: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, mismatch = MERCER_DIMENSION_MISMATCH;
  const auto fits = result_of(w, 4, 1);
  CHECK(dual(z, y, -2, fits, &b, invalid, "penalty = -2") == "");
  CHECK(dual(z, rows_of(Y.data(), 8, 1), 1, fits, &b, mismatch, "Y.n = 8") == "");
  CHECK(dual(rows_of(Z.data(), 0, 4), rows_of(Y.data(), 0, 1), 1, fits, &b, invalid, "Z.n = 0") ==
        "");
  CHECK(dual(rows_of(Z.data(), 10, 0), y, 1, fits, &b, invalid, "Z.d = 0") == "");
  CHECK(dual(z, rows_of(Y.data(), 10, 0), 1, fits, &b, invalid, "Y.d = 0") == "");
  CHECK(dual(z, y, 1, result_of(w, 3, 1), &b, mismatch, "w is 3 x 1, expected 4 x 1") == "");
  CHECK(dual(z, y, 1, result_of(&Z[4], 4, 1), &b, invalid, "w overlaps Z") == "");
  CHECK(dual(z, y, 1, result_of(Y.data(), 4, 1), &b, invalid, "w overlaps Y") == "");
  CHECK(dual(z, y, 1, fits, &Y[2], invalid, "intercept overlaps Y") == "");
  CHECK(dual(z, y, 1, fits, w + 2, invalid, "w overlaps intercept") == "");
  CHECK((w[0] == 77 && b == 77));
}

}  // namespace ridge_errors_test
