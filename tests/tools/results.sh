# Shared by the measuring commands of this folder: where things are, how a result file is written, how the JSON of
# `warpath evaluate` is read. Needs bash, awk, sed and grep, nothing else. Sourced, not run.
#
# WARPATH=/path/to/warpath   the program to measure with (default: ./warpath of the checkout, which builds)

tools=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
root=$(readlink -f -- "$tools/../..")
warpath=${WARPATH:-$root/warpath}
self=$(basename -- "$0")
work=$(mktemp -d)

# Nothing that was begun goes on when the command ends, however it ends.
stop_children() {
  local begun
  begun=$(jobs -p)
  [[ -z $begun ]] || { pkill -TERM -P "$(paste -sd, <<<"$begun")"; kill -TERM $begun; wait; } 2>/dev/null || true
}
trap 'stop_children; rm -rf -- "$work"' EXIT
# The GPUs whose turns a command takes: GPUS='0 2', default all of the machine.
read -ra all_gpus <<<"${GPUS:-$(nvidia-smi -L 2>/dev/null | sed -n 's/^GPU \([0-9]*\):.*/\1/p' | paste -sd' ' || true)}"

# spread COMMAND ITEM...: COMMAND GPU ITEM for every item; GPUs work side by side, and the next item goes to the first that is free.
# Without GPUs one worker takes them all, with GPU empty. Non-zero if a command failed.
spread() {
  local command=$1 gpu item pid code=0 pids=()
  shift
  printf '%s\n' "$@" >"$work/queue"
  for gpu in "${all_gpus[@]:-}"; do
    while item=$(flock "$work/queue.lock" sed -i -e '1{w /dev/stdout' -e 'd}' "$work/queue") && [[ -n $item ]]; do "$command" "$gpu" "$item"; done &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || code=1; done
  return $code
}

say() { printf '%s: %s\n' "$self" "$*" >&2; }
fail() { say "$*"; exit 1; }

# text STRING: as it stands between the quotes of a JSON string.
text() { sed -e 's/[\\"]/\\&/g' <<<"$1"; }

# evaluate NAME ARGUMENTS...: one evaluation; lines in $work/NAME.jsonl, figures in $work/NAME.json, the table in $work/NAME.txt.
# Statuses other than expected are results, not failures; anything else ends the measurement.
evaluate() {
  local name=$1 code=0
  shift
  say "$name: warpath evaluate $*"
  "$warpath" evaluate "$@" --json "$work/$name.jsonl" --figures "$work/$name.json" >"$work/$name.txt" 2>"$work/$name.log" || code=$?
  [[ $code == 0 || $code == 2 ]] || fail "$name: exit code $code: $(tail -n 3 "$work/$name.log")"
}

# value KEY FILE: a number of a figures file; null if it is not there.
value() {
  local found
  found=$(sed -n 's/^ *"'"$1"'": *\([-+0-9.eE]*\),\{0,1\}$/\1/p' "$2" | head -n 1)
  printf '%s' "${found:-null}"
}

# Functions for awk programs over lines of `warpath evaluate --json`. Quotes within JSON strings are escaped, so that "key":
# stands only where it is a key; the first one is meant.
fields='
function after(key,  at) { at = index($0, "\"" key "\":"); return at ? substr($0, at + length(key) + 3) : "" }
function text(key,  rest) { rest = after(key); return match(rest, /^"([^"\\]|\\.)*"/) ? substr(rest, 2, RLENGTH - 2) : "" }
function number(key,  rest) { rest = after(key); return match(rest, /^[-+0-9.eE]+/) ? substr(rest, 1, RLENGTH) + 0 : "" }
function truth(key) { return after(key) ~ /^true/ }
function block(key,  rest, i, c, depth, quoted) {
  rest = after(key)
  for (i = 1; i <= length(rest); ++i) {
    c = substr(rest, i, 1)
    if (quoted) { if (c == "\\") ++i; else if (c == "\"") quoted = 0; continue }
    if (c == "\"") quoted = 1
    else if (c == "{" || c == "[") ++depth
    else if (c == "}" || c == "]") { if (--depth == 0) return substr(rest, 1, i) }
  }
  return "null"
}
'

