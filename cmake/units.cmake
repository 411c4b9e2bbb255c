# SPDX-License-Identifier: MIT
# Run by cmake --install: systemd's units name the command where this installation has it, whatever DESTDIR.
# cmake/package.cmake sets bin_folder, sources, units, and the folder they are written to, `written`.
cmake_path(ABSOLUTE_PATH bin_folder BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE command)
string(APPEND command /iio-stream)
string(REPLACE % %% command "${command}") # systemd's own specifiers
if(command MATCHES "[^A-Za-z0-9_./%+:@-]")
    set(command "\"${command}\"")
endif()
foreach(unit ${units})
    configure_file(${sources}/${unit}.in ${written}/${unit} @ONLY)
    file(INSTALL ${written}/${unit} DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/system)
endforeach()
