# SPDX-License-Identifier: MIT
# bash completion for iio-stream. The command itself knows what may follow, endpoints and their options
# included: `iio-stream help --complete WORD...` lists it, a tab before each explanation.
_iio_stream() {
    local line=${COMP_LINE:0:COMP_POINT} before='' candidate words
    read -ra words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=("")
    # bash takes : and = for ends of words, so that only what follows the last of them is replaced.
    if [[ $COMP_WORDBREAKS == *[:=]* ]]; then
        before=${words[-1]}
        before=${before%"${before##*[:=]}"}
    fi
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        COMPREPLY+=("${candidate#"$before"}")
    done < <("$1" help --complete "${words[@]:1}" 2>/dev/null)
    # What ends in : or = goes on.
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[:=.] ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _iio_stream iio-stream