# median: of the numbers on stdin, one a line; null if there are none.
median() { sort -g | awk '{ x[NR] = $1 } END { if (!NR) print "null"; else print NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

# ratio A B: A / B; null unless both are positive.
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (a + 0 > 0 && b + 0 > 0) printf "%.4g", a / b; else printf "null" }'; }

# keep_others FILE ROWS MORE KERNEL...: rows of FILE about kernels other than these join ROWS, which is put in order of kernels. Each names
# the revision that measured it; MORE, if not empty, are further members of rows that do not have them yet.
keep_others() {
  local file=$1 rows=$2 more=$3 revision
  shift 3
  [[ -s $file ]] || return 0
  revision=$(sed -n 's/^  "revision": "\(.*\)",$/\1/p' "$file")
  grep -o '{"kernel": ".*}' "$file" | grep -vF "$(printf '"kernel": "%s"\n' "$@")" |
    sed "/\"revision\"/!s/}\$/${more:+, $more}, \"revision\": \"$revision\"}/" >>"$rows" || true
  sort -s -t'"' -k4,4 -o "$rows" "$rows"
}

# score_rows FILE: the rows of a study's scores.json, one a line.
score_rows() { awk '/^  \{/ { row = ""; next } /^  \}/ { print "{" row "}"; next } /^   "/ { sub(/^ +/, ""); row = row (row ? " " : "") $0 }' "$1"; }

# write_result FILE FIGURES ROWS: FIGURES are the members of "figures" as text, ROWS a file with one JSON value a line.
write_result() {
  local file=$1 figures=$2 rows=$3 device driver
  device=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); printf "%s%s x %s", s, n, $0; s = ", " }' || true)
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1 || true)
  {
    printf '{\n  "command": "%s",\n' "$(text "tests/tools/$self")"
    printf '  "revision": "%s",\n' "$("$warpath" --version | awk '{ print $2 }')"
    printf '  "date": "%s",\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf '  "device": "%s",\n  "driver": "%s",\n' "$(text "${device:-none}")" "$(text "${driver:-none}")"
    printf '  "figures": {\n%s\n  },\n  "rows": [\n' "$(sed 's/^ */    /' <<<"$figures")"
    sed -e 's/^/    /' -e '$!s/$/,/' "$rows"
    printf '  ]\n}\n'
  } >"$work/result"
  mkdir -p -- "$(dirname -- "$file")"
  cp -- "$work/result" "$file.new"
  mv -- "$file.new" "$file"
  say "wrote $file"
  sed -n '/"figures"/,/}/p' "$file"
}

# ladder KERNEL: its path in tests/data/ladders.json; empty if it has none.
ladder() { sed -n 's/^ *"'"$1"'": *"\([^"]*\)",\{0,1\}$/\1/p' "$root/tests/data/ladders.json"; }
# ladder_kernels: all that have one, in order.
ladder_kernels() { sed -n 's/^ *"\([a-z0-9_]*\)": *".*$/\1/p' "$root/tests/data/ladders.json"; }

# apply NAME ARGUMENTS...: one path; lines in $work/NAME.jsonl, the table in $work/NAME.txt. Rungs that are not ok and refused steps
# are results, not failures; anything else ends the measurement.
apply() {
  local name=$1 code=0
  shift
  say "$name: warpath apply $*"
  "$warpath" apply "$@" --json "$work/$name.jsonl" >"$work/$name.txt" 2>"$work/$name.log" || code=$?
  [[ $code == 0 || $code == 2 || ( $code == 64 && -s $work/$name.jsonl ) ]] || fail "$name: exit code $code: $(tail -n 3 "$work/$name.log")"
}
