# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# What the black-box tests of the command share: sourced with MERCER (the binary) and an empty folder of the test's own as the
# working directory. Every check prints one line when it fails; "finish" ends the test.

failures=0

complain() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

finish() {
  [ "$failures" -eq 0 ] || { echo "$failures checks failed"; exit 1; }
  echo "all checks passed"
}

# Temporary files go to ./temporary, where a test can see what is left.
use_own_temporary() {
  mkdir temporary
  export TMPDIR=$PWD/temporary
}

# accepts COMMAND...: exit status 0, nothing on standard error; leaves standard output in ./out.
accepts() {
  "$@" >out 2>err || complain "$* ended with status $?: $(cat err)"
  [ ! -s err ] || complain "$* wrote to standard error: $(cat err)"
}

# refuses PATTERN COMMAND...: status 2 where an option is named first or the command line is wrong, else 3; one line on standard error that begins with "mercer: " and matches, and no file
# called result or result.* appeared.
refuses() {
  local pattern=$1
  shift
  rm -f result*
  "$@" >out 2>err
  local status=$?
  case $status in 2 | 3) ;; *) complain "$* ended with status $status, expected 2 or 3: $(cat err)" ;; esac
  [ "$status" -eq 2 ] || ! grep -q '^mercer: [a-z]*: --' err || complain "$* ended with status $status: $(cat err)"
  [ "$(wc -l <err)" -eq 1 ] || complain "$* wrote $(wc -l <err) lines on standard error: $(cat err)"
  grep -q -e "^mercer: .*$pattern" err || complain "$*: '$(cat err)' does not match '$pattern'"
  ls result* >/dev/null 2>&1 && complain "$* left $(ls result*)"
  return 0
}

# score FILE: the number of the line "test: R^2 0.98 ..." or "test: accuracy 0.98 ...".
score() { sed -n 's/^test: \(R^2\|accuracy\) \([-0-9.e]*\) on .*/\2/p' "$1"; }

# at_least LEAST WHAT: the score in ./out.
at_least() {
  local reached
  reached=$(score out)
  awk -v reached="$reached" -v least="$1" 'BEGIN { exit !(reached != "" && reached + 0 >= least) }' ||
    complain "$2: score '$reached', expected at least $1"
}

# contains PATTERN WHAT: ./out has such a line.
contains() { grep -q -e "$1" out || complain "$2: no '$1' in: $(cat out)"; }

# Deterministic uniform numbers in (-1, 1): the minimal standard generator (Park, Miller 1988).
uniform='function uniform() { state = (state * 16807) % 2147483647; return 2 * state / 2147483647 - 1 } BEGIN { state = 12345 }'

# rows N PROGRAM: runs the awk program for rows i = 1..N with uniform() at hand.
rows() { awk "$uniform BEGIN { for (i = 1; i <= $1; i++) { $2 } }"; }
