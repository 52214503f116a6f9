/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
/* One rank of a ridge fit to rows that all share or, of more ranks than a fit can be simulated on, of
 * pairs of sums as a fit makes them; rank 0 tells what it took, as JSON. simulated_processes.py
 * compiles and runs it. Usage: simulated_processes FEATURES ROWS [PAIRS] */
#include <mercer/base.h>
#include <mercer/mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { d = 20 };

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  char spec[200];
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL); /* SMPI has none at first */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int D = atoi(argv[1]), n = atoi(argv[2]);
  double* const x = malloc(sizeof(double) * (size_t)n * (d + 1));
  double* const y = x + n * d;
  double* const squares = calloc((size_t)D * (D + 1) / 2, sizeof(double));
  unsigned state = (unsigned)rank + 1;
  for (int i = 0; i < n * (d + 1); ++i)
    x[i] = (double)(state = state * 1664525u + 1013904223u) / 4294967296.0;
  snprintf(spec, sizeof spec,
           "{\"map\":{\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":4},\"features\":%d},"
           "\"search\":false,\"lambda\":1e-4}",
           D);
  mercer_context_options options = {.struct_size = sizeof options, .threads = 1};
  mercer_context* context = NULL;
  mercer_status status = mercer_context_create(&options, &context);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_data data = mercer_data_of(mercer_rows_f64(n, d, x), mercer_rows_f64(n, 1, y));
  mercer_model* model = NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (status == MERCER_OK && argc < 4) status = mercer_mpi_fit(&all, spec, &data, context, &model);
  for (int pair = 0; argc > 3 && pair < atoi(argv[3]); ++pair) {
    double failed = 0;
    mercer_mpi_sum(&all, 1, &failed);
    mercer_mpi_sum(&all, D * (D + 1) / 2, squares);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  double most = (double)all.bytes, mean = most / size;
  MPI_Allreduce(MPI_IN_PLACE, &mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && status == MERCER_OK)
    printf("{\"seconds\":%.9g,\"sums\":%lld,\"mean_bytes\":%.0f,\"most_bytes\":%.0f}\n", seconds,
           (long long)all.sums, mean, most);
  if (status != MERCER_OK) fprintf(stderr, "rank %d: %s\n", rank, all.error);
  mercer_model_free(model);
  mercer_context_free(context);
  free(squares);
  free(x);
  MPI_Finalize();
  return status != MERCER_OK;
}
