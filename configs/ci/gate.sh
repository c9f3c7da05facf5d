#!/bin/sh
# Build a change and what it is compared with, measure both in one campaign, and ask the gate.
# GitHub's action, GitLab's job and a person at a shell execute this file alike.
#
#   gate.sh [CAMPAIGN [CONDITION]]        by default ci.yaml, and slower>2%
#
# What may stand in the environment:
#   BASE       a branch, tag or commit: it is checked out into base/
#   BUILD      a command: executed in base/ and here
#   UNDECIDED  stop (exit code 7, the default) or pass (exit code 0)
#   COMMENT    a file for the answer as Markdown
#   SUMMARY    a file to which the same is appended
#   JUNIT      a file for the answer as JUnit XML
#   GITHUB_OUTPUT, GITHUB_ACTIONS   as GitHub sets them: outputs and annotations
#
# The exit code is the gate's: 0 PASS, 1 STOP, 7 OPEN; any other is an error, and nothing was decided: 4 where
# BUILD failed, 2 where another step of this file did.
set -eu
work='' decided=''
ended() {
    code=$?
    if [ -n "$work" ]; then rm -rf "$work"; fi
    if [ -z "$decided" ]; then case $code in 0 | 1 | 7) code=2 ;; esac; fi
    exit "$code"
}
trap ended EXIT
campaign=${1:-ci.yaml}
condition=${2:-slower>2%}
for old in "${COMMENT:-}" "${JUNIT:-}"; do  # the answer of a build before this one is not this one's
    if [ -n "$old" ]; then rm -f "$old"; fi
done

# build WHERE: a failure of it is no answer of the gate, whatever its exit code
build() {
    if (cd "$1" && sh -ec "$BUILD"); then return; fi
    echo "gate.sh: the build failed in $1: $BUILD" >&2
    exit 4
}

if [ -n "${BASE:-}" ]; then
    case $BASE in -*) echo "gate.sh: BASE is no name of a commit: $BASE" >&2; exit 2 ;; esac
    commit=$BASE
    if git remote get-url origin > /dev/null 2>&1; then
        shallow=$(git rev-parse --is-shallow-repository)  # a clone that has its history keeps it
        if [ "$shallow" = true ]; then set -- --depth 1; else set --; fi
        if git fetch --quiet "$@" origin "$BASE"; then commit=FETCH_HEAD; fi
    fi
    if [ -e base/.git ] && [ -e "$(git -C base rev-parse --absolute-git-dir)/fairtrial" ]; then
        git worktree remove --force base  # of a build before this one; what somebody else has there stays
    fi
    git worktree prune
    git worktree add --quiet --detach base "$commit"
    : > "$(git -C base rev-parse --absolute-git-dir)/fairtrial"
fi
if [ -n "${BUILD:-}" ]; then
    if [ -d base ]; then build base; fi
    build .
fi

work=$(mktemp -d)
code=0
fairtrial run "$campaign" --quiet --json > "$work/run.json" || code=$?
if [ "$code" -gt 1 ]; then exit "$code"; fi  # 1: some runs failed; the gate judges those itself
trial=$(python3 -I -c 'import json, sys; print(json.load(open(sys.argv[1]))["trial"])' "$work/run.json")

set -- "$condition" "$trial" --summary "$work/answer.md"
if [ -n "${JUNIT:-}" ]; then set -- "$@" --junit "$JUNIT"; fi
if [ -n "${GITHUB_ACTIONS:-}" ]; then set -- "$@" --annotations github; fi
code=0
fairtrial gate "$@" || code=$?

case $code in 0) answer=PASS ;; 1) answer=STOP ;; 7) answer=OPEN ;; *) exit "$code" ;; esac
if [ -n "${COMMENT:-}" ]; then cp "$work/answer.md" "$COMMENT"; fi
if [ -n "${SUMMARY:-}" ]; then cat "$work/answer.md" >> "$SUMMARY"; fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    printf '%s\n' "answer=$answer" "exit-code=$code" "trial=$trial" >> "$GITHUB_OUTPUT"
fi
if [ "$code" -eq 7 ] && [ "${UNDECIDED:-stop}" = pass ]; then
    if ! grep -q '| missing |' "$work/answer.md"; then code=0; fi  # what was not measured is no matter of chance
fi
decided=yes
exit "$code"
