# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Refuses a source that compares with the name, or with the address, of an entry of a table: what one wants to know of
# an entry is a field of it, or a virtual function. An entry's own files, NAME.* and NAME_*.*, know their name.
# Run as: cmake -DSOURCE_DIR=... [-DALSO=source text, judged like a file] -P check_names.cmake
cmake_minimum_required(VERSION 3.22)

# Where tables list their entries as name_entry(), &name_model() or &kName.
set(tables src/kernel/kernel.cpp src/feature/map_entry.cpp src/model/estimator/model_entry.cpp
    src/projection/projection.cpp src/projection/sketch_kind.cpp)

# Entries that name themselves: losses, kinds of sketches and of linear maps, projections.
file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/src/*.h ${SOURCE_DIR}/src/*.cpp
     ${SOURCE_DIR}/capi/*.h ${SOURCE_DIR}/capi/*.cpp)
list(FILTER files EXCLUDE REGEX "^capi/clients/")

set(names)
set(own "[A-Za-z][A-Za-z0-9_]*")
foreach(file ${files})
  file(READ ${SOURCE_DIR}/${file} text)
  string(REGEX REPLACE "[ \n\\]+" " " text "${text}")
  string(REPLACE ";" "," text "${text}")
  string(REPLACE "[" "(" text "${text}")
  string(REPLACE "]" ")" text "${text}")
  set(text_${file} "${text}")
  set(pattern "\\.name = \"${own}\"")
  if(file IN_LIST tables)
    string(APPEND pattern "|[a-z0-9_]+_(entry|model)\\(\\)|&k[A-Z][A-Za-z0-9]*")
  endif()
  string(REGEX MATCHALL "${pattern}" listed "${text}")
  foreach(one ${listed})
    string(REGEX MATCH "\"(${own})\"$|^&k(${own})|^([a-z0-9_]+)_(entry|model)" match "${one}")
    string(TOLOWER "${CMAKE_MATCH_1}${CMAKE_MATCH_2}${CMAKE_MATCH_3}" name)
    list(APPEND names ${name})
  endforeach()
endforeach()
list(REMOVE_DUPLICATES names)
list(LENGTH names count)
if(count LESS 50)
  message(FATAL_ERROR "only ${count} names of entries under ${SOURCE_DIR}: nothing was checked")
endif()

set(problems)
function(judge file name how)
  string(TOLOWER "${name}" name)
  get_filename_component(stem ${file} NAME_WE)
  if(NOT name IN_LIST names OR stem MATCHES "^${name}(_|$)")
    return()
  endif()
  list(APPEND problems "${file}: ${how}")
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

set(text_also "${ALSO}")

# Comparisons, and calls of what compares: is(x, "name"), is_named(x, "name").
set(wrapper "(std::string\\(|std::string_view\\(|Value\\()")
foreach(file ${files} also)
  string(REGEX MATCHALL "[=!]= ${wrapper}*\"${own}\"|\"${own}\" [=!]=|${wrapper}+\"${own}\"\\)+ [=!]=|(is|is_[a-z_]+|has_name|compare|strcmp)\\(([^()\"]|\\([^()\"]*\\))*\"${own}\""
         words "${text_${file}}")
  foreach(one ${words})
    string(REGEX REPLACE ".*\"(${own})\".*" "\\1" name "${one}")
    judge(${file} ${name} "${one}")
  endforeach()
  string(REGEX MATCHALL "[=!]= &?([a-z]+::)*(${own}_(entry|model)\\(\\)|k[A-Z][A-Za-z0-9]*)" objects "${text_${file}}")
  foreach(one ${objects})
    string(REGEX REPLACE "^.*[ &:]|_(entry|model)\\(\\)$" "" name "${one}")
    if(name MATCHES "^k[A-Z]")
      string(SUBSTRING ${name} 1 -1 name)
    endif()
    judge(${file} ${name} "${one}")
  endforeach()
endforeach()

if(problems)
  list(JOIN problems "\n  " text)
  message(FATAL_ERROR "asked for by name, expected a capability of the entry:\n  ${text}")
endif()
message(STATUS "${count} entries: no source asks for one by its name")
