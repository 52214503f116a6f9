# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The command's happy paths on small generated files. Usage: command_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

smooth='a = uniform(); b = uniform(); print a "," b "," sin(3 * a) + b * b'
{ echo x1,x2,y; rows 800 "$smooth"; } >train.csv
rows 1000 "$smooth" | tail -n 200 >tail
{ echo x1,x2,y; cat tail; } >test.csv
gzip -c train.csv >packed

accepts "$MERCER" --version
contains '^mercer [0-9]' version
accepts "$MERCER" --help
contains compare help
accepts "$MERCER" fit --help
contains test-fraction "help of fit"

# Regression: a smooth function of two inputs without noise is learnt almost exactly.
accepts "$MERCER" fit train.csv -o model --features 256 --test-fraction 0.2 --seed 3
at_least 0.99 "regression"
contains '^task: regression' fit
contains '^ *coarse' "table of the search"
contains '^fitted: 640 rows, kernel [a-z]*, 256 features' fit
contains '^honest score: R^2 \(1\.0000\|0\.9999\).* (640 rows, each by a search that had not seen it)$' "honest score of few rows"
contains '^on the same rows: mean -\?0\.0[0-9]*, linear ridge 0\.' "baselines"
grep -q '^warning' out && complain "a good fit was warned of: $(cat out)"
cp out first
accepts "$MERCER" fit packed -o again --features 256 --test-fraction 0.2 --seed 3
[ "$(score first)" = "$(score out)" ] || complain "the same seed gave $(score first) and $(score out)"
cmp -s model again || complain "the same data and seed gave different model files"

accepts "$MERCER" predict model test.csv -o predicted.csv
at_least 0.99 "prediction"
[ "$(head -n 1 predicted.csv)" = y ] || complain "header '$(head -n 1 predicted.csv)', expected y"
[ "$(wc -l <predicted.csv)" -eq 201 ] || complain "$(wc -l <predicted.csv) lines of predictions, expected 201"
cut -d, -f2,1 test.csv >inputs.csv
accepts "$MERCER" predict model inputs.csv -o without.csv
cmp -s predicted.csv without.csv || complain "predictions depend on the target column"
[ -z "$(score out)" ] || complain "a score without a target"
awk -F, '{ print $2 "," $3 "," $1 }' test.csv >moved.csv
accepts "$MERCER" predict model moved.csv -o moved-out.csv
cmp -s predicted.csv moved-out.csv || complain "columns are not matched by name"

# Rows outside the training range are clipped, told with the names of their inputs, and counted.
{ echo x2,x1; echo 0.1,0.2; echo 0.1,50; echo -7,50; } >far.csv
accepts "$MERCER" predict model far.csv -o far.out
contains '^note: 2 of 3 rows lie outside the training range (inputs: x1, x2), clipped$' "rows outside"
{ echo x2,x1; echo 0.1,60; } >farther.csv
"$MERCER" predict model farther.csv -o farther.out --quiet >out 2>err || complain "predict --quiet: $(cat err)"
[ ! -s out ] || complain "--quiet printed: $(cat out)"
grep -q '^note: 1 of 1 rows lie outside' err || complain "--quiet hides what was clipped: $(cat err)"
awk -v a="$(sed -n 3p far.out)" -v b="$(sed -n 2p farther.out)" 'BEGIN { exit !(a - b < 1e-5 && b - a < 1e-5) }' ||
  complain "50 and 60 are not clipped alike: $(sed -n 3p far.out), $(sed -n 2p farther.out)"
accepts "$MERCER" predict model far.csv -o free.out --extrapolation free
contains 'outside the training range (inputs: x1, x2), taken as they are$' "--extrapolation free"
cmp -s far.out free.out && complain "--extrapolation free changed nothing"
refuses "far.csv: row 2, column 'x1' is 50, outside" "$MERCER" predict model far.csv -o result --extrapolation refuse
accepts "$MERCER" fit train.csv -o careful --features 64 --lengthscale 1 --lambda 1e-3 --extrapolation refuse
refuses 'extrapolation is refused' "$MERCER" predict careful far.csv -o result
accepts "$MERCER" predict careful far.csv -o result.csv --extrapolation clip

