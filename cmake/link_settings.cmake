# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Link flags of libmercer, each only where the linker knows it; and the C++ runtime of the archive.
include(CheckLinkerFlag)
set(mercer_version_script ${CMAKE_CURRENT_BINARY_DIR}/mercer.map)
configure_file(${PROJECT_SOURCE_DIR}/cmake/mercer.map.in ${mercer_version_script} @ONLY)

function(mercer_link_option flag result)
  check_linker_flag(CXX "${flag}" ${result})
  if(${result})
    target_link_options(mercer PRIVATE "${flag}")
  endif()
endfunction()

if(MERCER_BUILD_SHARED)
  mercer_link_option("-Wl,--version-script=${mercer_version_script}" MERCER_HAS_VERSION_SCRIPT)
  mercer_link_option("-Wl,--exclude-libs,ALL" MERCER_HAS_EXCLUDE_LIBS)
  # A missing object is an error here, not in the program that loads us; sanitizers leave their run-time undefined.
  if(NOT MERCER_SANITIZE)
    mercer_link_option("-Wl,-z,defs" MERCER_HAS_Z_DEFS)
  endif()
  # oneTBB's sleeping workers hold our code: dlclose keeps the library mapped.
  mercer_link_option("-Wl,-z,nodelete" MERCER_HAS_Z_NODELETE)
  set_target_properties(mercer PROPERTIES LINK_DEPENDS ${mercer_version_script})
else()
  foreach(library ${mercer_cxx_runtime})
    target_link_libraries(mercer INTERFACE $<$<LINK_LANGUAGE:C,Fortran>:${library}>)
  endforeach()
endif()
