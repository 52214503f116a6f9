// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// An epilogue run by itself on a block of P, its parts one after the other without gaps unless a
// leading dimension is given.
#pragma once

#include <cstdint>
#include <memory>

#include "transform/epilogue.h"

namespace mercer::test {

template <class T>
void finish(const std::unique_ptr<const transform::Epilogue>& epilogue, const T* P, int64_t rows,
            int64_t columns, const T* scale, const T* phase, T* out, int64_t ld = 0,
            const T* row_numbers = nullptr) {
  transform::EpilogueBlock<T> block{};
  block.P = P;
  block.rows = rows;
  block.columns = columns;
  block.scale = scale;
  block.phase = phase;
  block.row_numbers = row_numbers;
  block.out = out;
  block.ld = ld != 0 ? ld : columns * epilogue->shape().reals;
  block.part_step = rows * block.ld;
  epilogue->finish(block);
}

}  // namespace mercer::test