"$MERCER" predict model - -o - <inputs.csv >piped.csv 2>err || complain "predict from and to a pipe: $(cat err)"
cmp -s predicted.csv piped.csv || complain "predictions through a pipe differ"
"$MERCER" predict model test.csv >plain.csv 2>err || complain "predict without -o: $(cat err)"
cmp -s predicted.csv plain.csv || complain "predictions without -o differ"
"$MERCER" fit - -o - --features 64 --quiet <train.csv >piped.model 2>err || complain "fit from and to a pipe: $(cat err)"
grep -v '^honest score: R^2 ' err && complain "fit --quiet wrote: $(cat err)"
[ "$(wc -l <err)" -eq 1 ] || complain "fit --quiet to standard output: no score in: $(cat err)"
accepts "$MERCER" info piped.model
contains gaussian info
contains x1 "info: names of columns"
contains '"stage":"final"' "info: trials"
accepts "$MERCER" fit train.csv -o fixed --features 128 --lengthscale 0.8 --lambda 1e-7 --test-fraction 0.2
contains 'lengthscale 0.8, lambda 1e-07' "given numbers"
accepts "$MERCER" fit train.csv -o ard --features 128 --test-fraction 0.2 \
  --kernel '{"kernel":"matern","nu":2.5,"lengthscale":[0.8,1.5]}'
at_least 0.9 "one lengthscale per input"
accepts "$MERCER" fit train.csv -o threads --features 64 --threads 1 --quiet --kernel matern --map fourier
contains '^honest score: R^2 \(0\.9\|1\.\)' "fit --quiet"
[ "$(wc -l <out)" -eq 1 ] || complain "fit --quiet printed: $(cat out)"
"$MERCER" score threads test.csv --quiet >out 2>err || complain "score --quiet: $(cat err)"
grep -v -e '^R^2 ' -e '^RMSE ' -e '^MAE ' out && complain "score --quiet printed: $(cat out)"

# Several outputs.
rows 600 'a = uniform(); b = uniform(); print a "," b "," a * b "," a - b' >two
{ echo x1,x2,y1,y2; cat two; } >two.csv
accepts "$MERCER" fit two.csv -o two.model --features 256 --test-fraction 0.2
at_least 0.99 "two outputs"
accepts "$MERCER" predict two.model two.csv -o two.out
[ "$(head -n 1 two.out)" = y1,y2 ] || complain "header of two outputs: $(head -n 1 two.out)"
accepts "$MERCER" score two.model two.csv
contains '^R^2 of y1 ' "score of several targets: the first"
contains '^R^2 of y2 ' "score of several targets: the second"
accepts "$MERCER" fit two.csv -o other.model --features 128 --target x1 --test-fraction 0.2
contains 'target x1' "--target"

# A product of two inputs is in the span of a sketch of degree 2; its kernel is the map's default, or one that is given.
accepts "$MERCER" fit two.csv -o sketch.model --features 64 --test-fraction 0.2 --map tensor_srht \
  --kernel '{"kernel":"polynomial","offset":1}'
at_least 0.999 "a polynomial sketch"
accepts "$MERCER" fit two.csv -o sketch.model --features 64 --test-fraction 0.2 --target y1 --map hierarchical_sketch
contains 'kernel polynomial, 64 features of map hierarchical_sketch, lengthscale -' "default kernel of a sketch"
at_least 0.9 "a hierarchical sketch"
accepts "$MERCER" fit two.csv -o sum.model --features 128 --test-fraction 0.2 \
  --kernel '{"kernel":"sum","parts":[{"kernel":"gaussian"},{"kernel":"polynomial","offset":1}]}'
at_least 0.999 "a sum of kernels"
contains 'lengthscale per part' "lengthscales of parts"
accepts "$MERCER" compare two.csv --features 64 \
  --kernel '{"kernel":"product","parts":[{"kernel":"gaussian"},{"kernel":"polynomial","offset":1}]}'
contains 'lengthscale per part' "compare: lengthscales of parts"
accepts "$MERCER" compare two.csv --features 64 --map '{"map":"craft","base":{"map":"product_sketch"}}' --lambda 1e-6
contains 'kernel polynomial' "compare with a sketch"

