# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# mercer.hpp by a compiler's default standard, or one given: below C++17 one error says so, else it compiles.
# Run as: cmake -DCXX=... [-DSTANDARD=-std=c++14] -DINCLUDE=... -DMADE=... -DWORK=... -P cxx_standard.cmake
cmake_minimum_required(VERSION 3.22)
if(NOT CXX)
  message("SKIPPED: no clang++ on this machine")
  return()
endif()
file(WRITE ${WORK}/program.cpp "#include <mercer/mercer.hpp>\nlong standard = __cplusplus;\n")
execute_process(COMMAND ${CXX} ${STANDARD} -x c++ -dM -E /dev/null OUTPUT_VARIABLE macros COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "__cplusplus ([0-9]+)" standard "${macros}")
set(standard ${CMAKE_MATCH_1})
execute_process(COMMAND ${CXX} ${STANDARD} -fsyntax-only -I${INCLUDE} -I${MADE} ${WORK}/program.cpp
  RESULT_VARIABLE result ERROR_VARIABLE output)
string(REGEX MATCHALL "error: [^\n]*" errors "${output}")
list(LENGTH errors count)
if(standard GREATER_EQUAL 201703)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${output}")
  endif()
elseif(result EQUAL 0 OR NOT count EQUAL 1 OR NOT errors MATCHES "needs C[+][+]17")
  message(FATAL_ERROR "__cplusplus = ${standard}: ${count} errors, expected one that names C++17\n${output}")
endif()
message(STATUS "__cplusplus = ${standard}: ${errors}")
