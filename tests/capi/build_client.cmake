# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Installs a build tree under a fresh prefix, and builds and runs clients there, whose predictions are to be the same.
# Run as: cmake -DBUILD=... "-DLANGUAGES=c rust" -DPYTHON=... -DTOOLS=folder of the command -DWORK=... -P build_client.cmake
cmake_minimum_required(VERSION 3.22)
set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
separate_arguments(LANGUAGES)
foreach(component runtime development python)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component ${component}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE library ${prefix}/libmercer.so)
get_filename_component(libdir ${library} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${libdir}/pkgconfig)
set(ENV{LD_LIBRARY_PATH} ${libdir})
set(ENV{GOCACHE} ${WORK}_cache)
# What is built once and run once needs neither debug information nor what a second build would read.
set(ENV{CARGO_INCREMENTAL} 0)
set(ENV{CARGO_PROFILE_DEV_DEBUG} 0)
set(ENV{CGO_CFLAGS} -O0)
if(PYTHON)  # the one with NumPy
  get_filename_component(folder ${PYTHON} DIRECTORY)
  set(ENV{PATH} ${folder}:$ENV{PATH})
endif()
set(ENV{PATH} $ENV{PATH}:${TOOLS})
# What lies there is neither removed nor taken for an answer.
foreach(name c/own c.said)
  file(WRITE ${WORK}/clients/${name} "predictions of another run\n")
endforeach()
execute_process(COMMAND ${prefix}/share/mercer/clients/run ${WORK}/clients ${LANGUAGES} COMMAND_ERROR_IS_FATAL ANY)
foreach(name c/own c.said)
  file(READ ${WORK}/clients/${name} own)
endforeach()
