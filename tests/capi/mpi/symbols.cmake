# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The functions that libmercer_mpi or libmercer_scalapack exports are those of its header. Run as: cmake -DNM=nm -DLIBRARY=... -DHEADER=... -P symbols.cmake
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [B-Zb-z] [^\n]+" exported "${text}")  # A: the version node
list(TRANSFORM exported REPLACE "^ . |@.*" "")
list(SORT exported)
file(READ ${HEADER} text)
string(REGEX MATCHALL "MERCER_API [^(]+" declared "${text}")
list(TRANSFORM declared REPLACE "^.* " "")
list(SORT declared)
if(NOT declared OR NOT exported STREQUAL declared)
  message(FATAL_ERROR "${LIBRARY} exports ${exported}, expected what ${HEADER} declares: ${declared}")
endif()
