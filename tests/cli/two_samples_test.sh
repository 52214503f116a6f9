# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Tests of two files of rows: what they say, and what they refuse. Usage: two_samples_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

p_value() { sed -n 's/^p-value: \([0-9.e-]*\), by .*/\1/p' out; }
below() { awk -v p="$(p_value)" -v most="$1" 'BEGIN { exit !(p != "" && p <= most) }' || complain "$2: $(cat out)"; }
above() { awk -v p="$(p_value)" -v least="$1" 'BEGIN { exit !(p != "" && p >= least) }' || complain "$2: $(cat out)"; }

{ echo a,b; rows 400 'print uniform() "," uniform()'; } >old.csv
# The last 50 rows lie elsewhere; columns are in another order.
{ echo b,a; rows 300 'far = i > 250 ? 2 : 0; print uniform() "," uniform() + far'; } >new.csv
accepts "$MERCER" mmd old.csv new.csv --report page.html
contains '^old.csv: 400 rows, 2 columns$' "mmd: rows"
contains '^p-value: [0-9.]*, by 500 permutations$' "mmd: permutations"
contains '^kernels: 10$' "mmd: kernels"
contains '^features: 256$' "mmd: features"
contains '^effect: 0\.' "mmd: effect"
sed -n 's/^rows of new.csv least like .*: //p' out | awk -F', ' '{ for (k = 1; k <= 5; k++) if ($k <= 250) exit 1 } END { exit !(NF == 5) }' ||
  complain "mmd: the rows that differ most: $(cat out)"
below 0.01 "mmd of two laws"
for part in '<svg' 'where the files differ' '<th>p-value</th>' 'witness'; do
  grep -q -e "$part" page.html || complain "no $part in page.html"
done
grep -q -e 'src=' -e '<script' -e 'nan' page.html && complain "page.html needs other files"

# More rows than an answer of a megabyte names; other names than .html are JSON of all of them.
{ echo a; rows 25000 'print uniform()'; } >many.csv
cut -d, -f2 new.csv >few.csv
accepts "$MERCER" mmd many.csv few.csv -D 2 --permutations 0 --report many.json
[ "$(tr -d ' \n' <many.json | sed 's/.*"x_rows":\[\([^]]*\)\].*/\1/' | tr ',' '\n' | wc -l)" -ge 24999 ] || complain "many.json: rows"
accepts "$MERCER" mmd many.csv few.csv -D 2 --permutations 0 --report many.html
grep -q 'Drawn are 25000 of the 25000 rows of many.csv and 300 of the 300 rows of few.csv' many.html || complain "many.html: rows drawn"

# By name, not by place: the same rows in another order of columns are the same rows.
awk -F, '{ print $2 "," $1 }' old.csv >turned.csv
accepts "$MERCER" mmd old.csv turned.csv
above 0.5 "mmd of the same rows"
contains '^effect: -' "mmd of the same rows is negative"
"$MERCER" mmd old.csv new.csv --json -D 64 --permutations 99 --seed 3 >out 2>err || complain "mmd --json: $(cat err)"
/usr/bin/env awk '/"p_value": 0.01,?$/ { p = 1 } /"features": 64,/ { D = 1 } /"rows": 300,/ { n = 1 } /"x_rows": / { w = 1 }
  END { exit !(p && D && n && w) }' out || complain "mmd --json: $(cat out)"
gzip -c new.csv >packed
accepts "$MERCER" mmd old.csv packed --permutations 0 --quiet
contains ', by the gamma limit$' "mmd: --permutations 0"
[ "$(head -n 1 out | cut -d: -f1)" = p-value ] || complain "mmd --quiet: $(cat out)"

