// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features through views: slices of columns, gaps, the flat doors; either precision of rows and
// results.
#include "fixture.h"

namespace transform_test {
using namespace mercer::test;

constexpr int64_t n = 23, d = 6, D = 12;

/// Columns [begin, end) bit for bit, in rows with a gap.
template <class T>
void check_slices(const mercer_map* map, const RowsView& X, bool complex) {
  const int64_t reals = complex ? 2 : 1;
  std::vector<T> all(n * D * reals);
  REQUIRE(mercer_map_transform(map, X, nullptr, nullptr, result_of(all.data(), n, D, D, complex)) ==
          MERCER_OK);
  for (const auto& [begin, end] : {std::pair{0, 12}, {0, 1}, {5, 9}, {11, 12}, {4, 4}}) {
    INFO(begin << " to " << end);
    const int64_t width = end - begin, ld = width + 1;
    std::vector<T> part(n * ld * reals, T{-9});
    REQUIRE(mercer_map_transform(map, X, columns(begin, end), nullptr,
                                 result_of(part.data(), n, width, ld, complex)) == MERCER_OK);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T* whole = all.data() + (i * D + begin) * reals;
      const T* row = part.data() + i * ld * reals;
      for (int64_t j = 0; j < ld * reals; ++j)
        wrong += row[j] != (j < width * reals ? whole[j] : T{-9});
    }
    CHECK(wrong == 0);
  }
}

struct Named {
  std::string name;
  MapHandle map;
};
std::vector<Named> all_maps() {
  std::vector<Named> maps;
  for (const std::string projection : {"dense", "orthogonal", "sorf", "fastfood", "sobol"}) {
    maps.push_back(
        {projection,
         make_map(R"("fourier","kernel":{"kernel":"gaussian"},"projection":")" + projection + "\"",
                  d, D)});
  }
  for (const std::string projection : {"gaussian", "rademacher", "srht", "countsketch", "osnap"})
    maps.push_back({projection, linear(projection, d, D)});
  maps.push_back({"phase", fourier(d, D, "phase")});
  maps.push_back({"complex", fourier(d, D, "complex")});
  maps.push_back({"sketch", make_map(R"("tensor_srht","kernel":{"kernel":"polynomial"})", d, D)});
  return maps;
}

template <class T, class Index>
void check_all(const Named& named) {
  const bool complex = named.name == "complex";
  const auto sparse = sparse_numbers<T, Index>(n, d);
  check_slices<T>(named.map.get(), sparse.view(), complex);
  check_slices<T>(named.map.get(), sparse.dense_view(), complex);
}

TEST_CASE("columns of dense and of sparse rows are those of the whole") {
  for (const Named& named : all_maps()) {
    INFO(named.name);
    REQUIRE(named.map != nullptr);
    check_all<float, int32_t>(named);
    check_all<float, int64_t>(named);
    check_all<double, int32_t>(named);
    check_all<double, int64_t>(named);
  }
}

template <class T, class Apply>
void check_flat(Apply apply, const mercer_map* map) {
  const auto X = numbers<T>(n, d + 2);
  std::vector<T> flat(n * (D + 1), T{-9}), viewed = flat;
  REQUIRE(apply(map, n, X.data(), d + 2, nullptr, flat.data(), D + 1) == MERCER_OK);
  REQUIRE(mercer_map_transform(map, rows_of(X.data(), n, d, d + 2), nullptr, nullptr,
                               result_of(viewed.data(), n, D, D + 1)) == MERCER_OK);
  CHECK(std::memcmp(flat.data(), viewed.data(), flat.size() * sizeof(T)) == 0);
  CHECK(flat[D] == T{-9});
  CHECK(flat[0] != T{-9});
}

TEST_CASE("the flat doors write the bits of the views") {
  const auto real = fourier(d, D);
  check_flat<float>(mercer_map_apply_f32, real.get());
  check_flat<double>(mercer_map_apply_f64, real.get());
}

TEST_CASE("a complex map says what it is") {
  const auto map = fourier(3, 6, "complex");
  const mercer_map_info info = info_of(map.get());
  CHECK((info.is_complex == 1 && info.features == 6 && info.inputs == 3));
}

/// call(result) fills rows x cols: floats, in rows with a gap, are the doubles rounded.
template <class Call>
void check_rounded(int64_t rows, int64_t cols, const Call& call) {
  std::vector<double> wide(rows * cols, 77);
  std::vector<float> narrow(rows * (cols + 2), 77);
  REQUIRE(fault(call(result_of(wide, cols)), MERCER_OK) == "");
  REQUIRE(fault(call(result_of(narrow.data(), rows, cols, cols + 2)), MERCER_OK) == "");
  int64_t wrong = 0, inexact = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols + 2; ++j) {
      const double exact = j < cols ? wide[i * cols + j] : 77;
      const float rounded = static_cast<float>(exact);
      wrong += narrow[i * (cols + 2) + j] != rounded;
      inexact += static_cast<double>(rounded) != exact;
    }
  }
  CHECK(wrong == 0);
  CHECK(inexact > 0);
}

