# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The exported symbols of libmercer are exactly those of symbols.txt, each under the version node of this ABI, so that an ABI
# break is a decision.
# Run as: cmake -DNM=nm -DLIBRARY=libmercer.so -DLIST=symbols.txt -DNODE=MERCER_0.1 -P check_symbols.cmake
# To renew the list: nm -D --defined-only libmercer.so | awk '$2=="T" {sub("@.*","",$3); print $3}' | LC_ALL=C sort
cmake_minimum_required(VERSION 3.22)

execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE text RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} -D ${LIBRARY} failed")
endif()
string(REGEX REPLACE "\n$" "" text "${text}")
string(REPLACE "\n" ";" lines "${text}")

set(exported)
string(REPLACE "." "\\." node "${NODE}")
foreach(line ${lines})
  if(line MATCHES "^[0-9a-f]* +A ${node}$")
    continue()  # the version node itself
  elseif(line MATCHES "^[0-9a-f]+ T (mercer_[a-z0-9_]+)@@${node}$")
    list(APPEND exported ${CMAKE_MATCH_1})
  else()
    list(APPEND surprises "${line}")
  endif()
endforeach()
file(STRINGS ${LIST} listed REGEX "^mercer_")

set(missing ${listed})
set(unlisted ${exported})
list(REMOVE_ITEM missing ${exported})
list(REMOVE_ITEM unlisted ${listed})
foreach(problem surprises missing unlisted)
  if(${problem})
    list(JOIN ${problem} "\n  " text)
    message(SEND_ERROR "${problem}:\n  ${text}")
  endif()
endforeach()
list(LENGTH exported count)
if(count EQUAL 0)
  message(FATAL_ERROR "${LIBRARY} exports nothing")
endif()
message(STATUS "${count} symbols")
