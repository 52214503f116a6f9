#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# mercer relevance: inputs in the order in which they move a known function, whatever their units; text columns by level;
# files; what is refused. Usage: relevance_test.sh MERCER SCRATCH
set -u
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

# strong moves y three times as much as weak, in units a thousand times as large; idle not at all.
{ echo strong,weak,idle,y; rows 600 'a = uniform(); b = uniform(); c = uniform(); printf "%.6f,%.6f,%.6f,%.6f\n", 1000*a, b, c, 3*a + b'; } >linear.csv
# Fits may warn, as that a linear model is as good.
fits() { "$MERCER" fit "$@" --quiet >/dev/null 2>&1 || complain "fit $*"; }
fits linear.csv -o model --features 256 --lengthscale 2 --lambda 1e-6
accepts "$MERCER" relevance model linear.csv
[ "$(cut -d' ' -f1 out | tr '\n' ' ')" = "strong weak idle " ] || complain "order: $(cat out)"
awk '$1 == "strong" { s = $2 } $1 == "weak" { w = $2 } $1 == "idle" { i = $2 }
     END { exit !(s > 0.9 && s < 1 && s / w > 2.8 && s / w < 3.2 && i < 0.03) }' out || complain "sizes: $(cat out)"
contains '^strong .* ########################################$' "the longest bar"

# One prediction explained: parts and the typical row add up to it; of y = 3 strong + weak the part of an input is what it adds
# to the typical value, 3 (a - median) and b - median, and of the input that is idle nothing.
accepts "$MERCER" predict model linear.csv --explain --id strong,weak -o parts.csv --quiet
[ "$(head -n 1 parts.csv)" = strong,weak,y,typical,by_strong,by_weak,by_idle ] || complain "parts: $(head -n 1 parts.csv)"
awk -F, 'NR > 1 { s = $3 - $4 - $5 - $6 - $7; if (s*s > 1e-16) exit 1
  if (NR > 2 && (($5 - u) - 3*($1 - a)/1000)^2 > 0.01 || NR > 2 && (($6 - v) - ($2 - b))^2 > 0.01 || $7^2 > 0.01) exit 1
  a = $1; b = $2; u = $5; v = $6 }' parts.csv || complain "parts of a linear function: $(head -n 4 parts.csv)"

cut -d, -f1-3 linear.csv >inputs.csv
accepts "$MERCER" relevance model inputs.csv --quiet
contains '^strong' "rows without the target"

# What has two values is switched: y moves by 2 b as much whether it is a number or text.
{ echo flag,word,y; rows 400 'f = uniform() < 0; w = uniform() < 0; printf "%d,%s,%.6f\n", f, w ? "on" : "off", 2*f + w + 0.01*uniform()'; } >switches.csv
fits switches.csv -o switches --features 64 --lengthscale 2 --lambda 1e-6
accepts "$MERCER" relevance switches switches.csv
awk '$1 == "flag" { f = $2 } $1 == "word" { w = $2 } END { exit !(f > 0.85 && f < 0.95 && w > 0.4 && w < 0.5) }' out ||
  complain "switches: $(cat out)"

# Classes, text and missing inputs.
{ echo size,colour,kind; rows 500 'a = uniform(); c = uniform() < 0 ? "red" : "blue"; printf "%s,%s,%s\n", i % 50 ? sprintf("%.5f", a) : "", c, (a > 0) ? "big" : "small"'; } >kinds.csv
fits kinds.csv -o kinds --estimator ridge --features 128 --missing flag --lengthscale 2 --lambda 1e-4
"$MERCER" relevance kinds kinds.csv >out 2>err || complain "relevance of kinds: $(cat err)"
grep -q '10 of 500 rows lack inputs (size: 10), filled' err || complain "no word of filled rows: $(cat err)"
[ "$(head -n 1 out | cut -d' ' -f1)" = size ] || complain "kinds: $(cat out)"
awk '$1 == "size" { s = $2 } $1 == "colour" { c = $2 } END { exit !(s > 0.9 && c < 0.3 * s) }' out || complain "kinds: $(cat out)"
[ "$(wc -l <out)" = 2 ] || complain "a text column is one input: $(cat out)"

# Of classes the parts are of the probability of the one that is predicted.
"$MERCER" predict kinds kinds.csv --explain --probabilities -o parts.csv --quiet 2>err || complain "explained classes: $(cat err)"
[ "$(head -n 1 parts.csv)" = kind,probability_big,probability_small,typical,by_size,by_colour ] || complain "parts: $(head -n 1 parts.csv)"
awk -F, 'NR > 1 { p = $1 == "big" ? $2 : $3; s = p - $4 - $5 - $6; if (s*s > 1e-16) exit 1 }' parts.csv ||
  complain "parts of classes: $(head -n 4 parts.csv)"

# by_a_b of u and by_a of b_u are two columns.
{ echo a,a_b,u,b_u; rows 60 'a = uniform(); b = uniform(); print a "," b "," a + 2 * b "," a - b'; } >joined.csv
fits joined.csv -o joined --target u,b_u --features 64 --lambda 1e-6
"$MERCER" predict joined joined.csv --explain -o parts.csv --quiet 2>err || complain "explained targets: $(cat err)"
[ "$(head -n 1 parts.csv)" = u,b_u,typical_u,by_a_u,by_a_b_u,typical_b_u,by_a_b_u_,by_a_b_b_u ] || complain "parts: $(head -n 1 parts.csv)"

sed 's/red/green/' kinds.csv >unseen.csv
"$MERCER" relevance kinds unseen.csv --quiet >out 2>err || complain "relevance with a level not seen before: $(cat err)"
grep -q 'input colour: .* rows hold text that was rare or unknown' err || complain "no word of the level: $(cat err)"

# A row outside the kernel's domain is told as predict tells it: by file, row and column.
{ echo a,b,y; rows 3000 'a = 1 + uniform(); b = 1 + uniform(); printf "%.5f,%.5f,%.5f\n", a, b, a + b*b'; } >positive.csv
fits positive.csv -o bounded --kernel exponential_semigroup --features 64 --lambda 1e-6 --extrapolation free --no-standardize
sed '2702s/^[^,]*,\([^,]*\)/\1,-3/' positive.csv >negative.csv
for command in predict relevance; do
  "$MERCER" $command bounded negative.csv >out 2>err && complain "$command of a row outside the domain"
  grep -q 'negative.csv: .*row 2701.*b.*-3' err || complain "$command: $(cat err)"
done

refuses 'cannot both be standard input' "$MERCER" relevance - -
refuses '0 rows, expected at least 2' "$MERCER" relevance model <(echo strong,weak,idle)
head -2 linear.csv >one.csv
refuses '1 row, expected at least 2' "$MERCER" relevance model one.csv
fits linear.csv -o steps --kernel sign --features 64 --lambda 1e-6
accepts "$MERCER" relevance steps linear.csv
[ "$(head -n 1 out | cut -d' ' -f1)" = strong ] || complain "a kernel without derivatives: $(cat out)"
finish
