# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Every example of the headers stands line by line in examples.c or examples.cpp, which are compiled and run; every titled section
# of a C header has one, and every C++ header.
# Run as: cmake -DINCLUDE=... -DEXAMPLES=directory of examples.c -P examples.cmake
cmake_minimum_required(VERSION 3.22)

# An example is what follows "Example" and an empty comment line, as long as it is indented. Sets count.
function(check_examples header mark source)
  file(READ ${header} text)
  file(READ ${source} programs)
  set(found 0)
  set(pattern "\n${mark} Example[^\n]*(\n${mark} [^ \n][^\n]*)*\n${mark}((\n${mark}   [^\n]*)+)")
  while(text MATCHES "${pattern}")
    set(all "${CMAKE_MATCH_0}")
    string(REGEX REPLACE "\n${mark} " "\n" lines "${CMAKE_MATCH_2}")
    string(FIND "${programs}" "${lines}\n" place)
    if(place EQUAL -1)
      message(SEND_ERROR "${header}: not in ${source}:${lines}")
    endif()
    math(EXPR found "${found} + 1")
    string(FIND "${text}" "${all}" at)
    string(LENGTH "${all}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${text}" ${at} -1 text)
  endwhile()
  set(count ${found} PARENT_SCOPE)
endfunction()

file(GLOB headers ${INCLUDE}/mercer/*.h)
list(FILTER headers EXCLUDE REGEX "/(mercer|learn)[.]h$")
foreach(header ${headers})
  check_examples(${header} " [*]" ${EXAMPLES}/examples.c)
  file(READ ${header} text)
  string(REGEX MATCHALL "\n/[*] ==== " sections "${text}")
  list(LENGTH sections sections)
  if(sections EQUAL 0 OR NOT count EQUAL sections)
    message(SEND_ERROR "${header}: ${count} examples in ${sections} titled sections, expected one in each of at least one")
  endif()
  message(STATUS "${header}: ${count} examples")
endforeach()

file(GLOB headers ${INCLUDE}/mercer/*.hpp)
foreach(header ${headers})
  check_examples(${header} "//" ${EXAMPLES}/examples.cpp)
  if(NOT count EQUAL 1)
    message(SEND_ERROR "${header}: ${count} examples, expected one")
  endif()
endforeach()
