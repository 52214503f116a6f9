# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Debian packages by CPack: the library under a name that follows its SONAME, its headers, the command, and the Python package
# once there is one. For trees configured with the prefix /usr, as the preset debian is: elsewhere paths would be wrong.
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime development)
if(TARGET mercer_tool)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(MERCER_PACKAGE_CONTACT "The mercer authors <authors@mercer.example>" CACHE STRING "Maintainer of the Debian packages")
set(CPACK_PACKAGE_CONTACT "${MERCER_PACKAGE_CONTACT}")
# Each package has a summary of its own: CPack puts any but its default before all of them.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1~upstream1)  # older than a package that Debian makes of the same version
set(CPACK_DEBIAN_PACKAGE_SOURCE mercer)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/capi)  # for the command: libmercer is not installed yet

get_target_property(mercer_abi mercer SOVERSION)
# Of each package what package/control says, the one list of them: a stanza for each component that is built here.
foreach(name mpi scalapack)
  if(TARGET mercer_${name})
    list(APPEND CPACK_COMPONENTS_ALL ${name} ${name}_development)
  endif()
endforeach()
if(TARGET mercer_mpi_tool)
  list(APPEND CPACK_COMPONENTS_ALL mpi_tools)
endif()
if(MERCER_BUILD_SHARED)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)
endif()
# mercer_field(stanza field result): the field's line; empty without one.
function(mercer_field stanza field result)
  set(line "")
  if(stanza MATCHES "\n${field}: ([^\n]*)")
    set(line "${CMAKE_MATCH_1}")
  endif()
  set(${result} "${line}" PARENT_SCOPE)
endfunction()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/debian/package/control)
file(READ cmake/debian/package/control stanzas)
string(REGEX REPLACE "\n\n+" ";" stanzas "${stanzas}")
foreach(stanza ${stanzas})
  mercer_field("${stanza}" X-Component component)
  if(NOT component IN_LIST CPACK_COMPONENTS_ALL)
    continue()
  endif()
  string(TOUPPER ${component} component)
  string(PREPEND stanza "\n")
  foreach(case Package:NAME Section:SECTION Suggests:SUGGESTS)
    string(REPLACE ":" ";" case ${case})
    list(POP_FRONT case field variable)
    mercer_field("${stanza}" ${field} line)
    if(line)
      set(CPACK_DEBIAN_${component}_PACKAGE_${variable} "${line}")
    endif()
  endforeach()
  if(NOT CPACK_DEBIAN_${component}_PACKAGE_SECTION)
    set(CPACK_DEBIAN_${component}_PACKAGE_SECTION math)  # the source's
  endif()
  if(stanza MATCHES "\nArchitecture: all")
    set(CPACK_DEBIAN_${component}_PACKAGE_ARCHITECTURE all)
  endif()
  if(stanza MATCHES "\nMulti-Arch: same")
    set(CPACK_DEBIAN_${component}_PACKAGE_MULTIARCH same)  # read by CPack from 3.31 on
  endif()
  # What debhelper would find is left out: CPack adds the libraries.
  mercer_field("${stanza}" Depends line)
  string(REGEX REPLACE "[$]{(binary|source):Version}" "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}" line "${line}")
  string(REPLACE "\${python3:Depends}" "python3:any" line "${line}")
  string(REGEX REPLACE "[$]{[^}]*}(, )?" "" line "${line}")
  if(MPI_mpi_LIBRARY MATCHES "/(openmpi|mpich)/")  # the one that the library is linked with
    string(REPLACE mpi-default-dev lib${CMAKE_MATCH_1}-dev line "${line}")
  endif()
  string(REGEX REPLACE ", $" "" CPACK_DEBIAN_${component}_PACKAGE_DEPENDS "${line}")
  string(REGEX MATCH "\nDescription: (.*)$" line "${stanza}")
  string(REGEX REPLACE "\n [.]?" "\n" CPACK_DEBIAN_${component}_DESCRIPTION "${CMAKE_MATCH_1}")
endforeach()

# What dpkg-shlibdeps reads when others link the library: each symbol and the version that it came with.
set(mercer_control ${PROJECT_BINARY_DIR}/debian)
file(STRINGS cmake/symbols.txt symbols REGEX "^mercer_")
list(TRANSFORM symbols REPLACE "(.+)" " \\1@MERCER_${mercer_abi} ${mercer_abi}.0")
list(JOIN symbols "\n" symbols)
file(WRITE ${mercer_control}/symbols "libmercer.so.${mercer_abi} libmercer${mercer_abi} #MINVER#\n\
* Build-Depends-Package: libmercer-dev\n MERCER_${mercer_abi}@MERCER_${mercer_abi} ${mercer_abi}.0\n${symbols}\n")
file(WRITE ${mercer_control}/shlibs "libmercer ${mercer_abi} libmercer${mercer_abi} (>= ${PROJECT_VERSION})\n")
file(WRITE ${mercer_control}/triggers "activate-noawait ldconfig\n")
# The last two do not exist: named here, they keep CPack from adding scripts that call ldconfig, which the trigger does.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${mercer_control}/symbols ${mercer_control}/shlibs ${mercer_control}/triggers ${mercer_control}/postinst ${mercer_control}/postrm)
foreach(name mpi scalapack)
  if(TARGET mercer_${name})
    set(control ${PROJECT_BINARY_DIR}/debian_${name})
    file(WRITE ${control}/shlibs "libmercer_${name} ${mercer_abi} libmercer-${name}${mercer_abi} (>= ${PROJECT_VERSION})\n")
    file(COPY ${mercer_control}/triggers DESTINATION ${control})
    string(TOUPPER ${name} component)
    set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA
      ${control}/shlibs ${control}/triggers ${control}/postinst ${control}/postrm)
  endif()
endforeach()

# Copyright, changelogs and compressed manual pages, in the staged files.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/documents.cmake)
set(CPACK_MERCER_WITH_FFTW ${MERCER_WITH_FFTW})
include(CPack)
