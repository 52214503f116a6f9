# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Columns as data comes: text, missing fields, dates and ids, separators; how inputs are prepared. Usage: columns_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

fit() { accepts "$MERCER" fit "$@" --features 32; }

# The target depends on a text column, and only a little on numbers.
colours='split("red green blue", name, " "); a = uniform(); k = 1 + int(3 * (uniform() + 1) / 2.0001)
  print "r" i "," a "," name[k] "," (i % 100 == 7 ? "rare" : "usual") "," 3 * k + 0.1 * a'
{ echo id,x,colour,kind,y; rows 600 "$colours"; } >train.csv
{ echo id,x,colour,kind,y; rows 800 "$colours" | tail -n 200; } >test.csv
refuses "train.csv:2:1: 'r1' in column 'id' is one of 600 texts in 600 rows, nearly all distinct.*--ignore id leaves the column out" \
  "$MERCER" fit train.csv -o result
fit train.csv -o model --ignore id --test-fraction 0.2 --report report.html
grep -q '<th>inputs</th><td>3, with text as 6 numbers<' report.html || complain "report: $(grep -o 'inputs</th>.\{40\}' report.html)"
at_least 0.95 "text columns"
contains '^input colour: text in 3 columns of 0 and 1$' "levels"
contains '^input kind: text in 2 columns of 0 and 1$' "a rare level of 6 rows has a column"
accepts "$MERCER" predict model test.csv -o predicted.csv
at_least 0.95 "the same raw columns"
cut -d, -f2-4 test.csv >inputs.csv
accepts "$MERCER" predict model inputs.csv -o without.csv
cmp -s predicted.csv without.csv || complain "predictions depend on columns that were left out"
awk -F, 'BEGIN { OFS = "," } { print $4, $2, $3, $1 }' test.csv >moved.csv
accepts "$MERCER" predict model moved.csv -o moved.out
cmp -s predicted.csv moved.out || complain "text columns are not matched by name"

# Text that training did not hold: counted, told, and as if there were none.
sed 's/green/violet/' test.csv >unknown.csv
unknown=$(grep -c violet unknown.csv)
accepts "$MERCER" predict model unknown.csv -o unknown.out
sed -e 's/green/violet/;s/red/violet/' test.csv >most.csv
accepts "$MERCER" predict model most.csv -o most.out
contains "^warning: input colour: .* of 200 rows hold text that was rare or unknown" "most of them"
accepts "$MERCER" predict model unknown.csv -o unknown.out
contains "^note: input colour: $unknown of 200 rows hold text that was rare or unknown in training, taken as none of its levels: predictions extrapolate$" "unknown"
"$MERCER" predict model unknown.csv -o unknown.out --explain --json >out 2>err || complain "--explain --json: $(cat err)"
contains '"by_colour": ' "--explain in --json"
contains '"typical": ' "--explain in --json"
{ echo x,colour,kind; echo abc,red,usual; } >number.csv
refuses "number.csv:2:1: 'abc' is not a number" "$MERCER" predict model number.csv -o result
accepts "$MERCER" info model
contains 'inputs  *x, colour, kind$' "info: names"

# Rare levels share a column; unknown ones join them.
{ echo town,x,y; rows 400 't = i % 90; x = uniform(); print "t" t "," x "," (t % 2) + x'; } >towns.csv
refuses 'nearly all distinct' "$MERCER" fit <(head -n 41 towns.csv) -o result
{ echo town,x,y; rows 2000 't = i % 90; x = uniform(); print "t" t "," x "," (t < 30) + x'; } >many.csv
fit many.csv -o towns
contains '^input town: text in 65 columns of 0 and 1, rare levels in one$' "rare levels"
{ echo town,x; echo nowhere,0.5; } >new.csv
accepts "$MERCER" predict towns new.csv -o new.out
contains '1 of 1 rows hold text that was rare or unknown in training, taken together' "an unknown level joins the rare"

# Missing text is told as missing, and not as text unknown in training as well.
fit many.csv -o towns --missing flag
{ echo town,x; echo nowhere,0.5; echo ,0.5; echo t3,0.5; } >new.csv
accepts "$MERCER" predict towns new.csv -o new.out
contains '^note: 1 of 3 rows lack inputs (town: 1), filled$' "missing text"
contains '1 of 3 rows hold text that was rare or unknown' "missing text is no unknown level"

