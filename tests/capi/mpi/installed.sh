#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The guide's program for a library against an installed copy, by pkg-config with mpicc and by find_package, run by two processes.
# Usage: installed.sh CMAKE GENERATOR MPICC MPIRUN BUILD PROGRAM.c CONSUMER_DIR SCRATCH_DIR mpi|scalapack
set -euo pipefail
cmake=$1 generator=$2 mpicc=$3 mpirun=$4 build=$5 program=$6 consumer=$7 scratch=$8 library=$9
rm -rf "$scratch"
mkdir -p "$scratch"
components=(runtime development mpi mpi_development)
[ "$library" = mpi ] || components+=("$library" "${library}_development")
for component in "${components[@]}"; do
  "$cmake" --install "$build" --prefix "$scratch/prefix" --component $component > "$scratch/install.log"
done
libraries=$(dirname "$(find "$scratch/prefix" -name libmercer_mpi.so)")
export PKG_CONFIG_PATH=$libraries/pkgconfig LD_LIBRARY_PATH=$libraries
read -ra flags < <(pkg-config --cflags --libs "mercer-$library")
"$mpicc" -std=c99 "$program" "${flags[@]}" -o "$scratch/program"
"$mpirun" -n 2 "$scratch/program"
"$cmake" -G "$generator" -S "$consumer" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$scratch/prefix" -DPROGRAM="$program" -DLIBRARY="$library" > "$scratch/cmake.log"
"$cmake" --build "$scratch/cmake" > "$scratch/cmake.log"
"$mpirun" -n 2 "$scratch/cmake/program"
