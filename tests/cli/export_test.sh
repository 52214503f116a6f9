#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# mercer export: graphs of ONNX give the predictions of the command, by onnx_values.py and, where node finds it (NODE_PATH), by onnxruntime-node; what has
# no graph is refused. Usage: export_test.sh MERCER SCRATCH
set -u
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

# Inputs of other units, far from 0, one of them skewed and one with few levels.
{ echo a,b,c,y,z,kind
  rows 200 'a = uniform(); b = uniform(); c = uniform(); s = a*a + b*c
    printf "%.6f,%.6f,%d,%.6f,%.6f,%s\n", exp(4*a), b + 1e6, 4*c, s, exp(3*s), (s > 0.4 ? "high" : s < 0 ? "low" : "mid")'; } >data.csv
cut -d, -f1-4 data.csv >numbers.csv
cut -d, -f1-3,4,5 data.csv >two.csv
cut -d, -f1-3,6 data.csv >classes.csv
awk -F, 'NR > 1 && NR % 7 == 0 { $2 = "" } 1' OFS=, numbers.csv >gaps.csv
# Inputs beyond the range of the fit, whose predictions are clipped or not.
beyond() { awk -F, 'NR > 1 && NR % 5 == 0 { $1 *= 3; $3 -= 2 } 1' OFS=, "$1"; }

# fits DATA MODEL OPTION...: without a search, but of what options say
fits() { "$MERCER" fit "$1" -o "$2" --lengthscale 1 --lambda 1e-3 --quiet "${@:3}" >/dev/null 2>err || complain "fit $*: $(cat err)"; }
runtime=$(command -v node >/dev/null && node -e 'require("onnxruntime-node"); console.log("found")' 2>/dev/null)

# same OUTPUT FIRST LAST DATA: columns FIRST to LAST of predictions.csv within 1e-5 of the graph's output, relative to the largest.
same() {
  for by in "python3 -B $here/onnx_values.py" "node $here/onnx_runtime.js"; do
    case $by in node*) [ -n "$runtime" ] || continue ;; esac
    $by result.onnx "$4" "$1" a b c >graph.csv 2>err || complain "$by of $4: $(cat err)"
    tail -n +2 predictions.csv | cut -d, -f"$2-$3" | paste -d, graph.csv - |
      awk -F, '{ for (k = 1; k <= NF/2; ++k) { d = $k - $(k + NF/2); if (d*d > most) most = d*d; if ($k*$k > large) large = $k*$k } ++n }
               END { exit !(n == 200 && most <= 1e-10 * large) }' || complain "$1 of $4 by $by: $(paste -d, graph.csv predictions.csv | head -n 3)"
  done
}
# exports OUTPUT FIRST LAST MODEL DATA: the graph of the model, of rows beyond its range
exports() {
  accepts "$MERCER" export "$4" -o result.onnx
  contains '^wrote result.onnx$' "export"
  beyond "$5" >rows.csv
  case $1 in probability) set -- "$@" --probabilities ;; esac
  "$MERCER" predict "$4" rows.csv -o predictions.csv --quiet "${@:6}" >/dev/null 2>err || complain "predict $4: $(cat err)"
  same "$1" "$2" "$3" rows.csv
}
if command -v python3 >/dev/null; then
  "$MERCER" fit numbers.csv -o default --quiet >/dev/null 2>err || complain "a default fit: $(cat err)"
  exports value 1 1 default numbers.csv
  for kernel in gaussian laplacian matern:0.5 matern:1.5 matern:2.5 rational_quadratic; do
    nu=${kernel#*:}
    fits numbers.csv rows --map exact --kernel "{\"kernel\":\"${kernel%:*}\"$([ "$nu" = "$kernel" ] || echo ",\"nu\":$nu")}"
    exports value 1 1 rows numbers.csv
  done
  "$MERCER" fit numbers.csv -o rows --lambda 1e-3 --quiet --map exact --kernel '{"kernel":"polynomial","degree":2,"offset":1}' >/dev/null 2>err ||
    complain "a polynomial kernel: $(cat err)"
  exports value 1 1 rows numbers.csv
  fits numbers.csv landmarks --map nystroem -D 64
  exports value 1 1 landmarks numbers.csv
  for transform in log rank; do
    fits two.csv curved --map exact --target y,z --scale robust --transform $transform --target-transform $transform
    exports value 1 2 curved two.csv
  done
  for missing in fill flag; do
    fits gaps.csv filled --map exact --missing $missing
    exports value 1 1 filled gaps.csv
  done
  for model in ridge logistic; do
    fits classes.csv classes_$model --map fourier -D 64 --extrapolation free --estimator $model
    exports probability 2 4 classes_$model classes.csv
  done
  fits numbers.csv orthogonal --map '{"map":"fourier","projection":"orthogonal"}' -D 64 --kernel matern
  exports value 1 1 orthogonal numbers.csv
fi

export_refuses() { refuses "$1" "$MERCER" export "$2" -o result.onnx; }
fits numbers.csv refused --map fourier -D 64 --extrapolation refuse
export_refuses 'it refuses rows outside its range, expected --extrapolation clip or free' refused
fits numbers.csv phases --map '{"map":"fourier","form":"phase"}' -D 64
export_refuses 'its map fourier is of another form than pair' phases
fits numbers.csv cauchy --map exact --kernel cauchy
export_refuses 'expected gaussian, laplacian, matern, rational_quadratic or polynomial' cauchy
fits numbers.csv rough --map exact --kernel '{"kernel":"matern","nu":2}'
export_refuses 'expected nu 0.5, 1.5 or 2.5' rough
"$MERCER" fit numbers.csv -o sketch --map tensor_sketch -D 64 --lambda 1e-3 --quiet >/dev/null 2>err || complain "fit sketch: $(cat err)"
awk -F, 'BEGIN { OFS = "," } NR > 1 { $NF = int(exp(1 + sin(3 * $1))) } 1' numbers.csv >counts.csv
fits counts.csv counted --loss poisson
if command -v python3 >/dev/null; then exports value 1 1 counted counts.csv; fi
export_refuses 'its map is tensor_sketch, expected fourier, or dense rows kept by exact or nystroem' sketch
refuses 'MODEL is required' "$MERCER" export -o result.onnx
refuses 'absent: No such file' "$MERCER" export absent -o result.onnx
finish
