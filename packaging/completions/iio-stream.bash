# SPDX-License-Identifier: MIT
# bash completion for iio-stream. `iio-stream help --complete WORD...` lists the possible next words, including
# endpoints and their options, each with a tab and an explanation.
_iio_stream() {
    local line=${COMP_LINE:0:COMP_POINT} before='' candidate words
    read -ra words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=("")
    # bash ends words at : and =, so only the text after the last of them is replaced.
    if [[ $COMP_WORDBREAKS == *[:=]* ]]; then
        before=${words[-1]}
        before=${before%"${before##*[:=]}"}
    fi
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        COMPREPLY+=("${candidate#"$before"}")
    done < <("$1" help --complete "${words[@]:1}" 2>/dev/null)
    # A word that ends in :, = or . is not complete.
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[:=.] ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _iio_stream iio-stream
