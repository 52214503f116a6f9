// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The processes that run one command together, mercer-mpi; of mercer there is one.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace mercer::cli {

/// Each process has a place among them, and rows of its own: those after the rows of lower ranks.
class Processes {
 public:
  virtual ~Processes() = default;
  virtual int64_t rank() const { return 0; }
  virtual int64_t count() const { return 1; }
  /// Replaces numbers by their sums over all. Fails where another process has failed.
  virtual void sum(std::span<double>) {}
  /// Whether the rows of a fit are shared: then the library asks for sums, too.
  virtual bool shares() const { return false; }
  /// Threads where --threads does not say how many; 0: as many as there are cores.
  virtual int32_t threads() const { return 0; }

  /// This one prints and writes.
  bool is_first() const { return rank() == 0; }
  /// Of a number of each process: that of all processes, and of those before this one.
  struct Count {
    int64_t all = 0, before = 0;
  };
  Count count_of(int64_t own);
  /// The texts of all, one after the other.
  std::string joined(const std::string& own);
};

/// Those of this command; one process unless use_processes was called, which keeps its argument.
Processes& processes();
void use_processes(Processes* all);

}  // namespace mercer::cli