# Dates.
{ echo when,x,y; rows 300 'x = uniform(); printf "2024-%02d-%02d,%g,%g\n", 1 + i % 12, 1 + i % 28, x, x'; } >dates.csv
refuses "dates.csv:2:1: '2024-02-02' in column 'when' is .* a date .*--ignore when leaves the column out" "$MERCER" fit dates.csv -o result
fit dates.csv -o dates --ignore when --test-fraction 0.2
at_least 0.99 "without its dates"
sed 1d dates.csv >bare.csv
refuses "bare.csv:1:1: '2024-02-02' in column '1' is .*--ignore 1 leaves the column out" "$MERCER" fit bare.csv -o result
fit bare.csv -o bare --ignore 1
accepts "$MERCER" predict bare bare.csv -o bare.out
at_least 0.99 "without a header"
cut -d, -f2 bare.csv >one.csv
accepts "$MERCER" predict bare one.csv -o one.out
cmp -s bare.out one.out || complain "predictions of the inputs alone differ"
cut -d, -f1,2 bare.csv >two.csv
accepts "$MERCER" predict bare two.csv -o two.out
cmp -s bare.out two.out || complain "predictions without the target differ"
contains '^note: two.csv names no columns: those that training left out are taken to be there, and the target not$' "either column"
accepts "$MERCER" predict bare bare.csv -o two.out --ignore 1
cmp -s bare.out two.out || complain "--ignore of a column that the model leaves out anyway"
accepts "$MERCER" relevance dates dates.csv --ignore when
sed '1s/x,y/x,y,extra/; 2,$s/$/,5/' dates.csv >extra.csv
refuses "column 'extra' is neither .*--ignore extra leaves it out" "$MERCER" relevance dates extra.csv
accepts "$MERCER" relevance dates extra.csv --ignore extra
refuses "--ignore 'nothing'" "$MERCER" fit dates.csv -o result --ignore nothing
refuses '--ignore: column 3 is a target' "$MERCER" fit dates.csv -o result --ignore 3 --target y

# Separators are recognised by themselves, blanks and tabs among them.
for separator in ';' '\t' ' '; do
  sed "s/,/$separator/g" dates.csv >separated.csv
  fit separated.csv -o separated --ignore when
  accepts "$MERCER" predict separated separated.csv -o separated.out
  at_least 0.99 "separated by '$separator'"
done
sed 's/,/|/g' dates.csv >bars.csv
refuses 'bars.csv: 1 column, expected at least one input .*--delimiter' "$MERCER" fit bars.csv -o result
fit bars.csv -o bars --ignore when --delimiter '|'
accepts "$MERCER" predict bars bars.csv -o bars.out --delimiter '|'
at_least 0.99 "--delimiter"
refuses "--delimiter 'word'" "$MERCER" fit bars.csv -o result --delimiter word

# Missing fields: refused by place, or filled and flagged; here a missing x means a large y.
hole='x = uniform(); z = uniform(); print (i % 5 == 0 ? "NA" : x) "," (i % 9 == 0 ? "" : (z > 0 ? "up" : "down")) "," (i % 5 == 0 ? 4 : x) + (z > 0)'
{ echo x,z,y; rows 600 "$hole"; } >holes.csv
refuses "holes.csv:6:1: 'NA'; missing values are refused (a fit with --missing flag fills and flags them)" "$MERCER" fit holes.csv -o result
fit holes.csv -o holes --missing flag --test-fraction 0.2
at_least 0.85 "missing inputs"
contains '^input z: text in 3 columns of 0 and 1$' "missing text is a level"
accepts "$MERCER" predict holes holes.csv -o holes.out
at_least 0.85 "missing inputs in a prediction"
contains '^note: [0-9]* of 600 rows lack inputs (x: 120, z: 66), filled$' "missing inputs are counted"
{ echo x,z,y; echo ?,down,; } >target.csv
accepts "$MERCER" predict holes target.csv -o target.out
contains '^note: 1 of 1 rows lack inputs (x: 1), filled$' "one missing input"
contains '^no score: no row holds a target$' "no target"

