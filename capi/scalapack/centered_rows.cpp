// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "centered_rows.h"

#include <numeric>

namespace mercer::scalapack {

void CenteredRows::center(const std::vector<double>& means) {
  all_.each([&] { sums_.move_origin(means); });
}

void CenteredRows::multiply(const std::vector<double>& vectors, int64_t count, double work,
                            int64_t stride, const Products& done) {
  const Grid& of = grid();
  int64_t block = 0, first = 0, rows = 0;
  std::vector<double> products;
  rows_.pass(
      [&](int64_t all_rows) {
        progress_.advance(static_cast<double>(all_rows) * work);
        progress_.report();
        rows = 0;
        if (block++ % stride != 0) return;
        first = all_rows * of.column() / of.shape().columns;
        rows = all_rows * (of.column() + 1) / of.shape().columns - first;
        products.assign(static_cast<size_t>(rows * count), 0.0);
        sums_.centered(rows_, first, rows, map_, context_)
            .multiply(vectors.data(), count, rows, products.data());
      },
      [&] {
        if (rows == 0) return;  // of all processes of a process column
        of.sum_of_column(products);
        done(first, rows, products);
      });
}

CenteredRows::Product CenteredRows::normal_product(const std::vector<double>& vectors,
                                                   int64_t count, int64_t stride) {
  Product found{std::vector<double>(vectors.size()), 0};
  multiply(
      vectors, count, 0, stride, [&](int64_t first, int64_t rows, std::vector<double>& products) {
        for (int64_t i = 0; i < rows; ++i) {
          const double by = weight(first + i);
          if (grid().row() == 0) found.share += by / static_cast<double>(sums_.y.rows);
          for (int64_t k = 0; k < count; ++k) products[static_cast<size_t>(i * count + k)] *= by;
        }
        sums_.features_of_row().add_transposed(products.data(), count, rows, found.vectors.data());
      });
  all_.each([&] { grid().sum_of_row(found.vectors); });
  found.share = all_.sum(found.share);
  return found;
}

std::vector<double> CenteredRows::dots(const std::vector<double>& a, const std::vector<double>& b,
                                       int64_t count) const {
  std::vector<double> sums(static_cast<size_t>(count));
  for (int64_t k = 0; k < count && grid().column() == 0; ++k)
    sums[static_cast<size_t>(k)] = std::inner_product(
        a.begin() + k * own(), a.begin() + (k + 1) * own(), b.begin() + k * own(), 0.0);
  all_.sum(sums);
  return sums;
}

}  // namespace mercer::scalapack
