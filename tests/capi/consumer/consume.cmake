# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Installs a build tree under a fresh prefix and consumes it, by find_package and by pkg-config; runs the results.
# Run as: cmake -DBUILD=... -DSOURCE=... -DWORK=... -DSTATIC=ON|OFF -DCC=... -P consume.cmake
cmake_minimum_required(VERSION 3.22)
set(prefix ${WORK}/prefix)
set(clients ${SOURCE}/capi/clients)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
foreach(component runtime development)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component ${component})
endforeach()
file(GLOB_RECURSE libraries ${prefix}/libmercer.so ${prefix}/libmercer.a)
list(GET libraries 0 library)
get_filename_component(libdir ${library} DIRECTORY)
set(ENV{LD_LIBRARY_PATH} ${libdir})

run(${CMAKE_COMMAND} -S ${SOURCE}/tests/capi/consumer -B ${WORK}/cmake -DCMAKE_PREFIX_PATH=${prefix}
    -DCLIENTS=${clients} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK}/cmake)
run(${WORK}/cmake/ridge_c ${WORK}/c.mercer)
run(${WORK}/cmake/ridge_cpp ${WORK}/cpp.mercer)

# pkg-config knows the prefix the tree was configured for; the archive or library itself is the same.
set(ENV{PKG_CONFIG_PATH} ${libdir}/pkgconfig)
set(flags --define-variable=libdir=${libdir} --define-variable=includedir=${prefix}/include)
if(STATIC)
  list(APPEND flags --static)
endif()
execute_process(COMMAND pkg-config ${flags} --cflags --libs mercer OUTPUT_VARIABLE compile
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(compile UNIX_COMMAND "${compile}")
run(${CC} -std=c99 ${clients}/c/ridge.c -o ${WORK}/ridge_pkg ${compile} -lm)
run(${WORK}/ridge_pkg ${WORK}/pkg.mercer)
