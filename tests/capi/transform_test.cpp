// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features through views: column slices of dense and of sparse rows are those of the whole, gaps
// are left alone, and the flat doors write the same bits.
#include "fixture.h"

using namespace mercer::test;

namespace {

constexpr int64_t n = 23, d = 6, D = 12;

/// Columns [begin, end) bit for bit, in rows with a gap.
template <class T>
void check_slices(const mercer_map* map, const RowsView& X, bool complex) {
  const int64_t reals = complex ? 2 : 1;
  std::vector<T> all(static_cast<size_t>(n * D * reals));
  REQUIRE(mercer_map_transform(map, X, nullptr, nullptr, result_of(all.data(), n, D, D, complex)) ==
          MERCER_OK);
  for (const auto& [begin, end] : {std::pair{0, 12}, {0, 1}, {5, 9}, {11, 12}, {4, 4}}) {
    INFO(begin << " to " << end);
    const int64_t width = end - begin, ld = width + 1;
    std::vector<T> part(static_cast<size_t>(n * ld * reals), T{-9});
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

TEST_CASE("columns of dense and of sparse rows are those of the whole", "[capi]") {
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
  std::vector<T> flat(static_cast<size_t>(n * (D + 1)), T{-9}), viewed = flat;
  REQUIRE(apply(map, n, X.data(), d + 2, nullptr, flat.data(), D + 1) == MERCER_OK);
  REQUIRE(mercer_map_transform(map, rows_of(X.data(), n, d, d + 2), nullptr, nullptr,
                               result_of(viewed.data(), n, D, D + 1)) == MERCER_OK);
  CHECK(std::memcmp(flat.data(), viewed.data(), flat.size() * sizeof(T)) == 0);
  CHECK(flat[static_cast<size_t>(D)] == T{-9});
  CHECK(flat[0] != T{-9});
}

TEST_CASE("the flat doors write the bits of the views", "[capi]") {
  const auto real = fourier(d, D);
  check_flat<float>(mercer_map_apply_f32, real.get());
  check_flat<double>(mercer_map_apply_f64, real.get());
}

TEST_CASE("a complex map says what it is", "[capi]") {
  const auto map = fourier(3, 6, "complex");
  const mercer_map_info info = info_of(map.get());
  CHECK((info.is_complex == 1 && info.features == 6 && info.inputs == 3));
}

}  // namespace