# Block by block, columns in another order: 90,000 rows of three blocks and 60,000 of two. The bandwidths are those of a sample, so that
# the answer is near to that of all rows at once, and the same again.
{ echo a,b; rows 90000 'printf "%.9f,%.9f\n", uniform(), uniform()'; } >long.csv
{ echo b,a; rows 150000 'if (i > 90000) printf "%.9f,%.9f\n", uniform(), uniform() + .03; else uniform() uniform()'; } >far.csv
{ echo b,a; rows 150000 'if (i > 90000) printf "%.9f,%.9f\n", uniform(), uniform(); else uniform() uniform()'; } >same.csv
mmd2() { sed -n 's/^mmd2: \([-0-9.e]*\) +- .*/\1/p' "$1"; }
accepts "$MERCER" mmd long.csv far.csv -D 32 --stream
contains '^long.csv: 90000 rows, 2 columns$' "mmd --stream: rows"
contains '^far.csv: 60000 rows, 2 columns$' "mmd --stream: rows"
below 0.01 "mmd --stream of two laws"
cp out streamed
accepts "$MERCER" mmd long.csv far.csv -D 32 --stream
cmp -s streamed out || complain "mmd --stream says another thing the second time"
accepts "$MERCER" mmd long.csv far.csv -D 32
awk -v a="$(mmd2 streamed)" -v b="$(mmd2 out)" 'BEGIN { exit !(b > 0 && a > .9 * b && a < 1.1 * b) }' ||
  complain "mmd2 $(mmd2 streamed) of blocks, $(mmd2 out) of all rows"
accepts "$MERCER" mmd long.csv same.csv -D 32 --stream
above 0.01 "mmd --stream of one law"  # one of a hundred such laws of seeds fails: this one was tried
accepts "$MERCER" kid long.csv far.csv --stream
below 0.01 "kid --stream of two laws"
{ echo a,b; echo 1,2; echo 3,red; echo 4,blue; } >text.csv
refuses '--stream: .*text' "$MERCER" mmd long.csv text.csv --stream
{ echo a; echo 1; echo 2; } >lone.csv
refuses 'lone.csv: columns that only long.csv has: b' "$MERCER" mmd long.csv lone.csv --stream
refuses 'stream' "$MERCER" hsic long.csv far.csv --stream
printf 'a,b\n1,2\n1e300,3\n' >huge.csv
refuses 'kid: huge.csv: row 2, column .a. is 1e.300' "$MERCER" kid long.csv huge.csv --stream
refuses 'read more than once' "$MERCER" mmd - long.csv --stream <far.csv

accepts "$MERCER" kid old.csv new.csv
contains '^kid: [0-9.]* +- [0-9.]*$' "kid"
contains '^features: exact$' "kid: all monomials of two columns"
below 0.01 "kid of two laws"

# y depends on x, the third column does not; labels may be text.
{ echo x; rows 300 'print uniform()'; } >x.csv
tail -n +2 x.csv | awk 'BEGIN { print "y" } { print $1 * $1 }' >y.csv
tail -n +2 x.csv | awk 'BEGIN { print "word" } { print ($1 > 0.5 ? "high" : "low") }' >words.csv
{ echo x; rows 600 'print uniform()' | tail -n 300; } >free.csv
accepts "$MERCER" hsic x.csv y.csv
contains '^kernels: 3$' "hsic: kernels"
below 0.01 "hsic of what depends"
accepts "$MERCER" hsic x.csv words.csv --labels
below 0.01 "hsic of labels"
accepts "$MERCER" hsic x.csv free.csv --permutations 0
above 0.001 "hsic of what does not depend"

# Sparse rows: columns are those of the wider file.
printf '0 1:1 3:2\n0 2:1\n1 1:2\n' >few.svm
printf '0 1:1\n0 2:1 4:1\n' >wide.svm
accepts "$MERCER" mmd few.svm wide.svm
contains '^few.svm: 3 rows, 4 columns$' "libsvm"

# Limits: one row, constant columns.
{ echo a,b; echo 0.5,0.5; } >one.csv
accepts "$MERCER" mmd old.csv one.csv
contains '^mmd2: [-0-9.e]* +- not defined$' "one row has no standard error"
{ echo a,b; rows 50 'print "1,2"'; } >same.csv
accepts "$MERCER" mmd same.csv same.csv
above 1 "constant columns"
accepts "$MERCER" hsic same.csv same.csv
above 1 "constant columns depend on nothing"

# In words: whether files differ, and in which columns.
accepts "$MERCER" mmd old.csv new.csv
contains '^at the level .05: the files differ; columns by the distance of their distributions, from 0 to 1: a 0\.[0-9]*$' "the column that differs alone"
accepts "$MERCER" mmd old.csv turned.csv
contains '^at the level .05: no difference is seen$' "the same rows"
# Each column by itself is distributed alike.
{ echo a,b; rows 400 'x = uniform(); print x "," x'; } >joined.csv
accepts "$MERCER" mmd old.csv joined.csv
contains '^at the level .05: the files differ, in no column by itself$' "dependence alone"
accepts "$MERCER" hsic x.csv y.csv
contains '^at the level .05: the files depend on each other$' "hsic in words"

