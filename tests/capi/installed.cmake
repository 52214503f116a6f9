# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Programs that consume an installed mercer: this build tree's (shared by default), a static one made of its objects, and one
# built for the purpose; a project that holds mercer inside; where installed files look for one another.
set(tools -DGENERATOR=${CMAKE_GENERATOR} -DCC=${CMAKE_C_COMPILER} -DCXX=${CMAKE_CXX_COMPILER})
set(settings -DSOURCE=${PROJECT_SOURCE_DIR} -DTHREADS=${MERCER_THREADS} -DFFTW=${MERCER_WITH_FFTW} ${tools})
add_test(NAME install_paths COMMAND ${CMAKE_COMMAND} -P ${CMAKE_CURRENT_SOURCE_DIR}/install_paths.cmake)
add_test(NAME parent_project COMMAND ${CMAKE_COMMAND} ${settings} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/parent
  -P ${CMAKE_CURRENT_SOURCE_DIR}/parent/configure.cmake)
add_test(NAME parent_program COMMAND ${CMAKE_COMMAND} ${settings} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/parent_program
  -DPROGRAM=ON -P ${CMAKE_CURRENT_SOURCE_DIR}/parent/configure.cmake)
set_tests_properties(parent_program PROPERTIES LABELS slow TIMEOUT 3600)
if(MERCER_SANITIZE OR NOT MERCER_INSTALL)
  return()  # a consumer would have to be sanitized as well
endif()

set(is_static ON)
if(MERCER_BUILD_SHARED)
  set(is_static OFF)
endif()
set(has_tool OFF)
if(TARGET mercer_tool)
  set(has_tool ON)
endif()
add_test(NAME installed_consumer COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
  -DWORK=${CMAKE_CURRENT_BINARY_DIR}/installed -DSTATIC=${is_static} -DTOOL=${has_tool} ${tools}
  -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer/consume.cmake)
set_tests_properties(installed_consumer PROPERTIES RESOURCE_LOCK install)  # one install_manifest.txt

if(MERCER_BUILD_SHARED)
  set(build_static -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer/build_static.cmake)
  add_test(NAME installed_static_consumer COMMAND ${CMAKE_COMMAND} ${settings}
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/installed_static -DARCHIVE=$<TARGET_FILE:mercer_internal> -DMADE=${made} ${build_static})
  if(has_tool)
    add_test(NAME debian_packages COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/packages.sh ${CMAKE_COMMAND} ${PROJECT_SOURCE_DIR}
      ${PROJECT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR}/packages -G ${CMAKE_GENERATOR} -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
      -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DMERCER_THREADS=${MERCER_THREADS} -DMERCER_WITH_FFTW=${MERCER_WITH_FFTW}
      -DMERCER_WITH_MPI=${MERCER_WITH_MPI} -DMERCER_WITH_SCALAPACK=${MERCER_WITH_SCALAPACK})
    add_test(NAME debian_clean_machine COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/clean_machine.sh
      ${CMAKE_CURRENT_BINARY_DIR}/packages/packages ${PROJECT_SOURCE_DIR})
    set_tests_properties(debian_packages debian_clean_machine PROPERTIES LABELS slow SKIP_REGULAR_EXPRESSION "SKIPPED")
    set_tests_properties(debian_clean_machine PROPERTIES DEPENDS debian_packages TIMEOUT 3600)
  endif()
  # A whole second build: minutes.
  add_test(NAME static_build COMMAND ${CMAKE_COMMAND} ${settings} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/static ${build_static})
  set_tests_properties(static_build PROPERTIES LABELS slow)
endif()
