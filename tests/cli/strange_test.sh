# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Files as strangers bring them: dates, decimal commas, percentages, indices of data frames, rows without a target, counts as targets.
# Usage: strange_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

fit() { accepts "$MERCER" fit "$@" --features 64 --lengthscale 2 --lambda 1e-5; }
refuse() { refuses "$1" "$MERCER" fit "${@:2}" -o result; }

# Dates in other forms, and times.
day='x = uniform(); d = 1 + i % 28; m = 1 + i % 12'
for form in '%d/%d/2024' '%d.%d.24' '%d-%d-2024 10:30'; do
  { echo when,x,y; rows 60 "$day; printf \"$form,%g,%g\n\", d, m, x, x"; } >dates.csv
  refuse "dates.csv:2:1: '.*' in column 'when' is .*--ignore when leaves the column out" dates.csv
done
{ echo 'the day,x,y'; rows 60 "$day; printf \"%d Mar 2024,%g,%g\n\", d, x, x"; } >dates.csv
refuse "'2 Mar 2024' in column 'the day' is .*--ignore 'the day' leaves the column out" dates.csv
{ echo at,x,y; rows 60 'x = uniform(); printf "%02d:%02d,%g,%g\n", i % 24, i % 60, x, x'; } >times.csv
refuse "'01:01' in column 'at' is .* a time" times.csv
{ echo x,when; rows 60 "$day; printf \"%g,2024-%02d-%02d\n\", x, m, d"; } >target.csv
refuse "'2024-01-05' in the target, 'when', is .*--target names another column" target.csv

# Decimal commas: asked for; read alike at the prediction. Percentages and currencies are read where all fields have them.
money='x = uniform(); s = sprintf("%.2f", 5 + x); t = sprintf("%.5f", x); gsub("[.]", ",", s); gsub("[.]", ",", t); print s ";" 50 + int(40 * x) "%;€ " s ";" t'
{ echo 'price;share;paid;y'; rows 200 "$money"; } >money.csv
fit money.csv -o money --decimal comma
contains '^column share holds numbers as [0-9]*%, read as [0-9]*$' "percentages"
contains '^column paid holds numbers as € [0-9,]*, read as [0-9.]*$' "a currency"
sed '3s/%/ percent/' money.csv >mixed.csv
refuse "mixed.csv:3:2: '[0-9]* percent' in column 'share' is not of the form of most .*, 12.5% say.*--ignore share leaves the column out" mixed.csv --decimal comma
sed '3s/€ //' money.csv >mixed.csv
refuse "mixed.csv:3:3: '[0-9,]*' in column 'paid' is not of the form of most .*--ignore paid leaves the column out" mixed.csv --decimal comma
cut -d ';' -f 1,4 money.csv >prices.csv && mv prices.csv money.csv
fit money.csv -o money --test-fraction 0.2 --decimal comma
at_least 0.9 "decimal commas"
accepts "$MERCER" predict money money.csv -o money.out
at_least 0.9 "decimal commas again"
sed 's/,/./' money.csv >points.csv
refuses "points.csv:2:1: '[0-9.]*' has a decimal point, where a decimal comma is expected" "$MERCER" predict money points.csv -o result
refuse "money.csv:2:1: '[0-9,]*' may be a number with a decimal comma (--decimal comma) or with thousands" money.csv

# Headers.
{ echo 1990,1991,1992; rows 50 'x = uniform(); print x "," (-x) "," 2 * x'; } >years.csv
fit years.csv -o years
contains 'years.csv: 50 rows, 2 inputs, target 1992 (the last column; --target chooses; read' "years are names"
contains '^the first line was taken as names: --header no takes it as a row$' "years are names, with a note"
fit years.csv -o years --header no
contains 'years.csv: 51 rows' "--header no"
printf 'red,yes\n%s' "$(rows 60 'print (i % 2 ? "red,yes" : "blue,no")')" >words.csv
fit words.csv -o words --header no
contains 'words.csv: 61 rows' "--header no"
accepts "$MERCER" predict words words.csv -o words.out
contains '^test: accuracy 1.0000 on 61 rows$' "the model remembers --header"