# A linear map keeps inner products: its default kernel is their polynomial, and a sum of inputs is in its span.
{ echo x1,x2,x3,y; rows 400 'a = uniform(); b = uniform(); c = uniform(); print a "," b "," c "," 2 * a - b + c'; } >sum.csv
accepts "$MERCER" fit sum.csv -o linear.model --features 64 --test-fraction 0.2 --map linear
contains 'kernel polynomial, 64 features of map linear, lengthscale -' "default kernel of a linear map"
at_least 0.9999 "a linear map"
accepts "$MERCER" predict linear.model sum.csv -o linear.out
at_least 0.9999 "a linear map again"
accepts "$MERCER" fit sum.csv -o sparse.model --features 64 --test-fraction 0.2 --seed 18446744073709551615 \
  --map '{"map":"linear","projection":"countsketch"}'
at_least 0.9 "a linear map by countsketch"
accepts "$MERCER" compare sum.csv --features 64 --map linear
contains 'kernel polynomial, lengthscale -' "compare with a linear map"
accepts "$MERCER" fit two.csv -o few.model --map nystroem --features 9999 --lengthscale 2 --lambda 1e-6
contains 'the map takes a training row for each feature: [0-9]* features, not 9999' "more landmarks than rows"
accepts "$MERCER" compare two.csv --features 64,9999 --map nystroem --lambda 1e-6
contains 'note: left out 9999 features' "compare with more landmarks than rows"
contains '^random features  *64 ' "compare with a map made from data"
# The inputs decide how many features this one has.
{ echo a,b,y; rows 300 'a = uniform() + 1; b = uniform() + 1; print a "," b "," a * b'; } >positive.csv
accepts "$MERCER" fit positive.csv -o decided.model --features 128 --kernel additive_chi2 --lambda 1e-6
contains 'the inputs decide how many features the map has: [0-9]* features, not 128' "a size that inputs decide"
accepts "$MERCER" compare positive.csv --features 64,100 --kernel additive_chi2
contains '^random features  *6 ' "compare with a map of one size"
[ "$(grep -c '^random features' out)" = 1 ] || complain "compare with a map of one size: $(cat out)"

# Streams: pipes and devices are written to and read from as they are; /dev/stdout is standard output.
"$MERCER" fit sum.csv -o drawn.model --kernel gaussian --map '{"projection":"sobol"}' --features 16 --quiet >out 2>err
grep -q '^warning: ' err || complain "--quiet hides warnings: $(cat err)"
"$MERCER" fit sum.csv -o plain.model --kernel gaussian --features 16 --quiet >out 2>err || complain "a sum: $(cat err)"
"$MERCER" fit sum.csv -o /dev/stdout --kernel gaussian --features 16 --quiet 2>err | cmp -s - plain.model ||
  complain "fit -o /dev/stdout into a pipe: $(cat err)"
"$MERCER" fit sum.csv -o /dev/stdout --kernel gaussian --features 16 2>err >redirected.model
cmp -s redirected.model plain.model || complain "fit -o /dev/stdout into a file: $(cat err)"
mkfifo pipe
cat pipe >through.model &
accepts "$MERCER" fit sum.csv -o pipe --kernel gaussian --features 16
wait
[ -p pipe ] || complain "fit -o replaced a pipe"
cmp -s through.model plain.model || complain "fit -o to a pipe"
accepts "$MERCER" fit sum.csv -o /dev/null --kernel gaussian --features 16
contains '^wrote /dev/null' "fit -o /dev/null"
[ -c /dev/null ] || complain "fit -o replaced /dev/null"
ln -s kept/linked.model link.model
mkdir kept
accepts "$MERCER" fit sum.csv -o link.model --kernel gaussian --features 16
[ -h link.model ] && cmp -s kept/linked.model plain.model || complain "fit -o through a link: $(ls -l link.model kept)"

# Classification with labels of text: two rings.
ring='r = i % 2; t = 3.14159 * uniform(); print (1 + r) * cos(t) + 0.1 * uniform() "," (1 + r) * sin(t) ",\"" (r ? "outer, far" : "inner") "\""'
{ echo u,v,ring; rows 600 "$ring"; } >rings.csv
accepts "$MERCER" fit rings.csv -o rings --features 256 --test-fraction 0.25
at_least 0.98 "rings"
contains '^task: classification, 2 classes' rings
accepts "$MERCER" predict rings rings.csv -o rings.out --scores
at_least 0.98 "rings again"
[ "$(head -n 1 rings.out)" = 'ring,score_inner,"score_outer, far"' ] || complain "header: $(head -n 1 rings.out)"
grep -q '^"outer, far",' rings.out || complain "labels are not the original text"
accepts "$MERCER" predict rings rings.csv -o rings.out --probabilities --scores
awk -F, 'NR > 1 { n = NF; if (($0 ~ /^inner/) != ($(n - 1) > $n)) bad = 1 } END { exit bad }' rings.out ||
  complain "the class is not the most probable one"
