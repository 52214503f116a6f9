// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the tests of mercer.hpp share: the status of an exception, sparse rows, a complex map.
#pragma once

#include <vector>

#include "mercer/mercer.hpp"

namespace mercer::test {

template <class Call>
mercer_status status_of(Call call) {
  try {
    call();
  } catch (const mercer::Error& error) {
    return error.status();
  }
  return MERCER_OK;
}

/// 4 x 3: an empty row, columns out of order, one named twice; and the same stored dense.
template <class T, class Index>
struct Sparse {
  std::vector<Index> offsets{0, 2, 2, 4, 7}, indices{2, 0, 1, 1, 0, 1, 2};
  std::vector<T> values{2, 1, -3, 2, 4, 5, 6};
  std::vector<T> stored{1, 0, 2, 0, 0, 0, 0, -1, 0, 4, 5, 6};
  mercer::CsrView<T, Index> csr() const {
    return {4, 3, 7, offsets.data(), indices.data(), values.data()};
  }
  mercer::MatrixView<const T> dense() const { return {stored.data(), 4, 3}; }
};

inline mercer::Map complex_map() {
  return mercer::Map::fourier(mercer::Kernel::gaussian(1.0), 3, 6, R"("form":"complex")");
}

}  // namespace mercer::test