{ echo country,2019,2020,2021; rows 60 'x = uniform(); print (i % 2 ? "A" : "B") "," x "," (-x) "," 2 * x'; } >wide.csv
fit wide.csv -o wide
contains 'wide.csv: 60 rows, 3 inputs, target 2021' "a header of a word and years"
fit wide.csv -o wide --header no
contains 'wide.csv: 61 rows' "the same with --header no"

# The index of a data frame.
{ echo ,x,y; rows 40 'x = uniform(); print i - 1 "," x "," 2 * x'; } >frame.csv
fit frame.csv -o frame
contains '^note: the first column has no name and counts the rows: it is no input$' "an index"
contains 'frame.csv: 40 rows, 1 input, target y' "an index is no input"
accepts "$MERCER" predict frame frame.csv -o frame.out
at_least 0.99 "rows with an index"
cut -d, -f2- frame.csv >no_index.csv
accepts "$MERCER" predict frame no_index.csv -o frame.out
at_least 0.99 "rows without the index"
# A header of one name less than the rows have fields: names of rows, or a refusal.
{ echo x,y; rows 40 'x = uniform(); print x "," 2 * x "," 3 * x'; } >shifted.csv
refuse "rows have 3 fields, the header 2 names" shifted.csv
{ echo id,price; rows 40 'printf "%d,$%d,%03d.00\n", i, 1 + i % 9, i'; } >prices.csv
refuse "prices.csv:2: rows have 3 fields, the header 2 names" prices.csv
for column in 1 'Unnamed: 0'; do
  fit frame.csv -o frame --ignore "$column"
  ! grep -q 'another whole number' out || complain "--ignore '$column' does not leave the index out"
done
sed 's/$/,/' frame.csv >trailing.csv
fit trailing.csv -o trailing --ignore 1
contains '40 rows, 1 input, target y' "lines that end in a comma"

# Blank lines and comments before the rows; numbers with a unit; words for missing numbers.
{ echo; echo '# measured in March'; echo 'a,y'; rows 40 'x = uniform(); print x "," 2 * x'; } >remarks.csv
fit remarks.csv -o remarks
contains 'remarks.csv: 40 rows, 1 input, target y' "blank lines and comments"
contains '^1 comment before the first row passed by$' "comments are told"
{ echo a,y; rows 40 'x = 5 + uniform(); print x " kg," 2 * x'; } >units.csv
refuse "units.csv:2:1: '[0-9.]* kg' in column 'a' is .*--ignore a leaves the column out" units.csv
{ echo a,y; rows 400 'x = 1 + i % 40; print x " kg," 2 * x'; } >units.csv
refuse "units.csv:2:1: '2 kg' in column 'a' is" units.csv
fit units.csv -o units --text a
contains '^input a: text in 40 columns of 0 and 1$' "--text of what is refused"
{ echo a,b,y; rows 200 'x = uniform(); z = uniform(); print (i % 40 == 1 ? "unknown" : x) "," z "," (i % 40 == 1 ? 3 : x) + z'; } >words.csv
refuse "words.csv:2:1: 'unknown' is not a number, but 195 of 200 rows hold numbers (--missing-word=unknown takes it as missing" words.csv
{ echo a,b,x,y; rows 200 'print i % 7 "," i % 3 "," uniform() "," i % 7 + uniform()'; } >codes.csv
fit --text a,b codes.csv -o codes
contains '^input a: text in 7 columns of 0 and 1$' "--text"
contains '^input b: text in 3 columns of 0 and 1$' "--text of two columns"
accepts "$MERCER" predict codes codes.csv -o codes.out
fit words.csv -o words --missing fill --missing-word unknown
contains '^note: 5 of 200 rows lack inputs (a: 5), filled$' "--missing-word"
accepts "$MERCER" score words words.csv
sed 's/unknown/-999/' words.csv >marks.csv
fit marks.csv -o marks --missing flag --missing-word=-999
contains '^note: 5 of 200 rows lack inputs (a: 5), filled$' "a number for what is missing"
accepts "$MERCER" predict marks marks.csv -o marks.out
contains '^note: 5 of 200 rows lack inputs (a: 5), filled$' "a number in a prediction"
{ echo a,b,y; rows 60 'print uniform() "," (i % 3 == 1 ? "-" : i) "," i'; } >dashes.csv
refuse "dashes.csv:2:2: '-' is not a number, but 40 of 60 rows hold numbers (--missing-word=- takes it as missing" dashes.csv
fit dashes.csv -o dashes --missing flag --missing-word=-
contains '^note: 20 of 60 rows lack inputs (b: 20), filled$' "many words, named"
printf 'Gr\374\337e;Umsatz;y\n1;2,50 \200;3\n2;3,50 \200;4\n' >latin.csv
refuse "latin.csv: 'Gr??e' is not UTF-8: save the file as UTF-8 (iconv" latin.csv
{ echo 'a;b;y'; tail -n 2 latin.csv; } >cells.csv
refuse "cells.csv: '2,50 ?' is not UTF-8: save the file as UTF-8" cells.csv
{ echo 'unknown,3,1'; rows 40 'print uniform() "," uniform() "," i'; } >first.csv
fit first.csv -o first
contains '^the first line was taken as names: --header no takes it as a row$' "names among numbers"

