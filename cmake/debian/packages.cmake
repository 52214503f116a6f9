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
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)

get_target_property(mercer_abi mercer SOVERSION)
# mercer_package(COMPONENT package section "summary" "text")
function(mercer_package component package section summary text)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${component}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${component}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
endfunction()
string(CONCAT what "Maps whose inner products estimate a kernel turn kernel methods into\n"
  "linear ones: regression, classification and Gaussian processes cost one\n"
  "pass over the rows.\n\n")
mercer_package(RUNTIME libmercer${mercer_abi} libs "random feature maps of kernels - shared library"
  "${what}This package holds the shared library, for C and for every language\nthat calls C.")
mercer_package(DEVELOPMENT libmercer-dev libdevel "random feature maps of kernels - headers"
  "${what}This package holds what compiling with the library takes: headers for C99\nand C++17, files for pkg-config and CMake, the guide, and a client in each of\neight languages.")
mercer_package(TOOLS mercer-tools math "random feature maps of kernels - command"
  "${what}This package holds the command mercer, which fits models to tables,\npredicts, and compares with exact kernels and with linear models.")
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS runtime)
set(CPACK_COMPONENT_TOOLS_DEPENDS runtime)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS pkg-config)
foreach(component RUNTIME DEVELOPMENT)
  set(CPACK_DEBIAN_${component}_PACKAGE_MULTIARCH same)  # read by CPack from 3.31 on
endforeach()

if(TARGET mercer_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi mpi_development)
  string(CONCAT of_mpi "${what}" "Processes of an MPI communicator share the rows of a fit.\n")
  mercer_package(MPI libmercer-mpi${mercer_abi} libs "random feature maps of kernels - shared library for MPI"
    "${of_mpi}This package holds the shared library.")
  mercer_package(MPI_DEVELOPMENT libmercer-mpi-dev libdevel "random feature maps of kernels - header for MPI"
    "${of_mpi}This package holds the header, and files for pkg-config and CMake.")
  set(CPACK_COMPONENT_MPI_DEPENDS runtime)
  set(CPACK_COMPONENT_MPI_DEVELOPMENT_DEPENDS development mpi)
  set(CPACK_DEBIAN_MPI_DEVELOPMENT_PACKAGE_DEPENDS mpi-default-dev)
  if(MPI_mpi_LIBRARY MATCHES "/(openmpi|mpich)/")  # the one that the library is linked with
    set(CPACK_DEBIAN_MPI_DEVELOPMENT_PACKAGE_DEPENDS lib${CMAKE_MATCH_1}-dev)
  endif()
  foreach(component MPI MPI_DEVELOPMENT)
    set(CPACK_DEBIAN_${component}_PACKAGE_MULTIARCH same)
  endforeach()
  if(TARGET mercer_scalapack)
    list(APPEND CPACK_COMPONENTS_ALL scalapack scalapack_development)
    string(CONCAT of_scalapack "${what}" "Processes of an MPI communicator divide the features of a ridge regression.\n")
    mercer_package(SCALAPACK libmercer-scalapack${mercer_abi} libs "random feature maps of kernels - shared library for ScaLAPACK"
      "${of_scalapack}This package holds the shared library.")
    mercer_package(SCALAPACK_DEVELOPMENT libmercer-scalapack-dev libdevel "random feature maps of kernels - header for ScaLAPACK"
      "${of_scalapack}This package holds the header, and files for pkg-config and CMake.")
    set(CPACK_COMPONENT_SCALAPACK_DEPENDS mpi)
    set(CPACK_COMPONENT_SCALAPACK_DEVELOPMENT_DEPENDS mpi_development scalapack)
    foreach(component SCALAPACK SCALAPACK_DEVELOPMENT)
      set(CPACK_DEBIAN_${component}_PACKAGE_MULTIARCH same)
    endforeach()
  endif()
  if(TARGET mercer_mpi_tool)
    list(APPEND CPACK_COMPONENTS_ALL mpi_tools)
    mercer_package(MPI_TOOLS mercer-mpi math "random feature maps of kernels - command for MPI"
      "${of_mpi}This package holds the command mercer-mpi, which mpirun runs.")
    set(CPACK_COMPONENT_MPI_TOOLS_DEPENDS mpi tools)
  endif()
endif()
if(MERCER_BUILD_SHARED)
  list(APPEND CPACK_COMPONENTS_ALL python)
  mercer_package(PYTHON python3-mercer python "random feature maps of kernels - Python 3"
    "${what}This package holds the Python package, which calls the shared library.")
  set(CPACK_COMPONENT_PYTHON_DEPENDS runtime)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3:any, python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-scipy, python3-sklearn")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)
endif()

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
