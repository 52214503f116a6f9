# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Makes a static libmercer without tests and tools, then consumes it. ARCHIVE: the same objects as an archive, which saves
# building them again; MADE: the folder of the header that was made.
# Run as: cmake -DGENERATOR=... -DSOURCE=... -DWORK=... -DTHREADS=tbb|std -DFFTW=ON|OFF -DCC=... -DCXX=... [-DARCHIVE=... -DMADE=...]
#   -P build_static.cmake
cmake_minimum_required(VERSION 3.22)
set(ENV{CMAKE_GENERATOR} ${GENERATOR})
set(BUILD ${WORK}_build)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=${CC}
  -DCMAKE_CXX_COMPILER=${CXX} -DBUILD_SHARED_LIBS=OFF -DMERCER_BUILD_TESTS=OFF -DMERCER_BUILD_TOOLS=OFF
  -DMERCER_THREADS=${THREADS} -DMERCER_WITH_FFTW=${FFTW} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(READ ${BUILD}/compile_commands.json commands)
if(NOT commands MATCHES "capi" OR commands MATCHES "MERCER_BUILDING")
  message(FATAL_ERROR "the archive is compiled with its functions visible, or nothing is compiled")
endif()
if(ARCHIVE)
  file(COPY_FILE ${ARCHIVE} ${BUILD}/capi/libmercer.a)
  file(COPY ${MADE} DESTINATION ${BUILD}/capi)
else()
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target mercer mercer_bindings OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endif()
set(STATIC ON)
set(TOOL OFF)
include(${CMAKE_CURRENT_LIST_DIR}/consume.cmake)