# Preparation reaches the library, and the file.
skew='a = uniform(); b = uniform(); print exp(6 * a) "," b "," exp(3 * a + b)'
{ echo a,b,y; rows 500 "$skew"; } >skew.csv
fit skew.csv -o skewed --transform log --target-transform log --scale robust --test-fraction 0.2
at_least 0.98 "log of inputs and target"
accepts "$MERCER" info skewed
contains 'transform *log' "info: transform"
contains 'scale *robust' "info: scale"
accepts "$MERCER" predict skewed skew.csv -o skewed.out
at_least 0.98 "predictions of a transformed target"
fit skew.csv -o ranked --transform rank --target-transform rank --unit-rows --scale center
fit skew.csv -o raw --scale none
contains 'fitted: 500 rows' "--scale none"
refuses 'scale' "$MERCER" fit skew.csv -o result --scale huge
refuses 'does not go with' "$MERCER" fit skew.csv -o result --scale robust --no-standardize
# Relevance bears the names of the model's inputs: of levels, of what stands behind them.
levels='t = i % 3 == 0 ? "red" : (i % 3 == 1 ? "green" : "blue"); a = uniform(); b = uniform(); print t "," b "," a "," sin(9 * a)'
{ echo colour,noise,age,y; rows 400 "$levels"; } >levels.csv
fit levels.csv -o levels --report levels.json
contains '^shortness of lengthscales: age 1' "lengthscales behind a text column"
grep -q '"colour=blue"' levels.json || complain "names of levels in the report: $(head -c 300 levels.json)"

# A row's number says where it stood.
{ echo id,a,y; rows 60 'a = uniform(); print i "," a "," 2 * a'; } >counted.csv
fit counted.csv -o counted
contains '^warning: input id is another whole number in every row' "a column that counts the rows"
fit counted.csv -o uncounted --ignore id
! grep -q 'another whole number' out || complain "a warning of a column left out"

# A name that stands twice is all columns of it; a number is one.
{ echo a,b,a,y; rows 100 'print uniform() "," uniform() "," uniform() "," i / 100'; } >twice.csv
refuses "twice.csv:1:3: column name 'a' appears twice (--ignore 3 leaves this one out" "$MERCER" fit twice.csv -o result
fit twice.csv -o twice --ignore a
contains '100 rows, 1 input, target y' "--ignore of a name that stands twice"
accepts "$MERCER" predict twice twice.csv -o twice.out
fit twice.csv -o twice --ignore 3
contains '100 rows, 2 inputs, target y' "--ignore of one of two"
accepts "$MERCER" predict twice twice.csv -o twice.out --ignore 3

# Weights: a row of weight 0 says what it likes, and the column is no input.
weighed='a = uniform(); b = i % 3 == 0; print a "," (b ? 0 : 1 + i % 2) "," (b ? -9 * a : 9 * a)'
{ echo a,w,y; rows 300 "$weighed"; } >weighed.csv
fit weighed.csv -o weighed --weights w --test-fraction 0.3
at_least 0.99 "rows of weight 0 do not count in the test score"
contains '^honest score: R^2 \(0.99\|1.00\)' "nor in the honest score"
contains 'weighed.csv: 300 rows, 1 input,' "weights are no input"
accepts "$MERCER" predict weighed weighed.csv -o weighed.out
[ "$(score out | cut -c 1)" = - ] || complain "rows of weight 0 count in a score without weights: $(cat out)"
accepts "$MERCER" predict weighed weighed.csv -o weighed.out --weights w
contains '^test: R^2 \(0.99[0-9]*\|1.0*\) on 300 rows, by their weights$' "predict --weights"
accepts "$MERCER" score weighed weighed.csv --weights w
contains '^rows  *300, by their weights$' "score --weights"
contains '^R^2  *\(0.99\|1\)' "score --weights"
awk -F, 'BEGIN { OFS = "," } { print $3, ($2 == "w" ? "count" : $2), $1 }' weighed.csv >renamed.csv
accepts "$MERCER" score weighed renamed.csv --weights count
contains '^R^2  *\(0.99\|1\)' "score --weights of another name"
refuses "column 'count' is neither an input nor the target" "$MERCER" score weighed renamed.csv
refuses "--weights: column 'a' is one that the model was fitted on" "$MERCER" score weighed weighed.csv --weights a
refuses '--ignore: column 2 holds the weights' "$MERCER" score weighed weighed.csv --weights w --ignore w
refuses 'has weight -1\|weights\[' "$MERCER" score weighed <(sed 's/,1,/,-1,/' weighed.csv) --weights w
sed 1d weighed.csv >nameless.csv
fit nameless.csv -o nameless --weights 2
accepts "$MERCER" score nameless nameless.csv --weights 2
contains '^R^2  *\(0.99\|1\)' "score --weights without names"
cut -d, -f1,3 nameless.csv >unweighed.csv
accepts "$MERCER" predict nameless unweighed.csv -o unweighed.out
{ echo a,w,kind; rows 300 'a = uniform(); b = i % 3 == 0; print a "," (b ? 0 : 0.5) "," ((a > 0) == b ? "no" : "yes")'; } >votes.csv
fit votes.csv -o votes --weights w
accepts "$MERCER" score votes votes.csv --weights w
contains '^accuracy  *\(1\|0.9[5-9]\)' "accuracy by weights"
awk '/^confusion/ { on = 3 } on && NF == 3 { sum += $2 + $3 } END { exit !(sum == 100) }' out || complain "confusion by weights: $(cat out)"
accepts "$MERCER" cv weighed.csv --weights 2 --folds 3 --features 64
contains "^cv: R^2 \(0.99\|1.00\)" "cv of weighted rows"
refuses '--weights: column 3 is a target' "$MERCER" fit weighed.csv -o result --target y --weights y
refuses "--weights 'nosuch': no column" "$MERCER" fit weighed.csv -o result --weights nosuch
sed 's/,1,/,-1,/' weighed.csv >negative.csv
# Rows are told by the file, whatever a command shuffles.
negative=$(awk -F, '$2 == "-1" { print NR - 1; exit }' negative.csv)
for command in 'fit -o result' cv compare; do
  refuses "negative.csv: row $negative has weight -1 in column w, expected a finite number >= 0" "$MERCER" $command negative.csv --weights w
