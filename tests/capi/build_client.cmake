# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Installs a build tree under a fresh prefix, builds a client of another language there by what pkg-config says, and runs it.
# Run as: cmake -DBUILD=... -DLANGUAGE=rust|go -DCOMPILER=cargo|go or empty -DSOURCE=capi/clients/... -DWORK=... -P build_client.cmake
cmake_minimum_required(VERSION 3.22)
if(NOT COMPILER)
  message("SKIPPED: no compiler of ${LANGUAGE} is installed")
  return()
endif()
set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
foreach(component runtime development)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component ${component}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE library ${prefix}/libmercer.so)
get_filename_component(libdir ${library} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${libdir}/pkgconfig)
set(ENV{LD_LIBRARY_PATH} ${libdir})

# A copy, since cargo writes beside its sources.
file(COPY ${SOURCE} DESTINATION ${WORK})
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK}/${LANGUAGE} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
if(LANGUAGE STREQUAL "rust")
  set(ENV{CARGO_TARGET_DIR} ${WORK}/target)
  set(ENV{RUSTFLAGS} "-D warnings")
  run(${COMPILER} test --offline)
  run(${COMPILER} run --offline --example ridge ${WORK}/client.mercer)
else()
  set(ENV{GOCACHE} ${WORK}/cache)
  run(${COMPILER} test -race ./...)
  run(${COMPILER} run ./examples/ridge ${WORK}/client.mercer)
endif()