[ "$(head -n 1 rings.out)" = 'ring,score_inner,"score_outer, far",probability_inner,"probability_outer, far"' ] ||
  complain "header: $(head -n 1 rings.out)"
tail -n 200 rings.out | tr -d '"' | sed 's/outer, far/outer/' |
  awk -F, '$4 < 0 || $5 < 0 || $4 + $5 < 0.999999 || $4 + $5 > 1.000001 { bad = 1 } END { exit bad }' ||
  complain "probabilities: $(tail -n 3 rings.out)"
for estimator in ridge logistic dirichlet svgp; do
  accepts "$MERCER" fit rings.csv -o rings.$estimator --features 64 --fast --estimator $estimator --quiet
  "$MERCER" info rings.$estimator | grep -q "$estimator" || complain "info does not name $estimator"
  accepts "$MERCER" score rings.$estimator rings.csv
  for metric in accuracy AUC "log loss" "calibration error" confusion; do contains "^$metric" "score"; done
  awk '$1 == "accuracy" && $2 < 0.98 || $1 == "AUC" && $2 < 0.99 || $1 == "log" && $3 > 0.1 { bad = 1 } END { exit bad }' out ||
    complain "scores of rings by $estimator: $(cat out)"
done
accepts "$MERCER" score model test.csv
for metric in rows R^2 RMSE MAE; do grep -qF "$metric" out || complain "score of a regression lacks $metric: $(cat out)"; done

# libsvm, narrower at the time of prediction; whole-number labels.
rows 400 'a = uniform(); b = uniform(); print (a * b > 0) + 1, "1:" a, "2:" b, "3:1"' >quadrants.svm
accepts "$MERCER" fit quadrants.svm -o quadrants --features 256 --test-fraction 0.2
at_least 0.9 "quadrants"
contains 'whole numbers 1..2' quadrants
head -n 50 quadrants.svm | sed 's/ 3:1//' | gzip >narrow
accepts "$MERCER" predict quadrants narrow -o narrow.out
grep -q -x '[12]' narrow.out || complain "labels of libsvm: $(sed -n 2p narrow.out)"

# npy: 200 images of 1 x 2 bytes, bright first or second pixel.
printf '\223NUMPY\1\0\106\0%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (200, 3), }" >toy.npy
for _ in $(seq 50); do
  printf '\360\20\0\20\360\1\350\30\0\10\370\1' >>toy.npy
done
accepts "$MERCER" fit toy.npy -o toy2 --features 32 --test-fraction 0.2
at_least 1 "npy"

# Cross-validation: everything again without each fold, by the options of a fit.
accepts "$MERCER" cv train.csv --features 128 --folds 4
[ "$(grep -c '^fold [1-4]: R^2 \(0\.99\|1\.00\)' out)" -eq 4 ] || complain "folds: $(cat out)"
contains '^cv: R^2 \(0\.99\|1\.00\)[0-9]*, standard error 0\.0[0-9]*, 4 folds$' "cv"
"$MERCER" cv rings.csv --features 64 --folds 2 --estimator logistic --transform none --quiet >out 2>err
[ "$(wc -l <out)" -eq 1 ] || complain "cv --quiet: $(cat out)"
grep -q '^note: [0-9]* of 600 rows lie outside the range of the rows they are predicted from$' err ||
  complain "cv --quiet hides rows outside: $(cat err)"
refuses 'folds of 800 rows, expected at least 2 rows in each, or --folds loo' "$MERCER" cv train.csv --folds 401
refuses "--folds 'one': expected a whole number" "$MERCER" cv train.csv --folds one
# Leave-one-out: the rows are scored together, and as many folds as rows are the same.
head -n 31 train.csv >few.csv
quick='--features 32 --lengthscale 2 --lambda 1e-4 --ard off --transform none'
accepts "$MERCER" cv few.csv --folds loo $quick
contains '^cv: R^2 0\.[4-9][0-9]*, standard error 0\.[01][0-9]*, leave-one-out of 30 rows$' "leave-one-out"
tail -n 1 out >loo
"$MERCER" cv few.csv --folds 30 $quick --quiet >out 2>err
cmp -s loo out || complain "30 folds of 30 rows and loo: $(cat loo out)"
head -n 31 rings.csv >few.csv
"$MERCER" cv few.csv --folds loo $quick --quiet >out 2>err
contains '^cv: accuracy [01]\.[0-9]*, standard error 0\.[0-9]*, leave-one-out of 30 rows$' "leave-one-out of classes"
refuses '--extrapolation is no option of compare' "$MERCER" compare train.csv --extrapolation free

