# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Sparse rows end to end: as good as the same data dense, in memory for what is listed. Usage: libsvm_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

# close MOST FILE FILE WHAT: two files of one column of numbers under a header.
close() {
  paste -d, "$2" "$3" | awk -F, -v most="$1" '
    NR == 1 { next }
    { difference = $1 - $2; if (difference < 0) difference = -difference; if (!(difference <= most)) bad++; rows++ }
    END { exit !(rows > 0 && !bad) }' || complain "$4: $2 and $3 differ by more than $1"
}

# close_scores WHAT: ./first and ./out print the same score but for rounding.
close_scores() {
  awk -v a="$(score first)" -v b="$(score out)" \
    'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= 2e-3 && d >= -2e-3) }' ||
    complain "$1: scores '$(score first)' and '$(score out)'"
}

# The same rows twice: four of 40 columns listed, all others zero.
both='
  line = ""; dense = ""; y = 0
  for (j = 1; j <= 40; j++) value[j] = 0
  for (k = 0; k < 4; k++) { j = 10 * k + 1 + int(5 * (uniform() + 1)); value[j] = int(8 * (uniform() + 1)) / 8 + 0.125 }
  for (j = 1; j <= 40; j++) {
    if (value[j] > 0) line = line " " j ":" value[j]
    dense = dense value[j] ","
    y += value[j] * (j % 3 - 1)
  }
  print y line >"sparse.svm"
  print dense y >"same.csv"'
rows 700 "$both"
head -n 200 sparse.svm | sed 's/^[^ ]* /0 /' >unlabelled.svm
head -n 200 same.csv | cut -d, -f 1-40 >inputs.csv

# Without standardisation, which centres dense inputs alone, the models are the same.
given=(--features 256 --lengthscale 4 --lambda 1e-5 --no-standardize --test-fraction 0.2 --seed 5)
accepts "$MERCER" fit same.csv -o dense.model "${given[@]}"
at_least 0.95 "a dense fit"
cp out first
accepts "$MERCER" fit sparse.svm -o sparse.model "${given[@]}"
contains '700 rows, 40 inputs, target the labels' "a sparse fit"
contains '^fitted: 560 rows' "a sparse fit"
close_scores "fit"
accepts "$MERCER" predict dense.model inputs.csv -o dense.out
accepts "$MERCER" predict sparse.model unlabelled.svm -o sparse.out
close 2e-3 dense.out sparse.out "predictions of sparse rows"
accepts "$MERCER" predict sparse.model inputs.csv -o mixed.out
close 2e-3 sparse.out mixed.out "dense rows for a model of sparse ones"
accepts "$MERCER" predict dense.model same.csv -o dense.out
cp out first
accepts "$MERCER" predict sparse.model sparse.svm -o sparse.out
close_scores "predict"
gzip -c sparse.svm | "$MERCER" predict sparse.model - -o piped.out >/dev/null 2>err || complain "a pipe: $(cat err)"
cmp -s sparse.out piped.out || complain "predictions through a pipe differ"
accepts "$MERCER" fit sparse.svm -o searched.model --features 256 --test-fraction 0.2
at_least 0.9 "a search on sparse rows, scaled"
contains '^ *coarse' "a search on sparse rows"
# same_fit <dense> <sparse> <name> <option>...: fits of the dense and of the sparse rows score alike, and their predictions agree.
same_fit() {
  local dense=$1 sparse=$2 name=$3
  shift 3
  accepts "$MERCER" fit same.csv -o "$dense" "$@"
  cp out first
  accepts "$MERCER" fit sparse.svm -o "$sparse" "$@"
  close_scores "$name"
  at_least 0.5 "$name"
  accepts "$MERCER" predict "$dense" inputs.csv -o dense.out
  accepts "$MERCER" predict "$sparse" unlabelled.svm -o sparse.out
  close 2e-3 dense.out sparse.out "predictions of $name"
}

for map in linear '{"map":"linear","projection":"countsketch"}' tensor_srht '{"map":"fourier","projection":"sorf"}'; do
  other=(--map "$map" --features 512 --lambda 1e-4 --no-standardize --test-fraction 0.2)
  [ "$map" = "${map#*fourier}" ] || other+=(--lengthscale 4)
  same_fit dense.map sparse.map "$map" "${other[@]}"
done

# A kernel that warps its inputs reads sparse rows too: inputs that are not listed are zeros, not left out.
warped=(--features 256 --kernel skewed_chi2 --lambda 1e-5 --no-standardize --test-fraction 0.2)
same_fit dense.model warped.model skewed_chi2 "${warped[@]}"

# A file that lists more than a quarter is dense in fact: the same bytes as from CSV, standardised or not.
rows 400 'a = uniform(); b = uniform(); print (a * b > 0 ? 1 : 2) " 1:" a " 3:" b >"full.svm"; print a ",0," b "," (a * b > 0 ? 1 : 2) >"full.csv"'
accepts "$MERCER" fit full.csv -o one.model --features 128
accepts "$MERCER" fit full.svm -o two.model --features 128
accepts "$MERCER" predict two.model full.svm -o two.out --scores
accepts "$MERCER" predict one.model full.csv -o one.out --scores
cmp -s one.out two.out || complain "a full libsvm file and its CSV give different scores"

