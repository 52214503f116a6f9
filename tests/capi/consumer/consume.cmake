# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Installs a build tree under a fresh prefix and consumes it: the command as it is, programs by find_package, with and without
# C++, and by pkg-config, the last also from a prefix that was moved. All are run. An archive is held by a shared library as well.
# Run as: cmake -DBUILD=... -DGENERATOR=... -DSOURCE=... -DWORK=... -DSTATIC=ON|OFF -DTOOL=ON|OFF -DCC=... -DCXX=...
#   -P consume.cmake
cmake_minimum_required(VERSION 3.22)
set(ENV{CMAKE_GENERATOR} ${GENERATOR})
set(prefix ${WORK}/prefix)
set(clients ${SOURCE}/capi/clients)
set(compilers -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

# Compiles and runs a program with what pkg-config says, in the folder of libraries given.
function(run_by_pkg_config libdir)
  set(ENV{LD_LIBRARY_PATH} ${libdir})
  set(ENV{PKG_CONFIG_PATH} ${libdir}/pkgconfig)
  if(STATIC)
    list(APPEND ARGN --static)
  endif()
  execute_process(COMMAND pkg-config ${ARGN} --cflags --libs mercer OUTPUT_VARIABLE flags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${CC} -std=c99 ${clients}/c/ridge.c -o ${WORK}/ridge_pkg ${flags} -lm)
  run(${WORK}/ridge_pkg ${WORK}/pkg.mercer)
  # A shared library with the archive inside exports what is its own. (ARCHIVE is compiled to be part of the shared libmercer.)
  if(STATIC AND NOT ARCHIVE)
    set(holder ${WORK}/libholder.so)
    run(${CC} -std=c99 -shared -fPIC -fvisibility=hidden ${SOURCE}/tests/capi/consumer/holder.c -o ${holder} ${flags} -lm)
    execute_process(COMMAND nm -D --defined-only ${holder} OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
    if(NOT exported MATCHES " T holder_fit\n" OR exported MATCHES "mercer")
      message(FATAL_ERROR "a shared library that holds libmercer.a exports, expected holder_fit and nothing of mercer:\n${exported}")
    endif()
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(components runtime development)
if(TOOL)
  list(APPEND components tools)
endif()
foreach(component ${components})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component ${component})
endforeach()
file(GLOB_RECURSE libraries RELATIVE ${prefix} ${prefix}/libmercer.so ${prefix}/libmercer.a)
list(GET libraries 0 library)
get_filename_component(libdir ${library} DIRECTORY)

set(ENV{LD_LIBRARY_PATH} "")
if(TOOL)
  run(${prefix}/bin/mercer specs gaussian)
endif()

set(ENV{LD_LIBRARY_PATH} ${prefix}/${libdir})
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/capi/consumer -B ${WORK}/cmake -DCMAKE_PREFIX_PATH=${prefix}
    -DCLIENTS=${clients} -DCMAKE_BUILD_TYPE=Release ${compilers})
run(${CMAKE_COMMAND} --build ${WORK}/cmake)
run(${WORK}/cmake/ridge_c ${WORK}/c.mercer)
run(${WORK}/cmake/ridge_cpp ${WORK}/cpp.mercer)
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/capi/consumer/c_only -B ${WORK}/c_only -DCMAKE_PREFIX_PATH=${prefix}
    -DCLIENTS=${clients} -DCMAKE_C_COMPILER=${CC})
run(${CMAKE_COMMAND} --build ${WORK}/c_only)
run(${WORK}/c_only/ridge ${WORK}/c_only.mercer)

# The prefix is not the one that the tree was configured for; then it moves as well.
run_by_pkg_config(${prefix}/${libdir})
file(RENAME ${prefix} ${WORK}/moved)
run_by_pkg_config(${WORK}/moved/${libdir} --define-prefix)