# Reports: a page that needs no other file, and the same as JSON.
accepts "$MERCER" fit rings.csv -o reported --features 64 --report page.html --report page.json
for part in '<h2>Trials' '>learning curve<' "class='c'" '<h2>Inputs' '>kernel error (95 %)<.* to '; do
  grep -q -e "$part" page.html || complain "no $part in page.html"
done
! grep -q -e 'src=' -e '<script' page.html || complain "page.html needs other files"
for key in learning_curve confusion importance dependence roc reliability predicted warnings trials certificate frobenius_high; do
  grep -q "\"$key\"" page.json || complain "no $key in page.json"
done
accepts "$MERCER" fit train.csv -o reported --map exact --report page.json
accepts "$MERCER" fit train.csv -o reported --features 64 --report page.html
for part in '>residuals<' '>predicted against true<'; do
  grep -q -e "$part" page.html || complain "no $part in page.html"
done
refuses 'result is the model file, too' "$MERCER" fit train.csv -o result --report result
# Two rows whose model is nearly constant have axes all the same; a report that fails leaves the model.
printf 'x,y\n0,76.3365\n1,1.03192e-06\n' >flat.csv
(ulimit -v 4000000; timeout 60 "$MERCER" fit flat.csv -o flat --features 16 --report flat.html) >out 2>err ||
  complain "a report of nearly constant predictions: $(cat err)"
grep -q '</html>' flat.html || complain "no page of nearly constant predictions"
rm -f reported
refuses 'fit: --report: /dev/full: No space left on device (the model is written: reported)$' \
  "$MERCER" fit train.csv -o reported --features 64 --lengthscale 1 --lambda 1e-4 --report /dev/full
accepts "$MERCER" predict reported test.csv -o reported.out

# Comparison: with more features the error of the kernel falls, and the exact solution is listed; of a longer file then features of
# all rows but those held out, and what n^3 makes of the exact solution.
{ echo x1,x2,y; rows 2600 "$smooth"; } >longer.csv
accepts "$MERCER" compare longer.csv --features 64 --rows 1000
awk '$1 == "random" && $8 == 2100 { features = $4 } $1 == "exact" && $5 == "not" { exact = $NF }
     END { exit !(features > 0.8 && exact == 2100) }' out || complain "compare of all rows: $(cat out)"
accepts "$MERCER" compare train.csv --features 64,2048 --rows 400
contains '^exact kernel ridge' compare
awk '$1 == "random" { error[++k] = $5; if ($4 < 0.8 || $6 <= $5 || $6 > 2 * $5) bad = 1 }
     END { exit !(k == 2 && !bad && error[1] > 2 * error[2] && error[2] > 0) }' out ||
  complain "compare: $(cat out)"
accepts "$MERCER" compare rings.csv --features 256 --lengthscale 0.7 --lambda 1e-5
contains 'lengthscale 0.7, lambda 1e-05' "given numbers of compare"
# Of few noisy rows the kernel's own lambda is no matter of luck: 48 rows fitted, and 12 held out.
{ echo a,b,c,d,e,y; rows 60 'a = uniform(); b = uniform(); c = uniform(); noise = uniform() + uniform() + uniform(); print a "," b "," c "," uniform() "," uniform() "," a - b / 2 + sin(3 * c / 2) + 0.5 * noise'; } >noisy.csv
for seed in 1 2 3 4 5 6 7 8; do
  "$MERCER" compare noisy.csv --features 256 --quiet --seed $seed >out 2>err
  awk '$1 == "exact" && $4 == "-" { exact = $5 } $1 == "random" { features = $4 } END { exit !(exact + 0.2 > features) }' out ||
    complain "compare of few rows, seed $seed: $(cat out)"
