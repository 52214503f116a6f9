#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# mercer export: graphs of ONNX give the predictions of the command; what has no graph is refused. Usage: export_test.sh MERCER SCRATCH
set -u
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

# Inputs of other units, far from 0.
{ echo a,b,c,y,z,kind
  rows 300 'a = uniform(); b = uniform(); c = uniform(); s = a*a + b*c
    printf "%.6f,%.6f,%.6f,%.6f,%.6f,%s\n", 1000*a, b + 2000, 0.01*c, s, a - b, (s > 0.4 ? "high" : s < 0 ? "low" : "mid")'; } >data.csv
# fits DATA MODEL MAP EXTRAPOLATION TRANSFORM OPTION...
fits() {
  "$MERCER" fit "$1" -o "$2" --map "$3" --extrapolation "$4" --transform "$5" --target-transform none --lengthscale 1 --lambda 1e-3 -D 64 "${@:6}" \
    --quiet >/dev/null 2>err || complain "fit $*: $(cat err)"
}
cut -d, -f1-3,4 data.csv >numbers.csv
cut -d, -f1-3,4,5 data.csv >two.csv
cut -d, -f1-3,6 data.csv >classes.csv

# same OUTPUT FIRST LAST DATA: columns FIRST to LAST of predictions.csv within 1e-5 of the graph's output.
same() {
  python3 -B "$here/onnx_values.py" result.onnx "$4" "$1" a b c >graph.csv 2>err || complain "graph of $4: $(cat err)"
  tail -n +2 predictions.csv | cut -d, -f"$2-$3" | paste -d, graph.csv - |
    awk -F, '{ for (k = 1; k <= NF/2; ++k) { d = $k - $(k + NF/2); if (d*d > 1e-10) exit 1 } ++n } END { exit n != 300 }' ||
    complain "$1 of $4: $(paste -d, graph.csv predictions.csv | head -n 3)"
}
exports() {
  accepts "$MERCER" export "$1" -o result.onnx
  "$MERCER" predict "$1" "$2" -o predictions.csv --quiet "${@:3}" >/dev/null 2>err || complain "predict $1: $(cat err)"
}
if command -v python3 >/dev/null; then
  fits numbers.csv ridge fourier free none
  exports ridge numbers.csv
  same value 1 1 numbers.csv
  fits two.csv two_outputs fourier free none --target y,z --scale robust
  exports two_outputs two.csv
  same value 1 2 two.csv
  for model in ridge logistic; do
    fits classes.csv classes_$model fourier free none --estimator $model
    exports classes_$model classes.csv --probabilities
    same probability 2 4 classes.csv
  done
  fits numbers.csv orthogonal '{"map":"fourier","projection":"orthogonal"}' free none --kernel matern
  exports orthogonal numbers.csv
  same value 1 1 numbers.csv
fi

export_refuses() { refuses "$1" "$MERCER" export "$2" -o result.onnx; }
fits numbers.csv clipped fourier clip none
export_refuses 'prepare.extrapolation is "clip", expected a fit with --extrapolation free' clipped
fits numbers.csv landmarks nystroem free none
export_refuses 'its map is nystroem, expected map fourier of form pair' landmarks
fits numbers.csv phases '{"map":"fourier","form":"phase"}' free none
export_refuses 'its map is fourier, expected map fourier of form pair' phases
fits numbers.csv ranks fourier free rank
export_refuses 'prepare.transform is "rank", expected a fit with --transform none' ranks
fits numbers.csv filled fourier free none --missing fill
export_refuses 'prepare.missing is "fill", expected a fit with --missing refuse' filled
refuses 'MODEL is required' "$MERCER" export -o result.onnx
refuses 'absent: No such file' "$MERCER" export absent -o result.onnx
finish
