// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A command line to its outcome, the same for mercer and mercer-mpi.
#pragma once

#include <string>

namespace mercer::cli {

struct Outcome {
  int status = 0;              // of the process
  std::string complaint = "";  // one line; empty: there is nothing to say
};

/// Before anything else: signals, memory, and another start where BLAS needs it.
void prepare_process(char** argv);

/// Runs a command by processes().
Outcome run(int argc, char** argv);

}  // namespace mercer::cli
