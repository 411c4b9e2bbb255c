# SPDX-License-Identifier: MIT
# The man page and the completions of the command. data_folder and man_folder are the folders that they are installed into,
# and component contains the words that select a component, or nothing.

# The command writes the lists of options into its man page. If it cannot be run here, because it is for another
# processor and there is no emulator, the page stays as it is and refers to `iio-stream help`.
set(man_page ${PROJECT_BINARY_DIR}/man/iio-stream.1)
set(man_text ${PROJECT_SOURCE_DIR}/docs/man/iio-stream.1)
set(write_man_page iio-stream-command help --man ${man_text} > ${man_page})
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    set(write_man_page ${CMAKE_COMMAND} -E copy ${man_text} ${man_page})
endif()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man)
add_custom_command(OUTPUT ${man_page} DEPENDS iio-stream-command ${man_text}
                   COMMAND ${write_man_page} VERBATIM)
add_custom_target(man-page ALL DEPENDS ${man_page})
install(FILES ${man_page} DESTINATION ${man_folder}/man1 ${component})

install(FILES packaging/completions/iio-stream.bash RENAME iio-stream
        DESTINATION ${data_folder}/bash-completion/completions ${component})
install(FILES packaging/completions/_iio-stream DESTINATION ${data_folder}/zsh/site-functions ${component})
install(FILES packaging/completions/iio-stream.fish
        DESTINATION ${data_folder}/fish/vendor_completions.d ${component})
