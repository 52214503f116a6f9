// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The command mercer-mpi: the processes of mpirun share the rows of a fit. Whatever ends one of them
// early, it meets the others at the end, which those that wait for it in a sum reach by its failure.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "failure.h"
#include "mercer/mpi.h"
#include "processes.h"
#include "run.h"

namespace {

using namespace mercer::cli;

class MpiProcesses final : public Processes {
 public:
  explicit MpiProcesses(MPI_Comm comm) : all_(mercer_mpi_of(comm)) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &count_);
    threads_ = share_of_cores(comm);
  }
  int64_t rank() const override { return rank_; }
  int64_t count() const override { return count_; }
  bool shares() const override { return true; }
  int32_t threads() const override { return threads_; }
  void sum(std::span<double> numbers) override {
    const auto n = static_cast<int64_t>(numbers.size());
    if (mercer_mpi_sum(&all_, n, numbers.data()) != 0) throw Failure(all_.error);
  }
  /// The same complaint in all, with the rank that it is of, unless all have succeeded.
  Outcome agreed(const Outcome& own) {
    const std::string text = own.complaint.empty() ? "ended early" : own.complaint;
    const mercer_status status = own.status == 0 ? MERCER_OK : MERCER_IO;
    if (mercer_mpi_agree(&all_, status, text.c_str()) == MERCER_OK) return own;
    constexpr int kData = 3;
    return {own.status == 0 ? kData : own.status, all_.error};
  }

 private:
  /// Each core that this process may run on counts for one over the processes of the machine that
  /// may run there, too, whether mpirun has bound them or not.
  static int32_t share_of_cores(MPI_Comm comm) {
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    cpu_set_t own;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof own, &own) != 0) CPU_SET(0, &own);
    std::vector<int> processes(CPU_SETSIZE, 0);
    for (int core = 0; core < CPU_SETSIZE; ++core)
      processes[core] = CPU_ISSET(core, &own) != 0 ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, processes.data(), CPU_SETSIZE, MPI_INT, MPI_SUM, machine);
    MPI_Comm_free(&machine);
    double share = 0;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &own) != 0) share += 1.0 / processes[core];
    constexpr double kRounding = 1e-6;
    return std::max(1, static_cast<int32_t>(share + kRounding));
  }

  mercer_mpi all_;
  int rank_ = 0, count_ = 1;
  int32_t threads_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  prepare_process(argv);
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 1;
  MpiProcesses all(MPI_COMM_WORLD);
  use_processes(&all);
  int status = 1;
  if (all.is_first() || std::freopen("/dev/null", "w", stdout) != nullptr) {
    const Outcome outcome = all.agreed(run(argc, argv));
    if (outcome.status != 0) std::fprintf(stderr, "mercer-mpi: %s\n", outcome.complaint.c_str());
    status = outcome.status;
  }
  MPI_Finalize();
  return status;
}
