# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Builds libmercer, the command and the circulant's test with MERCER_WITH_FFTW=OFF, runs the test, and looks for FFTW in what was linked.
# Run as: cmake -DSOURCE=... -DWORK=... -DTHREADS=tbb|std -DGENERATOR=... -DLAUNCHER=... -P without_fftw.cmake
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
  -DMERCER_WITH_FFTW=OFF -DMERCER_THREADS=${THREADS} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK} --parallel 2 --target mercer mercer_tool mercer_circulant_test
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/tests/projection/mercer_circulant_test COMMAND_ERROR_IS_FATAL ANY)

# The file alone, not the link that bears its SONAME.
file(GLOB library ${WORK}/capi/libmercer.so.*.*.*)
file(STRINGS ${library} names REGEX "fftw")
if(names OR NOT EXISTS "${library}")
  message(FATAL_ERROR "libmercer (${library}) without FFTW still names ${names}")
endif()
