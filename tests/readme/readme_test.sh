#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Runs what README.md shows: the C program and every `sh` block in one scratch folder, against an installed copy.
# Usage: readme_test.sh README.md BUILD_DIR SCRATCH_DIR [data DATA_DIR]   With `data`: the blocks on real data instead.
set -euo pipefail
readme=$1 build=$2 scratch=$3 kind=${4:-} data=${5:-}
if [ "$kind" = data ] && [ ! -d "$data" ]; then
  echo "skipped: no data sets at $data"
  exit 77
fi
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
cmake --install "$build" --prefix "$scratch/prefix" > install.log

# block LANGUAGE: the text of every fenced block of exactly that language.
block() { awk -v fence='```'"$1" '$0 == fence { on = 1; next } $0 == "```" { on = 0 } on' "$readme"; }

export PATH="$scratch/prefix/bin:$PATH" MERCER_DATA_DIR=$data
libraries=$(dirname "$(find "$scratch/prefix" -name 'libmercer.so' | head -n 1)")
export LD_LIBRARY_PATH="$libraries" PKG_CONFIG_PATH="$libraries/pkgconfig"
block c > example.c
block "sh${kind:+ $kind}" > commands.sh
[ -s example.c ] && [ -s commands.sh ]
bash -euxo pipefail commands.sh
