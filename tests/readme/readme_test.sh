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
# The lines at the top stand without a program: rows, targets and places to write to, then what must come out.
{
  cat << 'END'
#include <math.h>
#include <stddef.h>
#include <mercer/mercer.h>
int main(void) {
  enum { n = 200 };
  static float X[n * 64], y[n], p[n], Z[n * 4096];
  mercer_model *model = NULL;
  for (int i = 0; i < n * 64; ++i) X[i] = sinf((float)(i % 64 + 1) * (float)(i / 64));
  for (int i = 0; i < n; ++i) y[i] = X[i * 64] * X[i * 64 + 1];
END
  block "c lines"
  cat << 'END'
  double norm = 0, error = 0, squares = 0;
  for (int j = 0; j < 4096; ++j) norm += (double)Z[j] * Z[j];
  for (int i = 0; i < n; ++i) error += pow(p[i] - y[i], 2), squares += pow(y[i], 2);
  mercer_model_free(model);
  mercer_map_free(map);
  return !(fabs(norm - 1) < 1e-3 && error < 0.5 * squares);
}
END
} > lines.c
[ "$(block "c lines" | grep -c mercer_)" -ge 6 ]
cc lines.c $(pkg-config --cflags --libs mercer) -lm -o lines
./lines
block "sh${kind:+ $kind}" > commands.sh
[ -s example.c ] && [ -s sketch.c ] && [ -s commands.sh ]
bash -euxo pipefail commands.sh

# The scores that it shows are those of today. Only where awk draws the rows that were shown; libraries of linear algebra
# round differently.
[ -z "$kind" ] || exit 0
for file in wave.csv:3998006227 wind.csv:4083523804; do
  name=${file%:*}
  if [ "$(cksum <"$name" | cut -d ' ' -f 1)" != "${file#*:}" ]; then
    echo "this awk draws another $name: scores are not compared"
    continue
  fi
  command=$(sed -n "s/^\\$ \(mercer fit $name .*\)/\1/p" "$readme" | head -n 1)
  shown=$(sed -n "/^\\$ mercer fit $name /,/^honest/s/^honest score: R^2 \([^ ]*\) .*/\1/p" "$readme" | head -n 1)
  reached=$($command | sed -n 's/^honest score: R^2 \([^ ]*\) .*/\1/p')
  awk -v shown="$shown" -v reached="$reached" \
    'BEGIN { exit !(shown != "" && reached - shown <= 1e-4 && shown - reached <= 1e-4) }' ||
    { echo "README.md shows R^2 $shown for '$command', which is $reached"; exit 1; }
done
