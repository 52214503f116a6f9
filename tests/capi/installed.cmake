# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Programs that consume an installed mercer: this build tree's (shared by default), and a static one built for the purpose.
if(MERCER_SANITIZE)
  return()  # a consumer would have to be sanitized as well
endif()
set(consume ${CMAKE_CURRENT_SOURCE_DIR}/consumer/consume.cmake)

set(is_static OFF)
if(NOT BUILD_SHARED_LIBS)
  set(is_static ON)
endif()
add_test(NAME installed_consumer COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR}
  -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/installed -DSTATIC=${is_static}
  -DCC=${CMAKE_C_COMPILER} -P ${consume})

if(BUILD_SHARED_LIBS)
  # A whole second build: minutes.
  add_test(NAME installed_static_consumer COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/installed_static -DCC=${CMAKE_C_COMPILER} -DTHREADS=${MERCER_THREADS}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer/build_static.cmake)
  set_tests_properties(installed_static_consumer PROPERTIES LABELS slow)
endif()