done
# Weights reach every line: rows of y = x weigh a million times those of y = -x, which are as many.
{ echo x,w,y; rows 400 'x = uniform(); s = i % 2 ? 1 : -1; print x "," (i % 2 ? 1 : 1e-6) "," s * x'; } >weighed.csv
scores_of() { awk '$1 == "exact" && $4 == "-" { print $5 } $1 == "random" { print $4 } $1 == "linear" { print $4 }' out; }
accepts "$MERCER" compare weighed.csv --weights w --features 64
contains ' held out, weighed by column w;' "compare --weights"
scores_of | awk '$1 < 0.999 { bad = 1 } END { exit bad || NR != 3 }' || complain "compare --weights: $(cat out)"
accepts "$MERCER" compare weighed.csv --ignore w --features 64
scores_of | awk '$1 > 0.5 { bad = 1 } END { exit bad || NR != 3 }' || complain "compare without weights: $(cat out)"
# Rows of weight 0 are left out: of five there is nothing to compare.
{ echo x,w,y; rows 60 'print uniform() "," (i < 5) "," uniform()'; } >weightless.csv
refuses '4 weighted rows, expected at least 5' "$MERCER" compare weightless.csv --weights w
# Missing inputs are filled, or told apart by a flag where that they are missing says something: of these all do.
{ echo a,b,y; rows 500 'a = uniform(); print (a > 0.4 ? "" : a) "," uniform() "," (a > 0.4 ? 5 : a)'; } >gaps.csv
refuses 'missing values are refused' "$MERCER" compare gaps.csv --features 64
accepts "$MERCER" compare gaps.csv --features 64 --missing fill
scores_of | sort -g | head -n 1 | awk '{ exit !($1 < 0.9) }' || complain "compare --missing fill: $(cat out)"
accepts "$MERCER" compare gaps.csv --features 64 --missing flag
scores_of | awk '$1 < 0.99 { bad = 1 } END { exit bad || NR != 3 }' || complain "compare --missing flag: $(cat out)"
# Means and deviations are of the numbers that are there, not of filled ones: as of a file prepared so by hand.
{ echo a,b,y; rows 1000 'a = uniform(); n = uniform(); m = i % 5; print (m ? "" : 3 * a + 1) "," uniform() "," (m ? 0 : sin(6 * a)) + n / 9'; } >sparse.csv
awk -F, 'BEGIN { OFS = "," } NR == 1 { next } { for (j = 1; j < 3; j++) if ($j != "") { n[j]++; s[j] += $j; q[j] += $j * $j } row[NR] = $0 }
  END { print "a,b,y"
    for (j = 1; j < 3; j++) { mean[j] = s[j] / n[j]; size[j] = sqrt(q[j] / n[j] - mean[j] ^ 2) }
    for (k = 2; k <= NR; k++) { split(row[k], x, ","); for (j = 1; j < 3; j++) if (x[j] != "") x[j] = (x[j] - mean[j]) / size[j]; print x[1], x[2], x[3] } }' sparse.csv >prepared.csv
gappy=(--missing fill --features 64 --lengthscale 0.3 --lambda 1e-3)
kernel_scores() { awk '$1 == "exact" && $4 == "-" { print $5 } $1 == "random" { print $4, $5 }' out; }
accepts "$MERCER" compare sparse.csv "${gappy[@]}"
kernel_scores >sparse.scores
accepts "$MERCER" compare prepared.csv "${gappy[@]}" --no-standardize
kernel_scores >prepared.scores
paste -d ' ' sparse.scores prepared.scores | awk 'function off(a, b) { return a > 1.03 * b || b > 1.03 * a }
  NR == 1 { bad = off($1, $2) } NR == 2 { bad = bad || off($1, $3) || off($2, $4) } END { exit bad || NR != 2 }' ||
  complain "compare --missing fill standardises otherwise: $(cat sparse.scores prepared.scores)"
