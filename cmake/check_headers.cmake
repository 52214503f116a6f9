# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The C headers stay short: at most MOST_WORDS words in all, and before a function a comment of at most MOST_LINES lines. Mathematics
# and advice are in capi/GUIDE.md.
# Run as: cmake -DINCLUDE=... -DMOST_WORDS=16000 -DMOST_LINES=12 -P check_headers.cmake
cmake_minimum_required(VERSION 3.22)

file(GLOB headers ${INCLUDE}/mercer/*.h)
set(words 0)
foreach(header ${headers})
  file(READ ${header} text)
  string(REGEX REPLACE "[^ \n]+" "w" counted "${text}")
  string(REGEX REPLACE "[ \n]+" "" counted "${counted}")
  string(LENGTH "${counted}" count)
  math(EXPR words "${words} + ${count}")

  # Semicolons and brackets would split and join lists.
  string(REGEX REPLACE "[][;]" "," text "${text}")
  string(REGEX MATCHALL "/[*][*]([^*]|[*]+[^*/])*[*]+/\nMERCER_API[^(]*" functions "${text}")
  foreach(function ${functions})
    string(REGEX MATCH "mercer_[a-z0-9_]+$" name "${function}")
    string(REGEX REPLACE "\nMERCER_API.*" "\n" comment "${function}")
    string(REGEX REPLACE "[^\n]" "" lines "${comment}")
    string(LENGTH "${lines}" lines)
    if(lines GREATER MOST_LINES)
      message(SEND_ERROR "${header}: ${lines} lines of comment before ${name}, expected at most ${MOST_LINES}")
    endif()
  endforeach()
endforeach()
if(words GREATER MOST_WORDS)
  message(SEND_ERROR "${words} words in the headers, expected at most ${MOST_WORDS}")
endif()
message(STATUS "${words} words")