done
{ echo a,w,y; rows 30 'print uniform() ",0," uniform()'; } >nothing.csv
refuses 'nothing.csv: column w holds the weights, which are 0 in every row' "$MERCER" cv nothing.csv --weights w
# Folds and leave-one-out are of the rows that weigh something.
accepts "$MERCER" cv weighed.csv --weights w --folds loo --features 16 --lengthscale 2 --lambda 1e-6 --ard off --transform none
contains '^100 of 300 rows have weight 0 and are left out$' "rows of weight 0"
contains 'leave-one-out of 200 rows$' "leave-one-out of weighted rows"
# Nothing is settled by rows of weight 0: neither task, classes and levels, nor what is missing.
{ echo a,t,w,y; rows 90 'b = i % 3 == 0; print uniform() "," (b ? "rare" i % 2 : i % 2 ? "left" : "right") "," (b ? 0 : 1) "," (b ? 0.5 : i % 2)'; } >odd.csv
fit odd.csv -o odd --weights w
contains '^task: classification, 2 classes' "a target of rows of weight 0"
contains '^input t: text in 2 columns of 0 and 1$' "levels of rows of weight 0"
contains '^odd.csv: 90 rows, 2 inputs' "rows of the file"
awk -F, 'BEGIN { OFS = "," } NR > 1 { $4 = $3 == 0 ? "never" : $4 ? "yes" : "no" } { print }' odd.csv >never.csv
fit never.csv -o odd --weights w
contains '^task: classification, 2 classes' "a class of rows of weight 0"
awk -F, 'BEGIN { OFS = "," } NR > 1 && $3 == 0 { $1 = "" } { print }' odd.csv >lacking.csv
fit lacking.csv -o odd --weights w --missing flag
! grep -q 'lack inputs' out || complain "rows of weight 0 lack inputs: $(cat out)"
awk -F, 'BEGIN { OFS = "," } NR > 1 && $3 == 1 { $1 = "" } { print }' odd.csv >lacking.csv
refuses "column 'a' is empty in every row" "$MERCER" fit lacking.csv -o result --weights w --missing fill
# Rows are told by the file: 50 of weight 0 stand before.
{ echo a,w,y; rows 200 'print (i == 100 ? -1 : 1 + uniform()) "," (i > 50) "," uniform()'; } >outside.csv
refuses "outside.csv: row 100, column 'a' is -1, expected" "$MERCER" compare outside.csv --weights w --kernel additive_chi2
refuses "outside.csv: row 100, column 'a' is -1" "$MERCER" fit outside.csv -o result --weights w --kernel additive_chi2
refuses "outside.csv: row 100, column 'a' is -1" "$MERCER" fit outside.csv -o result --ignore w --test-fraction 0.01 --kernel additive_chi2
{ echo a,w,y; rows 200 'print uniform() "," (i > 50) "," (i == 100 ? 0.5 : i % 2)'; } >half.csv
refuses 'the target of row 100 is 0.5, expected whole numbers' "$MERCER" fit half.csv -o result --weights w --task classification
# A fold whose target does not vary has no R^2: it is told and left out, where two remain.
{ echo a,y; rows 40 'a = uniform(); print a "," (i > 30 && i < 34 ? a : 0)'; } >flat.csv
"$MERCER" cv flat.csv --folds 20 --features 16 --lengthscale 2 --lambda 1e-3 --seed 1 >out 2>err || complain "cv of a flat target: $(cat err)"
contains '^warning: the target does not vary within 1[78] folds, which have no R^2 and do not count$' "cv of a flat target"
contains '^cv: R^2 -*[0-9.e+]*, standard error [0-9.e+]*, [23] folds$' "cv of a flat target"
{ echo a,y; rows 40 'print uniform() "," 3'; } >flat.csv
refuses 'the target does not vary within 5 folds of 5.*--folds loo' "$MERCER" cv flat.csv --features 16
printf '1 1:2\n0 1:3\n' >two.svm
refuses '--weights: two.svm is a libsvm file' "$MERCER" fit two.svm -o result --weights 1
refuses '--text: two.svm is no CSV' "$MERCER" fit two.svm -o result --text 1
refuses '--missing-word: two.svm is no CSV' "$MERCER" fit two.svm -o result --missing-word=-1
refuses '--missing-word: two.svm is no CSV' "$MERCER" predict weighed two.svm -o result --missing-word=-1
refuses '--weights: two.svm is a libsvm file' "$MERCER" score weighed two.svm --weights 1
refuses '--class-weight balanced: the task is a regression' "$MERCER" fit weighed.csv -o result --class-weight balanced
fit levels.csv -o levels --ard off
! grep -q 'shortness of lengthscales' out || complain "--ard off"
refuses 'ard = on' "$MERCER" fit weighed.csv -o result --weights w --ard on