# A column without any number is named as the file has it, text columns before it or not.
{ echo t,u,b,y; rows 60 'print (i % 2 ? "left" : "right") "," uniform() "," (i == 7 ? 1 : "") "," uniform()'; } >lone.csv
refuses "column 'b' holds no number in any row" "$MERCER" compare lone.csv --missing fill --rows 2
sed 1d lone.csv >lone_bare.csv
refuses "column 4 holds no number in any row" "$MERCER" compare lone_bare.csv --missing fill --rows 2
# Linear ridge does not vanish without a word.
awk 'BEGIN { for (i = 0; i < 40; i++) { line = i % 7; for (j = 0; j < 2001; j++) line = line "," (i * i + i * j + j) % 11 + i % 3; print line } }' >wide.csv
accepts "$MERCER" compare wide.csv --target 1 --task regression --features 16 --lengthscale 40 --lambda 1e-2
contains '^note: a linear model is left out: 2001 inputs, more than 2000$' "compare of many inputs"
# Balanced classes: rows of the rare class are found at the price of others, by all three alike.
{ echo a,c; rows 900 'r = i % 10 == 0; print uniform() + (r ? 0.7 : 0) "," (r ? "rare" : "often")'; } >rare.csv
accepts "$MERCER" compare rare.csv --features 64
scores_of >plain.scores
accepts "$MERCER" compare rare.csv --features 64 --class-weight balanced
contains ', classes balanced in fits;' "compare --class-weight"
scores_of | paste plain.scores - | awk '!($2 < $1 - 0.05) { bad = 1 } END { exit bad || NR != 3 }' ||
  complain "compare --class-weight: $(cat plain.scores out)"
refuses '--class-weight balanced: the task is a regression' "$MERCER" compare train.csv --class-weight balanced

# Features of rows as they are, by a map that is kept; one object with --json.
# Which map: the error that is asked for, of rows as fits take them; units change nothing.
accepts "$MERCER" recommend train.csv --ignore y --error 0.1 --seed 3
awk 'NR == 2 && !($(NF - 1) <= 0.1 && $(NF - 2) < 500) { bad = 1 } END { exit bad || NR < 4 }' out || complain "recommend: $(cat out)"
awk -F, -v OFS=, 'NR > 1 { $1 = 1000 * $1 } 1' train.csv >units.csv
for file in train units; do
  accepts "$MERCER" recommend $file.csv --ignore y -D 32 --kernel matern --json
  grep '^  "lengthscale": [0-9]' out | cut -c 1-24 >$file.lengthscale
done
[ -s train.lengthscale ] && cmp -s train.lengthscale units.lengthscale || complain "recommend of other units: $(cat *.lengthscale)"
refuses 'already holds one' "$MERCER" recommend train.csv --ignore y --kernel '{"kernel":"gaussian","lengthscale":2}' --lengthscale 0.5
refuses '\-\-error' "$MERCER" recommend train.csv --ignore y --error 2
accepts "$MERCER" transform train.csv --ignore y -D 64 --kernel rbf --seed 3 -o features.csv --write-map features.map
[ "$(head -n 1 features.csv | tr , '\n' | tail -n 1)" = z64 ] || complain "transform: $(head -n 1 features.csv | cut -c 1-100)"
[ "$(wc -l <features.csv)" -eq 801 ] || complain "transform: $(wc -l <features.csv) lines"
accepts "$MERCER" transform train.csv --ignore y --read-map features.map -o again.csv
cmp -s features.csv again.csv || complain "transform by the map that was written"
accepts "$MERCER" transform train.csv --ignore y --read-map features.map -o features.npy
[ "$(head -c 6 features.npy | tail -c 5)" = NUMPY ] && [ "$(wc -c <features.npy)" -eq $((128 + 800 * 64 * 8)) ] ||
  complain "transform to .npy: $(wc -c <features.npy) bytes"
accepts "$MERCER" fit features.npy -o result --labels <(cut -d, -f3 train.csv) --map linear -D 64 --test-fraction 0.2
at_least 0.9 "linear on features"
accepts "$MERCER" info features.map
contains fourier "info of a map"
refuses 'does not go with' "$MERCER" transform train.csv --read-map features.map --kernel matern
object() {
  "$MERCER" "${@:2}" --json >out 2>err || complain "--json: ${*:2}: $(cat err)"
  for key in $1; do contains "\"$key\":" "--json: ${*:2}"; done
  [ "$(head -c 1 out)" = '{' ] || complain "--json: ${*:2}: $(head -n 2 out)"
}
object 'version spec fit test' fit few.csv -o result $quick --test-fraction 0.2
object 'standard_error folds' cv few.csv $quick --folds 3
object 'score rows' predict rings rings.csv -o rings.out
object 'accuracy confusion AUC' score rings rings.csv
object 'solutions kernel_error certificate' compare train.csv --features 64 --rows 100
object 'relevance inputs' relevance model test.csv
object 'map features' transform train.csv --ignore y -D 16 -o features.npy
object 'spec metadata schema' info model
object 'kernels maps' specs
object 'passed simd blas_core samplers maps map_share_of_floor' doctor
accepts "$MERCER" doctor
contains '^maps  *all [0-9]* as on every machine$' doctor
! grep -q '"sum"' out || complain "doctor prints answers that are right"

