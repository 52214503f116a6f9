# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The version is that of CMakeLists.txt wherever a package has to write it down, and CHANGELOG.md has a section of it.
# Run as: cmake -DSOURCE_DIR=... [-DVERSION=of another release] -P check_version.cmake
cmake_minimum_required(VERSION 3.22)
if(NOT VERSION)
  file(STRINGS ${SOURCE_DIR}/CMakeLists.txt line REGEX "^project[(]mercer VERSION ")
  string(REGEX MATCH "[0-9]+[.][0-9]+[.][0-9]+" VERSION "${line}")
endif()
string(REGEX REPLACE "[.][0-9]+$" "" minor "${VERSION}")  # of the SONAME, while the major version is 0
foreach(case "capi/clients/julia/Project.toml;version = \"@\"" "capi/clients/rust/Cargo.toml;version = \"@\"" "capi/clients/r/DESCRIPTION;Version: @"
    "capi/clients/r/DESCRIPTION;SystemRequirements: libmercer (>= %)" "capi/clients/julia/src/Mercer.jl;const libmercer = \"libmercer.so.%\""
    "capi/clients/python/mercer/_api.py;VERSION = \"%\"" "capi/clients/README.md;libmercer.so.%" "CHANGELOG.md;## @ ("
    "cmake/debian/package/changelog;mercer (@-1~upstream1)" "cmake/debian/package/control;Package: libmercer%")
  list(POP_FRONT case file expected)
  string(REPLACE "@" "${VERSION}" expected "${expected}")
  string(REPLACE "%" "${minor}" expected "${expected}")
  file(READ ${SOURCE_DIR}/${file} text)
  string(FIND "${text}" "${expected}" found)
  if(found EQUAL -1)
    message(SEND_ERROR "${file} does not say ${expected}")
  endif()
endforeach()