# Text columns are taken as fits take them; levels are those of both files.
texts() { echo colour,a; rows 300 'print (uniform() > '"$1"' ? "red" : i % 3 ? "blue" : "'"$2"'") "," uniform()'; }
texts 0 green >first.csv
texts 0 green | awk 'NR == 1 || NR % 2' >second.csv
texts 0.8 pink >third.csv
accepts "$MERCER" mmd first.csv second.csv
contains '^first.csv: 300 rows, 4 columns$' "levels as columns"
above 0.05 "the same law of texts"
accepts "$MERCER" mmd first.csv third.csv
contains '^third.csv: 300 rows, 5 columns$' "levels of both files"
contains 'the files differ; .*colour=red 0\.[34]' "the level that differs"
accepts "$MERCER" hsic x.csv words.csv
below 0.01 "hsic of text"
accepts "$MERCER" transform first.csv -D 8 -o first.npy
refuses "--write-map: first.csv has text, column colour" "$MERCER" transform first.csv -D 8 -o result --write-map result.map
sed 's/red\|blue\|green/1/' first.csv >coded.csv
refuses "first.csv: columns of text and of numbers differ from those of coded.csv" "$MERCER" mmd coded.csv first.csv
refuses "coded.csv: columns of text and of numbers differ from those of first.csv" "$MERCER" mmd first.csv coded.csv
# Levels of few rows tell files apart, too.
{ echo c; rows 60 'print "a" int(i / 3)'; } >rare_a.csv
{ echo c; rows 60 'print "b" int(i / 3)'; } >rare_b.csv
accepts "$MERCER" mmd rare_a.csv rare_b.csv
below 0.01 "mmd of levels of three rows"
accepts "$MERCER" hsic rare_a.csv rare_b.csv
below 0.01 "hsic of levels of three rows"

# Refusals.
awk -F, '{ print $1 }' old.csv >narrow.csv
refuses 'narrow.csv: columns that only old.csv has: b; only narrow.csv: none (--ignore' "$MERCER" mmd old.csv narrow.csv
tail -n +2 narrow.csv >bare.csv
refuses 'bare.csv: 1 column, expected 2 as in old.csv' "$MERCER" mmd old.csv bare.csv
refuses 'new.csv: 300 rows, expected 400 as in old.csv' "$MERCER" hsic old.csv new.csv
sed 's/^b,a/b,c/' new.csv >named.csv
refuses 'columns that only old.csv has: a; only named.csv: c' "$MERCER" mmd old.csv named.csv
accepts "$MERCER" mmd old.csv named.csv --ignore a,c
contains '^named.csv: 300 rows, 1 column$' "--ignore of columns that only one file has"
refuses "--ignore 'd': no column of that name; named.csv has b, c, old.csv b" "$MERCER" mmd old.csv named.csv --ignore d,a
sed '3s/,.*/,NaN/' new.csv >lacking.csv
refuses 'lacking.csv:3:2: .NaN.; missing values are refused' "$MERCER" mmd old.csv lacking.csv
refuses 'lacking.csv.*(take those rows out)' "$MERCER" mmd old.csv lacking.csv
sed '2s/.*/1e300,1/' new.csv >huge.csv
refuses "mmd: huge.csv: row 1, column 'b' is 1e+300" "$MERCER" mmd old.csv huge.csv
"$MERCER" transform x.csv -D 2 --write-map map.mercer >out 2>err || complain "transform: $(cat err)"
refuses 'map.mercer: a model, or what else mercer writes' "$MERCER" mmd map.mercer old.csv
refuses 'absent.csv: No such file' "$MERCER" kid old.csv absent.csv
refuses 'both files are standard input' "$MERCER" mmd - -
refuses 'page.html: is the input too' "$MERCER" mmd page.html old.csv --report page.html
refuses '--permutations: expected a whole number from 0 to 100000' "$MERCER" mmd old.csv new.csv --permutations -1
refuses '--labels is no option of mmd' "$MERCER" mmd old.csv new.csv --labels
finish
