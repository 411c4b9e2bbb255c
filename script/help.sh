# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the scripts in this folder: for --help, prints the comment at the top of the calling script and exits.
case ${1:-} in
    -h | --help)
        sed -n '3,$ { /^#/!q; s/^# \{0,1\}//; p }' "$0"
        exit 0
        ;;
esac