TEST_CASE("results in single precision are the double ones, rounded") {
  const auto X = numbers(n, d), Y = numbers(n, 2);
  const auto x = rows_of(X, d), y = rows_of(Y, 2);
  const auto kernel = gaussian();
  check_rounded(n, n, [&](const mercer_matrix& K) {
    return mercer_kernel_gram(kernel.get(), x, x, {}, nullptr, K);
  });
  const auto model = small_model(60, d), classifier = small_classifier(60, d);
  check_rounded(n, 1, [&](const mercer_matrix& scores) {
    return mercer_model_predict(model.get(), x, "value", nullptr, nullptr, scores);
  });
  check_rounded(n, 2, [&](const mercer_matrix& scores) {
    return mercer_model_predict(classifier.get(), x, "value", nullptr, nullptr, scores);
  });
  check_rounded(d, 2, [&](const mercer_matrix& w) {
    return mercer::test::dual(x, y, 1, 1e-2, nullptr, w, nullptr);
  });
  const auto sums = small_statistics(n, d, 2);
  const auto ridge =
      made<RidgeHandle>([&](auto out) { return mercer_ridge_create(sums.get(), 1, nullptr, out); });
  check_rounded(n, 2, [&](const mercer_matrix& residuals) {
    return mercer_ridge_leave_one_out(ridge.get(), 1e-2, x, y, nullptr, residuals);
  });
}

/// Every number that a function makes of 2 n rows of small multiples of 1/64, which are the same
/// in both precisions.
std::vector<double> results_of(const RowsView& rows, const RowsView& Y) {
  const RowsView X = part_of(rows, 0, n), W = part_of(rows, n, n);
  std::vector<double> all(2 * n + n * n + 2 + 2 * d + n);
  double* at = all.data();
  const auto map = fourier(d, 8);
  const auto take = [&](mercer_status status, int64_t count) {
    CHECK(fault(status, MERCER_OK) == "");
    at += count;
  };
  take(mercer_map_variance(map.get(), X, W, MERCER_VARIANCE_ESTIMATE, nullptr, at), n);
  take(mercer_map_variance(map.get(), X, W, MERCER_VARIANCE_PSEUDO, nullptr, at), n);
  take(mercer_kernel_gram(gaussian().get(), X, W, {}, nullptr, result_of(at, n, n)), n * n);
  take(mercer_map_kernel_error(map.get(), X, MERCER_KERNEL_ERROR_PREDICTED, nullptr, at), 1);
  take(mercer_lengthscale_median(X, 100, 3, nullptr, at), 1);
  take(mercer::test::dual(X, Y, 1, 1e-2, nullptr, result_of(at, d, 1), at + d), d + 1);
  return all;
}

TEST_CASE("rows of either precision, dense or sparse, give the bits of their numbers") {
  const auto X = sparse_numbers<double, int32_t>(2 * n, d);
  const auto narrow = sparse_numbers<float, int64_t>(2 * n, d);
  const auto Y = sparse_numbers<double, int32_t>(n, 1);
  const auto narrow_y = sparse_numbers<float, int64_t>(n, 1);
  REQUIRE(X.dense == std::vector<double>(narrow.dense.begin(), narrow.dense.end()));
  const auto expected = results_of(X.dense_view(), Y.dense_view());
  CHECK(expected[2] != expected[3]);
  CHECK(results_of(narrow.dense_view(), narrow_y.dense_view()) == expected);
  CHECK(results_of(X.view(), Y.view()) == expected);
  CHECK(results_of(narrow.view(), narrow_y.view()) == expected);
}

TEST_CASE("features of few non-zeros come as CSR, or as their number") {
  const auto map =
      make_map(R"("random_binning","kernel":{"kernel":"laplacian"},"bins":4)", d, 3 * D);
  const auto rows = sparse_numbers<float, int32_t>(n, d);
  const int64_t each = 3 * D / 4;
  int64_t needed = 0;
  const auto csr = [&](const RowsView& X, int64_t* offsets, int64_t* indices, double* values,
                       int64_t capacity) {
    return mercer_map_transform_csr(map.get(), X, nullptr, offsets, indices, values, capacity,
                                    &needed);
  };
  REQUIRE(csr(rows.view(), nullptr, nullptr, nullptr, 0) == MERCER_OK);
  REQUIRE(needed == n * each);
  std::vector<int64_t> offsets(n + 1), indices(needed);
  std::vector<double> values(needed);
  for (const RowsView& X : {rows.view(), rows.dense_view()}) {
    REQUIRE(csr(X, offsets.data(), indices.data(), values.data(), needed) == MERCER_OK);
    std::vector<float> Z(n * 3 * D), made(n * 3 * D, 0.0F);
    REQUIRE(mercer_map_transform(map.get(), X, nullptr, nullptr, result_of(Z.data(), n, 3 * D)) ==
            MERCER_OK);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = offsets[i]; k < offsets[i + 1]; ++k)
        made[i * 3 * D + indices[k]] = static_cast<float>(values[k]);
    CHECK(made == Z);
  }
  const auto x = rows.view();
  CHECK(refused(csr(x, offsets.data(), indices.data(), values.data(), needed - 1), "capacity") ==
        "");
  CHECK(refused(csr(x, nullptr, indices.data(), values.data(), needed), "offsets") == "");
  CHECK(refused(csr(x, offsets.data(), reinterpret_cast<int64_t*>(values.data()), values.data(),
                    needed),
                "overlaps") == "");
  CHECK(fault(mercer_map_transform_csr(fourier(d, D).get(), x, nullptr, offsets.data(),
                                       indices.data(), values.data(), needed, nullptr),
              MERCER_UNSUPPORTED, "fourier", "random_binning") == "");
}

}  // namespace transform_test
