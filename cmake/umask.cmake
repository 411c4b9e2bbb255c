# SPDX-License-Identifier: MIT
# Run by cmake --install before all else: installed files are everybody's to read, whatever the umask, but the
# folders that it makes for them are not under 077, nor with CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS. Begin
# again with one that leaves them open. CMakeLists.txt sets `script`, and ends it where this one has begun again.
execute_process(COMMAND sh -c umask OUTPUT_VARIABLE umask OUTPUT_STRIP_TRAILING_WHITESPACE)
if(umask MATCHES "[134567]$") # others may not read, or not enter
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
