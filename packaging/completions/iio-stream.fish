# SPDX-License-Identifier: MIT
# fish completion for iio-stream, from the list of `iio-stream help --complete WORD...`.
complete -c iio-stream -a '(iio-stream help --complete (commandline -opc)[2..-1] (commandline -ct))'
