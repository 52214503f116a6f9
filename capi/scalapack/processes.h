// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Processes that meet: what one does by itself may fail, and then all end.
#pragma once

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "grid.h"

namespace mercer::scalapack {

/// Thrown in all processes at once.
struct Agreed {
  mercer_status status;
};

inline Failure failure_now(const char* function) {
  Failure failure{MERCER_INTERNAL, "unknown exception"};
  try {
    throw;
  } catch (const Failure& thrown) {
    failure = thrown;
  } catch (const std::bad_alloc&) {
    failure = {MERCER_OUT_OF_MEMORY, "an allocation failed"};
  } catch (const std::exception& error) {
    failure.text = error.what();
  }
  failure.text = std::string(function) + ": " + failure.text;
  return failure;
}

/// The caller's struct with a communicator of this call's own, whose errors are returned.
class Processes {
 public:
  explicit Processes(mercer_mpi& all) : all_(all) {
    each([] {});  // MPI runs, and the processes meet
    MPI_Comm_dup(all.comm, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_size(comm_, &size_);
    MPI_Comm_rank(comm_, &rank_);
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  MPI_Comm comm() const noexcept { return comm_; }
  int size() const noexcept { return size_; }
  int rank() const noexcept { return rank_; }

  /// What each process does by itself; a failure in any ends the call in all.
  template <class Body>
  void each(const Body& body) {
    Failure own{MERCER_OK, ""};
    try {
      body();
    } catch (...) {
      own = failure_now("mercer_scalapack_ridge");
    }
    const mercer_status agreed = mercer_mpi_agree(&all_, own.status, own.text.c_str());
    if (agreed != MERCER_OK) throw Agreed{agreed};
  }
  /// Numbers become their sums over the processes, the same bits in each.
  void sum(std::vector<double>& numbers) {
    const int32_t failed =
        mercer_mpi_sum(&all_, static_cast<int64_t>(numbers.size()), numbers.data());
    if (failed != 0)  // in all
      each([&] { throw Failure{MERCER_IO, all_.error}; });
  }
  double sum(double number) {
    std::vector<double> one{number};
    sum(one);
    return one[0];
  }

 private:
  mercer_mpi& all_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int size_ = 1, rank_ = 0;
};

/// The caller's callback, told of D^2 products.
class Progress {
 public:
  Progress(const mercer_context_options& run, double total) : run_(run), total_(total) {}
  void advance(double work) { done_ += work; }
  double done() const noexcept { return done_; }
  double left() const noexcept { return std::max(0.0, total_ - done_); }
  /// As far as this, if it was not before.
  void reach(double work) { done_ = std::max(done_, work); }
  /// Failure where it asks to stop.
  void report() const {
    constexpr int64_t kAll = 1000000;
    if (run_.progress == nullptr) return;
    const auto done = static_cast<int64_t>(kAll * std::min(1.0, done_ / total_));
    require(run_.progress(run_.user, std::min(done, kAll - 1), kAll) == 0, MERCER_CANCELLED,
            "cancelled");
  }
  void finish() const {
    if (run_.progress != nullptr) run_.progress(run_.user, 1000000, 1000000);
  }

 private:
  mercer_context_options run_;
  double total_, done_ = 0;
};

}  // namespace mercer::scalapack