# Targets that rows are without.
awk -F, 'BEGIN { OFS = "," } NR > 1 && NR % 4 == 0 { $3 = "" } { print }' frame.csv >gaps.csv
accepts "$MERCER" predict frame gaps.csv -o gaps.out
contains '^test: R^2 [0-9.]* on 30 rows (10 without a target left out)$' "predict with gaps in the target"
[ "$(wc -l <gaps.out)" -eq 41 ] || complain "predictions of all rows: $(wc -l <gaps.out)"
accepts "$MERCER" score frame gaps.csv
contains '^rows  *30 (10 without a target left out)$' "score with gaps in the target"
fit gaps.csv -o first
contains '^targets: .* 10 of 40 missing$' "fit with gaps in the target"
accepts "$MERCER" compare gaps.csv --features 64
contains '^note: [0-9]* rows without all targets left out$' "compare of rows without a target"
{ echo x,y; echo 1,; echo 2,red; echo 3,blue; } >first.csv
fit first.csv -o first
contains '^targets: y 1 of 3 missing, which are left out$' "a row without a class"
awk -F, 'NR > 1 { $3 = "" } { print $1 "," $2 "," $3 }' gaps.csv >none.csv
refuses 'no row holds a target' "$MERCER" score frame none.csv

# Counts are no classes; many classes that nobody named are warned of.
poisson='p = exp(-2); n = 0; s = p; u = (1 + uniform()) / 2; while (u > s && n < 7) { n++; p *= 2 / n; s += p }'
{ echo x,y; rows 2000 "$poisson; print uniform() \",\" n"; } >counts.csv
fit counts.csv -o counts
contains '^task: regression.*thin out as counts do; --task classification' "counts"
{ echo x,y; rows 1000 'print uniform() "," i % 40'; } >forty.csv
fit forty.csv -o forty
contains '^warning: 40 whole numbers are taken as classes; if their order means something, --task regression$' "40 classes"
"$MERCER" fit forty.csv -o forty --features 64 --lengthscale 2 --lambda 1e-5 --quiet >out 2>err
grep -v '^honest score: ' out && complain "--quiet printed $(cat out)"
grep -q '^warning: 40 whole numbers' err || complain "--quiet hides a warning: $(cat err)"

# A column that is empty, a target that does not vary.
{ echo a,b,y; rows 30 'print uniform() ",," i'; } >hollow.csv
refuse "hollow.csv: column 'b' is empty in every row: --ignore b leaves it out" hollow.csv --missing fill
{ echo a,y; rows 30 'print uniform() ",5"'; } >constant.csv
fit constant.csv -o constant
contains '^warning: target y is 5 in every row$' "a constant target"
printf 'a,y\n1,2\n' >single.csv
refuse 'single.csv: the data has 1 row, expected at least 2$' single.csv
{ echo a,y; rows 30 'print uniform() ",cat"'; } >class.csv
awk 'BEGIN { print "x,y"; for (i = 0; i < 40; ++i) printf "%d,$%.1fk\n", i % 7, 20 + 3 * i % 50 / 10 }' >amounts.csv
refuse "amounts.csv: '\$20.0k' in the target, 'y', is a number, a date or a time in a form that is not read" amounts.csv
refuse 'class.csv: one class only (cat), expected at least two' class.csv

