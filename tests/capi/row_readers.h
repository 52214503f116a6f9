// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every function that reads rows, as a call on rows alone.
#pragma once

#include "fixture.h"

namespace mercer::test {

/// A call that is good but for the rows it is given, 4 of 3 columns, and writes into Z.
struct Reader {
  const char* function;
  const char* name;  // of the rows, in messages
  mercer_status (*call)(const mercer_rows& rows);
};

inline const std::vector<double> kX = numbers(4, 3), kY = numbers(4, 1);
inline RowsView good() { return rows_of(kX, 3); }
inline RowsView targets() { return rows_of(kY, 1); }
inline double Z[64];

inline mercer_status read_by_fit(const mercer_rows& X) {
  mercer_model* model = nullptr;
  const mercer_status status =
      mercer_model_fit("{}", data_of(X, targets(), fourier(3, 4).get()), nullptr, &model);
  mercer_model_free(model);
  return status;
}
inline mercer_status read_as_targets(const mercer_rows& Y) {
  mercer_statistics* sums = nullptr;
  mercer_statistics_create(3, 3, &sums);
  const StatisticsHandle owned(sums);
  return mercer_statistics_add(sums, 1, good(), Y, nullptr);
}
inline mercer_status read_by_recommend(const mercer_rows& X) {
  mercer_map* map = nullptr;
  const mercer_status status = mercer_map_recommend(
      R"({"kernel":{"kernel":"polynomial"},"features":4})", X, nullptr, &map, nullptr, 0, nullptr);
  mercer_map_free(map);
  return status;
}
inline mercer_status read_by_sums(const mercer_rows& X, const mercer_rows& Y,
                                  const mercer_rows* added = nullptr) {
  mercer_rows_sums* sums = nullptr;
  mercer_status status =
      mercer_rows_sums_create(R"({"test":"mmd","features":4})", 4, 4, X, Y, nullptr, &sums);
  if (added != nullptr) status = mercer_rows_sums_add(sums, 0, 0, *added, nullptr);
  mercer_rows_sums_free(sums);
  return status;
}
inline const Reader kReaders[] = {
    {"mercer_map_transform", "X",
     [](const mercer_rows& X) {
       // Z is of the number of X.
       ResultView result = result_of(Z, 4, 8);
       if (X.number == MERCER_NUMBER_F32) result.number = MERCER_NUMBER_F32;
       return mercer_map_transform(fourier(3, 8).get(), X, nullptr, nullptr, result);
     }},
    {"mercer_map_transform", "options->right",
     [](const mercer_rows& right) {
       const auto map =
           make_map(R"("product_sketch","kernel":{"kernel":"bilinear","left":3})", 6, 8);
       return mercer_map_transform(map.get(), good(), with_right(right, 1), nullptr,
                                   result_of(Z, 4, 8));
     }},
    {"mercer_map_variance", "X",
     [](const mercer_rows& X) {
       return mercer_map_variance(fourier(3, 8).get(), X, good(), 0, nullptr, Z);
     }},
    {"mercer_map_variance", "Y",
     [](const mercer_rows& Y) {
       return mercer_map_variance(fourier(3, 8).get(), good(), Y, 1, nullptr, Z);
     }},
    {"mercer_map_kernel_error", "X",
     [](const mercer_rows& X) {
       return mercer_map_kernel_error(fourier(3, 8).get(), X, MERCER_KERNEL_ERROR_PREDICTED,
                                      nullptr, Z);
     }},
    {"mercer_map_recommend", "X", read_by_recommend},
    {"mercer_map_certify", "X",
     [](const mercer_rows& X) {
       return mercer_map_certify(fourier(3, 8).get(), X, "{}", nullptr, nullptr, 0, nullptr);
     }},
    {"mercer_rows_test", "X",
     [](const mercer_rows& X) {
       return mercer_rows_test(R"({"test":"hsic","permutations":9})", X, good(), nullptr, nullptr,
                               0, nullptr);
     }},
    {"mercer_rows_test", "Y",
     [](const mercer_rows& Y) {
       return mercer_rows_test(R"({"test":"hsic","permutations":9})", good(), Y, nullptr, nullptr,
                               0, nullptr);
     }},
    {"mercer_rows_sums_create", "X", [](const mercer_rows& X) { return read_by_sums(X, good()); }},
    {"mercer_rows_sums_create", "Y", [](const mercer_rows& Y) { return read_by_sums(good(), Y); }},
    {"mercer_rows_sums_add", "X",
     [](const mercer_rows& X) { return read_by_sums(good(), good(), &X); }},
    {"mercer_kernel_gram", "X",
     [](const mercer_rows& X) {
       return mercer_kernel_gram(gaussian().get(), X, good(), {}, nullptr, result_of(Z, 4, 4));
     }},
    {"mercer_kernel_gram", "Y",
     [](const mercer_rows& Y) {
       return mercer_kernel_gram(gaussian().get(), good(), Y, {}, nullptr, result_of(Z, 4, 4));
     }},
    {"mercer_lengthscale_median", "X",
     [](const mercer_rows& X) { return mercer_lengthscale_median(X, 9, 0, nullptr, Z); }},
    {"mercer_statistics_add", "Z",
     [](const mercer_rows& rows) {
       return mercer_statistics_add(small_statistics(40, 3).get(), 1, rows, targets(), nullptr);
     }},
    {"mercer_statistics_add", "Y", read_as_targets},
    {"mercer_statistics_add", "Z",
     [](const mercer_rows& rows) {
       return mercer_statistics_add(small_statistics(40, 3).get(), -1, rows, targets(), nullptr);
     }},
    {"mercer_ridge_weights", "Z",
     [](const mercer_rows& rows) {
       return mercer::test::dual(rows, targets(), 1, 1, nullptr, result_of(Z, 3, 1), nullptr);
     }},
    {"mercer_ridge_weights", "Y",
     [](const mercer_rows& rows) {
       return mercer::test::dual(good(), rows, 1, 1, nullptr, result_of(Z, 3, 3), nullptr);
     }},
    {"mercer_model_fit", "X", read_by_fit},
    {"mercer_model_predict", "X",
     [](const mercer_rows& X) {
       return mercer_model_predict(small_model(60, 3).get(), X, "value", nullptr, nullptr,
                                   result_of(Z, 4, 1));
     }},
    {"mercer_model_predict", "X",
     [](const mercer_rows& X) {
       int32_t labels[4];
       return classify(small_classifier(60, 3).get(), X, nullptr, nullptr, labels);
     }},
};

}  // namespace mercer::test