# Rows of people, whose targets are their own: of new people nothing is known.
people='p = i % 24; a = sin(37 * p * p); b = cos(91 * p * p * p)
  print "p" p "," a + 0.02 * uniform() "," b + 0.02 * uniform() "," sin(53 * p * p + p)'
{ echo who,a,b,y; rows 360 "$people"; } >people.csv
fit people.csv -o model --ignore who --ard off
contains '^honest score: R^2 0.9' "rows of people who were seen"
fit people.csv -o model --groups who --ard off --test-fraction 0.25
contains '^honest score: R^2 -\{0,1\}[0-9.]* +- [0-9.]* (270 rows of 18 groups, each by a search' "groups are assessed"
contains '^test: R^2 -\{0,1\}[0-9.]* on 90 held-out rows of 6 groups that the fit has not seen$' "groups are held out"
accepts "$MERCER" predict model people.csv -o with.csv
cut -d, -f2-3 people.csv >inputs.csv
accepts "$MERCER" predict model inputs.csv -o without.csv
cmp -s with.csv without.csv || complain "the groups are an input"
accepts "$MERCER" cv people.csv --groups who --ard off --features 32 --folds 4
contains '^fold 4: R^2 -\{0,1\}[0-9.]* on 90 rows' "folds of groups"
accepts "$MERCER" cv people.csv --ordered --ignore who --ard off --features 32 --folds 3
contains '^fold 3: R^2 -\{0,1\}[0-9.]* on 60 rows' "folds in time"
accepts "$MERCER" fit people.csv --ordered --ignore who -o model --ard off --features 32 --test-fraction 0.1
contains '^test: R^2 -\{0,1\}[0-9.]* on 36 held-out rows, the last$' "the last rows are held out"
refuses "does not go with" "$MERCER" fit people.csv --ordered --groups who -o result
refuses "--groups: column 4 is a target" "$MERCER" fit people.csv --groups y --target y -o result
refuses "--folds loo: does not go with --ordered" "$MERCER" cv people.csv --ordered --folds loo
sed '5s/^p[0-9]*,/,/' people.csv >gap.csv
refuses "row 4 has no group" "$MERCER" fit gap.csv --groups who -o result


