#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Runs what README.md shows: its C programs and every `sh` block in one scratch folder, against an installed copy.
# Usage: readme_test.sh CC README.md BUILD_DIR SCRATCH_DIR [data DATA_DIR]   CC: what cc stands for, a compiler and its options.
# With `data`: the blocks on real data instead.
set -euo pipefail
cc=$1 readme=$2 build=$3 scratch=$4 kind=${5:-} data=${6:-}
if [ "$kind" = data ] && [ ! -d "$data" ]; then
  echo "skipped: no data sets at $data"
  exit 77
fi
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
DESTDIR=$scratch/root cmake --install "$build" > install.log

# block LANGUAGE: the text of every fenced block of exactly that language.
block() { awk -v fence='```'"$1" '$0 == fence { on = 1; next } $0 == "```" { on = 0 } on' "$readme"; }

programs=$(dirname "$(find "$scratch/root" -name mercer -type f -path '*/bin/*' | head -n 1)")
libraries=$(dirname "$(find "$scratch/root" -name libmercer.so | head -n 1)")
mkdir bin
printf '#!/bin/bash\nexec %s "$@"\n' "$cc" > bin/cc
chmod +x bin/cc
export PATH="$scratch/bin:$programs:$PATH" MERCER_DATA_DIR=$data LD_LIBRARY_PATH="$libraries"
export PKG_CONFIG_PATH="$libraries/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$scratch/root"
block c > example.c
block "c sketch.c" > sketch.c
block "sh${kind:+ $kind}" > commands.sh
[ -s example.c ] && [ -s sketch.c ] && [ -s commands.sh ]
bash -euxo pipefail commands.sh
