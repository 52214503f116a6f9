// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The command mercer.
#include <cstdio>

#include "run.h"

int main(int argc, char** argv) {
  mercer::cli::prepare_process(argv);
  const mercer::cli::Outcome outcome = mercer::cli::run(argc, argv);
  if (!outcome.complaint.empty()) std::fprintf(stderr, "mercer: %s\n", outcome.complaint.c_str());
  return outcome.status;
}
