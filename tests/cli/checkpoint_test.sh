# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# fit --stream --checkpoint: killed at random moments and started again, it ends with the model of a run that was left alone, byte
# for byte; what its checkpoint refuses. Usage: checkpoint_test.sh MERCER FOLDER [KILLS]
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1 kills=${3:-4}
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"
RANDOM=7

{ echo a,b,y
  rows 90000 'a = i / 45000 - 1; b = uniform(); printf "%.5f,%.5f,%.5f\n", a, b, sin(3 * a) + b * b + .1 * uniform()'; } >train.csv
fit="fit train.csv --fast --features 512 --stream --checkpoint kept"
start=$(date +%s%N)
accepts "$MERCER" $fit -o alone
took=$((($(date +%s%N) - start) / 1000000))  # milliseconds
[ -e kept ] && complain "the checkpoint is there after the model was written"

# At moments that are spread over the time that is left; started again it goes on.
killed=0
for kill in $(seq "$kills"); do
  "$MERCER" $fit -o again >out 2>err &
  wait=$((took * (RANDOM % 100 + 20) / (100 * kills) + 150))
  sleep "$((wait / 1000)).$(printf %03d $((wait % 1000)))"
  kill -9 $! 2>/dev/null && killed=$((killed + 1))
  wait $! 2>/dev/null
  [ -e again ] && break
done
[ "$killed" -ge 1 ] || complain "no run was killed"
[ -e again ] || accepts "$MERCER" $fit -o again
cmp -s alone again || complain "the model differs after $killed kills"
[ -e kept ] && complain "the checkpoint is there after the end"

# Ctrl-C leaves a checkpoint, too; a changed file, other options or other columns are refused, and the checkpoint stays.
"$MERCER" $fit -o stopped >out 2>err &
sleep 1
kill -INT $!
wait $! && complain "an interrupted fit succeeded"
[ -e kept ] || complain "no checkpoint after an interruption: $(cat err)"
refuses '--checkpoint kept is of .*spec' "$MERCER" $fit -o stopped --seed 3
refuses '--checkpoint kept is of .*rows' "$MERCER" $fit -o stopped --target b
cp train.csv other.csv
echo 0.5,0.5,0.5 >>train.csv
refuses '--checkpoint kept is of .*rows' "$MERCER" $fit -o stopped
mv other.csv train.csv
refuses '--checkpoint kept is of .*rows' "$MERCER" $fit -o stopped
[ -e kept ] || complain "a refusal removed the checkpoint"
rm kept
printf junk >damaged
refuses '--checkpoint: "damaged": ' "$MERCER" fit train.csv -o stopped --stream --checkpoint damaged
refuses '--checkpoint without --stream' "$MERCER" fit train.csv -o stopped --checkpoint kept
refuses '--checkpoint: kept is the model file' "$MERCER" fit train.csv -o kept --stream --checkpoint kept
refuses '--checkpoint: ./kept is the model file' "$MERCER" fit train.csv -o kept --stream --checkpoint ./kept
refuses 'none/kept' "$MERCER" fit train.csv -o stopped --stream --checkpoint none/kept
finish