# What is no table at all.
printf '\xff\xfex\0,\0y\0\n\0' >wide.csv
refuse 'wide.csv: text in UTF-16.*UTF-8' wide.csv
printf 'x\0,\0y\0\n\0001\0,\0002\0\n\0' >wide.csv
refuse 'wide.csv: text in UTF-16.*UTF-8' wide.csv
printf '\0x\0,\0y\0\n\0001\0,\0002\0\n' >wide.csv
refuse 'wide.csv: text in UTF-16.*UTF-8' wide.csv
printf 'PK\3\4rest' >book.xlsx
refuse 'book.xlsx: a zip archive, as workbooks .xlsx are: export it as CSV' book.xlsx
printf 'PK\3\4..........................arr_0.npy' >rows.npz
refuse 'rows.npz: an .npz archive: save one array of it as .npy' rows.npz
printf '%% made by hand\n\n@RELATION iris\n@attribute a real\n' >rows.arff
refuse 'rows.arff: an ARFF file: export it as CSV' rows.arff
printf '%%%%MatrixMarket matrix coordinate real general\n' >rows.mtx
refuse 'rows.mtx: a MatrixMarket file: save it as libsvm or .npy' rows.mtx
printf 'PAR1rest' >rows.parquet
refuse 'rows.parquet: a Parquet file' rows.parquet
printf 'x,y\r1,2\r3,4\r' >mac.csv
refuse 'mac.csv:1: lines end in CR alone' mac.csv
refuse '/: Is a directory' /

# A header of numbers, as pandas writes for columns without names: the rows of a test file are as many as it has.
{ echo 0,1,2; rows 40 'a = uniform(); b = uniform(); printf "%.4f,%.4f,%.4f\n", a, b, a + b'; } >unnamed.csv
fit unnamed.csv -o unnamed
head -n 6 unnamed.csv >five.csv
accepts "$MERCER" predict unnamed five.csv -o five.out
[ "$(wc -l <five.out)" = 6 ] || complain "a header of numbers: $(wc -l <five.out) lines for 5 rows"
contains '^note: the first line was taken as names: --header no takes it as a row$' "a header of numbers"
# A header alone is no row: predictions of none.
head -n 1 five.csv | cut -d, -f1,2 | sed 's/.*/a,b/' >none.csv
{ echo a,b,y; tail -n +2 unnamed.csv; } >named.csv
fit named.csv -o named
accepts "$MERCER" predict named none.csv -o none.out --quiet
[ "$(cat none.out)" = y ] || complain "predictions of no row: $(cat none.out)"
# NA is a level of a column that --text names, and what is missing elsewhere.
{ echo land,x,y; rows 60 'printf "%s,%.4f,%d\n", i % 3 ? "NA" : "AT", uniform(), i % 3 ? 1 : 3 + i % 2'; } >lands.csv
fit lands.csv -o lands --text land
accepts "$MERCER" predict lands lands.csv -o lands.out --quiet
"$MERCER" info lands --json | tr -d ' \n' | grep -q '"levels":\["AT","NA"\]' || complain "NA is no level: $("$MERCER" info lands --json)"
refuses "'NA'; missing values are refused" "$MERCER" fit lands.csv -o result

# A limited address space: OpenBLAS asks for ever for a buffer that does not fit. Two threads, since each of its own takes 128 MiB when it is loaded.
{ echo a,b,y; rows 60 'x = uniform(); z = uniform(); print x "," z "," x * z'; } >few.csv
for limit in 300000 400000 800000; do
  (ulimit -v $limit && OPENBLAS_NUM_THREADS=2 timeout -s KILL 60 "$MERCER" fit few.csv -o limited --features 64 --lengthscale 2 --lambda 1e-5) >out 2>err
  status=$?
  [ $status -lt 100 ] || complain "ulimit -v $limit: status $status: $(cat err)"
  [ $status = 0 ] || grep -q 'OpenBLAS needs [0-9]* bytes of address space.* leaves [0-9]*' err || complain "ulimit -v $limit: $(cat err)"
done

# Targets that an input explains without noise: a lengthscale of the walk ran to 0, and the features were not finite.
"$MERCER" fit "$here/noiseless.csv" -o result --weights w --task regression --features 128 >out 2>err ||
  complain "targets without noise: $(cat err)"
finish
