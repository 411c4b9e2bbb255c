# SPDX-License-Identifier: MIT
# fish completion for iio-stream, as `iio-stream help --complete WORD...` lists it.
complete -c iio-stream -a '(iio-stream help --complete (commandline -opc)[2..-1] (commandline -ct))'