# Rows narrower than the model are zero-extended.
head -n 50 sparse.svm | awk '{ line = $1; for (k = 2; k <= NF; k++) { split($k, e, ":"); if (e[1] <= 30) line = line " " $k }; print line }' >narrow.svm
sed 's/$/ 40:0/' narrow.svm >extended.svm
accepts "$MERCER" predict sparse.model narrow.svm -o narrow.out
accepts "$MERCER" predict sparse.model extended.svm -o extended.out
close 1e-4 narrow.out extended.out "zero-extended rows and rows with the zero listed"
[ "$(wc -l <narrow.out)" -eq 51 ] || complain "$(wc -l <narrow.out) lines for 50 narrow rows"

# Comparison: dense and sparse rows lead to one table, and the exact solution is in it.
given=(--rows 400 --features 64,1024 --lengthscale 4 --lambda 1e-5)
table() { awk '$NF == 400 && $1 == "exact" { print "exact," $5 } $NF == 400 && $1 == "random" { print $3 "," $4 "," $5 }' out; }
accepts "$MERCER" compare same.csv "${given[@]}" --no-standardize
table >dense.table
accepts "$MERCER" compare sparse.svm "${given[@]}" --no-standardize
table >sparse.table
[ "$(wc -l <dense.table)" -eq 3 ] || complain "compare printed: $(cat out)"
paste -d, dense.table sparse.table | awk -F, '
  { h = NF / 2; for (k = 2; k <= h; k++) { d = $k - $(h + k); if ($1 != $(h + 1) || !(d <= 2e-3 && d >= -2e-3)) bad = 1 } }
  END { exit bad }' || complain "compare of dense and sparse rows: $(cat dense.table sparse.table)"
accepts "$MERCER" compare sparse.svm --rows 400 --features 64,1024 --lengthscale 20 --lambda 1e-5
awk '$1 == "random" && $8 == 400 { error[++k] = $5; if (k == 2 && $4 < 0.8) bad = 1 }
     END { exit !(k == 2 && !bad && error[1] > 2 * error[2] && error[2] > 0) }' out || complain "compare, scaled: $(cat out)"

# Indices from 0, as scikit-learn writes them; a test file that lists neither the index 0 nor only known ones; queries; gaps.
awk '{ line = $1; for (k = 2; k <= NF; k++) { split($k, e, ":"); line = line " " e[1] - 1 ":" e[2] } print line }' sparse.svm >zero.svm
accepts "$MERCER" fit zero.svm -o zero.model --features 256 --lengthscale 4 --lambda 1e-5 --no-standardize --test-fraction 0.2 --seed 5
contains '^indices start at 0: --index-base 1 takes them from 1$' "indices from 0"
contains '700 rows, 40 inputs' "indices from 0"
head -n 200 zero.svm | sed 's/ 0:[^ ]*//; s/$/ 77:3/' >beyond.svm
"$MERCER" predict zero.model beyond.svm -o beyond.out >out 2>err || complain "unknown columns: $(cat err)"
grep -q '1 column that the model, of 40 inputs, does not know left out (200 numbers, largest index 77)' out || complain "no count of what is left out: $(cat out)"
head -n 200 sparse.svm | sed 's/ 1:[^ ]*//' >known.svm
accepts "$MERCER" predict sparse.model known.svm -o known.out
cmp -s beyond.out known.out || complain "rows with and without unknown columns differ"
refuses "start at 1 (--index-base 0" "$MERCER" fit zero.svm -o result --index-base 1
refuses "--index-base: same.csv is no libsvm file" "$MERCER" fit same.csv -o result --index-base 1
awk '{ $1 = $1 " qid:" int((NR - 1) / 7); print }' sparse.svm >queries.svm
accepts "$MERCER" fit queries.svm -o queries.model --features 64 --lengthscale 4 --lambda 1e-5
contains '^rows of one qid are a group, which stays together$' "queries"
sed '3s/:[^ ]*/:nan/' sparse.svm >gaps.svm
"$MERCER" fit gaps.svm -o gaps.model --features 64 --lengthscale 4 --lambda 1e-5 --missing fill >out 2>err || complain "gaps of sparse rows: $(cat err)"
grep -q '1 of 700 rows lack inputs' out || complain "no word of the gap: $(cat out)"

# 3,000 rows and 99,999 columns of which 150,000 numbers are listed: as a table of floats 1.2 GB, and no
# process here may have more than 1 GB of addresses. Builds that reserve addresses by the terabyte (sanitizers) go without.
words='
  c = i % 2; line = c " " 1 + c ":40"
  for (k = 1; k < 50; k++) line = line " " 2000 * k + int(999 * (uniform() + 1)) ":" int(4 * (uniform() + 1)) + 1
  print line (i == 1 ? " 99999:1" : "")'
rows 3000 "$words" >wide.svm
export OPENBLAS_NUM_THREADS=1
limited() { (ulimit -v 1000000 && "$@"); }
limited "$MERCER" --version >/dev/null 2>&1 || { echo "no limit of addresses: the build needs more"; limited() { "$@"; }; }
accepts limited "$MERCER" fit wide.svm -o wide.model --features 256 --threads 2
contains '3000 rows, 99999 inputs' "a wide fit"
contains '^fitted: 3000 rows' "a wide fit"
accepts limited "$MERCER" fit wide.svm -o wide.model --features 256 --threads 2 --no-standardize --test-fraction 0.15
at_least 0.95 "a wide fit"
accepts limited "$MERCER" predict wide.model wide.svm -o wide.out --threads 2
at_least 0.95 "a wide prediction"
accepts limited "$MERCER" compare wide.svm --features 64 --rows 800 --threads 2 --no-standardize --lengthscale 20
awk '$1 == "exact" { accuracy = $5 } END { exit !(accuracy > 0.9) }' out || complain "a wide comparison: $(cat out)"
finish
