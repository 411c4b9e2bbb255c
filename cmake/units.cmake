# SPDX-License-Identifier: MIT
# cmake --install runs this. It writes the path of the installed command, without DESTDIR, into systemd's units.
# cmake/package.cmake sets bin_folder, sources, units, and `written`, the folder to which they are written.
cmake_path(ABSOLUTE_PATH bin_folder BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE command)
string(APPEND command /iio-stream)
string(REPLACE % %% command "${command}") # systemd expands specifiers that begin with %
if(command MATCHES "[^A-Za-z0-9_./%+:@-]")
    set(command "\"${command}\"")
endif()
foreach(unit ${units})
    configure_file(${sources}/${unit}.in ${written}/${unit} @ONLY)
    file(INSTALL ${written}/${unit} DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/system)
endforeach()