# An OpenBLAS that does not know the processor is told which kernels this has, if it has not been.
if ! ldd "$MERCER" | grep -q 'lib[at]san'; then
  echo '#include <stdlib.h>
char* openblas_get_corename(void) { char* core = getenv("OPENBLAS_CORETYPE"); return core ? core : "Prescott"; }' >core.c
  cc -shared -fPIC core.c -o core.so
  fast=Prescott
  grep -q avx2 /proc/cpuinfo && fast=Haswell
  grep -q avx512vl /proc/cpuinfo && fast=SkylakeX
  accepts env -u OPENBLAS_CORETYPE LD_PRELOAD=./core.so "$MERCER" doctor
  contains "^blas_core  *$fast\$" "doctor of an old OpenBLAS"
  accepts env OPENBLAS_CORETYPE=Prescott LD_PRELOAD=./core.so "$MERCER" doctor
  contains '^blas_core  *Prescott$' "doctor of a core that was asked for"
  loader=$(ldd "$MERCER" | awk '$1 ~ /ld-linux/ {print $1}')
  [ -z "$loader" ] || accepts env -u OPENBLAS_CORETYPE LD_PRELOAD=./core.so "$loader" "$MERCER" --version
  [ -z "$loader" ] || contains '^mercer ' "the command under a loader that is named"
fi

# How sure a Gaussian process is.
{ echo x,y; rows 300 'x = 6 * uniform(); print x "," sin(2 * x) + 0.2 * (uniform() + uniform() + uniform() - 1.5)'; } >noisy.csv
accepts "$MERCER" fit noisy.csv -o gp --estimator gp --features 128 --transform none
grep -q '^intervals of 90 % held \(8[0-9]\|9[0-9]\)\(\.[0-9]\)\? % of these rows$' out || complain "coverage: $(cat out)"
accepts "$MERCER" predict gp noisy.csv --variance --interval 0.9 --samples 2 -o gp.out
[ "$(head -n 1 gp.out)" = y,variance_y,lower_y,upper_y,sample1_y,sample2_y ] || complain "header: $(head -n 1 gp.out)"
awk -F, 'NR > 1 { w = ($4 - $3) / 2 / sqrt($2); if (w < 1.6448 || w > 1.6450 || ($3 + $4) / 2 - $1 > 1e-6) bad = 1
  d += ($5 - $1) ^ 2 / $2 } END { exit bad || d > NR }' gp.out || complain "intervals: $(head -n 3 gp.out)"
refuses "--interval '90': .*did you mean 0.9" "$MERCER" predict gp noisy.csv --interval 90
refuses '--variance: the model does not know how sure it is: fit it with --estimator gp' "$MERCER" predict rings rings.csv --variance

accepts "$MERCER" specs
for name in gaussian matern fourier ridge; do contains "^  $name - " specs; done
contains 'default_kernel: {"kernel":"gaussian"}$' specs
contains 'default_kernel: {"kernel":"polynomial","degree":1}$' "specs: kernel of a linear map"
accepts "$MERCER" specs matern
contains 'nu ' "specs matern"
! grep -q -e '^  gaussian' out || complain "specs matern lists more than matern"
# A quick search: what it leaves out is not in the table, and the score is of rows held out once.
{ echo a,b,colour,y; rows 400 'a = uniform(); b = uniform(); print a "," b "," (i % 2 ? "red" : "blue") "," a * b + (i % 2)'; } >quick.csv
accepts "$MERCER" fit quick.csv -o quick --fast
grep -q '^ *\(rank\|log\|by input\)' out && complain "--fast tries more: $(cat out)"
contains '^fitted: 400 rows, .* 400 features of map exact, ' "--fast: the kernel itself"
contains '^honest score: R^2 [01]\.[09].* (80 rows that no choice has seen)$' "--fast: the score"
contains '^--fast: ' "--fast says what it leaves out"
accepts "$MERCER" info quick
contains '^inputs: a, b, colour (text)$' "info: inputs"
contains '^target: y$' "info: target"
contains '^honest score: R^2 [01]\.[09]' "info: score"

finish