# Another loss than squares, in fit, cv, predict and score.
skewed='a = uniform(); b = uniform(); u = uniform()
  print a "," b "," sin(2 * a) + (1.2 + b) * u * u * u'
{ echo a,b,y; rows 500 "$skewed"; } >skewed.csv
fit skewed.csv -o model --loss quantile --tau 0.9 --ard off --test-fraction 0.2
contains '^honest score: explained pinball loss 0.[0-9]* +- [0-9.]* (400 rows' "the score is the loss's"
contains '^test: explained pinball loss 0.[0-9]* on 100 held-out rows$' "the test's, too"
accepts "$MERCER" predict model skewed.csv -o predicted.csv
contains '^test: explained pinball loss 0.[0-9]* on 500 rows$' "predict"
accepts "$MERCER" score model skewed.csv
contains '^explained pinball loss 0' "score"
accepts "$MERCER" cv skewed.csv --loss huber --ard off --features 64 --folds 3
contains '^cv: explained absolute error 0' "cv"
{ echo a,b,y; rows 400 'a = uniform(); b = uniform(); print a "," b "," int(exp(1 + a) + 0.5 * b + 0.5)'; } >counts.csv
fit counts.csv -o model --loss poisson --ard off
contains '^honest score: explained deviance 0' "counts"
accepts "$MERCER" predict model counts.csv -o predicted.csv
awk -F, 'NR > 1 { sum += $1 } END { exit !(sum / (NR - 1) > 2 && sum / (NR - 1) < 5) }' predicted.csv || complain "counts are not predicted by their means"
refuses "--tau: is of --loss quantile" "$MERCER" fit skewed.csv --tau 0.5 -o result
refuses "--delta: is of --loss huber" "$MERCER" fit skewed.csv --loss quantile --delta 0.5 -o result
refuses "does not go with" "$MERCER" fit skewed.csv --loss huber --estimator ridge -o result
refuses "--loss huber: is of a regression" "$MERCER" fit skewed.csv --loss huber --task classification -o result
refuses "counts" "$MERCER" fit skewed.csv --loss poisson -o result
refuses "--folds loo: does not go with --loss huber" "$MERCER" cv skewed.csv --loss huber --folds loo
# Which column is the target where more than one could be.
{ echo x,y,z,price; rows 200 'a = uniform(); b = uniform(); print a "," b "," uniform() "," a * b'; } >places.csv
fit places.csv -o model
contains '^places.csv: .* target price ' "y beside x and z"
contains '^note: the target is price, the last column; y, beside x and z, is an input: --target y takes it$' "y beside x and z"
fit places.csv -o model --target y
contains '^places.csv: .* target y ' "--target y"

# Forms of numbers, dates, codes, lines above the header, rows without a class, classes that differ in case.
{ echo 'Report 2024'; echo; echo 'zip;price;rate;eu;when;kind'; rows 300 'p = 3000 * (1 + uniform()); k = (p > 3000); t = (p > 1000 ? int(p / 1000) : "")
  kind = (i % 10 == 0 ? "" : k ? "yes" : i % 3 == 0 ? "Yes" : "no"); r = p % 1000
  printf "0%d;$%s%03d.25;%.1f%%;%s%03d,50;2024-%02d-%02d;%s\n", 2134 + i % 3, (t "" ? t "," : ""), r, 9 * k + uniform(), (t "" ? t "." : ""), r, 1 + i % 12, 1 + i % 28, kind'; } >forms.csv
refuses 'forms.csv:3: .* expected 2 as in the first line (--skip N passes N lines above by)' "$MERCER" fit forms.csv -o result
fit forms.csv -o model --skip 2 --dates when
contains '^targets: kind 30 of 300 missing, which are left out$' "rows without a class"
contains '^note: classes that differ in case alone are kept apart: Yes, yes$' "classes by case"
contains '^column price holds numbers as \$.*, read as [0-9.]*$' "a currency"
contains '^column zip holds codes' "leading zeros"
contains '^input zip: text in 3 columns of 0 and 1$' "leading zeros"
accepts "$MERCER" predict model forms.csv --skip 2 -o forms.out
contains '^test: accuracy .* on 270 rows (30 without a target left out)$' "forms of the fit"
at_least 0.6 "forms of the fit"
refuses "'2024-02-02' in column 'when' is .*--dates when reads dates and times" "$MERCER" fit forms.csv -o result --skip 2
sed 's/\(;[0-9.]*\)%/\1/' forms.csv >fractions.csv
refuses "fractions.csv:.*is not of the form of the column in training, 12.5%" "$MERCER" predict model fractions.csv --skip 2 -o result
{ echo '<!DOCTYPE html>'; echo '<p>no rows</p>'; } >page.csv
refuses 'page.csv: a web page or XML: ' "$MERCER" fit page.csv -o result
refuses '--interval is no option of fit, but of mercer predict' "$MERCER" fit forms.csv -o result --interval 0.9
accepts "$MERCER" specs rbf
contains '^  gaussian - ' "specs rbf"

finish
