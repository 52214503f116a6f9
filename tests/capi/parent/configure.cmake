# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Configures a parent project and builds and installs what is its own: nothing of mercer's, which is not built, may be missed.
# With PROGRAM=ON the program that links mercer is built too, which is a whole build, and run.
# Then mercer is asked for, shared and installed under /usr: the command's RUNPATH would be of no use there.
# Run as: cmake -DGENERATOR=... -DSOURCE=... -DWORK=... -DCC=... -DCXX=... -DTHREADS=tbb|std -DFFTW=ON|OFF
#   [-DPROGRAM=ON] -P configure.cmake
cmake_minimum_required(VERSION 3.22)
set(ENV{CMAKE_GENERATOR} ${GENERATOR})
file(REMOVE_RECURSE ${WORK})
set(build ${WORK}/build)

function(run)
  execute_process(COMMAND ${CMAKE_COMMAND} ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "cmake ${ARGN}\n${output}")
  endif()
endfunction()

run(-S ${CMAKE_CURRENT_LIST_DIR} -B ${build} -DMERCER=${SOURCE} -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX}
    -DMERCER_THREADS=${THREADS} -DMERCER_WITH_FFTW=${FFTW} -DCMAKE_INSTALL_PREFIX=${WORK}/prefix)
run(--build ${build} --target before after)
run(--install ${build})
file(GLOB_RECURSE installed LIST_DIRECTORIES false RELATIVE ${WORK}/prefix ${WORK}/prefix/*)
list(TRANSFORM installed REPLACE ".*/" "")
if(NOT installed STREQUAL "libafter.a;libbefore.a")
  message(FATAL_ERROR "installed: ${installed}")
endif()

if(PROGRAM)
  run(--build ${build} --parallel 2 --target program)
  execute_process(COMMAND ${build}/program COMMAND_ERROR_IS_FATAL ANY)
endif()

run(${build} -DEXPECT=SHARED_LIBRARY -DMERCER_BUILD_SHARED=ON -DMERCER_INSTALL=ON -DMERCER_BUILD_TOOLS=ON
    -DCMAKE_INSTALL_PREFIX=/usr)
file(READ ${build}/mercer/cmake_install.cmake library)
file(READ ${build}/mercer/capi/cli/cmake_install.cmake tool)
if(NOT library MATCHES "libmercer\\.so" OR NOT tool MATCHES "/bin/mercer")
  message(FATAL_ERROR "mercer is not installed although it is asked for")
endif()
if(tool MATCHES "ORIGIN")
  message(FATAL_ERROR "the command keeps a RUNPATH under /usr:\n${tool}")
endif()
