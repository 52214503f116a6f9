// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

namespace mercer::scalapack {
namespace {

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

void require_dense(const mercer_rows& rows, int64_t columns, const std::string& name) {
  require(rows.struct_size == sizeof rows, MERCER_INVALID_ARGUMENT,
          name + ".struct_size = " + std::to_string(rows.struct_size) +
              ", expected sizeof(mercer_rows)");
  require(rows.index == MERCER_INDEX_NONE, MERCER_UNSUPPORTED,
          name + " is sparse (CSR), expected dense rows");
  require(rows.number == MERCER_NUMBER_F32 || rows.number == MERCER_NUMBER_F64, MERCER_UNSUPPORTED,
          name + ".number = " + std::to_string(rows.number) + ", expected F32 or F64");
  require(rows.n >= 0, MERCER_INVALID_ARGUMENT,
          name + ".n = " + std::to_string(rows.n) + ", expected rows or none");
  require(rows.d == columns, MERCER_DIMENSION_MISMATCH,
          name + ".d = " + std::to_string(rows.d) + ", expected " + std::to_string(columns));
  require(rows.n == 0 || (rows.values != nullptr && rows.ld >= rows.d), MERCER_INVALID_ARGUMENT,
          name + " has no values, or ld < d, expected n rows of ld numbers");
}

/// Row i as doubles; returns the first column that is not finite, or -1.
int64_t copy_row(const mercer_rows& rows, int64_t i, double* to) {
  if (rows.number == MERCER_NUMBER_F64) {
    const double* from = static_cast<const double*>(rows.values) + i * rows.ld;
    std::copy(from, from + rows.d, to);
  } else {
    const float* from = static_cast<const float*>(rows.values) + i * rows.ld;
    std::copy(from, from + rows.d, to);
  }
  const double* wrong = std::find_if(to, to + rows.d, [](double x) { return !std::isfinite(x); });
  return wrong == to + rows.d ? -1 : wrong - to;
}

}  // namespace

OwnRows::OwnRows(const mercer_data* given) {
  require(given != nullptr, MERCER_INVALID_ARGUMENT, "data = NULL, expected this process's rows");
  require(given->struct_size >= offsetof(mercer_data, groups), MERCER_INVALID_ARGUMENT,
          "data->struct_size is too small, expected sizeof(mercer_data)");
  mercer_data data{};
  std::memcpy(&data, given, std::min<size_t>(given->struct_size, sizeof data));
  require(data.sets == nullptr && data.set_count == 0, MERCER_UNSUPPORTED,
          "data->sets, expected rows with targets");
  require(data.groups.struct_size == 0, MERCER_UNSUPPORTED, "data->groups, expected none");
  require(
      data.map == nullptr && data.w == nullptr, MERCER_INVALID_ARGUMENT,
      "data->map or data->w beside map, expected NULL: rows are not prepared, weights are found");
  if (data.source != nullptr) {
    require(data.X.struct_size == 0 && data.Y.struct_size == 0 && data.weights == nullptr,
            MERCER_INVALID_ARGUMENT,
            "data has X, Y or weights beside source, expected one of both");
    take_source(*data.source);
  } else {
    take_memory(data);
  }
  require(inputs_ >= 1 && targets_ >= 1, MERCER_INVALID_ARGUMENT,
          "rows of " + std::to_string(inputs_) + " inputs and " + std::to_string(targets_) +
              " targets, expected one of each at least");
}

void OwnRows::take_source(const mercer_row_source& given) {
  require(given.struct_size >= offsetof(mercer_row_source, sum), MERCER_INVALID_ARGUMENT,
          "data->source->struct_size is too small, expected sizeof(mercer_row_source)");
  std::memcpy(&source_, &given, std::min<size_t>(given.struct_size, sizeof source_));
  require(source_.sum == nullptr, MERCER_INVALID_ARGUMENT,
          "data->source->sum is a callback, expected NULL: the communicator sums");
  require(source_.rewind != nullptr && source_.next != nullptr, MERCER_INVALID_ARGUMENT,
          "data->source->rewind or next = NULL, expected two callbacks");
  is_source_ = true;
  is_weighted_ = source_.weighted != 0;
  inputs_ = source_.d;
  targets_ = source_.m;
}

void OwnRows::take_memory(const mercer_data& data) {
  require(data.X.struct_size != 0 && data.Y.struct_size != 0, MERCER_INVALID_ARGUMENT,
          "data has no X or no Y, expected this process's rows: mercer_rows_f64(0, d, NULL) where "
          "it has none");
  require_dense(data.X, data.X.d, "data->X");
  require_dense(data.Y, data.Y.d, "data->Y");
  require(data.X.n == data.Y.n, MERCER_DIMENSION_MISMATCH,
          "data->Y.n = " + std::to_string(data.Y.n) + ", expected " + std::to_string(data.X.n) +
              " as of data->X");
  X_ = data.X;
  Y_ = data.Y;
  weights_ = data.weights;
  inputs_ = X_.d;
  targets_ = Y_.d;
}

void OwnRows::rewind() {
  at_ = before_ = 0;
  if (!is_source_) return;
  X_.n = Y_.n = 0;
  const int32_t code = source_.rewind(source_.user);
  require(code == 0, MERCER_IO, "source->rewind returned " + std::to_string(code));
}

/// Whether there is a row at at_, of a further block if the last one is done.
bool OwnRows::fetch() {
  if (at_ < X_.n) return true;
  if (!is_source_) return false;
  before_ += X_.n;
  at_ = 0;
  X_ = mercer_rows_f64(0, inputs_, nullptr);
  Y_ = mercer_rows_f64(0, targets_ + (is_weighted_ ? 1 : 0), nullptr);
  const int64_t columns = Y_.d;
  const int32_t code = source_.next(source_.user, &X_, &Y_);
  require(code == 0, MERCER_IO, "source->next returned " + std::to_string(code));
  if (X_.n == 0 && Y_.n == 0) return false;
  require_dense(X_, inputs_, "X");
  require_dense(Y_, columns, "Y");
  require(X_.n == Y_.n, MERCER_DIMENSION_MISMATCH,
          "Y.n = " + std::to_string(Y_.n) + ", expected " + std::to_string(X_.n) + " as of X");
  return true;
}

void OwnRows::copy(int64_t i, double* to) const {
  const auto refuse = [&](const char* name, int64_t column, double value, const char* expected) {
    throw Failure{MERCER_INVALID_ARGUMENT,
                  std::string(name) + ": row " + std::to_string(before_ + i) + ", column " +
                      std::to_string(column) + " is " + text_of(value) + ", expected " + expected};
  };
  double& weight = to[inputs_ + targets_];
  weight = weights_ == nullptr ? 1 : weights_[i];
  const int64_t x = copy_row(X_, i, to), y = copy_row(Y_, i, to + inputs_);  // with its weight
  if (x >= 0) refuse("X", x, to[x], "a finite number");
  if (y >= 0) refuse("Y", y, to[inputs_ + y], "a finite number");
  if (!(weight >= 0 && std::isfinite(weight))) refuse("weights", 0, weight, "a finite number >= 0");
}

int64_t OwnRows::read(int64_t most, double* to) {
  int64_t count = 0;
  for (; count < most && fetch(); ++count, ++at_) copy(at_, to + count * width());
  return count;
}

SharedRows::SharedRows(Processes& all, OwnRows& own, int64_t block_rows)
    : all_(all),
      own_(own),
      block_rows_(block_rows),
      counts_(static_cast<size_t>(all.size())),
      lengths_(counts_.size()),
      starts_(counts_.size()),
      has_left_(counts_.size(), true) {}

void SharedRows::allocate() {
  sent_.resize(static_cast<size_t>(block_rows_ * own_.width()));
  rows_.resize(sent_.size());
}

int64_t SharedRows::exchange() {
  check_mpi(MPI_Allgather(&own_count_, 1, MPI_INT64_T, counts_.data(), 1, MPI_INT64_T, all_.comm()),
            "MPI_Allgather");
  int64_t total = 0;
  for (size_t rank = 0; rank < counts_.size(); ++rank) {
    lengths_[rank] = static_cast<int>(counts_[rank] * own_.width());
    starts_[rank] = static_cast<int>(total * own_.width());
    total += counts_[rank];
  }
  check_mpi(MPI_Allgatherv(sent_.data(), lengths_[static_cast<size_t>(all_.rank())], MPI_DOUBLE,
                           rows_.data(), lengths_.data(), starts_.data(), MPI_DOUBLE, all_.comm()),
            "MPI_Allgatherv");
  bytes_ += 8 * (total - own_count_) * own_.width();
  mark_ended();
  return total;
}

/// A share of the block for each process that has rows left, in the order of ranks.
int64_t SharedRows::quota(int rank) const {
  if (!has_left_[static_cast<size_t>(rank)]) return 0;
  const int64_t sharing = std::count(has_left_.begin(), has_left_.end(), true);
  const int64_t before = std::count(has_left_.begin(), has_left_.begin() + rank, true);
  return block_rows_ * (before + 1) / sharing - block_rows_ * before / sharing;
}

void SharedRows::mark_ended() {
  std::vector<bool> left = has_left_;
  for (int rank = 0; rank < all_.size(); ++rank)
    if (counts_[static_cast<size_t>(rank)] < quota(rank)) left[static_cast<size_t>(rank)] = false;
  has_left_ = left;
}

}  // namespace mercer::scalapack
