# SPDX-License-Identifier: MIT
# cmake --install runs this first. Every user can read installed files with any umask, but with umask 077 the folders that
# CMake creates for them are not accessible, even with CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS. With such a umask, this
# runs the installation again with umask 022. CMakeLists.txt sets `script`, and returns if `begun_again` is set.
execute_process(COMMAND sh -c umask OUTPUT_VARIABLE umask OUTPUT_STRIP_TRAILING_WHITESPACE)
if(umask MATCHES "[134567]$") # other users cannot read or enter folders
    foreach(name CMAKE_INSTALL_PREFIX CMAKE_INSTALL_CONFIG_NAME CMAKE_INSTALL_COMPONENT CMAKE_INSTALL_DO_STRIP
                 CMAKE_INSTALL_LOCAL_ONLY)
        if(DEFINED ${name})
            list(APPEND settings "-D${name}=${${name}}")
        endif()
    endforeach()
    execute_process(COMMAND sh -c "umask 022 && exec \"$@\"" sh ${CMAKE_COMMAND} ${settings}
                            -P ${script} COMMAND_ERROR_IS_FATAL ANY)
    set(begun_again ON)
endif()
