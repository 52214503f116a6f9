# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Builds a static libmercer without tests and tools, then consumes it.
# Run as: cmake -DSOURCE=... -DWORK=... -DTHREADS=tbb|std -DCC=... -P build_static.cmake
cmake_minimum_required(VERSION 3.22)
set(BUILD ${WORK}_build)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -DCMAKE_BUILD_TYPE=Release
  -DBUILD_SHARED_LIBS=OFF -DMERCER_BUILD_TESTS=OFF -DMERCER_BUILD_TOOLS=OFF -DMERCER_THREADS=${THREADS}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target mercer OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY)
set(STATIC ON)
include(${CMAKE_CURRENT_LIST_DIR}/consume.cmake)
